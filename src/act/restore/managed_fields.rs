//! What managed fields reveal about restored objects.

use serde_json::Value;

use crate::restore::MANAGER;

/// The field manager of a restore. It contains the archived object's uid, so that a restored object is recognized as
/// the copy of that object and no other.
pub(in crate::act) fn manager(archived_uid: &str) -> String {
    format!("{MANAGER}{archived_uid}")
}

/// Whether a restore created this object from the archived object with this uid.
pub(in crate::act) fn is_copy_of(object: &Value, archived_uid: &str) -> bool {
    let manager = manager(archived_uid);
    fields(object).any(|entry| entry["manager"] == *manager && subresource(entry).is_empty())
}

/// Whether a client has written the object's status since its creation.
pub(in crate::act) fn has_written_status(object: &Value) -> bool {
    fields(object).any(|entry| subresource(entry) == "status")
}

fn fields(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["managedFields"].as_array().into_iter().flatten()
}

fn subresource(entry: &Value) -> &str {
    entry["subresource"].as_str().unwrap_or_default()
}
