//! The result of a delete or a sweep, as text, as a document and as a picture.

mod picture;
#[cfg(test)]
mod tests;
mod text;

use std::{io, path::Path, time::Duration};

use serde::Serialize;

use crate::render::{
    escape::visible,
    output::{Format, Output, TextOptions},
    picture::{Picture, PictureOptions},
    plan::VerdictJson,
};
use gc_cluster::act::{Ended, Followed, Sent};
use gc_core::{
    command_line::Kubectl,
    doctor::Code,
    document::Head,
    model::{Gap, Identity, ServerVersion},
    plan::{
        OutcomeKind, Summary,
        tracker::{Blocker, Progress, UnexpectedOutcome, UnplannedObject},
    },
    server::Propagation,
};

pub use self::text::why;

/// A finished delete, with what is needed to describe it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeletionView<'a> {
    pub propagation: Propagation,
    /// The namespace in view; objects elsewhere are printed with theirs.
    pub namespace: Option<&'a str>,
    pub gaps: &'a [Gap],
    /// The version of the server.
    pub server: Option<&'a ServerVersion>,
    /// The verdict on the plan; `None` if there was none.
    pub verdict: Option<&'a VerdictJson>,
    /// What the plan predicted.
    pub planned: Summary,
    /// How many objects an obstacle keeps from following, as planned.
    pub prevented: usize,
    /// The answers to the DELETEs of the targets.
    pub sent: &'a [Sent],
    /// What happened after the DELETEs; `None` if the cascade was not followed.
    pub followed: Option<&'a Followed>,
    /// Time since the first DELETE.
    pub took: Duration,
    /// The objects that `--keep` preserved as intended.
    pub kept: &'a [Identity],
    /// Messages about kept objects that are not as intended.
    pub unfinished: &'a [String],
    /// The archive file, if one was written.
    pub archive: Option<&'a Path>,
    /// kubectl with the flags that select the cluster, for printed commands.
    pub kubectl: &'a Kubectl,
    /// For a sweep, which has no targets: the objects that could not be written or read, and why.
    pub sweep: Option<&'a [(Identity, String)]>,
    /// The picture of the plan, not folded, if the result is drawn.
    pub drawn: Option<&'a Picture>,
}

/// `kind: Deletion`
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeletionDocument<'a> {
    #[serde(flatten)]
    head: Head,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a VerdictJson>,
    propagation: Propagation,
    targets: &'a [Sent],
    planned: Summary,
    #[serde(flatten)]
    result: ResultJson<'a>,
    #[serde(skip_serializing_if = "<[Identity]>::is_empty")]
    kept: &'a [Identity],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    unfinished: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<String>,
}

/// The result, compared with the plan.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultJson<'a> {
    ended: &'static str,
    /// Time since the first DELETE, in seconds.
    seconds: f64,
    /// For how many seconds the collector had not acted, if that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    collector_idle: Option<f64>,
    /// The code of the doctor's finding, if nobody collects.
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<Progress>,
    unexpected: &'a [UnexpectedOutcome],
    blockers: &'a [Blocker],
    unplanned: &'a [UnplannedObject],
    /// Of a sweep: what could not be written or read.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<Vec<FailedJson<'a>>>,
}

#[derive(Serialize)]
struct FailedJson<'a> {
    object: &'a Identity,
    reason: &'a str,
}

impl Output for DeletionView<'_> {
    fn document(&self) -> impl Serialize {
        DeletionDocument {
            head: Head::new("Deletion", self.gaps, self.server),
            verdict: self.verdict,
            propagation: self.propagation,
            targets: self.sent,
            planned: self.planned,
            result: self.result_json(),
            kept: self.kept,
            unfinished: self.unfinished,
            archive: self.archive.map(|path| path.display().to_string()),
        }
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        text::write(self, options, out)
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(picture::picture(self, options))
    }

    fn other(&self, format: Format) -> Option<String> {
        (format == Format::Name).then(|| self.names())
    }
}

impl<'a> DeletionView<'a> {
    /// The result, for the document of a sweep.
    pub fn result(&self) -> impl Serialize {
        self.result_json()
    }

    fn result_json(&self) -> ResultJson<'a> {
        let failed = |failing: &'a [(Identity, String)]| {
            failing.iter().map(|(object, reason)| FailedJson { object, reason }).collect()
        };
        ResultJson {
            ended: self.ended(),
            seconds: (self.took.as_secs_f64() * 1_000.0).round() / 1_000.0,
            collector_idle: self.followed.and_then(|followed| followed.collector_idle).map(|idle| idle.as_secs_f64()),
            finding: self.followed.and_then(|followed| match (&followed.manager_away, followed.collector_idle) {
                (Some(_), _) => Some(Code::CollectorStopped.name()),
                (None, Some(_)) => Some(Code::CollectorIdle.name()),
                (None, None) => None,
            }),
            seen: self.followed.map(|followed| followed.progress),
            unexpected: self.followed.map_or(&[], |followed| &followed.otherwise),
            blockers: self.followed.map_or(&[], |followed| &followed.blockers),
            unplanned: self.followed.map_or(&[], |followed| &followed.outside),
            failed: self.sweep.map(failed),
        }
    }

    /// The outcome in one word; its meaning never changes.
    fn ended(&self) -> &'static str {
        match self.followed.map(|followed| followed.ended) {
            _ if self.is_not_done() => "NotDeleted",
            None => "NotFollowed",
            Some(Ended::AsPlanned) => "AsPlanned",
            Some(Ended::Otherwise) => "Unexpected",
            Some(Ended::Stuck) => "Stuck",
            Some(Ended::TimedOut) => "TimedOut",
            Some(Ended::CalledOff) => "Interrupted",
        }
    }

    /// `kind.group/name` of the targets that are terminating or gone, one per line, as kubectl's own `delete -o name`.
    fn names(&self) -> String {
        let done = self.sent.iter().filter(|sent| !sent.answered.failed());
        done.map(|sent| format!("{}\n", visible(&full_name(&sent.target)))).collect()
    }

    /// Whether the outcome is bad: objects remain, or something differs from the plan.
    pub fn bad_news(&self) -> bool {
        self.followed.is_some_and(|followed| match followed.ended {
            Ended::CalledOff => false,
            _ if followed.manager_away.is_some() => true,
            Ended::AsPlanned => followed.left > 0 || self.prevented > 0 || surprises(followed) > 0,
            Ended::Otherwise if went_all_the_same(followed) => false,
            Ended::Otherwise | Ended::Stuck | Ended::TimedOut => true,
        })
    }

    /// Whether a request failed, or the cascade was not followed as requested.
    pub fn failed(&self) -> bool {
        let called_off = self.followed.is_some_and(|followed| followed.ended == Ended::CalledOff);
        let in_vain = self.sweep.is_some_and(|failing| !failing.is_empty());
        called_off || in_vain || self.sent.iter().any(|sent| sent.answered.failed())
    }

    /// Whether certainly no target was deleted.
    fn is_not_done(&self) -> bool {
        self.sweep.is_none() && !self.sent.iter().any(|sent| sent.answered.may_be_done())
    }
}

/// Whether all differences are objects that were expected to get stuck and are gone: a finalizer was removed by a
/// controller that the plan didn't know to be running.
fn went_all_the_same(followed: &Followed) -> bool {
    let let_go = |otherwise: &UnexpectedOutcome| {
        otherwise.actual == OutcomeKind::Deleted
            && otherwise.predicted.iter().all(|kind| *kind == OutcomeKind::Terminating)
    };
    followed.left == 0 && surprises(followed) == 0 && followed.otherwise.iter().all(let_go)
}

/// How many objects were deleted that existed at planning time and were predicted to stay.
fn surprises(followed: &Followed) -> usize {
    followed.outside.iter().filter(|one| !one.new && (one.gone || one.terminating)).count()
}

/// `kind.group/name`, as kubectl takes it.
fn full_name(object: &Identity) -> String {
    let group = object.api_version.split_once('/').map(|(group, _)| format!(".{group}")).unwrap_or_default();
    format!("{}{group}/{}", object.kind.to_lowercase(), object.name)
}
