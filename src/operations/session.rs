//! What was read, and the source for further reads.

use std::{collections::BTreeSet, convert::Infallible};

use rustc_hash::{FxHashMap, FxHashSet};

use gc_cluster::{
    act::{fetch, unpatchable},
    cluster::Whole,
};
use gc_core::{
    apply::LastApplied,
    graph::OwnerGraph,
    model::{
        Coordinate, Gap, GapKind, ListRecord, NamedEvent, ObjectId, OwnerEvent, Presence, RecheckResult, Snapshot,
        Symbol, gaps::Gaps,
    },
    plan::UnlistedContents,
    reclaim,
    simulate::Needs,
    tree::Statuses,
    wording::thousands,
};

use super::{
    live::Cluster,
    targets::{KeepQuery, KeepTargets, NamespaceChoice, TargetError},
};

/// How many owners that lists lack are looked up at most. The others are unknown.
const MOST_LOOK_UPS: usize = 1_000;
/// At most this many objects are asked about: each is a request.
const MOST_PATCHES: usize = 200;

/// The input of every use case. A `&mut LiveSession` is also a `&mut Session`; only the former can write:
///
/// ```
/// fn write(session: &mut kubectl_gc::operations::LiveSession) {
///     session.hear_interrupts();
/// }
/// ```
/// ```compile_fail,E0599
/// fn write(session: &mut kubectl_gc::operations::Session) {
///     session.hear_interrupts();
/// }
/// ```
pub struct Session<S: ?Sized = dyn Source> {
    pub snapshot: Snapshot,
    /// The namespace to work on; `None`: all.
    pub namespace: Option<String>,
    /// The targets; `None` if none were named.
    pub targets: Option<Vec<ObjectId>>,
    pub(super) source: S,
}

/// Where objects come from.
pub trait Source {
    /// The cluster, for reads beyond the lists; `None` if the source is a dump, which has no more to read.
    fn cluster(&self) -> Option<&Cluster>;

    fn cluster_mut(&mut self) -> Option<&mut Cluster>;
}

/// Files, which have been read completely.
pub struct Dump;

/// A dump: nothing can be written.
pub type DumpSession = Session<Dump>;

impl Source for Dump {
    fn cluster(&self) -> Option<&Cluster> {
        None
    }

    fn cluster_mut(&mut self) -> Option<&mut Cluster> {
        None
    }
}

impl Source for Cluster {
    fn cluster(&self) -> Option<&Cluster> {
        Some(self)
    }

    fn cluster_mut(&mut self) -> Option<&mut Cluster> {
        Some(self)
    }
}

impl<S: Source + ?Sized> Session<S> {
    /// Whether the source is a cluster.
    pub fn is_live(&self) -> bool {
        self.source.cluster().is_some()
    }

    /// From now on, a missing API path proves that its objects don't exist (R3.16).
    pub fn trust_missing_apis(&mut self) {
        if let Some(cluster) = self.source.cluster_mut() {
            cluster.connection.trust_missing_apis();
        }
    }

    /// A Namespace as the only target stands for what is in it. Returns whether it is; it stays a target.
    pub fn look_into_namespace(&mut self) -> bool {
        let Some([target]) = self.targets.as_deref() else { return false };
        let is_namespace = self.snapshot.is_namespace(*target);
        if is_namespace {
            self.namespace = Some(self.snapshot.name(*target).to_owned());
        }
        is_namespace
    }

    /// The same, and it is no target any more: only its content is.
    pub fn enter_namespace(&mut self) {
        if self.look_into_namespace() {
            self.targets = None;
        }
    }

    /// The session's namespace, as a symbol of the snapshot.
    pub fn namespace_symbol(&mut self) -> Option<Symbol> {
        let namespace = self.namespace.as_deref()?;
        Some(self.snapshot.strings.intern(namespace))
    }

    /// The namespace of these objects; `None` if they are cluster-scoped. If they are in several, the session's
    /// namespace.
    pub fn namespace_of(&self, objects: &[ObjectId]) -> Option<String> {
        match self.one_namespace(objects) {
            Some(namespace) if namespace.is_empty() => None,
            Some(namespace) => Some(self.snapshot.text(namespace).to_owned()),
            None => self.namespace.clone(),
        }
    }

    /// The namespace of the targets; the session's if there are none.
    pub fn namespace_of_targets(&self) -> Option<String> {
        self.namespace_of(self.targets.as_deref().unwrap_or_default())
    }

    /// The namespace of these objects, empty for cluster scope; `None` if they are in several.
    fn one_namespace(&self, objects: &[ObjectId]) -> Option<Symbol> {
        let mut namespaces = objects.iter().map(|object| self.snapshot.object(*object).namespace);
        let first = namespaces.next()?;
        namespaces.all(|namespace| namespace == first).then_some(first)
    }

    /// Limits the session to the targets' namespace.
    pub fn narrow_namespace(&mut self) {
        self.namespace = self.namespace_of_targets();
    }

    /// The objects that `--keep` names or describes. Looks for names in the targets' namespace if there is only one,
    /// otherwise where it would look for targets; and looks up names that no list has.
    ///
    /// # Errors
    /// Objects that don't exist, or could not be read.
    pub fn keep_targets(&mut self, query: &KeepQuery, targets: &[ObjectId]) -> Result<KeepTargets, TargetError> {
        let within = self.one_namespace(targets).filter(|namespace| !namespace.is_empty());
        let within = within.map(|namespace| self.snapshot.text(namespace).to_owned());
        let choice = match within.as_ref().or(self.namespace.as_ref()) {
            Some(namespace) => NamespaceChoice::One(namespace.clone()),
            None => NamespaceChoice::WhereverUnique,
        };
        let unlisted = query.unlisted(&mut self.snapshot, &choice);
        self.look_up(&unlisted);
        query.resolve(&self.snapshot, &choice, within.as_deref())
    }

    /// Reads what a simulation lacked. Returns whether anything new is known.
    pub fn fetch(&mut self, needs: &Needs) -> bool {
        let known = |snapshot: &Snapshot| {
            (
                snapshot.facts.learned(),
                snapshot.facts.setters_len(),
                snapshot.len(),
                snapshot.confirmed_absent().count(),
                snapshot.told.unpatchable.len(),
            )
        };
        let before = known(&self.snapshot);
        if let Some(Cluster { runtime, connection, .. }) = self.source.cluster() {
            runtime.block_on(fetch(connection, &mut self.snapshot, needs));
        }
        self.try_patches(&needs.patches);
        known(&self.snapshot) != before
    }

    /// Asks of those of these objects that were not asked about whether they still satisfy their schema.
    fn try_patches(&mut self, objects: &BTreeSet<ObjectId>) {
        let Some(Cluster { runtime, connection, .. }) = self.source.cluster() else { return };
        let known = &self.snapshot.told.unpatchable;
        let uid = |object: &ObjectId| self.snapshot.object(*object).uid;
        let is_new = |object: &ObjectId| !known.contains_key(&uid(object));
        let left = MOST_PATCHES.saturating_sub(known.len());
        let asked: Vec<ObjectId> = objects.iter().copied().filter(is_new).take(left).collect();
        let answers = runtime.block_on(unpatchable(connection, &self.snapshot, &asked));
        let answers: Vec<_> = asked.iter().map(uid).zip(answers).collect();
        self.snapshot.told.unpatchable.extend(answers);
    }

    /// Looks up at most [`MOST_LOOK_UPS`] of these; the others become unknown, with a gap that says so.
    pub fn look_up_some(&mut self, mut coordinates: Vec<Coordinate>) {
        if !self.is_live() {
            return;
        }
        coordinates.sort_unstable_by_key(|coordinate| (coordinate.resource, coordinate.namespace, coordinate.name));
        coordinates.dedup();
        let others = coordinates.split_off(MOST_LOOK_UPS.min(coordinates.len()));
        self.look_up(&coordinates);
        let why = format!("not looked up: more than {}", thousands(MOST_LOOK_UPS));
        let mut gaps = Gaps::default();
        for coordinate in others {
            gaps.add_object(&self.snapshot, coordinate, why.clone());
            self.snapshot.leave_unanswered(coordinate);
        }
        gaps.record(&mut self.snapshot);
    }

    fn look_up(&mut self, coordinates: &[Coordinate]) {
        if let Some(Cluster { runtime, connection, .. }) = self.source.cluster() {
            runtime.block_on(connection.look_up(&mut self.snapshot, coordinates));
        }
    }

    /// What `kubectl apply` applied last to each of these objects, by uid. What can't be read is missing.
    pub(crate) fn fetch_last_applied(&self, objects: &[ObjectId]) -> FxHashMap<String, LastApplied> {
        let (snapshot, mut found) = (&self.snapshot, FxHashMap::default());
        let Some(Cluster { runtime, connection, .. }) = self.source.cluster() else { return found };
        let mut each = |object: ObjectId, whole: Whole| {
            if let Whole::Object(whole) = whole {
                found.insert(snapshot.text(snapshot.object(object).uid).to_owned(), LastApplied::of(&whole));
            }
            Ok::<_, Infallible>(())
        };
        let Ok(()) = runtime.block_on(connection.fetch_whole(snapshot, objects, &mut each));
        found
    }

    /// Reads READY and STATUS of these objects; `None` if the source has none.
    pub fn statuses(&self, objects: &[ObjectId]) -> Option<Statuses> {
        let Cluster { runtime, connection, .. } = self.source.cluster()?;
        let mut statuses = Statuses::default();
        runtime.block_on(connection.fetch_statuses(&self.snapshot, objects, &mut statuses));
        Some(statuses)
    }

    /// Looks up objects that the lists lack, because lists are outdated as soon as they are read (R8.7). Returns
    /// whether any exists after all, or is unknown.
    pub fn confirm(&mut self, absences: &FxHashSet<Coordinate>) -> bool {
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
        self.look_up(&coordinates);
        seen(&self.snapshot) != before
    }

    /// Reads what is needed, and looks up owners that the lists lack. Returns whether anything new was learned.
    pub fn learn(&mut self, needs: &Needs) -> bool {
        let moved = self.confirm(&needs.absences);
        self.fetch(needs) || moved
    }

    /// Reads what decides whether and when the cluster removes these objects by itself.
    pub fn fetch_reclaim_facts(&mut self, objects: &[ObjectId]) {
        let Some(Cluster { runtime, connection, .. }) = self.source.cluster() else { return };
        // A Job that goes takes along what it owns.
        let is_job = |id: &ObjectId| self.snapshot.resource(*id).kind == "Job";
        let jobs = objects.iter().filter_map(|id| self.snapshot.controller_of(*id)).filter(is_job);
        let objects: Vec<ObjectId> = objects.iter().copied().chain(jobs).collect();
        // The claim of a volume is known once the volume is.
        for _ in 0..2 {
            let graph = OwnerGraph::new(&self.snapshot);
            let deciding: BTreeSet<ObjectId> =
                objects.iter().flat_map(|id| reclaim::deciding(&self.snapshot, &graph, *id)).collect();
            let deciding: Vec<ObjectId> = deciding.into_iter().collect();
            runtime.block_on(connection.fetch_reclaim_facts_of(&mut self.snapshot, &deciding));
        }
    }

    /// Reads objects again. Returns whether any has changed: **ids may change then**.
    pub fn recheck(&mut self, objects: &[ObjectId]) -> bool {
        let Some(Cluster { runtime, connection, .. }) = self.source.cluster() else { return false };
        let seen = runtime.block_on(connection.recheck(&self.snapshot, objects));
        let changed = seen.iter().any(|(_, again)| *again != RecheckResult::Same);
        if changed {
            self.snapshot.update(seen);
        }
        changed
    }

    /// The lists that failed and no longer do, by their place in [`Snapshot::lists`]. A list that may not be read isn't
    /// tried again; what the server no longer serves has nothing to list.
    pub fn recovered_lists(&self) -> FxHashSet<usize> {
        let Some(Cluster { runtime, connection, .. }) = self.source.cluster() else { return FxHashSet::default() };
        let failed =
            |list: &ListRecord| list.failure.as_ref().is_some_and(|reason| reason.kind() != GapKind::Forbidden);
        let lists = self.snapshot.lists.iter().enumerate().filter(|(_, list)| failed(list));
        let recovered = lists.filter(|(_, list)| !runtime.block_on(connection.still_fails(&self.snapshot, list)));
        recovered.map(|(place, _)| place).collect()
    }

    /// The collector's events about owners in other namespaces. If they can't be read, the snapshot has a gap.
    pub fn owner_events(&mut self) -> Vec<OwnerEvent> {
        let Some(Cluster { runtime, connection, .. }) = self.source.cluster() else { return Vec::new() };
        runtime.block_on(connection.invalid_owner_events()).unwrap_or_else(|reason| {
            add_gaps(
                &mut self.snapshot,
                vec![Gap { resource: "events".to_owned(), namespace: None, reason: reason.into() }],
            );
            Vec::new()
        })
    }

    /// The events about objects of this name; see [`gc_cluster::cluster::Connection::events_about`].
    ///
    /// # Errors
    /// Why they can't be read; a dump has none.
    pub fn events_about(&self, namespace: &str, name: &str) -> Result<Vec<NamedEvent>, String> {
        let cluster = self.source.cluster().ok_or("a dump has no events")?;
        cluster.runtime.block_on(cluster.connection.events_about(namespace, name))
    }

    /// Counts objects that a plan deletes without naming them.
    pub fn count(&self, mut unlisted_contents: Vec<UnlistedContents>) -> Vec<UnlistedContents> {
        let Some(Cluster { runtime, connection, .. }) = self.source.cluster() else { return unlisted_contents };
        for of_namespace in &mut unlisted_contents {
            let namespace = self.snapshot.name(of_namespace.namespace);
            for unlisted in &mut of_namespace.unlisted {
                let resource = self.snapshot.resources.get(unlisted.resource);
                if resource.has_verb("list") {
                    unlisted.count = runtime.block_on(connection.count(resource, namespace));
                }
            }
        }
        unlisted_contents
    }
}

/// Adds gaps that the snapshot doesn't have yet.
pub(super) fn add_gaps(snapshot: &mut Snapshot, gaps: Vec<Gap>) {
    for gap in gaps {
        if !snapshot.gaps.contains(&gap) {
            snapshot.gaps.push(gap);
        }
    }
    snapshot.gaps.sort();
}

/// The limit on rounds: each may reveal another level of owners.
pub const ROUNDS: usize = 32;

/// Simulates, lets `learn` read what the result lacks, and simulates again while that brings anything new, at most
/// `rounds` times.
///
/// # Errors
/// The first error of either.
pub fn complete<S: ?Sized, T, E>(
    rounds: usize,
    state: &mut S,
    mut simulate: impl FnMut(&mut S) -> Result<T, E>,
    mut learn: impl FnMut(&mut S, &T) -> Result<bool, E>,
) -> Result<T, E> {
    for _ in 0..rounds {
        let result = simulate(state)?;
        if !learn(state, &result)? {
            return Ok(result);
        }
    }
    simulate(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often it simulates if `to_learn` rounds of reads bring something new.
    fn simulations(rounds: usize, to_learn: usize) -> usize {
        let mut simulated = 0;
        let mut left = to_learn;
        let result = complete(
            rounds,
            &mut left,
            |left| {
                simulated += 1;
                Ok::<usize, ()>(*left)
            },
            |left, seen| {
                assert_eq!(left, seen, "what was learnt was simulated");
                let news = *left > 0;
                *left = left.saturating_sub(1);
                Ok(news)
            },
        );
        assert_eq!(result, Ok(to_learn.saturating_sub(rounds)));
        simulated
    }

    #[test]
    fn it_ends_when_nothing_is_missing_or_after_the_last_round() {
        assert_eq!(simulations(32, 0), 1);
        assert_eq!(simulations(32, 3), 4);
        assert_eq!(simulations(4, 100), 5);
    }

    #[test]
    fn errors_end_it() {
        assert_eq!(complete(3, &mut (), |()| Err::<(), _>("simulate"), |(), ()| Ok(true)), Err("simulate"));
        assert_eq!(complete(3, &mut (), |()| Ok(()), |(), ()| Err("learn")), Err("learn"));
    }
}
