//! The data of a plan: the outcome of each object, and what goes with it.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::{
    model::{Gap, ObjectId, Reference, Symbol},
    simulate::{
        Adoptions, Assumption, BlockedBy, Cause, Controllers, Finished, Needs, Obstacle, Refused, Request, SimContext,
        State, Uncertainty,
    },
};

pub use crate::simulate::OutcomeKind;

use super::{
    note::Note,
    reaction::{Afterwards, ClaimsOfSet, OutsideEffect},
};

/// The state of an object at the end.
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
    /// The position of its last change among all outcomes, from 1; `None` if it doesn't change.
    pub order: Option<u32>,
    /// `None` if certain.
    pub uncertain: Option<Uncertainty>,
    /// Who changed it and why; `None` if it doesn't change.
    pub because: Option<Cause>,
    /// If it stays terminating: the objects that it waits for.
    pub waits_for: Vec<ObjectId>,
    /// If it stays terminating: what else blocks it.
    pub held_by: Vec<BlockedBy>,
    /// If it stays terminating: whether it will ever be removed.
    pub state: Option<State>,
    /// `None` if it is gone.
    pub after: Option<After>,
    /// Other outcomes in other event orders; empty unless [`Uncertainty::has_alternatives`].
    pub alternatives: Vec<Alternative>,
    /// What living controllers do in response. No outcome takes this into account.
    pub afterwards: Vec<Afterwards>,
}

impl Outcome {
    /// Whether nobody can say what becomes of it: nothing changes it in the simulation, and something may.
    pub fn is_open(&self) -> bool {
        self.kind == OutcomeKind::Unchanged && self.order.is_none() && self.uncertain.is_some()
    }

    /// Whether it is a volume that goes with its claim (R9.35): what becomes of its data is told of the claim.
    pub fn goes_with_claim(&self) -> bool {
        matches!(self.because, Some(Cause::ClaimGone(Some(_))))
    }

    /// Whether it rests on an assumption.
    pub fn is_assumed(&self) -> bool {
        self.uncertain.is_some_and(|why| matches!(why.told_as(), Uncertainty::Assumption | Uncertainty::Provisioner))
    }

    /// Whether the object is removed or marked for deletion in any known outcome, or might be because of gaps.
    pub fn may_be_removed(&self) -> bool {
        self.removed_in_some_order() || self.uncertain.is_some_and(Uncertainty::may_remove)
    }

    /// Whether the object is removed in at least one event order.
    pub(super) fn removed_in_some_order(&self) -> bool {
        self.kind.removes() || self.alternatives.iter().any(|other| other.kind.removes())
    }

    /// Whether the object is removed in every event order.
    pub(super) fn removed_in_every_order(&self) -> bool {
        self.kind.removes() && self.alternatives.iter().all(|other| other.kind.removes())
    }

    /// Whether it stays Terminating as it does without this delete, which changes only its owner references.
    pub fn is_spared(&self) -> bool {
        self.kind == OutcomeKind::Terminating && self.state.is_none()
    }

    /// Whether a living controller certainly recreates the object once it is deleted.
    pub fn recreated(&self) -> bool {
        self.kind.removes() && self.afterwards.iter().any(|reaction| reaction.recreates())
    }

    /// The outcome of an object that a plan doesn't touch.
    pub(super) fn untouched(context: &SimContext<'_>, object: ObjectId) -> Self {
        let stored = context.snapshot.object(object);
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
                terminating: stored.terminating(),
                finalizers: stored.finalizers.to_vec(),
                owners: stored.owners.to_vec(),
            }),
            alternatives: Vec::new(),
            afterwards: Vec::new(),
        }
    }
}

/// Another possible outcome of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    pub kind: OutcomeKind,
    pub because: Option<Cause>,
    pub state: Option<State>,
    /// `None` if it is gone.
    pub after: Option<After>,
}

/// One joint outcome of a group of connected objects.
pub type JointEnd = Vec<(ObjectId, Alternative)>;

/// How many objects have which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub deleted: usize,
    pub terminating: usize,
    /// How many of the terminating objects no controller is known to finish.
    pub stuck: usize,
    pub orphaned: usize,
    pub detached: usize,
    pub unblocked: usize,
    /// How many of the removed or terminating objects a living controller recreates.
    pub recreated: usize,
    /// How many only the second end removes.
    #[serde(rename = "deletedLater", skip_serializing_if = "is_zero")]
    pub later: usize,
    /// How many get stuck only on the way to the second end.
    #[serde(skip)]
    pub stuck_later: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What a delete would do.
#[derive(Clone, Debug)]
pub struct Plan {
    pub request: Request,
    /// Every object whose stored metadata the delete changes, in the order of their last change; then those that only
    /// something unknown could change.
    pub outcomes: Vec<Outcome>,
    /// Terminating objects that stay as they are: of a delete, targets and what these wait for; of a sweep, what it
    /// examines but can't finish.
    pub stays: Vec<Outcome>,
    pub summary: Summary,
    /// For each group of objects whose outcomes depend on the event order: their possible joint outcomes.
    pub ends: Vec<Vec<JointEnd>>,
    /// External effects, the worst first.
    pub effects: Vec<OutsideEffect>,
    /// The same of what is deleted only once others have done their part: in the second end, and contents of a
    /// Namespace after its pods.
    pub effects_later: Vec<OutsideEffect>,
    /// The data that is lost once somebody starts the controllers that are scaled to 0 and that the plan waits for:
    /// because of deletes that were requested before.
    pub lost_once_started: Vec<OutsideEffect>,
    /// What becomes of the claims of deleted StatefulSets.
    pub claims: Vec<ClaimsOfSet>,
    /// Parts of the request that have no effect.
    pub notes: Vec<Note>,
    /// How many event orders were simulated.
    pub orders: u64,
    /// The controllers of the finalizers that block objects.
    pub controllers: Controllers,
    /// Who adopts what is freed.
    pub(crate) adoptions: Adoptions,
    /// What the plan assumes other actors do.
    pub assumptions: BTreeSet<Assumption>,
    /// Targets that the API server refuses to delete, and why (R1.25, R1.27).
    pub refused: Refused,
    /// What is broken, or what this delete breaks, and what that prevents.
    pub obstacles: Vec<Obstacle>,
    /// What follows once all others have done their part; `None` if nothing waits for them.
    pub then: Option<Box<Then>>,
    /// Outcomes that are the same without this delete: of objects that were terminating before, and beneath these.
    pub anyway: Vec<Outcome>,
    /// What others have done, if the request lets them.
    pub(super) finished: Vec<Finished>,
    /// What should be read to be certain.
    pub needs: Needs,
    /// How many steps were simulated, in all orders together.
    pub steps: u64,
}

/// What follows once all others have done their part.
#[derive(Clone, Debug, Default)]
pub struct Then {
    /// What they have to do, in the order in which the delete comes to it.
    pub once: Vec<Finished>,
    /// The second end of each object whose second end differs from its first.
    pub outcomes: Vec<Outcome>,
    /// The effects that only the second end has, the worst first.
    pub effects: Vec<OutsideEffect>,
    /// The controllers of all finalizers in `once`.
    pub controllers: Controllers,
}

impl Plan {
    pub fn outcome(&self, object: ObjectId) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.object == object)
    }

    /// What could not be read of the objects that controllers list, and delete in the second end (R9.38).
    pub fn listed_unread(&self) -> impl Iterator<Item = &Gap> {
        self.then.iter().flat_map(|then| &then.once).flat_map(|finished| &finished.unread)
    }

    /// What stays Terminating, in any outcome that was found and in either end.
    pub(super) fn states(&self) -> impl Iterator<Item = (ObjectId, State)> {
        let worst = |outcome: &Outcome| {
            let mut others = outcome.alternatives.iter().filter_map(|other| other.state);
            others.find(|state| *state == State::Stuck).or(outcome.state)
        };
        let first = self.outcomes.iter().chain(&self.stays);
        let first = first.filter_map(move |outcome| Some((outcome.object, worst(outcome)?)));
        first.chain(self.once_later().map(|finished| (finished.object, finished.state)))
    }

    /// Whether anything stays stuck, in any outcome that was found and in either end, or an obstacle prevents anything.
    pub fn stuck(&self) -> bool {
        self.states().any(|(_, state)| state == State::Stuck)
            || self.obstacles.iter().any(|obstacle| !obstacle.prevents.is_empty())
    }

    /// Whether every outcome is certain.
    pub fn certain(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.uncertain.is_none())
    }
}
