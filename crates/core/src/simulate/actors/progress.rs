//! How far the actors are in one course of events: what they have noticed, what they have done, and what is left.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::{
    model::{Gap, ObjectId, Snapshot},
    simulate::{
        cause::Cause,
        controllers::{Controllers, FinalizerController},
        foreign_spec_finalizers,
        state::{BlockedBy, State},
    },
};

/// Objects that other actors may act on.
#[derive(Clone, Debug, Default)]
pub struct Actors {
    pub(super) noticed: VecDeque<ObjectId>,
    pub(super) is_noticed: FxHashSet<ObjectId>,
    /// Already acted on; waiting for another event.
    pub(super) waiting: BTreeSet<ObjectId>,
    /// DELETEs that controllers send because another object is gone.
    pub(super) due: VecDeque<(ObjectId, Cause)>,
    /// DELETEs that a slow controller sends once nothing else is left to do.
    pub(super) late: VecDeque<(ObjectId, Cause)>,
    /// Objects noticed because they block others.
    pub(super) noticed_as_blocker: FxHashSet<ObjectId>,
    pub(super) content_order: ContentOrder,
    /// The current passes over the contents of Namespaces and the instances of CRDs.
    pub(super) content: FxHashMap<ObjectId, Pass>,
    /// How many pods of each Job were deleted, and so have failed.
    pub(super) failures: FxHashMap<ObjectId, i64>,
    /// Those pods.
    pub(super) failed: FxHashSet<ObjectId>,
    /// Pods and ReplicaSets that have lost their controller.
    pub(super) freed: BTreeSet<ObjectId>,
    /// How many of the first definitions behind an APIService are gone.
    pub(super) gone_behind: FxHashMap<ObjectId, usize>,
    /// The length of the log when the waiting objects were last tried.
    pub(super) log_length_at_last_try: usize,
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

/// The order in which contents are deleted. The namespace controller iterates over a Go map of resources, in another
/// order each time, and deletes their objects one by one, while the collector already sees the first events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContentOrder(pub(super) u64);

/// One pass over a Namespace's contents, or over a CRD's instances.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass {
    /// What it has yet to delete.
    pub(super) left: VecDeque<ObjectId>,
    /// The length of the log when it listed them.
    pub(super) begun: usize,
}

/// Who adopts an object that has lost its controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Adopter {
    None,
    Known(ObjectId),
    /// One of several, one that may be gone by then, or one that could not be read.
    Unknown,
}

/// Who adopts what is freed, as far as a simulation played it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Adoptions {
    pub(super) of: FxHashMap<ObjectId, Adopter>,
    /// Controllers that adopt something, or may.
    pub(super) adopters: FxHashSet<ObjectId>,
    /// Those among them that see it first, unless a ReplicaSet that a Deployment has yet to make is faster.
    pub(super) raced: FxHashSet<ObjectId>,
}

impl Adoptions {
    /// Who adopts an object; `None` if that was not played.
    pub(crate) fn of(&self, object: ObjectId) -> Option<Adopter> {
        self.of.get(&object).copied()
    }

    /// Whether another controller may be faster than this one, which adopts something.
    pub(crate) fn is_raced(&self, controller: ObjectId) -> bool {
        self.raced.contains(&controller)
    }

    /// Whether a controller adopts anything, or may.
    pub(crate) fn may_adopt(&self, controller: ObjectId) -> bool {
        self.adopters.contains(&controller)
    }
}

/// What others have to do, and have done.
#[derive(Clone, Debug, Default)]
pub struct Others {
    /// Objects to look at even if nothing has changed them.
    pub(super) roots: Vec<ObjectId>,
    /// The length of the log when it was last looked at; `None`: not yet.
    pub(super) looked_at: Option<usize>,
    /// Objects whose controllers wait for what they have deleted.
    pub(super) waiting: Vec<ObjectId>,
    /// What they finished, in this order.
    pub finished: Vec<Finished>,
    /// Who they are.
    pub controllers: Controllers,
}

impl Others {
    /// Others that also look at these objects.
    pub fn of(roots: Vec<ObjectId>) -> Self {
        Others { roots, ..Others::default() }
    }

    /// Lets them look at these objects, too.
    pub(crate) fn look_at(&mut self, objects: &[ObjectId]) {
        self.roots.extend(objects);
    }
}

/// An object that others have done their part for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    pub object: ObjectId,
    /// What blocked it: finalizers, a kubelet, or entries of `spec.finalizers`.
    pub blockers: Vec<BlockedBy>,
    /// Whether these are known to do their part.
    pub state: State,
    /// What could not be read of the objects that its controller deletes with it (R9.38).
    pub unread: Vec<Gap>,
}

/// What somebody has to do for an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Act {
    pub object: ObjectId,
    pub finalizers: Vec<String>,
    /// Who, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What was seen of them.
    pub seen: &'static str,
}

impl Finished {
    /// One act for each of those who have to act.
    pub fn acts(&self, snapshot: &Snapshot, controllers: &Controllers) -> Vec<Act> {
        let mut all: Vec<Act> = Vec::new();
        for blocker in &self.blockers {
            let finalizers = match blocker {
                BlockedBy::SpecFinalizers => foreign_spec_finalizers(snapshot, self.object),
                BlockedBy::Finalizer(_) => vec![blocker.name(snapshot)],
                _ => Vec::new(),
            };
            let finalizers = finalizers.into_iter().map(str::to_owned);
            let controller = controllers.get(self.object, *blocker);
            let by = match (blocker, controller) {
                (BlockedBy::Kubelet(_), _) => Some("kubelet".to_owned()),
                (_, controller) => controller.and_then(|controller| controller.told(snapshot)),
            };
            let seen = controller.map_or("unknown", FinalizerController::seen);
            match all.iter_mut().find(|known| known.by == by && known.seen == seen) {
                Some(known) => known.finalizers.extend(finalizers),
                None => all.push(Act { object: self.object, finalizers: finalizers.collect(), by, seen }),
            }
        }
        all
    }
}
