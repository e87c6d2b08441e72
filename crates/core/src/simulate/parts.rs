//! Splits a snapshot into independent parts: events in one part never affect another, in any order.

use petgraph::unionfind::UnionFind;

use crate::{
    graph::{Dangling, NodeId, Verdict},
    model::ObjectId,
    server::OwnDelete,
};

use super::world::World;

/// The part of each node.
pub struct Parts {
    part_of: Vec<u32>,
}

impl Parts {
    /// The parts of the snapshot that a simulation began with. References connect nodes, by uid and by coordinates; so
    /// do the contents of a deleted Namespace or CustomResourceDefinition, and claims with the pods that use them.
    pub(crate) fn at_end_of(world: &World<'_, '_>) -> Self {
        let context = world.context;
        let (snapshot, graph) = (context.snapshot, context.graph);
        let mut parts: UnionFind<u32> = UnionFind::new(graph.len());
        let mut join = |left: NodeId, right: NodeId| {
            parts.union(left.0, right.0);
        };
        for (id, object) in snapshot.objects() {
            let node = NodeId::from(id);
            for reference in object.owners.iter() {
                if let Some(owner) = graph.by_uid(reference.uid) {
                    join(node, owner);
                }
                match Verdict::of(snapshot, graph, reference, object.namespace) {
                    Verdict::Solid(owner) | Verdict::Waiting(owner) | Verdict::Dangling(Dangling::OtherUid(owner)) => {
                        join(node, owner.into());
                    }
                    _ => {}
                }
            }
            if let Some(first) = graph.by_uid(object.uid) {
                join(node, first);
            }
            let may_go = object.terminating() || !object.owners.is_empty();
            let deleted_with_it: &[ObjectId] = match context.rules(id).own_delete {
                _ if !may_go => &[],
                OwnDelete::Namespace | OwnDelete::Definition => context.contents(id),
                OwnDelete::Generic
                    if object.finalizers.iter().any(|finalizer| !finalizer.is_collectors_finalizer()) =>
                {
                    context.users_of_claim(id)
                }
                OwnDelete::Generic => &[],
            };
            for other in deleted_with_it {
                join(node, (*other).into());
            }
        }
        for change in &world.log {
            if let Some(gone) = change.cause.gone() {
                join(change.object.into(), gone.into());
            }
        }
        Parts { part_of: parts.into_labeling() }
    }

    /// The number of a node's part.
    pub fn of(&self, node: impl Into<NodeId>) -> u32 {
        self.part_of[node.into().index()]
    }
}
