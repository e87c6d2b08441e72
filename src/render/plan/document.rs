//! `kind: Plan` and `kind: Sweep` (see `docs/schema`).

use serde::Serialize;

use gc_core::{
    document::Head,
    model::{ObjectId, Snapshot, Symbol},
    plan::{After, Alternative, ClaimsOfSet, Incomplete, JointEnd, Outcome, OutcomeKind, OutsideEffect, Summary, Then},
    server::Propagation,
    simulate::{Act, BlockedBy, State, Uncertainty},
};

use super::{
    PlanView,
    because::Because,
    effects::{
        AfterwardsJson, AlsoDeletesJson, DeletedLaterJson, KeptJson, NoteJson, also_deletes, deleted_later, kept,
    },
    forbidden::{GateJson, ObstacleJson},
    next::{StepJson, steps},
    verdict::VerdictJson,
};

/// A plan or a sweep as JSON or YAML.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlanDocument<'a> {
    #[serde(flatten)]
    head: Head,
    verdict: VerdictJson,
    // A sweep has neither policies nor targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    propagation: Option<Propagation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    targets: Option<&'a [ObjectId]>,
    outcomes: Vec<OutcomeJson<'a>>,
    effects: &'a [OutsideEffect],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    claims: &'a [ClaimsOfSet],
    notes: Vec<NoteJson>,
    summary: Summary,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    joint_outcomes: Vec<Vec<Vec<AlternativeJson<'a>>>>,
    simulated_orders: u64,
    assumes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    then: Option<ThenJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_deletes: Vec<AlsoDeletesJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deleted_later: Vec<DeletedLaterJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next: Vec<StepJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_policies: Option<Vec<OtherPolicyJson>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    obstacles: Vec<ObstacleJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gates: Vec<GateJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<Vec<KeptJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    also_kept: Option<&'a [ObjectId]>,
    /// What is Terminating already, and stays so.
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<Vec<RemainingJson<'a>>>,
}

/// What follows once all others have done their part.
#[derive(Debug, Serialize)]
struct ThenJson<'a> {
    once: Vec<Act>,
    outcomes: Vec<OutcomeJson<'a>>,
    effects: &'a [OutsideEffect],
}

/// An object that a sweep begins to handle and cannot finish.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RemainingJson<'a> {
    object: ObjectId,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<State>,
    waits_for: &'a [ObjectId],
    held_by: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OutcomeJson<'a> {
    object: ObjectId,
    /// The uids of its owner references before the delete.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    owners: Vec<Symbol>,
    outcome: OutcomeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<u32>,
    certain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertain_because: Option<Uncertainty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<Because>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<State>,
    waits_for: &'a [ObjectId],
    held_by: Vec<&'a str>,
    after: AfterJson<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alternatives: Vec<AlternativeJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    afterwards: Vec<AfterwardsJson>,
}

/// Another possible outcome of an object, or its outcome in one of several possible joint outcomes, which names it.
#[derive(Debug, Serialize)]
struct AlternativeJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<ObjectId>,
    outcome: OutcomeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<Because>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<State>,
    after: AfterJson<'a>,
}

/// What is left of an object.
#[derive(Debug, Serialize)]
struct AfterJson<'a> {
    deleted: bool,
    #[serde(flatten)]
    left: Option<&'a After>,
}

#[derive(Debug, Serialize)]
struct OtherPolicyJson {
    propagation: Propagation,
    summary: Summary,
}

impl<'a> PlanDocument<'a> {
    pub(super) fn of(view: &PlanView<'a>) -> Self {
        let PlanView { snapshot, plan, .. } = *view;
        let is_sweep = view.is_sweep();
        let instead = view
            .instead
            .iter()
            .map(|(propagation, summary)| OtherPolicyJson { propagation: *propagation, summary: *summary });
        let note = |note| NoteJson::of(note, plan.request.propagation);
        let joint_end = |end: &'a JointEnd| end.iter().map(|(object, end)| joint(*object, end)).collect();
        let joint_ends = |group: &'a Vec<JointEnd>| group.iter().map(joint_end).collect();
        let remaining = plan.stays.iter().map(|stays| RemainingJson {
            object: stays.object,
            state: stays.state,
            waits_for: &stays.waits_for,
            held_by: holders(snapshot, &stays.held_by),
        });
        // What could not be read, and what a dump leaves out of what may follow.
        let gaps = snapshot.gaps_and(Incomplete::of(snapshot, plan).unseen);
        PlanDocument {
            head: Head::of(if is_sweep { "Sweep" } else { "Plan" }, &gaps, snapshot),
            verdict: VerdictJson::of(view),
            propagation: (!is_sweep).then_some(plan.request.propagation),
            targets: (!is_sweep).then_some(&plan.request.targets),
            outcomes: plan.outcomes.iter().map(|outcome| OutcomeJson::of(view, outcome)).collect(),
            effects: &plan.effects,
            claims: &plan.claims,
            notes: plan.notes.iter().map(note).collect(),
            summary: plan.summary,
            joint_outcomes: plan.ends.iter().map(joint_ends).collect(),
            simulated_orders: plan.orders,
            assumes: plan.assumptions.iter().map(ToString::to_string).collect(),
            then: plan.then.as_ref().map(|then| ThenJson::of(view, then)),
            also_deletes: also_deletes(view),
            deleted_later: deleted_later(view),
            next: steps(view),
            other_policies: (!is_sweep).then(|| instead.collect()),
            obstacles: plan.obstacles.iter().map(|obstacle| ObstacleJson::of(view, obstacle)).collect(),
            gates: view.gates.iter().map(|violation| GateJson::of(snapshot, violation)).collect(),
            kept: kept(view),
            also_kept: view.kept.map(|kept| kept.stays.as_slice()),
            remaining: (is_sweep || !plan.stays.is_empty()).then(|| remaining.collect()),
        }
    }
}

fn holders<'a>(snapshot: &'a Snapshot, held_by: &[BlockedBy]) -> Vec<&'a str> {
    held_by.iter().map(|holder| holder.name(snapshot)).collect()
}

impl<'a> OutcomeJson<'a> {
    fn of(view: &PlanView<'a>, outcome: &'a Outcome) -> Self {
        let PlanView { snapshot, .. } = *view;
        let owners = snapshot.object(outcome.object).owners.iter();
        let alternative = |other: &'a Alternative| AlternativeJson {
            object: None,
            outcome: other.kind,
            because: view.because(outcome.object, other.because.as_ref()),
            state: other.state,
            after: AfterJson::of(other.after.as_ref()),
        };
        OutcomeJson {
            object: outcome.object,
            owners: owners.map(|reference| reference.uid).collect(),
            outcome: outcome.kind,
            order: outcome.order,
            certain: outcome.uncertain.is_none(),
            uncertain_because: outcome.uncertain,
            because: view.because(outcome.object, outcome.because.as_ref()),
            state: outcome.state,
            waits_for: &outcome.waits_for,
            held_by: holders(snapshot, &outcome.held_by),
            after: AfterJson::of(outcome.after.as_ref()),
            alternatives: outcome.alternatives.iter().map(alternative).collect(),
            afterwards: outcome.afterwards.iter().map(|after| AfterwardsJson::of(snapshot, *after)).collect(),
        }
    }
}

impl<'a> ThenJson<'a> {
    fn of(view: &PlanView<'a>, then: &'a Then) -> Self {
        let acts = then.once.iter().flat_map(|finished| finished.acts(view.snapshot, &then.controllers));
        ThenJson {
            once: acts.collect(),
            outcomes: then.outcomes.iter().map(|outcome| OutcomeJson::of(view, outcome)).collect(),
            effects: &then.effects,
        }
    }
}

fn joint(object: ObjectId, end: &Alternative) -> AlternativeJson<'_> {
    AlternativeJson {
        object: Some(object),
        outcome: end.kind,
        because: None,
        state: None,
        after: AfterJson::of(end.after.as_ref()),
    }
}

impl<'a> AfterJson<'a> {
    fn of(after: Option<&'a After>) -> Self {
        AfterJson { deleted: after.is_none(), left: after }
    }
}
