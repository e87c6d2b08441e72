//! The collector as it comes up: what the first lists of its informers queue, and what a sweep queues (§8.1).

use std::borrow::Cow;

use crate::{
    graph::{NodeId, OwnerGraph, Verdict},
    model::{Object, ObjectId, Snapshot},
    server::Stored,
};

use super::{
    identity::Known,
    observe::{Event, EventKind, observe_first},
    overlay::{Collector, Node},
};

impl<'a> Collector<'a> {
    /// A collector that has just been started and whose informers have listed everything, in the order of `lists`. What
    /// is queued by then is what looked suspicious on the way (R3.2, R3.4–R3.9), whoever waits for dependents with
    /// those that were seen before it (R8.10), and whoever orphans.
    pub fn restarted(snapshot: &'a Snapshot, graph: &'a OwnerGraph, lists: impl IntoIterator<Item = ObjectId>) -> Self {
        let mut collector = Collector::starting(snapshot, graph);
        for object in lists {
            collector.observe(Event { node: object.into(), kind: EventKind::Listed });
        }
        collector.listing = false;
        collector.keep_what_differs_from_rest();
        collector
    }

    /// A collector whose informers have shown nothing yet. Workers begin when the informers have their lists (R2.6),
    /// while the graph may still be behind ([`EventKind::Listed`]).
    pub fn starting(snapshot: &'a Snapshot, graph: &'a OwnerGraph) -> Self {
        Collector { listing: true, ..Collector::at_rest(snapshot, graph) }
    }

    /// A collector that knows everything, as at rest, and has queued all that it might have anything to do with. A live
    /// object whose owners are all solid would be kept (R8.6), and whatever happens to one of them queues it.
    pub fn sweeping(snapshot: &'a Snapshot, graph: &'a OwnerGraph) -> Self {
        let mut collector = Collector::at_rest(snapshot, graph);
        for (id, object) in snapshot.objects() {
            let node = NodeId::from(id);
            let stored = Stored::of(object);
            // A kind that isn't watched is looked at only where somebody names it as an owner (R2.7).
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
    pub(super) fn observe_first(&mut self, id: NodeId) {
        let Some(object) = self.graph.object(id) else { return };
        // Of several objects with one uid, the first makes the node (R3.5).
        if !self.watches(object) || self.graph.by_uid(self.snapshot.object(object).uid) != Some(id) {
            return;
        }
        let stored = Stored::of(self.snapshot.object(object));
        observe_first(self, id, self.identity_of(object), &stored);
    }

    /// Once everything was listed, the nodes of what was seen are as at rest. Virtual ones have all their dependents by
    /// now, too.
    fn keep_what_differs_from_rest(&mut self) {
        self.changed.retain(|_, node| node.known == Known::Virtual);
        for node in self.changed.values_mut() {
            node.members = None;
        }
    }
}

/// Whether every owner of an object is there and waits for nobody; also where it has none.
fn all_solid(snapshot: &Snapshot, graph: &OwnerGraph, object: &Object) -> bool {
    let solid = |verdict| matches!(verdict, Verdict::Solid(_));
    object.owners.iter().all(|reference| solid(Verdict::of(snapshot, graph, reference, object.namespace)))
}

impl Node<'_> {
    /// A node that no list has shown yet. Its dependents are those of the snapshot in the end, and until then who named
    /// it.
    pub(super) fn not_listed_yet(dependents: u32, blocking: u32) -> Self {
        Node {
            known: Known::Gone,
            owners: Cow::Borrowed(&[]),
            being_deleted: false,
            deleting_dependents: false,
            dependents,
            blocking,
            members: Some(Vec::new()),
        }
    }
}
