//! Other actors that change the outcome of a plan: kubelets, controllers with finalizers of their own, the namespace
//! controller, the CRD finalizer controller (§9). A plan lists what it assumes about them.

mod adoption;
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
pub(crate) use content::ContentOrder;
pub(crate) use finalizers::is_removed_by_controller_manager;
pub use jobs::left_by_job_controller;
pub use kubelet::Kubelet;
pub use others::Others;
pub use others::{Act, Finished};
pub(crate) use pod_gc::PodsOfNode;

/// Something that a plan assumes other actors do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// The kubelet of this node ends its pods after their grace period.
    Kubelet { node: String },
    /// A controller removes its own finalizer.
    Finalizer { finalizer: &'static str, by: &'static str },
    /// The namespace controller deletes what is in a terminating namespace.
    NamespaceController,
    /// A surviving controller doesn't replace the objects it lost, although it is supposed to (R9.1).
    NotReplaced { controller: String },
    /// No living controller adopts objects without an owner (R9.3, R9.4).
    NotAdopted,
    /// A controller that adopts pods deletes these of several that it may choose from (R9.24).
    ScaledDown { controller: String, deletes: usize, of: usize },
    /// What controllers adopt, and delete then, depends on more than could be read (R9.24).
    Adopted { controller: String },
    /// A controller adopts what is freed before a ReplicaSet does that a Deployment has yet to make (R9.24).
    AdoptsFirst { controller: String },
    /// The pod garbage collector removes pods of deleted Nodes (R9.7).
    PodGarbageCollector,
    /// A Job that fails with this delete is still there when all else is done (R9.36).
    ExpiresLater { job: String, seconds: i64 },
    /// This provisioner deletes volumes whose claims are gone (R9.35); `None` if its name was not read.
    Reclaimed { by: Option<String> },
    /// The operator of an object deletes what it has made for it.
    Operator { deletes_what_it_made_for: String },
    /// A webhook or policy that is asked about writes of this delete allows them.
    Admission { by: String },
    /// A webhook that can't be called isn't called for writes of this delete: what decides that can't be judged.
    NotCalled { by: String },
    /// No webhook or policy prevents writes of this delete, or adds what keeps objects: some could not be read.
    AdmissionUnread,
    /// Nothing outside of this namespace, where lists could not be read, refers to what waits for its dependents. Such
    /// a reference is invalid, but blocks all the same.
    NoneElsewhere { namespace: String },
    /// A policy that is applied to writes of this delete doesn't add what keeps objects.
    Mutation { by: String },
    /// The namespace controller reads this aggregated API before it loses its backend.
    ApiLasts { api: String },
    /// No instance of a CRD whose conversion webhook can't be reached has to be converted (S9).
    NothingConverted { kind: String },
    /// The objects of a dump satisfy the schema of their CRD (R1.36).
    SchemaAccepts { kind: String },
    /// The collector already watches a kind that is served for only so many seconds (R2.5).
    Watched { kind: String, seconds: i64 },
}

impl std::fmt::Display for Assumption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Assumption::Kubelet { node } => {
                write!(f, "the kubelet on node {node} ends its pods after their grace period")
            }
            Assumption::Finalizer { finalizer, by } => write!(f, "{by} removes its finalizer {finalizer}"),
            Assumption::NotReplaced { controller } => {
                write!(f, "{controller} stays and may create objects again; these change nothing else")
            }
            Assumption::NotAdopted => f.write_str("no controller adopts objects that have no owner any more"),
            Assumption::ScaledDown { controller, deletes, of } => write!(
                f,
                "{controller} adopts pods and deletes {deletes} of {of} that are alike: perhaps others than these"
            ),
            Assumption::Adopted { controller } => {
                write!(f, "{controller}, whose selector matches what is freed, deletes none of it, and nothing for it")
            }
            Assumption::AdoptsFirst { controller } => {
                write!(f, "{controller} adopts pods before a new ReplicaSet of their Deployment does")
            }
            Assumption::PodGarbageCollector => f.write_str(
                "the pod garbage collector deletes the pods of nodes that no longer exist, and no kubelet registers \
                     its node again",
            ),
            Assumption::ExpiresLater { job, seconds } => write!(
                f,
                "{job}, which fails with this, is followed no further: its TTL controller deletes it {seconds} s later"
            ),
            Assumption::Reclaimed { by: Some(by) } => {
                write!(f, "the provisioner {by} deletes its volumes whose claims are gone")
            }
            Assumption::Reclaimed { by: None } => {
                f.write_str("a provisioner, whose name was not read, deletes volumes whose claims are gone")
            }
            Assumption::Operator { deletes_what_it_made_for: object } => {
                write!(f, "the operator of {object} deletes what it has made for it, and its configuration keeps none")
            }
            Assumption::ApiLasts { api } => {
                write!(f, "the namespace controller is done before it notices that {api} no longer answers")
            }
            Assumption::Admission { by } => write!(f, "{by} allows these deletes and changes"),
            Assumption::NotCalled { by } => {
                write!(
                    f,
                    "{by}, which cannot be reached, exempts these deletes and changes: otherwise they are refused"
                )
            }
            Assumption::AdmissionUnread => f.write_str(
                "no webhook or admission policy refuses these deletes and changes (not all webhooks and policies could \
                 be read)",
            ),
            Assumption::NoneElsewhere { namespace } if namespace.is_empty() => f.write_str(
                "nothing that could not be read has an owner reference to what waits for its dependents: it would be \
                 invalid, and block all the same",
            ),
            Assumption::NoneElsewhere { namespace } => write!(
                f,
                "nothing outside of namespace {namespace}, where not everything could be read, has an owner reference \
                 to what waits for its dependents: it would be invalid, and block all the same"
            ),
            Assumption::Mutation { by } => {
                write!(f, "{by} neither refuses these changes nor adds finalizers or owner references to them")
            }
            Assumption::NothingConverted { kind } => write!(
                f,
                "no {kind} is stored in another version than is asked for: its conversion webhook cannot be reached, \
                 and such an object could be neither changed nor deleted"
            ),
            Assumption::SchemaAccepts { kind } => {
                write!(f, "the schema of {kind} accepts the objects as they are (a dump is not checked against it)")
            }
            Assumption::Watched { kind, seconds } => write!(
                f,
                "the collector already watches {kind}, a kind that has been served for only {seconds} s (it learns of \
                 new kinds every 30 s)"
            ),
            Assumption::NamespaceController => {
                f.write_str("the namespace controller deletes the content of a Terminating namespace")
            }
        }
    }
}

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
