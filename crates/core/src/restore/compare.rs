//! Compares existing objects with archived ones.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::{archived::Place, fields::as_created};

/// A field in which an existing object differs from the archived one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// As in JSONPath: `spec.containers[0].image`.
    pub path: String,
    /// The archived value in JSON; `None` if it is unset or a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<String>,
    /// The existing value in JSON; `None` if it is unset or a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<String>,
}

/// The fields of a live object that differ from what a restore would create. `references` are the owner references that
/// the archived object would have now. The status is not compared: it may have changed since.
pub fn differences(place: &Place, archived: &Value, references: &[Value], live: &Value) -> Vec<Difference> {
    let mut wanted = as_created(place, archived);
    let mut found = as_created(place, live);
    if wanted["metadata"].is_object() {
        wanted["metadata"]["ownerReferences"] = Value::from(references);
    }
    if found["metadata"].is_object() {
        found["metadata"]["ownerReferences"] = live["metadata"]["ownerReferences"].clone();
    }
    for side in [&mut wanted, &mut found] {
        without_late_finalizers(side);
    }
    let hidden = place.is("", "Secret");
    let mut differences = Vec::new();
    let mut pairs = vec![(String::new(), Some(&wanted), Some(&found))];
    // A stack of pairs to compare, without recursion: objects may be nested deeply.
    while let Some((path, wanted, found)) = pairs.pop() {
        match (wanted, found) {
            (Some(Value::Object(wanted)), Some(Value::Object(found))) => {
                let keys: BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
                // Reversed, because the last pair is popped first.
                for key in keys.into_iter().rev() {
                    pairs.push((below(&path, key), wanted.get(key), found.get(key)));
                }
            }
            (Some(Value::Array(wanted)), Some(Value::Array(found))) if wanted.len() == found.len() => {
                for (index, (wanted, found)) in wanted.iter().zip(found).enumerate().rev() {
                    pairs.push((format!("{path}[{index}]"), Some(wanted), Some(found)));
                }
            }
            _ if is_unset(wanted) && is_unset(found) || wanted == found => {}
            _ => {
                let secret = hidden && (path.starts_with("data") || path.starts_with("stringData"));
                let describe = |value: Option<&Value>| value.filter(|_| !secret).map(ToString::to_string);
                differences.push(Difference { path, archived: describe(wanted), live: describe(found) });
            }
        }
    }
    differences
}

/// Removes the finalizers that a controller adds some time after an object's creation
/// (pkg/controller/volume/pvcprotection and pvprotection).
fn without_late_finalizers(object: &mut Value) {
    if let Some(finalizers) = object["metadata"].get_mut("finalizers").and_then(Value::as_array_mut) {
        finalizers.retain(|finalizer| {
            !finalizer
                .as_str()
                .is_some_and(|name| ["kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"].contains(&name))
        });
    }
}

/// Servers and clients differ in whether they write empty values.
fn is_unset(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(list)) => list.is_empty(),
        Some(_) => false,
    }
}

/// The path of a field of an object.
pub(super) fn below(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    match (path.is_empty(), plain) {
        (true, true) => key.to_owned(),
        (false, true) => format!("{path}.{key}"),
        (_, false) => format!("{path}[{}]", Value::from(key)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::restore::{archived::Archived, testing::object};

    fn describe(archived: Value, references: &[Value], live: &Value) -> Vec<String> {
        let place = Archived::new(1, archived.clone()).unwrap().place;
        let shown = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let differences = differences(&place, &archived, references, live).into_iter();
        differences.map(|it| format!("{}: {} {}", it.path, shown(it.archived), shown(it.live))).collect()
    }

    #[test]
    fn what_the_server_sets_is_no_difference() {
        let archived = object(
            "v1",
            "Service",
            "web",
            &json!({"metadata": {"resourceVersion": "1", "generation": 3, "finalizers": ["foregroundDeletion"],
                                 "deletionTimestamp": "2026-01-01T00:00:00Z", "labels": {}},
                    "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": [{"port": 80,
                        "nodePort": 30001}]}}),
        );
        let live = object(
            "v1",
            "Service",
            "web",
            &json!({"metadata": {"resourceVersion": "9", "uid": "another"},
                    "spec": {"clusterIP": "10.0.0.9", "clusterIPs": ["10.0.0.9"], "ports": [{"port": 80,
                        "nodePort": 30009}]},
                    "status": {"loadBalancer": {}}}),
        );
        assert_eq!(describe(archived, &[], &live), [""; 0]);
    }

    #[test]
    fn a_finalizer_that_a_controller_adds_later_is_no_difference() {
        let claim = |finalizers: Value| {
            object("v1", "PersistentVolumeClaim", "data", &json!({"metadata": {"finalizers": finalizers}}))
        };
        assert_eq!(describe(claim(json!(["kubernetes.io/pvc-protection"])), &[], &claim(json!(null))), [""; 0]);
        let backup = claim(json!(["kubernetes.io/pvc-protection", "acme.io/backup"]));
        assert_eq!(describe(backup, &[], &claim(json!([]))), [r#"metadata.finalizers: ["acme.io/backup"] -"#]);
    }

    #[test]
    fn differences_are_told_by_their_paths() {
        let archived = object(
            "apps/v1",
            "Deployment",
            "web",
            &json!({"metadata": {"annotations": {"acme.io/a": "1"}}, "spec": {"replicas": 3, "list": [{"a": 1},
                {"b": 2}], "gone": true}}),
        );
        let live = object(
            "apps/v1",
            "Deployment",
            "web",
            &json!({"metadata": {"annotations": {"acme.io/a": "2"}}, "spec": {"replicas": 5, "list": [{"a": 1},
                {"b": 3}], "new": []}}),
        );
        assert_eq!(
            describe(archived, &[], &live),
            [
                r#"metadata.annotations["acme.io/a"]: "1" "2""#,
                "spec.gone: true -",
                "spec.list[1].b: 2 3",
                "spec.replicas: 3 5"
            ]
        );
    }

    #[test]
    fn references_are_compared_by_the_uids_they_would_have_now() {
        let reference = |uid: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": uid});
        let archived = object("v1", "ConfigMap", "b", &json!({"metadata": {"ownerReferences": [reference("old")]}}));
        let live = object("v1", "ConfigMap", "b", &json!({"metadata": {"ownerReferences": [reference("new")]}}));
        assert_eq!(describe(archived.clone(), &[reference("new")], &live), [""; 0]);
        assert_eq!(
            describe(archived.clone(), &[reference("newer")], &live),
            [r#"metadata.ownerReferences[0].uid: "newer" "new""#]
        );
        assert_eq!(describe(archived, &[], &live).len(), 1);
    }

    #[test]
    fn secrets_are_not_told() {
        let secret = |value: &str| object("v1", "Secret", "s", &json!({"data": {"password": value}, "type": "Opaque"}));
        assert_eq!(describe(secret("YQ=="), &[], &secret("Yg==")), ["data.password: - -"]);
        let lost = object("v1", "Secret", "s", &json!({"type": "Opaque"}));
        assert_eq!(describe(secret("YQ=="), &[], &lost), ["data: - -"]);
    }
}
