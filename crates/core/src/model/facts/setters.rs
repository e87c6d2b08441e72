//! Who set a finalizer, from `metadata.managedFields`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::values::unix_seconds;

/// A manager that set a finalizer of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setter {
    pub finalizer: String,
    /// The manager's name.
    pub manager: String,
    /// When it last changed one of its fields, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<i64>,
}

/// Which keys of `metadata.managedFields` [`read_setters`] needs at each depth. The rest is large and irrelevant.
pub fn contains_setters(level: usize, key: &str) -> bool {
    match level {
        0 => matches!(key, "manager" | "time" | "subresource" | "fieldsV1"),
        1 => key == "f:metadata",
        2 => key == "f:finalizers",
        _ => key.starts_with("v:"),
    }
}

/// Reads who set an object's finalizers, in the order of `managedFields`. `None` without managed fields: kubectl omits
/// them by default.
pub fn read_setters(metadata: &Map<String, Value>) -> Option<Vec<Setter>> {
    let mut setters = Vec::new();
    for entry in metadata.get("managedFields")?.as_array()? {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        // A client that writes the status may send finalizers along, but doesn't set them.
        let of_object = text("subresource").unwrap_or_default().is_empty();
        let (Some(manager), Some(Value::Object(fields)), true) =
            (text("manager"), entry.pointer("/fieldsV1/f:metadata/f:finalizers"), of_object)
        else {
            continue;
        };
        // The keys of a set's members are their values in JSON.
        for finalizer in fields.keys().filter_map(|key| serde_json::from_str(key.strip_prefix("v:")?).ok()) {
            setters.push(Setter { finalizer, manager: manager.to_owned(), time: text("time").and_then(unix_seconds) });
        }
    }
    Some(setters)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(metadata: &Value) -> Option<Vec<Setter>> {
        read_setters(metadata.as_object().unwrap())
    }

    fn setter(finalizer: &str, manager: &str, time: Option<i64>) -> Setter {
        Setter { finalizer: finalizer.to_owned(), manager: manager.to_owned(), time }
    }

    #[test]
    fn the_managers_of_finalizers_are_found() {
        let metadata = json!({"managedFields": [
            {"manager": "kubectl", "operation": "Apply", "apiVersion": "v1", "time": "2026-01-31T08:00:00Z",
                "fieldsType": "FieldsV1",
             "fieldsV1": {"f:metadata": {"f:labels": {"f:app": {}}}, "f:spec": {}}},
            {"manager": "acme", "operation": "Update", "time": "2026-01-31T08:00:01Z",
             "fieldsV1": {"f:metadata": {"f:finalizers": {".": {}, "v:\"acme.io/a\"": {}, "v:\"acme.io/b\"": {}}}}},
            {"manager": "other", "operation": "Update",
             "fieldsV1": {"f:metadata": {"f:finalizers": {"v:\"acme.io/b\"": {}}}}},
            {"manager": "status", "operation": "Update", "subresource": "status",
             "fieldsV1": {"f:metadata": {"f:finalizers": {"v:\"acme.io/c\"": {}}}}},
        ]});
        let at = Some(1_769_846_401);
        assert_eq!(
            read(&metadata).unwrap(),
            [setter("acme.io/a", "acme", at), setter("acme.io/b", "acme", at), setter("acme.io/b", "other", None)]
        );
    }

    #[test]
    fn no_setter_differs_from_not_read() {
        assert_eq!(read(&json!({"name": "x"})), None);
        assert_eq!(read(&json!({"managedFields": []})), Some(Vec::new()));
        assert_eq!(read(&json!({"managedFields": [{"manager": "x", "fieldsV1": {"f:spec": {}}}]})), Some(Vec::new()));
    }

    #[test]
    fn malformed_managed_fields_are_ignored() {
        let finalizers = json!({"v:": {}, "v:{": {}, "v:7": {}, "k:{}": {}, "f:x": {}});
        let metadata = json!({"managedFields": [null, 7, {}, {"manager": "x", "fieldsV1": []},
            {"manager": {}, "fieldsV1": {"f:metadata": {"f:finalizers": {"v:\"a\"": {}}}}},
            {"manager": "x", "fieldsV1": {"f:metadata": {"f:finalizers": finalizers}}}]});
        assert_eq!(read(&metadata), Some(Vec::new()));
        assert_eq!(read(&json!({"managedFields": {}})), None);
    }
}
