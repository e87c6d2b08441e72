//! The delete itself: the requests that the user sends, and following what comes of them.

use std::{
    io::{IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    act::{FollowEvent, Followed, Sent},
    foretell::{
        Course, Plan,
        course::{Blocker, Progress},
    },
    render::{deletion::why, go_quote::visible},
    wording::{age, count, thousands},
};

use super::{super::session::Session, order::Order};

/// Piped, progress is told no more often.
const BETWEEN_LINES: Duration = Duration::from_secs(5);
/// So many of those that are waited for are named.
const NAMED: usize = 3;

/// What came of a delete.
pub struct Done {
    pub sent: Vec<Sent>,
    pub followed: Option<Followed>,
    pub took: Duration,
}

/// Sends the DELETEs, and follows what comes of them unless nobody is to wait.
pub fn carry_out(session: &mut Session, plan: &Plan, order: &Order, wait: bool) -> Done {
    let begun = Instant::now();
    let course = Course::new(&session.snapshot, plan);
    let sent = session.delete(&plan.request.targets, &order.deletion(false), &mut |_| ());
    let nothing_done = sent.iter().all(|sent| sent.answered.failed());
    let followed = if wait && !nothing_done {
        let mut telling = Telling::new(begun);
        let followed = session.follow(course, &sent, order.assume, order.timeout, &mut |event| telling.told(event));
        telling.end();
        followed
    } else {
        None
    };
    Done { sent, followed, took: begun.elapsed() }
}

/// How it gets on, on standard error: one line that changes on a terminal, and plain lines elsewhere.
struct Telling {
    begun: Instant,
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
}

impl Telling {
    fn new(begun: Instant) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
            let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Telling { begun, bar, last_line: None }
    }

    fn told(&mut self, event: FollowEvent) {
        match event {
            FollowEvent::Progress(progress) => self.progress(progress),
            FollowEvent::Waiting { progress, quiet, blockers } => self.line(&waiting(progress, quiet, &blockers)),
            FollowEvent::Lost { resource, lost } if lost.watched => {
                self.line(&format!("The watch of {resource} broke off ({}); its objects are asked for again.", lost.reason));
            }
            FollowEvent::Lost { resource, lost } => {
                self.line(&format!("{resource} can't be watched ({}): its objects are asked for now and then.", lost.reason));
            }
        }
    }

    fn progress(&mut self, progress: Progress) {
        let told = in_words(progress);
        match &self.bar {
            Some(bar) => bar.set_message(told),
            None if self.last_line.is_none_or(|last| last.elapsed() >= BETWEEN_LINES) => {
                let after = age(self.begun.elapsed().as_secs().try_into().unwrap_or(i64::MAX));
                self.line(&format!("{told}, after {after}"));
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

    fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `1,204 of 10,001 gone, 3 Terminating`
fn in_words(progress: Progress) -> String {
    let mut told = format!("{} of {} gone", thousands(progress.gone), thousands(progress.to_go));
    if progress.terminating > 0 {
        told += &format!(", {} Terminating", thousands(progress.terminating));
    }
    if progress.changed > 0 {
        told += &format!(", {} changed", thousands(progress.changed));
    }
    told
}

/// What is waited for.
fn waiting(progress: Progress, quiet: Duration, blockers: &[Blocker]) -> String {
    let seconds = age(quiet.as_secs().try_into().unwrap_or(i64::MAX));
    let (named, rest) = blockers.split_at(blockers.len().min(NAMED));
    let mut told: Vec<String> = named
        .iter()
        .map(|blocker| format!("{} ({})", blocker.object.short_name(), why(blocker, Some(&blocker.object.namespace))))
        .collect();
    if !rest.is_empty() {
        told.push(count(rest.len(), "other", "others"));
    }
    let what = if told.is_empty() { "the collector".to_owned() } else { told.join(", ") };
    format!("{}; nothing has moved for {seconds}. Waiting for {what}", in_words(progress))
}
