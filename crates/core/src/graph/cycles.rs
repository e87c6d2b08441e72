//! Ownership cycles: the collector never deletes a member of one on its own (R5.12).

use petgraph::{algo::kosaraju_scc, graph::DiGraph};

use crate::model::{ObjectId, Snapshot};

use super::owner_graph::OwnerGraph;

/// Ownership cycles by uid: strongly connected sets of at least two objects, and objects that own themselves. Members
/// and cycles are in snapshot order.
pub(crate) fn ownership_cycles(snapshot: &Snapshot, graph: &OwnerGraph) -> Vec<Vec<ObjectId>> {
    // Only objects with both owners and dependents can be part of a cycle.
    let candidates: Vec<ObjectId> = snapshot
        .objects()
        .filter(|(id, object)| !object.owners.is_empty() && !graph.dependents((*id).into()).is_empty())
        .map(|(id, _)| id)
        .collect();
    let mut edges: DiGraph<ObjectId, ()> = DiGraph::with_capacity(candidates.len(), candidates.len());
    let mut index_of = vec![None; snapshot.len()];
    for candidate in &candidates {
        index_of[candidate.index()] = Some(edges.add_node(*candidate));
    }
    let mut owns_itself = vec![false; snapshot.len()];
    for owner in &candidates {
        for dependent in graph.dependents((*owner).into()) {
            owns_itself[owner.index()] |= dependent == owner;
            if let (Some(from), Some(to)) = (index_of[owner.index()], index_of[dependent.index()]) {
                edges.add_edge(from, to, ());
            }
        }
    }
    // Kosaraju's algorithm is iterative here; Tarjan's would recurse along the longest chain of owners.
    let mut cycles: Vec<Vec<ObjectId>> = kosaraju_scc(&edges)
        .into_iter()
        .map(|component| {
            let mut members: Vec<ObjectId> = component.into_iter().map(|index| edges[index]).collect();
            members.sort_unstable();
            members
        })
        .filter(|members| members.len() > 1 || owns_itself[members[0].index()])
        .collect();
    cycles.sort_unstable();
    cycles
}
