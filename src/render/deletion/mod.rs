//! The result of a delete, as text and as a document.

mod document;
mod picture;
#[cfg(test)]
mod tests;
mod text;

use std::{io, path::Path, time::Duration};

use serde::Serialize;

use crate::{
    act::{Ended, Followed, Sent},
    command_line::Kubectl,
    model::{Gap, Identity, ServerVersion},
    plan::{OutcomeKind, Summary, tracker::UnexpectedOutcome},
    render::{
        escape::visible,
        output::{Format, Output, TextOptions},
        picture::{Picture, PictureOptions},
        plan::VerdictJson,
    },
    server::Propagation,
};

use self::document::{DeletionDocument, SweptJson};
pub use self::text::why;

/// A finished delete, with what is needed to describe it.
#[derive(Clone, Copy, Debug)]
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

impl Output for DeletionView<'_> {
    fn document(&self) -> impl Serialize {
        DeletionDocument::of(self)
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

impl DeletionView<'_> {
    /// The result, for the document of a sweep.
    pub fn result(&self) -> impl Serialize {
        SweptJson::of(self)
    }

    /// `kind.group/name` of the targets that are terminating or gone, one per line, as kubectl's own `delete -o name`.
    fn names(&self) -> String {
        let done = self.sent.iter().filter(|sent| !sent.answered.failed());
        done.map(|sent| format!("{}\n", visible(&full_name(&sent.target)))).collect()
    }

    /// Whether the outcome is bad: objects remain, or something differs from the plan.
    pub fn bad_news(&self) -> bool {
        self.followed.is_some_and(|followed| match followed.ended {
            Ended::AsPlanned => followed.left > 0 || self.prevented > 0 || surprises(followed) > 0,
            Ended::Otherwise if went_all_the_same(followed) => false,
            Ended::Otherwise | Ended::Stuck | Ended::TimedOut => true,
            Ended::CalledOff => false,
        })
    }

    /// Whether a request failed, or the cascade was not followed as requested.
    pub fn failed(&self) -> bool {
        let called_off = self.followed.is_some_and(|followed| followed.ended == Ended::CalledOff);
        let in_vain = self.sweep.is_some_and(|failing| !failing.is_empty());
        called_off || in_vain || self.sent.iter().any(|sent| sent.answered.failed())
    }
}

impl DeletionView<'_> {
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

/// The outcome in one word; its meaning never changes.
fn ended(view: &DeletionView<'_>) -> &'static str {
    match view.followed.map(|followed| followed.ended) {
        _ if view.is_not_done() => "NotDeleted",
        None => "NotFollowed",
        Some(Ended::AsPlanned) => "AsPlanned",
        Some(Ended::Otherwise) => "Unexpected",
        Some(Ended::Stuck) => "Stuck",
        Some(Ended::TimedOut) => "TimedOut",
        Some(Ended::CalledOff) => "Interrupted",
    }
}

/// `kind.group/name`, as kubectl takes it.
fn full_name(object: &Identity) -> String {
    let group = object.api_version.split_once('/').map(|(group, _)| format!(".{group}")).unwrap_or_default();
    format!("{}{group}/{}", object.kind.to_lowercase(), object.name)
}
