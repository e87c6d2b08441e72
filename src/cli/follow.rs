//! Reports on standard error how a cascade proceeds: one changing line on a terminal, plain lines elsewhere.

use std::{
    collections::BTreeSet,
    io::{IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    act::FollowEvent,
    plan::tracker::{Blocker, Progress},
    render::{deletion::why, go_quote::visible},
    wording::{age, count, thousands},
};

/// The shortest interval between two lines if stderr is not a terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(5);
/// The largest number of blockers to name.
const NAMED: usize = 3;

/// Reports the progress on standard error: one changing line on a terminal, plain lines elsewhere.
pub(super) struct FollowReporter {
    begun: Instant,
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
    /// The resources of whose lost watches a note tells.
    noted: BTreeSet<String>,
}

impl FollowReporter {
    /// Reports on a cascade that began at this time.
    pub(super) fn new(begun: Instant) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
            let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        FollowReporter { begun, bar, last_line: None, noted: BTreeSet::new() }
    }

    /// Leaves out these resources where watches are lost: a note tells of them.
    pub(super) fn with_noted(self, noted: BTreeSet<String>) -> Self {
        FollowReporter { noted, ..self }
    }

    /// Reports an event.
    pub(super) fn describe(&mut self, event: FollowEvent) {
        match event {
            FollowEvent::Progress(progress) => self.progress(progress),
            FollowEvent::Waiting { progress, quiet, blockers } => self.line(&waiting(progress, quiet, &blockers)),
            FollowEvent::LostWatch { resource, .. } if self.noted.contains(&resource) => {}
            FollowEvent::LostWatch { resource, lost } if lost.watched => {
                self.line(&format!("Lost the watch of {resource} ({}); reading its objects again.", lost.reason));
            }
            FollowEvent::LostWatch { resource, lost } => {
                self.line(&format!("Cannot watch {resource} ({}): polling its objects instead.", lost.reason));
            }
            FollowEvent::Polled { resource, reason } => self.line(&polled(&resource, &reason)),
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
        // Ignore errors: stderr may be closed.
        let tell = || drop(writeln!(std::io::stderr(), "{}", visible(text)));
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

/// Describes that lists take a watch's place.
pub(super) fn polled(resource: &str, reason: &str) -> String {
    format!("Cannot watch {resource} ({reason}): listing it again and again instead.")
}

/// `1,204 of 10,001 deleted, 3 Terminating`
fn in_words(progress: Progress) -> String {
    // Objects that were predicted to get stuck may be deleted after all.
    let all = progress.to_go.max(progress.gone);
    let mut describe = format!("{} of {} deleted", thousands(progress.gone), thousands(all));
    if progress.terminating > 0 {
        describe += &format!(", {} Terminating", thousands(progress.terminating));
    }
    if progress.changed > 0 {
        describe += &format!(", {} changed", thousands(progress.changed));
    }
    describe
}

/// Describes what the cascade waits for.
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
    format!("{}; no change for {seconds}. Waiting for {what}", in_words(progress))
}
