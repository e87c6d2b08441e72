//! The outcome of an object, and what follows for one that stays.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;
use serde::{Serialize, Serializer};

use crate::{
    doctor::{case::sorted, losses::Losses},
    groups::Groups,
    model::ObjectId,
    plan::{Because, OutcomeKind, because},
    server::{Propagation, kinds::protected},
    simulate::{
        Act, BlockedBy, Blockers, Cause, Change, Controllers, Effect, Finished, Next, Projection, State, Uncertainty,
    },
};

use super::{Case, NextStory};

/// Writes explanations, and records what must still be read.
pub(super) struct Explainer<'c, 'a> {
    pub(super) case: &'c Case<'a>,
    /// Who waits for whom now.
    pub(super) now: Blockers,
    /// What follows once all others have done their part; `None` if nothing waits for them.
    pub(super) later: Option<&'a Projection>,
    /// What follows as long as nobody mends what is in the way.
    pub(super) unmended: OnceCell<Projection>,
    /// What deletes each object then.
    pub(super) later_causes: Groups<ObjectId, Cause>,
}

/// The outcome of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalState {
    /// `None` if it stays as it is.
    #[serde(serialize_with = "name_of_outcome")]
    pub outcome: Option<OutcomeKind>,
    pub certain: bool,
    /// Why it isn't; what could not be read may have to be freed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertain_because: Option<Uncertainty>,
    /// Why the outcome is uncertain, whatever has to be freed first; `None` if it is certain.
    #[serde(skip)]
    pub uncertain: Option<Uncertainty>,
    /// If it remains terminating: whether anyone will finish that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// How many owner references remain, if anything changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<usize>,
    /// What triggers it; `None` if nothing happens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<Because>,
    /// The cause of that.
    #[serde(skip)]
    pub cause: Option<Cause>,
    /// Why it isn't deleted or changed, if the API server refuses that: a clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether that keeps something from deleting it, which tries again and again.
    #[serde(skip)]
    pub undeleted: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub data_lost: bool,
    /// Which data is lost with it: a sentence, with a space before it; empty if none is known to be.
    #[serde(skip)]
    pub lost: String,
    /// What controllers delete elsewhere with it: sentences, with a space before each.
    #[serde(skip)]
    pub outside: String,
}

/// What follows for an object that is deleted once others have done their part (R9.37).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Later {
    /// Terminating, if something keeps it then; else it is gone.
    pub outcome: OutcomeKind,
    /// Whether nothing that could not be read decides it.
    pub certain: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub data_lost: bool,
    /// What each of the others has to do first.
    #[serde(rename = "once")]
    pub acts: Vec<Act>,
    /// The same by object, in this order. It is not empty.
    #[serde(skip)]
    pub once: Vec<Finished>,
    /// Who they are.
    #[serde(skip)]
    pub controllers: Controllers,
    /// Whether they are known to do it: of all, the worst.
    #[serde(skip)]
    pub state: State,
    /// What keeps it Terminating then.
    #[serde(skip)]
    pub held_by: Vec<BlockedBy>,
    /// Which objects keep it Terminating then.
    #[serde(skip)]
    pub waits_for: Vec<ObjectId>,
    /// Its data that is lost then: a sentence; empty if none is.
    #[serde(skip)]
    pub lost: String,
}

impl Later {
    /// Whether something keeps the object Terminating then.
    pub fn stays(&self) -> bool {
        self.outcome == OutcomeKind::Terminating
    }
}

fn name_of_outcome<S: Serializer>(outcome: &Option<OutcomeKind>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match outcome {
        Some(OutcomeKind::Deleted) => "Deleted",
        Some(_) => "Changes",
        None => "Kept",
    })
}

pub(super) fn deletes(change: &Change) -> bool {
    matches!(change.effect, Effect::Removed | Effect::Deleting)
}

impl Explainer<'_, '_> {
    pub(super) fn end(&mut self, object: ObjectId, next: &NextStory) -> FinalState {
        let projection = self.case.projection;
        let outcome = projection.outcome_of(object);
        let was_terminating = self.case.snapshot().object(object).terminating();
        let terminating = outcome.map_or(was_terminating, |outcome| outcome == OutcomeKind::Terminating);
        // The cause of a deletion says more than what ends it.
        let writes = || projection.log.iter().filter(|change| change.object == object);
        let change = writes().find(|change| deletes(change)).or(writes().next_back());
        let cause = change.map(|change| change.cause.clone()).filter(|_| outcome.is_some());
        let why = |cause| because(self.case.snapshot(), object, cause, Propagation::Background);
        let because = cause.as_ref().map(why);
        let uncertain = self.uncertainty(object, &next.next, outcome);
        let unread = (projection.goes(object) && next.may_wait).then_some(Uncertainty::Gap);
        let uncertain_because = uncertain.or(unread);
        let changes = outcome.is_some_and(|outcome| outcome != OutcomeKind::Deleted);
        let references = changes.then(|| projection.references_left(object));
        let leaves = projection.leaves(object) || was_terminating;
        let said = self.case.stage.said_to_refuse(object).filter(|_| outcome.is_none());
        let losses = if leaves { self.losses(object) } else { Losses::default() };
        // What the collector is about to delete loses its data; only when that is may be unknown.
        let surely = uncertain.is_none() || outcome.is_some_and(OutcomeKind::removes) && next.deletes();
        let lost = losses.told(self.case, surely);
        FinalState {
            certain: uncertain_because.is_none(),
            uncertain_because,
            uncertain,
            references,
            because,
            cause,
            state: terminating.then(|| self.case.projection.state(object)),
            refused: projection
                .why_refused(self.case.snapshot(), object)
                .or_else(|| Some(format!("its namespace says {}", said?.in_words()))),
            undeleted: projection.refuses_delete(object) || said.is_some(),
            outcome,
            data_lost: !lost.is_empty(),
            lost,
            outside: losses.told_outside(self.case, &[object]),
        }
    }

    /// What is lost once an object goes, with what goes along.
    fn losses(&self, object: ObjectId) -> Losses {
        let released = if self.case.snapshot().object(object).terminating() {
            self.case.released_with(&[object])
        } else {
            let below = [self.case.goes_below(&[object]), self.case.goes_below_later(&[object])];
            sorted(std::iter::once(object).chain(below.concat()))
        };
        Losses::of(self.case, released)
    }

    /// What follows for an object that stays.
    pub(super) fn later(&mut self, object: ObjectId, end: &FinalState) -> Option<Later> {
        let later = self.later?;
        let stays = end.outcome.is_none() && end.uncertain.is_none() && end.state.is_none();
        if !stays || !later.leaves(object) {
            return None;
        }
        let certain = !later.uncertain(object);
        let finished = &later.others.finished;
        let own = finished.iter().find(|finished| finished.object == object);
        let behind = self.behind(object);
        let others = || finished.iter().filter(|finished| finished.object != object);
        let mut once: Vec<Finished> = others().filter(|finished| behind.contains(&finished.object)).cloned().collect();
        once.extend(behind.iter().chain([&object]).filter_map(|id| self.prevented(*id)));
        once.sort_by_key(|finished| finished.object);
        if once.is_empty() {
            once.extend(others().cloned());
        }
        let state = once.iter().map(|finished| finished.state).max()?;
        let controllers = later.others.controllers.clone();
        let waits_for = later.waits_for(object).to_vec();
        let holders = if waits_for.is_empty() { later.holders(object) } else { &[] };
        let held_by = own.map_or(holders, |own| &own.blockers).to_vec();
        let stays = !held_by.is_empty() || !waits_for.is_empty();
        let lost = Losses::of(self.case, [object]).told(self.case, certain && !stays);
        let acts = once.iter().flat_map(|finished| finished.acts(self.case.snapshot(), &controllers)).collect();
        let (outcome, data_lost) =
            (if stays { OutcomeKind::Terminating } else { OutcomeKind::Deleted }, !lost.is_empty());
        Some(Later { outcome, certain, data_lost, acts, once, controllers, state, held_by, waits_for, lost })
    }

    /// What is in the way of an object's deletion, as something that others have to mend.
    fn prevented(&self, object: ObjectId) -> Option<Finished> {
        let stage = self.case.stage;
        let refused = |unmended: &Projection| unmended.refused(object);
        let later = || refused(self.unmended.get_or_init(|| Projection::once_others_finish(stage, false)));
        let blockers = vec![refused(self.case.projection).or_else(later)?];
        Some(Finished { object, blockers, state: State::Stuck, unread: Vec::new() })
    }

    /// The objects whose deletion leads to that of this one, and what those wait for.
    fn behind(&self, object: ObjectId) -> FxHashSet<ObjectId> {
        let snapshot = self.case.snapshot();
        let mut behind: FxHashSet<ObjectId> = FxHashSet::default();
        let mut open = vec![object];
        while let Some(id) = open.pop() {
            let mut found: Vec<ObjectId> = Vec::new();
            if snapshot.object(id).terminating() {
                // Its own owners don't matter any more.
                found.extend(self.case.projection.waits_for(id));
            } else {
                let causes = self.later_causes.of(&id).iter();
                for cause in causes {
                    match cause {
                        Cause::Collector(_) => {
                            let owners = snapshot.object(id).owners.iter();
                            found.extend(owners.filter_map(|owner| snapshot.by_uid(owner.uid)));
                        }
                        _ => found.extend(cause.above()),
                    }
                }
            }
            open.extend(found.into_iter().filter(|found| behind.insert(*found)));
        }
        behind
    }

    /// The first object that the collector must change next for this one, or this, where the API server refuses that.
    pub(super) fn refused(&self, object: ObjectId, next: &Next) -> Option<ObjectId> {
        let freed: &[ObjectId] = if let Next::FreeDependents(dependents) = next { dependents } else { &[] };
        let mut written = std::iter::once(object).chain(freed.iter().copied());
        written.find(|id| self.case.projection.refused(*id).is_some())
    }

    /// An owner may stop waiting before the collector examines a dependent that it would delete for that owner: then
    /// the dependent is kept.
    fn uncertainty(&self, object: ObjectId, next: &Next, outcome: Option<OutcomeKind>) -> Option<Uncertainty> {
        let refused = protected(self.case.snapshot(), object).is_some() || self.refused(object, next).is_some();
        let overtaken = next.writes() && outcome.is_none() && !refused;
        let unread = self.case.projection.uncertain(object);
        unread.then_some(Uncertainty::Gap).or(overtaken.then_some(Uncertainty::Order))
    }
}
