//! What of a plan somebody agrees to: if any of this is different, it is another plan.

use std::collections::BTreeMap;

use crate::{
    foretell::{OutcomeKind, Plan, State, Uncertainty},
    model::Snapshot,
};

/// What becomes of each object, by its uid, in whichever order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Essence(BTreeMap<String, End>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct End {
    kind: OutcomeKind,
    state: Option<State>,
    uncertain: Option<Uncertainty>,
    otherwise: Vec<(OutcomeKind, Option<State>)>,
}

impl Essence {
    /// Of a plan on this snapshot; ids don't matter.
    pub fn of(snapshot: &Snapshot, plan: &Plan) -> Self {
        let end = |outcome: &crate::foretell::Outcome| {
            let uid = snapshot.text(snapshot.object(outcome.object).uid).to_owned();
            let otherwise = outcome.alternatives.iter().map(|other| (other.kind, other.state)).collect();
            (uid, End { kind: outcome.kind, state: outcome.state, uncertain: outcome.uncertain, otherwise })
        };
        Essence(plan.outcomes.iter().map(end).collect())
    }
}
