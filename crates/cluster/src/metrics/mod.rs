//! Metrics and health of a running sweep.
//!
//! Metrics of Kubernetes' own collector have the same names, labels and buckets here, so existing dashboards and alerts
//! work. All others begin with `kubectl_gc_sweep_`.

mod queue;
mod serve;

pub use queue::{Queue, QueueMetrics};
pub use serve::{Bound, Health, Listen, ListenError, ServeError, bind};

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::{SystemTime, UNIX_EPOCH},
};

use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Metric, Registry},
};
use strum::IntoStaticStr;

use crate::cluster::{ReadEvent, ReadObserver};

use self::queue::Queues;

/// All metrics; clones share them.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Inner>);

/// Of a request: its verb and host.
type RequestLabels = [(&'static str, String); 2];

#[derive(Debug)]
struct Inner {
    registry: Registry,
    /// `None` if the system doesn't provide it.
    memory: Option<Gauge>,
    queues: Queues,
    requests: Family<[(&'static str, String); 3], Counter>,
    took: Family<RequestLabels, Histogram, fn() -> Histogram>,
    resources_not_synced: Counter,
    objects: Gauge,
    virtual_objects: Gauge,
    resources: Family<[(&'static str, &'static str); 1], Gauge>,
    writes: Family<[(&'static str, &'static str); 2], Counter>,
}

/// Adds a metric. The library appends the counter suffix and the full stop.
fn registered<M: Metric + Clone>(all: &mut Registry, name: &str, help: &str, metric: M) -> M {
    all.register(name, help, metric.clone());
    metric
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
    /// All metrics at zero; the current time becomes the start time of the process.
    pub fn new() -> Self {
        /// Buckets from five milliseconds to a minute, as in client-go.
        fn histogram() -> Histogram {
            Histogram::new([0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0])
        }
        let mut registry = Registry::default();
        let all = &mut registry;
        let help = "Start time of the process since unix epoch in seconds";
        let started: Gauge<f64, AtomicU64> = registered(all, "process_start_time_seconds", help, Gauge::default());
        started.set(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
        let (name, help) = ("process_resident_memory_bytes", "Resident memory size in bytes");
        let memory = resident_memory().map(|_| registered(all, name, help, Gauge::default()));
        let queues = Queues::register(all);
        let help = "Number of HTTP requests, partitioned by status code, method, and host";
        let requests = registered(all, "rest_client_requests", help, Family::default());
        let (name, help) =
            ("rest_client_request_duration_seconds", "Request latency in seconds. Broken down by verb, and host");
        let took = registered(all, name, help, Family::new_with_constructor(histogram as fn() -> Histogram));
        let (name, help) =
            ("garbagecollector_controller_resources_sync_error", "Number of garbage collector resources sync errors");
        let resources_not_synced = registered(all, name, help, Counter::default());
        let objects = registered(all, "kubectl_gc_sweep_objects", "Number of objects in the graph", Gauge::default());
        let help = "Number of owners that are referenced but have not been observed";
        let virtual_objects = registered(all, "kubectl_gc_sweep_virtual_objects", help, Gauge::default());
        let help = "Number of watched resources, by whether they are synced";
        let resources = registered(all, "kubectl_gc_sweep_resources", help, Family::default());
        let help = "Number of writes to objects, by verb and result";
        let writes = registered(all, "kubectl_gc_sweep_writes", help, Family::default());
        Metrics(Arc::new(Inner {
            registry,
            memory,
            queues,
            requests,
            took,
            resources_not_synced,
            objects,
            virtual_objects,
            resources,
            writes,
        }))
    }

    /// The metrics of one queue.
    pub fn queue(&self, queue: Queue) -> &QueueMetrics {
        self.0.queues.of(queue)
    }

    /// Counts requests to a server, named as `host:port`.
    pub fn requests(&self, host: &str) -> ReadObserver {
        let (inner, host) = (self.0.clone(), host.to_owned());
        Arc::new(move |event| {
            let ReadEvent::Exchanged(exchange) = event else { return };
            let (host, method) = (|| ("host", host.clone()), || exchange.method.to_owned());
            let code = exchange.status.map_or_else(|_| "<error>".to_owned(), |status| status.to_string());
            inner.requests.get_or_create(&[("code", code), ("method", method()), host()]).inc();
            inner.took.get_or_create(&[("verb", method()), host()]).observe(exchange.took.as_secs_f64());
        })
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
        if let (Some(memory), Some(bytes)) = (&self.0.memory, resident_memory()) {
            memory.set(bytes);
        }
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

/// Resident memory, from Linux' /proc.
fn resident_memory() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<i64>().ok()?.checked_mul(1024)
}
