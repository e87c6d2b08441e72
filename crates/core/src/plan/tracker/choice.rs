//! Controllers that adopt pods and delete as many as are too many (R9.24): which ones, nobody knows.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::{
    model::{ObjectId, Reference, Snapshot},
    plan::outcome::{After, Outcome, OutcomeKind, Plan},
    simulate::{Adopter, Cause},
};

use super::PlanTracker;

/// A controller deletes so many of these.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    members: Vec<usize>,
    /// Those of them that the plan says are deleted: others may go in their place.
    likeliest: Vec<usize>,
}

impl Choice {
    /// Whether the controller has deleted as many as it should.
    pub(super) fn is_made(&self, tracker: &PlanTracker) -> bool {
        self.members.iter().filter(|index| tracker.goes(**index)).count() >= self.likeliest.len()
    }
}

impl PlanTracker {
    /// Every pod of which some are deleted may also stay: as it is, or without its controller, if that goes.
    pub(super) fn add_choices(&mut self, snapshot: &Snapshot, plan: &Plan, index_of: &FxHashMap<ObjectId, usize>) {
        let unsure = |outcome: &&Outcome| outcome.is_assumed();
        let place = |id: ObjectId| (snapshot.object(id).resource, snapshot.object(id).namespace);
        let mut by_adopter: BTreeMap<(ObjectId, _), Choice> = BTreeMap::new();
        for outcome in plan.outcomes.iter().filter(unsure) {
            if let Some(Cause::ScaledDown(adopter)) = outcome.because {
                let key = (adopter, place(outcome.object));
                by_adopter.entry(key).or_default().likeliest.push(index_of[&outcome.object]);
            }
        }
        for outcome in plan.outcomes.iter().filter(unsure) {
            if plan.adoptions.of(outcome.object) == Some(Adopter::Unknown) {
                self.objects[index_of[&outcome.object]].ends.push((OutcomeKind::Deleted, None));
            }
        }
        let mut kept: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for outcome in plan.outcomes.iter().filter(unsure) {
            let had = Reference::controller_of(&snapshot.object(outcome.object).owners).is_some();
            let has_none = |after: &After| !after.terminating && Reference::controller_of(&after.owners).is_none();
            if had && outcome.after.as_ref().is_some_and(has_none) {
                kept.entry(place(outcome.object)).or_default().push(index_of[&outcome.object]);
            }
        }
        for ((adopter, place), mut choice) in by_adopter {
            choice.members.clone_from(&choice.likeliest);
            choice.members.extend(kept.get(&place).into_iter().flatten());
            let is_raced = plan.adoptions.is_raced(adopter);
            let adopter = self.strings.intern(snapshot.text(snapshot.object(adopter).uid));
            for index in &choice.members {
                let tracked = &mut self.objects[*index];
                let stays = tracked.before.clone().map(|mut before| {
                    before.owners.retain(|owner| !owner.is_controller() || owner.uid == adopter);
                    before
                });
                tracked.ends.push((OutcomeKind::Deleted, None));
                tracked.ends.push((OutcomeKind::Unchanged, stays));
            }
            if !is_raced {
                self.choices.push(choice);
            }
        }
    }

    /// The objects that should be deleted by a choice that is not made yet.
    pub(super) fn left_by_choice(&self) -> impl Iterator<Item = usize> {
        let open = self.choices.iter().filter(|choice| !choice.is_made(self)).flat_map(|choice| &choice.likeliest);
        open.copied().filter(|index| !self.goes(*index))
    }

    /// Whether an object is gone or terminating.
    fn goes(&self, index: usize) -> bool {
        self.objects[index].now.as_ref().is_none_or(|now| now.terminating)
    }
}
