//! What managed fields say of objects that a restore has created.

use serde_json::Value;

/// The manager of fields that are restored: with the uid of the archived object, so that an object which a restore has
/// created is known to be that one's copy, and no other's.
pub(super) fn manager(archived_uid: &str) -> String {
    format!("kubectl-gc-restore:{archived_uid}")
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
