//! Time, as an input of loops that wait.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{Session, session::Source};

/// The time of what a session has read, in Unix seconds; of a dump, only the earliest that it can be.
pub(super) fn now<S: Source + ?Sized>(session: &Session<S>) -> Option<i64> {
    if session.is_live() { Some(jiff::Timestamp::now().as_second()) } else { session.snapshot.time() }
}

pub trait Clock {
    /// The time of day, in seconds since 1970.
    fn now(&self) -> i64;

    /// The time since this clock was started.
    fn elapsed(&self) -> Duration;

    fn sleep(&self, time: Duration);
}

/// The clock of this machine.
pub struct SystemClock(Instant);

impl SystemClock {
    pub fn start() -> Self {
        SystemClock(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        jiff::Timestamp::now().as_second()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }
}
