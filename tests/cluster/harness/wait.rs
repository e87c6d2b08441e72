//! Waits for a condition with a deadline, never for a fixed time.

use std::{
    thread,
    time::{Duration, Instant},
};

/// What comes has come by then, on the busiest machine. Only a test that fails waits that long.
pub const PATIENCE: Duration = Duration::from_mins(5);
/// Long enough to leave the servers some processor time, short enough not to be felt in a test.
const PAUSE: Duration = Duration::from_millis(50);
/// The longest pause, however long a look takes.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Calls `done` until it returns true; panics with `what` after `timeout`.
#[track_caller]
pub fn wait_until(what: &str, timeout: Duration, mut done: impl FnMut() -> bool) {
    let verdict = poll(timeout, || if done() { Ok(()) } else { Err(Retry::Later("not yet".to_owned())) });
    if let Err(last) = verdict {
        panic!("waited {timeout:?} for {what}: {last}");
    }
}

/// Why a look found no value.
pub enum Retry {
    /// The value may still come. The text is the error if the time runs out.
    Later(String),
    /// The value will never come: give up at once.
    Never(String),
}

/// Looks until there is a value; otherwise returns the last reason why there was none. Spends at most a third of the
/// time looking, because some looks list the whole cluster.
pub fn poll<T>(timeout: Duration, mut look: impl FnMut() -> Result<T, Retry>) -> Result<T, String> {
    let deadline = Instant::now() + timeout;
    loop {
        let begun = Instant::now();
        let found = look();
        let pause = PAUSE.max(2 * begun.elapsed()).min(LONGEST_PAUSE);
        match found {
            Ok(value) => return Ok(value),
            Err(Retry::Never(why)) => return Err(why),
            Err(Retry::Later(why)) if Instant::now() >= deadline => return Err(why),
            Err(Retry::Later(_)) => thread::sleep(pause),
        }
    }
}
