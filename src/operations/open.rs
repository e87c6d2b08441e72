//! Opens a source: from checked configuration to a snapshot and the targets.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use gc_cluster::{
    cluster::{self, Connection, ConnectionOptions, EarlyLists, ReadObserver, Scope, Wanted},
    dump::{self, Examples, ReadOptions},
};
use gc_core::model::{
    Gap, Identity, ListRecord, ObjectId, Resource, ResourceId, Resources, Snapshot, SnapshotBuilder, facts::read_whole,
};

use super::{
    OperationError,
    live::{Cluster, LiveSession},
    session::{Dump, DumpSession, Session, add_gaps},
    signals::{Clock as _, SystemClock},
    targets::{NamespaceChoice, ServerSelection, TargetError, TargetQuery, TypedQuery},
};

/// How long a server may take until its discovery names what a new APIService does. It usually takes a tenth of that.
const DISCOVERED_LATER: Duration = Duration::from_millis(500);

/// How much of a cluster a command has to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadScope {
    /// What the server serves, and no objects; of a dump, everything.
    Nothing,
    /// The targets' namespace and everything cluster-scoped; everything if a target is cluster-scoped.
    Namespace,
    /// Everything, because a dependent in the wrong namespace can decide an outcome.
    Everything,
    /// Everything, with the facts of webhooks, APIServices and the like, on which the API server depends
    /// ([`read_whole`]).
    Diagnosis,
    /// The same, and of a dump also what decides when the cluster removes objects by itself.
    Explanation,
    /// Everything, with what decides when the cluster removes objects by itself ([`gc_core::reclaim`]).
    Reclaim,
}

/// Which cluster to read, and how.
#[derive(Clone)]
pub struct ClusterConfig {
    pub options: ConnectionOptions,
    /// Replaces the kubeconfig's namespace.
    pub namespace: Option<String>,
    /// Whether the server must have the version of kubectl.
    pub match_server_version: bool,
    /// Receives every list and request.
    pub observer: Option<ReadObserver>,
}

/// The source of objects.
#[derive(Clone)]
pub enum SourceConfig {
    Cluster(Box<ClusterConfig>),
    /// Files, folders, URLs and `-`.
    Dump {
        paths: Vec<String>,
        assume_complete: bool,
        /// The limit for the size of all files together, decompressed, in bytes.
        max_input: u64,
    },
}

/// Which objects a command is about.
#[derive(Clone, Debug, Default)]
pub struct TargetConfig {
    /// `None` if no target was named.
    pub query: Option<TargetQuery>,
    /// The requested namespace; `None` with `all_namespaces`.
    pub namespace: Option<String>,
    pub all_namespaces: bool,
    /// Whether to leave out targets that verifiably don't exist, instead of failing.
    pub ignore_not_found: bool,
}

impl TargetConfig {
    /// No targets: the whole namespace, or everything.
    pub fn scope(namespace: Option<String>) -> Self {
        TargetConfig { all_namespaces: namespace.is_none(), namespace, ..TargetConfig::default() }
    }

    /// These very objects, as far as they exist.
    pub fn of_objects(objects: &[Identity]) -> Self {
        let query = Some(TargetQuery::of_objects(objects));
        TargetConfig { query, ignore_not_found: true, ..TargetConfig::default() }
    }

    fn choice(&self, default: NamespaceChoice) -> NamespaceChoice {
        match &self.namespace {
            Some(namespace) => NamespaceChoice::One(namespace.clone()),
            None if self.all_namespaces => NamespaceChoice::All,
            None => default,
        }
    }

    /// The targets in the snapshot, those that don't exist skipped if that is wanted.
    fn resolve(
        &self,
        query: &TypedQuery,
        snapshot: &Snapshot,
        choice: &NamespaceChoice,
        selected: &[(ResourceId, Vec<String>)],
    ) -> Result<Vec<ObjectId>, TargetError> {
        match self.ignore_not_found {
            true => query.resolve_present(snapshot, choice, selected),
            false => query.resolve(snapshot, choice, selected),
        }
    }

    fn typed(&self, resources: &Resources) -> Result<Option<TypedQuery>, OperationError> {
        let query = self.query.clone().map(|query| query.with_types(resources)).transpose()?;
        if let (Some(query), Some(namespace)) = (&query, &self.namespace) {
            query.check_namespace(namespace)?;
        }
        Ok(query)
    }
}

/// The dumps that the program brings to try the commands on.
const EXAMPLES: Examples = &[
    ("shop", include_bytes!("../../examples/shop.yaml")),
    ("leftovers", include_bytes!("../../examples/leftovers.yaml")),
    ("old", include_bytes!("../../examples/old.yaml")),
    ("owners", include_bytes!("../../examples/owners.yaml")),
];

/// A source whose resources are known. Of a cluster, no lists have been read yet.
pub enum Opening {
    Cluster(Discovered),
    Dump(Snapshot),
}

impl Opening {
    /// Connects to the cluster and discovers its resources, or reads files. What a command on these targets reads is
    /// begun to be listed before discovery has answered.
    ///
    /// # Errors
    /// Why the source can't be used.
    pub fn of(source: &SourceConfig, targets: &TargetConfig, scope: ReadScope) -> Result<Self, OperationError> {
        match source {
            SourceConfig::Cluster(cluster) if scope == ReadScope::Nothing => {
                Discovered::connect(cluster).map(Opening::Cluster)
            }
            SourceConfig::Cluster(cluster) => Discovered::expecting(cluster, targets, scope).map(Opening::Cluster),
            SourceConfig::Dump { paths, assume_complete, max_input } => {
                let options = ReadOptions {
                    max_input: *max_input,
                    fetch: cluster::fetch,
                    examples: EXAMPLES,
                    assume_complete: *assume_complete,
                    for_reclaim: matches!(scope, ReadScope::Reclaim | ReadScope::Explanation),
                };
                Ok(Opening::Dump(dump::read_with(paths, options)?))
            }
        }
    }

    pub fn resources(&self) -> &Resources {
        match self {
            Opening::Cluster(discovered) => &discovered.resources,
            Opening::Dump(snapshot) => &snapshot.resources,
        }
    }

    /// Reads what a command on these targets needs. Resolves types before any list is read.
    ///
    /// # Errors
    /// Why nothing can be shown. Resources that can't be read become gaps of the snapshot.
    pub fn read(self, targets: &TargetConfig, scope: ReadScope) -> Result<Box<Session>, OperationError> {
        Ok(match self {
            Opening::Cluster(discovered) => Box::new(discovered.read(targets, scope)?),
            Opening::Dump(snapshot) => Box::new(read_dump(snapshot, targets)?),
        })
    }

    /// A snapshot with the resources and the origin; of a cluster, without any objects.
    pub fn into_snapshot(self) -> Snapshot {
        match self {
            Opening::Dump(snapshot) => snapshot,
            Opening::Cluster(Discovered { cluster, resources, gaps, .. }) => {
                let mut builder = SnapshotBuilder::new(cluster.connection.origin(), resources);
                gaps.into_iter().for_each(|gap| builder.gap(gap));
                builder.build()
            }
        }
    }
}

/// A cluster after discovery.
pub struct Discovered {
    pub cluster: Cluster,
    pub resources: Resources,
    pub gaps: Vec<Gap>,
    /// Lists that were begun before discovery had answered.
    pub(super) early: EarlyLists,
}

/// What to list for a command.
pub struct Lists {
    query: Option<TypedQuery>,
    wanted: Wanted,
    /// `None` for all.
    namespace: Option<String>,
}

impl Lists {
    /// Of a server that serves these resources.
    ///
    /// # Errors
    /// Types that aren't served.
    fn of(
        cluster: &Cluster,
        resources: &Resources,
        targets: &TargetConfig,
        scope: ReadScope,
    ) -> Result<Self, OperationError> {
        let query = targets.typed(resources)?;
        let namespace = targets.namespace.as_deref().unwrap_or(cluster.connection.default_namespace()).to_owned();
        let namespace = (!targets.all_namespaces).then_some(namespace);
        let lists = match (scope, &namespace) {
            (ReadScope::Namespace, Some(namespace)) => scope_of(query.as_ref(), resources, namespace),
            _ => Scope::Everything,
        };
        let is_diagnosis = matches!(scope, ReadScope::Diagnosis | ReadScope::Explanation);
        let is_whole = |resource: &Resource| is_diagnosis && read_whole(&resource.group, &resource.kind);
        let whole = resources.deletable().filter(|(_, resource)| is_whole(resource)).map(|(id, _)| id).collect();
        let selected = query.iter().flat_map(TypedQuery::selected);
        let targets = selected.map(|resource| (resource, namespace.clone())).collect();
        // What a Namespace contains is what a command on it is about.
        let namespaces = resources.by_group_kind("", "Namespace");
        let named = query.iter().flat_map(TypedQuery::named).filter(|(resource, ..)| Some(*resource) == namespaces);
        let instead = named.filter_map(|(_, _, name)| name.map(str::to_owned)).collect();
        Ok(Lists { query, wanted: Wanted { scope: lists, whole, targets, instead }, namespace })
    }

    pub fn scope(&self) -> &Scope {
        &self.wanted.scope
    }

    /// The namespace of all targets, if they are in one: their dependents are in it, too.
    pub fn only_namespace(&self) -> Option<&str> {
        match &self.wanted.scope {
            Scope::Namespace(namespace) if self.query.is_some() => Some(namespace),
            _ => None,
        }
    }

    /// The targets by resource and namespace, with their names; without, if they are selected by other means. The
    /// namespace is empty for all.
    pub fn named(&self) -> BTreeMap<(ResourceId, String), Vec<String>> {
        let default = self.namespace.as_deref().unwrap_or_default();
        let mut named: BTreeMap<(ResourceId, String), Vec<String>> = BTreeMap::new();
        for (resource, namespace, name) in self.query.iter().flat_map(TypedQuery::named) {
            let namespace = namespace.unwrap_or(default).to_owned();
            named.entry((resource, namespace)).or_default().extend(name.map(str::to_owned));
        }
        named
    }
}

impl Discovered {
    /// # Errors
    /// Why there is no connection, or why the served resources could not be read.
    pub fn connect(config: &ClusterConfig) -> Result<Self, OperationError> {
        Self::by(Cluster::connect(config)?)
    }

    /// The same for what a command on these targets reads: begins the lists of what the server probably serves, while
    /// discovery is on its way. [`Discovered::read`] takes those that discovery wants, too.
    ///
    /// # Errors
    /// As [`Discovered::connect`].
    pub fn expecting(config: &ClusterConfig, targets: &TargetConfig, scope: ReadScope) -> Result<Self, OperationError> {
        let cluster = Cluster::connect(config)?;
        let expected = cluster.connection.expected_resources();
        let runtime = cluster.runtime.enter();
        // A type that isn't expected may be served: then nothing is listed early.
        let early = match Lists::of(&cluster, &expected, targets, scope) {
            Ok(lists) => cluster.connection.begin_lists(&expected, &lists.wanted),
            Err(_) => EarlyLists::default(),
        };
        drop(runtime);
        let discovered = Discovered { early, ..Self::by(cluster)? };
        discovered.cluster.connection.keep_served(&discovered.resources);
        Ok(discovered)
    }

    /// The same by a session's connection, as the same user.
    ///
    /// # Errors
    /// Why the served resources could not be read.
    pub fn again(last: LiveSession) -> Result<Self, OperationError> {
        Self::by(Cluster { watches: None, ..last.source })
    }

    fn by(cluster: Cluster) -> Result<Self, OperationError> {
        let (resources, gaps) = cluster.runtime.block_on(cluster.connection.discover())?;
        Ok(Discovered { cluster, resources, gaps, early: EarlyLists::default() })
    }

    /// What a command on these targets lists.
    ///
    /// # Errors
    /// Types that aren't served.
    pub fn lists(&self, targets: &TargetConfig, scope: ReadScope) -> Result<Lists, OperationError> {
        Lists::of(&self.cluster, &self.resources, targets, scope)
    }

    /// The connection's namespace.
    pub fn namespace(&self) -> String {
        self.cluster.connection.default_namespace().to_owned()
    }

    /// As [`Opening::read`].
    ///
    /// # Errors
    /// Why nothing can be shown.
    pub fn read(self, targets: &TargetConfig, scope: ReadScope) -> Result<LiveSession, OperationError> {
        let read = self.read_once(targets, scope)?;
        if read.snapshot.named_by_services_only().is_empty() {
            return Ok(read);
        }
        // Discovery may have been older than the lists, as after a definition is created: everything is read again.
        SystemClock::start().sleep(DISCOVERED_LATER);
        let mut read = Discovered::again(read)?.read_once(targets, scope)?;
        let unnamed = read.snapshot.named_by_services_only();
        add_gaps(&mut read.snapshot, unnamed);
        Ok(read)
    }

    fn read_once(self, targets: &TargetConfig, scope: ReadScope) -> Result<LiveSession, OperationError> {
        let Discovered { cluster, resources, gaps, early } = self;
        let Lists { query, wanted, namespace } = Lists::of(&cluster, &resources, targets, scope)?;
        let choice = targets.choice(NamespaceChoice::One(cluster.connection.default_namespace().to_owned()));
        let selected = select(&cluster, &resources, query.as_ref(), namespace.as_deref())?;
        let read = cluster.connection.read(resources, &wanted, &early);
        let (mut snapshot, nothing) = cluster.runtime.block_on(read)?;
        // Nothing later may take a list that is old by then.
        drop(early);
        snapshot.read_at = Some(SystemClock::start().now());
        add_gaps(&mut snapshot, gaps);
        if scope == ReadScope::Reclaim {
            let fetch = cluster.connection.fetch_reclaim_facts(&mut snapshot, namespace.as_deref());
            cluster.runtime.block_on(fetch);
        }
        if let Some(query) = &query {
            let unlisted = query.unlisted(&mut snapshot, &choice);
            cluster.runtime.block_on(cluster.connection.look_up(&mut snapshot, &unlisted));
        }
        // Who may list nothing may still get a target, or learn that it doesn't exist.
        if let Some(nothing) = nothing.filter(|_| snapshot.is_empty() && snapshot.confirmed_absent().next().is_none()) {
            return Err(nothing.into());
        }
        let targets = query.map(|query| targets.resolve(&query, &snapshot, &choice, &selected)).transpose()?;
        if let Some(namespace) = namespace.as_deref().filter(|_| targets.is_none()) {
            require_live_namespace(&snapshot, namespace)?;
        }
        Ok(Session { snapshot, namespace, targets, source: cluster })
    }
}

impl Cluster {
    /// # Errors
    /// Why there is no connection.
    pub fn connect(config: &ClusterConfig) -> Result<Self, OperationError> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(OperationError::Runtime)?;
        let mut connection = runtime.block_on(Connection::open(&config.options))?;
        if let Some(namespace) = &config.namespace {
            connection = connection.with_fallback_namespace(namespace);
        }
        if let Some(observer) = &config.observer {
            connection = connection.telling(observer.clone());
        }
        if config.match_server_version {
            let matched = runtime.block_on(connection.require_version_of_kubectl());
            matched.map_err(|why| OperationError::Unusable(format!("--match-server-version: {why}")))?;
        }
        Ok(Cluster { runtime, connection, watches: None })
    }
}

fn read_dump(snapshot: Snapshot, targets: &TargetConfig) -> Result<DumpSession, OperationError> {
    let query = targets.typed(&snapshot.resources)?;
    let choice = targets.choice(NamespaceChoice::WhereverUnique);
    let found = query.map(|query| targets.resolve(&query, &snapshot, &choice, &[])).transpose()?;
    if let (None, Some(namespace)) = (&found, &targets.namespace) {
        require_namespace(&snapshot, namespace)?;
    }
    Ok(Session { snapshot, namespace: targets.namespace.clone(), targets: found, source: Dump })
}

/// The uids of objects that only the server can select.
fn select(
    cluster: &Cluster,
    resources: &Resources,
    query: Option<&TypedQuery>,
    namespace: Option<&str>,
) -> Result<Vec<(ResourceId, Vec<String>)>, OperationError> {
    let selections = query.map(TypedQuery::server_selections).unwrap_or_default();
    let select = |selection: ServerSelection| {
        let labels = selection.labels.as_deref();
        let namespace = namespace.filter(|_| resources.get(selection.resource).namespaced);
        let uids = cluster.connection.select(resources, selection.resource, namespace, labels, Some(&selection.fields));
        Ok((selection.resource, cluster.runtime.block_on(uids)?))
    };
    selections.into_iter().map(select).collect()
}

/// What to read of a cluster for these targets.
fn scope_of(query: Option<&TypedQuery>, resources: &Resources, namespace: &str) -> Scope {
    let elsewhere =
        |query: &TypedQuery| query.any_cluster_scoped(resources) || query.own_namespaces().any(|own| own != namespace);
    if query.is_some_and(elsewhere) { Scope::Everything } else { Scope::Namespace(namespace.to_owned()) }
}

/// Fails if the namespace verifiably doesn't exist: an empty result would hide the typing error.
fn require_live_namespace(snapshot: &Snapshot, namespace: &str) -> Result<(), OperationError> {
    let absent = match snapshot.resources.by_group_kind("", "Namespace") {
        Some(resource) if snapshot.covers(resource, None) => !snapshot
            .objects()
            .any(|(_, object)| object.resource == resource && snapshot.text(object.name) == namespace),
        _ => false,
    };
    if absent { no_namespace(namespace) } else { Ok(()) }
}

/// Fails because a namespace is not in the cluster.
pub(super) fn no_namespace<T>(namespace: &str) -> Result<T, OperationError> {
    Err(OperationError::Unusable(format!("there is no namespace {namespace:?} in the cluster")))
}

/// Fails if the dump has neither this namespace nor anything in it, and no list failed that may contain some of it.
fn require_namespace(snapshot: &Snapshot, namespace: &str) -> Result<(), OperationError> {
    let namespaces = snapshot.resources.by_group_kind("", "Namespace");
    let known: BTreeSet<&str> = snapshot
        .objects()
        .map(|(_, object)| if Some(object.resource) == namespaces { object.name } else { object.namespace })
        .filter(|name| !name.is_empty())
        .map(|name| snapshot.text(name))
        .collect();
    let may_hide = |list: &ListRecord| {
        list.failure.is_some()
            && snapshot.resources.get(list.resource).namespaced
            && list.namespace.as_deref().is_none_or(|listed| listed == namespace)
    };
    if known.contains(namespace) || snapshot.lists.iter().any(may_hide) {
        return Ok(());
    }
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    Err(OperationError::Unusable(format!("no namespace {namespace:?} in the dump, which contains {known}")))
}
