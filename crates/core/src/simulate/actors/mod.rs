//! Other actors that change the outcome of a plan: kubelets, controllers with finalizers of their own, the namespace
//! controller, the CRD finalizer controller (§9). A plan lists what it assumes about them.

mod adoption;
mod assumption;
mod content;
mod finalizers;
mod follow_ups;
mod in_use;
mod inventory;
mod jobs;
mod kubelet;
mod others;
mod pod_gc;
mod progress;

use crate::{model::ObjectId, server::OwnDelete};

use super::world::World;

pub use assumption::Assumption;
pub(crate) use inventory::{in_inventory, is_spared};
pub(crate) use kubelet::{ENDS_A_POD, SLOWEST_KUBELET};
pub(crate) use pod_gc::PodsOfNode;
pub use progress::{Act, Actors, Finished, Others};
pub(crate) use progress::{Adopter, Adoptions, ContentOrder};

impl World<'_, '_> {
    /// An object is gone: marks the claims that a pod used, the volumes that a claim was bound to, and its namespace.
    pub(super) fn notice_waiters_of(&mut self, gone: ObjectId) {
        let context = self.context;
        let snapshot = context.snapshot;
        let object = snapshot.object(gone);
        let terminating = |world: &Self, id: ObjectId| world.stored(id).is_some_and(|stored| stored.terminating);
        let mut noticed: Vec<ObjectId> = Vec::new();
        if let Some(claims) = context.built_in.claims
            && Some(object.resource) == context.built_in.pods
        {
            // A pod that is deleted by force needs no facts: only its claims do.
            if context.fact_index.has_waiting_claim(snapshot, claims, object.namespace) {
                self.fact(gone, snapshot.facts.pod(gone));
            }
            noticed.extend(context.claims_of_pod(gone));
        }
        if Some(object.resource) == context.built_in.claims {
            noticed.extend(context.fact_index.volume_of(snapshot, gone));
        }
        noticed.extend(context.namespace_named(object.namespace));
        noticed.extend(context.protected_while_used_by(object.resource));
        // A definition waits for its last instance.
        noticed.extend(context.definition_of(object.resource));
        for id in noticed {
            if terminating(self, id) {
                self.actors.notice(id);
            }
        }
        self.follow_up(gone);
    }

    /// Runs all actors on the marked objects. Waiting objects are tried again after the next writes.
    pub(super) fn run_actors(&mut self) {
        let noticed: Vec<ObjectId> = self.actors.noticed.drain(..).collect();
        self.actors.is_noticed.clear();
        // The namespace controller starts 5 seconds after the delete; the others at once.
        let is_namespace = |object: &ObjectId| self.context.rules(*object).own_delete == OwnDelete::Namespace;
        let (namespaces, others): (Vec<ObjectId>, Vec<ObjectId>) = noticed.into_iter().partition(is_namespace);
        let (now, later) = if others.is_empty() { (namespaces, others) } else { (others, namespaces) };
        for object in later {
            self.actors.notice(object);
        }
        let mut acted = self.delete_due();
        if now.is_empty() && !acted {
            acted = self.adopt_freed() || self.delete_late();
        }
        for object in now {
            acted |= self.run_actors_on(object);
        }
        // Try waiting objects only after a write by someone else: they usually wait for many.
        if !acted && self.actors.log_length_at_last_try != self.log.len() {
            self.actors.log_length_at_last_try = self.log.len();
            for object in std::mem::take(&mut self.actors.waiting) {
                self.run_actors_on(object);
            }
        }
    }

    /// Runs all actors on one object. Returns whether anything was written.
    fn run_actors_on(&mut self, object: ObjectId) -> bool {
        if !self.exists(object) {
            return false;
        }
        let before = self.log.len();
        let has_to_wait = [
            self.end_pod(object),
            self.remove_known_finalizers(object),
            self.clear_namespace(object),
            self.clear_definition(object),
        ]
        .contains(&ActorResult::Waits);
        if has_to_wait && self.exists(object) {
            self.actors.waiting.insert(object);
        }
        self.log.len() > before
    }
}

/// The result of running an actor on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ActorResult {
    /// Done, or nothing to do.
    Done,
    /// Marked again; continues next time.
    Continues,
    /// Waits for another event.
    Waits,
}
