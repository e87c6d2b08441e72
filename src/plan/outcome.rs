//! What a plan says: the outcome of each object, and what goes with it.

use std::collections::BTreeSet;

use crate::{
    model::{ObjectId, Reference, Symbol},
    simulate::{Assumption, BlockedBy, Cause, Needs, Refused, Request, SimContext, State},
};

use super::{
    note::Note,
    reaction::{Afterwards, OutsideEffect},
};

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

    /// Whether the object is gone or on its way out. A deletionTimestamp can't be taken back.
    pub fn removes(self) -> bool {
        matches!(self, OutcomeKind::Deleted | OutcomeKind::Terminating)
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
    pub held_by: Vec<BlockedBy>,
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
    /// Whether the object goes in any end, or is set terminating in one, which can't be taken back; or might, as far as
    /// is known.
    pub fn may_be_removed(&self) -> bool {
        let unknown = matches!(self.uncertain, Some(Uncertainty::Gap | Uncertainty::Bound));
        self.kind.removes() || self.alternatives.iter().any(|other| other.kind.removes()) || unknown
    }

    /// Whether a living controller certainly recreates the object once it is deleted.
    pub fn recreated(&self) -> bool {
        self.kind.removes() && self.afterwards.iter().any(|reaction| reaction.recreates())
    }

    /// The outcome of an object that a plan doesn't touch.
    pub(super) fn untouched(stage: &SimContext<'_>, object: ObjectId) -> Self {
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
    /// Every object whose stored metadata the delete changes, in the order of their last change; then those that only
    /// what is not known could change.
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
        let stuck_otherwise =
            |outcome: &Outcome| outcome.alternatives.iter().any(|other| other.state == Some(State::Stuck));
        let stays_stuck = || self.stays.iter().any(|stays| stays.state == Some(State::Stuck));
        self.summary.stuck > 0 || stays_stuck() || self.outcomes.iter().any(stuck_otherwise)
    }

    /// Whether nothing unknown could change an outcome.
    pub fn certain(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.uncertain.is_none())
    }
}
