//! Reports on standard error how reading a cluster proceeds: a bar on a terminal, the server's warnings, and with `-v`
//! each request.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Arc, LazyLock, OnceLock},
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::{
    cluster::{Exchange, Progress},
    model::Resource,
    render::escape::visible,
};

use super::{args::ColorArg, colour, verbosity, warnings::Warnings};

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
        let coloured = colour::wanted(colour, &io::stderr());
        ReadProgress { on_terminal, level, coloured, warnings, bar: OnceLock::new() }
    }

    /// Prints lines, above the bar if there is one.
    fn tell(&self, lines: &[String]) {
        // Ignore errors: stderr may be closed.
        let tell = || drop(io::stderr().write_all((lines.join("\n") + "\n").as_bytes()));
        if self.on_terminal { BARS.suspend(tell) } else { tell() }
    }
}

impl Progress for ReadProgress {
    fn started(&self, lists: usize) {
        if !self.on_terminal {
            return;
        }
        let bar =
            self.bar.get_or_init(|| bar("Reading {pos}/{len} lists, {msg} objects", lists as u64).with_message("0"));
        bar.set_length(lists as u64);
    }

    fn list_done(&self, _resource: &Resource, objects: usize) {
        let Some(bar) = self.bar.get() else { return };
        let before: usize = bar.message().parse().unwrap_or(0);
        bar.set_message((before + objects).to_string());
        bar.inc(1);
        if bar.position() >= bar.length().unwrap_or(0) {
            bar.finish_and_clear();
        }
    }

    fn exchanged(&self, exchange: &Exchange<'_>) {
        let lines = verbosity::lines(self.level, exchange);
        if !lines.is_empty() {
            self.tell(&lines);
        }
    }

    fn warned(&self, text: &str) {
        if let Some(line) = self.warnings.line(text, self.coloured) {
            self.tell(&[line]);
        }
    }

    fn untested(&self, text: &str) {
        if self.warnings.is_news(text) {
            self.tell(&[visible(text).into_owned()]);
        }
    }
}
