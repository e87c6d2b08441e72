//! Builders for the broken states that the findings describe.

use http::Method;
use serde_json::{Value, json};

use crate::harness::{Cluster, PATIENCE};

/// A time this many seconds ago, in the format of the API server.
pub fn ago(seconds: i64) -> String {
    let time = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(seconds);
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Moves the deletionTimestamp of a terminating object this many seconds into the past. Returns the changed object.
#[track_caller]
pub fn aged(cluster: &Cluster, object: &Value, seconds: i64) -> Value {
    let path = cluster.path_of(object);
    let mut now = cluster.get(&path).unwrap_or_else(|| panic!("{path} is gone"));
    assert!(now["metadata"]["deletionTimestamp"].is_string(), "{path} is not terminating");
    now["metadata"]["deletionTimestamp"] = json!(ago(seconds));
    cluster.store(&now)
}

/// Creates an object with this field manager.
#[track_caller]
pub fn created_by(cluster: &Cluster, manager: &str, object: &Value) -> Value {
    let path = format!("{}?fieldManager={manager}", cluster.collection_of(object));
    let answer = cluster.ask(&Method::POST, &path, Some(("application/json", object)));
    assert!(answer.is_success(), "POST {path}: {} {}", answer.status, answer.text());
    answer.json()
}

/// A Deployment with `wanted` replicas whose status says that `ready` are ready. It never gets a pod.
#[track_caller]
pub fn deployment(cluster: &Cluster, namespace: &str, name: &str, wanted: i64, ready: i64) -> Value {
    let made = cluster.create(crate::harness::deployment(namespace, name, wanted));
    let path = cluster.path_of(&made);
    cluster.patch(&format!("{path}/status"), &json!({"status": {"replicas": ready, "readyReplicas": ready}}))
}

/// A Lease that was renewed `renewed` seconds ago and is valid for `seconds`.
#[track_caller]
pub fn lease(cluster: &Cluster, namespace: &str, name: &str, renewed: i64, seconds: i64) -> Value {
    let renewed = ago(renewed).replace('Z', ".000000Z");
    cluster.create(object!("coordination.k8s.io/v1 Lease", {
        "name": name, "namespace": namespace,
        "spec": {"holderIdentity": format!("{name}-0"), "leaseDurationSeconds": seconds, "renewTime": renewed},
    }))
}

/// Waits until an object is terminating.
#[track_caller]
pub fn is_terminating(cluster: &Cluster, object: &Value) {
    let path = cluster.path_of(object);
    let terminating = || cluster.get(&path).is_some_and(|now| now["metadata"]["deletionTimestamp"].is_string());
    cluster.wait_until(&format!("{path} to be deleted"), PATIENCE, terminating);
}

/// Waits until an object is gone.
#[track_caller]
pub fn is_gone(cluster: &Cluster, object: &Value) {
    let path = cluster.path_of(object);
    cluster.wait_until(&format!("{path} to go"), PATIENCE, || cluster.get(&path).is_none());
}

/// A Namespace to create.
pub fn namespace(name: &str) -> Value {
    object!("v1 Namespace", {"name": name})
}

/// The names of objects in a document, in their order.
pub fn names(objects: &Value) -> Vec<&str> {
    objects.as_array().into_iter().flatten().filter_map(|object| object["name"].as_str()).collect()
}

/// The text of a field.
#[track_caller]
pub fn words<'v>(finding: &'v Value, field: &str) -> &'v str {
    finding[field].as_str().unwrap_or_else(|| panic!("no {field}: {finding:#}"))
}
