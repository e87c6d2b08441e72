//! Writes that name the uid and the resourceVersion they were decided on: if either has changed, the API server writes
//! nothing (409), and the object is read again. And whether the API server accepts changes of an object at all: it may
//! no longer satisfy the schema of its CRD.

use std::{convert::Infallible, time::Instant};

use futures::{StreamExt as _, stream};
use http::StatusCode;
use serde_json::{Value, json};

use crate::cluster::{
    Answer, Connection, Failure,
    path::{self, ObjectPath},
};
use gc_core::model::{ObjectId, Snapshot};

use super::request::{JSON_PATCH, MERGE_PATCH, Write, once};

/// The object in an answer.
pub(super) fn read(answer: &Answer) -> Result<Value, Failure> {
    let object: Value = serde_json::from_slice(&answer.body).map_err(|error| Failure::Malformed(error.to_string()))?;
    match uid(&object).is_empty() {
        true => Err(Failure::Malformed("an object without a uid".to_owned())),
        false => Ok(object),
    }
}

/// GETs an object by its path; none only if the server says that it doesn't exist.
pub(super) async fn get(connection: &Connection, path: &ObjectPath) -> Result<Option<Value>, Failure> {
    connection.get_one(path).await?.map(|answer| read(&answer)).transpose()
}

/// The object's uid; empty if it has none.
pub(super) fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

pub(super) fn is_terminating(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

pub(super) fn references(object: &Value) -> &[Value] {
    object["metadata"]["ownerReferences"].as_array().map_or(&[], Vec::as_slice)
}

/// The body of a merge patch that changes an object's metadata only if uid and version match.
pub(super) fn metadata_patch(uid: &str, version: Option<&str>, mut metadata: Value) -> Value {
    metadata["uid"] = json!(uid);
    if let Some(version) = version {
        metadata["resourceVersion"] = json!(version);
    }
    json!({ "metadata": metadata })
}

/// A change to an object.
pub(super) enum Change {
    /// Replaces the whole status.
    Status(Value),
    /// Merges these fields.
    Merge(Value),
}

impl Change {
    /// Replaces all owner references.
    pub(super) fn references(references: Vec<Value>) -> Self {
        Change::Merge(json!({"metadata": {"ownerReferences": references}}))
    }

    /// Replaces all finalizers.
    pub(super) fn finalizers(finalizers: Vec<Value>) -> Self {
        Change::Merge(json!({"metadata": {"finalizers": finalizers}}))
    }

    /// The content type and body of a PATCH that takes effect only if the object is still as it was read.
    fn patch(&self, there: &Value) -> (&'static str, Value) {
        let (uid, version) = (&there["metadata"]["uid"], &there["metadata"]["resourceVersion"]);
        match self {
            Change::Merge(fields) => {
                let mut body = fields.clone();
                body["metadata"]["uid"] = uid.clone();
                body["metadata"]["resourceVersion"] = version.clone();
                (MERGE_PATCH, body)
            }
            // A merge patch would keep fields of the old status.
            Change::Status(status) => {
                let operations = json!([
                    {"op": "test", "path": "/metadata/uid", "value": uid},
                    {"op": "test", "path": "/metadata/resourceVersion", "value": version},
                    {"op": "add", "path": "/status", "value": status},
                ]);
                (JSON_PATCH, operations)
            }
        }
    }

    /// Whether another client has written since the object was read.
    fn conflicts(&self, failure: &Failure) -> bool {
        match failure.status() {
            Some(StatusCode::CONFLICT) => true,
            // A `test` operation failed.
            Some(StatusCode::UNPROCESSABLE_ENTITY) => matches!(self, Change::Status(_)),
            _ => false,
        }
    }
}

/// What to do with an object that was read.
pub(super) enum Step<T> {
    /// Nothing: this is the result.
    Done(T),
    /// Write this change; this is the result then.
    Write(Change, T),
}

/// Why an object was not updated. `E` is the caller's reason to stop.
pub(super) enum UpdateError<E> {
    /// It no longer exists, or another object has its name.
    Gone,
    /// It can't be read.
    Reading(Failure),
    /// It can't be written. The last answer.
    Writing(Failure),
    /// Other clients wrote to it before each try. The last answer.
    Unstable(Failure),
    /// The caller stopped.
    Stopped(E),
}

impl UpdateError<Infallible> {
    /// The failure, where the caller never stops; `None` if the object is gone.
    pub(super) fn failure(self) -> Option<Failure> {
        match self {
            UpdateError::Gone => None,
            UpdateError::Reading(failure) | UpdateError::Writing(failure) | UpdateError::Unstable(failure) => {
                Some(failure)
            }
            UpdateError::Stopped(never) => match never {},
        }
    }
}

/// Reads and writes one object until no other client writes in between.
pub(super) struct Updater<'a> {
    pub connection: &'a Connection,
    pub path: ObjectPath,
    /// What the PATCH's path and query have after that: a subresource, a field manager.
    pub end: &'a str,
    pub uid: &'a str,
    /// How many conflicts to give up after.
    pub tries: u32,
}

impl Updater<'_> {
    /// Asks `step` what the object needs, and writes that; repeats while other clients write in between or failures are
    /// transient. If an answer is lost, `step` sees at the next read whether the write was done. `there` is the object
    /// if it has just been read.
    pub(super) async fn update<T, E>(
        &self,
        mut there: Option<Value>,
        mut step: impl FnMut(&Value) -> Result<Step<T>, E>,
    ) -> Result<T, UpdateError<E>> {
        let (mut conflicts, mut failures) = (0, 0);
        let begun = Instant::now();
        let to = self.path.with(self.end);
        loop {
            let object = match there.take() {
                Some(object) => Some(object),
                None => get(self.connection, &self.path).await.map_err(UpdateError::Reading)?,
            };
            let object = object.filter(|object| uid(object) == self.uid).ok_or(UpdateError::Gone)?;
            let (change, result) = match step(&object).map_err(UpdateError::Stopped)? {
                Step::Done(result) => return Ok(result),
                Step::Write(change, result) => (change, result),
            };
            let (content_type, body) = change.patch(&object);
            let sent = once(self.connection, &to, &Write::patch(content_type, &body)).await;
            let failure = match sent {
                Ok(answer) => match read(&answer) {
                    Ok(after) if uid(&after) == self.uid => return Ok(result),
                    Ok(_) => Failure::Malformed("not the object that was written".to_owned()),
                    Err(failure) => failure,
                },
                Err(failure) if failure.proves_absence(&self.path) => return Err(UpdateError::Gone),
                Err(failure) => failure,
            };
            if change.conflicts(&failure) {
                conflicts += 1;
                if conflicts >= self.tries {
                    return Err(UpdateError::Unstable(failure));
                }
            } else {
                failures += 1;
                match self.connection.pause_after(&failure, failures, begun) {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return Err(UpdateError::Writing(failure)),
                }
            }
        }
    }
}

/// The annotation that a dry run adds. A patch without any change would not be validated like one with a change.
const ANNOTATION: &str = "kubectl-gc/dry-run";

/// So many are asked about at the same time.
const AT_ONCE: usize = 8;

/// Of each of these objects, in order, why the API server refuses to change its metadata, as invalid: asks with dry
/// runs, which store nothing. `None` if it would accept a change, or if that could not be found out. Who may not patch
/// the first is not asked about the others: refusals may alarm somebody.
pub async fn unpatchable(connection: &Connection, snapshot: &Snapshot, objects: &[ObjectId]) -> Vec<Option<String>> {
    let Some((first, others)) = objects.split_first() else { return Vec::new() };
    let Ok(first) = refused(connection, snapshot, *first).await else { return vec![None; objects.len()] };
    let ask = async |id: &ObjectId| refused(connection, snapshot, *id).await.unwrap_or_default();
    let others: Vec<Option<String>> = stream::iter(others).map(ask).buffered(AT_ONCE).collect().await;
    [vec![first], others].concat()
}

/// The user may not patch an object.
struct Forbidden;

async fn refused(connection: &Connection, snapshot: &Snapshot, id: ObjectId) -> Result<Option<String>, Forbidden> {
    let Some(path) = path::of(snapshot, id) else { return Ok(None) };
    let body =
        metadata_patch(snapshot.text(snapshot.object(id).uid), None, json!({"annotations": {ANNOTATION: "true"}}));
    let sent = once(connection, &path.with("?dryRun=All"), &Write::patch(MERGE_PATCH, &body)).await;
    let Some(failure) = sent.err() else { return Ok(None) };
    // A policy that denies answers 422, too, but never with these words (`validating/dispatcher.go: Dispatch`,
    // `errors.NewInvalid`).
    let text = failure.to_string();
    match failure.status() {
        Some(StatusCode::FORBIDDEN) => Err(Forbidden),
        Some(StatusCode::UNPROCESSABLE_ENTITY) if text.contains(" is invalid: ") => Ok(Some(text)),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::cluster::{
        path,
        testing::{RecordedRequest, Say, absent, json as say, mix_ups, pods, serve},
    };

    async fn updated(
        answer: impl Fn(&RecordedRequest) -> Say + Send + Sync + 'static,
    ) -> Result<(), UpdateError<Infallible>> {
        let path = path::of_object(&pods(), "shop", "web").unwrap();
        let updater = Updater { connection: &serve(answer).await, path, end: "", uid: "u-web", tries: 2 };
        updater.update(None, |_| Ok(Step::Write(Change::finalizers(Vec::new()), ()))).await
    }

    /// An object is gone if the server says so of this very object.
    #[tokio::test]
    async fn no_answer_about_another_object_is_its_end() {
        let metadata = json!({"name": "web", "namespace": "shop", "uid": "u-web", "resourceVersion": "1"});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}).to_string();
        for (what, answer) in mix_ups("v1", "Pod", "web") {
            let (pod, in_place_of_patch) = (pod.clone(), answer.clone());
            assert!(matches!(updated(move |_| answer.clone()).await, Err(UpdateError::Reading(_))), "{what}");
            let on_patch = move |asked: &RecordedRequest| match asked.method.as_str() {
                "GET" => say(200, pod.clone()),
                _ => in_place_of_patch.clone(),
            };
            assert!(matches!(updated(on_patch).await, Err(UpdateError::Writing(_))), "{what}");
        }
        assert!(matches!(updated(absent).await, Err(UpdateError::Gone)));
        let gone_since = move |asked: &RecordedRequest| match asked.method.as_str() {
            "GET" => say(200, pod.clone()),
            _ => absent(asked),
        };
        assert!(matches!(updated(gone_since).await, Err(UpdateError::Gone)));
    }
}
