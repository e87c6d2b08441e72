//! `kind: Deletion`: the result of a delete, as JSON and YAML.

use serde::Serialize;

use crate::{
    act::{Answered, Sent},
    document::{Head, ObjectJson},
    plan::tracker::{Blocker, Relation, UnexpectedOutcome, UnplannedObject},
    render::plan::{SummaryJson, VerdictJson},
};

use super::{DeletionView, ended};

/// `kind: Deletion`
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeletionDocument<'a> {
    #[serde(flatten)]
    head: Head,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a VerdictJson>,
    propagation: &'static str,
    targets: Vec<TargetJson<'a>>,
    planned: SummaryJson,
    #[serde(flatten)]
    result: ResultJson<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kept: Vec<ObjectJson<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    unfinished: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<String>,
}

/// The result, compared with the plan.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultJson<'a> {
    ended: &'static str,
    /// Time since the first DELETE, in seconds.
    seconds: f64,
    /// For how many seconds the collector had not acted, if that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    collector_idle: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<SeenJson>,
    unexpected: Vec<UnexpectedJson<'a>>,
    blockers: Vec<BlockerJson<'a>>,
    unplanned: Vec<UnplannedJson<'a>>,
}

/// The same for a sweep.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SweptJson<'a> {
    #[serde(flatten)]
    result: ResultJson<'a>,
    failed: Vec<FailedJson<'a>>,
}

/// An object that could not be written or read.
#[derive(Clone, Debug, Serialize)]
struct FailedJson<'a> {
    object: ObjectJson<'a>,
    reason: &'a str,
}

impl<'a> SweptJson<'a> {
    /// The result of a sweep.
    pub(super) fn of(view: &DeletionView<'a>) -> Self {
        let failed = view.sweep.unwrap_or_default().iter();
        let failed = failed.map(|(object, reason)| FailedJson { object: ObjectJson::named(object), reason });
        SweptJson { result: ResultJson::of(view), failed: failed.collect() }
    }
}

/// A target and the answer to its DELETE.
#[derive(Clone, Debug, Serialize)]
struct TargetJson<'a> {
    #[serde(flatten)]
    object: ObjectJson<'a>,
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// What happened to the objects that the plan names.
#[derive(Clone, Copy, Debug, Serialize)]
struct SeenJson {
    gone: usize,
    terminating: usize,
    changed: usize,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct UnexpectedJson<'a> {
    object: ObjectJson<'a>,
    predicted: Vec<&'static str>,
    result: &'static str,
    finalizers: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertain_because: Option<&'static str>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct BlockerJson<'a> {
    object: ObjectJson<'a>,
    state: &'static str,
    held_by: &'a [String],
    waits_for: Vec<ObjectJson<'a>>,
    waiting_objects: usize,
}

/// An object that was deleted although the plan doesn't name it.
#[derive(Clone, Debug, Serialize)]
struct UnplannedJson<'a> {
    object: ObjectJson<'a>,
    new: bool,
    gone: bool,
    terminating: bool,
    because: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<ObjectJson<'a>>,
}

impl<'a> DeletionDocument<'a> {
    /// The result of a delete.
    pub(super) fn of(view: &DeletionView<'a>) -> Self {
        DeletionDocument {
            head: Head::new("Deletion", view.gaps, view.server),
            verdict: view.verdict,
            propagation: view.propagation.name(),
            targets: view.sent.iter().map(TargetJson::of).collect(),
            planned: SummaryJson::of(view.planned),
            result: ResultJson::of(view),
            kept: view.kept.iter().map(ObjectJson::named).collect(),
            unfinished: view.unfinished,
            archive: view.archive.map(|path| path.display().to_string()),
        }
    }
}

impl<'a> ResultJson<'a> {
    fn of(view: &DeletionView<'a>) -> Self {
        let followed = view.followed;
        ResultJson {
            ended: ended(view),
            collector_idle: view.followed.and_then(|followed| followed.collector_idle).map(|idle| idle.as_secs_f64()),
            seconds: (view.took.as_secs_f64() * 1_000.0).round() / 1_000.0,
            seen: followed.map(|followed| SeenJson {
                gone: followed.progress.gone,
                terminating: followed.progress.terminating,
                changed: followed.progress.changed,
            }),
            unexpected: followed.into_iter().flat_map(|followed| &followed.otherwise).map(UnexpectedJson::of).collect(),
            blockers: followed.into_iter().flat_map(|followed| &followed.blockers).map(BlockerJson::of).collect(),
            unplanned: followed.into_iter().flat_map(|followed| &followed.outside).map(UnplannedJson::of).collect(),
        }
    }
}

impl<'a> TargetJson<'a> {
    fn of(sent: &'a Sent) -> Self {
        let (answer, reason) = match &sent.answered {
            Answered::Removed => ("Removed", None),
            Answered::Accepted => ("Accepted", None),
            Answered::GoneBefore => ("AlreadyDeleted", None),
            Answered::Replaced => ("Replaced", None),
            Answered::Refused { reason } => ("Refused", Some(reason.as_str())),
            Answered::Unsure { reason } => ("Unknown", Some(reason.as_str())),
            Answered::Failed { reason } => ("Failed", Some(reason.as_str())),
            Answered::NotSent => ("NotSent", None),
        };
        TargetJson { object: ObjectJson::named(&sent.target), answer, reason }
    }
}

impl<'a> UnexpectedJson<'a> {
    fn of(otherwise: &'a UnexpectedOutcome) -> Self {
        UnexpectedJson {
            object: ObjectJson::named(&otherwise.object),
            predicted: otherwise.predicted.iter().map(|kind| kind.name()).collect(),
            result: otherwise.actual.name(),
            finalizers: &otherwise.finalizers,
            uncertain_because: otherwise.uncertain.map(|because| because.name()),
        }
    }
}

impl<'a> BlockerJson<'a> {
    fn of(blocker: &'a Blocker) -> Self {
        BlockerJson {
            object: ObjectJson::named(&blocker.object),
            state: blocker.state.name(),
            held_by: &blocker.held_by,
            waits_for: blocker.waits_for.iter().map(ObjectJson::named).collect(),
            waiting_objects: blocker.holds_up,
        }
    }
}

impl<'a> UnplannedJson<'a> {
    fn of(outside: &'a UnplannedObject) -> Self {
        let (because, owner) = match &outside.because {
            Relation::Owner(owner) => ("owner", Some(ObjectJson::named(owner))),
            Relation::Namespace => ("namespace", None),
            Relation::Definition => ("crd", None),
        };
        let object = ObjectJson::named(&outside.object);
        UnplannedJson { object, new: outside.new, gone: outside.gone, terminating: outside.terminating, because, owner }
    }
}
