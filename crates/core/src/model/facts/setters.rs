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

/// Every operator that is written with Kopf calls itself `kopf`. The prefix of its annotations is its own.
const KOPF: &str = ".kopf.dev/";

/// Which keys of `metadata.managedFields` [`read_setters`] needs at each depth. The rest is large and irrelevant.
pub fn contains_setters(level: usize, _: &str, key: &str) -> bool {
    match level {
        0 => matches!(key, "manager" | "time" | "subresource" | "fieldsV1"),
        1 => key == "f:metadata",
        2 => matches!(key, "f:finalizers" | "f:annotations"),
        _ => key.starts_with("v:") || key.contains(KOPF),
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
        let annotations = entry.pointer("/fieldsV1/f:metadata/f:annotations").and_then(Value::as_object);
        let own = |key: &String| key.strip_prefix("f:")?.split_once(KOPF).map(|(prefix, _)| prefix.to_owned());
        let operator = annotations.filter(|_| manager == "kopf").and_then(|of| of.keys().find_map(own));
        let manager = operator.as_deref().unwrap_or(manager);
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

    #[test]
    fn an_operator_of_kopf_is_called_as_its_annotations_are() {
        let of = |annotation: &str| {
            let fields =
                json!({"f:metadata": {"f:annotations": {".": {}, annotation: {}}, "f:finalizers": {"v:\"a/b\"": {}}}});
            read(&json!({"managedFields": [{"manager": "kopf", "fieldsV1": fields}]}))
        };
        assert_eq!(of("f:shelf-operator.kopf.dev/will-remove"), Some(vec![setter("a/b", "shelf-operator", None)]));
        assert_eq!(of("f:kopf.zalando.org/last-handled"), Some(vec![setter("a/b", "kopf", None)]));
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
