//! Restores one object: compares it if it exists; otherwise creates it and its status.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    act::{
        request::{Write, once},
        update::{self, Change, Step, UpdateError, Updater, is_terminating},
    },
    cluster::{
        Connection, Failure,
        path::{self, ObjectPath},
    },
};
use gc_core::{
    model::Resource,
    restore::{Item, ItemId, Outcome, Restored, differences},
};

use super::{Mode, Run, failed, has_written_status, is_copy_of, manager, owners::References};

/// How long to wait while a temporary refusal lasts.
const PATIENCE: Duration = Duration::from_secs(20);
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(250);
/// How often to try to restore a status while other clients write to the object.
const STATUS_TRIES: u32 = 30;

impl Run<'_> {
    /// Restores one object; the error is the outcome of one that could not be restored.
    pub(super) async fn bring(&self, item: ItemId) -> Result<Restored, Outcome> {
        if (self.called_off)() {
            return Err(Outcome::NotTried);
        }
        let it = self.item(item);
        if let Some(missing) = it.needs.iter().find(|need| !self.is_available(**need)) {
            return Err(Outcome::Blocked(*missing));
        }
        let place = &it.archived.place;
        if self.missing_namespaces.contains(&place.namespace) {
            let name = &place.namespace;
            let why = format!("namespace {name} does not exist and is not restored: create it and run this again");
            return Err(failed(why));
        }
        let Some(resource) = self.resource(&place.api_version, &place.kind) else {
            // Its CRD would be created before it.
            if self.mode != Mode::Apply && it.needs.iter().any(|need| self.is_to_be_created(*need)) {
                return Ok(Restored::absent(Outcome::WouldBeCreated));
            }
            let describe = match self.undiscovered {
                None => ": restore its CRD or its API server, and run this again",
                Some(_) => "; run this again",
            };
            return Err(failed(format!("{}{describe}", self.unserved(place))));
        };
        let Some(path) = path::of_object(resource, &place.namespace, &place.name) else {
            return Err(failed(format!("{place} is not a valid object name")));
        };
        if let Some(there) = self.get(&path).await? {
            return self.compare(item, resource, &path, &there).await;
        }
        let volume = self.waiting_volume(item).await;
        let named = volume.as_ref().map(name_of);
        if self.mode == Mode::ClientDryRun
            || self.mode == Mode::ServerDryRun && it.needs.iter().any(|need| self.is_to_be_created(*need))
        {
            // The server can't judge an object whose namespace doesn't exist yet.
            let references = self.references(item).await?;
            let detached = references.detached;
            return Ok(Restored { detached, volume: named, ..Restored::absent(Outcome::WouldBeCreated) });
        }
        if let Some(volume) = volume.filter(|_| self.mode == Mode::Apply) {
            self.reserve(volume).await?;
        }
        Ok(Restored { volume: named, ..self.create(item, resource, &path).await? })
    }

    fn is_to_be_created(&self, item: ItemId) -> bool {
        self.states[item].as_ref().is_some_and(|state| state.outcome == Outcome::WouldBeCreated)
    }

    async fn get(&self, path: &ObjectPath) -> Result<Option<Value>, Outcome> {
        let there = update::get(self.connection, path).await;
        there.map_err(|failure| failed(format!("it is not known whether it exists: {}", failure.in_full())))
    }

    /// Compares the archived object with the one that exists in its place.
    async fn compare(
        &self,
        item: ItemId,
        resource: &Resource,
        path: &ObjectPath,
        there: &Value,
    ) -> Result<Restored, Outcome> {
        let archived = &self.item(item).archived;
        let uid = update::uid(there).to_owned();
        if is_terminating(there) {
            return Err(failed("it exists and is being deleted: run this again when it is deleted"));
        }
        let mut restored = Restored { uid: Some(uid), ..Restored::absent(Outcome::Same) };
        if is_copy_of(there, &archived.uid) {
            restored.outcome = Outcome::AlreadyBack;
            restored.to_do.references = self.lacks_references(item, there);
            if self.mode == Mode::Apply {
                restored.unfinished.extend(self.put_status(item, resource, path, there.clone()).await.err());
            } else {
                restored.to_do.status = self.lacks_status(item, resource, there);
            }
            return Ok(restored);
        }
        let references = self.mapped(item, update::uid(there)).await?;
        let differences = differences(&archived.place, &archived.whole, &references, there);
        if !differences.is_empty() {
            restored.outcome = Outcome::Different(differences);
        }
        // Another client made a claim of that name anew: its old data is on a volume that waits.
        let bound = there["spec"]["volumeName"].as_str().unwrap_or_default();
        if bound != archived.whole["spec"]["volumeName"]
            && let Some(volume) = self.waiting_volume(item).await
        {
            let name = name_of(&volume);
            match bound {
                "" if self.mode == Mode::Apply => self.reserve(volume).await?,
                "" => {}
                other => restored.unfinished.push(format!(
                    "it is bound to PersistentVolume/{other}, and its data is on PersistentVolume/{name}: delete this \
                     claim once nothing uses it, and run this again"
                )),
            }
            restored.volume = Some(name).filter(|_| bound.is_empty());
        }
        Ok(restored)
    }

    async fn create(&self, item: ItemId, resource: &Resource, path: &ObjectPath) -> Result<Restored, Outcome> {
        let it = self.item(item);
        let mut url = path::of_resource(resource, Some(&it.archived.place.namespace));
        url = format!("{url}?fieldManager={}", path::encoded(&manager(&it.archived.uid)));
        if self.mode == Mode::ServerDryRun {
            url.push_str("&dryRun=All");
        }
        let (sent, references) = self.post(item, &url).await?;
        let there = match sent {
            Ok(there) => there,
            // Another client was faster, or an earlier try succeeded and its answer was lost.
            Err(failure) => match self.get(path).await {
                Ok(Some(there)) if is_copy_of(&there, &it.archived.uid) => there,
                Ok(Some(there)) => return self.compare(item, resource, path, &there).await,
                _ => return Err(failed(refused(&failure))),
            },
        };
        let unfinished = not_kept(it, resource, &references.written, &there).into_iter().collect();
        let detached = references.detached;
        let mut restored = Restored { detached, unfinished, ..Restored::absent(Outcome::WouldBeCreated) };
        if self.mode == Mode::Apply {
            (restored.outcome, restored.uid) = (Outcome::Created, Some(update::uid(&there).to_owned()));
            restored.unfinished.extend(self.put_status(item, resource, path, there).await.err());
        }
        Ok(restored)
    }

    /// Creates an object, and retries while a temporary refusal lasts. Returns the result, and the references of the
    /// last try.
    ///
    /// Owners are read before each try: the collector would delete an object whose owner has gone while this waited.
    async fn post(&self, item: ItemId, url: &str) -> Result<(Result<Value, Failure>, References), Outcome> {
        let it = self.item(item);
        let begun = Instant::now();
        let until = begun + PATIENCE;
        let mut body = it.body.clone();
        for tried in 1.. {
            let references = self.references(item).await?;
            if tried == 1 && (self.called_off)() {
                return Err(Outcome::NotTried);
            }
            if let Some(metadata) = body["metadata"].as_object_mut() {
                metadata.remove("ownerReferences");
                if !references.written.is_empty() {
                    metadata.insert("ownerReferences".to_owned(), Value::from(references.written.as_slice()));
                }
            }
            let failure = match once(self.connection, url, &Write::post(&body)).await {
                Ok(answer) => return Ok((update::read(&answer).and_then(|there| is_it(&it.body, there)), references)),
                Err(failure) => failure,
            };
            // Discovery lists a kind a moment before it is served.
            let may_pass = passes(&failure) || failure.is_missing_api() && !it.needs.is_empty();
            let pause = if may_pass && Instant::now() < until {
                Some(PAUSE)
            } else {
                self.connection.pause_after(&failure, tried, begun.into_std())
            };
            let Some(pause) = pause.filter(|_| !(self.called_off)()) else { return Ok((Err(failure), references)) };
            tokio::time::sleep(pause).await;
        }
        unreachable!("no try is without an end")
    }

    /// Whether an object that a restore created is still without its status. If the status is no subresource, it was
    /// created with the rest.
    fn lacks_status(&self, item: ItemId, resource: &Resource, there: &Value) -> bool {
        resource.has_status && self.item(item).status.as_ref().is_some_and(|status| lacks_status(status, there))
    }

    /// Whether an object that a restore created is still without a reference to an owner that is restored, too: one
    /// that closes a circle, or whose owner did not exist then. Compares by name: the owner may not exist yet.
    fn lacks_references(&self, item: ItemId, there: &Value) -> bool {
        let written: Vec<&Value> = there["metadata"]["ownerReferences"].as_array().into_iter().flatten().collect();
        self.to_restored(item).any(|index| {
            let archived = &self.item(item).archived.references[index].written;
            !written
                .iter()
                .any(|reference| ["apiVersion", "kind", "name"].iter().all(|part| reference[*part] == archived[*part]))
        })
    }

    /// Restores the status of an object that a restore created, unless another client has written one since. The error
    /// says why not.
    async fn put_status(
        &self,
        item: ItemId,
        resource: &Resource,
        path: &ObjectPath,
        there: Value,
    ) -> Result<(), String> {
        let it = self.item(item);
        let Some(status) = it.status.as_ref().filter(|_| resource.has_status) else { return Ok(()) };
        let put = put_status(self.connection, path, &it.archived.uid, status, there).await;
        put.map_err(|failure| match failure {
            None => "another client deleted it again: find out which, and run this again".to_owned(),
            Some(failure) => format!("its status could not be restored: {}", failure.in_full()),
        })
    }
}

fn name_of(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// Whether an object that was created is still without the status of the old one, and no client has written another.
fn lacks_status(status: &Value, there: &Value) -> bool {
    there["status"] != *status && !has_written_status(there)
}

/// Gives the copy of the object with this uid its status, unless another client has written one since.
///
/// # Errors
/// The last failure; `None` if the copy is gone.
pub(in crate::act) async fn put_status(
    connection: &Connection,
    path: &ObjectPath,
    archived_uid: &str,
    status: &Value,
    there: Value,
) -> Result<(), Option<Failure>> {
    let end = format!("/status?fieldManager={}", path::encoded(&manager(archived_uid)));
    let uid = update::uid(&there).to_owned();
    let updater = Updater { connection, path: path.clone(), end: &end, uid: &uid, tries: STATUS_TRIES };
    let step = |there: &Value| match lacks_status(status, there) {
        true => Ok(Step::Write(Change::Status(status.clone()), ())),
        false => Ok(Step::Done(())),
    };
    updater.update(Some(there), step).await.map_err(UpdateError::failure)
}

/// What the server dropped: fields that the CRD, or this version of Kubernetes, doesn't have. Changes by the server or
/// a webhook are not reported: that is how this cluster wants its objects.
fn not_kept(item: &Item, resource: &Resource, references: &[Value], there: &Value) -> Option<String> {
    let differences = differences(&item.archived.place, &item.archived.whole, references, there);
    let lost = differences.into_iter().filter(|it| it.archived.is_some() && it.live.is_none());
    let mut lost: Vec<String> = lost.map(|it| it.path).collect();
    let has_status = item.status.as_ref().is_some_and(|status| *status != json!({}));
    if has_status && !resource.has_status && there["status"].is_null() {
        lost.push("status".to_owned());
    }
    (!lost.is_empty()).then(|| format!("the server dropped {}", lost.join(", ")))
}

/// Whether a refusal is temporary: controllers create what admission looks for a moment after the namespace or the
/// quota.
fn passes(failure: &Failure) -> bool {
    let Failure::Refused(refusal) = failure else { return false };
    let says = |words: &str| refusal.message.contains(words);
    refusal.status == StatusCode::FORBIDDEN
        && (says("error looking up service account") || says("status unknown for quota"))
}

/// Why an object was not created, and what to do about it.
fn refused(failure: &Failure) -> String {
    let why = failure.in_full();
    let says = |words: &str| why.contains(words);
    let advice = if says("because it is being terminated") {
        "; run this again when its namespace is deleted"
    } else if failure.status() == Some(StatusCode::NOT_FOUND) && says("namespaces ") {
        "; find out who deletes its namespace, and run this again"
    } else if says("exceeded quota") {
        "; make room in the quota, and run this again"
    } else {
        ""
    };
    format!("{why}{advice}")
}

/// The created object, if an answer is one: a gateway may answer with another document.
fn is_it(body: &Value, there: Value) -> Result<Value, Failure> {
    let same = |field: &str| body["metadata"][field] == there["metadata"][field];
    let same_kind = ["apiVersion", "kind"].iter().all(|field| body[*field] == there[*field]);
    match same_kind && same("name") && same("namespace") {
        true => Ok(there),
        false => Err(Failure::Malformed("not the object that was created".to_owned())),
    }
}
