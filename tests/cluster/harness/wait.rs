//! Waiting for something with a deadline, never for a fixed time.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Long enough to leave the servers some processor time, short enough not to be felt in a test.
const PAUSE: Duration = Duration::from_millis(50);
/// However long a look takes.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Looks until `done` says yes; panics, naming `what`, when `timeout` has passed.
#[track_caller]
pub fn wait_until(what: &str, timeout: Duration, mut done: impl FnMut() -> bool) {
    let verdict = poll(timeout, || if done() { Ok(()) } else { Err(Retry::Later("not yet".to_owned())) });
    if let Err(last) = verdict {
        panic!("waited {timeout:?} for {what}: {last}");
    }
}

/// Why a look came to nothing.
pub enum Retry {
    /// It may still come; the text is what the error says if the time runs out.
    Later(String),
    /// It never will: give up at once.
    Never(String),
}

/// Looks until there is a value; the error is the last reason why there was none. At most a third of the time is spent
/// looking, because some looks list the whole cluster.
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
