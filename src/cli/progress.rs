//! Reports on standard error how work proceeds: a bar while a cluster is read, the server's warnings, with `-v` each
//! request, and a cascade. On a terminal, lines change; long work has one once it has taken a second.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Arc, LazyLock, OnceLock},
    thread,
    time::{Duration, Instant},
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use parking_lot::{Condvar, Mutex};

use crate::render::{account::polled, deletion::why, escape::visible};
use gc_cluster::{act::FollowEvent, cluster::ReadEvent};
use gc_core::{
    plan::tracker::{self, Blocker},
    progress::{self, Show, Work},
    wording::{count, duration, thousands},
};

use super::{
    args::ColorArg,
    report,
    verbosity::{self, Warnings},
};

/// All bars of this process, so that none is drawn over another, or over a line of text.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// How often a spinner moves.
pub(super) const TICK: Duration = Duration::from_millis(120);

/// A bar on standard error.
pub(super) fn bar(template: &str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    BARS.add(ProgressBar::new(length).with_style(style))
}

/// A line on standard error that changes, with something that moves.
pub(super) fn spinner(template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = BARS.add(ProgressBar::new_spinner().with_style(style));
    bar.enable_steady_tick(TICK);
    bar
}

/// Reports the progress of reading, and what the server says besides.
#[derive(Debug)]
pub(super) struct ReadProgress {
    on_terminal: bool,
    /// Of `-v`.
    level: i32,
    coloured: bool,
    warnings: Arc<Warnings>,
    bar: OnceLock<ProgressBar>,
}

impl ReadProgress {
    /// For this level of `-v`.
    pub(super) fn new(level: i32, colour: ColorArg, warnings: Arc<Warnings>) -> Self {
        let on_terminal = io::stderr().is_terminal();
        let coloured = report::is_coloured(colour, &io::stderr());
        ReadProgress { on_terminal, level, coloured, warnings, bar: OnceLock::new() }
    }

    /// Prints lines, above the bar if there is one.
    fn tell(&self, lines: &[String]) {
        // Ignore errors: stderr may be closed.
        let tell = || drop(io::stderr().write_all((lines.join("\n") + "\n").as_bytes()));
        if self.on_terminal { BARS.suspend(tell) } else { tell() }
    }
}

impl ReadProgress {
    /// Shows what happens.
    pub(super) fn hear(&self, event: ReadEvent<'_>) {
        match event {
            ReadEvent::Started(lists) if self.on_terminal => {
                let begin = || bar("Reading {pos}/{len} lists, {msg} objects", lists as u64).with_message("0");
                self.bar.get_or_init(begin).set_length(lists as u64);
            }
            ReadEvent::Started(_) => {}
            ReadEvent::Listed(objects) => {
                let Some(bar) = self.bar.get() else { return };
                let before: usize = bar.message().parse().unwrap_or(0);
                bar.set_message((before + objects).to_string());
                bar.inc(1);
                if bar.position() >= bar.length().unwrap_or(0) {
                    bar.finish_and_clear();
                }
            }
            ReadEvent::Exchanged(exchange) => {
                let lines = verbosity::lines(self.level, exchange);
                if !lines.is_empty() {
                    self.tell(&lines);
                }
            }
            ReadEvent::Warned(text) => {
                if let Some(line) = self.warnings.line(text, self.coloured) {
                    self.tell(&[line]);
                }
            }
            ReadEvent::Untested(text) if self.warnings.is_news(text) => self.tell(&[visible(text).into_owned()]),
            ReadEvent::Untested(_) => {}
        }
    }
}

/// How long work may take before it is told of.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a line stays as it is.
const BETWEEN: Duration = Duration::from_millis(200);

/// Shows from now on how far long work is, if standard error is a terminal.
pub(super) fn show_work() {
    if io::stderr().is_terminal() {
        progress::show(Box::<WorkLine>::default());
    }
}

#[derive(Default)]
struct WorkLine(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What is being done, and since when.
    work: Option<(Work, Instant)>,
    /// The last work, and how long it took. A simulation is repeated until nothing is missing.
    before: Option<(Work, Duration)>,
    bar: Option<ProgressBar>,
    is_drawing: bool,
}

impl Show for WorkLine {
    fn begins(&self, work: Work) {
        let mut state = self.0.state.lock();
        state.work = Some((work, Instant::now()));
        if !state.is_drawing {
            state.is_drawing = true;
            let shared = self.0.clone();
            thread::spawn(move || shared.draw());
        }
        self.0.changed.notify_all();
    }

    fn ends(&self, work: Work) {
        let mut state = self.0.state.lock();
        let took = state.work.take().map_or(Duration::ZERO, |(_, since)| since.elapsed());
        state.before = Some((work, took + state.took_before(work)));
        if let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl State {
    /// How long the same work took just before.
    fn took_before(&self, work: Work) -> Duration {
        self.before.filter(|(before, _)| *before == work).map_or(Duration::ZERO, |(_, took)| took)
    }
}

impl Shared {
    /// Draws for as long as the process runs. It draws while it holds the lock, so nothing is drawn after the end.
    fn draw(&self) {
        let mut state = self.state.lock();
        loop {
            let Some((work, since)) = state.work else {
                self.changed.wait(&mut state);
                continue;
            };
            if since.elapsed() + state.took_before(work) >= PATIENCE {
                let (done, of) = progress::so_far();
                state.bar.get_or_insert_with(|| bar("{msg}", 0)).set_message(line(work, done, of));
            }
            self.changed.wait_for(&mut state, BETWEEN);
        }
    }
}

/// How far it is, in words; `of` is 0 if nobody knows.
fn line(work: Work, done: u64, of: u64) -> String {
    let many = |number: u64| thousands(usize::try_from(number).unwrap_or(usize::MAX));
    let megabytes = |bytes: u64| many(bytes.div_ceil(1_000_000));
    match (work, of) {
        (Work::Reading, 0) => format!("Reading files: {} MB", megabytes(done)),
        (Work::Reading, of) => format!("Reading files: {} of {} MB", megabytes(done), megabytes(of)),
        (Work::Simulating, 0) => format!("Simulating events: {} steps", many(done)),
        (Work::Simulating, of) => format!("Simulating orders of events: {} of at most {} steps", many(done), many(of)),
        (Work::LookingAgain, _) => "Looking again: does it last?".to_owned(),
        (Work::Archiving, 0) => format!("Archiving: {} objects", many(done)),
        (Work::Restoring, of) => format!("Restoring: {} of {} objects", many(done), many(of)),
        (Work::Archiving, of) => format!("Archiving: {} of {} objects", many(done), many(of)),
    }
}

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

    fn progress(&mut self, progress: tracker::Progress) {
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
        let tell = || report::say(text);
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
fn in_words(progress: tracker::Progress) -> String {
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
fn waiting(progress: tracker::Progress, quiet: Duration, blockers: &[Blocker]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_work_is() {
        assert_eq!(line(Work::Reading, 1_500_000, 604_000_000), "Reading files: 2 of 604 MB");
        assert_eq!(line(Work::Reading, 1, 0), "Reading files: 1 MB");
        assert_eq!(line(Work::Simulating, 1_024, 0), "Simulating events: 1,024 steps");
        let orders = "Simulating orders of events: 1,024 of at most 5,000,000 steps";
        assert_eq!(line(Work::Simulating, 1_024, 5_000_000), orders);
        assert_eq!(line(Work::Archiving, 12, 1_200), "Archiving: 12 of 1,200 objects");
    }

    #[test]
    fn work_that_is_repeated_is_one() {
        let shown = WorkLine::default();
        let took = |work| shown.0.state.lock().took_before(work);
        for _ in 0..2 {
            shown.begins(Work::Simulating);
            thread::sleep(Duration::from_millis(2));
            shown.ends(Work::Simulating);
        }
        assert!(took(Work::Simulating) >= Duration::from_millis(4));
        assert_eq!(took(Work::Reading), Duration::ZERO);
    }
}
