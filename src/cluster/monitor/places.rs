//! Who may ask the server at the same time as others, so that not everything is asked at once, and nobody waits for
//! what hangs.

use std::{pin::pin, sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// How many lists are read at once, and how many watches are begun at once. What is said of lists in `cluster/list.rs`
/// is true here, too.
const AT_ONCE: usize = 12;
/// Who waits for the server for longer than this waits on, and gives the place to somebody else. Answers usually take
/// some milliseconds.
pub(super) const HELD: Duration = Duration::from_secs(3);

/// The places there are.
pub(super) struct Places {
    pub(super) lists: Arc<Semaphore>,
    pub(super) watches: Arc<Semaphore>,
}

/// As many as there are.
pub(super) fn places() -> Arc<Places> {
    let free = || Arc::new(Semaphore::new(AT_ONCE));
    Arc::new(Places { lists: free(), watches: free() })
}

/// A place that was taken, unless it was given back already.
pub(super) struct Place(Option<OwnedSemaphorePermit>);

impl Place {
    /// Waits until one is free.
    pub(super) async fn take(free: &Arc<Semaphore>) -> Self {
        // Nobody closes them.
        Place(free.clone().acquire_owned().await.ok())
    }

    /// Waits for an answer of the server; the place is given back if that takes long.
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
