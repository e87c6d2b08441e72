//! A place where a request waits until the test lets it pass.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;

/// Closed at first.
#[derive(Debug)]
pub struct Gate {
    reached: AtomicBool,
    /// Has no permits, and is closed when the gate opens.
    opens: Semaphore,
}

impl Default for Gate {
    fn default() -> Self {
        Self { reached: AtomicBool::new(false), opens: Semaphore::new(0) }
    }
}

impl Gate {
    /// Whether a request has come to it.
    pub fn is_reached(&self) -> bool {
        self.reached.load(Ordering::SeqCst)
    }

    /// Lets pass what waits, and what comes.
    pub fn open(&self) {
        self.opens.close();
    }

    pub(super) async fn pass(&self) {
        self.reached.store(true, Ordering::SeqCst);
        // The error says that it is open.
        let _ = self.opens.acquire().await;
    }
}
