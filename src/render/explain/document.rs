//! `kind: Explanation` (see `docs/schema`).

use serde::Serialize;

use crate::{
    doctor::{
        Explanation, Finding,
        explain::{
            Attention, Condition, ConditionOutcome, Dependents, FinalizerStory, Later, NextStory, ReferenceStory,
            RootCause, Trigger, Waiting,
        },
    },
    document::{Head, ObjectJson, ReferenceJson},
    model::{ObjectId, ResourceId, Rule, Snapshot, Symbol},
    plan::Uncertainty,
    render::{
        doctor::FindingJson,
        plan::{Because, OnceJson, because},
        reclaim::RemovalJson,
    },
    server::Propagation,
    simulate::{BlockedBy, Next, NoAction, ProjectedOutcome},
};

use super::ExplainView;

/// Explanations as JSON or YAML.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExplanationDocument<'a> {
    #[serde(flatten)]
    head: Head,
    explanations: Vec<ExplanationJson<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ExplanationJson<'a> {
    object: ObjectJson<'a>,
    /// Why the collector doesn't watch its kind; absent if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_watched: Option<String>,
    terminating: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_grace_period_seconds: Option<i64>,
    finalizers: Vec<FinalizerJson<'a>>,
    references: Vec<ReferenceStoryJson<'a>>,
    dependents: DependentsJson<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    content: Vec<ContentJson>,
    next: NextJson<'a>,
    end: EndJson,
    /// What follows once others have done their part for its owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    then: Option<ThenJson<'a>>,
    /// How another controller removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    removal: Option<RemovalJson<'a>>,
    conditions: Vec<ConditionJson<'a>>,
    waits: Vec<WaitingJson<'a>>,
    causes: Vec<CauseJson<'a>>,
    waited_for_by: Vec<ObjectJson<'a>>,
    findings: Vec<FindingJson<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FinalizerJson<'a> {
    finalizer: &'a str,
    removed_by: &'static str,
    message: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReferenceStoryJson<'a> {
    reference: ReferenceJson<'a>,
    verdict: &'static str,
    rule: Rule,
    message: &'a str,
    /// The object with the uid; for `OtherUid`, the object that has the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<ObjectJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_state: Option<&'static str>,
    blocks: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DependentsJson<'a> {
    count: usize,
    kinds: Vec<KindJson>,
    blocking: Vec<ObjectJson<'a>>,
    waits: bool,
    unseen: Vec<ObjectJson<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct KindJson {
    resource: String,
    count: usize,
    blocking: usize,
}

/// The objects of one kind in a Namespace.
#[derive(Debug, Serialize)]
struct ContentJson {
    resource: String,
    count: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NextJson<'a> {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    rule: Rule,
    message: &'a str,
    attention: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    propagation: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finalizer: Option<&'a str>,
    /// The uids of the owner references that the collector removes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    drops: Vec<&'a str>,
    /// The dependents that are orphaned or waited for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dependents: Vec<ObjectJson<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct EndJson {
    outcome: &'static str,
    certain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertain_because: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// How many owner references remain, if anything changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    references: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<Because>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    data_lost: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThenJson<'a> {
    outcome: &'static str,
    certain: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    data_lost: bool,
    once: Vec<OnceJson<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ConditionJson<'a> {
    #[serde(rename = "if")]
    what: WhatJson<'a>,
    then: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    message: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct WhatJson<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deleted: Vec<ObjectJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    propagation: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    released: Vec<ReleasedJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dropped: Vec<DroppedJson<'a>>,
}

#[derive(Debug, Serialize)]
struct ReleasedJson<'a> {
    object: ObjectJson<'a>,
    finalizer: &'a str,
}

#[derive(Debug, Serialize)]
struct DroppedJson<'a> {
    object: ObjectJson<'a>,
    uids: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct WaitingJson<'a> {
    object: ObjectJson<'a>,
    deleted: bool,
    stops_blocking: bool,
    state: &'static str,
    held_by: Vec<&'a str>,
    waits_for: Vec<ObjectJson<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CauseJson<'a> {
    objects: Vec<ObjectJson<'a>>,
    state: &'static str,
    held_by: Vec<&'a str>,
    message: &'a str,
}

impl<'a> ExplanationDocument<'a> {
    /// All explanations.
    pub(super) fn of(view: &ExplainView<'a>) -> Self {
        ExplanationDocument {
            head: Head::of("Explanation", &view.gaps(), view.snapshot),
            explanations: view
                .explanations
                .iter()
                .map(|explanation| ExplanationJson::of(view.snapshot, explanation))
                .collect(),
        }
    }
}

impl<'a> ExplanationJson<'a> {
    fn of(snapshot: &'a Snapshot, explanation: &'a Explanation) -> Self {
        let object = snapshot.object(explanation.object);
        let deleted = object.deleted.get().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
        let finding = |finding: &'a Finding| FindingJson::of(snapshot, finding);
        ExplanationJson {
            object: ObjectJson::of(snapshot, explanation.object),
            not_watched: snapshot.resources.not_watched(object.resource).map(ToString::to_string),
            terminating: object.terminating(),
            deletion_timestamp: deleted.map(|time| time.to_string()),
            deletion_grace_period_seconds: object.grace.get().filter(|_| object.terminating()),
            finalizers: explanation.finalizers.iter().map(|story| FinalizerJson::of(snapshot, story)).collect(),
            references: explanation.references.iter().map(|story| ReferenceStoryJson::of(snapshot, story)).collect(),
            dependents: DependentsJson::of(snapshot, &explanation.dependents),
            content: ContentJson::all_of(snapshot, explanation),
            next: NextJson::of(snapshot, &explanation.next),
            end: EndJson::of(snapshot, explanation),
            then: explanation.later.as_ref().map(|later| ThenJson::of(snapshot, later)),
            removal: explanation.removal.as_ref().map(|removal| RemovalJson::of(snapshot, removal)),
            conditions: explanation.conditions.iter().map(|condition| ConditionJson::of(snapshot, condition)).collect(),
            waits: explanation
                .waits
                .iter()
                .filter(|line| !line.above)
                .map(|line| WaitingJson::of(snapshot, line))
                .collect(),
            causes: explanation.causes.iter().map(|cause| CauseJson::of(snapshot, cause)).collect(),
            waited_for_by: objects(snapshot, &explanation.waited_for_by),
            findings: explanation.findings.iter().map(finding).collect(),
        }
    }
}

fn objects<'a>(snapshot: &'a Snapshot, ids: &[ObjectId]) -> Vec<ObjectJson<'a>> {
    ids.iter().map(|id| ObjectJson::of(snapshot, *id)).collect()
}

fn holders<'a>(snapshot: &'a Snapshot, held_by: &[BlockedBy]) -> Vec<&'a str> {
    held_by.iter().map(|holder| holder.name(snapshot)).collect()
}

fn texts<'a>(snapshot: &'a Snapshot, symbols: &[Symbol]) -> Vec<&'a str> {
    symbols.iter().map(|symbol| snapshot.text(*symbol)).collect()
}

impl<'a> FinalizerJson<'a> {
    fn of(snapshot: &'a Snapshot, story: &'a FinalizerStory) -> Self {
        FinalizerJson {
            finalizer: snapshot.text(story.finalizer),
            removed_by: story.by.name(),
            message: &story.message,
        }
    }
}

impl<'a> ReferenceStoryJson<'a> {
    fn of(snapshot: &'a Snapshot, story: &'a ReferenceStory) -> Self {
        ReferenceStoryJson {
            reference: ReferenceJson::of(snapshot, &story.reference),
            verdict: story.link.standing.name(),
            rule: story.rule(),
            message: &story.message,
            found: story.link.found.map(|found| ObjectJson::of(snapshot, found)),
            owner_state: story.owner.map(|state| state.name()),
            blocks: story.blocks.name(),
        }
    }
}

impl ContentJson {
    fn all_of(snapshot: &Snapshot, explanation: &Explanation) -> Vec<Self> {
        let of = |(kind, count): (&ResourceId, &usize)| ContentJson {
            resource: snapshot.resources.get(*kind).full_name(),
            count: *count,
        };
        explanation.content.iter().map(of).collect()
    }
}

impl<'a> DependentsJson<'a> {
    fn of(snapshot: &'a Snapshot, dependents: &Dependents) -> Self {
        let kinds = dependents.kinds.iter().map(|(resource, (count, blocking))| KindJson {
            resource: snapshot.resources.get(*resource).full_name(),
            count: *count,
            blocking: *blocking,
        });
        DependentsJson {
            count: dependents.count(),
            kinds: kinds.collect(),
            blocking: objects(snapshot, &dependents.blocking),
            waits: dependents.waits,
            unseen: objects(snapshot, &dependents.unseen),
        }
    }
}

impl<'a> NextJson<'a> {
    fn of(snapshot: &'a Snapshot, story: &'a NextStory) -> Self {
        let mut explanation = NextJson {
            action: "Nothing",
            reason: None,
            rule: story.rule,
            message: &story.message,
            attention: story.attention.name(),
            propagation: None,
            finalizer: None,
            drops: Vec::new(),
            dependents: Vec::new(),
        };
        match &story.next {
            // A dependent that could not be read may have to go, or to be freed, first.
            _ if story.may_wait => {
                explanation.reason = Some(reason(NoAction::Unread(None)));
                explanation.rule = Rule::R10_2;
                explanation.message = "Not known: what could not be read may depend on it.";
                explanation.attention = Attention::Unknown.name();
            }
            Next::Delete(policy, _) => (explanation.action, explanation.propagation) = ("Delete", Some(policy.name())),
            Next::Unblock => {
                (explanation.action, explanation.propagation) = ("Unblock", Some(Propagation::Foreground.name()))
            }
            Next::DropReferences(uids) => {
                (explanation.action, explanation.drops) = ("RemoveReferences", texts(snapshot, uids))
            }
            Next::FreeDependents(freed) => {
                (explanation.action, explanation.dependents) = ("OrphanDependents", objects(snapshot, freed))
            }
            Next::TakeFinalizer(finalizer) => {
                (explanation.action, explanation.finalizer) = ("RemoveFinalizer", Some(snapshot.text(*finalizer)))
            }
            Next::WaitForDependents(blocking) => {
                (explanation.action, explanation.dependents) = ("Wait", objects(snapshot, blocking))
            }
            Next::Nothing(idle) => explanation.reason = Some(reason(*idle)),
        }
        explanation
    }
}

fn reason(idle: NoAction) -> &'static str {
    match idle {
        NoAction::NoOwners => "NoOwners",
        NoAction::OwnersSolid => "OwnersSolid",
        NoAction::OnItsWayOut => "AlreadyTerminating",
        NoAction::NotWatched => "NotWatched",
        NoAction::SharedUid(_) => "SharedUid",
        NoAction::Unmappable(_) => "NotServed",
        NoAction::InvalidScope(_) => "InvalidScope",
        NoAction::Unread(_) => "Unread",
    }
}

impl<'a> ThenJson<'a> {
    fn of(snapshot: &'a Snapshot, later: &'a Later) -> Self {
        ThenJson {
            outcome: if later.stays() { "Terminating" } else { "Deleted" },
            certain: !later.uncertain,
            data_lost: !later.lost.is_empty(),
            once: OnceJson::of_all(snapshot, &later.controllers, &later.once),
        }
    }
}

impl EndJson {
    fn of(snapshot: &Snapshot, explanation: &Explanation) -> Self {
        let (outcome, references) = match explanation.end.outcome {
            ProjectedOutcome::Goes => ("Deleted", None),
            ProjectedOutcome::Stays => ("Kept", None),
            ProjectedOutcome::Changes { references, .. } => ("Changes", Some(references)),
        };
        let cause = explanation.end.because.as_ref();
        let because = cause.map(|cause| because(snapshot, explanation.object, cause, Propagation::Background));
        // What could not be read may have to be freed first.
        let unread = (outcome == "Deleted" && explanation.next.may_wait).then_some(Uncertainty::Gap);
        let uncertain = explanation.end.uncertain.or(unread);
        EndJson {
            outcome,
            certain: uncertain.is_none(),
            uncertain_because: uncertain.map(|uncertainty| uncertainty.name()),
            state: explanation.end.state.map(|state| state.name()),
            references,
            because,
            refused: explanation.end.refused.clone(),
            data_lost: !explanation.end.lost.is_empty(),
        }
    }
}

impl<'a> ConditionJson<'a> {
    fn of(snapshot: &'a Snapshot, condition: &'a Condition) -> Self {
        let mut what = WhatJson {
            deleted: Vec::new(),
            propagation: None,
            grace_period_seconds: None,
            released: Vec::new(),
            dropped: Vec::new(),
        };
        match &condition.what {
            Trigger::Deleted(ids, policy) => {
                (what.deleted, what.propagation) = (objects(snapshot, ids), Some(policy.name()))
            }
            Trigger::Forced(id) => (what.deleted, what.grace_period_seconds) = (objects(snapshot, &[*id]), Some(0)),
            Trigger::Released(released) => {
                let released = released.iter();
                what.released = released
                    .map(|(id, finalizer)| ReleasedJson {
                        object: ObjectJson::of(snapshot, *id),
                        finalizer: snapshot.text(*finalizer),
                    })
                    .collect();
            }
            Trigger::Dropped(dropped) => {
                let dropped = dropped.iter();
                what.dropped = dropped
                    .map(|(id, uids)| DroppedJson {
                        object: ObjectJson::of(snapshot, *id),
                        uids: texts(snapshot, uids),
                    })
                    .collect();
            }
        }
        let state = match condition.then {
            ConditionOutcome::Terminating(state) => Some(state.name()),
            _ => None,
        };
        ConditionJson { what, then: condition.then.name(), state, message: &condition.message }
    }
}

impl<'a> WaitingJson<'a> {
    fn of(snapshot: &'a Snapshot, line: &Waiting) -> Self {
        WaitingJson {
            object: ObjectJson::of(snapshot, line.object),
            deleted: line.goes,
            stops_blocking: line.lets_go,
            state: line.state.name(),
            held_by: holders(snapshot, &line.held_by),
            waits_for: objects(snapshot, &line.waits_for),
        }
    }
}

impl<'a> CauseJson<'a> {
    fn of(snapshot: &'a Snapshot, cause: &'a RootCause) -> Self {
        CauseJson {
            objects: objects(snapshot, &cause.objects),
            state: cause.state.name(),
            held_by: holders(snapshot, &cause.held_by),
            message: &cause.message,
        }
    }
}
