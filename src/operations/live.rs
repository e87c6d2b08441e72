//! An open cluster: further reads, writes, and following their effects.

use std::{
    future,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use clap::Args;
use rustc_hash::FxHashMap;
use tokio::{runtime::Runtime, sync::watch};

use gc_cluster::{
    act::{
        Coverage, Deletion, Ended, FollowEvent, Followed, Following, Probe, ProbeError, Sent, Settings, Sweeper,
        delete, follow, probe, user_name,
    },
    cluster::{Connection, LostWatch, WatchEvent, Watches},
};
use gc_core::{
    collector::live::KindId,
    model::{Identity, ObjectEvent, ObjectId, ResourceId, Snapshot},
    plan::PlanTracker,
    simulate::Assume,
};

use super::{
    session::Session,
    signals::{INTERRUPT, Signals, TERMINATE},
};

/// How long to wait for events under way: on a healthy connection, they take milliseconds.
const ON_ITS_WAY: Duration = Duration::from_millis(100);
/// How long watches may take to begin.
const TO_BEGIN: Duration = Duration::from_secs(2);

/// How long nothing may move before something that no known controller will finish is stuck: operators take time.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same with a timeout, of which it is half: at most this long.
const LONGEST_PATIENCE: Duration = Duration::from_secs(60);

/// How often to check whether only failing objects are left, and how long that must last.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);
const IN_VAIN: Duration = Duration::from_secs(10);
/// How long after the last write watches may take to tell what a sweep has written: usually milliseconds.
const TO_BE_TOLD: Duration = Duration::from_secs(5);
/// How long a sweep's work under way may take to finish.
const TO_STOP: Duration = Duration::from_secs(15);

/// Whether SIGINT (Ctrl-C) or SIGTERM has come. Unset until a command listens: until then, they end the process.
static INTERRUPTED: OnceLock<watch::Receiver<bool>> = OnceLock::new();

/// An open connection, and its runtime.
pub struct Cluster {
    pub runtime: Runtime,
    pub connection: Connection,
    pub(super) watches: Option<Watches>,
}

/// A session on a cluster: only this can write.
pub type LiveSession = Session<Cluster>;

impl Cluster {
    /// From now on, the first SIGINT or SIGTERM stops the work under way in good order; the second ends the process.
    pub(super) fn hear_interrupts(&self) {
        INTERRUPTED.get_or_init(|| {
            let (heard, receiver) = watch::channel(false);
            let _runtime = self.runtime.enter();
            // Heard from here on, not only once the task runs.
            let signals = Signals::hear(&[INTERRUPT, TERMINATE]);
            self.runtime.spawn(async move {
                if let Ok(mut signals) = signals {
                    loop {
                        let signal = signals.next().await;
                        if heard.send_replace(true) {
                            std::process::exit(128 + signal);
                        }
                    }
                }
                // No signal handler: keep the channel open, so that waiting for an interrupt never ends.
                heard.closed().await;
            });
            receiver
        });
    }
}

impl LiveSession {
    /// Runs work that needs the connection and the snapshot.
    pub fn run<T>(&self, work: impl AsyncFnOnce(&Connection, &Snapshot) -> T) -> T {
        self.source.runtime.block_on(work(&self.source.connection, &self.snapshot))
    }

    /// The name that the API server knows the user by; `None` if it doesn't say.
    pub fn user_name(&self) -> Option<String> {
        self.run(async |connection, _| user_name(connection).await)
    }

    /// See [`Cluster::hear_interrupts`].
    pub fn hear_interrupts(&self) {
        self.source.hear_interrupts();
    }

    /// Starts to watch everything that was listed, from where the lists ended, so that nothing is listed again.
    pub fn watch(&mut self) {
        self.watched();
    }

    /// The snapshot, what reads it, and the watches of everything that it lists, started if there are none yet.
    fn watched(&mut self) -> (&mut Snapshot, &Runtime, &Connection, &Watches) {
        let Session { snapshot, source: Cluster { watches, runtime, connection }, .. } = self;
        let entered = runtime.enter();
        let watches = watches.get_or_insert_with(|| connection.watch(snapshot));
        drop(entered);
        (snapshot, runtime, connection, watches)
    }

    /// The same, and lists again what can't be watched.
    pub fn watch_or_list(&mut self) {
        let Session { snapshot, source: Cluster { watches, runtime, connection }, .. } = self;
        let _runtime = runtime.enter();
        watches.get_or_insert_with(|| connection.watch_or_list(snapshot));
    }

    /// Waits until all watches have begun, but no longer than a moment.
    pub fn wait_for_watches(&mut self) {
        let (_, runtime, _, watches) = self.watched();
        // Those that have not begun by then may be late for long.
        let _ = runtime.block_on(async { tokio::time::timeout(TO_BEGIN, watches.all_begun()).await });
    }

    /// Applies the events that watches have reported so far. Returns whether the snapshot has changed: **ids may change
    /// then**, and everything derived from the snapshot must be built again.
    ///
    /// The latest events may not have arrived yet; [`Session::recheck`] makes sure for single objects.
    /// [`LiveSession::lost`] has the watches that missed events.
    pub fn catch_up(&mut self) -> bool {
        let (_, runtime, _, watches) = self.watched();
        runtime.block_on(async {
            tokio::time::sleep(ON_ITS_WAY).await;
            watches.listed_again().await;
        });
        let seen = watches.seen();
        self.snapshot.apply_events(seen)
    }

    /// Waits until something that is watched has changed, whatever it is, or its watch has missed events; at most this
    /// long. What can't be watched never changes here; a Lease that is renewed is no change.
    pub fn wait_for_change(&mut self, at_most: Duration) {
        let (snapshot, runtime, _, watches) = self.watched();
        let leases = snapshot.resources.by_group_kind("coordination.k8s.io", "Lease");
        let is_known = |uid: &str| snapshot.with_uid(uid).is_some();
        let is_renewed = |seen: &ObjectEvent| Some(seen.resource) == leases && !seen.gone && is_known(&seen.object.uid);
        let changed = async {
            loop {
                let news = watches.news();
                if !news.seen.iter().all(is_renewed) || news.lost.iter().any(|lost| lost.watched) {
                    return;
                }
                watches.changed().await;
            }
        };
        // Either way it is time to look.
        let _ = runtime.block_on(async { tokio::time::timeout(at_most, changed).await });
    }

    /// The watches that have missed events since [`LiveSession::watch`].
    pub fn lost(&self) -> Vec<LostWatch> {
        self.source.watches.as_ref().map(Watches::lost).unwrap_or_default()
    }

    /// Checks with a test object whether a collector is running.
    ///
    /// # Errors
    /// Why that could not be found out.
    pub fn probe(&self, patience: Duration) -> Result<Probe, ProbeError> {
        self.run(async |connection, _| {
            let namespace = self.namespace.as_deref().unwrap_or(connection.default_namespace());
            probe(connection, namespace, patience).await
        })
    }

    /// Deletes these objects one after the other ([`delete`]). An interrupt stops it after the current one.
    pub fn delete(&self, targets: &[ObjectId], deletion: &Deletion) -> Vec<Sent> {
        self.run(async |connection, snapshot| delete(connection, snapshot, targets, deletion, interrupted()).await)
    }

    /// Follows a plan to its end ([`follow`]), at most until the timeout. An interrupt ends it.
    ///
    /// The plan was made on the current snapshot: it must not change between [`LiveSession::catch_up`] and this.
    pub fn follow(
        &mut self,
        course: PlanTracker,
        sent: &[Sent],
        assume: Assume,
        timeout: Option<Duration>,
        observer: &mut dyn FnMut(FollowEvent),
    ) -> Followed {
        let (snapshot, runtime, connection, watches) = self.watched();
        let patience = patience(timeout);
        let following = Following { connection, watches, assume, swept: false, patience };
        runtime.block_on(follow(following, snapshot, course, sent, called_off(timeout), observer))
    }
}

/// The result of a sweep.
pub struct SweepResult {
    pub followed: Followed,
    /// Objects that still fail at the end, and why.
    pub failing: Vec<(Identity, String)>,
}

/// How much a sweep may load the API server and this machine, and how long a pass may take.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Load")]
pub struct SweepLoad {
    /// How many objects to process at once
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "dry_run", hide_short_help = true,
        value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub workers: u16,
    /// Limit of requests per second; 0: no limit. Watches do not count
    #[arg(long, value_name = "N", default_value_t = 50.0, conflicts_with = "dry_run", hide_short_help = true,
        value_parser = per_second)]
    pub qps: f64,
    /// How many requests may be sent at once after a pause
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "dry_run", hide_short_help = true,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub burst: u32,
    /// How long a pass may take; `None`: no limit.
    #[arg(skip)]
    pub timeout: Option<Duration>,
}

fn per_second(text: &str) -> Result<f64, &'static str> {
    let rate = text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate >= 0.0);
    rate.ok_or("give a number of requests per second, such as 50 or 0.5, or 0 for no limit")
}

impl LiveSession {
    /// Does the collector's work, starting from the state that the plan was made on, and follows it until nothing is
    /// left to do, or only objects are left that fail. An interrupt ends it.
    ///
    /// Between [`LiveSession::catch_up`] and this, the snapshot must not change.
    pub fn sweep(
        &mut self,
        course: PlanTracker,
        settings: Settings,
        load: &SweepLoad,
        assume: Assume,
        observer: &mut dyn FnMut(FollowEvent),
    ) -> SweepResult {
        let (snapshot, runtime, connection, watches) = self.watched();
        let SweepLoad { qps, burst, timeout, .. } = *load;
        let patience = patience(timeout);
        let limited = connection.clone().with_limits(qps, burst);
        runtime.block_on(async {
            let sweeper = Arc::new(Sweeper::new(limited, settings, Arc::new(|_| ())));
            sweeper.serve(snapshot.resources.clone(), &snapshot.gaps);
            let kinds: Vec<KindId> = snapshot.resources.iter().map(|(_, resource)| sweeper.kind(resource)).collect();
            let resources: FxHashMap<KindId, ResourceId> =
                kinds.iter().copied().zip(snapshot.resources.iter().map(|(id, _)| id)).collect();
            let watched = |id: ResourceId| snapshot.resources.not_watched(id).is_none();
            sweeper.tell(|graph| {
                for (id, object) in snapshot.objects().filter(|(_, object)| watched(object.resource)) {
                    graph.see(kinds[object.resource.index()], &snapshot.raw(id));
                }
            });
            let ignored: Vec<bool> = snapshot.resources.iter().map(|(id, _)| !watched(id)).collect();
            let mut seen = watches.tap();
            let listening = tokio::spawn({
                let sweeper = sweeper.clone();
                async move {
                    while let Some((resource, event)) = seen.recv().await {
                        if ignored[resource.index()] {
                            continue;
                        }
                        let kind = kinds[resource.index()];
                        if let Some(coverage) = Coverage::after(&event) {
                            sweeper.cover(kind, coverage);
                        }
                        if let WatchEvent::Seen { object, gone } = event {
                            sweeper.tell(|graph| if gone { graph.gone(&object.uid) } else { graph.see(kind, &object) });
                        }
                    }
                }
            });
            sweeper.begin();
            let following = Following { connection, watches, assume, swept: true, patience };
            let in_vain = in_vain(&sweeper, watches, &resources);
            let ends = async {
                let ended = tokio::select! {
                    ended = called_off(timeout) => ended,
                    () = in_vain => Ended::CalledOff,
                };
                drop(tokio::time::timeout(TO_STOP, sweeper.stop()).await);
                // What was written until then counts, too.
                drop(tokio::time::timeout(TO_BE_TOLD, observed(&sweeper)).await);
                ended
            };
            let followed = follow(following, snapshot, course, &[], ends, observer).await;
            listening.abort();
            let failing = sweeper.standing().failing;
            drop(tokio::time::timeout(TO_STOP, sweeper.stop()).await);
            SweepResult { followed, failing }
        })
    }
}

/// Done when for some time nothing has moved, and only failing objects are left. Passes on what the sweep wants read,
/// and doubts the watches that don't tell what it has written.
async fn in_vain(sweeper: &Sweeper, watches: &Watches, resources: &FxHashMap<KindId, ResourceId>) {
    let mut doubted = false;
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        if sweeper.wants_lists() {
            watches.want_lists();
        }
        let standing = sweeper.standing();
        let quiet = standing.quiet >= TO_BE_TOLD;
        if !std::mem::replace(&mut doubted, quiet) && quiet {
            watches.doubt(sweeper.unobserved().iter().filter_map(|kind| resources.get(kind).copied()));
        }
        if !standing.failing.is_empty() && standing.idle && standing.quiet >= IN_VAIN {
            return;
        }
    }
}

/// Done when the watches have told everything that a sweep has written.
async fn observed(sweeper: &Sweeper) {
    while !sweeper.unobserved().is_empty() {
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

/// Done at an interrupt, or after this time.
async fn called_off(timeout: Option<Duration>) -> Ended {
    let times_out = async {
        // A deadline beyond the clock's range is no deadline.
        match timeout.and_then(|limit| Instant::now().checked_add(limit)) {
            Some(end) => tokio::time::sleep_until(end.into()).await,
            None => future::pending().await,
        }
    };
    tokio::select! {
        () = interrupted() => Ended::CalledOff,
        () = times_out => Ended::TimedOut,
    }
}

/// How long nothing may move before something that no known controller will finish is stuck.
fn patience(timeout: Option<Duration>) -> Duration {
    timeout.map_or(PATIENCE, |timeout| (timeout / 2).clamp(PATIENCE, LONGEST_PATIENCE))
}

/// Whether an interrupt has come since [`LiveSession::hear_interrupts`].
pub(super) fn is_interrupted() -> bool {
    INTERRUPTED.get().is_some_and(|heard| *heard.borrow())
}

/// Done at the first interrupt since [`LiveSession::hear_interrupts`]. The second one ends the process.
pub(super) async fn interrupted() {
    match INTERRUPTED.get() {
        // An interrupt stays set until the process ends.
        Some(heard) => drop(heard.clone().wait_for(|heard| *heard).await),
        None => future::pending::<()>().await,
    }
}
