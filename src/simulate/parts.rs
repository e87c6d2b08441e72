//! The independent parts of a snapshot: what happens in one has nothing to do with what happens in another, in whatever
//! order.

use petgraph::unionfind::UnionFind;

use crate::{
    graph::{Dangling, NodeId, Verdict},
    model::ObjectId,
    server::OwnDelete,
};

use super::world::World;

/// Which part each node belongs to.
pub(crate) struct Parts {
    part_of: Vec<u32>,
}

impl Parts {
    /// The parts of the snapshot that a course of events began with. Nodes of one part are connected by references, as
    /// uids and as coordinates; by what is deleted along with a namespace or a definition; and by claims that wait for
    /// their pods.
    pub fn at_end_of(world: &World<'_, '_>) -> Self {
        let stage = world.stage;
        let (snapshot, graph) = (stage.snapshot, stage.graph);
        let mut parts: UnionFind<u32> = UnionFind::new(graph.len());
        let mut join = |left: NodeId, right: NodeId| {
            parts.union(left.0, right.0);
        };
        for (id, object) in snapshot.objects() {
            let node = NodeId::from(id);
            for reference in &object.owners {
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
            let with_it: &[ObjectId] = match stage.rules(id).own_delete {
                _ if !may_go => &[],
                OwnDelete::Namespace => stage.in_namespace(object.name),
                OwnDelete::Definition => stage.instances(id).map_or(&[], |resource| stage.of_resource(resource)),
                OwnDelete::Generic
                    if object.finalizers.iter().any(|finalizer| !finalizer.is_collectors_finalizer()) =>
                {
                    stage.users_of_claim(id)
                }
                OwnDelete::Generic => &[],
            };
            for other in with_it {
                join(node, (*other).into());
            }
        }
        Parts { part_of: parts.into_labeling() }
    }

    /// The part of a node, as a number.
    pub fn of(&self, node: impl Into<NodeId>) -> u32 {
        self.part_of[node.into().index()]
    }
}
