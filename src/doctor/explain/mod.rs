//! One object's story: how its references stand, what the collector does with it next, what it waits for, and what
//! would change that. Whatever can be computed is: the engine plays each "if" ([`Condition`]) to its end.

mod conditions;
mod dependents;
mod finalizers;
mod next;
mod references;
mod waits;

use crate::{
    model::ObjectId,
    plan::Uncertainty,
    server::kinds::protected,
    simulate::{Blockers, Cause, Effect, Next, ProjectedOutcome, State},
};

use super::{case::Case, finding::Finding, finding::ReadsNeeded};

pub use conditions::{Condition, ConditionOutcome, Trigger};
pub use dependents::Dependents;
pub use finalizers::{FinalizerStory, Remover};
pub use next::{Attention, NextStory};
pub use references::{Blocks, OwnerState, ReferenceStory};
pub use waits::{RootCause, Waiting};

/// One object's story.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub object: ObjectId,
    /// Its finalizers, in their order, and who removes each.
    pub finalizers: Vec<FinalizerStory>,
    /// Its owner references, in their order.
    pub references: Vec<ReferenceStory>,
    pub dependents: Dependents,
    /// What the collector does with it next.
    pub next: NextStory,
    /// What becomes of it in the end, with nothing more deleted.
    pub end: FinalState,
    /// What would change that.
    pub conditions: Vec<Condition>,
    /// Of an object that is terminating, or going to stay so: what it waits for, from itself downwards, everything
    /// right before what that waits for in turn.
    pub waits: Vec<Waiting>,
    /// Of one that doesn't go: what that comes down to.
    pub causes: Vec<RootCause>,
    /// Who waits for it, nearest first.
    pub waited_for_by: Vec<ObjectId>,
    /// What is wrong with it, or because of it.
    pub findings: Vec<Finding>,
}

/// What becomes of an object in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalState {
    pub outcome: ProjectedOutcome,
    /// Why it is not certain; none where it is.
    pub uncertain: Option<Uncertainty>,
    /// What sets it off; none where nothing happens.
    pub because: Option<Cause>,
    /// Where it is terminating then: whether anybody finishes it.
    pub state: Option<State>,
}

/// The stories of some objects, and what would have to be read to be sure of them.
#[derive(Clone, Debug, Default)]
pub struct Explained {
    pub explanations: Vec<Explanation>,
    pub wanted: ReadsNeeded,
}

impl Explanation {
    /// The objects that it speaks of: what is said of them was true when they were last looked at.
    pub fn spoken_of(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let owners = self.references.iter().filter_map(|story| story.link.found);
        let waits = self.waits.iter().map(|line| line.object);
        let holding = self.dependents.blocking.iter().filter(|_| self.dependents.waits).copied();
        std::iter::once(self.object).chain(owners).chain(waits).chain(holding).chain(self.waited_for_by.iter().copied())
    }
}

/// Tells the story of each of these objects. Of the `findings`, which are those of [`super::diagnose`], each is told of
/// the objects that it has to do with.
pub fn explain(case: &Case<'_>, objects: &[ObjectId], findings: &[Finding]) -> Explained {
    let (now, needs) = Blockers::now(case.stage);
    let mut teller = Explainer { case, now, wanted: ReadsNeeded::default() };
    teller.wanted.needs.add(&case.projection.needs);
    teller.wanted.needs.add(&needs);
    let explanations = objects.iter().map(|object| teller.tell(*object, findings)).collect();
    Explained { explanations, wanted: teller.wanted }
}

/// Tells stories, and notes what they rest on.
struct Explainer<'c, 'a> {
    case: &'c Case<'a>,
    /// Who waits for whom as things stand.
    now: Blockers,
    wanted: ReadsNeeded,
}

impl Explainer<'_, '_> {
    fn tell(&mut self, object: ObjectId, findings: &[Finding]) -> Explanation {
        let references = references::of(self.case, object);
        let next = self.next(object);
        let end = self.end(object, &next.next);
        let (waits, causes) = self.waits(object, &end);
        let conditions = self.conditions(object, &references, &next, &end, &causes);
        let names = |finding: &&Finding| finding.objects.contains(&object) || finding.related.contains(&object);
        Explanation {
            object,
            finalizers: self.finalizers(object),
            dependents: Dependents::of(self.case, object),
            waited_for_by: self.waited_for_by(object),
            findings: findings.iter().filter(names).cloned().collect(),
            references,
            next,
            end,
            conditions,
            waits,
            causes,
        }
    }

    fn end(&self, object: ObjectId, next: &Next) -> FinalState {
        let projection = self.case.projection;
        let outcome = projection.outcome_of(object).clone();
        let terminating = match outcome {
            ProjectedOutcome::Stays => self.case.snapshot().object(object).terminating(),
            ProjectedOutcome::Changes { terminating, .. } => terminating,
            ProjectedOutcome::Goes => false,
        };
        // What sets a deletion off tells more than what ends it.
        let changes = || projection.log.iter().filter(|change| change.object == object);
        let leaving = changes().find(|change| matches!(change.effect, Effect::Removed | Effect::Deleting));
        FinalState {
            uncertain: self.uncertainty(object, next, &outcome),
            because: leaving
                .or(changes().next_back())
                .map(|change| change.cause.clone())
                .filter(|_| outcome != ProjectedOutcome::Stays),
            state: terminating.then(|| projection.state(object)),
            outcome,
        }
    }

    /// An owner may be done with waiting before the collector has looked at what it would do something with because of
    /// that: then it is kept.
    fn uncertainty(&self, object: ObjectId, next: &Next, outcome: &ProjectedOutcome) -> Option<Uncertainty> {
        let refused = protected(self.case.snapshot(), object).is_some();
        let overtaken = next.writes() && *outcome == ProjectedOutcome::Stays && !refused;
        let unread = self.case.projection.uncertain(object);
        unread.then_some(Uncertainty::Gap).or(overtaken.then_some(Uncertainty::Order))
    }
}
