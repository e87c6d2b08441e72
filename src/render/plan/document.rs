//! `kind: Plan` and `kind: Sweep` (see `docs/schema`).

use serde::Serialize;

use crate::{
    document::{Head, ObjectJson, ReferenceJson},
    model::{ObjectId, Snapshot},
    plan::{After, Afterwards, Alternative, Incomplete, JointEnd, Note, Outcome, OutsideEffect, Summary, Then},
    server::Propagation,
    simulate::{BlockedBy, Cause, Controllers, FinalizerController, Finished, foreign_spec_finalizers},
};

use super::{
    PlanView,
    because::{Because, because},
    gates::GateJson,
    keep::{self, KeptJson},
    obstacles::ObstacleJson,
    sections::{StepJson, steps},
    set_claims::ClaimsJson,
    side_effects::describe,
    unlisted_contents::{AlsoDeletesJson, DeletedLaterJson, also_deletes, deleted_later},
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
    propagation: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    targets: Option<Vec<ObjectJson<'a>>>,
    outcomes: Vec<OutcomeJson<'a>>,
    effects: Vec<EffectJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    claims: Vec<ClaimsJson<'a>>,
    notes: Vec<NoteJson<'a>>,
    summary: Summary,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    joint_outcomes: Vec<Vec<Vec<EndJson<'a>>>>,
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
    also_kept: Option<Vec<ObjectJson<'a>>>,
    /// What is Terminating already, and stays so.
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<Vec<RemainingJson<'a>>>,
}

/// What follows once all others have done their part.
#[derive(Debug, Serialize)]
struct ThenJson<'a> {
    once: Vec<OnceJson<'a>>,
    outcomes: Vec<OutcomeJson<'a>>,
    effects: Vec<EffectJson<'a>>,
}

/// What somebody has to do for an object.
#[derive(Debug, Serialize)]
pub(in crate::render) struct OnceJson<'a> {
    object: ObjectJson<'a>,
    finalizers: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    seen: &'static str,
}

/// An object that a sweep begins to handle and cannot finish.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RemainingJson<'a> {
    object: ObjectJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    waits_for: Vec<ObjectJson<'a>>,
    held_by: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OutcomeJson<'a> {
    object: ObjectJson<'a>,
    /// The uids of its owner references before the delete.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    owners: Vec<&'a str>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<u32>,
    certain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertain_because: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<Because>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    waits_for: Vec<ObjectJson<'a>>,
    held_by: Vec<&'a str>,
    after: AfterJson<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alternatives: Vec<AlternativeJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    afterwards: Vec<AfterwardsJson<'a>>,
}

/// Another possible outcome of an object.
#[derive(Debug, Serialize)]
struct AlternativeJson<'a> {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<Because>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    after: AfterJson<'a>,
}

/// The outcome of one object in one of several possible joint outcomes.
#[derive(Debug, Serialize)]
struct EndJson<'a> {
    object: ObjectJson<'a>,
    outcome: &'static str,
    after: AfterJson<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AfterJson<'a> {
    deleted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    terminating: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finalizers: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_references: Option<Vec<ReferenceJson<'a>>>,
}

#[derive(Debug, Serialize)]
struct OtherPolicyJson {
    propagation: &'static str,
    summary: Summary,
}

impl<'a> PlanDocument<'a> {
    pub(super) fn of(view: &PlanView<'a>) -> Self {
        let instead = |(propagation, summary): &(Propagation, Summary)| OtherPolicyJson {
            propagation: propagation.name(),
            summary: *summary,
        };
        let (plan, is_sweep) = (view.plan, view.is_sweep());
        let targets = plan.request.targets.iter().map(|id| ObjectJson::of(view.snapshot, *id));
        let remaining: Vec<_> = plan.stays.iter().map(|stays| RemainingJson::of(view.snapshot, stays)).collect();
        // What could not be read, and what a dump leaves out of what may follow.
        let gaps = view.snapshot.gaps_and(Incomplete::of(view.snapshot, plan).unseen);
        PlanDocument {
            head: Head::of(if is_sweep { "Sweep" } else { "Plan" }, &gaps, view.snapshot),
            verdict: VerdictJson::of(view),
            propagation: (!is_sweep).then(|| plan.request.propagation.name()),
            targets: (!is_sweep).then(|| targets.collect()),
            outcomes: view.plan.outcomes.iter().map(|outcome| OutcomeJson::of(view, outcome)).collect(),
            effects: view.plan.effects.iter().map(|effect| EffectJson::of(view.snapshot, effect)).collect(),
            claims: view.plan.claims.iter().map(|claims| ClaimsJson::of(view.snapshot, claims)).collect(),
            notes: view
                .plan
                .notes
                .iter()
                .map(|note| NoteJson::of(view.snapshot, note, view.plan.request.propagation))
                .collect(),
            summary: view.plan.summary,
            joint_outcomes: view
                .plan
                .ends
                .iter()
                .map(|group| group.iter().map(|end| joint_end(view, end)).collect())
                .collect(),
            simulated_orders: view.plan.orders,
            assumes: view.plan.assumptions.iter().map(ToString::to_string).collect(),
            then: view.plan.then.as_ref().map(|then| ThenJson::of(view, then)),
            also_deletes: also_deletes(view),
            deleted_later: deleted_later(view),
            next: steps(view),
            other_policies: (!is_sweep).then(|| view.instead.iter().map(instead).collect()),
            obstacles: ObstacleJson::all_of(view),
            gates: view.gates.iter().map(|gate_violations| GateJson::of(view.snapshot, gate_violations)).collect(),
            kept: keep::kept(view),
            also_kept: keep::stays(view),
            remaining: (is_sweep || !remaining.is_empty()).then_some(remaining),
        }
    }
}

impl<'a> RemainingJson<'a> {
    fn of(snapshot: &'a Snapshot, stays: &'a Outcome) -> Self {
        RemainingJson {
            object: ObjectJson::of(snapshot, stays.object),
            state: stays.state.map(|state| state.name()),
            waits_for: objects(snapshot, &stays.waits_for),
            held_by: holders(snapshot, &stays.held_by),
        }
    }
}

fn objects<'a>(snapshot: &'a Snapshot, ids: &[ObjectId]) -> Vec<ObjectJson<'a>> {
    ids.iter().map(|id| ObjectJson::of(snapshot, *id)).collect()
}

fn holders<'a>(snapshot: &'a Snapshot, held_by: &[BlockedBy]) -> Vec<&'a str> {
    held_by.iter().map(|holder| holder.name(snapshot)).collect()
}

impl<'a> OutcomeJson<'a> {
    fn of(view: &PlanView<'a>, outcome: &'a Outcome) -> Self {
        let owners = view.snapshot.object(outcome.object).owners.iter();
        OutcomeJson {
            object: ObjectJson::of(view.snapshot, outcome.object),
            owners: owners.map(|reference| view.snapshot.text(reference.uid)).collect(),
            outcome: outcome.kind.name(),
            order: outcome.order,
            certain: outcome.uncertain.is_none(),
            uncertain_because: outcome.uncertain.map(|uncertainty| uncertainty.name()),
            because: told_because(view, outcome.object, outcome.because.as_ref()),
            state: outcome.state.map(|state| state.name()),
            waits_for: objects(view.snapshot, &outcome.waits_for),
            held_by: holders(view.snapshot, &outcome.held_by),
            after: AfterJson::of(view.snapshot, outcome.after.as_ref()),
            alternatives: outcome.alternatives.iter().map(|other| alternative(view, outcome.object, other)).collect(),
            afterwards: outcome.afterwards.iter().map(|after| AfterwardsJson::of(view.snapshot, *after)).collect(),
        }
    }
}

impl<'a> ThenJson<'a> {
    fn of(view: &PlanView<'a>, then: &'a Then) -> Self {
        ThenJson {
            once: OnceJson::of_all(view.snapshot, &then.controllers, &then.once),
            outcomes: then.outcomes.iter().map(|outcome| OutcomeJson::of(view, outcome)).collect(),
            effects: then.effects.iter().map(|effect| EffectJson::of(view.snapshot, effect)).collect(),
        }
    }
}

impl<'a> OnceJson<'a> {
    /// What all of them have to do.
    pub(in crate::render) fn of_all(
        snapshot: &'a Snapshot,
        controllers: &'a Controllers,
        once: &'a [Finished],
    ) -> Vec<Self> {
        once.iter().flat_map(|finished| OnceJson::of(snapshot, controllers, finished)).collect()
    }

    /// One for each of those who have to act.
    fn of(snapshot: &'a Snapshot, controllers: &'a Controllers, finished: &'a Finished) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for blocker in &finished.blockers {
            let finalizers = match blocker {
                BlockedBy::SpecFinalizers => foreign_spec_finalizers(snapshot, finished.object),
                BlockedBy::Finalizer(_) => vec![blocker.name(snapshot)],
                _ => Vec::new(),
            };
            let controller = controllers.get(finished.object, *blocker);
            let by = match (blocker, controller) {
                (BlockedBy::Kubelet, _) => Some("kubelet".to_owned()),
                (_, controller) => controller.and_then(|controller| controller.told(snapshot)),
            };
            let seen = controller.map_or("unknown", FinalizerController::seen);
            match all.iter_mut().find(|known| known.by == by && known.seen == seen) {
                Some(known) => known.finalizers.extend(finalizers),
                None => all.push(OnceJson { object: ObjectJson::of(snapshot, finished.object), finalizers, by, seen }),
            }
        }
        all
    }
}

fn told_because(view: &PlanView<'_>, object: ObjectId, cause: Option<&Cause>) -> Option<Because> {
    Some(because(view.snapshot, object, cause?, view.plan.request.propagation))
}

fn alternative<'a>(view: &PlanView<'a>, object: ObjectId, other: &'a Alternative) -> AlternativeJson<'a> {
    AlternativeJson {
        outcome: other.kind.name(),
        because: told_because(view, object, other.because.as_ref()),
        state: other.state.map(|state| state.name()),
        after: AfterJson::of(view.snapshot, other.after.as_ref()),
    }
}

fn joint_end<'a>(view: &PlanView<'a>, end: &'a JointEnd) -> Vec<EndJson<'a>> {
    let describe = |(object, end): &'a (ObjectId, Alternative)| EndJson {
        object: ObjectJson::of(view.snapshot, *object),
        outcome: end.kind.name(),
        after: AfterJson::of(view.snapshot, end.after.as_ref()),
    };
    end.iter().map(describe).collect()
}

impl<'a> AfterJson<'a> {
    fn of(snapshot: &'a Snapshot, after: Option<&'a After>) -> Self {
        let state = |after: &'a After| {
            let finalizers = after.finalizers.iter().map(|finalizer| snapshot.text(*finalizer)).collect();
            let references = after.owners.iter().map(|reference| ReferenceJson::of(snapshot, reference));
            AfterJson {
                deleted: false,
                terminating: Some(after.terminating),
                finalizers: Some(finalizers),
                owner_references: Some(references.collect()),
            }
        };
        let gone = AfterJson { deleted: true, terminating: None, finalizers: None, owner_references: None };
        after.map_or(gone, state)
    }
}

/// An effect outside the graph.
#[derive(Debug, Serialize)]
pub(super) struct EffectJson<'a> {
    object: ObjectJson<'a>,
    kind: &'static str,
    severity: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<ObjectJson<'a>>,
}

/// A part of the request that has no effect.
#[derive(Debug, Serialize)]
struct NoteJson<'a> {
    object: ObjectJson<'a>,
    kind: &'static str,
    message: String,
}

/// What a controller does after the delete.
#[derive(Debug, Serialize)]
struct AfterwardsJson<'a> {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<ObjectJson<'a>>,
    message: String,
}

impl<'a> EffectJson<'a> {
    /// An effect as JSON shows it.
    pub(super) fn of(snapshot: &'a Snapshot, effect: &'a OutsideEffect) -> Self {
        EffectJson {
            object: ObjectJson::of(snapshot, effect.object),
            kind: effect.kind.name(),
            severity: effect.severity().name(),
            message: &effect.message,
            related: effect.related.iter().map(|object| ObjectJson::of(snapshot, *object)).collect(),
        }
    }
}

impl<'a> NoteJson<'a> {
    /// A note as JSON shows it.
    pub(super) fn of(snapshot: &'a Snapshot, note: &Note, propagation: Propagation) -> Self {
        NoteJson {
            object: ObjectJson::of(snapshot, note.object),
            kind: note.kind.name(),
            message: note.kind.message(propagation),
        }
    }
}

impl<'a> AfterwardsJson<'a> {
    /// A controller's reaction as JSON shows it.
    pub(super) fn of(snapshot: &'a Snapshot, after: Afterwards) -> Self {
        let (what, message) = describe(snapshot, after);
        let by = match after {
            Afterwards::Recreated { by }
            | Afterwards::RecreatedEmpty { by }
            | Afterwards::MayBeRecreated { by }
            | Afterwards::Adopted { by }
            | Afterwards::AdoptedBy { by } => Some(by),
            Afterwards::MirroredAgain { node } => Some(node),
            Afterwards::KeptUp { .. } | Afterwards::MayBeAdopted => None,
        };
        AfterwardsJson { what, by: by.map(|by| ObjectJson::of(snapshot, by)), message }
    }
}
