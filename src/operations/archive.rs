//! Archives the objects that a delete of the targets would remove, for every command that writes an archive.
//!
//! Call [`begin`](Archiving::begin) before anything is read, [`take`](Archiving::take) once the plan is known, and
//! [`save`](Archiving::save) before anything is deleted. If more objects turn out to be deleted, take those and save
//! again: the file is complete at all times.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use rustc_hash::FxHashSet;

use gc_cluster::{
    archive::{ArchiveError, ArchiveWriter, Header, LeftOut, Saved},
    cluster::Whole,
};
use gc_core::{
    graph::OwnerGraph,
    model::{Gap, Identity, ObjectId, ResourceId, Snapshot, Symbol},
    plan::{Plan, removed, unlisted},
    progress::{self, Work},
    server::{OwnDelete, Propagation},
    simulate::{Assume, Request, SimContext},
    wording::count,
};

use super::{
    LiveSession, OperationError,
    error::Unread,
    predict::{PlanOptions, PlanResult, predict},
    session::complete,
    unread::AllowIncomplete,
};

/// How often to plan again because objects were replaced while the archive was written.
const ROUNDS: usize = 4;
/// Why events are left out of every archive: they only record the past.
pub const EVENTS_STAY: &str = "events are not archived";

/// The result of archiving.
pub struct Archived {
    pub plan: Plan,
    pub goes: Goes,
    pub saved: Saved,
}

/// Archives everything that a delete of the session's targets would remove.
///
/// # Errors
/// Objects that can't be archived; nothing is written then.
pub fn archive(
    session: &mut LiveSession,
    archiving: &mut Archiving,
    propagation: Propagation,
    assume: Assume,
    allow_incomplete: &AllowIncomplete,
) -> Result<Archived, OperationError> {
    let (path, options) = (archiving.shown(), PlanOptions::default());
    let allowed = allow_incomplete.resolve(&session.snapshot.resources)?;
    let take = |session: &mut LiveSession| {
        let targets = session.targets.clone().unwrap_or_default();
        let PlanResult { plan, .. } = predict(session, &Request::delete(targets, propagation), assume, &options)?;
        let goes = goes(&session.snapshot, &plan, assume);
        goes.require_complete(session, &plan, &path, &allowed)?;
        let gone = archiving.take(session, &goes)?;
        Ok((plan, goes, gone))
    };
    let (plan, goes, _) =
        complete(ROUNDS, session, take, |session, (plan, _, gone)| recheck(session, plan, gone, &path))?;
    let saved = archiving.save(&session.snapshot, &plan)?;
    Ok(Archived { plan, goes, saved })
}

/// Reads missing objects again: another object may have taken the name, and may be deleted instead. Returns whether
/// anything has changed.
fn recheck(session: &mut LiveSession, plan: &Plan, gone: &[ObjectId], path: &str) -> Result<bool, OperationError> {
    if let Some(target) = plan.request.targets.iter().find(|target| gone.contains(target)) {
        let object = placed(&session.snapshot, *target);
        return Err(OperationError::Unusable(format!(
            "{object} was deleted or replaced since the cluster was read: nothing was written to {path}; run this again"
        )));
    }
    let snapshot = &session.snapshot;
    let uids: Vec<_> = plan.request.targets.iter().map(|target| snapshot.object(*target).uid).collect();
    if gone.is_empty() || !session.recheck(gone) {
        return Ok(false);
    }
    session.targets = Some(uids.into_iter().filter_map(|uid| session.snapshot.by_uid(uid)).collect());
    Ok(true)
}

/// All objects that a delete removes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goes {
    /// Those in the snapshot: see [`removed`].
    pub objects: Vec<ObjectId>,
    /// Other contents of deleted Namespaces: resources that no snapshot contains, each with the namespace's name.
    pub unlisted: Vec<(Symbol, ResourceId)>,
    /// Unread resources that may contain more of them.
    pub hidden: Vec<Gap>,
}

impl Goes {
    /// # Errors
    /// If unread resources may contain more objects that will be deleted, unless that is allowed.
    pub fn require_complete(
        &self,
        session: &LiveSession,
        plan: &Plan,
        path: &str,
        allowed: &AllowIncomplete,
    ) -> Result<(), OperationError> {
        match Unread::of_gaps(session, plan, &self.hidden, allowed) {
            None => Ok(()),
            Some(unread) => Err(OperationError::MayLack { path: path.to_owned(), unread: Box::new(unread) }),
        }
    }
}

/// All objects that the planned delete removes.
pub fn goes(snapshot: &Snapshot, plan: &Plan, assume: Assume) -> Goes {
    let graph = OwnerGraph::new(snapshot);
    let stage = SimContext::new(snapshot, &graph, assume);
    let objects = removed(&stage, plan);
    let mut hidden = snapshot.may_hide(&objects);
    hidden.extend(plan.listed_unread().filter(|gap| !hidden.contains(gap)).cloned().collect::<Vec<_>>());
    let namespaces = objects.iter().filter(|id| stage.rules(**id).own_delete == OwnDelete::Namespace);
    let content = |id: &ObjectId| {
        let name = snapshot.object(*id).name;
        unlisted(&snapshot.resources).map(move |resource| (name, resource))
    };
    let unlisted = namespaces.flat_map(content).collect();
    Goes { objects, unlisted, hidden }
}

/// An archive that is being written, and notes about it.
#[derive(Debug)]
pub struct Archiving {
    path: PathBuf,
    writer: ArchiveWriter,
    /// The header of the archive that existed before, if this continues one.
    resumed: Option<Header>,
    /// What is on disk; `None` if something that was taken is not.
    saved: Option<Saved>,
    time: String,
    /// By uid: objects that were gone before they could be read.
    gone: BTreeMap<String, Identity>,
    left_out: Vec<LeftOut>,
    hidden: Vec<Gap>,
    /// The uids of objects read since [`grow_stale`](Self::grow_stale).
    fresh: FxHashSet<String>,
}

impl Archiving {
    /// Checks whether an archive can be written there.
    ///
    /// # Errors
    /// Why not: see [`ArchiveWriter::create`].
    pub fn begin(path: &Path) -> Result<Self, OperationError> {
        let writer = ArchiveWriter::create(path)?;
        let now = jiff::Timestamp::now();
        let time = jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string();
        Ok(Archiving {
            path: path.to_owned(),
            writer,
            resumed: None,
            saved: None,
            time,
            gone: BTreeMap::new(),
            left_out: Vec::new(),
            hidden: Vec::new(),
            fresh: FxHashSet::default(),
        })
    }

    /// Continues the archive at the path, if it is complete: an interrupted command may be repeated. Begins a new one
    /// if there is no file.
    ///
    /// # Errors
    /// Those of [`begin`](Self::begin). A file that is no complete archive is never replaced.
    pub fn begin_or_resume(path: &Path) -> Result<Self, OperationError> {
        let exists = match Self::begin(path) {
            Err(OperationError::Archive(error)) if matches!(*error, ArchiveError::Exists { .. }) => error,
            begun => return begun,
        };
        let Ok((writer, header)) = ArchiveWriter::resume(path) else { return Err(OperationError::Archive(exists)) };
        Ok(Archiving {
            path: path.to_owned(),
            writer,
            time: header.time.clone(),
            gone: header.gone.iter().map(|name| (name.uid.clone(), name.clone())).collect(),
            left_out: header.left_out.clone(),
            hidden: header.gaps.clone(),
            fresh: FxHashSet::default(),
            resumed: Some(header),
            saved: None,
        })
    }

    /// Whether this continues an existing archive.
    pub fn resumed(&self) -> bool {
        self.resumed.is_some()
    }

    /// # Errors
    /// If the existing archive was written for the delete of other objects: nothing is added to it.
    pub fn check(&self, snapshot: &Snapshot, targets: &[ObjectId]) -> Result<(), OperationError> {
        let Some(resumed) = &self.resumed else { return Ok(()) };
        let here = Header::new(snapshot, String::new());
        // The same name is not enough: adding another object of that name would replace the archived one.
        let named = |target: &ObjectId| {
            let uid = snapshot.text(snapshot.object(*target).uid);
            resumed.targets.iter().any(|known| known.uid == uid)
        };
        if here.server == resumed.server && targets.iter().all(named) {
            return Ok(());
        }
        let why = "nothing was deleted: it is an archive of other objects; give --archive another name";
        Err(OperationError::Unusable(format!("{}: {why}", self.shown())))
    }

    /// Archives objects that will be deleted and are not in it yet, and saves. Returns whether there were any.
    ///
    /// # Errors
    /// Objects that can't be archived or written: nothing may be deleted then.
    pub fn complete(
        &mut self,
        session: &LiveSession,
        plan: &Plan,
        assume: Assume,
        allow_incomplete: &AllowIncomplete,
    ) -> Result<bool, OperationError> {
        let goes = goes(&session.snapshot, plan, assume);
        goes.require_complete(session, plan, &self.shown(), allow_incomplete)?;
        if self.saved.is_some() && self.has(&session.snapshot, &goes.objects) {
            return Ok(false);
        }
        self.take(session, &goes)?;
        self.saved = Some(self.save(&session.snapshot, plan)?);
        Ok(true)
    }

    /// Lines about what it contains, and what not.
    pub fn describe(&self) -> Vec<String> {
        let mut describe =
            vec![format!("Archived {} in {}.", count(self.writer.len(), "object", "objects"), self.shown())];
        describe.extend(self.notes());
        let content = self.saved.as_ref().map(|saved| of_content(&saved.kinds)).unwrap_or_default();
        describe.extend(content.into_iter().map(str::to_owned));
        describe
    }

    /// Whether it contains the current state of all these objects.
    fn has(&self, snapshot: &Snapshot, objects: &[ObjectId]) -> bool {
        objects.iter().all(|id| {
            let uid = snapshot.text(snapshot.object(*id).uid);
            self.fresh.contains(uid) || self.gone.contains_key(uid)
        })
    }

    /// Time has passed: the next [`take`](Self::take) reads the objects again.
    pub fn grow_stale(&mut self) {
        self.fresh.clear();
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path in messages.
    pub fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// Reads all these objects whole that were not read lately. Returns those that verifiably don't exist any more, or
    /// were replaced; the caller must find out how that changes the plan.
    ///
    /// # Errors
    /// [`OperationError::NotArchived`] names everything that can't be read. Nothing may be saved or deleted then.
    pub fn take(&mut self, session: &LiveSession, goes: &Goes) -> Result<Vec<ObjectId>, OperationError> {
        let snapshot = &session.snapshot;
        let (mut gone, mut failures) = (Vec::new(), Vec::new());
        let lacking: Vec<ObjectId> = goes
            .objects
            .iter()
            .copied()
            .filter(|id| !self.fresh.contains(snapshot.text(snapshot.object(*id).uid)))
            .collect();
        let (writer, fresh) = (&mut self.writer, &mut self.fresh);
        let take = |id, whole| {
            progress::advance(1);
            match whole {
                Whole::Object(object) => {
                    writer.add(*object)?;
                    fresh.insert(snapshot.text(snapshot.object(id).uid).to_owned());
                }
                Whole::Gone => gone.push(id),
                Whole::Unreadable(reason) => failures.push((placed(snapshot, id), reason)),
            }
            Ok::<(), ArchiveError>(())
        };
        progress::during(Work::Archiving, || {
            progress::expect(lacking.len() as u64);
            session.run(async |connection, snapshot| connection.fetch_whole(snapshot, &lacking, take).await)
        })?;
        for (namespace, resource) in &goes.unlisted {
            if let Err(failure) = self.take_unlisted(session, *namespace, *resource)? {
                failures.push(failure);
            }
        }
        failures.sort();
        if !failures.is_empty() {
            return Err(OperationError::NotArchived { path: self.shown(), failures });
        }
        for id in &gone {
            let name = Identity::of(snapshot, *id);
            self.gone.insert(name.uid.clone(), name);
        }
        let news: Vec<Gap> = goes.hidden.iter().filter(|gap| !self.hidden.contains(gap)).cloned().collect();
        self.hidden.extend(news);
        Ok(gone)
    }

    /// Archives objects of a resource that no snapshot contains.
    fn take_unlisted(
        &mut self,
        session: &LiveSession,
        namespace: Symbol,
        resource: ResourceId,
    ) -> Result<Result<(), (String, String)>, ArchiveError> {
        let snapshot = &session.snapshot;
        let (found, namespace_name) = (snapshot.resources.get(resource), snapshot.text(namespace));
        let why = match () {
            () if found.kind == "Event" && matches!(found.group.as_str(), "" | "events.k8s.io") => EVENTS_STAY,
            () if !found.has_verb("list") => "they cannot be listed",
            () => {
                let writer = &mut self.writer;
                let mut take = |object| writer.add(object);
                let listed =
                    session.run(async |connection, _| connection.list_whole(found, namespace_name, &mut take).await);
                return match listed {
                    Ok(taken) => taken.map(Ok),
                    Err(reason) => Ok(Err((format!("{} in namespace {namespace_name}", found.full_name()), reason))),
                };
            }
        };
        let (resource, namespace) = (found.full_name(), Some(namespace_name.to_owned()));
        let left_out = LeftOut { resource, namespace, why: why.to_owned() };
        if !self.left_out.contains(&left_out) {
            self.left_out.push(left_out);
        }
        Ok(Ok(()))
    }

    /// Writes all objects taken so far. They are on disk when this returns.
    ///
    /// # Errors
    /// See [`ArchiveWriter::save`].
    pub fn save(&mut self, snapshot: &Snapshot, plan: &Plan) -> Result<Saved, OperationError> {
        let targets = plan.request.targets.iter().map(|id| Identity::of(snapshot, *id)).collect();
        let header = Header {
            targets,
            propagation: plan.request.propagation.name().to_owned(),
            gaps: self.hidden.clone(),
            gone: self.gone.values().filter(|object| !self.writer.contains(&object.uid)).cloned().collect(),
            left_out: self.left_out.clone(),
            ..Header::new(snapshot, self.time.clone())
        };
        Ok(self.writer.save(&header)?)
    }

    /// Notes about objects that are not in the archive.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.gone.is_empty() {
            let names: Vec<String> = self.gone.values().map(Identity::short_name).collect();
            notes.push(format!("Deleted before they could be archived: {}.", names.join(", ")));
        }
        let mut seen = FxHashSet::default();
        for left_out in &self.left_out {
            let place =
                left_out.namespace.as_ref().map_or_else(String::new, |namespace| format!(" in namespace {namespace}"));
            let note = format!("Not archived: {}{place}; {}.", left_out.resource, left_out.why);
            if seen.insert(note.clone()) {
                notes.push(note);
            }
        }
        notes
    }
}

/// What to know of a file with objects of these kinds.
pub fn of_content(kinds: &BTreeMap<(String, String), usize>) -> Vec<&'static str> {
    let has = |kind: &str| kinds.contains_key(&("v1".to_owned(), kind.to_owned()));
    let secrets = has("Secret").then_some("Secrets are in the file in plain text: keep it safe.");
    let volumes = has("PersistentVolumeClaim") || has("PersistentVolume");
    secrets.into_iter().chain(volumes.then_some("The data of volumes is not in the file.")).collect()
}

/// An object as errors name it.
pub fn placed(snapshot: &Snapshot, id: ObjectId) -> String {
    Identity::of(snapshot, id).placed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_has_and_lacks_is_told() {
        for (kinds, told) in [
            (&["ConfigMap"][..], &[][..]),
            (&["ConfigMap", "Secret"], &["Secrets are in the file in plain text: keep it safe."]),
            (&["PersistentVolumeClaim"], &["The data of volumes is not in the file."]),
            (&["PersistentVolume"], &["The data of volumes is not in the file."]),
        ] {
            let kinds = kinds.iter().map(|kind| (("v1".to_owned(), (*kind).to_owned()), 1)).collect();
            assert_eq!(of_content(&kinds), told);
        }
    }
}
