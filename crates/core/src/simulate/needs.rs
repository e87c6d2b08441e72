//! What should be read to be certain.

use std::{
    collections::BTreeSet,
    sync::{OnceLock, atomic::AtomicUsize},
};

use rustc_hash::FxHashSet;

use crate::model::{Coordinate, ObjectId};

/// What should be read to be certain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Owners that no list covers.
    pub look_ups: FxHashSet<Coordinate>,
    /// Objects whose facts decide something.
    pub facts: BTreeSet<ObjectId>,
    /// Nodes whose kubelet may have to end a pod. What is not known of them leaves outcomes certain.
    pub kubelets: BTreeSet<ObjectId>,
    /// Coordinates whose owner is absent or has another uid according to a list, if that decides something. A list from
    /// a live cluster is outdated as soon as it is read: only a look-up proves absence (R8.7).
    pub absences: FxHashSet<Coordinate>,
    /// The same of other objects: Leases of controllers, Services of webhooks.
    pub missing: FxHashSet<Coordinate>,
    /// Objects whose finalizers' field managers tell who removes these.
    pub setters: BTreeSet<ObjectId>,
    /// Objects whose facts tell whether a controller runs and does its part: workloads, pods and Leases, and what may
    /// be paused. No outcome of theirs depends on that.
    pub evidence: BTreeSet<ObjectId>,
    /// Controllers that may adopt what is freed, and the pods that they have then.
    pub adopters: BTreeSet<ObjectId>,
    /// Custom resources that the collector changes: whether the API server accepts that (R1.36).
    pub patches: BTreeSet<ObjectId>,
}

impl Needs {
    pub fn add(&mut self, other: &Needs) {
        self.look_ups.extend(&other.look_ups);
        self.facts.extend(&other.facts);
        self.kubelets.extend(&other.kubelets);
        self.absences.extend(&other.absences);
        self.missing.extend(&other.missing);
        self.setters.extend(&other.setters);
        self.evidence.extend(&other.evidence);
        self.adopters.extend(&other.adopters);
        self.patches.extend(&other.patches);
    }

    /// Everything that only a list says to be absent.
    pub fn all_absences(&self) -> FxHashSet<Coordinate> {
        self.absences.union(&self.missing).copied().collect()
    }

    /// All objects whose facts should be read, each once.
    pub fn all_facts(&self) -> Vec<ObjectId> {
        let all: BTreeSet<ObjectId> =
            [&self.facts, &self.evidence, &self.adopters].into_iter().flatten().copied().collect();
        all.into_iter().collect()
    }

    /// Whether everything that mattered was read, apart from absences to confirm.
    pub fn is_empty(&self) -> bool {
        self.look_ups.is_empty() && self.facts.is_empty()
    }
}

/// An answer that is given once, what it lacks, and when that was last noted.
pub(crate) type Once<T> = OnceLock<(T, Needs, AtomicUsize)>;
