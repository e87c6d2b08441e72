//! The part of a plan that a user approves: if any of it differs, it is another plan.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    model::{ObjectId, Snapshot, effects::EffectKind},
    plan::{Consent, Outcome, OutcomeKind, Plan, Uncertainty},
    simulate::State,
};

/// Outcomes and effects by uid, in any order, and what has to be typed to approve them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFingerprint {
    ends: BTreeMap<String, End>,
    then: BTreeMap<String, End>,
    effects: BTreeSet<(String, EffectKind)>,
    cuts: BTreeSet<String>,
    word: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct End {
    kind: OutcomeKind,
    state: Option<State>,
    uncertain: Option<Uncertainty>,
    otherwise: Vec<(OutcomeKind, Option<State>)>,
}

impl PlanFingerprint {
    /// The fingerprint of a plan on this snapshot, with this consent; it doesn't depend on ids.
    pub fn of(snapshot: &Snapshot, plan: &Plan, consent: Consent) -> Self {
        let uid = |object: ObjectId| snapshot.text(snapshot.object(object).uid).to_owned();
        let end = |outcome: &Outcome| {
            let otherwise = outcome.alternatives.iter().map(|other| (other.kind, other.state)).collect();
            (
                uid(outcome.object),
                End { kind: outcome.kind, state: outcome.state, uncertain: outcome.uncertain, otherwise },
            )
        };
        PlanFingerprint {
            ends: plan.outcomes.iter().map(end).collect(),
            then: plan.then.iter().flat_map(|then| &then.outcomes).map(end).collect(),
            effects: plan.all_effects().map(|effect| (uid(effect.object), effect.kind)).collect(),
            cuts: plan.request.cuts.iter().map(|cut| uid(cut.object)).collect(),
            word: match consent {
                Consent::Yes => None,
                Consent::Number(number) => Some(number.to_string()),
                Consent::Name(object) => Some(uid(object)),
            },
        }
    }
}
