//! The second end of a plan: what follows once all others have done their part. Kubernetes by itself stops at the
//! finalizer of an operator, and at a pod whose kubelet doesn't report; what is beneath goes on later (R9.37).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    groups::Groups,
    model::ObjectId,
    simulate::{Cause, Finished, Request, SimContext, State},
    wording::each_once,
};

use super::{
    build::likeliest,
    outcome::{After, Outcome, OutcomeKind, Plan, Then},
    reaction::OutsideEffect,
    side_effects::add_side_effects,
};

impl Plan {
    /// The outcomes of both ends: each object's first, then each one's second that differs.
    pub fn both_ends(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().chain(self.then.iter().flat_map(|then| &then.outcomes))
    }

    /// The objects that are or may be removed or marked for deletion in either end, each once, in plan order.
    pub fn going(&self) -> Vec<ObjectId> {
        let going = self.both_ends().filter(|outcome| outcome.may_be_removed()).map(|outcome| outcome.object);
        each_once(going).collect()
    }

    /// The effects of both ends, the worst of each end first.
    pub fn all_effects(&self) -> impl Iterator<Item = &OutsideEffect> {
        self.effects.iter().chain(&self.effects_later)
    }

    /// What others have to do that the first end doesn't come to: it leaves these objects alone.
    pub fn once_later(&self) -> impl Iterator<Item = &Finished> {
        let first: FxHashSet<ObjectId> =
            self.outcomes.iter().chain(&self.stays).filter(|it| it.state.is_some()).map(|it| it.object).collect();
        let once = self.then.iter().flat_map(|then| &then.once);
        once.filter(move |finished| !first.contains(&finished.object))
    }

    /// The outcomes of objects that only the second end removes, or may remove.
    pub fn later(&self) -> impl Iterator<Item = &Outcome> {
        let removes = |outcome: &&Outcome| outcome.may_be_removed();
        let first = self.outcomes.iter().filter(removes).chain(&self.stays);
        let first: FxHashSet<ObjectId> = first.map(|outcome| outcome.object).collect();
        let second = self.then.iter().flat_map(|then| &then.outcomes).filter(removes);
        second.filter(move |outcome| !first.contains(&outcome.object))
    }
}

/// Adds the second end to a plan, whose first is complete: `simulate` plays a request. Nothing is added where nothing
/// waits for others.
pub(super) fn add_second_end(context: &SimContext<'_>, plan: &mut Plan, simulate: impl Fn(&Request) -> Plan) {
    let (waits, is_prevented) = (may_wait(context, plan), prevented(plan).next().is_some());
    if plan.request.others_finish || !waits && !is_prevented {
        return;
    }
    let request = Request { others_finish: true, ..plan.request.clone() };
    let mut second = if waits { simulate(&request) } else { likeliest(context, &request) };
    let is_prevented = is_prevented || prevented(&second).next().is_some();
    if second.finished.is_empty() && !is_prevented {
        return;
    }
    let first: FxHashMap<ObjectId, &Outcome> =
        plan.outcomes.iter().chain(&plan.stays).map(|outcome| (outcome.object, outcome)).collect();
    // What goes anyway is told of only if this delete changes it before, or may, and with what follows that.
    let is_told = |outcome: &Outcome| {
        let above = outcome.because.as_ref().filter(|cause| cause.follows()).and_then(Cause::above);
        [Some(outcome.object), above].into_iter().flatten().any(|object| first.contains_key(&object))
    };
    let (told, anyway) = std::mem::take(&mut second.anyway).into_iter().partition(is_told);
    second.anyway = anyway;
    second.outcomes.extend::<Vec<Outcome>>(told);
    add_side_effects(context, &mut second);
    if is_prevented {
        go_on_without_obstacles(context, plan, &mut second);
    }
    let concerned = concerned(plan, &second);
    plan.orders += second.orders;
    plan.steps += second.steps;
    plan.assumptions.extend(second.assumptions);
    for obstacle in second.obstacles {
        match plan.obstacles.iter_mut().find(|known| known.kind == obstacle.kind) {
            Some(known) => {
                known.prevents.extend(obstacle.prevents);
                known.prevents.sort_unstable();
                known.prevents.dedup();
            }
            None => plan.obstacles.push(obstacle),
        }
    }
    let differs = |outcome: &Outcome| first.get(&outcome.object).is_none_or(|known| !has_the_same_ends(known, outcome));
    // What ends what hangs without this delete isn't told of it.
    let spared = plan.outcomes.iter().filter(|outcome| outcome.is_spared()).map(|outcome| outcome.object);
    let spared: FxHashSet<ObjectId> = spared.collect();
    second.effects.retain(|effect| !spared.contains(&effect.object));
    let is_due = |finished: &Finished| concerned.contains(&finished.object) && !spared.contains(&finished.object);
    let once: Vec<Finished> = second.finished.into_iter().filter(is_due).collect();
    let outcomes = second.outcomes.into_iter().filter(differs);
    let outcomes: Vec<Outcome> = outcomes.filter(|outcome| !spared.contains(&outcome.object)).collect();
    if outcomes.is_empty() && (plan.outcomes.is_empty() || once.is_empty()) {
        return;
    }
    let gone: FxHashSet<ObjectId> = outcomes.iter().filter(|it| it.kind.removes()).map(|it| it.object).collect();
    for of in &mut plan.claims {
        let (later, kept) = of.kept.drain(..).partition(|claim| gone.contains(claim));
        of.kept = kept;
        of.deleted.extend::<Vec<ObjectId>>(later);
    }
    let effects = without(second.effects, &plan.effects);
    plan.effects_later = without(std::mem::take(&mut plan.effects_later), &effects);
    plan.effects_later.splice(..0, effects.iter().cloned());
    plan.then = Some(Box::new(Then { once, outcomes, effects, controllers: second.controllers }));
    let is_going = |outcome: &&Outcome| outcome.removed_in_some_order() || outcome.state.is_some();
    let going = plan.outcomes.iter().filter(is_going).chain(&plan.stays).map(|outcome| outcome.object);
    let going: FxHashSet<ObjectId> = going.collect();
    let second = plan.then.iter().flat_map(|then| &then.outcomes).filter(|outcome| outcome.may_be_removed());
    plan.summary.later = second.filter(|outcome| !going.contains(&outcome.object)).count();
    plan.summary.stuck_later = plan.once_later().filter(|finished| finished.state == State::Stuck).count();
}

/// What a delete would remove or change, and something in its way prevents.
fn prevented(plan: &Plan) -> impl Iterator<Item = ObjectId> {
    plan.obstacles.iter().flat_map(|obstacle| &obstacle.prevents).copied()
}

/// Adds to the second end what goes once that is mended: a deletion that began can't be taken back, and controllers try
/// again until it is done. A target that the API server refuses to delete stays. Nobody knows when that is, so the
/// likeliest order says enough.
fn go_on_without_obstacles(context: &SimContext<'_>, plan: &Plan, second: &mut Plan) {
    let prevents: FxHashSet<ObjectId> = prevented(plan).collect();
    let told: FxHashSet<ObjectId> = plan.outcomes.iter().chain(&plan.stays).map(|outcome| outcome.object).collect();
    let targets = plan.request.targets.iter().copied();
    let targets: Vec<ObjectId> = targets.filter(|target| !prevents.contains(target) || told.contains(target)).collect();
    if targets.is_empty() && !plan.request.targets.is_empty() {
        return;
    }
    let mut mended =
        likeliest(context, &Request { targets, others_finish: true, mended: true, ..plan.request.clone() });
    add_side_effects(context, &mut mended);
    let known = plan.outcomes.iter().chain(&second.outcomes).chain(&second.anyway);
    let known: FxHashMap<ObjectId, OutcomeKind> = known.map(|outcome| (outcome.object, outcome.kind)).collect();
    let goes_further = |outcome: &Outcome| {
        let before = known.get(&outcome.object).copied().unwrap_or(OutcomeKind::Unchanged);
        let is_changed = before == OutcomeKind::Unchanged && outcome.kind != OutcomeKind::Unchanged;
        is_changed || outcome.kind.removes() && outcome.kind < before
    };
    mended.outcomes.retain(goes_further);
    let further: FxHashSet<ObjectId> = mended.outcomes.iter().map(|outcome| outcome.object).collect();
    second.outcomes.retain(|outcome| !further.contains(&outcome.object));
    second.outcomes.append(&mut mended.outcomes);
    let effects = mended.effects.into_iter().filter(|effect| further.contains(&effect.object)).collect();
    let effects = without(effects, &second.effects);
    second.effects.extend(effects);
    let known: FxHashSet<ObjectId> = second.finished.iter().map(|finished| finished.object).collect();
    let is_new = |finished: &Finished| further.contains(&finished.object) && !known.contains(&finished.object);
    second.finished.extend(mended.finished.into_iter().filter(is_new));
    second.controllers.add(&mended.controllers);
    second.orders += mended.orders;
    second.steps += mended.steps;
    second.assumptions.extend(mended.assumptions);
}

/// The objects that either end tells of, and what these wait for, directly or not.
fn concerned(plan: &Plan, second: &Plan) -> FxHashSet<ObjectId> {
    let told = plan.outcomes.iter().chain(&plan.stays).chain(&second.outcomes).chain(&second.stays);
    let mut open: Vec<ObjectId> = told.clone().map(|outcome| outcome.object).collect();
    let mut waits: FxHashMap<ObjectId, Vec<ObjectId>> = FxHashMap::default();
    for outcome in told.chain(&plan.anyway).chain(&second.anyway) {
        waits.entry(outcome.object).or_default().extend(&outcome.waits_for);
    }
    let mut concerned: FxHashSet<ObjectId> = FxHashSet::default();
    while let Some(object) = open.pop() {
        if concerned.insert(object) {
            open.extend(waits.get(&object).into_iter().flatten());
        }
    }
    concerned
}

/// These effects without the known ones.
fn without(mut effects: Vec<OutsideEffect>, known: &[OutsideEffect]) -> Vec<OutsideEffect> {
    let by_object: Groups<ObjectId, &OutsideEffect> = known.iter().map(|effect| (effect.object, effect)).collect();
    effects.retain(|effect| !by_object.of(&effect.object).contains(&effect));
    effects
}

/// Whether an object has the same ends, also in other event orders.
fn has_the_same_ends(first: &Outcome, second: &Outcome) -> bool {
    let alternatives = |outcome: &Outcome| -> Vec<Option<After>> {
        outcome.alternatives.iter().map(|other| other.after.clone()).collect()
    };
    (first.kind, &first.after, first.uncertain) == (second.kind, &second.after, second.uncertain)
        && alternatives(first) == alternatives(second)
}

/// Whether anything may stay terminating, in any outcome that was found, or waited only for what goes and its
/// controller finishes it.
fn may_wait(context: &SimContext<'_>, plan: &Plan) -> bool {
    let is_waiting = |outcome: &Outcome| {
        let others = outcome.alternatives.iter().map(|other| other.after.as_ref());
        others.chain([outcome.after.as_ref()]).flatten().any(|after| after.terminating)
    };
    let gone = plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
    let gone: FxHashSet<ObjectId> = gone.map(|outcome| outcome.object).collect();
    plan.outcomes.iter().chain(&plan.stays).any(is_waiting)
        || !context.no_longer_used(|_, user| !gone.contains(&user)).is_empty()
        || context.kept_by_users().iter().any(|(_, keepers)| !keepers.unread.is_empty())
}
