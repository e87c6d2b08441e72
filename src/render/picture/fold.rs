//! Folds a picture further than the text does, so that it fits where little fits. What needs attention most stays.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use gc_core::wording::{count, thousands};

use super::{Fate, Link, Picture, Row, View};

/// One way to have fewer rows.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// So many leaves that are alike keep their rows; one row stands for the others.
    Alike(usize),
    /// A row at this depth or deeper stands for all below it, if the same becomes of all of them.
    Below(usize),
    /// So many rows stay, and the last one counts the others.
    Most(usize),
}

/// The view, folded harder and harder, wherever it has at most so many rows.
pub(super) fn fitting(picture: &Picture, view: &View, most: usize) -> impl Iterator<Item = View> {
    let alike = || [30, 10, 3, 1].into_iter().map(Step::Alike);
    let below = [16, 8, 4, 2, 1, 0].into_iter().flat_map(move |depth| [Step::Below(depth)].into_iter().chain(alike()));
    let cuts = [1, 2, 4, 8, 16].map(|part| Step::Most((most / part).max(1)));
    let steps = [Step::Alike(usize::MAX)].into_iter().chain(alike()).chain(below).chain(cuts);
    let bare = View { rows: Vec::new(), ..view.clone() };
    let with_rows = move |rows: Vec<Row>| View { rows, ..bare.clone() };
    let folded = steps.scan(view.rows.clone(), move |rows, step| {
        *rows = match step {
            Step::Alike(usize::MAX) => std::mem::take(rows),
            Step::Alike(samples) => fold_alike(picture, std::mem::take(rows), samples),
            Step::Below(depth) => fold_below(std::mem::take(rows), depth),
            // The last row of a cut is no object: each cut begins anew.
            Step::Most(fewer) => return Some(Some(with_rows(cut(rows.clone(), fewer)))),
        };
        Some((rows.len() <= most).then(|| with_rows(rows.clone())))
    });
    folded.flatten()
}

/// The view with one row for all leaves that are alike, but for so many.
pub(in crate::render) fn folded(picture: &Picture, view: View, samples: usize) -> View {
    View { rows: fold_alike(picture, view.rows, samples), ..view }
}

/// Leaves that may share a row: all that is said of them is the same.
#[derive(PartialEq, Eq, Hash)]
struct Alike {
    parent: Option<usize>,
    kind: String,
    fate: Fate,
    loses: bool,
    word: String,
    detail: String,
}

fn fold_alike(picture: &Picture, rows: Vec<Row>, samples: usize) -> Vec<Row> {
    let mut has_below = vec![false; rows.len()];
    rows.iter().filter_map(|row| row.parent).for_each(|parent| has_below[parent] = true);
    let mut shown: Vec<Row> = Vec::new();
    // The new place of each row that has others below it.
    let mut place: Vec<usize> = vec![0; rows.len()];
    let mut seen: FxHashMap<Alike, (usize, Option<usize>)> = FxHashMap::default();
    for (index, row) in rows.into_iter().enumerate() {
        let parent = row.parent.map(|parent| place[parent]);
        place[index] = shown.len();
        let Some(object) = row.object.filter(|_| !has_below[index] && !row.points) else {
            shown.push(Row { parent, ..row });
            continue;
        };
        let kind = picture.objects[object].kind.clone();
        let (word, detail) = (row.word.clone(), row.detail.clone());
        let alike = Alike { parent, kind: kind.clone(), fate: row.fate, loses: row.loses, word, detail };
        let (number, line) = seen.entry(alike).or_default();
        let is_sample = row.more == 0 && *number < samples;
        *number += usize::from(is_sample);
        match line {
            _ if is_sample => shown.push(Row { parent, ..row }),
            None => {
                *line = Some(shown.len());
                let more = row.more.max(1);
                shown.push(Row { parent, title: kind, more, story: Vec::new(), ..row });
            }
            Some(line) => {
                shown[*line].more += row.more.max(1);
                shown[*line].below += row.below;
            }
        }
    }
    for (Alike { kind, .. }, (_, line)) in seen {
        if let Some(line) = line {
            let Row { more, below, .. } = shown[line];
            shown[line].title = format!("… {} more of kind {kind}{}", thousands(more), and_below(below));
        }
    }
    shown
}

fn fold_below(rows: Vec<Row>, depth: usize) -> Vec<Row> {
    let depths = depths(&rows);
    // How many objects a row and all below it stand for, if the same becomes of all of them.
    let mut sizes: Vec<Option<usize>> = rows.iter().map(|row| Some(stands_for(row))).collect();
    for index in (0..rows.len()).rev() {
        let Some(parent) = rows[index].parent else { continue };
        let same = |row: &Row| (row.fate, row.loses, row.word.clone(), row.object.is_some());
        let is_same = same(&rows[index]) == same(&rows[parent]);
        sizes[parent] = sizes[parent].zip(sizes[index]).filter(|_| is_same).map(|(above, below)| above + below);
    }
    let mut place: Vec<Option<usize>> = vec![None; rows.len()];
    let mut shown: Vec<Row> = Vec::new();
    for (index, row) in rows.into_iter().enumerate() {
        let parent = row.parent.map(|parent| place[parent]);
        // Below a row that stands for all of them.
        let Some(parent) = parent.map_or(Some(None), |place| place.map(Some)) else { continue };
        let below = sizes[index].filter(|_| depths[index] >= depth).map_or(0, |size| size - stands_for(&row));
        if below == 0 {
            place[index] = Some(shown.len());
            shown.push(Row { parent, ..row });
        } else {
            let title = format!("{}{}", row.title, and_below(below));
            shown.push(Row { parent, title, below, ..row });
        }
    }
    shown
}

/// What needs attention most stays, with all that it stands below.
fn cut(rows: Vec<Row>, most: usize) -> Vec<Row> {
    if rows.len() <= most {
        return rows;
    }
    let depths = depths(&rows);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|index| (!rows[*index].loses, rows[*index].fate, depths[*index], *index));
    let mut stays: FxHashSet<usize> = FxHashSet::default();
    for index in order {
        let above = std::iter::successors(Some(index), |index| rows[*index].parent);
        let new: Vec<usize> = above.take_while(|index| !stays.contains(index)).take(most).collect();
        if stays.len() + new.len() < most {
            stays.extend(new);
        }
    }
    let objects: FxHashSet<usize> = rows
        .iter()
        .enumerate()
        .filter(|(index, row)| stays.contains(index) && row.more == 0)
        .filter_map(|(_, row)| row.object)
        .collect();
    let mut place: Vec<usize> = vec![0; rows.len()];
    let mut shown: Vec<Row> = Vec::new();
    let mut left_out: Vec<Row> = Vec::new();
    for (index, row) in rows.into_iter().enumerate() {
        place[index] = shown.len();
        if stays.contains(&index) {
            shown.push(Row { parent: row.parent.map(|parent| place[parent]), ..row });
        } else if row.more > 0 || row.object.is_none_or(|object| !row.points && !objects.contains(&object)) {
            left_out.push(row);
        }
    }
    shown.extend(rest(&left_out));
    shown
}

/// The row that stands for all of these, with what becomes of them; `None` if they are none.
fn rest(left_out: &[Row]) -> Option<Row> {
    let fate = left_out.iter().map(|row| row.fate).min()?;
    let findings = left_out.iter().filter(|row| row.object.is_none()).count();
    let objects = left_out.iter().filter(|row| row.object.is_some());
    let mut words: BTreeMap<(Fate, &str), usize> = BTreeMap::new();
    let mut number = 0;
    for row in objects {
        number += stands_for(row);
        *words.entry((row.fate, row.word.as_str())).or_default() += stands_for(row);
    }
    let words = words.iter().filter(|((_, word), _)| !word.is_empty());
    let words: Vec<String> = words.map(|((_, word), number)| format!("{} {word}", thousands(*number))).collect();
    let words = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
    let objects = (number > 0).then(|| format!("{}{words}", count(number, "more object", "more objects")));
    let findings = (findings > 0).then(|| count(findings, "more finding", "more findings"));
    let all: Vec<String> = objects.into_iter().chain(findings).collect();
    let loses = left_out.iter().any(|row| row.loses);
    let detail = if loses { "some lose data".to_owned() } else { String::new() };
    let title = format!("… and {}: -o html shows them", all.join(" and "));
    Some(Row { loses, detail, more: number.max(1), ..Row::new(title, fate) })
}

/// How many objects a row stands for. One that points to another row is none of its own.
fn stands_for(row: &Row) -> usize {
    if row.points { 0 } else { row.more.max(1) + row.below }
}

/// How many objects below are not shown; empty if there are none.
fn and_below(below: usize) -> String {
    if below == 0 { String::new() } else { format!(", and {} below", thousands(below)) }
}

/// How many rows each one stands below.
pub(super) fn depths(rows: &[Row]) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(rows.len());
    for row in rows {
        depths.push(row.parent.map_or(0, |parent| depths[parent] + 1));
    }
    depths
}

/// The nodes and edges of a view.
pub(super) struct Graph<'a> {
    /// The rows that are nodes, by index. A row that only points to another one is none.
    pub nodes: Vec<(usize, &'a Row)>,
    pub edges: Vec<Edge<'a>>,
}

/// A line from an owner to a dependent, or from a row to one that stands below it.
#[derive(Clone, Copy)]
pub(super) struct Edge<'a> {
    /// The rows.
    pub from: usize,
    pub to: usize,
    /// The owner reference; without one, the text lists the one below the other for another reason.
    pub link: Option<&'a Link>,
    /// Whether the row stands below the other one.
    pub places: bool,
    /// One waits for the other ([`View::waits`]).
    pub waits: bool,
}

impl<'a> Graph<'a> {
    pub(super) fn of(picture: &'a Picture, view: &'a View) -> Self {
        // The row of each object.
        let mut row_of: FxHashMap<usize, usize> = FxHashMap::default();
        for (index, row) in view.rows.iter().enumerate() {
            if let Some(object) = row.object.filter(|_| !row.points && row.more == 0) {
                row_of.entry(object).or_insert(index);
            }
        }
        let is_node = |row: &Row| !row.points || row.object.is_none_or(|object| !row_of.contains_key(&object));
        let mut links: FxHashMap<(usize, usize), &Link> = FxHashMap::default();
        for link in &picture.links {
            links.entry((link.owner, link.dependent)).or_insert(link);
        }
        let node_of = |index: usize| {
            let row = &view.rows[index];
            let object = row.object.filter(|_| !is_node(row));
            object.and_then(|object| row_of.get(&object).copied()).unwrap_or(index)
        };
        // In a tree of owners, the owner stands below.
        let between = |one: Option<usize>, other: Option<usize>| {
            let (one, other) = (one?, other?);
            links.get(&(one, other)).or_else(|| links.get(&(other, one))).copied()
        };
        let mut drawn: FxHashSet<(usize, usize)> = FxHashSet::default();
        let mut edges = Vec::new();
        for (index, row) in view.rows.iter().enumerate() {
            let Some(parent) = row.parent else { continue };
            let link = between(view.rows[parent].object, row.object).filter(|_| view.rows[parent].more == 0);
            // A heading may stand between an object and what is listed below it.
            let heading = Some(parent).filter(|parent| view.rows[*parent].object.is_none());
            let above = heading.and_then(|heading| view.rows[view.rows[heading].parent?].object);
            for link in link.into_iter().chain(between(above, row.object)) {
                drawn.insert((link.owner, link.dependent));
            }
            let upwards =
                link.is_some_and(|link| Some(link.owner) == row.object && row.object != view.rows[parent].object);
            let (from, to) = if upwards { (index, parent) } else { (parent, index) };
            edges.push(Edge { from: node_of(from), to: node_of(to), link, places: is_node(row), waits: false });
        }
        for link in &picture.links {
            if let (Some(from), Some(to)) = (row_of.get(&link.owner), row_of.get(&link.dependent))
                && drawn.insert((link.owner, link.dependent))
            {
                let link = Some(link);
                edges.push(Edge { from: *from, to: *to, link, places: false, waits: false });
            }
        }
        for [from, to] in &view.waits {
            if let (Some(from), Some(to)) = (row_of.get(from), row_of.get(to)) {
                edges.push(Edge { from: *from, to: *to, link: None, places: false, waits: true });
            }
        }
        let nodes = view.rows.iter().enumerate().filter(|(_, row)| is_node(row)).collect();
        Graph { nodes, edges }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::picture::Object;

    /// Objects with these fates, each below the one that it names.
    fn picture(fates: &[(Fate, Option<usize>)]) -> (Picture, View) {
        let object = |name: String| Object {
            api_version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            uid: name.clone(),
            name,
            ..Object::default()
        };
        let row = |(index, (fate, parent)): (usize, &(Fate, Option<usize>))| Row {
            object: Some(index),
            parent: *parent,
            word: fate.text().to_owned(),
            ..Row::new(format!("Pod/{index}"), *fate)
        };
        let rows = fates.iter().enumerate().map(row).collect();
        let objects = (0..fates.len()).map(|index| object(index.to_string())).collect();
        (Picture { objects, ..Picture::default() }, View { rows, ..View::default() })
    }

    /// Of each fate, as many objects as there were: rows, what they stand for, and what the last row says.
    #[test]
    fn nothing_is_lost_and_the_worst_stays() {
        let mut fates = vec![(Fate::Deleted, None)];
        for index in 0..3_000 {
            let fate = match index {
                index if index % 700 == 0 => Fate::Stuck,
                index if index % 3 == 0 => Fate::Kept,
                _ => Fate::Deleted,
            };
            fates.push((fate, Some(if index % 5 == 0 { 0 } else { index })));
        }
        let (picture, view) = picture(&fates);
        let stuck = fates.iter().filter(|(fate, _)| *fate == Fate::Stuck).count();
        let mut tried = 0;
        for folded in fitting(&picture, &view, 60) {
            tried += 1;
            let number: usize = folded.rows.iter().map(stands_for).sum();
            assert_eq!(number, fates.len(), "{:#?}", folded.rows);
            let last = folded.rows.last().unwrap();
            let of_stuck = folded.rows.iter().filter(|row| row.fate == Fate::Stuck && row.object.is_some());
            let missing = stuck - of_stuck.map(stands_for).sum::<usize>();
            let tells = missing == 0 || last.fate == Fate::Stuck && last.title.contains(&format!("{missing} STUCK"));
            assert!(tells, "{missing} of {stuck}: {:#?}", folded.rows);
            // Rows of what goes make room first.
            assert!(missing == 0 || folded.rows.len() <= stuck * 2, "{:#?}", folded.rows);
        }
        assert!(tried > 0);
    }

    #[test]
    fn what_is_said_of_them_is_the_same() {
        let (picture, mut view) = picture(&[(Fate::Later, None); 9]);
        view.rows[4].detail = "! DATA LOSS".to_owned();
        view.rows[4].loses = true;
        let rows = folded(&picture, view, 1).rows;
        let told: Vec<(&str, usize, bool)> = rows.iter().map(|row| (row.title.as_str(), row.more, row.loses)).collect();
        assert_eq!(told, [("Pod/0", 0, false), ("… 7 more of kind Pod", 7, false), ("Pod/4", 0, true)]);
    }
}
