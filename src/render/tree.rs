//! The output of `tree` in each of its formats, and the tree as text: lines fit 80 columns if names allow it, and are
//! complete without colour.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, Write},
};

use rustc_hash::FxHashSet;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use gc_core::{
    document::{Head, Named, ObjectJson},
    graph::{NodeId, OwnerGraph},
    model::{Gap, Object, ObjectId, Reference, ResourceId, Snapshot, Symbol},
    tree::{
        DebugGraph, Direction, Entry, Health, Mark, ReferenceStatus, ResolvedReference, Showing, State, StatusOf,
        Statuses, Tree,
        debug_graph::Vertex,
        fold::{self, Row},
        marks,
    },
    wording::{age, count},
};

use super::{
    document::TemplateOptions,
    escape::visible,
    lines::{self, Line},
    outline::{Outline, OutlineRow, Subject},
    output::{Format, Output, TextOptions},
    picture::{Objects, Picture, PictureOptions, Row as PictureRow, View, section},
    sections::{Heading, Sections},
    states::{Fate, MISSING, Style, Tone, Toned},
    words::{KindCounts, count_kinds, full_names, plural},
};

/// A tree with the data for its names and states.
#[derive(Clone, Copy, Debug)]
pub struct TreeView<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub tree: &'a Tree,
    /// What the server prints of the objects; `None` if the source has nothing of it.
    pub statuses: Option<&'a Statuses>,
    /// The columns of labels; `None`: there are none.
    pub labels: Option<&'a LabelColumns>,
}

impl<'a> TreeView<'a> {
    /// Without what the server prints.
    pub fn new(snapshot: &'a Snapshot, graph: &'a OwnerGraph, tree: &'a Tree) -> Self {
        TreeView { snapshot, graph, tree, statuses: None, labels: None }
    }

    /// The objects whose READY and STATUS this format shows.
    pub fn needs_statuses(&self, format: Format, fold: bool) -> Vec<ObjectId> {
        let is_folded = fold && (format.is_text() || format.folds());
        let shown = |entry: &&Entry| !(is_folded && self.tree.is_lone(self.snapshot, self.graph, entry));
        match format {
            Format::Name | Format::CollectorDot => Vec::new(),
            _ => self.tree.nodes().filter(shown).filter_map(|entry| self.graph.object(entry.node)).collect(),
        }
    }
}

impl Output for TreeView<'_> {
    /// `kind: Tree`, described in `docs/schema/tree.json`.
    fn document(&self) -> impl Serialize {
        Document::of(self)
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        write(self, options, out)
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(picture(self, options))
    }

    fn names(&self) -> Option<Vec<String>> {
        Some(full_names(self.snapshot, self.tree.objects(self.graph)))
    }

    /// The collector's debug graph.
    fn other(&self, format: Format) -> Option<String> {
        let graph = || collector_dot(&DebugGraph::of(self.snapshot, self.graph, self.tree));
        (format == Format::CollectorDot).then(graph)
    }
}

/// The title of the names.
const OBJECT: &str = "OBJECT";
/// What is said of a tree without objects: what could not be read may have some.
pub(crate) fn no_objects(snapshot: &Snapshot) -> &'static str {
    if snapshot.complete() { "No objects." } else { "No objects were read." }
}

/// The rows of a tree, and the objects that have none, because they have neither owners nor dependents.
pub(super) fn outline(view: &TreeView<'_>, options: &TextOptions<'_>) -> (Outline, Vec<ObjectId>) {
    let TreeView { snapshot, graph, tree, statuses, labels } = *view;
    let labels = |object: &Object| labels.map_or_else(Vec::new, |labels| labels.cells(snapshot, object));
    let rows = if options.fold { fold::folded(snapshot, graph, tree, statuses, labels) } else { fold::unfolded(tree) };
    let (lone, rows): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| matches!(row, Row::Lone(_)));
    let mut lines: Vec<Line> = rows.iter().map(|row| line(view, *row)).collect();
    let titles = add(view, &rows, options, &mut lines);
    let row = |(row, line): (Row, Line)| {
        let entry = &tree.entries[row.entry()];
        let subject = match (graph.object(entry.node), entry.reference(snapshot)) {
            (Some(id), _) => Subject::Object(id),
            (None, Some(reference)) => Subject::Owner(*reference),
            (None, None) => Subject::Several,
        };
        let more = if let Row::More { count, .. } = row { count } else { 0 };
        let line = Line { fate: fate(view, row, &line), ..line };
        OutlineRow { depth: entry.depth, subject, points: !entry.showing.here(), more, line }
    };
    let rows = rows.into_iter().zip(lines).map(row).collect();
    (Outline { titles, rows }, lone.iter().filter_map(|row| graph.object(tree.entries[row.entry()].node)).collect())
}

/// Writes the lines of the tree and the totals.
pub(super) fn write(view: &TreeView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (outline, lone) = outline(view, options);
    let titles = outline.titles.clone();
    let lines = outline.lines();
    // Wide output has lines of any length.
    let width = options.width.filter(|_| !options.wide);
    let at = lines::aligned(&lines, width);
    let at = if titles.is_empty() { at } else { at.max(OBJECT.len()) };
    if options.templates.titles && !titles.is_empty() && !lines.is_empty() {
        let state = if options.wide { "STATE" } else { "" };
        writeln!(out, "{}", format!("{OBJECT:<at$}  {}  {state}", titles.join("  ")).trim_end())?;
    }
    lines.iter().try_for_each(|line| line.write(at, 0, width, options.style, out))?;
    let totals = totals(view, &lone);
    if totals.is_empty() {
        return writeln!(out, "{}", no_objects(view.snapshot));
    }
    let mut sections = Sections::default();
    sections.add(Heading::Note, totals);
    if lines.is_empty() { sections.write(options, out) } else { sections.write_below(options, out) }
}

fn line(view: &TreeView<'_>, row: Row) -> Line {
    let TreeView { snapshot, graph, tree, .. } = *view;
    let entry = &tree.entries[row.entry()];
    let object = graph.object(entry.node);
    let mut notes: Vec<Toned> = Vec::new();
    if entry.showing.here()
        && let Some(state) = object.and_then(|id| State::of(snapshot, snapshot.object(id)))
    {
        notes.push((Tone::Warning, format!("{WAITS}{}", state.words(snapshot))));
    }
    if entry.showing.here()
        && let Some(id) = object
    {
        add_status(view, id, row, &mut notes);
    }
    for mark in Mark::of(snapshot, graph, tree, entry) {
        let missing = if mark.is_missing_owner() { format!("{MISSING} ") } else { String::new() };
        let words = missing + &mark.words(snapshot, tree.direction);
        notes.push((if mark.warns() { Tone::Error } else { Tone::Quiet }, words));
    }
    for (_, note) in &mut notes {
        if let Cow::Owned(escaped) = visible(note) {
            *note = escaped;
        }
    }
    let line = match row {
        Row::Entry(_) | Row::Lone(_) => Line::new(&name(snapshot, graph, tree, entry)),
        Row::More { count, below, .. } => {
            if below > 0 {
                let what = match tree.direction {
                    Direction::Dependents => "dependent",
                    Direction::Owners => "owner",
                };
                notes.push((Tone::Quiet, format!("with {below} {what}{}", if below == 1 { "" } else { "s" })));
            }
            let kind = match object {
                Some(id) => plural(snapshot.resource(id), count),
                None if count == 1 => "owner".to_owned(),
                None => "owners".to_owned(),
            };
            Line::quiet(&format!("… {count} more {kind}"))
        }
    };
    Line { remarks: notes, ..line }
}

/// An object that is Terminating waits; a tree doesn't say for whom. Otherwise the worst remark decides.
fn fate(view: &TreeView<'_>, row: Row, line: &Line) -> Fate {
    let TreeView { snapshot, graph, tree, .. } = *view;
    let entry = &tree.entries[row.entry()];
    let Some(id) = graph.object(entry.node) else {
        return if is_unread(view, entry) { Fate::Unsure } else { Fate::Missing };
    };
    let tones = || line.columns.iter().chain(&line.remarks).filter(|(_, text)| !text.trim().is_empty());
    let says = |wanted: Tone| tones().any(|(tone, _)| *tone == wanted);
    match () {
        () if entry.showing.here() && snapshot.object(id).terminating() => Fate::Waits,
        () if says(Tone::Error) => Fate::Error,
        () if says(Tone::Warning) => Fate::Warning,
        () => Fate::Untouched,
    }
}

/// Stands before the state of what is Terminating.
const WAITS: &str = "○ ";

/// Adds how often a pod that is not well has restarted. What the column STATUS says already is taken out.
fn add_status(view: &TreeView<'_>, id: ObjectId, row: Row, notes: &mut Vec<Toned>) {
    let uid = view.snapshot.object(id).uid;
    let Some(StatusOf::Known(status)) = view.statuses.and_then(|statuses| statuses.of(uid)) else { return };
    notes.retain(|(_, note)| note.trim_start_matches(WAITS) != status.status);
    let health = status.health();
    if status.restarts.is_empty() || health == Health::Good || matches!(row, Row::More { .. }) {
        return;
    }
    let (count, when) = status.restarts.split_once(' ').unwrap_or((&status.restarts, ""));
    let noun = if count == "1" { "restart" } else { "restarts" };
    notes.insert(0, (Tone::from(health), format!("{count} {noun} {when}").trim_end().to_owned()));
}

/// `Kind/name`, with the namespace if it is not the expected one: that of the parent or of the scope.
pub(crate) fn name(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree, entry: &Entry) -> String {
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
    snapshot.located(id, Some(snapshot.text(expected)))
}

/// How many objects of which kinds there are, in words; empty if there is none.
pub(super) fn totals(view: &TreeView<'_>, lone: &[ObjectId]) -> Vec<String> {
    let TreeView { snapshot, graph, tree, .. } = *view;
    let objects: Vec<ObjectId> = tree.objects(graph).collect();
    let in_tree = objects.len() - lone.len();
    let lone_kinds = count_kinds(snapshot, lone.iter().copied());
    let mut totals = Vec::new();
    if in_tree > 0 {
        let noun = if in_tree == 1 { "object" } else { "objects" };
        let mut kinds = count_kinds(snapshot, objects.iter().copied());
        for (resource, count) in &lone_kinds {
            if let Some(total) = kinds.get_mut(resource) {
                *total -= count;
            }
        }
        totals.push(format!("{in_tree} {noun}: {}", total(snapshot, &kinds)));
    }
    if !lone.is_empty() {
        let known = if snapshot.complete() { "" } else { "known " };
        let are = if lone.len() == 1 { "is" } else { "are" };
        let kinds = total(snapshot, &lone_kinds);
        let number = lone.len();
        totals.push(format!(
            "{number} without owners or {known}dependents {are} not shown: {kinds} (--no-fold lists them)"
        ));
    }
    totals
}

fn total(snapshot: &Snapshot, kinds: &KindCounts) -> String {
    let mut same_name: BTreeMap<&str, usize> = BTreeMap::new();
    for resource in kinds.keys() {
        *same_name.entry(&snapshot.resources.get(*resource).kind).or_default() += 1;
    }
    let kind = |(resource, count): (&ResourceId, &usize)| {
        let resource = snapshot.resources.get(*resource);
        let named = resource.shares_kind || resource.group.is_empty();
        let ambiguous = same_name[resource.kind.as_str()] > 1 && !named;
        let group = if ambiguous { format!(".{}", resource.group) } else { String::new() };
        format!("{count} {}{group}", plural(resource, *count))
    };
    kinds.iter().filter(|(_, count)| **count > 0).map(kind).collect::<Vec<_>>().join(", ")
}

/// The picture of a tree.
fn picture(view: &TreeView<'_>, options: &PictureOptions<'_>) -> Picture {
    let TreeView { snapshot, graph, .. } = *view;
    let text = TextOptions {
        width: None,
        fold: options.fold,
        wide: false,
        templates: TemplateOptions::default(),
        now: options.now,
        style: &Style::default(),
    };
    let (outline, lone) = outline(view, &text);
    let mut objects = Objects::new(snapshot, graph, options.commands);
    let mut rows: Vec<PictureRow> = Vec::with_capacity(outline.rows.len());
    outline.draw(&mut objects, None, &mut rows);
    let mut totals = totals(view, &lone);
    if totals.is_empty() {
        totals.push(no_objects(view.snapshot).to_owned());
    }
    let sections = section(Heading::Note, totals).into_iter().collect();
    Picture::of("Tree", title(view), objects, View { rows, sections, ..View::default() })
}

/// `Tree: Deployment/web`, `Owners: 2 targets`, `Tree: namespace shop`.
fn title(view: &TreeView<'_>) -> String {
    let TreeView { snapshot, graph, tree, .. } = *view;
    let namespace = tree.namespace.map(|namespace| snapshot.text(namespace));
    let roots = || tree.entries.iter().filter(|entry| entry.depth == 0).filter_map(|entry| graph.object(entry.node));
    let roots: Vec<ObjectId> = if tree.targeted { roots().collect() } else { Vec::new() };
    let of = match (roots.as_slice(), namespace) {
        ([one], _) => snapshot.located(*one, None),
        ([], Some(namespace)) => format!("namespace {namespace}"),
        ([], None) => "all objects".to_owned(),
        (many, _) => count(many.len(), "target", "targets"),
    };
    match tree.direction {
        Direction::Dependents => format!("Tree: {of}"),
        Direction::Owners => format!("Owners: {of}"),
    }
}

/// A longer STATUS is cut off on a terminal: that of some custom resources is a sentence.
const LONGEST_STATUS: usize = 28;
/// For what could not be read, as kubectl prints it.
const UNKNOWN: &str = "<unknown>";
/// For what an object doesn't have.
const NOTHING: &str = "-";

/// Adds the columns to the lines of these rows. Returns their titles, as wide as the columns; empty without columns.
pub(super) fn add(view: &TreeView<'_>, rows: &[Row], options: &TextOptions<'_>, lines: &mut [Line]) -> Vec<String> {
    let mut titles: Vec<String> = Vec::new();
    let mut cells: Vec<Vec<Toned>> = vec![Vec::new(); rows.len()];
    let mut add = |new: &[&str], of: &dyn Fn(Row) -> Vec<Toned>| {
        titles.extend(new.iter().map(|title| (*title).to_owned()));
        rows.iter().zip(&mut cells).for_each(|(row, cells)| cells.extend(of(*row)));
    };
    if view.statuses.is_some() {
        add(&["READY", "STATUS", "AGE"], &|row| status(view, row, options).into());
    }
    if options.wide {
        add(&["UID", "REFERENCE", "FINALIZERS"], &|row| wide(view, row).into());
        if view.statuses.is_none() {
            add(&["AGE"], &|row| vec![age_of(view, row, options.now, NOTHING)]);
        }
    }
    if let Some(labels) = view.labels {
        let titles = labels.titles();
        add(&titles.iter().map(String::as_str).collect::<Vec<_>>(), &|row| label_cells(view, labels, row));
    }
    lines.iter_mut().zip(cells).for_each(|(line, cells)| line.columns = cells);
    lines::pad(&mut titles, lines);
    titles
}

fn object<'a>(view: &TreeView<'a>, entry: &Entry) -> Option<&'a Object> {
    view.graph.object(entry.node).map(|id| view.snapshot.object(id))
}

fn empty() -> Toned {
    (Tone::Plain, String::new())
}

/// READY, STATUS and AGE; those of objects that are folded are equal but for the age.
fn status(view: &TreeView<'_>, row: Row, options: &TextOptions<'_>) -> [Toned; 3] {
    let entry = &view.tree.entries[row.entry()];
    if !entry.showing.here() {
        return [(); 3].map(|()| empty());
    }
    let Some(object) = object(view, entry) else { return without_object(view, entry) };
    let age = age_of(view, row, options.now, UNKNOWN);
    let Some(StatusOf::Known(status)) = view.statuses.and_then(|statuses| statuses.of(object.uid)) else {
        return [(Tone::Warning, "?".to_owned()), (Tone::Warning, UNKNOWN.to_owned()), age];
    };
    let tone = Tone::from(status.health());
    let text =
        |text: &str| if text.is_empty() { (Tone::Plain, NOTHING.to_owned()) } else { (tone, shown(text, options)) };
    [text(&status.ready), text(&status.status), age]
}

/// Nothing is known of an owner that could not be read; one that doesn't exist has no state.
fn without_object(view: &TreeView<'_>, entry: &Entry) -> [Toned; 3] {
    match is_unread(view, entry) {
        true => ["?", UNKNOWN, UNKNOWN].map(|text| (Tone::Warning, text.to_owned())),
        false => [NOTHING; 3].map(|text| (Tone::Plain, text.to_owned())),
    }
}

/// Whether an owner could not be read.
pub(super) fn is_unread(view: &TreeView<'_>, entry: &Entry) -> bool {
    let standing = entry.via.zip(entry.reference(view.snapshot)).map(|((holder, _), reference)| {
        ResolvedReference::of(view.snapshot, view.graph, view.snapshot.object(holder), reference).standing
    });
    matches!(standing, Some(ReferenceStatus::Unread))
}

/// The labels of an object; those of objects that are folded are equal.
fn label_cells(view: &TreeView<'_>, labels: &LabelColumns, row: Row) -> Vec<Toned> {
    let entry = &view.tree.entries[row.entry()];
    let texts = match object(view, entry) {
        _ if !entry.showing.here() => labels.each(""),
        Some(object) => labels.cells(view.snapshot, object),
        None => labels.each(if is_unread(view, entry) { UNKNOWN } else { NOTHING }),
    };
    texts.into_iter().map(|text| (Tone::Plain, text)).collect()
}

fn shown(text: &str, options: &TextOptions<'_>) -> String {
    let text = visible(text);
    if options.width.is_none() || text.width() <= LONGEST_STATUS {
        return text.into_owned();
    }
    let mut cut = String::new();
    for character in text.chars() {
        if cut.width() + 2 > LONGEST_STATUS {
            break;
        }
        cut.push(character);
    }
    cut.trim_end().to_owned() + "…"
}

fn age_of(view: &TreeView<'_>, row: Row, now: Option<i64>, unknown: &str) -> Toned {
    if matches!(row, Row::More { .. }) {
        return empty();
    }
    let created = object(view, &view.tree.entries[row.entry()]).and_then(|object| object.created.get());
    let text = created.zip(now).map_or_else(|| unknown.to_owned(), |(created, now)| age(now - created));
    (Tone::Plain, text)
}

/// UID, REFERENCE and FINALIZERS; empty for a line about several objects.
fn wide(view: &TreeView<'_>, row: Row) -> [Toned; 3] {
    if matches!(row, Row::More { .. }) {
        return [(); 3].map(|()| empty());
    }
    let snapshot = view.snapshot;
    let entry = &view.tree.entries[row.entry()];
    let object = object(view, entry);
    let reference = entry.reference(snapshot);
    let uid = object.map(|object| object.uid).or(reference.map(|reference| reference.uid));
    let flags = reference.map(|reference| match (reference.is_controller(), reference.blocks()) {
        (true, true) => "controller,blocking",
        (true, false) => "controller",
        (false, true) => "blocking",
        (false, false) => "owned",
    });
    let finalizers: Vec<&str> =
        object.iter().flat_map(|object| object.finalizers.iter()).map(|finalizer| snapshot.text(*finalizer)).collect();
    [
        uid.map(|uid| visible(snapshot.text(uid)).into_owned()).unwrap_or_default(),
        flags.unwrap_or(NOTHING).to_owned(),
        if finalizers.is_empty() { NOTHING.to_owned() } else { visible(&finalizers.join(",")).into_owned() },
    ]
    .map(|text| (Tone::Plain, text))
}

/// For an object without labels; a label that it lacks is an empty cell.
const NO_LABELS: &str = "<none>";

/// Which labels have columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelColumns {
    /// A column for each of these keys.
    pub keys: Vec<String>,
    /// A column of all labels.
    pub all: bool,
}

impl LabelColumns {
    /// The last part of each key in upper case, and LABELS.
    pub(super) fn titles(&self) -> Vec<String> {
        let title = |key: &String| visible(&key.rsplit('/').next().unwrap_or_default().to_uppercase()).into_owned();
        self.keys.iter().map(title).chain(self.all.then(|| "LABELS".to_owned())).collect()
    }

    /// The labels of an object.
    pub(super) fn cells(&self, snapshot: &Snapshot, object: &Object) -> Vec<String> {
        let labels = || object.labels.iter().map(|(key, value)| (snapshot.text(*key), snapshot.text(*value)));
        let value = |key: &String| {
            let value = labels().find(|(known, _)| known == key).map_or("", |(_, value)| value);
            visible(value).into_owned()
        };
        let all = || {
            let mut all: Vec<String> = labels().map(|(key, value)| format!("{key}={value}")).collect();
            all.sort_unstable();
            if all.is_empty() { NO_LABELS.to_owned() } else { visible(&all.join(",")).into_owned() }
        };
        self.keys.iter().map(value).chain(self.all.then(all)).collect()
    }

    /// The same text for something without an object.
    pub(super) fn each(&self, text: &str) -> Vec<String> {
        vec![text.to_owned(); self.keys.len() + usize::from(self.all)]
    }
}

/// `kind: Tree`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Document<'a> {
    #[serde(flatten)]
    pub head: Head,
    /// `Dependents` or `Owners`.
    pub direction: Direction,
    /// The uids of the roots, in tree order.
    pub roots: Vec<&'a str>,
    /// The nodes of the tree, in order; then owners outside the tree.
    pub nodes: Vec<Node<'a>>,
    /// All owner references of the nodes.
    pub edges: Named<'a, Vec<Edge>>,
    /// What kept the server's tables from being read.
    #[serde(skip_serializing_if = "<[Gap]>::is_empty")]
    pub status_gaps: &'a [Gap],
}

/// An object, or a uid without an object.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node<'a> {
    #[serde(flatten)]
    pub object: ObjectJson<'a>,
    /// `metadata.creationTimestamp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<&'a str>,
    /// READY and STATUS could not be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub status_unread: bool,
    pub terminating: bool,
    pub finalizers: Vec<&'a str>,
    pub marks: Vec<&'static str>,
    /// No object that was read has this uid; the other fields are from the first reference to it.
    #[serde(rename = "virtual", skip_serializing_if = "std::ops::Not::not")]
    pub is_virtual: bool,
    /// An owner of a node, but not part of the tree.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// How many dependents (in a tree of owners: owners) the requested depth omits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<u32>,
}

/// One owner reference.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    pub dependent: Symbol,
    pub owner: Symbol,
    /// The coordinates as written in the reference.
    pub api_version: Symbol,
    pub kind: Symbol,
    pub name: Symbol,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
    pub verdict: ReferenceStatus,
    /// For `OtherUid`: the uid of the object at the coordinates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Symbol>,
    /// The edge closes a cycle.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closes_cycle: bool,
}

impl<'a> Document<'a> {
    /// The document of a tree.
    pub fn of(view: &TreeView<'a>) -> Document<'a> {
        let TreeView { snapshot, graph, tree, statuses, .. } = *view;
        let mut document = Document {
            head: Head::of("Tree", &snapshot.gaps, snapshot),
            direction: tree.direction,
            roots: Vec::new(),
            nodes: Vec::new(),
            edges: Named(snapshot, Vec::new()),
            status_gaps: statuses.map_or(&[], |statuses| &statuses.gaps),
        };
        let mut cycles: FxHashSet<(ObjectId, u32)> = FxHashSet::default();
        let mut roots: FxHashSet<NodeId> = FxHashSet::default();
        for entry in &tree.entries {
            if let (Showing::Cycle, Some(via)) = (entry.showing, entry.via) {
                cycles.insert(via);
            }
            if let Some(id) = graph.object(entry.node).filter(|_| entry.depth == 0 && roots.insert(entry.node)) {
                document.roots.push(snapshot.text(snapshot.object(id).uid));
            }
        }
        let mut outside = Outside { seen: FxHashSet::default(), nodes: Vec::new() };
        for entry in tree.nodes() {
            let Some(id) = graph.object(entry.node) else {
                if let Some(reference) = entry.reference(snapshot) {
                    let mut node = virtual_node(snapshot, reference, false);
                    node.marks = codes(Mark::of(snapshot, graph, tree, entry));
                    document.nodes.push(node);
                }
                continue;
            };
            document.nodes.push(tree_node(view, entry, id));
            let object = snapshot.object(id);
            for (position, reference) in object.owners.iter().enumerate() {
                let link = ResolvedReference::of(snapshot, graph, object, reference);
                let other = link.found.filter(|_| link.standing == ReferenceStatus::OtherUid);
                document.edges.1.push(Edge {
                    dependent: object.uid,
                    owner: reference.uid,
                    api_version: reference.api_version,
                    kind: reference.kind,
                    name: reference.name,
                    controller: reference.controller,
                    block_owner_deletion: reference.block_owner_deletion,
                    verdict: link.standing,
                    found: other.map(|found| snapshot.object(found).uid),
                    closes_cycle: cycles.contains(&(id, position as u32)),
                });
                if let Some(owner) = graph.by_uid(reference.uid).filter(|owner| !tree.shows(*owner)) {
                    outside.add(snapshot, graph, owner, reference);
                }
            }
        }
        document.nodes.append(&mut outside.nodes);
        document
    }
}

/// Owners of nodes that the tree doesn't show.
struct Outside<'a> {
    seen: FxHashSet<NodeId>,
    nodes: Vec<Node<'a>>,
}

impl<'a> Outside<'a> {
    fn add(&mut self, snapshot: &'a Snapshot, graph: &OwnerGraph, owner: NodeId, reference: &'a Reference) {
        if self.seen.insert(owner) {
            self.nodes.push(match graph.object(owner) {
                Some(id) => Node { outside: true, ..object_node(snapshot, id) },
                None => virtual_node(snapshot, reference, true),
            });
        }
    }
}

fn tree_node<'a>(view: &TreeView<'a>, entry: &Entry, id: ObjectId) -> Node<'a> {
    let TreeView { snapshot, graph, tree, statuses, .. } = *view;
    let mut node = object_node(snapshot, id);
    let given = |text: &'a String| Some(text.as_str()).filter(|text| !text.is_empty());
    match statuses.and_then(|statuses| statuses.of(snapshot.object(id).uid)) {
        Some(StatusOf::Known(status)) => {
            node.ready = given(&status.ready);
            node.status = given(&status.status);
            node.restarts = given(&status.restarts);
        }
        Some(StatusOf::Unread) => node.status_unread = true,
        None => {}
    }
    node.marks.append(&mut codes(Mark::of(snapshot, graph, tree, entry)));
    if let Showing::Cut(more) = entry.showing {
        node.more = Some(more);
    }
    node
}

/// The codes of the marks, each once.
fn codes(marks: Vec<Mark>) -> Vec<&'static str> {
    let mut codes: Vec<&'static str> = Vec::new();
    for code in marks.iter().filter_map(Mark::code) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
}

fn object_node(snapshot: &Snapshot, id: ObjectId) -> Node<'_> {
    let object = snapshot.object(id);
    let mut marks = Vec::new();
    if let Some(state) = State::of(snapshot, object) {
        marks.extend(state.foreground.then_some("foreground"));
        marks.extend(state.orphaning.then_some("orphaning"));
    }
    Node {
        object: ObjectJson::of(snapshot, id),
        created: object.created.get().and_then(|created| Some(jiff::Timestamp::from_second(created).ok()?.to_string())),
        terminating: object.terminating(),
        finalizers: object.finalizers.iter().map(|finalizer| snapshot.text(*finalizer)).collect(),
        marks,
        ..Node::default()
    }
}

fn virtual_node<'a>(snapshot: &'a Snapshot, reference: &'a Reference, outside: bool) -> Node<'a> {
    let object = ObjectJson {
        api_version: snapshot.text(reference.api_version).to_owned(),
        kind: snapshot.text(reference.kind),
        namespace: None,
        name: snapshot.text(reference.name),
        uid: snapshot.text(reference.uid),
    };
    Node { object, is_virtual: true, outside, ..Node::default() }
}

/// The graph in the DOT language.
pub fn collector_dot(graph: &DebugGraph<'_>) -> String {
    let mut out = "strict digraph full {\n".to_owned();
    if !graph.vertices.is_empty() {
        out += "  // Node definitions.\n";
    }
    for vertex in &graph.vertices {
        out += &format!("  {:?} [\n", vertex.uid);
        for (key, value) in attributes(vertex) {
            out += &format!("    {key}={value:?}\n");
        }
        out += "  ];\n";
    }
    if !graph.edges.is_empty() {
        out += "  // Edge definitions.\n";
    }
    for (dependent, owner) in &graph.edges {
        out += &format!("  {dependent:?} -> {owner:?};\n");
    }
    out + "}\n"
}

fn attributes(vertex: &Vertex<'_>) -> [(&'static str, String); 11] {
    [
        ("label", label(vertex)),
        ("group", vertex.group.to_owned()),
        ("version", vertex.version.to_owned()),
        ("kind", vertex.kind.to_owned()),
        ("namespace", vertex.namespace.to_owned()),
        ("name", vertex.name.to_owned()),
        ("uid", vertex.uid.to_owned()),
        ("missing", vertex.missing.to_string()),
        ("beingDeleted", vertex.being_deleted.to_string()),
        ("deletingDependents", vertex.deleting_dependents.to_string()),
        ("virtual", vertex.is_virtual.to_string()),
    ]
}

fn label(vertex: &Vertex<'_>) -> String {
    let group = if vertex.group.is_empty() { String::new() } else { format!(".{}", vertex.group) };
    let object = format!("{}.{}{group}/{}", vertex.kind, vertex.version, vertex.name);
    let mut label = format!("uid={}\nnamespace={}\n{object}\n", vertex.uid, vertex.namespace);
    let conditions = [
        ("beingDeleted", vertex.being_deleted),
        ("deletingDependents", vertex.deleting_dependents),
        ("virtual", vertex.is_virtual),
        ("missingFromGraph", vertex.missing),
    ];
    let conditions: Vec<&str> = conditions.iter().filter(|(_, holds)| *holds).map(|(name, _)| *name).collect();
    if !conditions.is_empty() {
        label.push_str(&conditions.join(","));
        label.push('\n');
    }
    label
}
