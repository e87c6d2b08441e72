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

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{model::ObjectId, server::OwnDelete};

use super::{cause::Cause, world::World};

pub(crate) use adoption::{Adopter, AdopterIndex, Adoptions};
pub use assumption::Assumption;
pub(crate) use content::ContentOrder;
pub(crate) use finalizers::is_removed_by_controller_manager;
pub(crate) use in_use::Keepers;
pub(crate) use kubelet::SLOWEST_KUBELET;
pub use others::Others;
pub use others::{Act, Finished};
pub(crate) use pod_gc::PodsOfNode;

/// Objects that other actors may act on.
#[derive(Clone, Debug, Default)]
pub struct Actors {
    noticed: VecDeque<ObjectId>,
    is_noticed: FxHashSet<ObjectId>,
    /// Already acted on; waiting for another event.
    waiting: BTreeSet<ObjectId>,
    /// DELETEs that controllers send because another object is gone.
    due: VecDeque<(ObjectId, Cause)>,
    /// DELETEs that a slow controller sends once nothing else is left to do.
    late: VecDeque<(ObjectId, Cause)>,
    /// Objects noticed because they block others.
    noticed_as_blocker: FxHashSet<ObjectId>,
    pub(super) content_order: ContentOrder,
    /// The current passes over the contents of Namespaces and the instances of CRDs.
    content: FxHashMap<ObjectId, content::Pass>,
    /// How many pods of each Job were deleted, and so have failed.
    failures: FxHashMap<ObjectId, i64>,
    /// Those pods.
    failed: FxHashSet<ObjectId>,
    /// Pods and ReplicaSets that have lost their controller.
    freed: BTreeSet<ObjectId>,
    /// How many of the first definitions behind an APIService are gone.
    gone_behind: FxHashMap<ObjectId, usize>,
    /// The length of the log when the waiting objects were last tried.
    log_length_at_last_try: usize,
}

impl Actors {
    /// Marks an object for the other actors.
    pub fn notice(&mut self, object: ObjectId) {
        if self.is_noticed.insert(object) {
            self.noticed.push_back(object);
        }
    }

    /// Marks an object that blocks another, at most once. Returns whether it was the first time.
    pub(crate) fn notice_once(&mut self, object: ObjectId) -> bool {
        let news = self.noticed_as_blocker.insert(object);
        if news {
            self.notice(object);
        }
        news
    }

    pub(crate) fn has_noticed(&self) -> bool {
        !self.noticed.is_empty() || !self.due.is_empty() || !self.late.is_empty() || !self.freed.is_empty()
    }
}

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
            if snapshot.facts.pod(gone).is_none()
                && context.fact_index.has_waiting_claim(snapshot, claims, object.namespace)
            {
                self.needs.facts.insert(gone);
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
