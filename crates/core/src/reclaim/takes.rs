//! What the collector removes with an object: dependents of which every owner goes, or is gone already (§8).

use rustc_hash::FxHashSet;

use crate::{
    graph::{NodeId, OwnerGraph, Verdict},
    model::{ObjectId, Symbol},
};

use super::{removal::is_held, scene::Scene};

/// In the order of the snapshot. A dependent with a finalizer of another controller is among them: it is deleted, too.
pub(super) fn of(scene: &Scene<'_>, graph: &OwnerGraph, object: ObjectId) -> Vec<ObjectId> {
    let mut going: FxHashSet<ObjectId> = FxHashSet::from_iter([object]);
    let mut uids: FxHashSet<Symbol> = FxHashSet::from_iter([scene.object(object).uid]);
    let mut open = vec![object];
    while let Some(owner) = open.pop() {
        for dependent in graph.dependents(NodeId::from(owner)) {
            if going.contains(dependent) || !is_left_alone(scene, graph, *dependent, &uids) {
                continue;
            }
            going.insert(*dependent);
            // What is held keeps its own dependents.
            if !is_held(scene, *dependent) {
                uids.insert(scene.object(*dependent).uid);
                open.push(*dependent);
            }
        }
    }
    going.remove(&object);
    let mut going: Vec<ObjectId> = going.into_iter().collect();
    going.sort_unstable();
    going
}

/// Whether no owner is left but those that go.
fn is_left_alone(scene: &Scene<'_>, graph: &OwnerGraph, id: ObjectId, uids: &FxHashSet<Symbol>) -> bool {
    let object = scene.object(id);
    object.owners.iter().all(|reference| {
        let verdict = || Verdict::of(scene.snapshot, graph, reference, object.namespace);
        uids.contains(&reference.uid) || matches!(verdict(), Verdict::Dangling(_))
    })
}
