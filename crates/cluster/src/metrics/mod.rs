//! Metrics and health of a running sweep.
//!
//! Metrics of Kubernetes' own collector have the same names, labels and buckets here, so existing dashboards and alerts
//! work. All others begin with `kubectl_gc_sweep_`.

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
use strum::IntoStaticStr;

pub use health::Health;
pub use listen::Listen;
pub use listen::ListenError;
pub use queue::{Queue, QueueMetrics};
pub use requests::RequestMetrics;
pub use serve::{Bound, ServeError, bind};

use self::{process::Process, queue::Queues, requests::Requests};

/// All metrics; clones share them.
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

/// The kind of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Write {
    /// A DELETE.
    Delete,
    /// A PATCH that removes references to absent or waiting owners (R8.5).
    Detach,
    /// A PATCH that stops the object from blocking its owners (R5.10).
    Unblock,
    /// A PATCH that removes the reference to an owner deleted with Orphan (R6.2).
    Free,
    /// A PATCH that removes the collector's finalizer from a finished owner (F3, R6.4).
    Finish,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Written {
    /// It succeeded.
    Done,
    /// The object didn't exist any more.
    Gone,
    /// The object had changed.
    Conflict,
    /// It was refused, or there was no answer.
    Failed,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// All metrics at zero.
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
        // The library appends the counter suffix and the full stop.
        let not_synced = "Number of garbage collector resources sync errors";
        registry.register(
            "garbagecollector_controller_resources_sync_error",
            not_synced,
            inner.resources_not_synced.clone(),
        );
        registry.register("kubectl_gc_sweep_objects", "Number of objects in the graph", inner.objects.clone());
        let absent = "Number of owners that are referenced but have not been observed";
        registry.register("kubectl_gc_sweep_virtual_objects", absent, inner.virtual_objects.clone());
        registry.register(
            "kubectl_gc_sweep_resources",
            "Number of watched resources, by whether they are synced",
            inner.resources.clone(),
        );
        registry.register(
            "kubectl_gc_sweep_writes",
            "Number of writes to objects, by verb and result",
            inner.writes.clone(),
        );
        Metrics(Arc::new(Inner { registry, ..inner }))
    }

    /// The metrics of one queue, without a look-up for every update.
    pub fn queue(&self, queue: Queue) -> QueueMetrics {
        self.0.queues.of(queue).clone()
    }

    /// The metrics of requests to a server, named as `host:port`.
    pub fn requests(&self, host: &str) -> RequestMetrics {
        self.0.requests.to(host)
    }

    /// Counts a discovery that failed or a sync that timed out.
    pub fn sync_failed(&self) {
        self.0.resources_not_synced.inc();
    }

    /// Sets the number of known objects and of virtual owners.
    pub fn set_objects(&self, seen: usize, virtual_owners: usize) {
        self.0.objects.set(gauge_value(seen));
        self.0.virtual_objects.set(gauge_value(virtual_owners));
    }

    /// Sets how many resources are synced and how many are not.
    pub fn set_resources(&self, synced: usize, not_synced: usize) {
        self.0.resources.get_or_create(&[("synced", "true")]).set(gauge_value(synced));
        self.0.resources.get_or_create(&[("synced", "false")]).set(gauge_value(not_synced));
    }

    /// Counts a write.
    pub fn wrote(&self, write: Write, result: Written) {
        self.0.writes.get_or_create(&[("write", write.into_str()), ("result", result.into_str())]).inc();
    }

    /// All metrics in the OpenMetrics text format.
    pub fn text(&self) -> String {
        self.0.process.update();
        self.0.queues.update();
        let mut text = String::new();
        // Writing into memory never fails.
        let _ = text::encode(&mut text, &self.0.registry);
        text
    }
}

fn gauge_value(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
