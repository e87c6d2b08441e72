//! What would change an object's outcome: each "if" is simulated to its end.

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::{
    model::{ObjectId, Symbol},
    plan::{Outcome, OutcomeKind, Plan, plan},
    server::Propagation,
    simulate::{BlockedBy, Projection, Request, State},
    tree::ReferenceStatus,
};

use super::{
    Blocks, Case, Explainer, FinalState, NextStory, OwnerState, ReferenceStory, Remover, RootCause, finalizers,
};
use crate::{
    doctor::case::{some_of, sorted},
    simulate::{Next, NoAction},
};

/// At most this many owners, and as many causes, are tried.
const TRIED: usize = 8;

/// An event, and the outcome of the object after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    #[serde(rename = "if")]
    pub what: Trigger,
    pub then: ConditionOutcome,
    /// Of one that stays Terminating.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// The clause after "if".
    pub message: String,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Trigger {
    /// These objects are deleted.
    Deleted { deleted: Vec<ObjectId>, propagation: Propagation },
    /// This pod is deleted without a grace period.
    Forced { deleted: [ObjectId; 1], grace_period_seconds: u32 },
    /// These finalizers are removed.
    Released { released: Vec<Released> },
    /// The references with these uids are removed from an object.
    Dropped { dropped: [Dropped; 1] },
}

/// A finalizer that is removed from an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Released {
    pub object: ObjectId,
    pub finalizer: Symbol,
}

/// The owner references with these uids, which are removed from an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    pub object: ObjectId,
    pub uids: Vec<Symbol>,
}

impl Trigger {
    fn deleted(objects: &[ObjectId], propagation: Propagation) -> Self {
        Trigger::Deleted { deleted: objects.to_vec(), propagation }
    }

    fn released(held: &[(ObjectId, Symbol)]) -> Self {
        let released = held.iter().map(|(object, finalizer)| Released { object: *object, finalizer: *finalizer });
        Trigger::Released { released: released.collect() }
    }
}

impl Condition {
    fn new(what: Trigger, then: ConditionOutcome, message: String) -> Self {
        let state = if let ConditionOutcome::Terminating(state) = then { Some(state) } else { None };
        Condition { what, then, state, message }
    }
}

/// The outcome of the explained object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ConditionOutcome {
    #[serde(rename = "Deleted")]
    Goes,
    /// It survives with all its references.
    #[serde(rename = "Kept")]
    Stays,
    /// It survives as long as the API server refuses to delete it.
    Refused,
    /// It survives with this many of its references.
    #[serde(rename = "LosesReferences")]
    Loses(#[serde(skip)] usize),
    /// It stays terminating.
    Terminating(#[serde(skip)] State),
    /// It can't be predicted, because something could not be read.
    Unknown,
}

impl ConditionOutcome {
    /// The outcome of an object that has so many references left, and this state if it stays terminating.
    fn of(kind: OutcomeKind, left: usize, state: Option<State>) -> Self {
        match kind {
            OutcomeKind::Deleted => ConditionOutcome::Goes,
            OutcomeKind::Terminating => ConditionOutcome::Terminating(state.unwrap_or(State::Unknown)),
            OutcomeKind::Orphaned | OutcomeKind::Detached => ConditionOutcome::Loses(left),
            OutcomeKind::Unblocked | OutcomeKind::Unchanged => ConditionOutcome::Stays,
        }
    }

    fn words(self) -> &'static str {
        match self {
            ConditionOutcome::Goes => "this object is deleted",
            ConditionOutcome::Stays => "this object is kept",
            ConditionOutcome::Refused => "this object is to be deleted, too, but the API server refuses that",
            ConditionOutcome::Loses(0) => "this object is kept without an owner",
            ConditionOutcome::Loses(_) => "this object is kept with fewer owners",
            ConditionOutcome::Terminating(State::Stuck) => "this object gets stuck",
            ConditionOutcome::Terminating(_) => "this object stays Terminating until another controller is done",
            ConditionOutcome::Unknown => "what happens to this object depends on something that could not be read",
        }
    }
}

impl Explainer<'_, '_> {
    pub(super) fn conditions(
        &mut self,
        object: ObjectId,
        references: &[ReferenceStory],
        next: &NextStory,
        end: &FinalState,
        causes: &[RootCause],
    ) -> Vec<Condition> {
        match end.outcome {
            Some(OutcomeKind::Deleted) if self.case.snapshot().object(object).terminating() => {
                return self.if_orphaned_again(object).into_iter().collect();
            }
            _ if end.state.is_some() => return self.if_released(object, causes),
            _ => {}
        }
        let mut conditions = Vec::new();
        match &next.next {
            Next::Nothing(NoAction::OwnersSolid) if end.outcome != Some(OutcomeKind::Deleted) => {
                let owners = self.solid_owners(object, references);
                conditions.extend(self.if_owners_go(object, &owners));
                conditions.extend(self.if_orphaned(object, &owners, &conditions));
            }
            // A survivor without owners depends on no owner.
            Next::DropReferences(_) if end.outcome != Some(OutcomeKind::Deleted) && end.references != Some(0) => {
                let owners = self.solid_owners(object, references);
                conditions.extend(self.if_owners_go(object, &owners));
            }
            _ => {}
        }
        // If the collector doesn't examine the object, or it is unknown what exists, references make no difference.
        if !matches!(next.next, Next::Nothing(NoAction::NotWatched | NoAction::SharedUid(_) | NoAction::Unread(_))) {
            conditions.extend(self.if_dropped(object, references));
        }
        conditions.extend(self.if_waited_for(object, references));
        conditions
    }

    /// The owners that keep an object and that aren't being deleted anyway.
    fn solid_owners(&self, object: ObjectId, references: &[ReferenceStory]) -> Vec<ObjectId> {
        let solid = references.iter().filter(|reference| reference.standing == ReferenceStatus::Solid);
        let owners = solid.filter_map(ReferenceStory::leads_to);
        sorted(owners.filter(|owner| *owner != object && !self.case.projection.goes(*owner)))
    }

    /// The outcomes of an object if its owners are deleted: one by one and, if no single deletion deletes it, all
    /// together.
    fn if_owners_go(&mut self, object: ObjectId, owners: &[ObjectId]) -> Vec<Condition> {
        let alone = owners.iter().take(TRIED).filter_map(|owner| self.if_gone(object, &[*owner], owners));
        let mut conditions: Vec<Condition> = alone.collect();
        if owners.len() > 1 && conditions.iter().all(|condition| condition.then != ConditionOutcome::Goes) {
            conditions.extend(self.if_gone(object, owners, owners));
        }
        conditions
    }

    /// The outcome of an object if its owner is deleted with `Orphan`, which leaves the dependents.
    fn if_orphaned(&mut self, object: ObjectId, owners: &[ObjectId], with_them: &[Condition]) -> Option<Condition> {
        let [owner] = owners else { return None };
        if with_them.iter().all(|condition| condition.then != ConditionOutcome::Goes) {
            return None;
        }
        let (then, _) = self.then_after(object, &Request::delete(vec![*owner], Propagation::Orphan))?;
        let message =
            format!("{} is deleted with --cascade=orphan, {}", self.case.name(*owner, Some(object)), then.words());
        Some(Condition::new(Trigger::deleted(&[*owner], Propagation::Orphan), then, message))
    }

    /// The outcome of an object once these owners are gone.
    fn if_gone(&mut self, object: ObjectId, gone: &[ObjectId], owners: &[ObjectId]) -> Option<Condition> {
        let case = self.case;
        // A second delete of a terminating object changes nothing: its finalizers must be removed.
        if gone.iter().any(|id| case.snapshot().object(*id).terminating()) {
            return self.if_let_go(object, gone, owners);
        }
        let plan = self.planned(&Request::delete(gone.to_vec(), Propagation::Background))?;
        let then = then_of_plan(&plan, object);
        let what = Trigger::deleted(gone, Propagation::Background);
        let deleted = plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
        let deleted: FxHashSet<ObjectId> = deleted.map(|outcome| outcome.object).collect();
        let staying: Vec<ObjectId> = gone.iter().copied().filter(|id| !deleted.contains(id)).collect();
        let names = case.names(gone, Some(object));
        let are = is_or_are(gone);
        let message = if staying.is_empty() {
            format!("{names} {are} deleted, {}", too(case, object, then, gone, owners))
        } else {
            format!(
                "{names} {are} deleted, {} as long as {} is Terminating",
                then.words(),
                case.names(&staying, Some(object))
            )
        };
        Some(Condition::new(what, then, message))
    }

    /// Like [`Self::if_gone`], for owners of which some are terminating: their finalizers are removed.
    fn if_let_go(&mut self, object: ObjectId, gone: &[ObjectId], owners: &[ObjectId]) -> Option<Condition> {
        let held: Vec<(ObjectId, Symbol)> = gone.iter().flat_map(|id| foreign_finalizers(self.case, *id)).collect();
        let projection = Projection::released(self.case.stage, &held);
        if gone.iter().any(|id| !projection.goes(*id)) {
            return None;
        }
        let then = self.then_in(object, &projection);
        let (names, are) = (self.case.names(gone, Some(object)), is_or_are(gone));
        let message = format!("{names} {are} finally deleted, {}", too(self.case, object, then, gone, owners));
        Some(Condition::new(Trigger::released(&held), then, message))
    }

    /// The outcome without the invalid references, of an object that the collector would delete, change or never
    /// examine.
    fn if_dropped(&mut self, object: ObjectId, references: &[ReferenceStory]) -> Option<Condition> {
        let faults: Vec<&ReferenceStory> = references.iter().filter(|reference| !reference.standing.valid()).collect();
        let mut uids: Vec<Symbol> = faults.iter().map(|reference| reference.reference.uid).collect();
        uids.dedup();
        if uids.is_empty() {
            return None;
        }
        let projection = Projection::without_references(self.case.stage, &[(object, uids.clone())]);
        let then = self.then_in(object, &projection);
        let before = self.then_of(object, self.case.projection);
        // Losing only these references is no other outcome.
        let left = references.len() - faults.len();
        if then == before
            || matches!((then, before), (ConditionOutcome::Loses(count),
                ConditionOutcome::Stays) if count == left && left > 0)
        {
            return None;
        }
        let names: Vec<String> = faults.iter().map(|reference| self.case.reference(&reference.reference)).collect();
        let them = if names.len() == 1 { "the reference to" } else { "the references to" };
        let message = format!(
            "{them} {} {} removed, {}",
            some_of(&names),
            if names.len() == 1 { "is" } else { "are" },
            then.words()
        );
        Some(Condition::new(Trigger::Dropped { dropped: [Dropped { object, uids }] }, then, message))
    }

    /// Owners that would get stuck waiting for this object if they were deleted in the foreground.
    fn if_waited_for(&mut self, object: ObjectId, references: &[ReferenceStory]) -> Vec<Condition> {
        let would_wait = references
            .iter()
            .filter(|reference| reference.blocks == Blocks::Would && reference.owner == Some(OwnerState::Live));
        let owners = sorted(would_wait.filter_map(|reference| self.case.snapshot().by_uid(reference.reference.uid)));
        let mut conditions = Vec::new();
        for owner in owners.into_iter().take(TRIED) {
            let request = Request::delete(vec![owner], Propagation::Foreground);
            let Some(plan) = self.planned(&request) else { continue };
            let waits = |outcome: &Outcome| outcome.state == Some(State::Stuck) && outcome.waits_for.contains(&object);
            if !plan.outcome(owner).is_some_and(waits) {
                continue;
            }
            let then = then_of_plan(&plan, object);
            let message = format!(
                "{} is deleted in the foreground, it waits for this object forever",
                self.case.name(owner, Some(object))
            );
            conditions.push(Condition::new(Trigger::deleted(&[owner], Propagation::Foreground), then, message));
        }
        conditions
    }

    /// The outcome of a terminating object once its root causes are resolved: one by one and, if no single one is
    /// enough, all together.
    fn if_released(&mut self, object: ObjectId, causes: &[RootCause]) -> Vec<Condition> {
        let mut conditions: Vec<Condition> = Vec::new();
        for cause in causes.iter().take(TRIED) {
            conditions.extend(self.without_cause(object, cause));
        }
        if causes.len() > 1
            && causes.len() <= TRIED
            && conditions.iter().all(|condition| condition.then != ConditionOutcome::Goes)
        {
            // Of what isn't deleted, no finalizer keeps anything yet.
            let is_leaving = |id: &&ObjectId| {
                let ends_terminating = self.case.projection.outcome_of(**id) == Some(OutcomeKind::Terminating);
                self.case.snapshot().object(**id).terminating() || ends_terminating
            };
            let held: Vec<(ObjectId, Symbol)> = causes
                .iter()
                .flat_map(|cause| cause.objects.iter())
                .filter(|id| is_leaving(id))
                .flat_map(|id| foreign_finalizers(self.case, *id))
                .collect();
            if !held.is_empty() {
                let released = Projection::released(self.case.stage, &held);
                let then = self.then_in(object, &released);
                let is_said = released.waits_for(object).is_empty()
                    && released.holders(object).contains(&BlockedBy::Said)
                    && then == ConditionOutcome::Terminating(State::Stuck);
                let words = match is_said {
                    true => "only what the API server says still keeps this object",
                    false => self.words_of(object, then),
                };
                let message = format!("all these finalizers are removed, {words}");
                conditions.push(Condition::new(Trigger::released(&held), then, message));
            }
        }
        if conditions.iter().all(|condition| condition.what != Trigger::deleted(&[object], Propagation::Background)) {
            conditions.extend(self.if_deleted_again(object, object));
        }
        conditions.extend(self.if_orphaned_again(object));
        conditions
    }

    fn without_cause(&mut self, object: ObjectId, cause: &RootCause) -> Option<Condition> {
        let case = self.case;
        let first = *cause.objects.first()?;
        if cause.held_by.is_empty() && case.snapshot().object(first).terminating() {
            // In a cycle, a background delete of one foreground-deleted member may end the waiting.
            return cause.objects.iter().take(TRIED).find_map(|member| self.if_deleted_again(object, *member));
        }
        let held = foreign_finalizers(case, first);
        let ends_terminating = case.projection.outcome_of(first) == Some(OutcomeKind::Terminating);
        if cause.held_by.iter().any(|holder| holder.refuses()) {
            return None;
        }
        if (case.snapshot().object(first).terminating() || ends_terminating) && !held.is_empty() {
            let then = self.then_in(object, &Projection::released(case.stage, &held));
            let texts: Vec<&str> = held.iter().map(|(_, finalizer)| case.snapshot().text(*finalizer)).collect();
            let (noun, verb) = if texts.len() == 1 { ("finalizer", "is") } else { ("finalizers", "are") };
            let message = match first == object {
                true => format!("its {noun} {} {verb} removed, {}", some_of(&texts), self.words_of(object, then)),
                false => format!(
                    "the {noun} {} of {} {verb} removed, {}",
                    some_of(&texts),
                    case.name(first, Some(object)),
                    self.words_of(object, then)
                ),
            };
            return Some(Condition::new(Trigger::released(&held), then, message));
        }
        if case.stage.rules(first).graceful && case.snapshot().object(first).terminating() {
            let request = Request { grace: Some(0), ..Request::delete(vec![first], Propagation::Background) };
            let (then, _) = self.then_after(object, &request)?;
            let it = if first == object { "it".to_owned() } else { case.name(first, Some(object)) };
            let what = Trigger::Forced { deleted: [first], grace_period_seconds: 0 };
            return Some(Condition::new(
                what,
                then,
                format!("{it} is deleted with --force, {}", self.words_of(object, then)),
            ));
        }
        if !case.snapshot().object(first).terminating() {
            return self.if_cured(object, first);
        }
        self.if_deleted_again(object, first)
    }

    /// The outcome of a live dependent that is never deleted because of its references, without those references.
    fn if_cured(&mut self, object: ObjectId, holder: ObjectId) -> Option<Condition> {
        let case = self.case;
        let stories = super::references::of(case, holder);
        let at_fault = |story: &&ReferenceStory| {
            matches!(story.standing, ReferenceStatus::NotServed | ReferenceStatus::InvalidScope)
        };
        let faults: Vec<&ReferenceStory> = stories.iter().filter(at_fault).collect();
        let uids: Vec<Symbol> = faults.iter().map(|story| story.reference.uid).collect();
        if uids.is_empty() {
            return None;
        }
        let then = self.then_in(object, &Projection::without_references(case.stage, &[(holder, uids.clone())]));
        let names: Vec<String> = faults.iter().map(|story| case.reference(&story.reference)).collect();
        let message = format!(
            "{} loses its reference to {}, {}",
            case.name(holder, Some(object)),
            some_of(&names),
            self.words_of(object, then)
        );
        Some(Condition::new(Trigger::Dropped { dropped: [Dropped { object: holder, uids }] }, then, message))
    }

    /// R1.21: a second DELETE, in the background, removes the foreground finalizer, and the owner stops waiting.
    fn if_deleted_again(&mut self, object: ObjectId, again: ObjectId) -> Option<Condition> {
        let case = self.case;
        if !case.snapshot().object(again).finalizers.contains(&Symbol::FOREGROUND) {
            return None;
        }
        let (then, _) = self.then_after(object, &Request::delete(vec![again], Propagation::Background))?;
        if then != ConditionOutcome::Goes {
            return None;
        }
        let it = if again == object { "it".to_owned() } else { case.name(again, Some(object)) };
        let then_it = if again == object { "it goes" } else { self.words_of(object, then) };
        let message = format!("{it} is deleted again with --cascade=background, {then_it}");
        Some(Condition::new(Trigger::deleted(&[again], Propagation::Background), then, message))
    }

    /// R1.21: a second DELETE that orphans saves the dependents of an owner that waits for them.
    fn if_orphaned_again(&mut self, object: ObjectId) -> Option<Condition> {
        let case = self.case;
        let lives = |id: &ObjectId| !case.snapshot().object(*id).terminating();
        if !case.snapshot().object(object).finalizers.contains(&Symbol::FOREGROUND)
            || !case.graph().dependents(object.into()).iter().any(lives)
        {
            return None;
        }
        let (then, _) = self
            .then_after(object, &Request::delete(vec![object], Propagation::Orphan))
            .filter(|(_, is_changed)| *is_changed)?;
        let goes = match then {
            ConditionOutcome::Goes => "it goes, and ",
            ConditionOutcome::Terminating(_) => "",
            _ => return None,
        };
        let message = format!(
            "it is deleted again with --cascade=orphan, {goes}dependents that are not Terminating yet are kept"
        );
        let what = Trigger::deleted(&[object], Propagation::Orphan);
        Some(Condition::new(what, then, message))
    }

    /// The outcome of an object after a delete, and whether that changes it; `None` if the API server refuses that.
    fn then_after(&mut self, object: ObjectId, request: &Request) -> Option<(ConditionOutcome, bool)> {
        let plan = self.planned(request)?;
        let before = self.case.snapshot().object(object).terminating();
        Some(match plan.outcome(object) {
            None if before => (ConditionOutcome::Terminating(self.case.projection.state(object)), false),
            changed => (then_of_plan(&plan, object), changed.is_some()),
        })
    }

    /// What a delete would do; `None` if the API server refuses it.
    fn planned(&mut self, request: &Request) -> Option<Plan> {
        let plan = plan(self.case.stage, request);
        plan.refused.is_empty().then_some(plan)
    }

    /// An outcome in words: what is Terminating already doesn't get stuck, it stays so. What the API server has said of
    /// a Namespace, it says until its controller has looked again.
    fn words_of(&self, object: ObjectId, then: ConditionOutcome) -> &'static str {
        let snapshot = self.case.snapshot();
        match then {
            ConditionOutcome::Terminating(state)
                if snapshot.is_namespace(object)
                    && (state != State::Stuck || !snapshot.facts.said_to_keep(object).is_empty()) =>
            {
                "this object stays Terminating until the namespace controller finds nothing left in it"
            }
            ConditionOutcome::Terminating(State::Stuck) if snapshot.object(object).terminating() => {
                "this object stays stuck"
            }
            _ => then.words(),
        }
    }

    /// The outcome of an object in another projection.
    fn then_in(&mut self, object: ObjectId, projection: &Projection) -> ConditionOutcome {
        if projection.uncertain(object) {
            return ConditionOutcome::Unknown;
        }
        if projection.refuses_delete(object) && projection.outcome_of(object).is_none() {
            return ConditionOutcome::Refused;
        }
        self.then_of(object, projection)
    }

    /// The same as it is predicted, also if something could not be read.
    fn then_of(&self, object: ObjectId, projection: &Projection) -> ConditionOutcome {
        let stays = || match self.case.snapshot().object(object).terminating() {
            true => OutcomeKind::Terminating,
            false => OutcomeKind::Unchanged,
        };
        let kind = projection.outcome_of(object).unwrap_or_else(stays);
        ConditionOutcome::of(kind, projection.references_left(object), Some(projection.state(object)))
    }
}

fn then_of_plan(plan: &Plan, object: ObjectId) -> ConditionOutcome {
    let is_prevented = || plan.obstacles.iter().any(|obstacle| obstacle.prevents.contains(&object));
    let Some(outcome) = plan.outcome(object) else {
        let goes_later = is_prevented() && plan.later().any(|outcome| outcome.object == object);
        return if goes_later { ConditionOutcome::Refused } else { ConditionOutcome::Stays };
    };
    if outcome.uncertain.is_some() {
        return ConditionOutcome::Unknown;
    }
    let left = outcome.after.as_ref().map_or(0, |after| after.owners.len());
    ConditionOutcome::of(outcome.kind, left, outcome.state)
}

/// The outcome of an object without these owners, and which others keep it.
fn too(case: &Case<'_>, object: ObjectId, then: ConditionOutcome, gone: &[ObjectId], owners: &[ObjectId]) -> String {
    let others: Vec<ObjectId> = owners.iter().copied().filter(|owner| !gone.contains(owner)).collect();
    let keep = if others.len() == 1 { "keeps" } else { "keep" };
    match then {
        ConditionOutcome::Goes => "this object is deleted, too".to_owned(),
        ConditionOutcome::Stays | ConditionOutcome::Loses(1..) if !others.is_empty() => {
            format!("{}: {} still {keep} it", then.words(), case.names(&others, Some(object)))
        }
        _ => then.words().to_owned(),
    }
}

/// The finalizers of an object that neither the collector nor the API server removes.
fn foreign_finalizers(case: &Case<'_>, object: ObjectId) -> Vec<(ObjectId, Symbol)> {
    let finalizers = case.snapshot().object(object).finalizers.iter().copied();
    let foreign = |finalizer: &Symbol| {
        !matches!(finalizers::remover(case, object, *finalizer), Remover::Collector | Remover::CleanUp)
    };
    finalizers.filter(foreign).map(|finalizer| (object, finalizer)).collect()
}

/// `is`, `are both` or `are all`, depending on the count.
fn is_or_are(objects: &[ObjectId]) -> &'static str {
    match objects.len() {
        1 => "is",
        2 => "are both",
        _ => "are all",
    }
}
