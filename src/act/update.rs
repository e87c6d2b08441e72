//! Writes that name the object (uid) and the version (resourceVersion) that they were decided on: where either is
//! another by now, nothing is written (409), and the object is read again.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::cluster::{Answer, Connection, Failure, retry};

use super::request::{JSON, JSON_PATCH, MERGE_PATCH, once_as};

/// The object that an answer holds.
pub(super) fn read(answer: &Answer) -> Result<Value, Failure> {
    let object: Value = serde_json::from_slice(&answer.body).map_err(|error| Failure::Malformed(error.to_string()))?;
    match uid(&object).is_empty() {
        true => Err(Failure::Malformed("an object without a uid".to_owned())),
        false => Ok(object),
    }
}

/// GETs what is at a path: an object, or verifiably none.
pub(super) async fn get(connection: &Connection, path: &str) -> Result<Option<Value>, Failure> {
    match connection.get(path, JSON).await {
        Ok(answer) => read(&answer).map(Some),
        Err(failure) if failure.proves_absence() => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Its uid; empty if it has none.
pub(super) fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

/// Whether it is being deleted.
pub(super) fn is_terminating(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

/// Its owner references.
pub(super) fn references(object: &Value) -> &[Value] {
    object["metadata"]["ownerReferences"].as_array().map_or(&[], Vec::as_slice)
}

/// The body of a merge patch of an object's metadata that means this object in this version.
pub(super) fn metadata_patch(uid: &str, version: Option<&str>, mut metadata: Value) -> Value {
    metadata["uid"] = json!(uid);
    if let Some(version) = version {
        metadata["resourceVersion"] = json!(version);
    }
    json!({ "metadata": metadata })
}

/// What is to be written to an object.
pub(super) enum Change {
    /// These owner references, and no others.
    References(Vec<Value>),
    /// This status, with nothing left of the one before.
    Status(Value),
}

impl Change {
    /// The content type and the body of the PATCH that means the object as it was read.
    fn patch(&self, there: &Value) -> (&'static str, Value) {
        let (uid, version) = (&there["metadata"]["uid"], &there["metadata"]["resourceVersion"]);
        match self {
            Change::References(references) => {
                let body = json!({ "ownerReferences": references });
                (MERGE_PATCH, metadata_patch(uid.as_str().unwrap_or_default(), version.as_str(), body))
            }
            // A merge would keep what the status there has besides.
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

    /// Whether somebody else has written since the object was read.
    fn conflicts(&self, failure: &Failure) -> bool {
        match failure.status() {
            Some(StatusCode::CONFLICT) => true,
            // A `test` failed.
            Some(StatusCode::UNPROCESSABLE_ENTITY) => matches!(self, Change::Status(_)),
            _ => false,
        }
    }
}

/// What an object that was read needs.
pub(super) enum Step<T> {
    /// Nothing: this is the result.
    Done(T),
    /// This change, and then this is the result.
    Write(Change, T),
}

/// Why an object was not updated. `E` is what the caller stops for.
pub(super) enum UpdateError<E> {
    /// It isn't there any more, or another has its name.
    Gone,
    /// It can't be read.
    Reading(Failure),
    /// It can't be written: the last answer.
    Writing(Failure),
    /// Somebody else wrote to it each time: the last answer.
    Unstable(Failure),
    /// The caller has stopped.
    Stopped(E),
}

/// One object that is read and written until nobody else writes in between.
pub(super) struct Updater<'a> {
    pub connection: &'a Connection,
    /// The object's own path.
    pub path: &'a str,
    /// The path and query that changes are sent to.
    pub url: &'a str,
    pub uid: &'a str,
    /// How many conflicts in a row are too many.
    pub tries: u32,
}

impl Updater<'_> {
    /// Asks `step` what the object needs, and writes that, again and again while others write in between, or while
    /// failures pass. Where an answer was lost, the object tells whether the write was done: `step` sees it then.
    /// `there` is the object if it has just been read.
    pub(super) async fn update<T, E>(
        &self,
        mut there: Option<Value>,
        mut step: impl FnMut(&Value) -> Result<Step<T>, E>,
    ) -> Result<T, UpdateError<E>> {
        let (mut conflicts, mut failures) = (0, 0);
        loop {
            let object = match there.take() {
                Some(object) => Some(object),
                None => get(self.connection, self.path).await.map_err(UpdateError::Reading)?,
            };
            let object = object.filter(|object| uid(object) == self.uid).ok_or(UpdateError::Gone)?;
            let (change, result) = match step(&object).map_err(UpdateError::Stopped)? {
                Step::Done(result) => return Ok(result),
                Step::Write(change, result) => (change, result),
            };
            let (content_type, body) = change.patch(&object);
            let sent = once_as(self.connection, &Method::PATCH, self.url, Some((content_type, &body)), JSON).await;
            let failure = match sent {
                Ok(_) => return Ok(result),
                Err(failure) if failure.proves_absence() => return Err(UpdateError::Gone),
                Err(failure) => failure,
            };
            if change.conflicts(&failure) {
                conflicts += 1;
                if conflicts >= self.tries {
                    return Err(UpdateError::Unstable(failure));
                }
            } else {
                failures += 1;
                match retry::pause_after(&failure, failures, true) {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return Err(UpdateError::Writing(failure)),
                }
            }
        }
    }
}
