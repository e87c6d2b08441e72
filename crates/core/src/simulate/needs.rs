//! What should be read to be certain.

use std::{cell::Cell, collections::BTreeSet, sync::OnceLock};

use rustc_hash::FxHashSet;

use crate::model::{Coordinate, ObjectId, Presence};

use super::context::SimContext;

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
pub(crate) type Once<T> = OnceLock<(T, Needs, Cell<usize>)>;

impl SimContext<'_> {
    /// Notes what should be read for the answer that is being given.
    pub(crate) fn lacks<T>(&self, note: impl FnOnce(&mut Needs) -> T) -> T {
        let mut needs = self.noted.take();
        let noted = note(&mut needs);
        let meanwhile = self.noted.replace(needs);
        self.noted.borrow_mut().add(&meanwhile);
        noted
    }

    /// A fact that decides the answer, if it was read. Notes it as needed otherwise.
    pub(crate) fn fact<T>(&self, object: ObjectId, fact: Option<T>) -> Option<T> {
        if fact.is_none() {
            self.lacks(|needs| needs.facts.insert(object));
        }
        fact
    }

    /// The same of a fact that only shows whether a controller runs and does its part.
    pub(crate) fn evidence<T>(&self, object: ObjectId, fact: Option<T>) -> Option<T> {
        if fact.is_none() {
            self.lacks(|needs| needs.evidence.insert(object));
        }
        fact
    }

    /// What is at a coordinate. Notes the look-up as needed where it wasn't read, or only a list says that it is absent.
    pub(crate) fn look_up(&self, at: Coordinate) -> Presence {
        let presence = self.snapshot.look_up(at);
        match presence {
            Presence::Unknown => _ = self.lacks(|needs| needs.look_ups.insert(at)),
            Presence::Absent if !self.snapshot.was_looked_up(at) => _ = self.lacks(|needs| needs.missing.insert(at)),
            Presence::Absent | Presence::Present(_) => {}
        }
        presence
    }

    /// An answer, and what it lacks. The answer of which it is a part lacks that, too.
    pub fn noting<T>(&self, answer: impl FnOnce() -> T) -> (T, Needs) {
        let (answer, needs) = self.aside(answer);
        self.noted.borrow_mut().add(&needs);
        (answer, needs)
    }

    /// An answer, and what it lacks, if that is of no account for the answer of which it is a part, or not yet.
    pub(crate) fn aside<T>(&self, answer: impl FnOnce() -> T) -> (T, Needs) {
        let whole = self.noted.take();
        self.asides.set(self.asides.get() + 1);
        let answer = answer();
        self.asides.set(self.asides.get() + 1);
        (answer, self.noted.replace(whole))
    }

    /// An answer that is given once. Whoever asks for it again lacks the same.
    pub(crate) fn once<'c, T>(&self, given: &'c Once<T>, answer: impl FnOnce() -> T) -> &'c T {
        let (answer, needs, noted) = given.get_or_init(|| {
            let (answer, needs) = self.aside(answer);
            (answer, needs, Cell::default())
        });
        // It may be much, and asked for of every object.
        if noted.replace(self.asides.get()) != self.asides.get() {
            self.lacks(|whole| whole.add(needs));
        }
        answer
    }

    /// What all answers lacked so far.
    pub fn needs(&self) -> Needs {
        self.noted.borrow().clone()
    }
}
