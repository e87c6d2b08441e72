//! Resources that are listed again and again because their watches fail, told together: what fails for one cause fails
//! within a moment.

use std::{
    mem,
    time::{Duration, Instant},
};

/// How long more are waited for.
const TOGETHER: Duration = Duration::from_secs(1);

/// Resources that are still to be told, each with the reason.
#[derive(Debug, Default)]
pub(super) struct Polled {
    found: Vec<(String, String)>,
    since: Option<Instant>,
}

impl Polled {
    pub(super) fn add(&mut self, resource: String, reason: String) {
        self.found.push((resource, reason));
        self.since.get_or_insert_with(Instant::now);
    }

    /// When to tell; `None` if there is nothing.
    pub(super) fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + TOGETHER)
    }

    /// What is to be told now; all of it if no more is waited for.
    pub(super) fn take(&mut self, all: bool) -> Vec<(String, String)> {
        if !all && self.due().is_some_and(|due| due > Instant::now()) {
            return Vec::new();
        }
        self.since = None;
        mem::take(&mut self.found)
    }
}
