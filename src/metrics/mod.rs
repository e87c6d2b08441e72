//! What a running sweep tells of itself: numbers for Prometheus, and whether it is alive.
//!
//! What Kubernetes' own collector tells has the same name here, with the same labels and buckets: dashboards and alerts
//! go on working. The rest begins with `kubectl_gc_sweep_`.

mod health;
mod listen;
mod process;
mod queue;
mod requests;
mod serve;

use std::sync::Arc;

use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

pub use health::Health;
pub use listen::{Listen, ListenError};
pub use queue::{Queue, QueueMetrics, Working};
pub use requests::RequestMetrics;
pub use serve::{Bound, ServeError, bind};

use self::{process::Process, queue::Queues, requests::Requests};

/// All the numbers; a clone counts into the same ones. Counting costs next to nothing, and whether anybody reads makes
/// no difference.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    registry: Registry,
    process: Process,
    queues: Queues,
    requests: Requests,
    resources_not_synced: Counter,
    objects: Gauge,
    virtual_objects: Gauge,
    resources: Family<[(&'static str, &'static str); 1], Gauge>,
    writes: Family<[(&'static str, &'static str); 2], Counter>,
}

/// What is written to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Write {
    /// It is deleted.
    Delete,
    /// References to owners that are gone or waiting are removed (R8.5).
    Detach,
    /// It no longer blocks its owners (R5.10).
    Unblock,
    /// It is freed from an owner that is deleted with Orphan (R6.2).
    Free,
    /// Its owner's finalizer is removed: it has come to its end (F3, R6.4).
    Finish,
}

impl Write {
    fn name(self) -> &'static str {
        match self {
            Write::Delete => "delete",
            Write::Detach => "detach",
            Write::Unblock => "unblock",
            Write::Free => "free",
            Write::Finish => "finish",
        }
    }
}

/// What came of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Written {
    /// It was done.
    Done,
    /// There was nothing any more to write to.
    Gone,
    /// The object has changed meanwhile.
    Conflict,
    /// It was refused, or there was no answer.
    Failed,
}

impl Written {
    fn name(self) -> &'static str {
        match self {
            Written::Done => "done",
            Written::Gone => "gone",
            Written::Conflict => "conflict",
            Written::Failed => "failed",
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// All at zero.
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let inner = Inner {
            process: Process::register(&mut registry),
            queues: Queues::register(&mut registry),
            requests: Requests::register(&mut registry),
            resources_not_synced: Counter::default(),
            objects: Gauge::default(),
            virtual_objects: Gauge::default(),
            resources: Family::default(),
            writes: Family::default(),
            registry: Registry::default(),
        };
        // The library adds the suffix of counters and the full stop by itself.
        let not_synced = "Number of garbage collector resources sync errors";
        registry.register(
            "garbagecollector_controller_resources_sync_error",
            not_synced,
            inner.resources_not_synced.clone(),
        );
        registry.register(
            "kubectl_gc_sweep_objects",
            "Objects that have been seen and are there",
            inner.objects.clone(),
        );
        let absent = "Owners that something refers to and that have not been seen";
        registry.register("kubectl_gc_sweep_virtual_objects", absent, inner.virtual_objects.clone());
        registry.register(
            "kubectl_gc_sweep_resources",
            "Resources that are watched, by whether all is known of them",
            inner.resources.clone(),
        );
        registry.register(
            "kubectl_gc_sweep_writes",
            "Writes to objects, by what was written and what came of it",
            inner.writes.clone(),
        );
        Metrics(Arc::new(Inner { registry, ..inner }))
    }

    /// The numbers of one queue, to be kept: nothing is looked up for what is counted with them.
    pub fn queue(&self, queue: Queue) -> QueueMetrics {
        self.0.queues.of(queue).clone()
    }

    /// What counts the requests to a server, named as `host:port`.
    pub fn requests(&self, host: &str) -> RequestMetrics {
        self.0.requests.to(host)
    }

    /// The resources could not be found out, or not be synced in time.
    pub fn sync_failed(&self) {
        self.0.resources_not_synced.inc();
    }

    /// How many objects are known, and how many owners only by the references to them.
    pub fn set_objects(&self, seen: usize, only_referred_to: usize) {
        self.0.objects.set(number(seen));
        self.0.virtual_objects.set(number(only_referred_to));
    }

    /// Of how many resources all is known, and of how many not.
    pub fn set_resources(&self, synced: usize, not_synced: usize) {
        self.0.resources.get_or_create(&[("synced", "true")]).set(number(synced));
        self.0.resources.get_or_create(&[("synced", "false")]).set(number(not_synced));
    }

    /// Something was written, or that was tried.
    pub fn wrote(&self, write: Write, came_of_it: Written) {
        self.0.writes.get_or_create(&[("write", write.name()), ("result", came_of_it.name())]).inc();
    }

    /// All of it in the text format of OpenMetrics, as of now.
    pub fn text(&self) -> String {
        self.0.process.look();
        self.0.queues.look();
        let mut text = String::new();
        // Nothing fails that writes into memory.
        let _ = text::encode(&mut text, &self.0.registry);
        text
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
