//! What whoever sweeps tells on the way.

use std::time::Duration;

use crate::{collector::Reason, model::Identity, server::Propagation};

/// One of the two queues of the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueName {
    ToDelete,
    ToOrphan,
}

/// A write that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedWrite {
    pub object: Identity,
    pub what: What,
    pub why: Reason,
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A DELETE by this policy.
    Deleted(Propagation),
    /// References were dropped.
    Stripped,
    /// References were switched to non-blocking.
    Unblocked,
    /// A finalizer of the collector was taken away.
    Finalized,
}

/// Why a write was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteFailure {
    /// There was nothing any more to write to.
    Gone,
    /// The object has changed meanwhile.
    Conflict,
    /// It was refused, or there was no answer.
    Failed,
}

/// Something could not be done, or not be found out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Failed {
    pub object: Identity,
    /// In words.
    pub why: String,
    /// How often in a row.
    pub times: u32,
    /// Whether it is tried again; otherwise it would come out in the same way for ever (L3).
    pub retried: bool,
}

/// Is told what happens. It is called from within the work, and must not take long.
pub trait SweepObserver: Send + Sync {
    /// So many items were added to a queue, which has so many now.
    fn queued(&self, _queue: QueueName, _added: u64, _depth: usize) {}
    /// An item is taken up that has waited for so long. The work lasts until what is returned is dropped.
    fn begun(&self, _queue: QueueName, _waited: Duration) -> Box<dyn Send> {
        Box::new(())
    }
    /// An item is tried again after a back-off.
    fn retried(&self, _queue: QueueName) {}
    /// Something was written.
    fn written(&self, _written: &CompletedWrite) {}
    /// Something was to be written, and was not.
    fn not_written(&self, _what: What, _reason: &Reason, _why: WriteFailure) {}
    /// Something failed.
    fn failed(&self, _failed: &Failed) {}
}

impl SweepObserver for () {}
