//! The fate of each object of a file, and what it comes to.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::{
    graph::OwnerGraph,
    model::ObjectId,
    plan::{Outcome, OutcomeKind, Plan},
    simulate::Uncertainty,
};

use super::{
    arrival::{Arrival, Standing},
    manifest::ManifestObject,
    scene::{Placed, Scene},
};

/// What becomes of an object of the file right after the apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Fate {
    /// The collector deletes it, and it is gone.
    Collected,
    /// It is deleted, and stays Terminating.
    Terminating,
    /// It stays for now. It goes with its Namespace, which is being deleted, once an owner that is being deleted is
    /// gone, once the kind of an owner is served, or once what prevents it is mended.
    GoesLater,
    /// kubectl or the API server refuses it.
    Refused,
    /// It could not be found out.
    Unknown,
    /// It stays, and the collector removes some of its owner references.
    Stripped,
    /// It stays as it is.
    Kept,
}

impl Fate {
    /// All of them, the worst first.
    pub const ALL: [Fate; 7] =
        [Fate::Collected, Fate::Terminating, Fate::GoesLater, Fate::Refused, Fate::Unknown, Fate::Stripped, Fate::Kept];

    /// Whether the object is gone, or will be.
    pub fn is_loss(self) -> bool {
        matches!(self, Fate::Collected | Fate::Terminating | Fate::GoesLater)
    }
}

/// One object of the file.
#[derive(Clone, Debug)]
pub struct FileObject {
    pub placed: Placed,
    pub fate: Fate,
    /// Why its fate is not certain; `None` if it is.
    pub uncertain: Option<Uncertainty>,
    /// Where each reference of the file leads.
    pub standings: Vec<Standing>,
}

/// The worst that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApplyResult {
    /// Objects are collected.
    Collects,
    /// Objects are refused.
    Refused,
    /// Something is not certain.
    Unsure,
    /// Objects lose owner references.
    Strips,
    /// Every object stays as the file says.
    Keeps,
}

/// How many objects of the file have which fate, and how many others go with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplyCounts {
    pub objects: usize,
    pub collected: usize,
    pub terminating: usize,
    pub goes_later: usize,
    pub refused: usize,
    pub unknown: usize,
    pub stripped: usize,
    pub kept: usize,
    /// How many objects of the cluster, which the file doesn't have, are deleted.
    pub others: usize,
}

impl ApplyCounts {
    /// How many objects of the file are gone, or will be.
    pub fn lost(&self) -> usize {
        self.collected + self.terminating + self.goes_later
    }
}

/// What the collector does once a file is applied.
#[derive(Clone, Debug)]
pub struct ApplyPlan {
    pub scene: Scene,
    /// What the collector does, of all objects.
    pub plan: Plan,
    /// In the order of the file.
    pub objects: Vec<FileObject>,
    /// The place of each outcome.
    by_object: FxHashMap<ObjectId, usize>,
    /// The place of each outcome of the second end.
    by_object_later: FxHashMap<ObjectId, usize>,
}

impl ApplyPlan {
    /// The fates of the objects of a file, in a scene that was played.
    pub fn of(scene: Scene, graph: &OwnerGraph, plan: Plan, objects: &[ManifestObject]) -> Self {
        let places = |outcomes: &[Outcome]| -> FxHashMap<ObjectId, usize> {
            outcomes.iter().enumerate().map(|(index, outcome)| (outcome.object, index)).collect()
        };
        let by_object = places(&plan.outcomes);
        let by_object_later = places(plan.then.as_ref().map_or(&[], |then| &then.outcomes));
        let of_object = |(index, placed): (usize, &Placed)| {
            let standing = |written| Standing::of(&scene, graph, written, &placed.namespace);
            let standings: Vec<Standing> = objects[index].written().iter().map(standing).collect();
            let outcome = placed.object.and_then(|object| Some(&plan.outcomes[*by_object.get(&object)?]));
            let later =
                placed.object.filter(|_| outcome.is_none()).and_then(|object| later(&plan, &by_object_later, object));
            let (fate, uncertain) = match later {
                Some(later) if later.kind.removes() => (Fate::GoesLater, later.uncertain),
                _ => fate(&scene, placed, outcome.or(later), graph),
            };
            FileObject { placed: placed.clone(), fate, uncertain, standings }
        };
        let objects = scene.placed.iter().enumerate().map(of_object).collect();
        ApplyPlan { scene, plan, objects, by_object, by_object_later }
    }

    /// Adds what goes only once the kinds that the file defines are served ([`Scene::once_served`]).
    pub fn add_once_served(&mut self, served: Plan) {
        for outcome in served.outcomes {
            if outcome.kind == OutcomeKind::Unchanged || self.by_object.contains_key(&outcome.object) {
                continue;
            }
            self.by_object.insert(outcome.object, self.plan.outcomes.len());
            self.plan.outcomes.push(outcome);
        }
        self.plan.effects.extend(served.effects);
        self.plan.needs.add(&served.needs);
        self.plan.assumptions.extend(served.assumptions);
        self.plan.orders += served.orders;
        self.plan.steps += served.steps;
    }

    /// What happens to an object; `None` if nothing does.
    pub fn outcome(&self, object: ObjectId) -> Option<&Outcome> {
        Some(&self.plan.outcomes[*self.by_object.get(&object)?])
    }

    /// What happens to an object only once what prevents it is mended; `None` if nothing does.
    pub fn later(&self, object: ObjectId) -> Option<&Outcome> {
        later(&self.plan, &self.by_object_later, object).filter(|_| self.outcome(object).is_none())
    }

    /// Objects of the cluster that the file doesn't have, and that change, or will.
    pub fn others(&self) -> impl Iterator<Item = &Outcome> {
        let own: FxHashSet<_> = self.objects.iter().filter_map(|object| object.placed.object).collect();
        let then = self.plan.then.iter().flat_map(|then| &then.outcomes);
        let later = then.filter(|outcome| self.outcome(outcome.object).is_none());
        self.plan.outcomes.iter().chain(later).filter(move |outcome| !own.contains(&outcome.object))
    }

    pub fn counts(&self) -> ApplyCounts {
        let count = |fate: Fate| self.objects.iter().filter(|object| object.fate == fate).count();
        ApplyCounts {
            objects: self.objects.len(),
            collected: count(Fate::Collected),
            terminating: count(Fate::Terminating),
            goes_later: count(Fate::GoesLater),
            refused: count(Fate::Refused),
            unknown: count(Fate::Unknown),
            stripped: count(Fate::Stripped),
            kept: count(Fate::Kept),
            others: self.others().filter(|outcome| outcome.kind.removes()).count(),
        }
    }

    /// The worst that happens.
    pub fn result(&self) -> ApplyResult {
        let counts = self.counts();
        if counts.lost() + counts.others > 0 {
            ApplyResult::Collects
        } else if counts.refused > 0 {
            ApplyResult::Refused
        } else if !self.certain() {
            ApplyResult::Unsure
        } else if counts.stripped > 0 {
            ApplyResult::Strips
        } else {
            ApplyResult::Keeps
        }
    }

    /// Whether every fate is certain.
    pub fn certain(&self) -> bool {
        let unsure = |object: &FileObject| object.fate == Fate::Unknown || object.uncertain.is_some();
        !self.objects.iter().any(unsure) && self.others().all(|outcome| outcome.uncertain.is_none())
    }
}

fn later<'p>(plan: &'p Plan, places: &FxHashMap<ObjectId, usize>, object: ObjectId) -> Option<&'p Outcome> {
    Some(&plan.then.as_ref()?.outcomes[*places.get(&object)?])
}

fn fate(scene: &Scene, placed: &Placed, outcome: Option<&Outcome>, graph: &OwnerGraph) -> (Fate, Option<Uncertainty>) {
    match placed.arrival {
        Arrival::Refused(_) => return (Fate::Refused, None),
        Arrival::Unknown(_) => return (Fate::Unknown, Some(Uncertainty::Gap)),
        Arrival::Created | Arrival::Patched | Arrival::Unchanged => {}
    }
    let Some(object) = placed.object else { return (Fate::Unknown, Some(Uncertainty::Gap)) };
    if let Some(outcome) = outcome {
        let fate = match outcome.kind {
            OutcomeKind::Deleted => Fate::Collected,
            OutcomeKind::Terminating => Fate::Terminating,
            OutcomeKind::Orphaned | OutcomeKind::Detached => Fate::Stripped,
            OutcomeKind::Unchanged if outcome.is_open() => Fate::Unknown,
            OutcomeKind::Unblocked | OutcomeKind::Unchanged => Fate::Kept,
        };
        let unread = (fate == Fate::Terminating && placed.unread_finalizers).then_some(Uncertainty::Gap);
        return (fate, outcome.uncertain.or(unread));
    }
    if scene.snapshot.object(object).terminating() {
        return (Fate::Terminating, placed.unread_finalizers.then_some(Uncertainty::Gap));
    }
    (if placed.namespace_goes || scene.goes_later(graph, object) { Fate::GoesLater } else { Fate::Kept }, None)
}
