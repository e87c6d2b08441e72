//! Signals that end the process, unless something hears them; and time, as an input of loops that wait.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use gc_cluster::cluster::clock;

use super::{OperationError, Session, session::Source};

/// Ctrl-C.
pub const INTERRUPT: i32 = 2;
pub const TERMINATE: i32 = 15;
pub const HANG_UP: i32 = 1;

/// Hears signals. Where there are none, as on Windows, it hears Ctrl-C.
pub struct Signals {
    #[cfg(unix)]
    heard: Vec<(i32, tokio::signal::unix::Signal)>,
}

impl Signals {
    /// From now on, these don't end the process. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// They can't be heard.
    pub fn hear(numbers: &[i32]) -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let heard = numbers.iter().map(|number| Ok((*number, signal(SignalKind::from_raw(*number))?)));
            Ok(Signals { heard: heard.collect::<io::Result<_>>()? })
        }
        #[cfg(not(unix))]
        {
            let _ = numbers;
            Ok(Signals {})
        }
    }

    /// The number of the next one.
    pub async fn next(&mut self) -> i32 {
        #[cfg(unix)]
        return std::future::poll_fn(|context| {
            let mut heard = self.heard.iter_mut();
            let next = heard.find_map(|(number, signal)| signal.poll_recv(context).is_ready().then_some(*number));
            next.map_or(std::task::Poll::Pending, std::task::Poll::Ready)
        })
        .await;
        #[cfg(not(unix))]
        match tokio::signal::ctrl_c().await {
            Ok(()) => INTERRUPT,
            Err(_) => std::future::pending().await,
        }
    }
}

/// Resolves at the first SIGTERM or SIGINT. Must be called within a tokio runtime.
///
/// # Errors
/// They can't be heard.
pub fn ended() -> Result<impl Future<Output = ()>, OperationError> {
    let mut signals = Signals::hear(&[TERMINATE, INTERRUPT]).map_err(OperationError::Runtime)?;
    Ok(async move {
        signals.next().await;
    })
}

/// The time of what a session has read, in Unix seconds; of a dump, only the earliest that it can be.
pub(super) fn now<S: Source + ?Sized>(session: &Session<S>) -> Option<i64> {
    if session.is_live() { Some(clock::now().as_second()) } else { session.snapshot.time() }
}

pub trait Clock {
    /// The time of day, in seconds since 1970.
    fn now(&self) -> i64;

    /// The time since this clock was started.
    fn elapsed(&self) -> Duration;

    fn sleep(&self, time: Duration);
}

/// This machine's clock; the time of day is that of the API server, if one has answered.
pub struct SystemClock(Instant);

impl SystemClock {
    pub fn start() -> Self {
        SystemClock(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        clock::now().as_second()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }
}
