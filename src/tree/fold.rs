//! Folding: of many siblings that look alike, the first few and how many more there are.

use rustc_hash::FxHashMap;

use crate::{
    graph::OwnerGraph,
    model::{ResourceId, Snapshot, Symbol},
};

use super::{
    marks::{Mark, State},
    walk::{Entry, Tree},
};

/// So many alike without anything below them are shown one by one; more are folded.
const SIMPLE_LIMIT: usize = 5;
/// The same for roots that have something below them: they are what one looks for.
const ROOT_LIMIT: usize = 20;
/// So many of a fold are shown.
const SAMPLES: usize = 3;

/// A line of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// The entry with this index.
    Entry(usize),
    /// More like the entry with this index, which is the first that is left out.
    More {
        like: usize,
        /// How many entries are left out, without what is below them.
        count: usize,
        /// How many nodes are below them, pointers left aside.
        below: usize,
    },
    /// The lone objects of one kind are totalled at the end, not here: this entry is one of them.
    Lone(usize),
}

impl Row {
    /// The index of the entry it stands for.
    pub fn entry(self) -> usize {
        match self {
            Row::Entry(index) | Row::More { like: index, .. } | Row::Lone(index) => index,
        }
    }
}

/// What makes two entries look alike: everything that is shown of them but their names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Look {
    resource: Option<ResourceId>,
    /// The namespace, where it is shown.
    namespace: Symbol,
    words: Vec<String>,
    /// The shapes right below, sorted.
    below: Vec<u32>,
}

/// Every line, with nothing folded.
pub fn unfolded(tree: &Tree) -> Vec<Row> {
    (0..tree.entries.len()).map(Row::Entry).collect()
}

/// The lines with likes folded and lone objects apart.
pub fn folded(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree) -> Vec<Row> {
    let entries = &tree.entries;
    let parents = parents(entries);
    let ends = ends(entries);
    let shapes = shapes(snapshot, graph, tree, &parents);
    let lone: Vec<bool> = entries.iter().map(|entry| tree.is_lone(snapshot, graph, entry)).collect();
    let mut alike: FxHashMap<(u32, u32), Class> = FxHashMap::default();
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
struct Class {
    total: usize,
    seen: usize,
    first_hidden: Option<usize>,
    below: usize,
}

const NO_PARENT: u32 = u32::MAX;

/// The index of every entry's parent.
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

/// Where the entries below every entry end.
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

/// A number for the look of every entry with all that is below it: equal numbers, equal looks.
fn shapes(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree, parents: &[u32]) -> Vec<u32> {
    let mut known: FxHashMap<Look, u32> = FxHashMap::default();
    let mut below: Vec<Vec<u32>> = vec![Vec::new(); tree.entries.len()];
    let mut shapes = vec![0; tree.entries.len()];
    // Backwards, what is below an entry comes before it.
    for (index, entry) in tree.entries.iter().enumerate().rev() {
        let mut below_here = std::mem::take(&mut below[index]);
        below_here.sort_unstable();
        let object = graph.object(entry.node).map(|id| snapshot.object(id));
        let parent = entry.via.filter(|_| parents[index] != NO_PARENT);
        let parent = parent.and_then(|_| graph.object(tree.entries[parents[index] as usize].node));
        let beside = parent.map_or(Symbol::EMPTY, |id| snapshot.object(id).namespace);
        let namespace = object.map_or(Symbol::EMPTY, |object| object.namespace);
        let state = object.and_then(|object| State::of(snapshot, object)).map(|state| state.words(snapshot));
        let marks = Mark::of(snapshot, graph, tree, entry);
        let look = Look {
            resource: object.map(|object| object.resource),
            namespace: if namespace == beside { Symbol::EMPTY } else { namespace },
            words: state.into_iter().chain(marks.iter().map(|mark| mark.words(snapshot, tree.direction))).collect(),
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
