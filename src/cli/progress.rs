//! Reports on standard error how reading a cluster proceeds: a bar on a terminal, and with `-v` each request.

use std::{
    io::{self, IsTerminal, Write},
    sync::OnceLock,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    cluster::{Exchange, Progress},
    model::Resource,
};

/// From this `-v` on, kubectl prints each request. Higher levels print no more here: headers and bodies contain
/// secrets.
const REQUESTS_FROM: u8 = 6;

/// Reports the progress of reading.
#[derive(Debug)]
pub(super) struct ReadProgress {
    on_terminal: bool,
    requests: bool,
    bar: OnceLock<ProgressBar>,
}

impl ReadProgress {
    /// For this level of `-v`; `None` if stderr is not a terminal and requests are not printed.
    pub(super) fn new(verbosity: u8) -> Option<Self> {
        let (on_terminal, requests) = (io::stderr().is_terminal(), verbosity >= REQUESTS_FROM);
        (on_terminal || requests).then(|| ReadProgress { on_terminal, requests, bar: OnceLock::new() })
    }
}

impl Progress for ReadProgress {
    fn started(&self, lists: usize) {
        if !self.on_terminal {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let style = ProgressStyle::with_template("Reading {pos}/{len} lists, {msg} objects");
            let bar = ProgressBar::new(lists as u64).with_message("0");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
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
        if !self.requests {
            return;
        }
        let line = line(exchange);
        // Ignore errors: stderr may be closed.
        let tell = || drop(writeln!(io::stderr(), "{line}"));
        match self.bar.get() {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }
}

/// Reports the progress of work on one object after another, on a terminal.
#[derive(Debug)]
pub(super) struct Steps(Option<ProgressBar>);

impl Steps {
    /// For this many objects. Reports nothing unless it is `wanted` and stderr is a terminal.
    pub(super) fn new(doing: &'static str, objects: usize, wanted: bool) -> Self {
        if !wanted || !io::stderr().is_terminal() {
            return Steps(None);
        }
        let style = ProgressStyle::with_template("{msg} {pos}/{len} objects");
        let bar = ProgressBar::new(objects as u64).with_message(doing);
        Steps(Some(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))))
    }

    /// One more object is done.
    pub(super) fn step(&mut self) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// `GET /api/v1/pods?limit=500 200 in 12 ms`
fn line(exchange: &Exchange<'_>) -> String {
    let Exchange { method, url, status, took } = exchange;
    let url = short(url);
    match status {
        Ok(status) => format!("{method} {url} {status} in {} ms", took.as_millis()),
        Err(why) => format!("{method} {url} failed in {} ms: {why}", took.as_millis()),
    }
}

/// A URL without its continue token, which is long and meaningless.
fn short(url: &str) -> String {
    let Some((before, token)) = url.split_once("continue=") else { return url.to_owned() };
    let after = token.find('&').map_or("", |end| &token[end..]);
    format!("{before}continue=…{after}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_request_is_one_line() {
        let took = Duration::from_micros(12_345);
        let describe = |url, status| line(&Exchange { method: "GET", url, status, took });
        assert_eq!(describe("/api/v1/pods?limit=500", Ok(200)), "GET /api/v1/pods?limit=500 200 in 12 ms");
        assert_eq!(describe("/apis", Err("connection refused")), "GET /apis failed in 12 ms: connection refused");
        assert_eq!(describe("/p?limit=500&continue=eyJ2&a=b", Ok(410)), "GET /p?limit=500&continue=…&a=b 410 in 12 ms");
        assert_eq!(describe("/p?continue=eyJ2", Ok(200)), "GET /p?continue=… 200 in 12 ms");
    }

    #[test]
    fn nobody_is_told_unless_it_was_asked_for() {
        // Whether stderr is a terminal depends on how the tests are run.
        assert!(ReadProgress::new(6).is_some_and(|telling| telling.requests));
        assert!(ReadProgress::new(5).is_none_or(|telling| !telling.requests));
    }
}
