//! What a work queue of client-go tells.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
    time::{Duration, Instant},
};

use prometheus_client::{
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};

/// The collector's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Objects to be examined.
    AttemptToDelete,
    /// Owners whose dependents are to be freed.
    AttemptToOrphan,
    /// What was seen, and is not in the graph yet.
    GraphChanges,
}

const QUEUES: [Queue; 3] = [Queue::AttemptToDelete, Queue::AttemptToOrphan, Queue::GraphChanges];

impl Queue {
    /// As the collector names it.
    pub fn name(self) -> &'static str {
        match self {
            Queue::AttemptToDelete => "garbage_collector_attempt_to_delete",
            Queue::AttemptToOrphan => "garbage_collector_attempt_to_orphan",
            Queue::GraphChanges => "garbage_collector_graph_changes",
        }
    }
}

/// The numbers of one queue; a clone counts into the same ones.
#[derive(Clone, Debug)]
pub struct QueueMetrics {
    depth: Gauge,
    adds: Counter,
    retries: Counter,
    waited: Histogram,
    worked: Histogram,
    unfinished: Gauge<f64, AtomicU64>,
    longest: Gauge<f64, AtomicU64>,
    at_work: Arc<Mutex<AtWork>>,
}

/// When the work was begun that is under way, each under a number of its own.
#[derive(Debug, Default)]
struct AtWork {
    begun: BTreeMap<u64, Instant>,
    next: u64,
}

impl QueueMetrics {
    /// Something was queued that was not queued already.
    pub fn added(&self) {
        self.adds.inc();
    }

    /// So much was taken in one after the other, in this time, and so much still waits: a queue whose items are not
    /// told apart.
    pub fn took_in(&self, items: usize, waiting: usize, took: Duration) {
        self.adds.inc_by(items as u64);
        self.set_depth(waiting);
        let each = took.as_secs_f64() / items.max(1) as f64;
        (0..items).for_each(|_| self.worked.observe(each));
    }

    /// Something is to be queued once more, because it came to nothing; it is [`added`](Self::added) besides.
    pub fn retried(&self) {
        self.retries.inc();
    }

    /// So many wait now.
    pub fn set_depth(&self, waiting: usize) {
        self.depth.set(super::number(waiting));
    }

    /// Something was taken from the queue, after this time in it. The work at it lasts until what is returned is
    /// dropped.
    #[must_use = "the work is over when this is dropped"]
    pub fn took(&self, waited: Duration) -> Working {
        self.waited.observe(waited.as_secs_f64());
        let mut at_work = self.at_work();
        let number = at_work.next;
        at_work.next += 1;
        at_work.begun.insert(number, Instant::now());
        Working { queue: self.clone(), number }
    }

    /// Says how long the work lasts that is under way.
    fn look(&self) {
        let ages: Vec<f64> = self.at_work().begun.values().map(|begun| begun.elapsed().as_secs_f64()).collect();
        self.unfinished.set(ages.iter().sum());
        self.longest.set(ages.into_iter().fold(0.0, f64::max));
    }

    fn at_work(&self) -> MutexGuard<'_, AtWork> {
        // Whoever panicked left numbers that are still good.
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work under way at something that was taken from a queue.
#[derive(Debug)]
pub struct Working {
    queue: QueueMetrics,
    number: u64,
}

impl Drop for Working {
    fn drop(&mut self) {
        let begun = self.queue.at_work().begun.remove(&self.number);
        if let Some(begun) = begun {
            self.queue.worked.observe(begun.elapsed().as_secs_f64());
        }
    }
}

/// All queues.
#[derive(Debug)]
pub(super) struct Queues([QueueMetrics; 3]);

type Named<M> = Family<[(&'static str, &'static str); 1], M>;
type NamedHistogram = Family<[(&'static str, &'static str); 1], Histogram, fn() -> Histogram>;

/// From ten nanoseconds to ten seconds, as client-go has it.
fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(10e-9, 10.0, 10))
}

impl Queues {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let (depth, adds, retries) =
            (Named::<Gauge>::default(), Named::<Counter>::default(), Named::<Counter>::default());
        let waited: NamedHistogram = Family::new_with_constructor(histogram);
        let worked: NamedHistogram = Family::new_with_constructor(histogram);
        let (unfinished, longest) =
            (Named::<Gauge<f64, AtomicU64>>::default(), Named::<Gauge<f64, AtomicU64>>::default());
        registry.register("workqueue_depth", "Current depth of workqueue", depth.clone());
        registry.register("workqueue_adds", "Total number of adds handled by workqueue", adds.clone());
        registry.register("workqueue_retries", "Total number of retries handled by workqueue", retries.clone());
        let help = "How long in seconds an item stays in workqueue before being requested";
        registry.register("workqueue_queue_duration_seconds", help, waited.clone());
        let help = "How long in seconds processing an item from workqueue takes";
        registry.register("workqueue_work_duration_seconds", help, worked.clone());
        let help = "How many seconds the work has taken that is in progress and not yet in work_duration: large values mean that it is stuck";
        registry.register("workqueue_unfinished_work_seconds", help, unfinished.clone());
        let help = "How many seconds has the longest running processor for workqueue been running";
        registry.register("workqueue_longest_running_processor_seconds", help, longest.clone());
        Queues(QUEUES.map(|queue| {
            // All of them are there from the beginning, at zero.
            let name = [("name", queue.name())];
            QueueMetrics {
                depth: depth.get_or_create_owned(&name),
                adds: adds.get_or_create_owned(&name),
                retries: retries.get_or_create_owned(&name),
                waited: waited.get_or_create_owned(&name),
                worked: worked.get_or_create_owned(&name),
                unfinished: unfinished.get_or_create_owned(&name),
                longest: longest.get_or_create_owned(&name),
                at_work: Arc::default(),
            }
        }))
    }

    pub(super) fn of(&self, queue: Queue) -> &QueueMetrics {
        let Queues([delete, orphan, changes]) = self;
        match queue {
            Queue::AttemptToDelete => delete,
            Queue::AttemptToOrphan => orphan,
            Queue::GraphChanges => changes,
        }
    }

    /// Brings up to date what nobody counts.
    pub(super) fn look(&self) {
        self.0.iter().for_each(QueueMetrics::look);
    }
}
