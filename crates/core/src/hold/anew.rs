//! How a held object is created again: first in a form that makes its controller start nothing, then as it was.

use serde_json::{Map, Value, json};

use crate::model::{FOREGROUND_FINALIZER, HOLD, ORPHAN_FINALIZER, UNCANCELLED};

use super::LABEL;

/// The value of `spec.managedBy` of Jobs that are Kubernetes' own (pkg/apis/batch).
pub(super) const JOB_CONTROLLER: &str = "kubernetes.io/job-controller";

/// The fields that the server sets in every object.
const METADATA: [&str; 8] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
];

/// The two forms of an object that is created again.
#[derive(Clone, Debug, PartialEq)]
pub struct Anew {
    /// The body of the request that creates it.
    pub body: Value,
    /// A merge patch of the spec that makes it what it was, once its dependents have their references; none if it is.
    pub afterwards: Option<Value>,
}

/// A merge patch that removes the label by which an interrupted run finds the object again.
pub fn without_label() -> Value {
    json!({"metadata": {"labels": {LABEL: null}}})
}

impl Anew {
    /// Of the object as it was last; `lost` are the uids of owners that don't exist any more.
    pub fn of(group: &str, whole: &Value, has_status: bool, lost: &[String]) -> Self {
        let mut body = whole.clone();
        if let Some(fields) = body.as_object_mut() {
            if has_status {
                fields.remove("status");
            }
            if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
                drop_server_fields(metadata);
                drop_finalizers_of_deletion(metadata);
                keep_items(metadata, "ownerReferences", |owner| !lost.iter().any(|uid| owner["uid"] == **uid));
                let labels = metadata.entry("labels").or_insert_with(|| json!({}));
                labels[LABEL] = whole["metadata"]["uid"].clone();
            }
        }
        let kind = whole["kind"].as_str().unwrap_or_default();
        let afterwards = match (group, kind) {
            // A new Deployment would create another ReplicaSet before it sees those that are there
            // (pkg/controller/deployment: getNewReplicaSet); one that is paused doesn't.
            ("apps", "Deployment") => Some(json!({"paused": set(&mut body, "paused", json!(true))})),
            // A new CronJob could start a Job, because it doesn't know when it started the last.
            ("batch", "CronJob") => Some(json!({"suspend": set(&mut body, "suspend", json!(true))})),
            ("batch", "Job") => Some(job(&mut body, whole)),
            _ => None,
        };
        let afterwards = afterwards.filter(|fields| {
            fields.as_object().is_some_and(|fields| fields.iter().any(|(field, value)| body["spec"][field] != *value))
        });
        Anew { body, afterwards: afterwards.map(|spec| json!({ "spec": spec })) }
    }
}

/// A Job with the selector and the template labels that it had, so that it finds its Pods; the server would derive
/// others from its new uid (pkg/registry/batch/job: generateSelector). It wants as many Pods as run, until its
/// controller has counted those that have finished.
fn job(body: &mut Value, whole: &Value) -> Value {
    set(body, "manualSelector", json!(true));
    let active = whole["status"]["active"].as_i64().unwrap_or(0);
    json!({"parallelism": set(body, "parallelism", json!(active))})
}

/// Sets a field of the spec, and returns its value before.
fn set(object: &mut Value, field: &str, value: Value) -> Value {
    let before = object["spec"][field].take();
    object["spec"][field] = value;
    before
}

/// Removes what the server sets in every object.
pub(crate) fn drop_server_fields(metadata: &mut Map<String, Value>) {
    for field in METADATA {
        metadata.remove(field);
    }
}

/// Removes the foreground and orphan finalizers and those of a hold, which belong to the deletion that the restore
/// undoes: with one of the collector's, a later delete of the new object would follow that policy whatever its own is.
/// Keeps all other finalizers: their controllers would add them at once, but a delete before that must not leave behind
/// what they guard.
pub(crate) fn drop_finalizers_of_deletion(metadata: &mut Map<String, Value>) {
    let Some(finalizers) = metadata.get_mut("finalizers").and_then(Value::as_array_mut) else { return };
    let of_deletion = [FOREGROUND_FINALIZER, ORPHAN_FINALIZER, HOLD, UNCANCELLED];
    finalizers.retain(|finalizer| !of_deletion.iter().any(|name| finalizer == name));
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    }
}

/// Keeps some items of a list, and removes the list if it is then empty.
pub(crate) fn keep_items(object: &mut Map<String, Value>, field: &str, keep: impl FnMut(&Value) -> bool) {
    let Some(list) = object.get_mut(field).and_then(Value::as_array_mut) else { return };
    let before = list.len();
    list.retain(keep);
    if list.is_empty() && before > 0 {
        object.remove(field);
    }
}

/// Whether a Job is complete or has failed (pkg/controller/job/util: IsJobFinished).
pub fn has_finished(job: &Value) -> bool {
    let is_end = |condition: &Value| {
        ["Complete", "Failed"].iter().any(|end| condition["type"] == **end) && condition["status"] == "True"
    };
    job["kind"] == "Job" && job["status"]["conditions"].as_array().is_some_and(|all| all.iter().any(is_end))
}

/// How many Pods a Job's status counts.
pub fn counted_pods(job: &Value) -> i64 {
    let status = &job["status"];
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    let numbers = ["active", "terminating", "succeeded", "failed"].map(number);
    let uncounted = ["succeeded", "failed"].map(|end| {
        status["uncountedTerminatedPods"][end].as_array().map_or(0, |pods| i64::try_from(pods.len()).unwrap_or(0))
    });
    numbers.iter().chain(&uncounted).sum()
}

/// Whether the status of a held object says that its controller sees none of its dependents any more. Its controller
/// still counts them while the object is Terminating. Objects of kinds that adopt nothing always say so.
pub fn counts_none(group: &str, live: &Value) -> bool {
    let counted = match (group, live["kind"].as_str().unwrap_or_default()) {
        ("apps", "Deployment" | "ReplicaSet" | "StatefulSet") | ("", "ReplicationController") => "replicas",
        ("batch", "Job") => "active",
        _ => return true,
    };
    live["status"][counted].as_i64().unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anew(group: &str, kind: &str, spec: Value, status: Value) -> Anew {
        let whole = json!({"apiVersion": format!("{group}/v1"), "kind": kind,
            "metadata": {"name": "a", "namespace": "shop", "uid": "u", "resourceVersion": "7", "generation": 3,
                "labels": {"app": "a"}, "finalizers": [HOLD, UNCANCELLED], "managedFields": [{}],
                "ownerReferences": [{"uid": "gone"}, {"uid": "there"}]},
            "spec": spec, "status": status});
        Anew::of(group, &whole, true, &["gone".to_owned()])
    }

    #[test]
    fn the_server_s_fields_are_left_to_it() {
        let Anew { body, afterwards } = anew("acme.io", "Shop", json!({"size": 1}), json!({"ready": true}));
        let metadata = json!({"name": "a", "namespace": "shop", "labels": {"app": "a", LABEL: "u"},
            "ownerReferences": [{"uid": "there"}]});
        assert_eq!((&body["metadata"], &body["spec"], body.get("status")), (&metadata, &json!({"size": 1}), None));
        assert_eq!(afterwards, None);
    }

    #[test]
    fn a_deployment_is_paused_until_it_has_its_replica_sets() {
        let Anew { body, afterwards } = anew("apps", "Deployment", json!({"replicas": 3}), json!({}));
        assert_eq!(body["spec"], json!({"replicas": 3, "paused": true}));
        assert_eq!(afterwards, Some(json!({"spec": {"paused": null}})));
        assert_eq!(anew("apps", "Deployment", json!({"paused": true}), json!({})).afterwards, None);
        let cron = anew("batch", "CronJob", json!({"suspend": false}), json!({}));
        assert_eq!(
            (&cron.body["spec"]["suspend"], cron.afterwards),
            (&json!(true), Some(json!({"spec": {"suspend": false}})))
        );
    }

    #[test]
    fn a_job_wants_no_more_than_run() {
        let selector = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}});
        let spec = json!({"parallelism": 3, "completions": 5, "selector": selector, "suspend": false});
        let running = anew("batch", "Job", spec.clone(), json!({"active": 2, "succeeded": 3}));
        assert_eq!(
            running.body["spec"],
            json!({"parallelism": 2, "completions": 5, "selector": selector,
            "suspend": false, "manualSelector": true})
        );
        assert_eq!(running.afterwards, Some(json!({"spec": {"parallelism": 3}})));
        let end = json!({"conditions": [{"type": "Complete", "status": "True"}]});
        let over = anew("batch", "Job", spec, end);
        assert_eq!((&over.body["spec"]["parallelism"], over.afterwards), (&json!(0), running.afterwards));
    }

    #[test]
    fn a_controller_that_counts_none_has_seen_the_guards() {
        let object = |kind: &str, status: Value| json!({"kind": kind, "status": status});
        assert!(!counts_none("apps", &object("StatefulSet", json!({"replicas": 1}))));
        assert!(counts_none("apps", &object("StatefulSet", json!({"replicas": 0}))));
        assert!(!counts_none("batch", &object("Job", json!({"active": 1}))));
        assert!(counts_none("batch", &object("Job", json!({"succeeded": 1}))));
        assert!(counts_none("acme.io", &object("StatefulSet", json!({"replicas": 1}))));
    }
}
