//! What leads to itself: ownership cycles, whose members the collector never deletes on its own (R5.12), and others.

use std::hash::Hash;

use petgraph::{
    algo::kosaraju_scc,
    graph::{DiGraph, NodeIndex},
};
use rustc_hash::FxHashMap;

use crate::model::{ObjectId, Snapshot};

use super::owner_graph::OwnerGraph;

/// These items in sets whose members lead to each other, each in one.
pub(crate) fn components<T: Copy + Eq + Hash, I: IntoIterator<Item = T>>(
    items: &[T],
    leads_to: impl Fn(T) -> I,
) -> Vec<Vec<T>> {
    let mut edges: DiGraph<T, ()> = DiGraph::with_capacity(items.len(), items.len());
    let places: FxHashMap<T, NodeIndex> = items.iter().map(|item| (*item, edges.add_node(*item))).collect();
    for item in items {
        for next in leads_to(*item) {
            if let Some(to) = places.get(&next) {
                edges.add_edge(places[item], *to, ());
            }
        }
    }
    // Kosaraju's algorithm is iterative here; Tarjan's would recurse along the longest chain of owners.
    let components = kosaraju_scc(&edges).into_iter();
    components.map(|members| members.into_iter().map(|place| edges[place]).collect()).collect()
}

/// The cycles among these items: at least two that lead to each other, or one that leads to itself. All are sorted.
pub(crate) fn cycles<T: Copy + Ord + Hash, I: IntoIterator<Item = T>>(
    items: &[T],
    leads_to: impl Fn(T) -> I,
) -> Vec<Vec<T>> {
    let leads_to_itself = |item: T| leads_to(item).into_iter().any(|next| next == item);
    let mut cycles = components(items, &leads_to);
    cycles.retain(|members| members.len() > 1 || leads_to_itself(members[0]));
    cycles.iter_mut().for_each(|members| members.sort_unstable());
    cycles.sort_unstable();
    cycles
}

/// Ownership cycles by uid.
pub(crate) fn ownership_cycles(snapshot: &Snapshot, graph: &OwnerGraph) -> Vec<Vec<ObjectId>> {
    // Only objects with both owners and dependents can be part of a cycle.
    let candidates: Vec<ObjectId> = snapshot
        .objects()
        .filter(|(id, object)| !object.owners.is_empty() && !graph.dependents((*id).into()).is_empty())
        .map(|(id, _)| id)
        .collect();
    cycles(&candidates, |owner| graph.dependents(owner.into()).iter().copied())
}
