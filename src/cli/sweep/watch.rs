//! `--watch`: does the collector's work continuously.

use std::{
    collections::{HashMap, HashSet},
    io::{self, Write as _},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crate::{
    act::{
        CompletedWrite, Failed, QueueName, Settings, SweepObserver, SyncStatus, WatchObserver, What, WriteFailure,
        keep_sweeping,
    },
    collector::{Reason, live::Limit},
    metrics::{Health, Metrics, Queue, QueueMetrics, Write, Written as Outcome},
    model::Identity,
    operations::{OperationError, ReadScope, live::Cluster},
    render::escape::visible,
    wording::count,
};

use super::{
    super::{
        args::{GlobalArgs, SweepArgs},
        follow::polled,
        report::{Report, say},
    },
    SweepConfig, scope, serve, words,
};

/// A loop that hasn't completed a round for this long is unhealthy.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many failure reasons are remembered, and how many objects of each, to report each only once.
const MOST_REASONS: usize = 1_000;
const MOST_OBJECTS: usize = 10_000;
/// The largest number of missing resources, or of objects that fail for one reason, to name; more are only counted.
const NAMED: usize = 8;

/// Sweeps until SIGTERM or SIGINT.
pub(super) fn watch(global: &GlobalArgs, args: &SweepArgs, order: &SweepConfig) -> Result<Report, OperationError> {
    let live = Cluster::connect(&global.cluster()?)?;
    let (metrics, health) = (Metrics::new(), Health::new(PATIENCE));
    let requests = Arc::new(metrics.requests(&live.connection.endpoint().server));
    let reading = live.connection.clone().also_telling(requests);
    let connection = order.within_limits(live.connection.clone(), &metrics);
    let settings = Settings {
        workers: order.load.workers,
        trust_missing_apis: args.trust_missing_apis,
        limit: limit(global, args)?,
    };
    live.runtime.block_on(async {
        serve(order, &metrics, &health).await?;
        let ends = ended()?;
        let sweep_told = Arc::new(WriteReporter::new(&metrics));
        let mut describe = SyncReporter {
            metrics: metrics.clone(),
            graph_changes: metrics.queue(Queue::GraphChanges),
            health: health.clone(),
        };
        keep_sweeping(connection, reading, settings, order.resync, sweep_told, &mut describe, ends).await?;
        Ok(Report::of(""))
    })
}

/// Resolves at the first SIGTERM or SIGINT.
pub(in crate::cli) fn ended() -> Result<impl Future<Output = ()>, OperationError> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminated = signal(SignalKind::terminate()).map_err(OperationError::Runtime)?;
        let mut interrupted = signal(SignalKind::interrupt()).map_err(OperationError::Runtime)?;
        Ok(async move {
            tokio::select! {
                _ = terminated.recv() => {}
                _ = interrupted.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}

/// The objects that may be changed.
fn limit(global: &GlobalArgs, args: &SweepArgs) -> Result<Limit, OperationError> {
    if args.targets.any() {
        // The targets are resolved once, at the start.
        let mut session = global.open(&args.source, &scope(global, &args.targets), ReadScope::Everything)?;
        session.enter_namespace();
        if let (None, Some(namespace)) = (&session.targets, &session.namespace) {
            return Ok(Limit::Namespace(namespace.clone()));
        }
        let targets = session.targets.iter().flatten();
        return Ok(Limit::Uids(targets.map(|target| Identity::of(&session.snapshot, *target).uid).collect()));
    }
    Ok(match global.connection.namespace() {
        Some(namespace) if !args.targets.all_namespaces => Limit::Namespace(namespace.to_owned()),
        _ => Limit::None,
    })
}

/// Reports writes on standard output and failures on standard error, and counts both.
struct WriteReporter {
    metrics: Metrics,
    to_delete: QueueMetrics,
    to_orphan: QueueMetrics,
    /// Failures already reported, by reason.
    failures: Mutex<HashMap<String, HashSet<Identity>>>,
}

impl WriteReporter {
    fn new(metrics: &Metrics) -> Self {
        WriteReporter {
            metrics: metrics.clone(),
            to_delete: metrics.queue(Queue::AttemptToDelete),
            to_orphan: metrics.queue(Queue::AttemptToOrphan),
            failures: Mutex::default(),
        }
    }

    fn queue(&self, queue: QueueName) -> &QueueMetrics {
        match queue {
            QueueName::ToDelete => &self.to_delete,
            QueueName::ToOrphan => &self.to_orphan,
        }
    }
}

impl SweepObserver for WriteReporter {
    fn queued(&self, queue: QueueName, added: u64, depth: usize) {
        let queue = self.queue(queue);
        for _ in 0..added {
            queue.added();
        }
        queue.set_depth(depth);
    }

    fn begun(&self, queue: QueueName, waited: Duration) -> Box<dyn Send> {
        Box::new(self.queue(queue).took(waited))
    }

    fn retried(&self, queue: QueueName) {
        self.queue(queue).retried();
    }

    fn written(&self, written: &CompletedWrite) {
        self.metrics.wrote(counted_as(written.what, &written.why), Outcome::Done);
        // Ignore errors: a closed stdout is no reason to stop.
        let _ = writeln!(io::stdout(), "{}", visible(&words::describe(written)));
    }

    fn not_written(&self, what: What, reason: &Reason, why: WriteFailure) {
        let outcome = match why {
            WriteFailure::Gone => Outcome::Gone,
            WriteFailure::Conflict => Outcome::Conflict,
            WriteFailure::Failed => Outcome::Failed,
        };
        self.metrics.wrote(counted_as(what, reason), outcome);
    }

    fn failed(&self, failed: &Failed) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= MOST_REASONS {
            failures.clear();
        }
        let objects = failures.entry(failed.why.clone()).or_default();
        if objects.len() >= MOST_OBJECTS || !objects.insert(failed.object.clone()) {
            return;
        }
        if objects.len() <= NAMED {
            let then = if failed.retried { "it will be retried" } else { "it is not changed" };
            say(&format!("{}: {}; {then}", words::named(&failed.object), failed.why));
        } else if objects.len().is_power_of_two() {
            say(&format!("{} so far: {}", count(objects.len(), "object", "objects"), failed.why));
        }
    }
}

fn counted_as(what: What, reason: &Reason) -> Write {
    match (what, reason) {
        (What::Deleted(_), _) => Write::Delete,
        (What::Stripped, Reason::OwnerOrphans(_)) => Write::Free,
        (What::Stripped, _) => Write::Detach,
        (What::Unblocked, _) => Write::Unblock,
        (What::Finalized, _) => Write::Finish,
    }
}

/// Reports on standard error which resources are synced, and sets the metrics and the health.
struct SyncReporter {
    metrics: Metrics,
    graph_changes: QueueMetrics,
    health: Health,
}

impl WatchObserver for SyncReporter {
    fn picture(&mut self, picture: &SyncStatus) {
        self.metrics.set_resources(picture.synced, picture.missing.len());
        self.health.set_ready(Ok(()));
        if picture.missing.is_empty() {
            return say("synced");
        }
        self.metrics.sync_failed();
        let (named, rest) = picture.missing.split_at(picture.missing.len().min(NAMED));
        let mut missing: Vec<String> = named.iter().map(|(resource, why)| format!("{resource} ({why})")).collect();
        if !rest.is_empty() {
            missing.push(format!("and {} more", rest.len()));
        }
        say(&format!("partly synced: {}", missing.join(", ")));
    }

    fn polled(&mut self, resources: Vec<(String, String)>) {
        say(&polled(&resources));
    }

    fn undiscovered(&mut self, why: &str) {
        self.metrics.sync_failed();
        say(&format!("discovery failed and will be retried: {why}"));
    }

    fn took_in(&mut self, news: usize, waiting: usize, took: Duration) {
        self.graph_changes.took_in(news, waiting, took);
    }

    fn alive(&mut self, objects: usize, only_named: usize) {
        self.health.beat();
        self.metrics.set_objects(objects, only_named);
    }
}
