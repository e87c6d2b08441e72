//! A controller that should remove a finalizer: what is known of it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{
    model::{
        ObjectId, Snapshot, Symbol,
        effects::{Pause, creates_first},
        facts::PodFacts,
    },
    simulate::state::{BlockedBy, Liveness},
};

use super::{lacks::Lack, managers::tells_nobody};

/// The controller that should remove a finalizer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FinalizerController {
    /// Its name, if it is known: of an add-on, or of a built-in controller.
    pub name: Option<&'static str>,
    /// Who added the finalizer: the name in managed fields.
    pub manager: Option<String>,
    pub liveness: Liveness,
    /// Its workload, if that is scaled to 0.
    pub idle: Option<ObjectId>,
    /// Its workloads that should run, and have no ready pod.
    pub failing: Vec<ObjectId>,
    /// The workloads whose pods show that it runs, or is starting.
    pub running: Vec<ObjectId>,
    /// The workloads that are called as its controller would be, if nothing else points to one.
    pub may_be: Vec<ObjectId>,
    /// All that could show it was read, and nothing is it or may be it.
    pub unseen: bool,
    /// It is Kubernetes' own, and has not removed its finalizer for long.
    pub is_left: bool,
    /// No workload is seen that is it, and it may run outside of the cluster.
    pub outside: bool,
    /// What it must create first, in a namespace that is being deleted and so refuses that.
    pub refused: Option<&'static str>,
    /// The API server has refused it that, or anything else that it creates there: it never gets any further.
    pub in_vain: bool,
    /// Whether all of these go in the simulated delete.
    pub goes: bool,
    /// What goes in the simulated delete, and lets it change the object (R9.46), or may be needed by it (R9.47).
    pub loses: Vec<ObjectId>,
    /// What it lacks to remove the finalizer, what is said first being first.
    pub lacks: Vec<Lack>,
    /// What makes it leave the object alone, though it may run.
    pub paused: Option<Paused>,
    /// The pods that it can't evict, and waits for.
    pub undrained: Vec<Undrained>,
}

/// What makes a controller leave an object alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Paused {
    pub pause: Pause,
    /// The Cluster of Cluster API that is paused; `None`: the object itself is.
    pub with: Option<ObjectId>,
}

/// A pod that nobody may evict.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Undrained {
    pub pod: ObjectId,
    /// The PodDisruptionBudget that forbids it; `None`: an annotation of the pod does.
    pub budget: Option<ObjectId>,
}

impl Undrained {
    /// A clause.
    pub fn in_words(&self, snapshot: &Snapshot) -> String {
        let pod = snapshot.located(self.pod, None);
        match self.budget {
            Some(budget) => format!("{} allows no eviction of {pod}", snapshot.short_name(budget)),
            None => format!("{pod} has {}", PodFacts::DO_NOT_DISRUPT),
        }
    }
}

impl Paused {
    /// Whether somebody has paused the object, whether its controller runs or not.
    pub fn is_by_somebody(&self) -> bool {
        matches!(self.pause, Pause::Annotation(_) | Pause::Field(_))
    }

    /// What has to happen first, as a clause after "until".
    pub fn until(&self) -> &'static str {
        match self.pause {
            Pause::Annotation(_) | Pause::Field(_) => "somebody resumes it",
            Pause::Condition(_) => "what its condition names is gone",
            Pause::Approval(_) => "somebody approves that",
        }
    }
}

impl FinalizerController {
    /// One without a known workload or manager.
    pub fn of(name: Option<&'static str>, liveness: Liveness) -> Self {
        let [failing, running, may_be, loses] = [const { Vec::new() }; 4];
        FinalizerController {
            name,
            manager: None,
            liveness,
            idle: None,
            failing,
            running,
            may_be,
            unseen: false,
            is_left: false,
            outside: false,
            refused: None,
            in_vain: false,
            goes: false,
            loses,
            lacks: Vec::new(),
            paused: None,
            undrained: Vec::new(),
        }
    }

    /// The workloads whose pods show that it runs; if none do, those that may be it.
    pub(crate) fn acting(&self) -> &[ObjectId] {
        if self.running.is_empty() { &self.may_be } else { &self.running }
    }

    /// This controller where the namespace of the object is being deleted, in which it must create something first; or
    /// tries to, and `is_refused` that; or needs something that nobody can create any more.
    pub(crate) fn in_leaving_namespace(
        self: Arc<Self>,
        snapshot: &Snapshot,
        object: ObjectId,
        finalizer: Symbol,
        is_refused: bool,
    ) -> Arc<Self> {
        let creates = creates_first(snapshot.text(finalizer));
        let refused = creates.filter(|_| matches!(self.liveness, Liveness::Alive(_)));
        let missing = self.lacks.iter().find_map(|lack| lack.missing_in(snapshot.namespace(object)));
        let why = match (refused, missing) {
            (Some(first), _) => format!("must create {first} first, which a namespace that is being deleted refuses"),
            _ if is_refused => {
                "must create something first, which a namespace that is being deleted refuses".to_owned()
            }
            (None, Some(missing)) => {
                format!("needs {missing}, which nobody can create in a namespace that is being deleted")
            }
            (None, None) => return self,
        };
        let liveness = match &self.liveness {
            Liveness::Alive(evidence) | Liveness::Unknown(evidence) => {
                Liveness::Unknown(format!("{evidence}, and {why}"))
            }
            other => other.clone(),
        };
        let in_vain = is_refused || missing.is_some();
        Arc::new(FinalizerController { liveness, refused, in_vain, ..(*self).clone() })
    }

    /// Whether nothing that was read shows it, or may be it.
    pub(super) fn shows_nothing(&self) -> bool {
        matches!(self.liveness, Liveness::Unknown(_)) && self.running.is_empty() && self.may_be.is_empty()
    }

    /// Whether there is evidence that it is not running.
    pub fn is_away(&self) -> bool {
        matches!(self.liveness, Liveness::Away(_))
    }

    /// Whether it is known to run, and stays, with its rights.
    pub fn runs(&self) -> bool {
        matches!(self.liveness, Liveness::Alive(_)) && !self.goes && self.loses.is_empty()
    }

    /// Whether it is known to run, in JSON.
    pub fn seen(&self) -> &'static str {
        match self.liveness {
            _ if self.goes => "goes",
            Liveness::Alive(_) if self.loses.is_empty() => "running",
            Liveness::Away(_) => "not-running",
            Liveness::Alive(_) | Liveness::Nobody(_) | Liveness::Unknown(_) | Liveness::Unread(_) => "unknown",
        }
    }

    /// Its workload, its own name, or who added the finalizer, if any of these is known.
    pub fn told(&self, snapshot: &Snapshot) -> Option<String> {
        let workload = self.running.first().or(self.idle.as_ref()).or(self.may_be.first());
        let workload = workload.map(|workload| snapshot.short_name(*workload));
        let manager = self.manager.clone().filter(|manager| !tells_nobody(manager));
        workload.or_else(|| self.name.map(str::to_owned)).or(manager)
    }

    /// What is to be installed, or repaired: it is gone, and no workload that is scaled to 0 is it.
    pub fn to_install(&self, snapshot: &Snapshot) -> Option<String> {
        match self.liveness {
            Liveness::Away(_) if self.idle.is_none() => {
                Some(self.told(snapshot).unwrap_or_else(|| "its controller".to_owned()))
            }
            // A program has added it, and nothing is called like that. Kubernetes' own programs need no workload.
            Liveness::Nobody(_) if self.manager.as_ref().is_some_and(|manager| !manager.starts_with("kube")) => {
                self.told(snapshot)
            }
            _ => None,
        }
    }

    /// Who added the finalizer, and the evidence.
    pub fn story(&self) -> String {
        let evidence = self.liveness.evidence();
        match &self.manager {
            Some(manager) => format!("added by {manager:?}; {evidence}"),
            None => evidence.to_owned(),
        }
    }
}

/// The controllers of the finalizers that block objects.
#[derive(Clone, Debug, Default)]
pub struct Controllers(FxHashMap<(ObjectId, Symbol), Arc<FinalizerController>>);

impl Controllers {
    pub fn insert(&mut self, object: ObjectId, finalizer: Symbol, controller: Arc<FinalizerController>) {
        self.0.insert((object, finalizer), controller);
    }

    /// Adds those of other objects, and of other finalizers.
    pub fn add(&mut self, others: &Controllers) {
        self.0.extend(others.0.iter().map(|(finalizer, controller)| (*finalizer, Arc::clone(controller))));
    }

    /// Adds the provisioners of volumes, whose finalizers they needn't have.
    pub(crate) fn add_provisioners(&mut self, provisioners: &FxHashMap<ObjectId, Arc<FinalizerController>>) {
        let of_volumes = provisioners.iter();
        self.0.extend(of_volumes.map(|(volume, controller)| ((*volume, Symbol::EMPTY), Arc::clone(controller))));
    }

    /// The provisioner of a volume, if it is not seen to run.
    pub fn unseen_provisioner(&self, volume: ObjectId) -> Option<&FinalizerController> {
        self.0.get(&(volume, Symbol::EMPTY)).map(|controller| &**controller)
    }

    /// The controller that should remove what blocks an object.
    pub fn get(&self, object: ObjectId, blocker: BlockedBy) -> Option<&FinalizerController> {
        let BlockedBy::Finalizer(finalizer) = blocker else { return None };
        self.0.get(&(object, finalizer)).map(|controller| &**controller)
    }
}
