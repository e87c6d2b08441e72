//! Builds a plan: simulates a delete and compares the end with the beginning; and then its second end: what follows
//! once all others have done their part. Kubernetes by itself stops at the finalizer of an operator, and at a pod whose
//! kubelet doesn't report; what is beneath goes on later (R9.37).

use std::{cell::OnceCell, collections::BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    groups::Groups,
    model::ObjectId,
    server::Stored,
    simulate::{
        Assumption, Blockers, Cause, Change, Effect, Finished, InitialListOrder, Needs, Open, Others, Refused, Request,
        SimContext, Start, State, Uncertainty, World, begin, unfinished_by_sweep,
    },
    wording::each_once,
};

use super::{
    outcome::{After, Outcome, OutcomeKind, OutsideEffect, Plan, Summary, Then},
    side_effects::{add_abandoned, add_armed, add_side_effects},
};

/// Simulates a delete in the likeliest event order.
pub fn plan(context: &SimContext<'_>, request: &Request) -> Plan {
    complete(context, || {
        let mut plan = likeliest(context, request);
        add_side_effects(context, &mut plan);
        add_second_end(context, &mut plan, |request| likeliest(context, request));
        add_armed(context, &mut plan);
        plan
    })
}

/// A plan, with what it lacks.
pub(super) fn complete(context: &SimContext<'_>, plan: impl FnOnce() -> Plan) -> Plan {
    let (plan, needs) = context.noting(plan);
    Plan { needs, ..plan }
}

/// The same without side effects and second end.
pub(super) fn likeliest(context: &SimContext<'_>, request: &Request) -> Plan {
    let (mut world, refused) = begin(context, request, InitialListOrder::default());
    let late = world.without_overdue_work();
    world.settle();
    let world = late.and_then(|late| late.end_that_deletes_more(&world)).unwrap_or(world);
    build_plan(world, request, refused, &OnceCell::new())
}

/// The plan of a simulation that has settled. `healthy` keeps the same simulation without obstacles, for all plans of
/// one request.
pub(super) fn build_plan<'s, 'a>(
    mut world: World<'s, 'a>,
    request: &Request,
    refused: Refused,
    healthy: &OnceCell<World<'s, 'a>>,
) -> Plan {
    OutcomeBuilder::new(&mut world, request).build_plan(request.clone(), refused, healthy)
}

/// Turns the end of a simulation into outcomes.
struct OutcomeBuilder<'w, 's, 'a> {
    world: &'w mut World<'s, 'a>,
    blockers: Blockers,
    open: Open,
    /// Objects that a sweep examined but could not finish.
    unfinished: Vec<ObjectId>,
    /// The simulation without this delete, of what was already terminating; `None` if the delete touched nothing of
    /// that.
    without_delete: Option<World<'s, 'a>>,
}

impl<'w, 's, 'a> OutcomeBuilder<'w, 's, 'a> {
    fn new(world: &'w mut World<'s, 'a>, request: &Request) -> Self {
        let unfinished = if request.start == Start::Sweep { unfinished_by_sweep(world) } else { Vec::new() };
        let inspected: Vec<ObjectId> = unfinished.iter().chain(&world.going_on).copied().collect();
        let blockers = Blockers::at_end_of(world, &inspected);
        let open = Open::of(world, &blockers, request.start);
        let without_delete = without_the_delete(world, request);
        OutcomeBuilder { world, blockers, open, unfinished, without_delete }
    }

    fn build_plan(self, request: Request, refused: Refused, healthy: &OnceCell<World<'s, 'a>>) -> Plan {
        let changes = changes_by_object(&self.world.log);
        let is_shared = self.without_delete.is_some();
        let taken = if is_shared { taken_along(self.world, &request) } else { FxHashSet::default() };
        let context = self.world.context;
        let targets: FxHashSet<ObjectId> = request.targets.iter().copied().collect();
        let mut listed: Vec<(usize, Outcome)> = Vec::new();
        let mut anyway: Vec<Outcome> = Vec::new();
        for object in self.world.touched() {
            let Some(of_object) = changes.get(&object) else { continue };
            let is_told = targets.contains(&object) || taken.contains(&object);
            let caused_elsewhere = !is_told && self.would_happen_anyway(object);
            if let Some(outcome) = self.outcome(object, of_object) {
                if caused_elsewhere {
                    anyway.push(outcome);
                    continue;
                }
                listed.push((of_object.last().map_or(0, |(position, _)| *position), outcome));
            }
        }
        listed.sort_by_key(|(position, _)| *position);
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(listed.len());
        for (index, (_, outcome)) in listed.into_iter().enumerate() {
            outcomes.push(Outcome { order: Some(index as u32 + 1), ..outcome });
        }
        let mut known: FxHashSet<ObjectId> = outcomes.iter().map(|outcome| outcome.object).collect();
        // What the API server says of a target that is Terminating already comes before what we can't tell.
        let says_why = |object: ObjectId| targets.contains(&object) && context.said_to_keep(object).is_some();
        let is_told = |object: ObjectId| known.contains(&object) || says_why(object);
        let mut undecided: Vec<(ObjectId, Uncertainty)> =
            self.open.undecided().filter(|(object, _)| !is_told(*object)).collect();
        undecided.sort_unstable();
        known.extend(undecided.iter().map(|(object, _)| *object));
        outcomes.extend(undecided.into_iter().filter_map(|(object, why)| self.undecided(object, why)));
        let is_waiting = |object: &ObjectId| self.world.stored(*object).is_some_and(|stored| stored.terminating);
        let mut unchanged: Vec<ObjectId> = self.world.going_on.iter().copied().filter(is_waiting).collect();
        unchanged.sort_unstable();
        unchanged.extend(&self.unfinished);
        unchanged.retain(|object| !known.contains(object));
        let stays = unchanged.into_iter().map(|object| unfinished_outcome(context, object, &self.blockers)).collect();
        let summary = summarize(&outcomes);
        let mut assumptions = self.world.assumptions.clone();
        assumptions.extend(self.ignored_reactions(&outcomes));
        assumptions.extend(self.open.assumptions);
        let healthy = self
            .world
            .met_obstacles()
            .then(|| healthy.get_or_init(|| context.aside(|| without_obstacles(context, &request)).0));
        let gone_anyway = anyway.iter().map(|outcome| outcome.object).collect();
        let obstacles = self.world.obstacles(healthy, &gone_anyway);
        let mut controllers = self.blockers.controllers().clone();
        controllers.add_provisioners(&self.world.unseen_provisioners);
        let others = self.world.others.take().unwrap_or_default();
        controllers.add(&others.controllers);
        Plan {
            request,
            outcomes,
            stays,
            summary,
            ends: Vec::new(),
            effects: Vec::new(),
            effects_later: Vec::new(),
            lost_once_started: Vec::new(),
            claims: Vec::new(),
            notes: Vec::new(),
            orders: 1,
            controllers,
            adoptions: self.world.adoptions.clone(),
            assumptions,
            refused,
            obstacles,
            then: None,
            anyway,
            finished: others.finished,
            needs: Needs::default(),
            steps: self.world.steps,
        }
    }

    /// What living controllers would do in response, which a plan doesn't simulate (§9.1, §9.2).
    fn ignored_reactions(&self, outcomes: &[Outcome]) -> BTreeSet<Assumption> {
        let snapshot = self.world.context.snapshot;
        let mut assumptions = BTreeSet::new();
        for outcome in outcomes {
            match outcome.kind {
                OutcomeKind::Deleted | OutcomeKind::Terminating
                    if !matches!(outcome.because, Some(Cause::ScaledDown(_))) =>
                {
                    let survives = |id: &ObjectId| self.world.stored(*id).is_some_and(|stored| !stored.terminating);
                    if let Some(controller) = snapshot.controller_of(outcome.object).filter(survives) {
                        assumptions.insert(Assumption::NotReplaced { controller: snapshot.short_name(controller) });
                    }
                }
                OutcomeKind::Orphaned if !self.adopters_are_known(outcome.object) => {
                    assumptions.insert(Assumption::NotAdopted);
                }
                _ => {}
            }
        }
        assumptions
    }

    /// Whether the simulation played who adopts an object.
    fn adopters_are_known(&self, object: ObjectId) -> bool {
        self.world.adoptions.of(object).is_some() && self.world.context.lists_adopters(object)
    }

    /// Whether an object that was already terminating ends the same without this delete.
    fn would_happen_anyway(&self, object: ObjectId) -> bool {
        self.without_delete.as_ref().is_some_and(|without_delete| {
            let (here, there) = (self.world.stored(object), without_delete.stored(object));
            match (here, there) {
                (None, None) => true,
                (Some(here), Some(there)) => here.same_state(&there),
                _ => false,
            }
        })
    }

    fn outcome(&self, object: ObjectId, changes: &[(usize, Change)]) -> Option<Outcome> {
        let before = Stored::of(self.world.context.snapshot.object(object));
        let after = self.world.stored(object);
        let kind = OutcomeKind::of(&before, after.as_ref())?;
        let leaving = |change: &&(usize, Change)| matches!(change.1.effect, Effect::Removed | Effect::Deleting);
        let because = match kind {
            OutcomeKind::Deleted | OutcomeKind::Terminating => changes.iter().find(leaving),
            _ => None,
        };
        let because = because.or(changes.last()).map(|(_, change)| change.cause.clone());
        let terminating = kind == OutcomeKind::Terminating;
        let spared = self.is_spared(object, after.as_ref());
        Some(Outcome {
            object,
            kind,
            order: None,
            uncertain: self.open.why(object),
            because,
            waits_for: if terminating { self.blockers.waits_for(object).to_vec() } else { Vec::new() },
            held_by: if terminating { self.blockers.holders(object).to_vec() } else { Vec::new() },
            state: (terminating && !spared).then(|| self.blockers.state(object)),
            after: after.map(|after| After {
                terminating: after.terminating,
                finalizers: after.finalizers.into_owned(),
                owners: after.owners.to_vec(),
            }),
            alternatives: Vec::new(),
            afterwards: Vec::new(),
        })
    }

    /// Whether an object only loses references, and stays Terminating as it does without this delete.
    fn is_spared(&self, object: ObjectId, after: Option<&Stored<'_>>) -> bool {
        let was_terminating = self.world.context.snapshot.object(object).terminating();
        let without = self.without_delete.as_ref().and_then(|without| without.stored(object));
        after.zip(without).is_some_and(|(after, without)| {
            was_terminating && after.terminating && without.terminating && without.finalizers == after.finalizers
        })
    }

    /// An object that didn't change in the simulation, but might.
    fn undecided(&self, object: ObjectId, why: Uncertainty) -> Option<Outcome> {
        let is_known = self.world.going_on.contains(&object) || self.blockers.own_state(object) == Some(State::Unknown);
        let goes_on = is_known && self.world.stored(object).is_some_and(|stored| stored.terminating);
        let context = self.world.context;
        let outcome = || match goes_on {
            true => unfinished_outcome(context, object, &self.blockers),
            false => Outcome::untouched(context, object),
        };
        self.world.exists(object).then(|| Outcome { uncertain: Some(why), ..outcome() })
    }
}

/// An object that stays terminating, unchanged, and what blocks it.
fn unfinished_outcome(context: &SimContext<'_>, object: ObjectId, blockers: &Blockers) -> Outcome {
    Outcome {
        waits_for: blockers.waits_for(object).to_vec(),
        held_by: blockers.holders(object).to_vec(),
        state: Some(blockers.state(object)),
        ..Outcome::untouched(context, object)
    }
}

/// Simulates the same request in a cluster without obstacles.
fn without_obstacles<'s, 'a>(context: &'s SimContext<'a>, request: &Request) -> World<'s, 'a> {
    let request = Request { mended: true, ..request.clone() };
    let (mut world, _) = begin(context, &request, InitialListOrder::default());
    world.settle();
    world
}

/// What goes with targets that are Terminating already, or whose namespace or CRD is, and what waited only for what is
/// beneath the targets: these are told of even if something else deletes them, too.
fn taken_along(world: &World<'_, '_>, request: &Request) -> FxHashSet<ObjectId> {
    let context = world.context;
    let is_leaving = |object: &ObjectId| context.snapshot.object(*object).terminating();
    let along: Groups<ObjectId> =
        world.log.iter().filter_map(|change| Some((change.cause.above()?, change.object))).collect();
    // Adds what is beneath these objects, and returns what is new.
    let add_beneath = |found: &mut FxHashSet<ObjectId>, mut open: Vec<ObjectId>| {
        let mut new: Vec<ObjectId> = Vec::new();
        while let Some(object) = open.pop() {
            if found.insert(object) {
                new.push(object);
                open.extend(context.graph.dependents(object.into()));
                open.extend(context.contents(object));
                open.extend(context.claims_of_pod(object).filter(is_leaving));
                open.extend(along.of(&object));
            }
        }
        new
    };
    let is_above_leaving = |target: &ObjectId| context.above(*target).any(|above| is_leaving(&above));
    let targets = request.targets.iter().filter(|target| is_leaving(target) || is_above_leaving(target));
    let mut taken: FxHashSet<ObjectId> = FxHashSet::default();
    add_beneath(&mut taken, targets.chain(&world.going_on).copied().collect());
    let mut reached: FxHashSet<ObjectId> = FxHashSet::default();
    let mut open = add_beneath(&mut reached, request.targets.clone());
    let (blockers, _) = context.aside(|| Blockers::now(context));
    let mut left: FxHashMap<ObjectId, usize> = FxHashMap::default();
    while let Some(object) = open.pop() {
        for waiter in blockers.waited_for_by(object) {
            let left = left.entry(waiter).or_insert_with(|| blockers.waits_for(waiter).len());
            *left -= 1;
            // What goes by itself needs no target to go first.
            if *left == 0 && !reached.contains(&waiter) && !context.present().goes(waiter) {
                open.extend(add_beneath(&mut reached, vec![waiter]));
                add_beneath(&mut taken, vec![waiter]);
            }
        }
    }
    taken
}

/// Simulates, without this delete, everything that was terminating before, except the targets and what they wait for.
fn without_the_delete<'s, 'a>(world: &World<'s, 'a>, request: &Request) -> Option<World<'s, 'a>> {
    let targets: FxHashSet<ObjectId> = request.targets.iter().copied().collect();
    let is_told = |object: &ObjectId| targets.contains(object) || world.going_on.contains(object);
    let was_terminating = |object: &ObjectId| world.context.snapshot.object(*object).terminating() && !is_told(object);
    // Include the Namespaces and CRDs that were already terminating: their contents are deleted without this delete,
    // too.
    let above = world.log.iter().filter_map(|change| match change.cause {
        Cause::Namespace(above) | Cause::Definition(above) => Some(above),
        _ => None,
    });
    let going: BTreeSet<ObjectId> = world.touched().into_iter().chain(above).filter(was_terminating).collect();
    if going.is_empty() {
        return None;
    }
    let mut without_delete = World::at_rest(world.context);
    if request.mended {
        without_delete.mend();
    }
    without_delete.others = world.others.is_some().then(|| Others::of(going.iter().copied().collect()));
    for object in going {
        without_delete.actors.notice(object);
    }
    without_delete.settle();
    Some(without_delete)
}

fn changes_by_object(log: &[Change]) -> FxHashMap<ObjectId, Vec<(usize, Change)>> {
    let mut changes: FxHashMap<ObjectId, Vec<(usize, Change)>> = FxHashMap::default();
    for (position, change) in log.iter().enumerate() {
        changes.entry(change.object).or_default().push((position, change.clone()));
    }
    changes
}

pub(super) fn summarize(outcomes: &[Outcome]) -> Summary {
    let count = |kind: OutcomeKind| outcomes.iter().filter(|outcome| outcome.kind == kind).count();
    Summary {
        deleted: count(OutcomeKind::Deleted),
        // Also of what was Terminating before, where an assumption decides.
        terminating: outcomes.iter().filter(|outcome| outcome.state.is_some()).count(),
        orphaned: count(OutcomeKind::Orphaned),
        detached: count(OutcomeKind::Detached),
        unblocked: count(OutcomeKind::Unblocked),
        stuck: outcomes.iter().filter(|outcome| outcome.state == Some(State::Stuck)).count(),
        recreated: outcomes.iter().filter(|outcome| outcome.recreated()).count(),
        later: 0,
        stuck_later: 0,
    }
}

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
    add_abandoned(context, plan);
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
