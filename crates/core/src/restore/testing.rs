//! Archived objects for the tests of this module.

use serde_json::{Value, json};

use super::archived::Archived;

/// An object, merged with `more`. Its uid is `KIND-NAME`, in lower case.
pub(super) fn object(api_version: &str, kind: &str, name: &str, more: &Value) -> Value {
    let mut object =
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "uid": uid(kind, name)}});
    merge(&mut object, more);
    object
}

/// An object in namespace `shop` with these owners (`apiVersion kind name`), of which the first is the controller.
pub(super) fn owned(api_version: &str, kind: &str, name: &str, owners: &[(&str, &str, &str)]) -> Value {
    let mut references = Vec::new();
    for (index, (api_version, kind, name)) in owners.iter().enumerate() {
        let uid = uid(kind, name);
        references
            .push(json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": index == 0}));
    }
    let mut metadata = json!({"namespace": "shop"});
    if !references.is_empty() {
        metadata["ownerReferences"] = Value::from(references);
    }
    object(api_version, kind, name, &json!({"metadata": metadata}))
}

/// The objects as if read from an archive.
pub(super) fn archived(objects: impl IntoIterator<Item = Value>) -> Vec<Archived> {
    objects.into_iter().enumerate().map(|(index, object)| Archived::new(index + 1, object).unwrap()).collect()
}

fn uid(kind: &str, name: &str) -> String {
    format!("{kind}-{name}").to_lowercase()
}

fn merge(into: &mut Value, more: &Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more.clone(),
    }
}
