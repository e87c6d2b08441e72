//! The rows of these tests are text, in `tests/engine/rows`, and are read when the tests run: a new row needs no Rust.
//!
//! ```text
//! R5.1 blocking dependent with a foreign finalizer
//!   Deployment web
//!   ReplicaSet rs fin=acme.io/x <- Deployment/web!
//! delete Foreground Deployment/web
//!   Deployment/web Terminating(foregroundDeletion), ReplicaSet/rs Terminating(acme.io/x)
//! ```
//!
//! A title, and a graph ([`Scene`]); then what happens to it, and the outcomes: `A/B` if either is possible, `?` if
//! uncertain. What happens is `delete POLICY OBJECTS`, maybe with `grace=SECONDS`; `restart`, a collector that starts
//! on this state; or `sweep`, maybe with `only NAMESPACE` or `only OBJECTS`. `VIEW: ` before it tells something else
//! ([`tell`] knows the views), and `explain OBJECT` needs nothing to happen. Actions on successive lines have the same
//! outcome. An indented line may go on in the next. `nothing` is expected if nothing is told. `graph NAME` instead of a
//! title names a graph; a line of other graphs that is this name stands for it. `#` begins a comment.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    iter::Peekable,
    panic::catch_unwind,
    path::Path,
};

use crate::views::tell;

const FOLDER: &str = "tests/engine/rows";

pub struct Row {
    /// `tests/engine/rows/rules.txt:12`.
    place: String,
    pub title: String,
    pub graph: String,
    action: String,
    expected: String,
}

/// The rows of one file.
pub fn read(file: &str) -> Vec<Row> {
    let file = format!("{FOLDER}/{file}");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file));
    parse(&file, &text.unwrap_or_else(|error| panic!("{file}: {error}")))
}

pub fn parse(file: &str, text: &str) -> Vec<Row> {
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.starts_with('#')).peekable();
    let (mut rows, mut titles, mut graphs) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
    while let Some((first, at)) = lines.next_if(|_| true) {
        if first.is_empty() {
            continue;
        }
        let place = format!("{file}:{at}");
        let mut title = vec![first];
        title.extend(part(&mut lines, false));
        let title = title.join(" ");
        let graph = part(&mut lines, true);
        assert!(!first.starts_with(' ') && !graph.is_empty(), "{place}: a title, and then a graph");
        assert!(titles.insert(title.clone()), "{place}: there is another row {title}");
        if let Some(name) = title.strip_prefix("graph ") {
            graphs.insert(name.to_owned(), (graph.join("\n"), false));
            continue;
        }
        let mut lines_in_full = String::new();
        for line in graph {
            let named = graphs.get_mut(line).map(|(graph, used)| {
                *used = true;
                &*graph
            });
            lines_in_full += named.map_or(line, |graph| graph);
            lines_in_full += "\n";
        }
        let before = rows.len();
        while lines.peek().is_some_and(|(line, _)| !line.is_empty()) {
            let actions = part(&mut lines, false);
            let expected = part(&mut lines, true).join(" ");
            assert!(!actions.is_empty() && !expected.is_empty(), "{place}: what happens, and what is expected of it?");
            rows.extend(actions.into_iter().map(|action| Row {
                place: place.clone(),
                title: title.clone(),
                graph: lines_in_full.clone(),
                action: action.to_owned(),
                expected: expected.clone(),
            }));
        }
        assert!(rows.len() > before, "{place}: nothing happens");
    }
    assert!(!rows.is_empty(), "{file} has no rows");
    graphs.iter().for_each(|(name, (_, used))| assert!(used, "{file}: no row has the graph {name}"));
    rows
}

/// The next lines of a block, as far as they are indented, or aren't.
fn part<'t>(lines: &mut Peekable<impl Iterator<Item = (&'t str, usize)>>, indented: bool) -> Vec<&'t str> {
    let is_next = |(line, _): &(&str, usize)| !line.is_empty() && line.starts_with(' ') == indented;
    std::iter::from_fn(|| lines.next_if(is_next)).map(|(line, _)| line.trim()).collect()
}

impl Row {
    /// What is wrong: the row, and what is told instead.
    fn wrong(&self) -> Option<String> {
        let Row { place, title, graph, action, expected } = self;
        let told = catch_unwind(|| tell(graph, action)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            format!("a panic: {}", text.unwrap_or_default())
        });
        let told = if told.is_empty() { "nothing" } else { &told };
        // Where a line ends doesn't matter.
        let is_as_expected = told.split_whitespace().eq(expected.split_whitespace());
        (!is_as_expected).then(|| format!("{place}: {title}\n{action}\n  expected {expected}\n  but got  {told}"))
    }
}

#[test]
fn every_row_comes_true() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let rows: Vec<Row> = files.collect::<BTreeSet<String>>().iter().flat_map(|file| read(file)).collect();
    let wrong: Vec<String> = rows.iter().filter_map(Row::wrong).collect();
    assert!(!rows.is_empty() && wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn a_row_that_can_not_fail_is_an_error() {
    let row = "one\n  Shop a\ndelete Background Shop/a\n  Shop/a Deleted\n";
    assert!(parse("x", row)[0].wrong().is_none());
    for (was, is, says) in [
        (
            "Deleted",
            "Orphaned",
            "x:1: one\ndelete Background Shop/a\n  expected Shop/a Orphaned\n  but got  Shop/a Deleted",
        ),
        ("  Shop/a Deleted", "  nothing", "but got  Shop/a Deleted"),
        ("  Shop a", "  Shop a fine", "a panic: what is fine in Shop a fine?"),
        ("  Shop a", "  SHOP", "a panic: "),
        ("  Shop a", "  Shop a\n  facts Shop/a fine", "a panic: what is fine?"),
        ("  Shop a", "  Shop a\n  unread SHOP", "a panic: "),
        ("delete", "destroy", "a panic: what is destroy Background Shop/a?"),
        ("delete", "fate: delete", "a panic: what is fate?"),
        ("delete Background Shop/a", "sweep only nowhere", "a panic: nothing is in nowhere"),
        ("Shop/a\n", "Shop/b\n", "a panic: the target Shop/b is not in the graph"),
    ] {
        let wrong = parse("x", &row.replacen(was, is, 1))[0].wrong().unwrap_or_default();
        assert!(wrong.contains(says), "{is}: {wrong}");
    }
    for (text, says) in [
        (String::new(), "x has no rows"),
        ("# a comment".to_owned(), "x has no rows"),
        (format!("{row}\n{row}"), "x:6: there is another row one"),
        (format!("graph A\n  Shop b\n\n{row}"), "x: no row has the graph A"),
        (row.replace("\n  Shop/a Deleted", ""), "x:1: what happens, and what is expected of it?"),
        ("one\n  Shop a\n\n".to_owned() + row, "x:1: nothing happens"),
        (row.replace("one\n", ""), "x:1: a title, and then a graph"),
    ] {
        let panic = catch_unwind(|| drop(parse("x", &text))).unwrap_err();
        let said = panic.downcast_ref::<String>().expect("a text");
        assert!(said.starts_with(says), "{said}");
    }
}
