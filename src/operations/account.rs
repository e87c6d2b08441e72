//! An account of what goes and why: watches, looks up owners, and tells what happens until the caller has enough.

use std::{
    collections::BTreeSet,
    future::pending,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio::time::sleep_until;

use gc_cluster::{
    act::Polled,
    cluster::{Connection, Discoveries, FollowChanges, MonitorId, Monitors, WatchEvent},
};
use gc_core::{
    account::{Account, Answer, Happening, LookUp, Millis, Missing, Scope, Summary},
    model::{FOREGROUND_FINALIZER, Gap, Identity, Mapping, ORPHAN_FINALIZER, Resource, Resources, ServerVersion},
};

use super::{
    ClusterConfig, Discovered, OperationError, ReadScope, TargetConfig, live::Cluster, open::no_namespace,
    session::Session,
};

/// How long to wait for the first lists; then the account begins without the missing ones.
const FIRST_LISTS: Duration = Duration::from_secs(30);
/// How often to look for new and removed resources.
const RESYNC: Duration = Duration::from_secs(30);
/// The shortest time between two discoveries that look-ups of unknown kinds cause.
const REDISCOVERY: Duration = Duration::from_secs(2);
/// The limits of look-ups: how many at once, how many per second, and how many after a pause.
const AT_ONCE: usize = 8;
const QPS: f64 = 20.0;
const BURST: u32 = 40;

/// What is to be watched, before anything is.
pub struct Observation {
    pub cluster: Cluster,
    pub scope: Scope,
    /// The namespace that the watches are limited to; `None`: all.
    pub namespace: Option<String>,
    resources: Resources,
    gaps: Vec<Gap>,
}

/// How an account ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The caller ended it, by a signal or because nobody reads what it tells.
    CalledOff,
    TimedOut,
    /// The targets are gone.
    TargetsGone,
}

/// What an account has told when it ends.
#[derive(Debug)]
pub struct Watched {
    pub ended: Ended,
    pub summary: Summary,
    pub took: Duration,
    /// How many targets are left.
    pub targets_left: usize,
}

/// When an account ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Until {
    /// After this time.
    pub timeout: Option<Duration>,
    /// Once the targets are gone.
    pub gone: bool,
}

impl Observation {
    /// Connects to the cluster, and finds the targets.
    ///
    /// # Errors
    /// Why the cluster can't be read, or which targets don't exist.
    pub fn open(config: &ClusterConfig, targets: &TargetConfig) -> Result<Self, OperationError> {
        let discovered = Discovered::connect(config)?;
        if targets.query.is_some() {
            return Ok(Self::of_targets(discovered.read(targets, ReadScope::Namespace)?));
        }
        let Discovered { cluster, resources, gaps, .. } = discovered;
        if targets.all_namespaces {
            return Ok(Observation { cluster, scope: Scope::Everything, namespace: None, resources, gaps });
        }
        let namespace = targets.namespace.as_deref().unwrap_or(cluster.connection.default_namespace()).to_owned();
        require_namespace(&cluster, &resources, &namespace)?;
        let scope = Scope::Namespace(namespace.clone());
        Ok(Observation { cluster, scope, namespace: Some(namespace), resources, gaps })
    }

    /// The version of the server, if it tells it.
    pub fn server(&self) -> Option<&ServerVersion> {
        self.resources.server()
    }

    fn of_targets(session: Session<Cluster>) -> Self {
        let Session { snapshot, targets, source: cluster, .. } = session;
        let targets: Vec<Identity> =
            targets.into_iter().flatten().map(|target| Identity::of(&snapshot, target)).collect();
        let namespace_of = |target: &Identity| match (target.kind.as_str(), target.api_version.as_str()) {
            ("Namespace", "v1") => Some(target.name.clone()),
            _ => Some(target.namespace.clone()).filter(|namespace| !namespace.is_empty()),
        };
        // One watch for each resource: targets in several namespaces, and cluster-scoped ones, need all namespaces.
        let mut namespaces: Vec<Option<String>> = targets.iter().map(namespace_of).collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        let namespace = if let [namespace] = namespaces.as_slice() { namespace.clone() } else { None };
        let gaps = snapshot.undiscovered().map(|gap| snapshot.gaps[gap].clone()).collect();
        Observation { cluster, scope: Scope::Targets(targets), namespace, resources: snapshot.resources, gaps }
    }

    /// Tells what happens until `ends` is done, or as configured. `tell` returns whether to go on.
    ///
    /// # Errors
    /// When nothing at all can be watched.
    pub async fn run(
        &self,
        until: Until,
        ends: impl Future<Output = ()>,
        tell: &mut dyn FnMut(&Happening) -> bool,
    ) -> Result<Watched, OperationError> {
        let (connection, begun) = (self.cluster.connection.clone(), Instant::now());
        let mut watching = Watching {
            account: Account::new(self.scope.clone()),
            monitors: Monitors::new(connection.clone()).in_namespace(self.namespace.clone()).or_lists(),
            polled: Polled::default(),
            discoveries: Discoveries::new(connection.clone(), begun + RESYNC),
            namespace: self.namespace.clone(),
            kinds_of_targets: match &self.scope {
                Scope::Targets(targets) => {
                    targets.iter().map(|target| (target.api_version.clone(), target.kind.clone())).collect()
                }
                Scope::Everything | Scope::Namespace(_) => BTreeSet::new(),
            },
            resources: Arc::default(),
            gaps: Vec::new(),
            begun: None,
            answers: FuturesUnordered::new(),
            looking: connection.with_limits(QPS, BURST),
            unmapped: Vec::new(),
            discovered: Instant::now(),
        };
        watching.serve(self.resources.clone(), self.gaps.clone());
        let ended = watching.until_over(until, ends, tell).await?;
        let rest = watching.account.finish();
        let _ = rest.iter().all(tell);
        let (summary, targets_left) = (watching.account.summary(), watching.account.targets_left());
        Ok(Watched { ended, summary, took: begun.elapsed(), targets_left })
    }
}

/// Fails if the namespace verifiably doesn't exist: an account without a line would hide the typing error.
fn require_namespace(cluster: &Cluster, resources: &Resources, namespace: &str) -> Result<(), OperationError> {
    let Some(id) = resources.by_group_kind("", "Namespace") else { return Ok(()) };
    let found = cluster.runtime.block_on(cluster.connection.find(resources.get(id), "", namespace, ""));
    if found == Ok(None) { no_namespace(namespace) } else { Ok(()) }
}

/// The milliseconds since 1970.
fn now() -> Millis {
    jiff::Timestamp::now().as_millisecond()
}

struct Watching {
    account: Account,
    monitors: Monitors,
    polled: Polled,
    discoveries: Discoveries,
    namespace: Option<String>,
    /// The apiVersion and kind of each target: they are watched even if the collector ignores them.
    kinds_of_targets: BTreeSet<(String, String)>,
    resources: Arc<Resources>,
    gaps: Vec<Gap>,
    /// When the account began to tell.
    begun: Option<Instant>,
    answers: FuturesUnordered<BoxFuture<'static, (LookUp, Answer)>>,
    /// Carries the look-ups.
    looking: Connection,
    /// Look-ups that wait for a discovery: their kind may be new.
    unmapped: Vec<LookUp>,
    discovered: Instant,
}

impl Watching {
    async fn until_over(
        &mut self,
        until: Until,
        ends: impl Future<Output = ()>,
        tell: &mut dyn FnMut(&Happening) -> bool,
    ) -> Result<Ended, OperationError> {
        let mut ends = pin!(ends);
        let begun = Instant::now();
        let end = until.timeout.and_then(|timeout| begun.checked_add(timeout));
        loop {
            if self.begun.is_none() && (self.account.is_ready() || begun.elapsed() >= FIRST_LISTS) {
                self.begin()?;
            }
            let polled = if self.begun.is_some() { self.polled.take(false) } else { Vec::new() };
            if !polled.is_empty() {
                self.account.tell_polled(polled, now());
            }
            self.look_up();
            if !self.unmapped.is_empty() {
                self.discoveries.begin_at(Instant::now());
            }
            if !self.account.advance(now()).iter().all(&mut *tell) {
                return Ok(Ended::CalledOff);
            }
            if until.gone && self.begun.is_some() && self.account.targets_left() == 0 && self.account.is_idle() {
                return Ok(Ended::TargetsGone);
            }
            let wakes = self.wakes(begun);
            tokio::select! {
                () = &mut ends => return Ok(Ended::CalledOff),
                () = async { match end { Some(end) => sleep_until(end.into()).await, None => pending().await } } => {
                    return Ok(Ended::TimedOut);
                }
                events = self.monitors.recv() => self.apply(events),
                found = self.discoveries.next() => {
                    self.discoveries.begin_at(Instant::now() + RESYNC);
                    // A failed discovery is tried again: the watches go on.
                    if let Ok((resources, gaps)) = found {
                        self.serve(resources, gaps);
                    }
                    self.discovered = Instant::now();
                    for look_up in std::mem::take(&mut self.unmapped) {
                        self.send(look_up);
                    }
                }
                Some((look_up, answer)) = self.answers.next(), if !self.answers.is_empty() => {
                    self.account.answered(&look_up, answer);
                }
                () = sleep_until(wakes.into()) => {}
            }
        }
    }

    fn begin(&mut self) -> Result<(), OperationError> {
        self.begun = Some(Instant::now());
        let gaps = self.gaps.iter().filter(|gap| !gap.serves_only_metrics());
        let missing: Vec<Missing> =
            gaps.map(|gap| Missing { resource: gap.resource.clone(), why: gap.reason.to_string() }).collect();
        if self.account.is_blind() {
            let why = self.account.summary().missing.first().map(|missing| missing.why.clone()).unwrap_or_default();
            let namespace = self.namespace.as_ref().map(|namespace| format!("namespace {namespace}"));
            let place = namespace.unwrap_or_else(|| "the whole cluster".to_owned());
            return Err(OperationError::Unwatchable { place, why });
        }
        self.account.begin(missing, now());
        Ok(())
    }

    /// When to wake up even without events.
    fn wakes(&self, begun: Instant) -> Instant {
        let (at, time) = (Instant::now(), now());
        let due = self.account.due(time).map(|due| at + Duration::from_millis(u64::try_from(due - time).unwrap_or(0)));
        let due = due.into_iter().chain(self.polled.due()).min().unwrap_or(at + RESYNC);
        if self.begun.is_none() { due.min(begun + FIRST_LISTS) } else { due }
    }

    fn apply(&mut self, events: Vec<(MonitorId, WatchEvent)>) {
        let now = now();
        for (MonitorId(id), event) in events {
            match event {
                WatchEvent::Listing => self.account.listing(id, now),
                WatchEvent::Seen { object, gone } => self.account.see(id, &object, gone, now),
                WatchEvent::Listed => self.account.listed(id, now),
                WatchEvent::Failing { reason } | WatchEvent::Lost { reason, .. } => {
                    self.account.failing(id, reason, now);
                }
                WatchEvent::Polled { reason, .. } => {
                    if let Some(resource) = self.account.is_polled(id) {
                        self.polled.add(resource, reason);
                    }
                }
                WatchEvent::Recovered => self.account.recovered(id, now),
            }
        }
    }

    /// Starts the look-ups that are wanted.
    fn look_up(&mut self) {
        while self.answers.len() < AT_ONCE
            && let Some(look_up) = self.account.next_look_up()
        {
            let mapping = self.resources.map(&look_up.api_version, &look_up.kind);
            if mapping == Mapping::Unmappable && self.discovered.elapsed() >= REDISCOVERY {
                self.unmapped.push(look_up);
            } else {
                self.send(look_up);
            }
        }
    }

    fn send(&mut self, look_up: LookUp) {
        let (connection, resources) = (self.looking.clone(), self.resources.clone());
        self.answers.push(Box::pin(async move {
            let answer = look(&connection, &resources, &look_up).await;
            (look_up, answer)
        }));
    }

    /// Starts to watch newly served resources, and stops watching those that are no longer served. Resources of
    /// undiscovered group versions stay watched.
    fn serve(&mut self, resources: Resources, gaps: Vec<Gap>) {
        // A server that is starting may not serve anything yet.
        if resources.is_empty() {
            return;
        }
        let ignored_target = |resource: &Resource| {
            ["list", "watch"].into_iter().all(|verb| resource.has_verb(verb))
                && self.kinds_of_targets.contains(&(resource.api_version(), resource.kind.clone()))
        };
        let watched = |id| resources.not_watched(id).is_none();
        let wanted: Vec<Resource> = resources
            .iter()
            .filter(|(id, resource)| watched(*id) && self.wants(resource) || ignored_target(resource))
            .map(|(_, resource)| resource)
            .cloned()
            .collect();
        let FollowChanges { stopped, begun } = self.monitors.follow(&wanted, &gaps);
        for MonitorId(id) in stopped {
            self.account.stopped(id, now());
        }
        for (MonitorId(id), resource) in begun {
            self.account.watch(id, &resource);
        }
        (self.resources, self.gaps) = (Arc::new(resources), gaps);
    }

    /// In one namespace, of cluster-scoped resources only those that take the content of namespaces with them.
    fn wants(&self, resource: &Resource) -> bool {
        let takes = ["namespaces", "customresourcedefinitions.apiextensions.k8s.io"];
        self.namespace.is_none() || resource.namespaced || takes.contains(&resource.full_name().as_str())
    }
}

/// Looks up an owner as the collector does (§3.4), or a namespace.
async fn look(connection: &Connection, resources: &Resources, look_up: &LookUp) -> Answer {
    let resource = match resources.map(&look_up.api_version, &look_up.kind) {
        Mapping::Served(id) => resources.get(id),
        // R3.15
        Mapping::ListKind { .. } => return Answer::Absent { current_uid: None },
        Mapping::Unmappable => return Answer::Unknown("its kind is not served".to_owned()),
        Mapping::Undiscovered => return Answer::Unknown("its API could not be discovered".to_owned()),
    };
    if resource.namespaced && look_up.namespace.is_empty() {
        return Answer::Unknown("a cluster-scoped object cannot have an owner in a namespace".to_owned());
    }
    let namespace = if resource.namespaced { look_up.namespace.as_str() } else { "" };
    match connection.find(resource, namespace, &look_up.name, &look_up.uid).await {
        Err(why) => Answer::Unknown(why),
        Ok(None) => Answer::Absent { current_uid: None },
        Ok(Some(found)) if !look_up.uid.is_empty() && found.uid != look_up.uid => {
            Answer::Absent { current_uid: Some(found.uid.into_owned()) }
        }
        Ok(Some(found)) => {
            let has = |finalizer: &str| found.finalizers.iter().any(|known| known == finalizer);
            let terminating = found.deleted.is_some();
            Answer::Found {
                terminating,
                waiting: terminating && has(FOREGROUND_FINALIZER),
                orphaning: terminating && has(ORPHAN_FINALIZER),
            }
        }
    }
}
