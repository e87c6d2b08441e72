//! The work queue metrics of client-go.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use prometheus_client::{
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};
use strum::IntoStaticStr;

use super::registered;

/// The collector's queues, and its names of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(prefix = "garbage_collector_", serialize_all = "snake_case", const_into_str)]
pub enum Queue {
    /// Objects to examine.
    AttemptToDelete,
    /// Owners whose dependents are to be orphaned.
    AttemptToOrphan,
    /// Events that the graph hasn't processed yet.
    GraphChanges,
}

const QUEUES: [Queue; 3] = [Queue::AttemptToDelete, Queue::AttemptToOrphan, Queue::GraphChanges];

/// The metrics of one queue; clones share them.
#[derive(Clone, Debug)]
pub struct QueueMetrics {
    depth: Gauge,
    adds: Counter,
    retries: Counter,
    waited: Histogram,
    worked: Histogram,
    unfinished: Gauge<f64, AtomicU64>,
    longest: Gauge<f64, AtomicU64>,
    /// When each worker that is at work took its item.
    in_progress: Arc<Mutex<BTreeMap<usize, Instant>>>,
}

impl QueueMetrics {
    /// Counts an item that was not queued already.
    pub fn added(&self) {
        self.adds.inc();
    }

    /// Counts a batch of items processed in this time, and sets the number still waiting: for a queue whose items have
    /// no identity.
    pub fn took_in(&self, items: usize, waiting: usize, took: Duration) {
        self.adds.inc_by(items as u64);
        self.set_depth(waiting);
        let each = took.as_secs_f64() / items.max(1) as f64;
        (0..items).for_each(|_| self.worked.observe(each));
    }

    /// Counts an item queued again after a failure, in addition to [`added`](Self::added).
    pub fn retried(&self) {
        self.retries.inc();
    }

    /// Sets the number of waiting items.
    pub fn set_depth(&self, waiting: usize) {
        self.depth.set(super::gauge_value(waiting));
    }

    /// Counts an item that a worker, by its number, took from the queue after this time.
    pub fn begun(&self, worker: usize, waited: Duration) {
        self.waited.observe(waited.as_secs_f64());
        self.in_progress.lock().insert(worker, Instant::now());
    }

    /// Counts the work of a worker on the item that it took.
    pub fn done(&self, worker: usize) {
        if let Some(begun) = self.in_progress.lock().remove(&worker) {
            self.worked.observe(begun.elapsed().as_secs_f64());
        }
    }

    /// Updates the gauges of the work in progress.
    fn update(&self) {
        let ages: Vec<f64> = self.in_progress.lock().values().map(|begun| begun.elapsed().as_secs_f64()).collect();
        self.unfinished.set(ages.iter().sum());
        self.longest.set(ages.into_iter().fold(0.0, f64::max));
    }
}

/// All queues.
#[derive(Debug)]
pub(super) struct Queues([QueueMetrics; 3]);

type Named<M, C = fn() -> M> = Family<[(&'static str, &'static str); 1], M, C>;

/// Buckets from ten nanoseconds to ten seconds, as in client-go.
fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(10e-9, 10.0, 10))
}

impl Queues {
    pub(super) fn register(all: &mut Registry) -> Self {
        let histograms = || Named::new_with_constructor(histogram as fn() -> Histogram);
        let depth: Named<Gauge> = registered(all, "workqueue_depth", "Current depth of workqueue", Family::default());
        let help = "Total number of adds handled by workqueue";
        let adds: Named<Counter> = registered(all, "workqueue_adds", help, Family::default());
        let help = "Total number of retries handled by workqueue";
        let retries: Named<Counter> = registered(all, "workqueue_retries", help, Family::default());
        let help = "How long in seconds an item stays in workqueue before being requested";
        let waited = registered(all, "workqueue_queue_duration_seconds", help, histograms());
        let help = "How long in seconds processing an item from workqueue takes";
        let worked = registered(all, "workqueue_work_duration_seconds", help, histograms());
        let help = "How many seconds the work has taken that is in progress and not yet in work_duration: large values \
            mean that it is stuck";
        let unfinished: Named<Gauge<f64, AtomicU64>> =
            registered(all, "workqueue_unfinished_work_seconds", help, Family::default());
        let help = "How many seconds has the longest running processor for workqueue been running";
        let longest: Named<Gauge<f64, AtomicU64>> =
            registered(all, "workqueue_longest_running_processor_seconds", help, Family::default());
        Queues(QUEUES.map(|queue| {
            // Create all queues at once, so that they are exported at zero.
            let name = [("name", queue.into_str())];
            QueueMetrics {
                depth: depth.get_or_create_owned(&name),
                adds: adds.get_or_create_owned(&name),
                retries: retries.get_or_create_owned(&name),
                waited: waited.get_or_create_owned(&name),
                worked: worked.get_or_create_owned(&name),
                unfinished: unfinished.get_or_create_owned(&name),
                longest: longest.get_or_create_owned(&name),
                in_progress: Arc::default(),
            }
        }))
    }

    pub(super) fn of(&self, queue: Queue) -> &QueueMetrics {
        &self.0[queue as usize]
    }

    /// Updates the gauges.
    pub(super) fn update(&self) {
        self.0.iter().for_each(QueueMetrics::update);
    }
}
