//! The columns of a tree, beside the names. Those of labels, `-L` and `--show-labels`, are as kubectl prints them
//! (cli-runtime `printers/tableprinter.go`).

use unicode_width::UnicodeWidthStr;

use gc_core::{
    model::{Object, Snapshot},
    tree::{Entry, ReferenceStatus, ResolvedReference, StatusOf, fold::Row},
    wording::age,
};

use super::{
    escape::visible,
    lines::{self, Line},
    output::TextOptions,
    style::Tone,
    tree::TreeView,
};

/// A longer STATUS is cut off on a terminal: that of some custom resources is a sentence.
const LONGEST_STATUS: usize = 28;
/// For what could not be read, as kubectl prints it.
const UNKNOWN: &str = "<unknown>";
/// For what an object doesn't have.
const NOTHING: &str = "-";

type Cell = (Tone, String);

/// Adds the columns to the lines of these rows. Returns their titles, as wide as the columns; empty without columns.
pub(super) fn add(view: &TreeView<'_>, rows: &[Row], options: &TextOptions<'_>, lines: &mut [Line]) -> Vec<String> {
    let mut titles: Vec<String> = Vec::new();
    let mut cells: Vec<Vec<Cell>> = vec![Vec::new(); rows.len()];
    let mut add = |new: &[&str], of: &dyn Fn(Row) -> Vec<Cell>| {
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

fn empty() -> Cell {
    (Tone::Plain, String::new())
}

/// READY, STATUS and AGE; those of objects that are folded are equal but for the age.
fn status(view: &TreeView<'_>, row: Row, options: &TextOptions<'_>) -> [Cell; 3] {
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
fn without_object(view: &TreeView<'_>, entry: &Entry) -> [Cell; 3] {
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
fn label_cells(view: &TreeView<'_>, labels: &LabelColumns, row: Row) -> Vec<Cell> {
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

fn age_of(view: &TreeView<'_>, row: Row, now: Option<i64>, unknown: &str) -> Cell {
    if matches!(row, Row::More { .. }) {
        return empty();
    }
    let created = object(view, &view.tree.entries[row.entry()]).and_then(|object| object.created.get());
    let text = created.zip(now).map_or_else(|| unknown.to_owned(), |(created, now)| age(now - created));
    (Tone::Plain, text)
}

/// UID, REFERENCE and FINALIZERS; empty for a line about several objects.
fn wide(view: &TreeView<'_>, row: Row) -> [Cell; 3] {
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
