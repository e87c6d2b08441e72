//! What was read, and what it can be completed from.

use rustc_hash::FxHashSet;

use crate::{
    model::{Coordinate, Gap, ObjectId, OwnerEvent, Presence, Resource, Snapshot, Symbol},
    plan::UnlistedContents,
    simulate::Needs,
};

use super::targets::{KeepQuery, KeepTargets, NamespaceChoice, TargetError};

/// What a use case works on. `&mut LiveSession` is a `&mut Session`, too; only the former can write:
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
    /// The namespace that is looked at; `None` for all of them.
    pub namespace: Option<String>,
    /// The targets, or `None` when none were named.
    pub targets: Option<Vec<ObjectId>>,
    pub(super) source: S,
}

/// What can be read beyond the lists. A dump has nothing more: it keeps the defaults.
pub trait Source {
    fn is_live(&self) -> bool {
        false
    }

    /// From now on, an API path that doesn't exist proves that its objects don't exist (R3.16).
    fn trust_missing_apis(&mut self) {}

    fn look_up(&self, _snapshot: &mut Snapshot, _coordinates: &[Coordinate]) {}

    fn fetch_facts(&self, _snapshot: &mut Snapshot, _objects: &[ObjectId]) {}

    fn fetch_setters(&self, _snapshot: &mut Snapshot, _objects: &[ObjectId]) {}

    /// Reads objects again. Returns whether any changed: **ids may change then**.
    fn recheck(&self, _snapshot: &mut Snapshot, _objects: &[ObjectId]) -> bool {
        false
    }

    /// The collector's events about owners in other namespaces.
    ///
    /// # Errors
    /// Why they can't be read.
    fn owner_events(&self) -> Result<Vec<OwnerEvent>, String> {
        Ok(Vec::new())
    }

    /// How many objects a namespace has of a resource; `None` where that is unknown.
    fn count(&self, _resource: &Resource, _namespace: &str) -> Option<u64> {
        None
    }
}

/// Files: all that there is was read.
pub struct Dump;

/// A dump: nothing can be written.
pub type DumpSession = Session<Dump>;

impl Source for Dump {}

impl<S: Source + ?Sized> Session<S> {
    /// Whether the source is a cluster.
    pub fn is_live(&self) -> bool {
        self.source.is_live()
    }

    /// See [`Source::trust_missing_apis`].
    pub fn trust_missing_apis(&mut self) {
        self.source.trust_missing_apis();
    }

    /// The namespace that is looked at, as a symbol of the snapshot.
    pub fn namespace_symbol(&mut self) -> Option<Symbol> {
        let namespace = self.namespace.as_deref()?;
        Some(self.snapshot.strings.intern(namespace))
    }

    /// The one namespace of these objects; `None` where they are cluster-scoped. Objects of several namespaces: the
    /// namespace that is looked at.
    pub fn namespace_of(&self, objects: &[ObjectId]) -> Option<String> {
        let mut namespaces: Vec<Symbol> =
            objects.iter().map(|object| self.snapshot.object(*object).namespace).collect();
        namespaces.dedup();
        match namespaces.as_slice() {
            [namespace] if !namespace.is_empty() => Some(self.snapshot.text(*namespace).to_owned()),
            [_] => None,
            _ => self.namespace.clone(),
        }
    }

    /// Looks at the targets' namespace from now on.
    pub fn narrow_namespace(&mut self) {
        if let Some(targets) = &self.targets {
            self.namespace = self.namespace_of(targets);
        }
    }

    /// The objects that `--keep` names or describes: looked for in the targets' namespace if that is one, and
    /// otherwise where targets would be. Looks up what no list covers.
    ///
    /// # Errors
    /// What doesn't exist, or could not be read.
    pub fn keep_targets(&mut self, query: &KeepQuery, targets: &[ObjectId]) -> Result<KeepTargets, TargetError> {
        let mut namespaces: Vec<Symbol> =
            targets.iter().map(|target| self.snapshot.object(*target).namespace).collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        let within = match namespaces.as_slice() {
            [namespace] if !namespace.is_empty() => Some(self.snapshot.text(*namespace).to_owned()),
            _ => None,
        };
        let choice = match within.as_ref().or(self.namespace.as_ref()) {
            Some(namespace) => NamespaceChoice::One(namespace.clone()),
            None => NamespaceChoice::WhereverUnique,
        };
        let unread = query.unread(&mut self.snapshot, &choice);
        self.source.look_up(&mut self.snapshot, &unread);
        query.resolve(&self.snapshot, &choice, within.as_deref())
    }

    /// Reads what a simulation lacked. Returns whether anything is known now that was not known before.
    pub fn fetch(&mut self, needs: &Needs) -> bool {
        let known = |snapshot: &Snapshot| (snapshot.facts.len(), snapshot.len(), snapshot.confirmed_absent().count());
        let before = known(&self.snapshot);
        // A coordinate that was asked for without an answer would have none now, either.
        let coordinates: Vec<Coordinate> =
            needs.look_ups.iter().copied().filter(|coordinate| !self.snapshot.was_looked_up(*coordinate)).collect();
        if !coordinates.is_empty() {
            self.source.look_up(&mut self.snapshot, &coordinates);
        }
        if !needs.facts.is_empty() {
            let objects: Vec<ObjectId> = needs.facts.iter().copied().collect();
            self.source.fetch_facts(&mut self.snapshot, &objects);
        }
        known(&self.snapshot) != before
    }

    /// Reads who set the finalizers of these objects.
    pub fn fetch_setters(&mut self, objects: &[ObjectId]) {
        self.source.fetch_setters(&mut self.snapshot, objects);
    }

    /// Looks up objects that the lists lack: lists are old as soon as they are read (R8.7). Returns whether any exists
    /// or is unknown after all.
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
        self.source.look_up(&mut self.snapshot, &coordinates);
        seen(&self.snapshot) != before
    }

    /// See [`Source::recheck`].
    pub fn recheck(&mut self, objects: &[ObjectId]) -> bool {
        self.source.recheck(&mut self.snapshot, objects)
    }

    /// The collector's events about owners in other namespaces. If they can't be read, the snapshot has a gap.
    pub fn owner_events(&mut self) -> Vec<OwnerEvent> {
        self.source.owner_events().unwrap_or_else(|reason| {
            add_gaps(
                &mut self.snapshot,
                vec![Gap { resource: "events".to_owned(), namespace: None, reason: reason.into() }],
            );
            Vec::new()
        })
    }

    /// Counts what a plan deletes without naming it.
    pub fn count(&self, mut unlisted_contents: Vec<UnlistedContents>) -> Vec<UnlistedContents> {
        for of_namespace in &mut unlisted_contents {
            let namespace = self.snapshot.text(self.snapshot.object(of_namespace.namespace).name);
            for unlisted in &mut of_namespace.unlisted {
                let resource = self.snapshot.resources.get(unlisted.resource);
                if resource.has_verb("list") {
                    unlisted.count = self.source.count(resource, namespace);
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
