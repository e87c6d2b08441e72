//! Liveness and readiness of a running sweep.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

/// The health of a sweep; clones share it.
#[derive(Clone, Debug)]
pub struct Health(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    last: Instant,
    patience: Duration,
    not_ready: Option<String>,
}

impl Health {
    /// Alive now, and from then on while [`beat`](Self::beat) is called at least every `patience`. Not ready yet.
    pub fn new(patience: Duration) -> Self {
        Health(Arc::new(Mutex::new(State {
            last: Instant::now(),
            patience,
            not_ready: Some("not synced yet".to_owned()),
        })))
    }

    /// Records a sign of life.
    pub fn beat(&self) {
        self.0.lock().last = Instant::now();
    }

    /// Sets whether it is ready, or why not.
    pub fn set_ready(&self, ready: Result<(), String>) {
        self.0.lock().not_ready = ready.err();
    }

    /// Whether it is alive.
    ///
    /// # Errors
    /// How long ago the last sign of life was, if too long.
    pub fn alive(&self) -> Result<(), String> {
        let state = self.0.lock();
        let silent = state.last.elapsed();
        if silent <= state.patience {
            return Ok(());
        }
        Err(format!("no activity for {}s (limit {}s)", silent.as_secs(), state.patience.as_secs()))
    }

    /// Whether it is ready.
    ///
    /// # Errors
    /// Why it is not ready.
    pub fn ready(&self) -> Result<(), String> {
        self.alive()?;
        self.0.lock().not_ready.clone().map_or(Ok(()), Err)
    }
}
