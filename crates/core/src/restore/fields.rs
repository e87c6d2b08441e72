//! Which fields of an archived object are not sent: those that the server or a controller sets, and that a new object
//! may not have or should not have; and how an existing object compares with an archived one.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::hold::{drop_finalizers_of_deletion, drop_server_fields, keep_items};

use super::archived::Place;

/// Annotations that a controller sets when its work is done, which it has to do again.
const ANNOTATIONS: &[(&str, &str, &[&str])] = &[
    // pkg/controller/deployment/util: the controller starts counting revisions again.
    ("apps", "Deployment", &["deployment.kubernetes.io/revision"]),
    // pkg/controller/endpoint: it says when the endpoints controller last changed them.
    ("", "Endpoints", &["endpoints.kubernetes.io/last-change-trigger-time"]),
    // pkg/controller/volume/persistentvolume: a claim with `bind-completed` whose volume is missing is lost
    // permanently.
    (
        "",
        "PersistentVolumeClaim",
        &[
            "pv.kubernetes.io/bind-completed",
            "pv.kubernetes.io/bound-by-controller",
            "volume.kubernetes.io/selected-node",
            "volume.kubernetes.io/storage-provisioner",
            "volume.beta.kubernetes.io/storage-provisioner",
        ],
    ),
    ("", "PersistentVolume", &["pv.kubernetes.io/bound-by-controller"]),
    // pkg/controller/serviceaccount/tokens_controller.go: it deletes a token whose uid is not that of its account.
    ("", "Secret", &["kubernetes.io/service-account.uid"]),
];

/// The labels by which a Job finds its pods; the server derives them from the Job's uid
/// (pkg/registry/batch/job/strategy.go).
const OF_JOB: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];
/// The type of a Secret with a ServiceAccount's token.
const TOKEN_TYPE: &str = "kubernetes.io/service-account-token";
/// The name prefix of the volume that the ServiceAccount admission plugin adds to every pod
/// (plugin/pkg/admission/serviceaccount).
const TOKEN_VOLUME: &str = "kube-api-access-";

/// The object to create, without owner references and status: those need information from the cluster.
///
/// Both sides of a comparison are converted like this, so that only fields that a restore can set are compared.
pub(super) fn as_created(place: &Place, whole: &Value) -> Value {
    let mut object = whole.clone();
    let Some(fields) = object.as_object_mut() else { return object };
    fields.remove("status");
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        drop_server_fields(metadata);
        metadata.remove("ownerReferences");
        drop_finalizers_of_deletion(metadata);
        for (group, kind, annotations) in ANNOTATIONS {
            if place.is(group, kind) {
                remove_from(metadata, "annotations", annotations);
            }
        }
    }
    clean_kind(place, fields);
    object
}

fn clean_kind(place: &Place, object: &mut Map<String, Value>) {
    match (place.group(), place.kind.as_str()) {
        ("", "Namespace") => drop_from_spec(object, &["finalizers"]),
        ("", "Service") => clean_service(object),
        ("", "Pod") => clean_pod(object),
        ("", "PersistentVolumeClaim") => drop_from_spec(object, &["volumeName"]),
        // Without the uid, the volume waits for a claim with this name and any uid.
        ("", "PersistentVolume") => remove_in(object, &["spec", "claimRef"], &["uid", "resourceVersion"]),
        ("", "ServiceAccount") => clean_service_account(&place.name, object),
        ("", "Secret") if object.get("type").is_some_and(|it| it == TOKEN_TYPE) => {
            // The token controller sets them, with a token for the new account.
            remove_from(object, "data", &["token", "ca.crt", "namespace"]);
        }
        ("batch", "Job") => clean_job(object),
        _ => {}
    }
}

fn clean_service(service: &mut Map<String, Value>) {
    let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else { return };
    // A headless service remains headless: "None" is the user's choice, not an assigned address.
    if spec.get("clusterIP").is_some_and(|address| address != "None" && address != "") {
        spec.remove("clusterIP");
        spec.remove("clusterIPs");
    }
    spec.remove("healthCheckNodePort");
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(port) = port.as_object_mut() {
            port.remove("nodePort");
        }
    }
}

/// Removes what admission and the scheduler have added: a pod that already has it would be refused, or bound to a node
/// that may be gone.
fn clean_pod(pod: &mut Map<String, Value>) {
    // Admission sets the priority from the priority class again; ephemeral containers can't be created.
    drop_from_spec(pod, &["nodeName", "priority", "preemptionPolicy", "ephemeralContainers"]);
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let is_token = |named: &Value| named["name"].as_str().is_some_and(|name| name.starts_with(TOKEN_VOLUME));
    keep_items(spec, "volumes", |volume| !(is_token(volume) && volume["projected"].is_object()));
    for containers in ["containers", "initContainers"] {
        for container in spec.get_mut(containers).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(container) = container.as_object_mut() {
                keep_items(container, "volumeMounts", |mount| !is_token(mount));
            }
        }
    }
}

/// Removes the automatically created token Secrets, which don't exist any more since Kubernetes 1.24.
fn clean_service_account(name: &str, account: &mut Map<String, Value>) {
    let made = |secret: &Value| {
        let secret = secret["name"].as_str().unwrap_or_default();
        let rest = secret.strip_prefix(name).unwrap_or_default();
        ["-token-", "-dockercfg-"].iter().any(|word| rest.strip_prefix(word).is_some_and(|end| end.len() == 5))
    };
    keep_items(account, "secrets", |secret| !made(secret));
    keep_items(account, "imagePullSecrets", |secret| !made(secret));
}

/// Removes the selector, which the server derives from the new uid, unless the author has chosen it.
fn clean_job(job: &mut Map<String, Value>) {
    let Some(spec) = job.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if spec.get("manualSelector").is_some_and(|manual| manual == true) {
        return;
    }
    spec.remove("selector");
    let template = spec.get_mut("template").and_then(|template| template.get_mut("metadata"));
    if let Some(metadata) = template.and_then(Value::as_object_mut) {
        remove_from(metadata, "labels", &OF_JOB);
    }
    if let Some(metadata) = job.get_mut("metadata").and_then(Value::as_object_mut) {
        remove_from(metadata, "labels", &OF_JOB);
    }
}

fn drop_from_spec(object: &mut Map<String, Value>, names: &[&str]) {
    remove_in(object, &["spec"], names);
}

/// Removes fields of a nested object.
fn remove_in(object: &mut Map<String, Value>, path: &[&str], names: &[&str]) {
    let mut current = object;
    for step in path {
        match current.get_mut(*step).and_then(Value::as_object_mut) {
            Some(next) => current = next,
            None => return,
        }
    }
    for name in names {
        current.remove(*name);
    }
}

/// Removes entries of a map, and the map if it is then empty.
fn remove_from(object: &mut Map<String, Value>, field: &str, names: &[&str]) {
    let Some(map) = object.get_mut(field).and_then(Value::as_object_mut) else { return };
    let before = map.len();
    for name in names {
        map.remove(*name);
    }
    if map.is_empty() && before > 0 {
        object.remove(field);
    }
}

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
