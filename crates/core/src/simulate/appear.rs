//! Objects that were just created or changed, as the collector learns of them (§3.2).

use rustc_hash::FxHashSet;

use crate::{
    collector::{Event, EventKind, GraphView as _, Known},
    graph::{NodeId, Verdict},
    model::{ObjectId, Reference, References},
    server::{Patch, Stored},
};

use super::{cause::Cause, request::Appearing, world::World};

impl World<'_, '_> {
    /// Puts the collector back to before these objects appeared, and the events about them on their way, in this order.
    pub(super) fn appear(&mut self, appearing: &[Appearing]) {
        let all: FxHashSet<ObjectId> = appearing.iter().map(|appearing| appearing.object).collect();
        for one in appearing {
            self.forget(one, &all);
        }
        for Appearing { object, before, loses } in appearing {
            let node = NodeId::from(*object);
            if !self.is_shown(*object) {
                continue;
            }
            let after = Stored::of(self.context.snapshot.object(*object));
            let is_as_before = before.as_ref().is_some_and(|before| **before == *after.owners) && loses.is_empty();
            let kind = match before {
                None => EventKind::Listed(Some(Box::new(after))),
                Some(references) => {
                    let before = Stored { owners: references.clone().into(), ..after.clone() };
                    EventKind::Updated { before: Box::new(before), after: Box::new(after) }
                }
            };
            self.events.push_back(Event { node, kind });
            // What can't be looked up is examined in vain (R3.13, R10.2): that shows on which look-up it depends.
            if is_as_before || self.rests_on_unread(*object) {
                self.collector.to_delete.add(node);
            }
        }
        for Appearing { object, before, loses } in appearing {
            if before.is_none() && Some(self.context.snapshot.object(*object).resource) == self.context.built_in.volumes
            {
                self.schedule_if_claim_is_gone(*object);
            }
            for finalizer in loses {
                let Some(Stored { version, .. }) = self.stored(*object) else { break };
                self.patch(*object, &Patch::RemoveFinalizer { finalizer: *finalizer, version }, Cause::Requested);
            }
        }
        self.notice_terminating_owners(appearing);
    }

    /// Takes what is new of an object out of the collector's graph.
    fn forget(&mut self, appearing: &Appearing, all: &FxHashSet<ObjectId>) {
        let (node, object) = (NodeId::from(appearing.object), self.context.snapshot.object(appearing.object));
        if !self.is_shown(appearing.object) {
            return;
        }
        let before: References<'_> = appearing.before.clone().unwrap_or_default().into();
        for reference in object.owners.iter().filter(|reference| !before.iter().any(|old| old.uid == reference.uid)) {
            self.forget_absent_owner(reference, all);
        }
        if appearing.before.is_some() {
            return self.collector.replace_owners(node, &object.owners, before);
        }
        // Its owners already count it, as during the first lists; a dependent that isn't observed is none.
        let node = self.collector.node_mut(node);
        (node.known, node.owners) = (Known::Gone, before);
    }

    /// An owner without an object has a virtual node only once the collector has seen a reference to it (R3.2).
    fn forget_absent_owner(&mut self, reference: &Reference, new: &FxHashSet<ObjectId>) {
        let graph = self.context.graph;
        if let Some(owner) = graph.by_uid(reference.uid)
            && graph.object(owner).is_none()
            && graph.all_dependents(owner).all(|(dependent, _)| new.contains(&dependent))
        {
            self.collector.node_mut(owner).known = Known::Gone;
        }
    }

    /// Whether the collector learns of an object: it watches the kind, and the object has the node of its uid (R3.5).
    fn is_shown(&self, object: ObjectId) -> bool {
        let uid = self.context.snapshot.object(object).uid;
        self.collector.watches(object) && self.context.graph.by_uid(uid) == Some(object.into())
    }

    fn rests_on_unread(&self, object: ObjectId) -> bool {
        let context = self.context;
        let object = context.snapshot.object(object);
        let verdict = |reference| Verdict::of(context.snapshot, context.graph, reference, object.namespace);
        object.owners.iter().any(|reference| verdict(reference) == Verdict::Unknown)
    }

    /// Owners that are terminating may be finished by their controllers, and then take their new dependents with them.
    fn notice_terminating_owners(&mut self, appearing: &[Appearing]) {
        let snapshot = self.context.snapshot;
        let mut open: Vec<ObjectId> = appearing.iter().map(|appearing| appearing.object).collect();
        let mut seen: FxHashSet<ObjectId> = open.iter().copied().collect();
        while let Some(object) = open.pop() {
            if snapshot.object(object).terminating() {
                self.actors.notice(object);
            }
            let owners = snapshot.object(object).owners.iter();
            open.extend(owners.filter_map(|owner| snapshot.by_uid(owner.uid)).filter(|owner| seen.insert(*owner)));
        }
    }
}
