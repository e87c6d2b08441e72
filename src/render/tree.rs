//! The tree as text: lines fit 80 columns if names allow it, and are complete without colour.

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
    lines::{self, Line},
    output::TextOptions,
    style::Tone,
    words::{KindCounts, count_kinds, full_name, plural, wrapped},
};

const WIDE_HEADER: [&str; 4] = ["UID", "REFERENCE", "FINALIZERS", "AGE"];

/// Writes the lines of the tree and the totals.
pub fn write(
    snapshot: &Snapshot,
    graph: &OwnerGraph,
    tree: &Tree,
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows = if options.fold { fold::folded(snapshot, graph, tree) } else { fold::unfolded(tree) };
    let (lone, rows): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| matches!(row, Row::Lone(_)));
    let guides = Guides::of(rows.iter().map(|row| tree.entries[row.entry()].depth));
    let lines: Vec<Line> =
        rows.iter().zip(guides).map(|(row, guide)| line(snapshot, graph, tree, *row, guide)).collect();
    if options.wide {
        let cells: Vec<[String; 4]> = rows.iter().map(|row| wide(snapshot, graph, tree, *row, options.now)).collect();
        write_wide(lines, &cells, options, out)?;
    } else {
        lines::write(&lines, lines::aligned(&lines, options.width), 0, options.width, options.style, out)?;
    }
    if !rows.is_empty() {
        writeln!(out)?;
    }
    let lone: Vec<ObjectId> = lone.iter().filter_map(|row| graph.object(tree.entries[row.entry()].node)).collect();
    write_totals(snapshot, graph, tree, &lone, options, out)
}

/// `kind.group/name` of every object, as `kubectl get -o name` prints it.
pub(super) fn names(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree) -> String {
    tree.objects(graph).map(|id| format!("{}\n", full_name(snapshot, id))).collect()
}

fn line(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree, row: Row, guide: String) -> Line {
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
        Row::Entry(_) | Row::Lone(_) => {
            let name = visible(&name(snapshot, graph, tree, entry)).into_owned();
            Line { guide, tone: Tone::Plain, name, column: None, remarks: notes }
        }
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
            let name = visible(&format!("… {count} more {kind}")).into_owned();
            Line { guide, tone: Tone::Quiet, name, column: None, remarks: notes }
        }
    }
}

/// `Kind/name`, with the namespace if it is not the expected one: that of the parent or of the scope.
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

/// The additional columns of wide output; empty for a line about several objects.
fn wide(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree, row: Row, now: Option<i64>) -> [String; 4] {
    if matches!(row, Row::More { .. }) {
        return [const { String::new() }; 4];
    }
    let entry = &tree.entries[row.entry()];
    let object = graph.object(entry.node).map(|id| snapshot.object(id));
    let reference = entry.reference(snapshot);
    let uid = object.map(|object| object.uid).or(reference.map(|reference| reference.uid));
    let flags = reference.map(|reference| match (reference.is_controller(), reference.blocks()) {
        (true, true) => "controller,blocking",
        (true, false) => "controller",
        (false, true) => "blocking",
        (false, false) => "owned",
    });
    let finalizers: Vec<&str> =
        object.iter().flat_map(|object| &object.finalizers).map(|finalizer| snapshot.text(*finalizer)).collect();
    let age =
        object.and_then(|object| object.created).zip(now).map(|(created, now)| crate::wording::age(now - created));
    [
        uid.map(|uid| visible(snapshot.text(uid)).into_owned()).unwrap_or_default(),
        flags.unwrap_or("-").to_owned(),
        if finalizers.is_empty() { "-".to_owned() } else { visible(&finalizers.join(",")).into_owned() },
        age.unwrap_or_else(|| "-".to_owned()),
    ]
}

/// Writes wide output: more columns and a heading, lines of any length.
fn write_wide(
    mut lines: Vec<Line>,
    cells: &[[String; 4]],
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut columns = WIDE_HEADER.map(str::len);
    for cells in cells {
        for (column, cell) in columns.iter_mut().zip(cells) {
            *column = (*column).max(cell.width());
        }
    }
    let row = |cells: &[String; 4]| {
        let padded =
            |(cell, column): (&String, &usize)| format!("{cell}{}", " ".repeat(column.saturating_sub(cell.width())));
        cells.iter().zip(&columns).map(padded).collect::<Vec<_>>().join("  ")
    };
    for (line, cells) in lines.iter_mut().zip(cells) {
        line.column = Some((Tone::Plain, row(cells)));
    }
    let at = lines::aligned(&lines, None).max("OBJECT".len());
    if !lines.is_empty() {
        writeln!(out, "{:<at$}  {}  STATE", "OBJECT", row(&WIDE_HEADER.map(str::to_owned)))?;
    }
    lines::write(&lines, at, 0, None, options.style, out)
}

fn write_totals(
    snapshot: &Snapshot,
    graph: &OwnerGraph,
    tree: &Tree,
    lone: &[ObjectId],
    options: &TextOptions<'_>,
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
        words.push(visible(&format!("{count} {}{group},", plural(resource, *count))).into_owned());
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
