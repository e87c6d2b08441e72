//! Whether a sweep is alive, and whether it works already.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// What is said of a sweep's health; a clone says the same.
#[derive(Clone, Debug)]
pub struct Health(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    last: Instant,
    patience: Duration,
    not_ready: Option<String>,
}

impl Health {
    /// Alive as of now, and from then on for as long as never more than `patience` passes without a
    /// [`beat`](Self::beat). Not ready yet.
    pub fn new(patience: Duration) -> Self {
        Health(Arc::new(Mutex::new(State {
            last: Instant::now(),
            patience,
            not_ready: Some("not synced yet".to_owned()),
        })))
    }

    /// A sign of life.
    pub fn beat(&self) {
        self.state().last = Instant::now();
    }

    /// It works now, or why not.
    pub fn set_ready(&self, ready: Result<(), String>) {
        self.state().not_ready = ready.err();
    }

    /// Whether there was a sign of life.
    ///
    /// # Errors
    /// When there was none for too long, with how long.
    pub fn alive(&self) -> Result<(), String> {
        let state = self.state();
        let silent = state.last.elapsed();
        if silent <= state.patience {
            return Ok(());
        }
        Err(format!("no sign of life for {}s, which is more than {}s", silent.as_secs(), state.patience.as_secs()))
    }

    /// Whether it works.
    ///
    /// # Errors
    /// When it does not, with the reason.
    pub fn ready(&self) -> Result<(), String> {
        self.alive()?;
        self.state().not_ready.clone().map_or(Ok(()), Err)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
