//! Metrics and health of a running sweep.
//!
//! Metrics of Kubernetes' own collector have the same names, labels and buckets here, so existing dashboards and alerts
//! work. All others begin with `kubectl_gc_sweep_`.

mod health;
mod queue;
mod serve;

pub use health::Health;
pub use queue::{Queue, QueueMetrics};
pub use serve::{Bound, Listen, ListenError, ServeError, bind};

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::{SystemTime, UNIX_EPOCH},
};

use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use strum::IntoStaticStr;

use crate::cluster::{Exchange, Progress};

use self::queue::Queues;

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

/// Why a write was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Unwritten {
    /// The object no longer exists.
    Gone,
    /// The object has changed in between.
    Conflict,
    /// The API server refused, or didn't answer.
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

    /// The metrics of one queue.
    pub fn queue(&self, queue: Queue) -> &QueueMetrics {
        self.0.queues.of(queue)
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
    pub fn wrote(&self, write: Write, result: Result<(), Unwritten>) {
        let result = result.map_or_else(|why| why.into_str(), |()| "done");
        self.0.writes.get_or_create(&[("write", write.into_str()), ("result", result)]).inc();
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

#[derive(Debug)]
pub(super) struct Process {
    /// `None` if the system doesn't provide it.
    memory: Option<Gauge>,
}

impl Process {
    /// Registers the metrics; the current time becomes the start time.
    pub(super) fn register(registry: &mut Registry) -> Self {
        let started: Gauge<f64, AtomicU64> = Gauge::default();
        started.set(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
        let help = "Start time of the process since unix epoch in seconds";
        registry.register("process_start_time_seconds", help, started);
        let memory = resident_memory().map(|_| {
            let memory = Gauge::default();
            registry.register("process_resident_memory_bytes", "Resident memory size in bytes", memory.clone());
            memory
        });
        Process { memory }
    }

    /// Updates the gauges.
    pub(super) fn update(&self) {
        if let (Some(memory), Some(bytes)) = (&self.memory, resident_memory()) {
            memory.set(bytes);
        }
    }
}

/// Resident memory, from Linux' /proc.
fn resident_memory() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<i64>().ok()?.checked_mul(1024)
}

/// Counts requests to one server.
#[derive(Clone, Debug)]
pub struct RequestMetrics {
    host: String,
    requests: Requests,
}

type Labels<const N: usize> = [(&'static str, String); N];

#[derive(Clone, Debug)]
pub(super) struct Requests {
    total: Family<Labels<3>, Counter>,
    took: Family<Labels<2>, Histogram, fn() -> Histogram>,
}

impl Requests {
    pub(super) fn register(registry: &mut Registry) -> Self {
        /// Buckets from five milliseconds to a minute, as in client-go.
        fn histogram() -> Histogram {
            Histogram::new([0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0])
        }
        let requests = Requests { total: Family::default(), took: Family::new_with_constructor(histogram) };
        let help = "Number of HTTP requests, partitioned by status code, method, and host";
        registry.register("rest_client_requests", help, requests.total.clone());
        let help = "Request latency in seconds. Broken down by verb, and host";
        registry.register("rest_client_request_duration_seconds", help, requests.took.clone());
        requests
    }

    pub(super) fn to(&self, host: &str) -> RequestMetrics {
        RequestMetrics { host: host.to_owned(), requests: self.clone() }
    }
}

impl Progress for RequestMetrics {
    fn exchanged(&self, exchange: &Exchange<'_>) {
        let host = || ("host", self.host.clone());
        let code = exchange.status.map_or_else(|_| "<error>".to_owned(), |status| status.to_string());
        self.requests.total.get_or_create(&[("code", code), ("method", exchange.method.to_owned()), host()]).inc();
        self.requests
            .took
            .get_or_create(&[("verb", exchange.method.to_owned()), host()])
            .observe(exchange.took.as_secs_f64());
    }
}
