//! Folding: shows the first few of many similar siblings, and how many more there are.

use rustc_hash::FxHashMap;

use crate::{
    graph::OwnerGraph,
    model::{Object, ResourceId, Snapshot, Symbol},
};

use super::{
    marks::{Mark, State},
    status::Statuses,
    walk::{Entry, Tree},
};

/// Up to this many similar entries without children are all shown.
const SIMPLE_LIMIT: usize = 5;
/// The limit for roots with children, which are what users look for.
const ROOT_LIMIT: usize = 20;
/// How many entries of a fold are shown.
const SAMPLES: usize = 3;

/// A line of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// The entry with this index.
    Entry(usize),
    /// A fold: more entries similar to the one with this index, the first that is omitted.
    More {
        like: usize,
        /// How many entries are omitted, without their descendants.
        count: usize,
        /// How many nodes are below them, without pointers.
        below: usize,
    },
    /// An object without owners and dependents, counted in the totals at the end.
    Lone(usize),
}

impl Row {
    /// The index of the entry.
    pub fn entry(self) -> usize {
        match self {
            Row::Entry(index) | Row::More { like: index, .. } | Row::Lone(index) => index,
        }
    }
}

/// What must be equal for two entries to be similar: everything shown except their names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shape {
    resource: Option<ResourceId>,
    /// The namespace, if shown.
    namespace: Symbol,
    words: Vec<String>,
    /// The shapes of the children, sorted.
    below: Vec<u32>,
}

/// All lines, unfolded.
pub fn unfolded(tree: &Tree) -> Vec<Row> {
    (0..tree.entries.len()).map(Row::Entry).collect()
}

/// All lines, with similar entries folded and lone objects in totals. `more` is what else is shown of an object.
pub fn folded(
    snapshot: &Snapshot,
    graph: &OwnerGraph,
    tree: &Tree,
    statuses: Option<&Statuses>,
    more: impl Fn(&Object) -> Vec<String>,
) -> Vec<Row> {
    let entries = &tree.entries;
    let parents = parents(entries);
    let ends = ends(entries);
    let shapes = shapes(snapshot, graph, tree, (statuses, more), &parents);
    let lone: Vec<bool> = entries.iter().map(|entry| tree.is_lone(snapshot, graph, entry)).collect();
    let mut alike: FxHashMap<(u32, u32), SimilarSiblings> = FxHashMap::default();
    for index in (0..entries.len()).filter(|index| !lone[*index]) {
        alike.entry((parents[index], shapes[index])).or_default().total += 1;
    }
    let mut rows = Vec::new();
    let mut index = 0;
    while index < entries.len() {
        if lone[index] {
            rows.push(Row::Lone(index));
            index += 1;
            continue;
        }
        let Some(class) = alike.get_mut(&(parents[index], shapes[index])) else { break };
        let leaf = ends[index] == index + 1;
        let limit = if entries[index].depth == 0 && !leaf { ROOT_LIMIT } else { SIMPLE_LIMIT };
        class.seen += 1;
        if class.total <= limit || class.seen <= SAMPLES {
            rows.push(Row::Entry(index));
            index += 1;
            continue;
        }
        let like = *class.first_hidden.get_or_insert(index);
        class.below += entries[index + 1..ends[index]].iter().filter(|entry| entry.showing.here()).count();
        if class.seen == class.total {
            rows.push(Row::More { like, count: class.total - SAMPLES, below: class.below });
        }
        index = ends[index];
    }
    rows
}

#[derive(Debug, Default)]
struct SimilarSiblings {
    total: usize,
    seen: usize,
    first_hidden: Option<usize>,
    below: usize,
}

const NO_PARENT: u32 = u32::MAX;

/// The index of each entry's parent.
fn parents(entries: &[Entry]) -> Vec<u32> {
    let mut path: Vec<u32> = Vec::new();
    let mut parents = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        path.truncate(entry.depth as usize);
        parents.push(path.last().copied().unwrap_or(NO_PARENT));
        path.push(index as u32);
    }
    parents
}

/// The index after each entry's last descendant.
fn ends(entries: &[Entry]) -> Vec<usize> {
    let mut ends = vec![entries.len(); entries.len()];
    let mut path: Vec<usize> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        for done in path.drain((entry.depth as usize).min(path.len())..) {
            ends[done] = index;
        }
        path.push(index);
    }
    ends
}

/// A number for the shape of each entry with its descendants: equal numbers, equal shapes.
fn shapes(
    snapshot: &Snapshot,
    graph: &OwnerGraph,
    tree: &Tree,
    (statuses, more): (Option<&Statuses>, impl Fn(&Object) -> Vec<String>),
    parents: &[u32],
) -> Vec<u32> {
    let mut known: FxHashMap<Shape, u32> = FxHashMap::default();
    let mut below: Vec<Vec<u32>> = vec![Vec::new(); tree.entries.len()];
    let mut shapes = vec![0; tree.entries.len()];
    // Backwards, descendants come before their ancestors.
    for (index, entry) in tree.entries.iter().enumerate().rev() {
        let mut below_here = std::mem::take(&mut below[index]);
        below_here.sort_unstable();
        let object = graph.object(entry.node).map(|id| snapshot.object(id));
        let parent = entry.via.filter(|_| parents[index] != NO_PARENT);
        let parent = parent.and_then(|_| graph.object(tree.entries[parents[index] as usize].node));
        let beside = parent.map_or(Symbol::EMPTY, |id| snapshot.object(id).namespace);
        let namespace = object.map_or(Symbol::EMPTY, |object| object.namespace);
        let state = object.and_then(|object| State::of(snapshot, object)).map(|state| state.words(snapshot));
        let status = object.filter(|_| entry.showing.here()).and_then(|object| statuses?.look(object.uid));
        let more = object.filter(|_| entry.showing.here()).map(&more);
        let state = state.into_iter().chain(status).chain(more.into_iter().flatten());
        let marks = Mark::of(snapshot, graph, tree, entry);
        let look = Shape {
            resource: object.map(|object| object.resource),
            namespace: if namespace == beside { Symbol::EMPTY } else { namespace },
            words: state.chain(marks.iter().map(|mark| mark.words(snapshot, tree.direction))).collect(),
            below: below_here,
        };
        let next = known.len() as u32;
        shapes[index] = *known.entry(look).or_insert(next);
        if parents[index] != NO_PARENT {
            below[parents[index] as usize].push(shapes[index]);
        }
    }
    shapes
}
