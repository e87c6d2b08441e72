//! What a plan means beyond the graph of owners: external effects, what living controllers do in response, and policies
//! without effect. None of this changes an outcome.

mod abandoned;
mod claims;
mod controllers;
mod effects;
mod nodes;
mod notes;

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{ObjectId, effects::EffectKind},
    simulate::{SimContext, recreators::Survival},
};

use super::{
    outcome::{Outcome, OutcomeKind, OutsideEffect, Plan},
    unlisted::spared_objects,
};

pub(super) use abandoned::add_abandoned;
pub use controllers::adopters_of;

/// Adds side effects to a plan.
pub(super) fn add_side_effects(context: &SimContext<'_>, plan: &mut Plan) {
    let mut side_effects = SideEffects::new(context, plan);
    let afterwards = controllers::afterwards(&mut side_effects, plan);
    side_effects.effects(plan);
    side_effects.freed_pods(plan);
    plan.claims = side_effects.claims_of_sets(plan);
    let ended = side_effects.ended_claims(plan);
    let SideEffects { effects, .. } = side_effects;
    for (outcome, afterwards) in plan.outcomes.iter_mut().zip(afterwards) {
        outcome.afterwards = afterwards;
    }
    plan.effects = effects;
    plan.notes = notes::notes(context, plan);
    add_abandoned(context, plan);
    notes::add_without_named(context, plan);
    plan.summary.recreated = plan.outcomes.iter().filter(|outcome| outcome.recreated()).count();
    plan.effects_later = effects_of(context, &[spared_objects(context, plan), ended].concat());
}

/// The effects of deleting these objects, which are already terminating.
pub fn effects_of(context: &SimContext<'_>, objects: &[ObjectId]) -> Vec<OutsideEffect> {
    let survivals = objects.iter().map(|id| (*id, Survival::Removed)).collect();
    let mut side_effects = SideEffects::of(context, survivals);
    for object in objects {
        side_effects.add_effects_of(*object);
    }
    side_effects.effects.sort_by_key(|effect| effect.severity());
    side_effects.effects
}

/// Adds to a plan the data that is lost once somebody starts a controller, beside what the plan itself deletes.
pub(super) fn add_armed(context: &SimContext<'_>, plan: &mut Plan) {
    let snapshot = context.snapshot;
    let awaited = abandoned::awaited(plan).filter(|object| snapshot.object(*object).terminating());
    let awaited: BTreeSet<ObjectId> = awaited.collect();
    // Nothing else needs the second end, which is a simulation of everything.
    if awaited.is_empty() {
        return;
    }
    let mut seen: FxHashSet<ObjectId> = plan.going().into_iter().chain(awaited.iter().copied()).collect();
    let (mut open, mut below): (Vec<ObjectId>, Vec<ObjectId>) = (awaited.into_iter().collect(), Vec::new());
    while let Some(owner) = open.pop() {
        let dependents = context.graph.dependents(owner.into()).iter().copied();
        let leaving: Vec<ObjectId> = dependents.filter(|id| context.later().leaves(*id) && seen.insert(*id)).collect();
        below.extend(&leaving);
        open.extend(leaving);
    }
    below.sort_unstable();
    let mut effects = effects_of(context, &below);
    effects.retain(|effect| effect.may_be(EffectKind::DataLost));
    plan.lost_once_started = effects;
}

/// Collects the side effects of one plan.
struct SideEffects<'s, 'a> {
    context: &'s SimContext<'a>,
    survivals: FxHashMap<ObjectId, Survival>,
    /// Objects that something in the way of the delete keeps: a webhook, a policy, an API.
    prevented: FxHashSet<ObjectId>,
    /// How many objects it asked to read that nobody knows the controllers of.
    read: usize,
    effects: Vec<OutsideEffect>,
}

impl<'s, 'a> SideEffects<'s, 'a> {
    fn new(context: &'s SimContext<'a>, plan: &Plan) -> Self {
        let survivals = plan.outcomes.iter().map(|outcome| (outcome.object, survival_of(outcome))).collect();
        let prevented = plan.obstacles.iter().flat_map(|obstacle| &obstacle.prevents).copied().collect();
        SideEffects { prevented, ..SideEffects::of(context, survivals) }
    }

    fn of(context: &'s SimContext<'a>, survivals: FxHashMap<ObjectId, Survival>) -> Self {
        SideEffects { context, survivals, prevented: FxHashSet::default(), read: 0, effects: Vec::new() }
    }

    fn survival(&self, object: ObjectId) -> Survival {
        let terminating = || self.context.snapshot.object(object).terminating();
        self.survivals
            .get(&object)
            .copied()
            .unwrap_or_else(|| if terminating() { Survival::Removed } else { Survival::Survives })
    }

    /// Whether the object's namespace is being deleted: the API server refuses to create objects there.
    fn in_deleted_namespace(&self, object: ObjectId) -> bool {
        let context = self.context;
        let namespace = context.snapshot.object(object).namespace;
        context.namespace_named(namespace).is_some_and(|namespace| self.survival(namespace) == Survival::Removed)
    }
}

fn survival_of(outcome: &Outcome) -> Survival {
    let unsure = outcome.kind == OutcomeKind::Unchanged && outcome.uncertain.is_some();
    match (outcome.removed_in_every_order(), outcome.removed_in_some_order() || unsure) {
        (true, _) => Survival::Removed,
        (false, true) => Survival::MayBeRemoved,
        (false, false) => Survival::Survives,
    }
}
