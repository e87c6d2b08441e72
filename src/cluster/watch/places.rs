//! Limits how many requests of the watches wait for the server at once, without waiting for hanging ones.

use std::{pin::pin, sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// The number of parallel lists, and of watches that start in parallel. The reasons in `cluster/list.rs` apply here,
/// too.
const AT_ONCE: usize = 12;
/// A request that waits longer than this keeps waiting, but releases its place. Most answers take milliseconds.
pub(super) const HELD: Duration = Duration::from_secs(3);

/// The available places.
pub(super) struct Places {
    pub(super) lists: Arc<Semaphore>,
    pub(super) watches: Arc<Semaphore>,
}

/// All places, free.
pub(super) fn places() -> Arc<Places> {
    let free = || Arc::new(Semaphore::new(AT_ONCE));
    Arc::new(Places { lists: free(), watches: free() })
}

/// A place in use, or already released.
pub(super) struct Place(Option<OwnedSemaphorePermit>);

impl Place {
    /// Waits for a free place.
    pub(super) async fn take(free: &Arc<Semaphore>) -> Self {
        // The semaphores are never closed.
        Place(free.clone().acquire_owned().await.ok())
    }

    /// Waits for an answer of the server; releases the place if that takes long.
    pub(super) async fn wait<T>(&mut self, answer: impl Future<Output = T>) -> T {
        let mut answer = pin!(answer);
        match timeout(HELD, &mut answer).await {
            Ok(answer) => answer,
            Err(_) => {
                self.0 = None;
                answer.await
            }
        }
    }
}
