//! Keeps objects that a delete would remove: cuts their references before anything is deleted, puts a guard in their
//! place, and removes the guard when no controller is left that would adopt the objects.
//!
//! Living controllers adopt objects that match their selector and have no controller, within milliseconds (R9.3). If
//! the references were only dropped, a ReplicaSet that is about to be deleted would adopt its pod again before its own
//! delete, and the pod would be deleted with it. So the one PATCH that drops the references puts a *guard* in their
//! place: a reference of the object to itself, as its controller.
//!
//! * Controllers leave objects alone that have a controller (R9.5).
//! * For the collector, the object has an owner that exists (R4.2, row 1): it lives as long as it has the guard, even
//!   if another client adds a reference to a dying owner. The guard blocks nothing, not even the object's own
//!   foreground deletion (R5.13).
//! * After an interruption, the object lives. One command removes the guard.
//!
//! The guard is removed once the former owners, and all other controllers in the delete that might adopt the object,
//! are terminating or gone. A terminating controller adopts nothing: before it adopts an object without a controller,
//! it asks the API server whether it is terminating itself.

use std::time::{Duration, Instant};

use futures::future::join_all;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::{Value, json};

use crate::cluster::{
    Connection, Failure,
    path::{self, ObjectPath},
};
use gc_core::{
    command_line::{Kubectl, PLAIN, ShellCommand},
    doctor::commands::Commands,
    model::{ObjectId, Reference, Snapshot},
    plan::{Plan, adopters_of},
    simulate::Cut,
};

use super::{
    request::document,
    update::{self, Change, Step, UpdateError, Updater, get, is_terminating, references},
};

/// How often an object is read and patched again while other clients write to it.
const TRIES: u32 = 30;
/// How many objects are cut at once.
const AT_ONCE: usize = 8;
/// How often all objects are checked again, until no other client has put references back.
const PASSES: u32 = 5;
/// The pause between two checks of owners that are not terminating yet.
const PAUSE: Duration = Duration::from_millis(200);

/// An object whose references are cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetachedObject {
    pub object: ObjectId,
    /// The references that it lost.
    pub loses: Vec<Reference>,
    /// Its references before the cut, to be put back.
    before: Vec<Value>,
    /// Its current references.
    now: Vec<Value>,
    /// Whether it is its own controller for now. It isn't if it keeps another controller: then no one adopts it.
    pub guarded: bool,
}

impl DetachedObject {
    /// The command that removes the guard; none without a guard. `kubectl` is how to call kubectl for this cluster.
    pub fn release_command(&self, snapshot: &Snapshot, kubectl: &Kubectl) -> Option<ShellCommand> {
        let uid = snapshot.text(snapshot.object(self.object).uid);
        let place = self.now.iter().rposition(|reference| reference["uid"] == uid).filter(|_| self.guarded)?;
        let path = format!("/metadata/ownerReferences/{place}");
        let steps = vec![
            json!({"op": "test", "path": format!("{path}/uid"), "value": uid}),
            json!({"op": "remove", "path": path}),
        ];
        Commands { snapshot, kubectl, guarded: false }.patch(self.object, steps)
    }
}

/// What happened to an object whose guard was to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Released {
    /// It lives, without the guard and without references to owners that are deleted.
    Free,
    /// It keeps the guard, because this object still lives and would adopt it.
    Guarded(ObjectId),
    /// It is gone or terminating: another client deleted it.
    Lost,
}

/// Why an object could not be kept. Nothing is deleted then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object}{place} can't be kept: {why}{}", describe(.left))]
pub struct KeepError {
    /// `Kind/name`
    pub object: String,
    /// ` in namespace …`; empty for cluster scope.
    pub place: String,
    pub why: KeepFailure,
    /// Objects that were cut before and could not be put back: the object, and why, with the command that removes its
    /// guard.
    pub left: Vec<(String, String)>,
}

fn describe(left: &[(String, String)]) -> String {
    if left.is_empty() {
        return "; all references are as they were".to_owned();
    }
    let describe = left.iter().map(|(object, what)| format!("\n{object} {what}"));
    format!("; these objects have lost their owner references and are kept:{}", describe.collect::<String>())
}

/// Why one object could not be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeepFailure {
    /// It no longer exists, or another object has its name.
    #[error("it no longer exists; plan again")]
    Gone,
    /// Another client is deleting it.
    #[error("somebody else is deleting it")]
    Terminating,
    /// Its references differ from those that the plan was made with.
    #[error("its owner references have changed since the plan ({0}); plan again")]
    Changed(String),
    /// Another client keeps writing to it, or puts the references back.
    #[error("another client keeps changing its owner references; find and stop that client first")]
    Unstable,
    /// The API server refused or didn't answer.
    #[error("{doing} it failed: {reason}")]
    Failed {
        /// `reading`, `patching`
        doing: &'static str,
        /// The server's own words.
        reason: String,
    },
}

/// Cuts references and puts guards in their place, before anything is deleted. On success, every object has been read
/// with its wanted references. May be repeated after an interruption.
///
/// # Errors
/// The first object that can't be cut. What was cut before is put back.
pub async fn cut(connection: &Connection, snapshot: &Snapshot, cuts: &[Cut]) -> Result<Vec<DetachedObject>, KeepError> {
    let objects: Vec<KeptObject<'_>> = cuts.iter().map(|cut| KeptObject::of(connection, snapshot, cut)).collect();
    let mut done: Vec<Option<DetachedObject>> = vec![None; cuts.len()];
    let mut found = Ok(None);
    for _ in 0..PASSES {
        found = pass(&objects, &mut done).await;
        if !matches!(found, Ok(Some(_))) {
            break;
        }
    }
    let done: Vec<DetachedObject> = done.into_iter().flatten().collect();
    let (place, why) = match found {
        Ok(None) => return Ok(done),
        Ok(Some(place)) => (place, KeepFailure::Unstable),
        Err(failed) => failed,
    };
    Err(objects[place].error(why, put_back(connection, snapshot, &done).await))
}

/// Reads every object once, several at a time, and cuts those that are not cut. Returns the first that had to be
/// written to, if any, or the first that failed; after a failure, writes under way are finished and no others begun.
async fn pass(
    objects: &[KeptObject<'_>],
    done: &mut [Option<DetachedObject>],
) -> Result<Option<usize>, (usize, KeepFailure)> {
    let mut written_to = None;
    for first in (0..objects.len()).step_by(AT_ONCE) {
        let some = first..objects.len().min(first + AT_ONCE);
        let loosening: Vec<_> = some.clone().map(|place| objects[place].loosen()).collect();
        let mut failed = None;
        for (place, result) in some.zip(join_all(loosening).await) {
            match result {
                Ok((written, detached)) => {
                    written_to = written_to.or(written.then_some(place));
                    match &mut done[place] {
                        // Keep `before`: it is what has to be put back.
                        Some(known) => known.now = detached.now,
                        unknown => *unknown = Some(detached),
                    }
                }
                Err(why) => failed = failed.or(Some((place, why))),
            }
        }
        if let Some(failed) = failed {
            return Err(failed);
        }
    }
    Ok(written_to)
}

/// Puts references back as they were, because nothing is deleted after all. Returns the objects for which that failed,
/// and what to do about it.
pub async fn put_back(
    connection: &Connection,
    snapshot: &Snapshot,
    detached: &[DetachedObject],
) -> Vec<(String, String)> {
    let mut left = Vec::new();
    for one in detached {
        let cut = Cut { object: one.object, loses: one.loses.clone() };
        let object = KeptObject::of(connection, snapshot, &cut);
        if let Err(why) = object.put_back(one).await {
            let guard = one.release_command(snapshot, &PLAIN).map_or(String::new(), |command| {
                format!("; it temporarily has itself as its controller; remove that with: {command}")
            });
            left.push((format!("{}{}", object.name, object.place), format!("could not be restored ({why}){guard}")));
        }
    }
    left
}

/// Removes the guards, and references to dying owners that other clients added meanwhile, once no controller is left
/// that would adopt the objects. `plan` says which objects are deleted. Waits for that up to `patience`; an object that
/// takes longer keeps its guard.
///
/// # Errors
/// The first object that could not be read or patched. Those after it keep their guards, too, and can be released
/// again.
pub async fn release(
    connection: &Connection,
    snapshot: &Snapshot,
    plan: &Plan,
    detached: &[DetachedObject],
    patience: Duration,
) -> Result<Vec<(ObjectId, Released)>, KeepError> {
    let begun = Instant::now();
    let mut released = Vec::with_capacity(detached.len());
    for one in detached {
        let cut = Cut { object: one.object, loses: one.loses.clone() };
        let object = KeptObject::of(connection, snapshot, &cut);
        let describe = object.release(plan, one, begun + patience).await;
        match describe {
            Ok(describe) => released.push((one.object, describe)),
            Err(why) => {
                let rest = detached[released.len()..].iter().filter_map(|one| {
                    let command = one.release_command(snapshot, &PLAIN)?;
                    Some((
                        snapshot.short_name(one.object),
                        format!("temporarily has itself as its controller; remove that with: {command}"),
                    ))
                });
                return Err(object.error(why, rest.collect()));
            }
        }
    }
    Ok(released)
}

/// One object to keep.
struct KeptObject<'a> {
    connection: &'a Connection,
    snapshot: &'a Snapshot,
    cut: &'a Cut,
    name: String,
    place: String,
    uid: &'a str,
}

impl<'a> KeptObject<'a> {
    fn of(connection: &'a Connection, snapshot: &'a Snapshot, cut: &'a Cut) -> Self {
        let object = snapshot.object(cut.object);
        let place = match snapshot.text(object.namespace) {
            "" => String::new(),
            namespace => format!(" -n {namespace}"),
        };
        KeptObject {
            connection,
            snapshot,
            cut,
            name: snapshot.short_name(cut.object),
            place,
            uid: snapshot.text(object.uid),
        }
    }

    fn error(&self, why: KeepFailure, left: Vec<(String, String)>) -> KeepError {
        KeepError { object: self.name.clone(), place: self.place.clone(), why, left }
    }

    /// Reads the object and writes the owner references that `wanted` returns for the current ones, until no other
    /// client writes in between. `wanted` also learns whether the object is terminating.
    async fn update<T>(
        &self,
        mut wanted: impl FnMut(&[Value], bool) -> Result<(Vec<Value>, T), KeepFailure>,
    ) -> Result<T, KeepFailure> {
        let failed = |doing, failure: Failure| KeepFailure::Failed { doing, reason: failure.in_full() };
        let path = self.path(self.cut.object).map_err(|failure| failed("reading", failure))?;
        let (connection, uid) = (self.connection, self.uid);
        let updater = Updater { connection, path, end: "", uid, tries: TRIES };
        let step = |object: &Value| {
            let (wanted, result) = wanted(references(object), is_terminating(object))?;
            let is_done = wanted == references(object);
            Ok(if is_done { Step::Done(result) } else { Step::Write(Change::references(wanted), result) })
        };
        updater.update(None, step).await.map_err(|error| match error {
            UpdateError::Gone => KeepFailure::Gone,
            UpdateError::Reading(failure) => failed("reading", failure),
            UpdateError::Writing(failure) => failed("patching", failure),
            UpdateError::Unstable(_) => KeepFailure::Unstable,
            UpdateError::Stopped(why) => why,
        })
    }

    /// Cuts the object, unless that is already done. Returns whether it wrote anything.
    async fn loosen(&self) -> Result<(bool, DetachedObject), KeepFailure> {
        // If a write was done but its answer lost, the next read shows the new references: keep those read before it.
        let mut before = None;
        let wanted = |live: &[Value], terminating| {
            if terminating {
                return Err(KeepFailure::Terminating);
            }
            let (wanted, guarded) = self.wanted(live)?;
            let is_done = wanted == live;
            if !is_done || before.is_none() {
                before = Some(live.to_vec());
            }
            Ok((wanted.clone(), (!is_done, wanted, guarded)))
        };
        let (written, now, guarded) = self.update(wanted).await?;
        let (object, loses) = (self.cut.object, self.cut.loses.clone());
        Ok((written, DetachedObject { object, loses, before: before.unwrap_or_default(), now, guarded }))
    }

    /// The wanted references: all that it doesn't lose, and the guard, unless another controller stays. Also returns
    /// whether the guard is among them.
    fn wanted(&self, live: &[Value]) -> Result<(Vec<Value>, bool), KeepFailure> {
        let owners = &self.snapshot.object(self.cut.object).owners;
        let leaves = self.cut.leaves(owners);
        let is_one_of = |live: &Value, known: &[Reference]| known.iter().any(|reference| self.is(live, reference));
        let mut wanted: Vec<Value> = Vec::new();
        for reference in live.iter().filter(|reference| reference["uid"] != self.uid || is_one_of(reference, owners)) {
            match (is_one_of(reference, &leaves), is_one_of(reference, &self.cut.loses)) {
                (true, _) => wanted.push(reference.clone()),
                (_, true) => {}
                _ => return Err(KeepFailure::Changed(format!("{} is new", written(reference)))),
            }
        }
        if let Some(missing) = leaves.iter().find(|reference| !live.iter().any(|live| self.is(live, reference))) {
            let name = format!("{}/{}", self.snapshot.text(missing.kind), self.snapshot.text(missing.name));
            return Err(KeepFailure::Changed(format!("{name} was removed")));
        }
        let guarded = !wanted.iter().any(|reference| reference["controller"] == true);
        if guarded {
            wanted.push(self.guard());
        }
        Ok((wanted, guarded))
    }

    fn guard(&self) -> Value {
        let object = self.snapshot.object(self.cut.object);
        let resource = self.snapshot.resources.get(object.resource);
        document(&OwnerReference {
            api_version: resource.api_version(),
            kind: resource.kind.clone(),
            name: self.snapshot.text(object.name).to_owned(),
            uid: self.uid.to_owned(),
            controller: Some(true),
            block_owner_deletion: None,
        })
    }

    /// Whether a reference that was read is this one of the snapshot.
    fn is(&self, live: &Value, known: &Reference) -> bool {
        let text = |field: &str| live[field].as_str().unwrap_or_default();
        text("uid") == self.snapshot.text(known.uid)
            && text("kind") == self.snapshot.text(known.kind)
            && text("name") == self.snapshot.text(known.name)
            && text("apiVersion") == self.snapshot.text(known.api_version)
    }

    async fn put_back(&self, done: &DetachedObject) -> Result<(), KeepFailure> {
        let wanted = |live: &[Value], _| match live == done.before || live == done.now {
            true => Ok((done.before.clone(), ())),
            false => Err(KeepFailure::Changed("another client has written them".to_owned())),
        };
        self.update(wanted).await
    }

    async fn release(&self, plan: &Plan, done: &DetachedObject, until: Instant) -> Result<Released, KeepFailure> {
        for owner in self.would_take_it_back(plan) {
            while self.lives(owner).await? {
                if Instant::now() >= until {
                    return Ok(Released::Guarded(owner));
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        let guard = done.guarded.then(|| self.guard());
        let dies =
            |reference: &Value| self.cut.loses.iter().any(|lost| reference["uid"] == self.snapshot.text(lost.uid));
        let wanted = |live: &[Value], terminating| {
            if terminating {
                return Ok((live.to_vec(), Released::Lost));
            }
            let stays = |reference: &&Value| Some(*reference) != guard.as_ref() && !dies(reference);
            Ok((live.iter().filter(stays).cloned().collect(), Released::Free))
        };
        match self.update(wanted).await {
            Err(KeepFailure::Gone) => Ok(Released::Lost),
            released => released,
        }
    }

    /// All objects in the delete that would adopt this one while they live: its former owners, and controllers in its
    /// namespace that adopt such kinds.
    fn would_take_it_back(&self, plan: &Plan) -> Vec<ObjectId> {
        let object = self.snapshot.object(self.cut.object);
        let resource = self.snapshot.resources.get(object.resource);
        let adopters = adopters_of(&resource.group, &resource.kind);
        let former = self.cut.loses.iter().filter_map(|lost| self.snapshot.by_uid(lost.uid));
        let others =
            plan.outcomes.iter().filter(|outcome| outcome.may_be_removed()).map(|outcome| outcome.object).filter(
                |other| {
                    let other = self.snapshot.object(*other);
                    let kind = self.snapshot.resources.get(other.resource);
                    other.namespace == object.namespace && adopters.contains(&(kind.group.as_str(), kind.kind.as_str()))
                },
            );
        let mut all: Vec<ObjectId> = former.chain(others).filter(|other| *other != self.cut.object).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether an object exists and is not terminating.
    async fn lives(&self, other: ObjectId) -> Result<bool, KeepFailure> {
        let uid = self.snapshot.text(self.snapshot.object(other).uid);
        let found = async { get(self.connection, &self.path(other)?).await };
        match found.await {
            Ok(found) => Ok(found.is_some_and(|object| update::uid(&object) == uid && !is_terminating(&object))),
            Err(failure) => Err(KeepFailure::Failed {
                doing: "looking for controllers that would adopt it again",
                reason: failure.in_full(),
            }),
        }
    }

    fn path(&self, object: ObjectId) -> Result<ObjectPath, Failure> {
        path::of(self.snapshot, object).ok_or(Failure::InvalidName)
    }
}

fn written(reference: &Value) -> String {
    let text = |field: &str| reference[field].as_str().unwrap_or_default().to_owned();
    format!("{}/{}", text("kind"), text("name"))
}
