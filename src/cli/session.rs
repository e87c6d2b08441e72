//! From the command line to a snapshot and the objects that are meant.

mod acting;

pub use acting::SweepSettings;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use rustc_hash::FxHashSet;

use crate::{
    act::{Access, Probe, ProbeError, Verdicts, probe, review},
    cluster::{Connection, Scope, Watches, Whole},
    dump,
    model::{
        Coordinate, Gap, ObjectId, OwnerEvent, Presence, RecheckResult, Resource, ResourceId, Resources, Snapshot,
        Symbol, facts::read_whole,
    },
    plan::UnlistedContents,
};

use super::{
    args::{GlobalArgs, SourceArgs, TargetArgs},
    error::CliError,
    progress::ReadProgress,
    targets::{KeepQuery, KeepTargets, NamespaceChoice, TargetError, TargetQuery, TypedQuery},
};

/// How much of a cluster a command has to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadScope {
    /// The namespace of the targets and what is cluster-scoped; everything for targets that are cluster-scoped.
    Namespace,
    /// Everything, because a dependent in the wrong place can decide an outcome.
    Everything,
    /// Everything, and the facts of what the API server asks and passes requests on to ([`read_whole`]).
    Diagnosis,
}

/// What a command works on.
pub struct Session {
    pub snapshot: Snapshot,
    /// The namespace that is looked at; `None` for all of them.
    pub namespace: Option<String>,
    /// The targets, or `None` when none were named.
    pub targets: Option<Vec<ObjectId>>,
    live: Option<Live>,
    watches: Option<Watches>,
}

/// An open connection with what drives it.
pub(super) struct Live {
    pub(super) runtime: tokio::runtime::Runtime,
    pub(super) connection: Connection,
}

impl Live {
    pub(super) fn open(global: &GlobalArgs) -> Result<Self, CliError> {
        let options = global.connection.options()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CliError::Runtime)?;
        let mut connection = runtime.block_on(Connection::open(&options))?;
        if let Some(namespace) = global.connection.namespace() {
            connection = connection.with_fallback_namespace(namespace);
        }
        if let Some(telling) = ReadProgress::new(global.connection.verbosity) {
            connection = connection.with_progress(Arc::new(telling));
        }
        Ok(Live { runtime, connection })
    }

    pub(super) fn discover(&self) -> Result<(Resources, Vec<Gap>), CliError> {
        Ok(self.runtime.block_on(self.connection.discover())?)
    }
}

impl Session {
    /// Reads what a command on these targets needs. Whatever is wrong with the command line shows before any list is
    /// read.
    ///
    /// # Errors
    /// Anything that leaves nothing to show; what merely can't be read is a gap of the snapshot.
    pub fn open(
        global: &GlobalArgs,
        source: &SourceArgs,
        args: &TargetArgs,
        reach: ReadScope,
    ) -> Result<Self, CliError> {
        Self::open_asked(global, source, args, reach, |_| Ok(())).map(|(session, ())| session)
    }

    /// The same where more is asked for than targets: `ask` looks up what that means in what is served.
    ///
    /// # Errors
    /// Those of [`Session::open`], and those of `ask`.
    pub fn open_asked<T>(
        global: &GlobalArgs,
        source: &SourceArgs,
        args: &TargetArgs,
        reach: ReadScope,
        ask: impl FnOnce(&Resources) -> Result<T, CliError>,
    ) -> Result<(Self, T), CliError> {
        if source.from.iter().any(|from| from == "-") && args.filenames.iter().any(|file| file == "-") {
            return Err(CliError::Usage(
                "standard input can't be both --from and -f: give a file for one of them".to_owned(),
            ));
        }
        // What makes no sense is told even where no connection is opened.
        global.connection.options()?;
        let query = TargetQuery::parse(args)?;
        if source.from.is_empty() {
            Self::open_live(global, args, query, reach, ask)
        } else {
            Self::open_dump(global, source, args, query, ask)
        }
    }

    fn open_live<T>(
        global: &GlobalArgs,
        args: &TargetArgs,
        query: Option<TargetQuery>,
        reach: ReadScope,
        ask: impl FnOnce(&Resources) -> Result<T, CliError>,
    ) -> Result<(Self, T), CliError> {
        let live = Live::open(global)?;
        let (resources, gaps) = live.discover()?;
        let query = query.map(|query| query.with_types(&resources)).transpose()?;
        let asked = ask(&resources)?;
        if let (Some(query), Some(namespace)) = (&query, explicit_namespace(global, args)) {
            query.check_namespace(namespace)?;
        }
        let namespace = explicit_namespace(global, args).unwrap_or(live.connection.default_namespace()).to_owned();
        let selected = live.select(&resources, query.as_ref(), (!args.all_namespaces).then_some(namespace.as_str()))?;
        let scope = match reach {
            ReadScope::Everything | ReadScope::Diagnosis => Scope::Everything,
            ReadScope::Namespace if args.all_namespaces => Scope::Everything,
            ReadScope::Namespace => scope_of(query.as_ref(), &resources, &namespace),
        };
        let is_whole =
            |resource: &Resource| reach == ReadScope::Diagnosis && read_whole(&resource.group, &resource.kind);
        let whole: Vec<ResourceId> =
            resources.deletable().filter(|(_, resource)| is_whole(resource)).map(|(id, _)| id).collect();
        let mut snapshot = live.runtime.block_on(live.connection.read(resources, &scope, &whole))?;
        add_gaps(&mut snapshot, gaps);
        let choice = if args.all_namespaces { NamespaceChoice::All } else { NamespaceChoice::One(namespace.clone()) };
        if let Some(query) = &query {
            let unread = query.unread(&mut snapshot, &choice);
            live.runtime.block_on(live.connection.look_up(&mut snapshot, &unread));
        }
        let resolve = |query: TypedQuery| match args.ignore_not_found {
            true => query.resolve_present(&snapshot, &choice, &selected),
            false => query.resolve(&snapshot, &choice, &selected),
        };
        let targets = query.map(resolve).transpose()?;
        let namespace = (!args.all_namespaces).then_some(namespace);
        if let Some(namespace) = namespace.as_deref().filter(|_| targets.is_none()) {
            require_live_namespace(&snapshot, namespace)?;
        }
        Ok((Session { snapshot, namespace, targets, live: Some(live), watches: None }, asked))
    }

    fn open_dump<T>(
        global: &GlobalArgs,
        source: &SourceArgs,
        args: &TargetArgs,
        query: Option<TargetQuery>,
        ask: impl FnOnce(&Resources) -> Result<T, CliError>,
    ) -> Result<(Self, T), CliError> {
        let snapshot = read_dump(source)?;
        let namespace = explicit_namespace(global, args).map(str::to_owned);
        let choice = match &namespace {
            Some(namespace) => NamespaceChoice::One(namespace.clone()),
            None if args.all_namespaces => NamespaceChoice::All,
            None => NamespaceChoice::WhereverUnique,
        };
        let query = query.map(|query| query.with_types(&snapshot.resources)).transpose()?;
        let asked = ask(&snapshot.resources)?;
        let targets = match query {
            Some(query) => {
                if let Some(namespace) = &namespace {
                    query.check_namespace(namespace)?;
                }
                Some(query.resolve(&snapshot, &choice, &[])?)
            }
            None => {
                if let Some(namespace) = &namespace {
                    require_namespace(&snapshot, namespace)?;
                }
                None
            }
        };
        Ok((Session { snapshot, namespace, targets, live: None, watches: None }, asked))
    }

    /// Reads a whole cluster or dump, for commands without targets.
    pub fn open_whole(global: &GlobalArgs, source: &SourceArgs, reach: ReadScope) -> Result<Self, CliError> {
        let args = TargetArgs { all_namespaces: global.connection.namespace().is_none(), ..TargetArgs::default() };
        let mut session = Self::open(global, source, &args, reach)?;
        session.namespace = None;
        Ok(session)
    }

    /// What is served, and where that comes from, without reading any list.
    pub fn discover_only(global: &GlobalArgs, source: &SourceArgs) -> Result<Snapshot, CliError> {
        if !source.from.is_empty() {
            return read_dump(source);
        }
        let live = Live::open(global)?;
        let (resources, gaps) = live.discover()?;
        let mut builder = crate::model::SnapshotBuilder::new(live.connection.origin(), resources);
        for gap in gaps {
            builder.gap(gap);
        }
        Ok(builder.build())
    }

    /// The namespace that is looked at, as a symbol of the snapshot.
    pub fn namespace_symbol(&mut self) -> Option<Symbol> {
        let namespace = self.namespace.as_deref()?;
        Some(self.snapshot.strings.intern(namespace))
    }

    /// The objects that are to survive a delete of these targets, as far as they are named one by one: looked for where
    /// the targets are, if that is one namespace, and otherwise where targets would be. What no list covers is asked
    /// for.
    ///
    /// # Errors
    /// What isn't there, or could not be read.
    pub fn keep_targets(&mut self, query: &KeepQuery, targets: &[ObjectId]) -> Result<KeepTargets, TargetError> {
        let mut namespaces: Vec<Symbol> =
            targets.iter().map(|target| self.snapshot.object(*target).namespace).collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        let choice = match (namespaces.as_slice(), &self.namespace) {
            ([namespace], _) if !namespace.is_empty() => {
                NamespaceChoice::One(self.snapshot.text(*namespace).to_owned())
            }
            (_, Some(namespace)) => NamespaceChoice::One(namespace.clone()),
            (_, None) => NamespaceChoice::WhereverUnique,
        };
        let unread = query.unread(&mut self.snapshot, &choice);
        if let Some(live) = &self.live {
            live.runtime.block_on(live.connection.look_up(&mut self.snapshot, &unread));
        }
        // Only there can anything depend on what is in a namespace.
        let within = match namespaces.as_slice() {
            [namespace] if !namespace.is_empty() => Some(self.snapshot.text(*namespace)),
            _ => None,
        };
        query.resolve(&self.snapshot, &choice, within)
    }

    /// Reads what a simulation found to be missing, where there is a cluster to ask. Says whether anything was asked
    /// for.
    pub fn fetch(&mut self, needs: &crate::simulate::Needs) -> bool {
        let Some(live) = &self.live else { return false };
        // What was asked once, and not answered, would not be answered now.
        let coordinates: Vec<Coordinate> =
            needs.look_ups.iter().copied().filter(|coordinate| !self.snapshot.was_looked_up(*coordinate)).collect();
        if !coordinates.is_empty() {
            live.runtime.block_on(live.connection.look_up(&mut self.snapshot, &coordinates));
        }
        if !needs.facts.is_empty() {
            let objects: Vec<ObjectId> = needs.facts.iter().copied().collect();
            live.runtime.block_on(live.connection.fetch_facts(&mut self.snapshot, &objects));
        }
        true
    }

    /// Reads who set the finalizers of these objects, where there is a cluster to ask.
    pub fn fetch_setters(&mut self, objects: &[ObjectId]) {
        if let Some(live) = &self.live {
            live.runtime.block_on(live.connection.fetch_setters(&mut self.snapshot, objects));
        }
    }

    /// From now on, an API path that doesn't exist is the absence of what would be there (R3.16).
    pub fn trust_missing_apis(&mut self) {
        if let Some(live) = &mut self.live {
            live.connection.trust_missing_apis();
        }
    }

    /// Asks, where there is a cluster to ask, whether what lists lack is really not there: they are old as soon as they
    /// are read (R8.7). Says whether anything turned out to be otherwise, or to be unknown.
    pub fn confirm(&mut self, absences: &FxHashSet<Coordinate>) -> bool {
        let Some(live) = &self.live else { return false };
        let coordinates: Vec<Coordinate> =
            absences.iter().copied().filter(|coordinate| !self.snapshot.was_looked_up(*coordinate)).collect();
        let seen = |snapshot: &Snapshot| -> Vec<(Presence, Option<Symbol>)> {
            let look_up = |coordinate: &Coordinate| match snapshot.look_up(*coordinate) {
                found @ Presence::Present(object) => (found, Some(snapshot.object(object).uid)),
                other => (other, None),
            };
            coordinates.iter().map(look_up).collect()
        };
        let before = seen(&self.snapshot);
        live.runtime.block_on(live.connection.look_up(&mut self.snapshot, &coordinates));
        seen(&self.snapshot) != before
    }
}

impl Session {
    /// Whether there is a cluster that can be asked.
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Looks at objects again, where there is a cluster, and takes in what is so now: **ids may change**. Says whether
    /// anything did.
    pub fn recheck(&mut self, objects: &[ObjectId]) -> bool {
        let Some(live) = &self.live else { return false };
        let seen = live.runtime.block_on(live.connection.recheck(&self.snapshot, objects));
        let changed = seen.iter().any(|(_, again)| *again != RecheckResult::Same);
        if changed {
            self.snapshot.update(seen);
        }
        changed
    }

    /// The collector's complaints about owners in other namespaces. What can't be read is a gap.
    pub fn owner_events(&mut self) -> Vec<OwnerEvent> {
        let Some(live) = &self.live else { return Vec::new() };
        match live.runtime.block_on(live.connection.invalid_owner_events()) {
            Ok(events) => events,
            Err(reason) => {
                add_gaps(&mut self.snapshot, vec![Gap { resource: "events".to_owned(), namespace: None, reason }]);
                Vec::new()
            }
        }
    }

    /// Asks with a throw-away object whether a collector runs; none where there is no cluster.
    ///
    /// # Errors
    /// When that could not be found out.
    pub fn probe(&self, patience: Duration) -> Option<Result<Probe, ProbeError>> {
        let live = self.live.as_ref()?;
        let namespace = self.namespace.as_deref().unwrap_or(live.connection.default_namespace());
        Some(live.runtime.block_on(probe(&live.connection, namespace, patience)))
    }

    /// Reads objects whole, where there is a cluster to ask.
    ///
    /// # Errors
    /// The first that `each` returns.
    pub fn fetch_whole<E>(
        &self,
        objects: &[ObjectId],
        each: impl FnMut(ObjectId, Whole) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(live) = &self.live else { return Ok(()) };
        live.runtime.block_on(live.connection.fetch_whole(&self.snapshot, objects, each))
    }

    /// Lists whole what no snapshot has, where there is a cluster to ask: see [`Connection::list_whole`].
    ///
    /// # Errors
    /// Outside: why they can't be listed. Inside: the first that `each` returns.
    pub fn list_whole<E: Send>(
        &self,
        resource: ResourceId,
        namespace: Symbol,
        each: &mut (dyn FnMut(serde_json::Value) -> Result<(), E> + Send),
    ) -> Result<Result<(), E>, String> {
        let Some(live) = &self.live else { return Ok(Ok(())) };
        let (resource, namespace) = (self.snapshot.resources.get(resource), self.snapshot.text(namespace));
        live.runtime.block_on(live.connection.list_whole(resource, namespace, each))
    }

    /// Asks whether the user may do this; none where there is no cluster.
    pub fn review(&self, wanted: &BTreeSet<Access>) -> Option<Verdicts> {
        let live = self.live.as_ref()?;
        Some(live.runtime.block_on(review(&live.connection, &self.snapshot.resources, wanted)))
    }

    /// Counts what a plan takes without naming it, where there is a cluster to ask.
    pub fn count(&self, mut unlisted_contents: Vec<UnlistedContents>) -> Vec<UnlistedContents> {
        let Some(live) = &self.live else { return unlisted_contents };
        for of_namespace in &mut unlisted_contents {
            let namespace = self.snapshot.text(self.snapshot.object(of_namespace.namespace).name);
            for unlisted in &mut of_namespace.unlisted {
                let resource = self.snapshot.resources.get(unlisted.resource);
                if resource.has_verb("list") {
                    unlisted.count = live.runtime.block_on(live.connection.count(resource, namespace));
                }
            }
        }
        unlisted_contents
    }
}

impl Live {
    /// The uids that only the server can select.
    fn select(
        &self,
        resources: &Resources,
        query: Option<&TypedQuery>,
        namespace: Option<&str>,
    ) -> Result<Vec<(ResourceId, Vec<String>)>, CliError> {
        let selections = query.map(TypedQuery::server_selections).unwrap_or_default();
        let select = |selection: super::targets::ServerSelection| {
            let labels = selection.labels.as_deref();
            let namespace = namespace.filter(|_| resources.get(selection.resource).namespaced);
            let uids =
                self.connection.select(resources, selection.resource, namespace, labels, Some(&selection.fields));
            Ok((selection.resource, self.runtime.block_on(uids)?))
        };
        selections.into_iter().map(select).collect()
    }
}

/// What has to be read of a cluster to look at these targets where they are.
fn scope_of(query: Option<&TypedQuery>, resources: &Resources, namespace: &str) -> Scope {
    let Some(query) = query else { return Scope::Namespace(namespace.to_owned()) };
    let elsewhere = query.own_namespaces().any(|own| own != namespace);
    if query.any_cluster_scoped(resources) || elsewhere {
        Scope::Everything
    } else {
        Scope::Namespace(namespace.to_owned())
    }
}

/// What `--from` names.
fn read_dump(source: &SourceArgs) -> Result<Snapshot, CliError> {
    if source.from.iter().any(String::is_empty) {
        return Err(CliError::Usage("--from is empty: give a file, a folder or -".to_owned()));
    }
    Ok(dump::read(&source.from, source.assume_complete)?)
}

fn add_gaps(snapshot: &mut Snapshot, gaps: Vec<Gap>) {
    for gap in gaps {
        if !snapshot.gaps.contains(&gap) {
            snapshot.gaps.push(gap);
        }
    }
    snapshot.gaps.sort();
}

/// The namespace of the command line. As in kubectl, all namespaces win over one.
fn explicit_namespace<'a>(global: &'a GlobalArgs, args: &TargetArgs) -> Option<&'a str> {
    global.connection.namespace().filter(|_| !args.all_namespaces)
}

/// A namespace that verifiably isn't there is a slip of the pen, and an empty answer would hide it.
fn require_live_namespace(snapshot: &Snapshot, namespace: &str) -> Result<(), CliError> {
    let absent = match snapshot.resources.by_group_kind("", "Namespace") {
        Some(resource) if snapshot.covers(resource, None) => !snapshot
            .objects()
            .any(|(_, object)| object.resource == resource && snapshot.text(object.name) == namespace),
        _ => false,
    };
    if absent { Err(CliError::NamespaceNotFound(namespace.to_owned())) } else { Ok(()) }
}

fn require_namespace(snapshot: &Snapshot, namespace: &str) -> Result<(), CliError> {
    let found = snapshot.strings.find(namespace);
    if snapshot.objects().any(|(_, object)| Some(object.namespace) == found) {
        return Ok(());
    }
    let known: std::collections::BTreeSet<&str> = snapshot
        .objects()
        .filter(|(_, object)| !object.namespace.is_empty())
        .map(|(_, object)| snapshot.text(object.namespace))
        .collect();
    Err(CliError::NamespaceNotInDump {
        namespace: namespace.to_owned(),
        known: known.into_iter().map(str::to_owned).collect(),
    })
}
