//! What a sweep tells while it works.

use std::{sync::Arc, time::Duration};

use crate::metrics::Unwritten;
use gc_core::{account::Missing, collector::Reason, model::Identity, server::Propagation};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueName {
    ToDelete,
    ToOrphan,
}

impl QueueName {
    pub(super) const ALL: [QueueName; 2] = [QueueName::ToDelete, QueueName::ToOrphan];
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

/// Which resources the sweep knows all objects of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncStatus {
    /// How many resources are synced.
    pub synced: usize,
    /// What is not synced, and why: resources, and group versions that could not be discovered.
    pub missing: Vec<(String, String)>,
}

/// What happens in a sweep.
#[derive(Debug)]
pub enum SweepEvent<'e> {
    /// `added` items were added to a queue, which now has `depth`.
    Queued { queue: QueueName, added: u64, depth: usize },
    /// A worker, by its number, takes an item of a queue that has waited this long.
    Begun { queue: QueueName, worker: usize, waited: Duration },
    /// The worker is done with its item.
    Done { queue: QueueName, worker: usize },
    /// An item will be tried again after a pause.
    Retried(QueueName),
    /// A write is done.
    Written(&'e CompletedWrite),
    /// A write was not done.
    NotWritten { what: What, reason: &'e Reason, why: Unwritten },
    /// Something could not be done or read.
    Failed(&'e Failed),
    /// Of a sweep that keeps running: which resources it knows, when work begins and whenever that changes.
    Synced(&'e SyncStatus),
    /// Resources that can't be watched, and why: lists are read instead, again and again. Reported once for each.
    Polled(Vec<Missing>),
    /// A discovery failed.
    Undiscovered(&'e str),
    /// So many watch events were applied in this time, and others are waiting.
    TookIn { events: usize, waiting: usize, took: Duration },
    /// A sign of life, with the number of known objects, and of virtual nodes.
    Alive { objects: usize, only_named: usize },
}

/// Hears what happens. It is called during the work, by several tasks, so it must return quickly.
pub type SweepObserver = Arc<dyn Fn(SweepEvent<'_>) + Send + Sync>;
