//! Others who make a plan come out differently: kubelets, controllers with finalizers of their own, the namespace
//! controller, the clean-up of definitions (§9). What they are taken to do is listed with the plan.

mod content;
mod finalizers;
pub mod kubelet;

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{Coordinate, ObjectId, Presence, Symbol},
    server::OwnDelete,
};

use super::world::World;

pub use content::ContentOrder;
pub use finalizers::has_living_controller;

/// Something that a plan takes others to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// The kubelet of this node ends its pods when their grace period is over.
    Kubelet { node: String },
    /// A controller removes its own finalizer.
    Finalizer { finalizer: &'static str, by: &'static str },
    /// The namespace controller deletes what is in a terminating namespace.
    NamespaceController,
    /// A controller that lives on doesn't replace what is deleted from under it, although it is made to (R9.1).
    NotReplaced { controller: String },
    /// No controller adopts what is left without an owner, although living ones may (R9.3, R9.4).
    NotAdopted,
    /// Pods of Nodes that are gone are removed in the end (R9.7).
    PodGarbageCollector,
}

impl std::fmt::Display for Assumption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Assumption::Kubelet { node } => {
                write!(f, "the kubelet on node {node} ends its pods after their grace period")
            }
            Assumption::Finalizer { finalizer, by } => write!(f, "{by} removes its finalizer {finalizer}"),
            Assumption::NotReplaced { controller } => {
                write!(f, "{controller} lives on, and replaces nothing of what it controls")
            }
            Assumption::NotAdopted => f.write_str("no living controller adopts what is left without an owner"),
            Assumption::PodGarbageCollector => {
                f.write_str("the pod garbage collector removes the pods of nodes that are gone")
            }
            Assumption::NamespaceController => {
                f.write_str("the namespace controller deletes what is in a terminating namespace")
            }
        }
    }
}

/// Objects that others may have something to do with.
#[derive(Clone, Debug, Default)]
pub struct Actors {
    noticed: VecDeque<ObjectId>,
    is_noticed: FxHashSet<ObjectId>,
    /// Looked at, and waiting for something else to happen first.
    waiting: BTreeSet<ObjectId>,
    /// What was noticed for being in somebody's way.
    in_the_way: FxHashSet<ObjectId>,
    pub(super) content_order: ContentOrder,
    /// What the current pass through a namespace's content, or a definition's instances, has still to delete.
    content: FxHashMap<ObjectId, VecDeque<ObjectId>>,
    /// How much had been written when those who wait looked last.
    looked_at: usize,
}

impl Actors {
    /// Something happened to an object: others may now act on it.
    pub fn notice(&mut self, object: ObjectId) {
        if self.is_noticed.insert(object) {
            self.noticed.push_back(object);
        }
    }

    /// An object is in somebody's way. Says whether that is news.
    pub fn notice_once(&mut self, object: ObjectId) -> bool {
        let news = self.in_the_way.insert(object);
        if news {
            self.notice(object);
        }
        news
    }

    /// Whether anybody has anything to look at.
    pub fn any_noticed(&self) -> bool {
        !self.noticed.is_empty()
    }
}

impl World<'_, '_> {
    /// An object is gone: claims that a pod used, volumes that a claim was bound to, and the namespace it was in may go
    /// on now.
    pub(super) fn notice_who_waited_for(&mut self, gone: ObjectId) {
        let stage = self.stage;
        let snapshot = stage.snapshot;
        let object = snapshot.object(gone);
        let terminating = |world: &Self, id: ObjectId| world.stored(id).is_some_and(|stored| stored.terminating);
        let mut noticed: Vec<ObjectId> = Vec::new();
        if let Some(pod) = snapshot.facts.pod(gone)
            && let Some(claims) = stage.built_in.claims
        {
            for claim in pod.claims.iter().filter_map(|claim| snapshot.strings.find(claim)) {
                let coordinate = Coordinate { resource: claims, namespace: object.namespace, name: claim };
                if let Presence::Present(claim) = snapshot.look_up(coordinate) {
                    noticed.push(claim);
                }
            }
        }
        if Some(object.resource) == stage.built_in.claims
            && let Some(volumes) = stage.built_in.volumes
        {
            let claim = format!("{}/{}", snapshot.text(object.namespace), snapshot.text(object.name));
            let is_bound = |id: &&ObjectId| {
                snapshot.facts.volume(**id).is_some_and(|facts| facts.claim.as_deref() == Some(&claim))
            };
            // Only volumes that are on their way out wait for anything.
            let waiting = stage.of_resource(volumes).iter().filter(|id| terminating(self, **id));
            noticed.extend(waiting.filter(is_bound));
        }
        if !object.namespace.is_empty()
            && let Some(namespaces) = stage.built_in.namespaces
        {
            let coordinate = Coordinate { resource: namespaces, namespace: Symbol::EMPTY, name: object.namespace };
            if let Presence::Present(namespace) = snapshot.look_up(coordinate) {
                noticed.push(namespace);
            }
        }
        for id in noticed {
            if terminating(self, id) {
                self.actors.notice(id);
            }
        }
    }

    /// Others look at everything that was noticed, and do what they are taken to do. Whoever has to wait looks again
    /// after the next things have happened.
    pub(super) fn act(&mut self) {
        let noticed: Vec<ObjectId> = self.actors.noticed.drain(..).collect();
        self.actors.is_noticed.clear();
        // The namespace controller begins 5 seconds after the delete; the others are at work at once.
        let is_namespace = |object: &ObjectId| self.stage.rules(*object).own_delete == OwnDelete::Namespace;
        let (namespaces, others): (Vec<ObjectId>, Vec<ObjectId>) = noticed.into_iter().partition(is_namespace);
        let (now, later) = if others.is_empty() { (namespaces, others) } else { (others, namespaces) };
        for object in later {
            self.actors.notice(object);
        }
        let mut acted = false;
        for object in now {
            acted |= self.act_on(object);
        }
        // Whoever waits is asked only once nobody else acts, and only after something happened: what they wait for is
        // often many others' doing.
        if !acted && self.actors.looked_at != self.log.len() {
            self.actors.looked_at = self.log.len();
            for object in std::mem::take(&mut self.actors.waiting) {
                self.act_on(object);
            }
        }
    }

    /// Whether anything was written.
    fn act_on(&mut self, object: ObjectId) -> bool {
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
        .contains(&Turn::HasToWait);
        if has_to_wait && self.exists(object) {
            self.actors.waiting.insert(object);
        }
        self.log.len() > before
    }
}

/// What came of looking at an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Done, or nothing to do.
    Done,
    /// It was noticed again, and goes on next time.
    GoesOn,
    /// Something else has to happen first.
    HasToWait,
}
