//! `kind: Deletion`, for programs.

use serde::Serialize;

use crate::{
    act::{Answered, Sent},
    document::{Head, ObjectJson},
    plan::tracker::{Blocker, BlockerDescription, Relation, UnexpectedOutcome, UnplannedObject},
    render::plan::SummaryJson,
};

use super::{DeletionView, ended};

/// `kind: Deletion`
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletionDocument<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    propagation: &'static str,
    targets: Vec<TargetJson<'a>>,
    planned: SummaryJson,
    #[serde(flatten)]
    came: CameJson<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kept: Vec<ObjectJson<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    unfinished: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<String>,
}

/// What came of what was foretold.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CameJson<'a> {
    ended: &'static str,
    /// In seconds.
    took: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<SeenJson>,
    otherwise: Vec<OtherwiseJson<'a>>,
    blockers: Vec<BlockerJson<'a>>,
    besides: Vec<BesidesJson<'a>>,
}

/// The same of a sweep.
#[derive(Clone, Debug, Serialize)]
pub struct SweptJson<'a> {
    #[serde(flatten)]
    came: CameJson<'a>,
    failed: Vec<FailedJson<'a>>,
}

/// Something that could not be written, or not be found out.
#[derive(Clone, Debug, Serialize)]
struct FailedJson<'a> {
    object: ObjectJson<'a>,
    reason: &'a str,
}

impl<'a> SweptJson<'a> {
    /// What came of a sweep.
    pub fn of(view: &DeletionView<'a>) -> Self {
        let failed = view.sweep.unwrap_or_default().iter();
        let failed = failed.map(|(object, reason)| FailedJson { object: ObjectJson::named(object), reason });
        SweptJson { came: CameJson::of(view), failed: failed.collect() }
    }
}

/// A target, and what came of its DELETE.
#[derive(Clone, Debug, Serialize)]
struct TargetJson<'a> {
    #[serde(flatten)]
    object: ObjectJson<'a>,
    answered: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// What was seen of the objects that the plan names.
#[derive(Clone, Copy, Debug, Serialize)]
struct SeenJson {
    gone: usize,
    terminating: usize,
    changed: usize,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OtherwiseJson<'a> {
    object: ObjectJson<'a>,
    foretold: Vec<&'static str>,
    came: &'static str,
    finalizers: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertain_because: Option<&'static str>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct BlockerJson<'a> {
    object: ObjectJson<'a>,
    state: &'static str,
    held_by: Vec<&'a str>,
    waits_for: Vec<ObjectJson<'a>>,
    holds_up: usize,
}

/// What went, and was not in the plan.
#[derive(Clone, Debug, Serialize)]
struct BesidesJson<'a> {
    object: ObjectJson<'a>,
    new: bool,
    gone: bool,
    terminating: bool,
    because: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<ObjectJson<'a>>,
}

impl<'a> DeletionDocument<'a> {
    /// All that there is to tell.
    pub fn of(view: &DeletionView<'a>) -> Self {
        DeletionDocument {
            head: Head::new("Deletion", view.gaps),
            propagation: view.propagation.name(),
            targets: view.sent.iter().map(TargetJson::of).collect(),
            planned: SummaryJson::of(view.planned),
            came: CameJson::of(view),
            kept: view.kept.iter().map(ObjectJson::named).collect(),
            unfinished: view.unfinished,
            archive: view.archive.map(|path| path.display().to_string()),
        }
    }
}

impl<'a> CameJson<'a> {
    fn of(view: &DeletionView<'a>) -> Self {
        let followed = view.followed;
        CameJson {
            ended: ended(view),
            took: (view.took.as_secs_f64() * 1_000.0).round() / 1_000.0,
            seen: followed.map(|followed| SeenJson {
                gone: followed.progress.gone,
                terminating: followed.progress.terminating,
                changed: followed.progress.changed,
            }),
            otherwise: followed.into_iter().flat_map(|followed| &followed.otherwise).map(OtherwiseJson::of).collect(),
            blockers: followed.into_iter().flat_map(|followed| &followed.blockers).map(BlockerJson::of).collect(),
            besides: followed.into_iter().flat_map(|followed| &followed.outside).map(BesidesJson::of).collect(),
        }
    }
}

impl<'a> TargetJson<'a> {
    fn of(sent: &'a Sent) -> Self {
        let (answered, reason) = match &sent.answered {
            Answered::Removed => ("Removed", None),
            Answered::Accepted => ("Accepted", None),
            Answered::GoneBefore => ("GoneBefore", None),
            Answered::Replaced => ("Replaced", None),
            Answered::Refused { reason } => ("Refused", Some(reason.as_str())),
            Answered::Unsure { reason } => ("Unsure", Some(reason.as_str())),
            Answered::Failed { reason } => ("Failed", Some(reason.as_str())),
            Answered::NotSent => ("NotSent", None),
        };
        TargetJson { object: ObjectJson::named(&sent.target), answered, reason }
    }
}

impl<'a> OtherwiseJson<'a> {
    fn of(otherwise: &'a UnexpectedOutcome) -> Self {
        OtherwiseJson {
            object: ObjectJson::named(&otherwise.object),
            foretold: otherwise.predicted.iter().map(|kind| kind.name()).collect(),
            came: otherwise.actual.name(),
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
            held_by: blocker.held_by.iter().map(held_by).collect(),
            waits_for: blocker.waits_for.iter().map(ObjectJson::named).collect(),
            holds_up: blocker.holds_up,
        }
    }
}

impl<'a> BesidesJson<'a> {
    fn of(outside: &'a UnplannedObject) -> Self {
        let (because, owner) = match &outside.because {
            Relation::Owner(owner) => ("owner", Some(ObjectJson::named(owner))),
            Relation::Namespace => ("namespace", None),
            Relation::Definition => ("definition", None),
        };
        let object = ObjectJson::named(&outside.object);
        BesidesJson { object, new: outside.new, gone: outside.gone, terminating: outside.terminating, because, owner }
    }
}

/// What holds an object itself, by the names that plans use.
pub(super) fn held_by(held: &BlockerDescription) -> &str {
    match held {
        BlockerDescription::Finalizer(finalizer) => finalizer,
        BlockerDescription::Kubelet => "kubelet",
        BlockerDescription::SpecFinalizers => "spec.finalizers",
        BlockerDescription::Unreadable(gap) => gap,
    }
}
