//! The tree as text: lines that fit 80 columns where names allow it, and that say the same without colour.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, Write},
};

use unicode_width::UnicodeWidthStr;

use crate::{
    graph::OwnerGraph,
    model::{ObjectId, Snapshot, Symbol},
    tree::{
        Direction, Entry, Mark, State, Tree,
        fold::{self, Row},
        marks,
    },
};

use super::{
    go_quote::visible,
    guides::Guides,
    style::{Style, Tone},
    words::{KindCounts, count_kinds, middle_cut, plural, wrapped},
};

/// How to show a tree.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The columns of the terminal; `None` where output goes elsewhere, and nothing is cut.
    pub width: Option<usize>,
    /// Whether likes are folded and lone objects only counted.
    pub fold: bool,
    /// Whether there are more columns.
    pub wide: bool,
    /// Now, in Unix seconds, for ages in wide output.
    pub now: Option<i64>,
    pub style: &'a Style,
}

/// No name is cut to less than this.
const LEAST_NAME: usize = 16;
/// The second column begins no later than this, however long a name in the first is.
const MOST_ALIGNED: usize = 64;
const WIDE_HEADER: [&str; 4] = ["UID", "REFERENCE", "FINALIZERS", "AGE"];

/// One line before it is laid out.
struct Line {
    guides: String,
    name: String,
    wide: Option<[String; 4]>,
    notes: Vec<(Tone, String)>,
    tone: Tone,
}

/// Writes the lines of the tree and the totals.
pub fn write(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
    let rows = if options.fold { fold::folded(snapshot, graph, tree) } else { fold::unfolded(tree) };
    let (lone, rows): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| matches!(row, Row::Lone(_)));
    let guides = Guides::of(rows.iter().map(|row| tree.entries[row.entry()].depth));
    let lines: Vec<Line> =
        rows.iter().zip(guides).map(|(row, guides)| line(snapshot, graph, tree, options, *row, guides)).collect();
    write_lines(&lines, options, out)?;
    if !lines.is_empty() {
        writeln!(out)?;
    }
    let lone: Vec<ObjectId> = lone.iter().filter_map(|row| graph.object(tree.entries[row.entry()].node)).collect();
    write_totals(snapshot, graph, tree, &lone, options, out)
}

/// Writes `kind.group/name` of every object, as `kubectl get -o name` does.
pub fn write_names(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree, out: &mut dyn Write) -> io::Result<()> {
    for id in tree.objects(graph) {
        let object = snapshot.object(id);
        let resource = snapshot.resources.get(object.resource);
        let dot = if resource.group.is_empty() { "" } else { "." };
        writeln!(out, "{}{dot}{}/{}", resource.kind.to_lowercase(), resource.group, snapshot.text(object.name))?;
    }
    Ok(())
}

fn line(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree, options: &Options<'_>, row: Row, guides: String) -> Line {
    let entry = &tree.entries[row.entry()];
    let object = graph.object(entry.node);
    let mut notes: Vec<(Tone, String)> = Vec::new();
    if entry.showing.here()
        && let Some(state) = object.and_then(|id| State::of(snapshot, snapshot.object(id)))
    {
        notes.push((Tone::Warning, state.words(snapshot)));
    }
    for mark in Mark::of(snapshot, graph, tree, entry) {
        notes.push((if mark.warns() { Tone::Error } else { Tone::Quiet }, mark.words(snapshot, tree.direction)));
    }
    for (_, note) in &mut notes {
        if let Cow::Owned(escaped) = visible(note) {
            *note = escaped;
        }
    }
    match row {
        Row::Entry(_) | Row::Lone(_) => Line {
            guides,
            name: visible(&name(snapshot, graph, tree, entry)).into_owned(),
            wide: options.wide.then(|| wide(snapshot, graph, entry, options.now)),
            notes,
            tone: Tone::Plain,
        },
        Row::More { count, below, .. } => {
            if below > 0 {
                let what = match tree.direction {
                    Direction::Dependents => "dependent",
                    Direction::Owners => "owner",
                };
                notes.push((Tone::Quiet, format!("with {below} {what}{}", if below == 1 { "" } else { "s" })));
            }
            let kind = match object {
                Some(id) => plural(snapshot.resources.get(snapshot.object(id).resource), count),
                None if count == 1 => "owner".to_owned(),
                None => "owners".to_owned(),
            };
            let wide = options.wide.then_some([const { String::new() }; 4]);
            Line { guides, name: format!("… {count} more {kind}"), wide, notes, tone: Tone::Quiet }
        }
    }
}

/// `Kind/name`, with the namespace where it isn't the one to expect: the parent's or that of the scope.
fn name(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree, entry: &Entry) -> String {
    let Some(id) = graph.object(entry.node) else {
        return entry.reference(snapshot).map_or_else(String::new, |reference| marks::named(snapshot, reference));
    };
    let namespace = snapshot.object(id).namespace;
    let expected = match (entry.via, tree.direction) {
        (None, _) => tree.namespace.unwrap_or(Symbol::EMPTY),
        (Some((holder, _)), Direction::Owners) => snapshot.object(holder).namespace,
        (Some(_), Direction::Dependents) => entry
            .reference(snapshot)
            .and_then(|reference| graph.by_uid(reference.uid))
            .and_then(|owner| graph.object(owner))
            .map_or(namespace, |owner| snapshot.object(owner).namespace),
    };
    if namespace.is_empty() || namespace == expected {
        snapshot.short_name(id)
    } else {
        format!("{} -n {}", snapshot.short_name(id), snapshot.text(namespace))
    }
}

fn wide(snapshot: &Snapshot, graph: &OwnerGraph, entry: &Entry, now: Option<i64>) -> [String; 4] {
    let object = graph.object(entry.node).map(|id| snapshot.object(id));
    let reference = entry.reference(snapshot);
    let uid = object.map(|object| object.uid).or(reference.map(|reference| reference.uid));
    let flags = reference.map(|reference| match (reference.controller == Some(true), reference.blocks()) {
        (true, true) => "controller,blocking",
        (true, false) => "controller",
        (false, true) => "blocking",
        (false, false) => "owned",
    });
    let finalizers: Vec<&str> =
        object.iter().flat_map(|object| &object.finalizers).map(|finalizer| snapshot.text(*finalizer)).collect();
    let age = object.and_then(|object| object.created).zip(now).map(|(created, now)| super::words::age(now - created));
    [
        uid.map(|uid| visible(snapshot.text(uid)).into_owned()).unwrap_or_default(),
        flags.unwrap_or("-").to_owned(),
        if finalizers.is_empty() { "-".to_owned() } else { finalizers.join(",") },
        age.unwrap_or_else(|| "-".to_owned()),
    ]
}

fn write_lines(lines: &[Line], options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
    let style = options.style;
    let first = |line: &Line| line.guides.width() + line.name.width();
    let beside = |line: &&Line| line.wide.is_some() || !line.notes.is_empty();
    let mut name_column = lines.iter().filter(beside).map(first).filter(|width| *width <= MOST_ALIGNED).max().unwrap_or(0);
    let mut columns = WIDE_HEADER.map(str::len);
    for wide in lines.iter().filter_map(|line| line.wide.as_ref()) {
        for (column, text) in columns.iter_mut().zip(wide) {
            *column = (*column).max(text.width());
        }
    }
    if let Some(width) = options.width.filter(|_| !options.wide) {
        let notes = lines.iter().map(|line| notes_width(line) + 2).max().unwrap_or(0);
        name_column = name_column.min(width.saturating_sub(notes).max(width / 2));
    }
    if options.wide && !lines.is_empty() {
        name_column = name_column.max("OBJECT".len());
        let header = WIDE_HEADER.iter().zip(columns).map(|(title, column)| format!("{title:<column$}")).collect::<Vec<_>>();
        writeln!(out, "{:<name_column$}  {}  STATE", "OBJECT", header.join("  "))?;
    }
    for line in lines {
        let mut name = line.name.clone();
        if let Some(width) = options.width.filter(|_| !options.wide) {
            let notes = if line.notes.is_empty() { 0 } else { notes_width(line) + 2 };
            let room = width.saturating_sub(line.guides.width() + notes).max(LEAST_NAME);
            name = middle_cut(&name, room);
        }
        let used = line.guides.width() + name.width();
        let mut gap = name_column.saturating_sub(used);
        if let Some(width) = options.width.filter(|_| !options.wide) {
            gap = gap.min(width.saturating_sub(used + notes_width(line) + 2));
        }
        let mut text = format!("{}{}", style.paint(Tone::Quiet, &line.guides), style.paint(line.tone, &name));
        if let Some(wide) = &line.wide {
            text.push_str(&" ".repeat(gap));
            for (column, value) in columns.iter().zip(wide) {
                text.push_str(&format!("  {value}{}", " ".repeat(column.saturating_sub(value.width()))));
            }
        } else if !line.notes.is_empty() {
            text.push_str(&" ".repeat(gap));
        }
        for (index, (tone, note)) in line.notes.iter().enumerate() {
            text.push_str(if index == 0 { "  " } else { "; " });
            text.push_str(&style.paint(*tone, note));
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}

fn notes_width(line: &Line) -> usize {
    line.notes.iter().map(|(_, note)| note.width() + 2).sum::<usize>().saturating_sub(2)
}

fn write_totals(
    snapshot: &Snapshot,
    graph: &OwnerGraph,
    tree: &Tree,
    lone: &[ObjectId],
    options: &Options<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let objects: Vec<ObjectId> = tree.objects(graph).collect();
    let width = options.width.unwrap_or(80);
    let in_tree = objects.len() - lone.len();
    if in_tree > 0 {
        let noun = if in_tree == 1 { "object" } else { "objects" };
        let mut kinds = count_kinds(snapshot, objects.iter().copied());
        for (resource, count) in count_kinds(snapshot, lone.iter().copied()) {
            if let Some(total) = kinds.get_mut(&resource) {
                *total -= count;
            }
        }
        write_total("Total", &format!("{in_tree} {noun}:"), snapshot, &kinds, "", width, out)?;
    }
    if !lone.is_empty() {
        let kinds = count_kinds(snapshot, lone.iter().copied());
        let count = format!("{} without owners or dependents:", lone.len());
        write_total("Apart", &count, snapshot, &kinds, "(--no-fold lists them)", width, out)?;
    }
    if objects.is_empty() {
        writeln!(out, "No objects.")?;
    }
    Ok(())
}

fn write_total(
    label: &str,
    count: &str,
    snapshot: &Snapshot,
    kinds: &KindCounts,
    after: &str,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut words: Vec<String> = vec![count.to_owned()];
    let mut same_name: BTreeMap<&str, usize> = BTreeMap::new();
    for resource in kinds.keys() {
        *same_name.entry(&snapshot.resources.get(*resource).kind).or_default() += 1;
    }
    for (resource, count) in kinds.iter().filter(|(_, count)| **count > 0) {
        let resource = snapshot.resources.get(*resource);
        let ambiguous = same_name[resource.kind.as_str()] > 1 && !resource.group.is_empty();
        let group = if ambiguous { format!(".{}", resource.group) } else { String::new() };
        words.push(format!("{count} {}{group},", plural(resource, *count)));
    }
    if let Some(last) = words.last_mut() {
        last.pop();
    }
    words.extend((!after.is_empty()).then(|| after.to_owned()));
    let lines = wrapped(words.iter().map(String::as_str), width.saturating_sub(10));
    for (index, line) in lines.iter().enumerate() {
        writeln!(out, "{:<10}{line}", if index == 0 { label } else { "" })?;
    }
    Ok(())
}
