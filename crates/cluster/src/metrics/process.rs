//! The standard metrics of a process.

use std::{
    sync::atomic::AtomicU64,
    time::{SystemTime, UNIX_EPOCH},
};

use prometheus_client::{metrics::gauge::Gauge, registry::Registry};

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
