//! Reports on standard error how a cascade proceeds: one changing line on a terminal, plain lines elsewhere.

use std::{
    io::IsTerminal as _,
    time::{Duration, Instant},
};

use indicatif::ProgressBar;

use crate::render::{account::polled, deletion::why};
use gc_cluster::act::FollowEvent;
use gc_core::{
    plan::tracker::{Blocker, Progress},
    wording::{count, duration, thousands},
};

use super::{progress::spinner, report::say};

/// The shortest interval between two lines if stderr is not a terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(5);
/// The largest number of blockers to name.
const NAMED: usize = 3;

/// Reports the progress on standard error: one changing line on a terminal, plain lines elsewhere.
pub(super) struct FollowReporter {
    begun: Instant,
    /// The changing line, once there is something to report.
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
    /// How many lost watches were told of. One restart of an API server ends all.
    lost: usize,
}

impl FollowReporter {
    /// Reports on a cascade that began at this time.
    pub(super) fn new(begun: Instant) -> Self {
        FollowReporter { begun, bar: None, last_line: None, lost: 0 }
    }

    /// Reports an event.
    pub(super) fn describe(&mut self, event: FollowEvent) {
        if self.bar.is_none() && std::io::stderr().is_terminal() {
            self.bar = Some(spinner("{spinner} {msg} {elapsed}"));
        }
        let is_lost = matches!(&event, FollowEvent::LostWatch { lost, .. } if lost.watched);
        self.lost += usize::from(is_lost);
        match event {
            _ if is_lost && self.lost > NAMED + 1 => {}
            _ if is_lost && self.lost == NAMED + 1 => self.line("Lost more watches; reading their objects again, too."),
            FollowEvent::Progress(progress) => self.progress(progress),
            event => self.line(&describe(&event)),
        }
    }

    fn progress(&mut self, progress: Progress) {
        let describe = in_words(progress);
        match &self.bar {
            Some(bar) => bar.set_message(describe),
            None if self.last_line.is_none_or(|last| last.elapsed() >= BETWEEN_LINES) => {
                let after = duration(self.begun.elapsed());
                self.line(&format!("{describe}, after {after}"));
            }
            None => {}
        }
    }

    fn line(&mut self, text: &str) {
        self.last_line = Some(Instant::now());
        let tell = || say(text);
        match &self.bar {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }

    /// Removes the changing line.
    pub(super) fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// An event in words.
pub(super) fn describe(event: &FollowEvent) -> String {
    match event {
        FollowEvent::Progress(progress) => in_words(*progress),
        FollowEvent::Waiting { progress, quiet, blockers } => waiting(*progress, *quiet, blockers),
        FollowEvent::LostWatch { resource, lost } if lost.watched => {
            format!("Lost the watch of {resource} ({}); reading its objects again.", lost.reason)
        }
        FollowEvent::LostWatch { resource, lost } => {
            format!("Cannot watch {resource} ({}): polling its objects instead.", lost.reason)
        }
        FollowEvent::Polled(resources) => polled(resources),
    }
}

/// `1,204 of 10,001 deleted, 3 Terminating`
fn in_words(progress: Progress) -> String {
    // Objects that were predicted to get stuck may be deleted after all.
    let all = progress.to_go.max(progress.gone);
    let mut said: Vec<String> = Vec::new();
    if all > 0 {
        said.push(format!("{} of {} deleted", thousands(progress.gone), thousands(all)));
    }
    if progress.terminating > 0 {
        said.push(format!("{} Terminating", thousands(progress.terminating)));
    }
    if progress.changed > 0 {
        said.push(format!("{} changed", thousands(progress.changed)));
    }
    if said.is_empty() { "nothing deleted".to_owned() } else { said.join(", ") }
}

/// Describes what the cascade waits for.
fn waiting(progress: Progress, quiet: Duration, blockers: &[Blocker]) -> String {
    let seconds = duration(quiet);
    let (named, rest) = blockers.split_at(blockers.len().min(NAMED));
    let mut describe: Vec<String> = named
        .iter()
        .map(|blocker| match why(blocker, Some(&blocker.object.namespace)) {
            why if why.is_empty() => blocker.object.short_name(),
            why => format!("{} ({why})", blocker.object.short_name()),
        })
        .collect();
    if !rest.is_empty() {
        describe.push(count(rest.len(), "other", "others"));
    }
    let what = if describe.is_empty() { "the collector".to_owned() } else { describe.join(", ") };
    format!("{}; no change for {seconds}. Waiting for {what}", in_words(progress))
}
