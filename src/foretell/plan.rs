//! What a delete would do to every object: the end of one course of events, compared with its beginning.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{ObjectId, Reference, Symbol},
    server::{DeleteOptions, Propagation, Stored, kinds::protected},
};

use super::{
    actors::Assumption,
    beyond::{Afterwards, Note, OutsideEffect, tell_beyond},
    cause::{Cause, Change, Effect},
    doubt::uncertain_objects,
    held::{Held, Holder, State, unfinished},
    start::{Lists, Only, Start},
    world::{Needs, Stage, World},
};

/// Targets that the API server refuses to delete, and why.
pub type Refused = Vec<(ObjectId, &'static str)>;

/// What is to be deleted, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What the collector has been doing before.
    pub start: Start,
    /// What is done before the first of them is deleted, so that something survives.
    pub cuts: Vec<Cut>,
    /// In the order in which they are deleted; none where only the collector is at work.
    pub targets: Vec<ObjectId>,
    pub propagation: Propagation,
    /// `gracePeriodSeconds`; unset leaves it to the pods.
    pub grace: Option<i64>,
    /// What the collector may write to; unset: everything. What is named as a target is deleted all the same.
    pub only: Option<Only>,
}

/// References that are taken from an object before anything is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub object: ObjectId,
    /// Those of its references that it loses, as they are written.
    pub loses: Vec<Reference>,
}

impl Cut {
    /// What it has left of these references.
    pub fn leaves(&self, owners: &[Reference]) -> Vec<Reference> {
        owners.iter().filter(|reference| !self.loses.contains(reference)).copied().collect()
    }
}

impl Request {
    /// A delete under a running collector.
    pub fn delete(targets: Vec<ObjectId>, propagation: Propagation) -> Self {
        Request { start: Start::AtRest, cuts: Vec::new(), targets, propagation, grace: None, only: None }
    }

    /// What the collector does without any delete.
    pub fn only_collect(start: Start) -> Self {
        Request { start, ..Request::delete(Vec::new(), Propagation::Background) }
    }

    /// The same by a collector that may write to nothing else.
    pub fn limited_to(self, only: Only) -> Self {
        Request { only: Some(only), ..self }
    }
}

/// What becomes of an object: the first that fits (design, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OutcomeKind {
    /// Gone.
    Deleted,
    /// Stays with a deletionTimestamp.
    Terminating,
    /// Survives without any owner reference.
    Orphaned,
    /// Survives, and lost some of its owner references.
    Detached,
    /// Survives, and only `blockOwnerDeletion` changed.
    Unblocked,
    /// As it was, in the end that was played; something unknown could change it.
    Unchanged,
}

impl OutcomeKind {
    /// As JSON says it.
    pub fn name(self) -> &'static str {
        match self {
            OutcomeKind::Deleted => "Deleted",
            OutcomeKind::Terminating => "Terminating",
            OutcomeKind::Orphaned => "Orphaned",
            OutcomeKind::Detached => "Detached",
            OutcomeKind::Unblocked => "Unblocked",
            OutcomeKind::Unchanged => "Unchanged",
        }
    }
}

/// Why an outcome is not certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Uncertainty {
    /// It depends on the order of events.
    Order,
    /// Something that decides it could not be read.
    Gap,
    /// The search stopped before everything had settled.
    Bound,
}

impl Uncertainty {
    /// As JSON says it.
    pub fn name(self) -> &'static str {
        match self {
            Uncertainty::Order => "order",
            Uncertainty::Gap => "gap",
            Uncertainty::Bound => "bound",
        }
    }
}

/// The state an object ends in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    pub terminating: bool,
    pub finalizers: Vec<Symbol>,
    pub owners: Vec<Reference>,
}

/// What the delete does to one object.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub object: ObjectId,
    pub kind: OutcomeKind,
    /// The place of its last change among all outcomes, from 1; none for what doesn't change.
    pub order: Option<u32>,
    /// `None`: certain.
    pub uncertain: Option<Uncertainty>,
    /// What set it off; none for what doesn't change.
    pub because: Option<Cause>,
    /// For what stays terminating: the objects it waits for.
    pub waits_for: Vec<ObjectId>,
    /// For what stays terminating: what holds the object itself.
    pub held_by: Vec<Holder>,
    /// For what stays terminating.
    pub state: Option<State>,
    /// None when it is gone.
    pub after: Option<After>,
    /// What else becomes of it in other orders of events; empty unless it is uncertain because of them.
    pub alternatives: Vec<Alternative>,
    /// What living controllers do afterwards: no outcome takes it into account.
    pub afterwards: Vec<Afterwards>,
}

impl Outcome {
    /// Whether the object goes in any end, or is set terminating in one, which can't be taken back; or might, as far as is known.
    pub fn may_be_removed(&self) -> bool {
        let goes = |kind: OutcomeKind| matches!(kind, OutcomeKind::Deleted | OutcomeKind::Terminating);
        let unknown = matches!(self.uncertain, Some(Uncertainty::Gap | Uncertainty::Bound));
        goes(self.kind) || self.alternatives.iter().any(|other| goes(other.kind)) || unknown
    }

    /// The outcome of an object that a plan doesn't touch.
    pub(super) fn untouched(stage: &Stage<'_>, object: ObjectId) -> Self {
        let found = stage.snapshot.object(object);
        Outcome {
            object,
            kind: OutcomeKind::Unchanged,
            order: None,
            uncertain: None,
            because: None,
            waits_for: Vec::new(),
            held_by: Vec::new(),
            state: None,
            after: Some(After {
                terminating: found.terminating(),
                finalizers: found.finalizers.to_vec(),
                owners: found.owners.to_vec(),
            }),
            alternatives: Vec::new(),
            afterwards: Vec::new(),
        }
    }
}

/// Another end that an object may come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    pub kind: OutcomeKind,
    pub because: Option<Cause>,
    pub state: Option<State>,
    /// None when it is gone.
    pub after: Option<After>,
}

/// One end that a group of objects, whose outcomes hang together, may come to.
pub type JointEnd = Vec<(ObjectId, Alternative)>;

/// How many objects come to which end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub deleted: usize,
    pub terminating: usize,
    pub orphaned: usize,
    pub detached: usize,
    pub unblocked: usize,
    /// Of those that stay terminating, the ones nobody is known to finish.
    pub stuck: usize,
    /// Of those that go or stay terminating, the ones that a living controller makes anew.
    pub recreated: usize,
}

/// The answer to "what would this delete do?".
#[derive(Clone, Debug)]
pub struct Plan {
    pub request: Request,
    /// Every object whose stored metadata the delete changes, in the order of their last change; then those that only what is not
    /// known could change.
    pub outcomes: Vec<Outcome>,
    /// Of a sweep: what waits for its dependents or frees them, is taken up for that, and stays as it is all the same.
    pub stays: Vec<Outcome>,
    pub summary: Summary,
    /// For each group of objects whose outcomes depend on the order of events: the ends they may come to together.
    pub ends: Vec<Vec<JointEnd>>,
    /// What happens outside the graph because of what goes, the worst first.
    pub effects: Vec<OutsideEffect>,
    /// What the request asks for and doesn't get.
    pub notes: Vec<Note>,
    /// How many orders of events were tried.
    pub orders: u64,
    /// What others are taken to do.
    pub assumptions: BTreeSet<Assumption>,
    /// Targets that the API server refuses to delete, and why (R1.25, R1.27).
    pub refused: Refused,
    /// What would have to be read to be sure.
    pub needs: Needs,
    /// How many atoms were played.
    pub steps: u64,
}

impl Plan {
    /// The outcome of one object, if it has any.
    pub fn outcome(&self, object: ObjectId) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.object == object)
    }

    /// Whether anything that was touched stays stuck, in any end that was seen.
    pub fn stuck(&self) -> bool {
        let stuck_otherwise = |outcome: &Outcome| outcome.alternatives.iter().any(|other| other.state == Some(State::Stuck));
        let stays_stuck = || self.stays.iter().any(|stays| stays.state == Some(State::Stuck));
        self.summary.stuck > 0 || stays_stuck() || self.outcomes.iter().any(stuck_otherwise)
    }

    /// Whether nothing unknown could change an outcome.
    pub fn certain(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.uncertain.is_none())
    }
}

/// Plays a delete to its end, in one order of events, and says what came of every object.
pub fn plan(stage: &Stage<'_>, request: &Request) -> Plan {
    let (mut world, refused) = begin(stage, request, Lists::default());
    world.settle();
    let mut plan = tell(world, request, refused);
    tell_beyond(stage, &mut plan);
    plan
}

/// The world before anything happens, and the targets that the API server refuses.
pub(super) fn begin<'s, 'a>(stage: &'s Stage<'a>, request: &Request, lists: Lists) -> (World<'s, 'a>, Refused) {
    let mut world = World::started(stage, request.start, lists);
    world.only.clone_from(&request.only);
    world.cuts.extend(request.cuts.iter().cloned());
    let mut refused = Vec::new();
    for target in &request.targets {
        match protected(stage.snapshot, *target) {
            Some(why) => refused.push((*target, why)),
            None => {
                let options =
                    DeleteOptions { propagation: Some(request.propagation), grace: request.grace, ..DeleteOptions::default() };
                world.requests.push_back((*target, options));
            }
        }
    }
    (world, refused)
}

/// Says what came of every object in a world that has settled.
pub(super) fn tell(mut world: World<'_, '_>, request: &Request, refused: Refused) -> Plan {
    Told::new(&mut world, request).tell(request.clone(), refused)
}

/// Turns the end of a course of events into outcomes.
struct Told<'w, 's, 'a> {
    world: &'w mut World<'s, 'a>,
    held: Held,
    uncertain: FxHashSet<ObjectId>,
    /// What a sweep could not finish.
    unfinished: Vec<ObjectId>,
    /// The world without the delete, in which what was already terminating goes on; none where nothing of that was touched.
    anyway: Option<World<'s, 'a>>,
}

impl<'w, 's, 'a> Told<'w, 's, 'a> {
    fn new(world: &'w mut World<'s, 'a>, request: &Request) -> Self {
        let unfinished = if request.start == Start::Sweep { unfinished(world) } else { Vec::new() };
        let held = Held::at_end_of(world, &unfinished);
        let uncertain = uncertain_objects(world, &held);
        let anyway = without_the_delete(world, request);
        Told { world, held, uncertain, unfinished, anyway }
    }

    fn tell(self, request: Request, refused: Refused) -> Plan {
        let changes = changes_by_object(&self.world.log);
        let mut listed: Vec<(usize, Outcome)> = Vec::new();
        for object in self.world.touched() {
            let Some(of_object) = changes.get(&object) else { continue };
            let caused_elsewhere = !request.targets.contains(&object) && self.would_happen_anyway(object);
            if let Some(outcome) = self.outcome(object, of_object).filter(|_| !caused_elsewhere) {
                listed.push((of_object.last().map_or(0, |(position, _)| *position), outcome));
            }
        }
        listed.sort_by_key(|(position, _)| *position);
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(listed.len());
        for (index, (_, outcome)) in listed.into_iter().enumerate() {
            outcomes.push(Outcome { order: Some(index as u32 + 1), ..outcome });
        }
        let mut known: FxHashSet<ObjectId> = outcomes.iter().map(|outcome| outcome.object).collect();
        let mut undecided: Vec<ObjectId> = self.uncertain.iter().copied().filter(|object| !known.contains(object)).collect();
        undecided.sort_unstable();
        outcomes.extend(undecided.into_iter().filter_map(|object| self.undecided(object)));
        known.extend(&self.uncertain);
        let stays = self.unfinished.iter().filter(|object| !known.contains(object)).map(|object| self.held(*object)).collect();
        let summary = summarize(&outcomes);
        let mut assumptions = self.world.assumptions.clone();
        assumptions.extend(self.not_taken_into_account(&outcomes));
        Plan {
            request,
            outcomes,
            stays,
            summary,
            ends: Vec::new(),
            effects: Vec::new(),
            notes: Vec::new(),
            orders: 1,
            assumptions,
            refused,
            needs: self.world.needs.clone(),
            steps: self.world.steps,
        }
    }

    /// What living controllers would do afterwards, which a plan doesn't play (9.1, 9.2).
    fn not_taken_into_account(&self, outcomes: &[Outcome]) -> BTreeSet<Assumption> {
        let snapshot = self.world.stage.snapshot;
        let mut assumptions = BTreeSet::new();
        for outcome in outcomes {
            match outcome.kind {
                OutcomeKind::Deleted | OutcomeKind::Terminating => {
                    let object = snapshot.object(outcome.object);
                    let controller = object.owners.iter().find(|reference| reference.controller == Some(true));
                    let controller = controller.and_then(|reference| snapshot.by_uid(reference.uid));
                    let lives = |id: &ObjectId| self.world.stored(*id).is_some_and(|stored| !stored.terminating);
                    if let Some(controller) = controller.filter(lives) {
                        assumptions.insert(Assumption::NotReplaced { controller: snapshot.short_name(controller) });
                    }
                }
                OutcomeKind::Orphaned => {
                    assumptions.insert(Assumption::NotAdopted);
                }
                _ => {}
            }
        }
        assumptions
    }

    /// Whether an object that was already on its way out comes to the same end without the delete.
    fn would_happen_anyway(&self, object: ObjectId) -> bool {
        self.anyway.as_ref().is_some_and(|anyway| {
            let (here, there) = (self.world.stored(object), anyway.stored(object));
            match (here, there) {
                (None, None) => true,
                (Some(here), Some(there)) => here.same_state(&there),
                _ => false,
            }
        })
    }

    fn outcome(&self, object: ObjectId, changes: &[(usize, Change)]) -> Option<Outcome> {
        let before = Stored::of(self.world.stage.snapshot.object(object));
        let after = self.world.stored(object);
        let kind = kind_of(&before, after.as_ref())?;
        let leaving = |change: &&(usize, Change)| matches!(change.1.effect, Effect::Removed | Effect::Deleting);
        let because = match kind {
            OutcomeKind::Deleted | OutcomeKind::Terminating => changes.iter().find(leaving),
            _ => None,
        };
        let because = because.or(changes.last()).map(|(_, change)| change.cause.clone());
        let terminating = kind == OutcomeKind::Terminating;
        Some(Outcome {
            object,
            kind,
            order: None,
            uncertain: self.uncertainty(object),
            because,
            waits_for: if terminating { self.held.waits_for(object).to_vec() } else { Vec::new() },
            held_by: if terminating { self.held.holders(object).to_vec() } else { Vec::new() },
            state: terminating.then(|| self.held.state(object)),
            after: after.map(|after| After {
                terminating: after.terminating,
                finalizers: after.finalizers.into_owned(),
                owners: after.owners.into_owned(),
            }),
            alternatives: Vec::new(),
            afterwards: Vec::new(),
        })
    }

    fn uncertainty(&self, object: ObjectId) -> Option<Uncertainty> {
        let stopped = self.world.out_of_bounds.then_some(Uncertainty::Bound);
        stopped.or(self.uncertain.contains(&object).then_some(Uncertainty::Gap))
    }

    /// An object that stays as it is, terminating, and what holds it.
    fn held(&self, object: ObjectId) -> Outcome {
        Outcome {
            waits_for: self.held.waits_for(object).to_vec(),
            held_by: self.held.holders(object).to_vec(),
            state: Some(self.held.state(object)),
            ..Outcome::untouched(self.world.stage, object)
        }
    }

    /// An object that didn't change in what was played, but could.
    fn undecided(&self, object: ObjectId) -> Option<Outcome> {
        self.world
            .exists(object)
            .then(|| Outcome { uncertain: Some(Uncertainty::Gap), ..Outcome::untouched(self.world.stage, object) })
    }
}

/// Plays on what was terminating before and was touched, targets aside, as if nothing were deleted.
fn without_the_delete<'s, 'a>(world: &World<'s, 'a>, request: &Request) -> Option<World<'s, 'a>> {
    let was_terminating =
        |object: &ObjectId| world.stage.snapshot.object(*object).terminating() && !request.targets.contains(object);
    // So do those that empty what was terminating before: they don't wait for this delete.
    let above = world.log.iter().filter_map(|change| match change.cause {
        Cause::Namespace(above) | Cause::Definition(above) => Some(above),
        _ => None,
    });
    let going: BTreeSet<ObjectId> = world.touched().into_iter().chain(above).filter(was_terminating).collect();
    if going.is_empty() {
        return None;
    }
    let mut anyway = World::at_rest(world.stage);
    for object in going {
        anyway.actors.notice(object);
    }
    anyway.settle();
    Some(anyway)
}

fn changes_by_object(log: &[Change]) -> FxHashMap<ObjectId, Vec<(usize, Change)>> {
    let mut changes: FxHashMap<ObjectId, Vec<(usize, Change)>> = FxHashMap::default();
    for (position, change) in log.iter().enumerate() {
        changes.entry(change.object).or_default().push((position, change.clone()));
    }
    changes
}

/// The outcome of an object that was written to; none when it looks as before.
fn kind_of(before: &Stored<'_>, after: Option<&Stored<'_>>) -> Option<OutcomeKind> {
    let Some(after) = after else { return Some(OutcomeKind::Deleted) };
    if after.same_state(before) {
        return None;
    }
    let lost_references = after.owners.len() < before.owners.len();
    Some(if after.terminating {
        OutcomeKind::Terminating
    } else if lost_references && after.owners.is_empty() {
        OutcomeKind::Orphaned
    } else if lost_references {
        OutcomeKind::Detached
    } else if after.owners != before.owners {
        OutcomeKind::Unblocked
    } else {
        OutcomeKind::Unchanged
    })
}

pub(super) fn summarize(outcomes: &[Outcome]) -> Summary {
    let count = |kind: OutcomeKind| outcomes.iter().filter(|outcome| outcome.kind == kind).count();
    Summary {
        deleted: count(OutcomeKind::Deleted),
        terminating: count(OutcomeKind::Terminating),
        orphaned: count(OutcomeKind::Orphaned),
        detached: count(OutcomeKind::Detached),
        unblocked: count(OutcomeKind::Unblocked),
        stuck: outcomes.iter().filter(|outcome| outcome.state == Some(State::Stuck)).count(),
        recreated: outcomes.iter().filter(|outcome| outcome.recreated()).count(),
    }
}
