//! What a plan's outcomes mean beyond the graph of owners: effects outside of it, what living controllers do
//! afterwards, and policies that do nothing. Nothing of this changes an outcome; it is told with it.

mod claims;
mod controllers;
mod effects;
mod nodes;
mod notes;

use rustc_hash::FxHashMap;

use crate::{
    model::ObjectId,
    simulate::{Needs, SimContext},
};

use super::{
    outcome::{Outcome, OutcomeKind, Plan},
    reaction::OutsideEffect,
};

pub use controllers::adopters_of;

/// Whether an object is still there and not on its way out when a plan is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Survival {
    Lives,
    /// It depends on what is not certain.
    MayGo,
    Goes,
}

/// Adds to a plan what its outcomes mean beyond the graph. What would have to be read for that is added to what it
/// needs.
pub(super) fn add_side_effects(stage: &SimContext<'_>, plan: &mut Plan) {
    let mut beyond = SideEffects::new(stage, plan);
    let afterwards = controllers::afterwards(&beyond, plan);
    beyond.effects(plan);
    let SideEffects { needs, effects, .. } = beyond;
    for (outcome, afterwards) in plan.outcomes.iter_mut().zip(afterwards) {
        outcome.afterwards = afterwards;
    }
    plan.effects = effects;
    plan.notes = notes::notes(stage, plan);
    plan.summary.recreated = plan.outcomes.iter().filter(|outcome| outcome.recreated()).count();
    plan.needs.add(&needs);
}

/// What goes on outside the graph when these objects go, which are on their way out already, and what would have to be
/// read to know.
pub fn effects_of(stage: &SimContext<'_>, objects: &[ObjectId]) -> (Vec<OutsideEffect>, Needs) {
    let fates = objects.iter().map(|id| (*id, Survival::Goes)).collect();
    let mut beyond = SideEffects { stage, fates, needs: Needs::default(), effects: Vec::new() };
    for object in objects {
        beyond.of_object(*object);
    }
    (beyond.effects, beyond.needs)
}

/// What is looked at while a plan is told.
struct SideEffects<'s, 'a> {
    stage: &'s SimContext<'a>,
    fates: FxHashMap<ObjectId, Survival>,
    needs: Needs,
    effects: Vec<OutsideEffect>,
}

impl<'s, 'a> SideEffects<'s, 'a> {
    fn new(stage: &'s SimContext<'a>, plan: &Plan) -> Self {
        let fates = plan.outcomes.iter().map(|outcome| (outcome.object, fate_of(outcome))).collect();
        SideEffects { stage, fates, needs: Needs::default(), effects: Vec::new() }
    }

    fn fate(&self, object: ObjectId) -> Survival {
        let terminating = || self.stage.snapshot.object(object).terminating();
        self.fates.get(&object).copied().unwrap_or_else(|| if terminating() { Survival::Goes } else { Survival::Lives })
    }
}

/// Whether an object goes in some order of events, at least.
fn may_go(outcome: &Outcome) -> bool {
    outcome.kind.removes() || outcome.alternatives.iter().any(|other| other.kind.removes())
}

/// Whether an object goes in every order of events.
fn always_goes(outcome: &Outcome) -> bool {
    outcome.kind.removes() && outcome.alternatives.iter().all(|other| other.kind.removes())
}

fn fate_of(outcome: &Outcome) -> Survival {
    let unsure = outcome.kind == OutcomeKind::Unchanged && outcome.uncertain.is_some();
    match (always_goes(outcome), may_go(outcome) || unsure) {
        (true, _) => Survival::Goes,
        (false, true) => Survival::MayGo,
        (false, false) => Survival::Lives,
    }
}
