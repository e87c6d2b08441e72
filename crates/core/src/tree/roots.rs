//! The roots of a tree without a target: objects without an owner in scope, and one object of every pure cycle.

use crate::{
    graph::{NodeId, OwnerGraph},
    model::{ObjectId, Snapshot, Symbol},
};

/// An object at the top of the forest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    pub object: ObjectId,
    /// It represents a cycle without an owner outside of it.
    pub cycle: bool,
}

/// The targets, each Namespace followed by the roots in it.
pub(crate) fn of_targets(snapshot: &Snapshot, graph: &OwnerGraph, targets: &[ObjectId]) -> Vec<Root> {
    let mut all = Vec::new();
    for target in targets.iter().copied() {
        all.push(Root { object: target, cycle: false });
        if snapshot.is_namespace(target) {
            all.extend(roots(snapshot, graph, Some(snapshot.object(target).name)));
        }
    }
    all
}

/// The roots of a namespace, or (`None`) of everything, in output order. Linear in the snapshot, except for sorting.
pub(crate) fn roots(snapshot: &Snapshot, graph: &OwnerGraph, namespace: Option<Symbol>) -> Vec<Root> {
    let in_scope = |id: ObjectId| namespace.is_none_or(|namespace| snapshot.object(id).namespace == namespace);
    let mut scope: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).filter(|id| in_scope(*id)).collect();
    sort_roots(snapshot, &mut scope);
    let mut reached = vec![false; snapshot.len()];
    let mut roots = Vec::new();
    for id in &scope {
        let owned = snapshot
            .object(*id)
            .owners
            .iter()
            .filter_map(|reference| graph.by_uid(reference.uid).and_then(|node| graph.object(node)))
            .any(in_scope);
        if !owned {
            roots.push(Root { object: *id, cycle: false });
            reach(graph, *id, &mut reached, |_| {});
        }
    }
    // Every remaining object is in a cycle or below one. The last object to finish in a depth-first search is in a
    // cycle without owners outside; as the search starts in order, it is the first of its cycle.
    let mut finished = Vec::new();
    let mut searched = reached.clone();
    for id in scope.iter().filter(|id| !reached[id.index()]) {
        reach(graph, *id, &mut searched, |done| finished.push(done));
    }
    let ordinary = roots.len();
    for id in finished.into_iter().rev() {
        if !reached[id.index()] && in_scope(id) {
            roots.push(Root { object: id, cycle: true });
            reach(graph, id, &mut reached, |_| {});
        }
    }
    if roots.len() > ordinary {
        roots.sort_by_cached_key(|root| root_key(snapshot, root.object));
    }
    roots
}

/// Visits all unvisited dependents depth-first; calls `finish` for an object after all of its dependents.
fn reach(graph: &OwnerGraph, from: ObjectId, reached: &mut [bool], mut finish: impl FnMut(ObjectId)) {
    if std::mem::replace(&mut reached[from.index()], true) {
        return;
    }
    let mut path = vec![(from, 0)];
    while let Some((id, next)) = path.last_mut() {
        let dependent = nth_dependent(graph, *id, *next);
        *next += 1;
        match dependent {
            Some(dependent) => {
                if !std::mem::replace(&mut reached[dependent.index()], true) {
                    path.push((dependent, 0));
                }
            }
            None => {
                finish(*id);
                path.pop();
            }
        }
    }
}

fn nth_dependent(graph: &OwnerGraph, id: ObjectId, index: usize) -> Option<ObjectId> {
    let node = NodeId::from(id);
    let watched = graph.dependents(node);
    watched.get(index).or_else(|| graph.unwatched_dependents(node).get(index - watched.len())).copied()
}

fn root_key(snapshot: &Snapshot, id: ObjectId) -> (&str, u32, &str, ObjectId) {
    let object = snapshot.object(id);
    (snapshot.text(object.namespace), object.resource.0, snapshot.text(object.name), id)
}

/// Sorts cluster-scoped objects first, then by namespace, kind in discovery order, and name.
fn sort_roots(snapshot: &Snapshot, ids: &mut [ObjectId]) {
    ids.sort_unstable_by(|a, b| root_key(snapshot, *a).cmp(&root_key(snapshot, *b)));
}
