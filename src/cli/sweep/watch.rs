//! `--watch`: does the collector's work continuously, and serves its metrics and health.

use std::{
    collections::{HashMap, HashSet},
    io::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;

use crate::{
    cli::{
        args::GlobalArgs,
        report::{Report, say},
    },
    operations::{OperationError, ReadScope, live::Cluster, signals::ended},
    render::{account::polled, escape::visible},
};
use gc_cluster::{
    act::{CompletedWrite, Failed, QueueName, Settings, SweepEvent, SyncStatus, What, keep_sweeping},
    metrics::{Health, Metrics, Queue, QueueMetrics, Write, bind},
};
use gc_core::{
    collector::{Reason, live::Limit},
    model::Identity,
    server::Propagation,
    wording::{count, listed},
};

use super::{SweepArgs, SweepConfig};

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
    let requests = metrics.requests(&live.connection.endpoint().server);
    let reading = live.connection.clone().also_telling(requests);
    let connection = order.within_limits(live.connection.clone(), &metrics);
    let settings = Settings {
        workers: order.load.workers.into(),
        trust_missing_apis: args.trust_missing_apis,
        limit: limit(global, args)?,
    };
    live.runtime.block_on(async {
        serve(order, &metrics, &health).await?;
        let ends = ended()?;
        let reporter = Reporter::new(&metrics, &health);
        let observer = Arc::new(move |event: SweepEvent<'_>| reporter.hear(event));
        keep_sweeping(connection, reading, settings, order.resync, observer, ends).await?;
        Ok(Report::of(""))
    })
}

/// The objects that may be changed.
fn limit(global: &GlobalArgs, args: &SweepArgs) -> Result<Limit, OperationError> {
    if args.targets.any() {
        // The targets are resolved once, at the start.
        let mut session = global.open(&global.scope_of(&args.targets), ReadScope::Everything)?;
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

/// Reports writes on standard output, and on standard error failures and which resources are synced. Sets the metrics
/// and the health.
struct Reporter {
    metrics: Metrics,
    health: Health,
    /// Failures already reported, by reason.
    failures: Mutex<HashMap<String, HashSet<Identity>>>,
}

impl Reporter {
    fn new(metrics: &Metrics, health: &Health) -> Self {
        Reporter { metrics: metrics.clone(), health: health.clone(), failures: Mutex::default() }
    }

    fn queue(&self, queue: QueueName) -> &QueueMetrics {
        self.metrics.queue(match queue {
            QueueName::ToDelete => Queue::AttemptToDelete,
            QueueName::ToOrphan => Queue::AttemptToOrphan,
        })
    }

    fn hear(&self, event: SweepEvent<'_>) {
        match event {
            SweepEvent::Queued { queue, added, depth } => {
                let queue = self.queue(queue);
                (0..added).for_each(|_| queue.added());
                queue.set_depth(depth);
            }
            SweepEvent::Begun { queue, worker, waited } => self.queue(queue).begun(worker, waited),
            SweepEvent::Done { queue, worker } => self.queue(queue).done(worker),
            SweepEvent::Retried(queue) => self.queue(queue).retried(),
            SweepEvent::Written(written) => {
                self.metrics.wrote(counted_as(written.what, &written.why), Ok(()));
                // Ignore errors: a closed stdout is no reason to stop.
                let _ = writeln!(io::stdout(), "{}", visible(&describe(written)));
            }
            SweepEvent::NotWritten { what, reason, why } => {
                self.metrics.wrote(counted_as(what, reason), Err(why));
            }
            SweepEvent::Failed(failed) => self.failed(failed),
            SweepEvent::Synced(status) => self.synced(status),
            SweepEvent::Polled(resources) => say(&polled(&resources)),
            SweepEvent::Undiscovered(why) => {
                self.metrics.sync_failed();
                say(&format!("discovery failed and will be retried: {why}"));
            }
            SweepEvent::TookIn { events, waiting, took } => {
                self.metrics.queue(Queue::GraphChanges).took_in(events, waiting, took)
            }
            SweepEvent::Alive { objects, only_named } => {
                self.health.beat();
                self.metrics.set_objects(objects, only_named);
            }
        }
    }

    fn failed(&self, failed: &Failed) {
        let mut failures = self.failures.lock();
        if failures.len() >= MOST_REASONS {
            failures.clear();
        }
        let objects = failures.entry(failed.why.clone()).or_default();
        if objects.len() >= MOST_OBJECTS || !objects.insert(failed.object.clone()) {
            return;
        }
        if objects.len() <= NAMED {
            let then = if failed.retried { "it will be retried" } else { "it is not changed" };
            say(&format!("{}: {}; {then}", named(&failed.object), failed.why));
        } else if objects.len().is_power_of_two() {
            say(&format!("{} so far: {}", count(objects.len(), "object", "objects"), failed.why));
        }
    }

    fn synced(&self, status: &SyncStatus) {
        self.metrics.set_resources(status.synced, status.missing.len());
        self.health.set_ready(Ok(()));
        if status.missing.is_empty() {
            return say("synced");
        }
        self.metrics.sync_failed();
        let missing = status.missing.iter().map(|(resource, why)| format!("{resource} ({why})"));
        say(&format!("partly synced: {}", listed(missing, NAMED, ", ")));
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

/// `deleted Pod/web-1 in shop: no owner is left`
fn describe(written: &CompletedWrite) -> String {
    let done = match written.what {
        What::Deleted(Propagation::Foreground) => "deleted in the foreground",
        What::Deleted(Propagation::Orphan) => "deleted with the orphan policy",
        What::Deleted(Propagation::Background) => "deleted",
        What::Stripped => "removed owner references of",
        What::Unblocked => "unblocked the owners of",
        What::Finalized => "removed the collector's finalizer from",
    };
    format!("{done} {}: {}", named(&written.object), why(&written.why))
}

/// `Pod/web-1 in shop`
fn named(object: &Identity) -> String {
    let name = object.short_name();
    if object.namespace.is_empty() { name } else { format!("{name} in {}", object.namespace) }
}

fn why(reason: &Reason) -> &'static str {
    match reason {
        Reason::NoOwnerLeft => "no owner is left",
        Reason::OwnerWaits => "an owner waits for its deletion",
        Reason::OtherOwnerSolid(_) => "those owners are deleted or being deleted, another owner exists",
        Reason::CycleSuspected => "it and its owners wait for each other",
        Reason::DependentsGone => "no dependent blocks it any more",
        Reason::OwnerOrphans(_) => "its owner is deleted with the orphan policy",
        Reason::DependentsFreed => "its dependents are orphaned",
    }
}

/// Serves the configured address, if there is one, until the runtime ends, and prints the address on standard error.
/// Call it before any work is done.
///
/// # Errors
/// The address can't be bound.
async fn serve(order: &SweepConfig, metrics: &Metrics, health: &Health) -> Result<(), OperationError> {
    let Some(address) = &order.metrics else { return Ok(()) };
    let bound = bind(address).await?;
    // Ignore errors: stderr may be closed.
    let _ = writeln!(io::stderr(), "serving /metrics, /healthz and /readyz at http://{}", bound.address());
    tokio::spawn(bound.serve(metrics.clone(), health.clone()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cli::{
        commands::{Cli, Command},
        report::describe_error,
    };

    fn order(line: &str) -> SweepConfig {
        let cli = Cli::of(line.split(' ').map(Into::into)).unwrap();
        let Command::Sweep(args) = cli.command else { panic!("{line}") };
        SweepConfig::read(&cli.global, &args).unwrap()
    }

    /// If the address is in use, the error comes before anything is done, and says what to do.
    #[tokio::test]
    async fn an_address_that_is_taken_is_an_error() {
        let (metrics, health) = (Metrics::new(), Health::new(Duration::from_secs(60)));
        let taken = bind(&"127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = taken.address();
        let order = order(&format!("gc sweep --watch --metrics-bind-address={address}"));
        let error = describe_error(&serve(&order, &metrics, &health).await.unwrap_err());
        assert!(error.starts_with(&format!("cannot listen on {address}: ")), "{error}");
        assert!(error.ends_with("; choose another --metrics-bind-address, or leave it out"), "{error}");
        drop(taken);
    }

    /// Port 0: the system chooses one that is free.
    #[tokio::test]
    async fn an_address_that_is_free_is_served() {
        let order = order("gc sweep --watch --metrics-bind-address=127.0.0.1:0");
        serve(&order, &Metrics::new(), &Health::new(Duration::from_secs(60))).await.unwrap();
    }

    #[tokio::test]
    async fn nothing_is_served_unless_it_is_asked_for() {
        let order = order("gc sweep --watch");
        assert_eq!(order.metrics, None);
        serve(&order, &Metrics::new(), &Health::new(Duration::from_secs(60))).await.unwrap();
        assert_eq!((order.load.workers, order.load.qps, order.load.burst), (20, 50.0, 100));
        assert_eq!((order.resync, order.load.timeout), (Duration::from_secs(30), None));
    }
}
