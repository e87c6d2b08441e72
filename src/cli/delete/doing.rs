//! The delete itself: the requests that the user sends, and following what comes of them.

use std::{
    io::{IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    act::{DetachedObject, FollowEvent, Followed, KeepError, Released, Sent},
    model::Identity,
    operations::LiveSession,
    plan::{
        Plan, PlanTracker,
        tracker::{Blocker, Progress},
    },
    render::{deletion::why, go_quote::visible},
    wording::{age, count, thousands},
};

use super::config::DeleteConfig;

/// Piped, progress is told no more often.
const BETWEEN_LINES: Duration = Duration::from_secs(5);
/// So many of those that are waited for are named.
const NAMED: usize = 3;

/// How long former owners may take to let go of what is kept.
const UNTIL_RELEASED: Duration = Duration::from_secs(60);

/// What came of a delete.
pub struct Done {
    pub sent: Vec<Sent>,
    pub followed: Option<Followed>,
    pub took: Duration,
    /// What was kept, and is as it is to be.
    pub kept: Vec<Identity>,
    /// What is to be told of what is kept and is not as it is to be.
    pub unfinished: Vec<String>,
}

/// Cuts loose what is to be kept, sends the DELETEs, and follows what comes of them unless nobody is to wait. `kubectl`
/// is how kubectl is called for this cluster.
///
/// # Errors
/// What can't be kept; nothing was deleted then.
pub fn carry_out(
    session: &mut LiveSession,
    plan: &Plan,
    order: &DeleteConfig,
    wait: bool,
    kubectl: &str,
) -> Result<Done, KeepError> {
    let begun = Instant::now();
    let course = PlanTracker::new(&session.snapshot, plan);
    session.hear_interrupts();
    let detached = session.cut(&plan.request.cuts)?;
    let sent = session.delete(&plan.request.targets, &order.deletion(false), &mut |_| ());
    // Where an answer got lost, the delete may have been done: what is kept stays loose then.
    if !sent.iter().any(|sent| sent.answered.may_be_done()) {
        let unfinished =
            session.put_back(&detached).into_iter().map(|(object, why)| format!("{object} {why}")).collect();
        return Ok(Done { sent, followed: None, took: begun.elapsed(), kept: Vec::new(), unfinished });
    }
    let (kept, unfinished) = release(session, plan, order, &detached, kubectl);
    let followed = if wait {
        let mut telling = FollowReporter::new(begun);
        let followed = session.follow(course, &sent, order.assume, order.timeout, &mut |event| telling.describe(event));
        telling.end();
        Some(followed)
    } else {
        None
    };
    Ok(Done { sent, followed, took: begun.elapsed(), kept, unfinished })
}

/// Takes the guards from what was kept. Says of what, and what is to be told of the rest.
fn release(
    session: &LiveSession,
    plan: &Plan,
    order: &DeleteConfig,
    detached: &[DetachedObject],
    kubectl: &str,
) -> (Vec<Identity>, Vec<String>) {
    let snapshot = &session.snapshot;
    let guarded = |one: &DetachedObject, why: &str| {
        let name = snapshot.short_name(one.object);
        let command = one.release_command(snapshot, kubectl)?;
        Some(format!(
            "{name} is kept, and has itself as its controller for now, because {why}. Take that away later with: {command}"
        ))
    };
    if detached.is_empty() {
        return Default::default();
    }
    let patience = order.timeout.unwrap_or(UNTIL_RELEASED).min(UNTIL_RELEASED);
    let released = match session.release(plan, detached, patience) {
        Ok(Some(released)) => released,
        Ok(None) => {
            return (Vec::new(), detached.iter().filter_map(|one| guarded(one, "nobody waited any longer")).collect());
        }
        Err(KeepError { object, place, why, .. }) => {
            let mut unfinished = vec![format!("{object}{place} is kept, and could not be set free: {why}")];
            unfinished.extend(detached.iter().filter_map(|one| guarded(one, "setting what is kept free was given up")));
            return (Vec::new(), unfinished);
        }
    };
    let (mut kept, mut unfinished) = (Vec::new(), Vec::new());
    for ((object, released), one) in released.into_iter().zip(detached) {
        match released {
            Released::Free => kept.push(Identity::of(snapshot, object)),
            Released::Guarded(owner) => {
                let why = format!("{} is still there and would take it back", snapshot.short_name(owner));
                unfinished.extend(guarded(one, &why));
            }
            Released::Lost => {
                unfinished.push(format!("{} is gone: somebody else has deleted it.", snapshot.short_name(object)))
            }
        }
    }
    (kept, unfinished)
}

/// How it gets on, on standard error: one line that changes on a terminal, and plain lines elsewhere.
pub struct FollowReporter {
    begun: Instant,
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
}

impl FollowReporter {
    /// Nothing was told yet of what began then.
    pub fn new(begun: Instant) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
            let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        FollowReporter { begun, bar, last_line: None }
    }

    /// Something happened.
    pub fn describe(&mut self, event: FollowEvent) {
        match event {
            FollowEvent::Progress(progress) => self.progress(progress),
            FollowEvent::Waiting { progress, quiet, blockers } => self.line(&waiting(progress, quiet, &blockers)),
            FollowEvent::LostWatch { resource, lost } if lost.watched => {
                self.line(&format!(
                    "The watch of {resource} broke off ({}); its objects are asked for again.",
                    lost.reason
                ));
            }
            FollowEvent::LostWatch { resource, lost } => {
                self.line(&format!(
                    "{resource} can't be watched ({}): its objects are asked for now and then.",
                    lost.reason
                ));
            }
        }
    }

    fn progress(&mut self, progress: Progress) {
        let describe = in_words(progress);
        match &self.bar {
            Some(bar) => bar.set_message(describe),
            None if self.last_line.is_none_or(|last| last.elapsed() >= BETWEEN_LINES) => {
                let after = age(self.begun.elapsed().as_secs().try_into().unwrap_or(i64::MAX));
                self.line(&format!("{describe}, after {after}"));
            }
            None => {}
        }
    }

    fn line(&mut self, text: &str) {
        self.last_line = Some(Instant::now());
        // Nobody is left to tell when standard error is closed.
        let tell = || drop(writeln!(std::io::stderr(), "{}", visible(text)));
        match &self.bar {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }

    /// It is over.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `1,204 of 10,001 gone, 3 Terminating`
fn in_words(progress: Progress) -> String {
    // What was foretold to get stuck may go all the same.
    let all = progress.to_go.max(progress.gone);
    let mut describe = format!("{} of {} gone", thousands(progress.gone), thousands(all));
    if progress.terminating > 0 {
        describe += &format!(", {} Terminating", thousands(progress.terminating));
    }
    if progress.changed > 0 {
        describe += &format!(", {} changed", thousands(progress.changed));
    }
    describe
}

/// What is waited for.
fn waiting(progress: Progress, quiet: Duration, blockers: &[Blocker]) -> String {
    let seconds = age(quiet.as_secs().try_into().unwrap_or(i64::MAX));
    let (named, rest) = blockers.split_at(blockers.len().min(NAMED));
    let mut describe: Vec<String> = named
        .iter()
        .map(|blocker| format!("{} ({})", blocker.object.short_name(), why(blocker, Some(&blocker.object.namespace))))
        .collect();
    if !rest.is_empty() {
        describe.push(count(rest.len(), "other", "others"));
    }
    let what = if describe.is_empty() { "the collector".to_owned() } else { describe.join(", ") };
    format!("{}; nothing has moved for {seconds}. Waiting for {what}", in_words(progress))
}
