//! The collector after a start: what the first lists queue, and what a sweep queues (§8.1).

use crate::{
    graph::{NodeId, OwnerGraph, Verdict},
    model::{Object, ObjectId, Snapshot},
    server::Stored,
};

use super::{
    graph_view::Known,
    observe::{Event, EventKind, observe_first},
    overlay::Collector,
};

impl<'a> Collector<'a> {
    /// A collector that was just started, after its informers have listed everything in the order of `lists`. It has
    /// queued suspicious nodes (R3.2, R3.4–R3.9), waiting owners with the dependents observed before them (R8.10), and
    /// orphaning owners.
    pub fn restarted(snapshot: &'a Snapshot, graph: &'a OwnerGraph, lists: impl IntoIterator<Item = ObjectId>) -> Self {
        let mut collector = Collector::starting(snapshot, graph);
        for object in lists {
            collector.observe(Event { node: object.into(), kind: EventKind::Listed(None) });
        }
        collector.listing = false;
        collector.keep_virtual_nodes();
        collector
    }

    /// A collector whose informers have shown nothing yet. Its workers start when the informers have their lists
    /// (R2.6), while the graph may lag behind ([`EventKind::Listed`]).
    pub fn starting(snapshot: &'a Snapshot, graph: &'a OwnerGraph) -> Self {
        Collector { listing: true, ..Collector::at_rest(snapshot, graph) }
    }

    /// A collector that has observed everything and has queued all objects that it may have to change. A live object
    /// whose owners are all solid would be kept (R8.6), and events about its owners queue it.
    pub fn sweeping(snapshot: &'a Snapshot, graph: &'a OwnerGraph) -> Self {
        let mut collector = Collector { sweeps: true, ..Collector::at_rest(snapshot, graph) };
        for (id, object) in snapshot.objects() {
            let node = NodeId::from(id);
            let stored = Stored::of(object);
            // An object of an unwatched kind is examined only if it is referenced as an owner (R2.7).
            if graph.by_uid(object.uid) != Some(node) || collector.node(node).known == Known::Gone {
                continue;
            }
            if stored.orphaning() && collector.watches(id) {
                collector.to_orphan.add(node);
            } else if (stored.waiting() && collector.watches(id))
                || (!stored.terminating && !all_solid(snapshot, graph, object))
            {
                collector.to_delete.add(node);
            }
        }
        collector
    }

    /// An informer's first list shows an object.
    pub(super) fn observe_first(&mut self, id: NodeId, now: Option<Stored<'a>>) {
        let Some(object) = self.graph.object(id) else { return };
        // Of several objects with one uid, the first makes the node (R3.5).
        if !self.watches(object) || self.graph.by_uid(self.snapshot.object(object).uid) != Some(id) {
            return;
        }
        let stored = now.unwrap_or_else(|| Stored::of(self.snapshot.object(object)));
        observe_first(self, id, self.identity_of(object), &stored);
    }

    /// After all lists, observed nodes are as at rest, and virtual nodes have all their dependents.
    fn keep_virtual_nodes(&mut self) {
        self.changed.retain(|_, node| node.known == Known::Virtual);
        for node in self.changed.values_mut() {
            node.members = None;
        }
    }
}

/// Whether all owners of an object exist and none is waiting; also if it has none.
fn all_solid(snapshot: &Snapshot, graph: &OwnerGraph, object: &Object) -> bool {
    let solid = |verdict| matches!(verdict, Verdict::Solid(_));
    object.owners.iter().all(|reference| solid(Verdict::of(snapshot, graph, reference, object.namespace)))
}
