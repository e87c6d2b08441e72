//! Takes a delete back: guards, the end of the old object, the new one, and references to it.

use std::time::Duration;

use futures::StreamExt as _;
use http::StatusCode;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::{
    act::{
        Deletion,
        request::{Write, delete_options, once, send_with_retry},
        restore::{manager, put_status},
        update::{Change, Step, UpdateError, Updater, get, is_terminating, read, references, uid},
    },
    cluster::{
        Connection, Failure,
        path::{self, ObjectPath},
    },
};
use gc_core::{
    hold::{
        Anew, Held, HeldDependent, Stage, counted_pods, counts_none, has_finished, is_guarded, original, without_label,
    },
    model::{HOLD, UNCANCELLED},
    restore::sets_status,
    server::Propagation,
};

use super::{HoldFailure, OURS, StoredHold, TRIES, finalizers, finalizers_without, held, path_of};

/// How many dependents are written at once.
const AT_ONCE: usize = 8;
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// How long the collector and the controllers may take for each of their parts.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a controller may take to see guards if its object doesn't count the dependents that have them: finished
/// Pods, ReplicaSets without any, or those that are so new that no status is written yet.
const UNSEEN: Duration = Duration::from_secs(3);
/// How long a Job that had finished may take to finish again.
const FINISHED_AGAIN: Duration = Duration::from_secs(10);

/// Where taking back begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It was never deleted: it is as it was, and its Secret is removed.
    NotDeleted,
    /// Its delete has gone on: nothing can be taken back, and its Secret is removed.
    GoneOn,
    /// It was taken back, and has been deleted again since: its Secret is removed.
    DeletedAgain,
    /// It is held, and no longer goes on. Its dependents are to be guarded.
    Stopped,
    /// It is gone, and its dependents have guards. It is to be created.
    Guarded,
}

/// A delete that is taken back.
pub struct TakeBack<'c> {
    connection: &'c Connection,
    pub stored: StoredHold,
    /// Whether dependents may get another object of this name as their owner.
    pub use_existing: bool,
    /// Its new uid, as soon as it is created.
    pub new_uid: Option<String>,
    /// Whether the new object is the one that this program has created.
    own: bool,
    /// What is not as it was.
    pub notes: Vec<String>,
}

impl<'c> TakeBack<'c> {
    pub fn new(connection: &'c Connection, stored: StoredHold, use_existing: bool) -> Self {
        TakeBack { connection, stored, use_existing, new_uid: None, own: true, notes: Vec::new() }
    }

    fn path(&self) -> ObjectPath {
        path_of(&self.stored.record.about.path, &self.stored.record.about.identity)
    }

    fn old_uid(&self) -> &str {
        &self.stored.record.about.identity.uid
    }

    fn updater<'a>(&'a self, path: ObjectPath, uid: &'a str) -> Updater<'a> {
        Updater { connection: self.connection, path, end: "", uid, tries: TRIES }
    }

    /// The object with its name; none if there is none.
    async fn there(&self) -> Result<Option<Value>, HoldFailure> {
        get(self.connection, &self.path()).await.map_err(|failure| HoldFailure::failed("reading it", &failure))
    }

    /// The old object; none if it is gone.
    async fn old(&self) -> Result<Option<Value>, HoldFailure> {
        Ok(self.there().await?.filter(|there| uid(there) == self.old_uid()))
    }

    /// What is in the place of a dependent; none if nothing is.
    async fn find(&self, dependent: &HeldDependent) -> Result<Option<Value>, HoldFailure> {
        let found = get(self.connection, &path_of(&dependent.path, &dependent.identity)).await;
        let reading = || format!("reading {}", dependent.identity.short_name());
        found.map_err(|failure| HoldFailure::failed(reading(), &failure))
    }

    /// Finds out how far the hold is, and stops it from going on.
    ///
    /// # Errors
    /// Why it can't be stopped; it may go on.
    pub async fn begin(&mut self) -> Result<Begun, HoldFailure> {
        loop {
            let Some(there) = self.old().await? else { return self.begin_without().await };
            let state = (is_terminating(&there), held(&there));
            let wanted = |dropped: &[&str]| finalizers_without(&there, dropped);
            match state {
                (false, None) => return self.end(Begun::NotDeleted).await,
                // Its holder was interrupted before the DELETE, or has yet to send it: that names this version.
                (false, Some(_)) => {
                    self.write(there.clone(), Change::finalizers(wanted(&OURS))).await?;
                }
                (true, Some(Held::Waits)) => {
                    self.write(there.clone(), Change::finalizers(wanted(&[UNCANCELLED]))).await?;
                }
                (true, Some(Held::BeingTakenBack)) => {
                    if self.stored.record.about.stage == Stage::Held {
                        // As it was last: its controllers may have written to it.
                        self.stored.record.object = there;
                    }
                    return Ok(Begun::Stopped);
                }
                (true, None) => match self.stored.record.about.stage {
                    Stage::Held => return self.end(Begun::GoneOn).await,
                    _ => self.await_end().await?,
                },
            }
        }
    }

    /// Writes to the old object, if it is still what was read; otherwise it is looked at again.
    async fn write(&self, there: Value, change: Change) -> Result<(), HoldFailure> {
        let mut change = Some(change);
        let step =
            |_: &Value| Ok::<_, HoldFailure>(change.take().map_or(Step::Done(()), |change| Step::Write(change, ())));
        if_there("it", self.updater(self.path(), self.old_uid()).update(Some(there), step).await)
    }

    /// The old object is gone.
    async fn begin_without(&mut self) -> Result<Begun, HoldFailure> {
        match self.stored.record.about.stage {
            Stage::Held => self.end(Begun::GoneOn).await,
            Stage::BeingTakenBack => Ok(Begun::Guarded),
            Stage::Created if self.there().await?.is_some() || self.any_guarded().await? => Ok(Begun::Guarded),
            Stage::Created => self.end(Begun::DeletedAgain).await,
        }
    }

    async fn any_guarded(&self) -> Result<bool, HoldFailure> {
        for dependent in &self.stored.record.about.dependents {
            if self.find(dependent).await?.is_some_and(|found| is_guarded(references(&found), &dependent.identity.uid))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Nothing is left to do but to remove the Secret.
    async fn end(&self, begun: Begun) -> Result<Begun, HoldFailure> {
        self.stored.remove(self.connection).await?;
        Ok(begun)
    }

    /// Records these dependents, and gives each a guard. May be called again with more.
    ///
    /// # Errors
    /// The first that can't be guarded. Those before it have guards, and are in the record.
    pub async fn guard(&mut self, dependents: Vec<HeldDependent>) -> Result<(), HoldFailure> {
        let known = &mut self.stored.record.about.dependents;
        for dependent in dependents {
            if !known.iter().any(|one| one.identity.uid == dependent.identity.uid) {
                known.push(dependent);
            }
        }
        self.stored.record.about.stage = Stage::BeingTakenBack;
        self.stored.rewrite(self.connection).await?;
        let owner = self.old_uid();
        let guards = self.stored.record.about.dependents.iter().map(async |dependent| {
            let step = |object: &Value| {
                let live = references(object);
                Ok(match dependent.guarded(live, owner) {
                    Some(wanted) if wanted != live => Step::Write(Change::references(wanted), ()),
                    _ => Step::Done(()),
                })
            };
            let updater = self.updater(path_of(&dependent.path, &dependent.identity), &dependent.identity.uid);
            if_there(&dependent.identity.short_name(), updater.update(None, step).await)
        });
        let guarded: Vec<Result<(), HoldFailure>> =
            futures::stream::iter(guards).buffer_unordered(AT_ONCE).collect().await;
        guarded.into_iter().collect()
    }

    /// Waits until its controller sees that it has no dependents, lets the collector free what else has become one, and
    /// lets the old object go.
    ///
    /// # Errors
    /// Why the old object is still there: it is held, and its dependents have guards.
    pub async fn let_go(&mut self) -> Result<(), HoldFailure> {
        let group = self.stored.record.group().to_owned();
        let record = &self.stored.record;
        if record.about.dependents.iter().any(|dependent| dependent.adopted) && counts_none(&group, &record.object) {
            // It counted none before: its status can't show that its controller has seen the guards.
            sleep(UNSEEN).await;
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let Some(there) = self.old().await? else { return Ok(()) };
            if counts_none(&group, &there) {
                break;
            }
            if Instant::now() > until {
                let what = "its controller has not seen that its dependents have guards";
                return Err(HoldFailure::Waited(what));
            }
            sleep(PAUSE).await;
        }
        let options = delete_options(&Deletion::by(Propagation::Orphan), self.old_uid(), None);
        let path = self.path();
        match send_with_retry(self.connection, &path, Write::delete(&options)).await {
            Ok(_) => {}
            Err(undone) if undone.failure.proves_absence(&path) => {}
            Err(undone) if undone.failure.status() == Some(StatusCode::CONFLICT) => {}
            Err(undone) => return Err(HoldFailure::failed("deleting it again, with Orphan,", &undone.failure)),
        }
        // The collector's finalizer is the last one: whatever it still sees, it frees before the object goes.
        let step = |object: &Value| {
            let wanted = finalizers_without(object, &[HOLD]);
            let is_done = wanted.len() == finalizers(object).len();
            Ok(if is_done { Step::Done(()) } else { Step::Write(Change::finalizers(wanted), ()) })
        };
        if_there("it", self.updater(self.path(), self.old_uid()).update(None, step).await)?;
        self.await_end().await
    }

    /// Waits until the old object is gone.
    async fn await_end(&self) -> Result<(), HoldFailure> {
        let until = Instant::now() + PATIENCE;
        loop {
            let Some(there) = self.old().await? else { return Ok(()) };
            if Instant::now() > until {
                let left: Vec<String> =
                    finalizers(&there).iter().filter_map(Value::as_str).map(str::to_owned).collect();
                return Err(HoldFailure::Stays(left.join(", ")));
            }
            sleep(PAUSE).await;
        }
    }

    /// Creates the object again; `lost` are the uids of its owners that no longer exist.
    ///
    /// # Errors
    /// Why it isn't there. Its dependents have guards.
    pub async fn create(&mut self, lost: &[String]) -> Result<(), HoldFailure> {
        let record = &self.stored.record;
        let anew = Anew::of(record.group(), &record.object, record.about.has_status, lost);
        let manager = path::encoded(&manager(self.old_uid()));
        let url = format!("{}?fieldManager={manager}", record.collection());
        let begun = Instant::now();
        let mut tried = 0;
        let there = loop {
            if let Some(there) = self.there().await? {
                if record.is_again(&there) && !is_terminating(&there) {
                    break there;
                }
                if self.use_existing && !is_terminating(&there) {
                    self.own = false;
                    break there;
                }
                return Err(HoldFailure::Replaced(format!("its uid is {}", uid(&there))));
            }
            tried += 1;
            let failure = match once(self.connection, url.as_str(), &Write::post(&anew.body)).await {
                Ok(answer) => match read(&answer) {
                    Ok(there) if record.is_again(&there) => break there,
                    Ok(_) => Failure::Malformed("not the object that was created".to_owned()),
                    Err(failure) => failure,
                },
                Err(failure) if failure.status() == Some(StatusCode::CONFLICT) && tried < TRIES => continue,
                Err(failure) => failure,
            };
            match self.connection.pause_after(&failure, tried, begun.into_std()) {
                Some(pause) => sleep(pause).await,
                None => return Err(HoldFailure::failed("creating it again", &failure)),
            }
        };
        self.new_uid = Some(uid(&there).to_owned());
        if self.stored.record.about.stage != Stage::Created {
            self.stored.record.about.stage = Stage::Created;
            self.stored.record.about.new_uid = self.new_uid.clone().filter(|_| self.own);
            self.stored.rewrite(self.connection).await?;
        }
        if self.own {
            self.put_status(there).await?;
        }
        Ok(())
    }

    /// Writes the status of an object whose controller doesn't derive it from its dependents.
    async fn put_status(&self, there: Value) -> Result<(), HoldFailure> {
        let record = &self.stored.record;
        let status = &record.object["status"];
        if !record.about.has_status || status.is_null() || !sets_status(record.group()) {
            return Ok(());
        }
        let put = put_status(self.connection, &self.path(), self.old_uid(), status, there).await;
        put.map_err(|failure| match failure {
            None => HoldFailure::Gone,
            Some(failure) => HoldFailure::failed("writing its status", &failure),
        })
    }

    /// Gives each dependent the new object as its owner. Those that its controller claims by itself are waited for.
    /// Returns how many dependents there are.
    ///
    /// # Errors
    /// The first that keeps its guard.
    pub async fn move_references(&mut self) -> Result<usize, HoldFailure> {
        let Some(new) = self.new_uid.clone() else { return Err(HoldFailure::Gone) };
        let until = Instant::now() + PATIENCE;
        let moves = self.stored.record.about.dependents.iter().map(async |dependent| {
            let updater = self.updater(path_of(&dependent.path, &dependent.identity), &dependent.identity.uid);
            loop {
                let step = |object: &Value| {
                    let live = references(object);
                    match dependent.moved(live, self.old_uid(), &new) {
                        None => Ok(Step::Done(())),
                        Some(_) if dependent.adopted && original(live, &new).is_none() && Instant::now() < until => {
                            Err(HoldFailure::Waited("its controller has not claimed it"))
                        }
                        Some(wanted) => Ok(Step::Write(Change::references(wanted), ())),
                    }
                };
                match updater.update(None, step).await {
                    Ok(()) => return Ok(true),
                    Err(UpdateError::Gone) => return Ok(false),
                    Err(UpdateError::Stopped(HoldFailure::Waited(_))) => sleep(PAUSE).await,
                    Err(error) => return Err(HoldFailure::of(&dependent.identity.short_name(), error)),
                }
            }
        });
        let moved: Vec<Result<bool, HoldFailure>> =
            futures::stream::iter(moves).buffer_unordered(AT_ONCE).collect().await;
        moved.into_iter().try_fold(0, |there, lives| Ok(there + usize::from(lives?)))
    }

    /// Makes the object what it was, and removes the Secret.
    ///
    /// # Errors
    /// Why it isn't yet. It may be run again.
    pub async fn finish(&mut self) -> Result<(), HoldFailure> {
        let record = &self.stored.record;
        let anew = Anew::of(record.group(), &record.object, record.about.has_status, &[]);
        if self.own {
            // First: it is recorded by now.
            self.merge(&without_label()).await?;
        }
        if let Some(afterwards) = anew.afterwards.filter(|_| self.own) {
            if self.may_be_as_it_was().await? {
                self.merge(&afterwards).await?;
            } else {
                self.notes.push(format!(
                    "{} had finished, and does not finish again with the Pods that are there: its parallelism stays 0, \
                     so that it does not run again.",
                    self.stored.record.about.identity.placed()
                ));
            }
        }
        self.stored.remove(self.connection).await
    }

    /// Waits until the controller of a Job has counted its Pods. Returns false for a Job that had finished and doesn't
    /// finish again.
    async fn may_be_as_it_was(&self) -> Result<bool, HoldFailure> {
        let record = &self.stored.record;
        if record.group() != "batch" || record.about.identity.kind != "Job" {
            return Ok(true);
        }
        let had_finished = has_finished(&record.object);
        let begun = Instant::now();
        let mut pods = 0;
        for dependent in record.about.dependents.iter().filter(|dependent| dependent.adopted) {
            let found = self.find(dependent).await?;
            pods += i64::from(found.is_some_and(|found| uid(&found) == dependent.identity.uid));
        }
        loop {
            let there = self.there().await?.ok_or(HoldFailure::Gone)?;
            let finished = has_finished(&there);
            if finished || !had_finished && counted_pods(&there) >= pods {
                return Ok(true);
            }
            if had_finished && begun.elapsed() > FINISHED_AGAIN {
                return Ok(false);
            }
            if begun.elapsed() > PATIENCE {
                return Err(HoldFailure::Waited("its controller has not counted its Pods"));
            }
            sleep(PAUSE).await;
        }
    }

    async fn merge(&self, fields: &Value) -> Result<(), HoldFailure> {
        let Some(new) = &self.new_uid else { return Err(HoldFailure::Gone) };
        let step =
            |object: &Value| {
                let of =
                    |part: &str, object: &Value| {
                        fields.pointer(part).and_then(Value::as_object).into_iter().flatten().all(|(field, value)| {
                            object.pointer(part).map_or(&Value::Null, |part| &part[field]) == value
                        })
                    };
                let is_done = of("/spec", object) && of("/metadata/labels", object);
                Ok(if is_done { Step::Done(()) } else { Step::Write(Change::Merge(fields.clone()), ()) })
            };
        let done = self.updater(self.path(), new).update(None, step).await;
        done.map_err(|error| HoldFailure::of("it", error))
    }
}

/// What came of writing to an object: one that is gone needs nothing more.
fn if_there(doing: &str, updated: Result<(), UpdateError<HoldFailure>>) -> Result<(), HoldFailure> {
    match updated {
        Ok(()) | Err(UpdateError::Gone) => Ok(()),
        Err(error) => Err(HoldFailure::of(doing, error)),
    }
}
