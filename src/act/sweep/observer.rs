//! What a sweep reports while it works.

use std::time::Duration;

use crate::{collector::Reason, model::Identity, server::Propagation};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueName {
    ToDelete,
    ToOrphan,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedWrite {
    pub object: Identity,
    pub what: What,
    pub why: Reason,
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A DELETE with this propagation policy.
    Deleted(Propagation),
    /// References were removed.
    Stripped,
    /// References were made non-blocking.
    Unblocked,
    /// A finalizer of the collector was removed.
    Finalized,
}

/// Why a write was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteFailure {
    /// The object no longer exists.
    Gone,
    /// The object has changed in between.
    Conflict,
    /// The API server refused, or didn't answer.
    Failed,
}

/// Something that could not be done or read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Failed {
    pub object: Identity,
    /// In words.
    pub why: String,
    /// How often in a row.
    pub times: u32,
    /// Whether it is tried again; otherwise, it would always fail in the same way (L3).
    pub retried: bool,
}

/// Receives what happens. Called during the work: implementations must return quickly.
pub trait SweepObserver: Send + Sync {
    /// `added` items were added to a queue, which now has `depth`.
    fn queued(&self, _queue: QueueName, _added: u64, _depth: usize) {}
    /// A worker takes an item that has waited this long. The work lasts until the returned value is dropped.
    fn begun(&self, _queue: QueueName, _waited: Duration) -> Box<dyn Send> {
        Box::new(())
    }
    /// An item will be tried again after a pause.
    fn retried(&self, _queue: QueueName) {}
    fn written(&self, _written: &CompletedWrite) {}
    /// A write failed.
    fn not_written(&self, _what: What, _reason: &Reason, _why: WriteFailure) {}
    fn failed(&self, _failed: &Failed) {}
}

impl SweepObserver for () {}
