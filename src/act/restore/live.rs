//! Objects as they are in the cluster now.

use http::Method;
use serde_json::Value;

use crate::{
    act::request::persist,
    cluster::{Answer, Connection, Failure},
};

/// The manager of fields that are restored: with the uid of the archived object, so that an object which a restore has
/// created is known to be that one's copy, and no other's.
pub(super) fn manager(archived_uid: &str) -> String {
    format!("kubectl-gc-restore:{archived_uid}")
}

/// What is at a path: an object, or verifiably none.
pub(super) async fn get(connection: &Connection, path: &str) -> Result<Option<Value>, Failure> {
    match persist(connection, &Method::GET, path, None).await {
        Ok(answer) => read(&answer).map(Some),
        Err(undone) if undone.failure.proves_absence() => Ok(None),
        Err(undone) => Err(undone.failure),
    }
}

/// The object that an answer holds.
pub(super) fn read(answer: &Answer) -> Result<Value, Failure> {
    let object: Value = serde_json::from_slice(&answer.body).map_err(|error| Failure::Malformed(error.to_string()))?;
    match uid(&object).is_empty() {
        true => Err(Failure::Malformed("an object without a uid".to_owned())),
        false => Ok(object),
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

/// Whether a restore has created it, of the archived object with this uid.
pub(super) fn is_copy_of(object: &Value, archived_uid: &str) -> bool {
    let manager = manager(archived_uid);
    fields(object).any(|entry| entry["manager"] == *manager && subresource(entry).is_empty())
}

/// Whether anybody has written its status since it was created.
pub(super) fn has_written_status(object: &Value) -> bool {
    fields(object).any(|entry| subresource(entry) == "status")
}

fn fields(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["managedFields"].as_array().into_iter().flatten()
}

fn subresource(entry: &Value) -> &str {
    entry["subresource"].as_str().unwrap_or_default()
}
