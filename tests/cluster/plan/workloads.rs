//! StatefulSets, Jobs and CronJobs with the controllers that create their pods and claims.

use serde_json::{Value, json};

use super::{
    draft::blocking,
    trial::{Trial, all_come_true, predict, wait_for_items},
};
use crate::harness::{PATIENCE, uid, wait_until};

fn pod() -> Value {
    json!({"containers": [{"name": "main", "image": "main"}], "restartPolicy": "Always"})
}

/// A StatefulSet of two pods, with a claim each that is deleted with the StatefulSet.
pub fn stateful_set(trial: &Trial<'_>) -> Vec<String> {
    let labels = json!({"app": "db"});
    trial.cluster.create(object!("apps/v1 StatefulSet", {
        "name": "db", "namespace": trial.namespace,
        "spec": {
            "replicas": 2,
            "serviceName": "db",
            "podManagementPolicy": "Parallel",
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"},
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod()},
            "volumeClaimTemplates": [{
                "metadata": {"name": "data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }],
        },
    }));
    wait_for_items(trial.cluster, &format!("/api/v1/namespaces/{}/pods", trial.namespace), 2);
    let claims = format!("/api/v1/namespaces/{}/persistentvolumeclaims", trial.namespace);
    let is_owned = |claim: &Value| claim["metadata"]["ownerReferences"].is_array();
    wait_until("the claims to be owned", PATIENCE, || {
        let claims = trial.cluster.list(&claims);
        claims.len() == 2 && claims.iter().all(is_owned)
    });
    vec!["statefulset/db".to_owned()]
}

/// A Job of two pods that never run; a CronJob owns it, if one is given.
pub fn job(trial: &Trial<'_>, owner: Option<&Value>) {
    let mut template = pod();
    template["restartPolicy"] = json!("Never");
    let mut job = object!("batch/v1 Job", {
        "name": "batch", "namespace": trial.namespace,
        "spec": {"parallelism": 2, "completions": 2, "template": {"spec": template}},
    });
    if let Some(owner) = owner {
        let mut reference = blocking(owner);
        reference["controller"] = json!(true);
        job["metadata"]["ownerReferences"] = json!([reference]);
    }
    trial.cluster.create(job);
    let pods = wait_for_items(trial.cluster, &format!("/api/v1/namespaces/{}/pods", trial.namespace), 2);
    let tracked = |pod: &Value| pod["metadata"]["finalizers"] == json!(["batch.kubernetes.io/job-tracking"]);
    assert!(pods.iter().all(tracked), "{pods:?}");
}

/// A suspended CronJob `nightly` with a Job.
pub fn cron_job(trial: &Trial<'_>) {
    let mut template = pod();
    template["restartPolicy"] = json!("Never");
    let owner = trial.cluster.create(object!("batch/v1 CronJob", {
        "name": "nightly", "namespace": trial.namespace,
        "spec": {"schedule": "0 0 1 1 *", "suspend": true, "jobTemplate": {"spec": {"template": {"spec": template}}}},
    }));
    job(trial, Some(&owner));
}

/// A Deployment of two pods. Returns its ReplicaSet's name.
pub fn replica_set(trial: &Trial<'_>) -> String {
    trial.deployment(2);
    let pods = trial.cluster.list(&format!("/api/v1/namespaces/{}/pods", trial.namespace));
    pods[0]["metadata"]["ownerReferences"][0]["name"].as_str().unwrap_or_default().to_owned()
}

/// Whether one of the plan's assumptions contains these words.
fn assumes(plan: &Value, words: &str) -> bool {
    plan["assumes"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|assumed| assumed.as_str().is_some_and(|assumed| assumed.contains(words)))
}

#[test]
fn a_replica_set_below_a_deployment_that_makes_another() {
    let cases = ["Background", "Foreground"].map(|policy| {
        let trial = Trial::new("replica-set", policy);
        let set = replica_set(&trial);
        trial.deleting(vec![format!("replicaset/{set}")])
    });
    let predicted = predict(cases.into());
    for one in &predicted {
        assert!(
            assumes(&one.plan, "Deployment/web stays and may create objects again"),
            "{}: {}",
            one.case.trial.policy,
            one.plan["assumes"]
        );
        assert_eq!(one.plan["summary"]["recreated"], 3, "{}: {}", one.case.trial.policy, one.plan["outcomes"]);
    }
    all_come_true(&predicted);
    for one in &predicted {
        wait_for_items(one.case.trial.cluster, &format!("/api/v1/namespaces/{}/pods", one.case.trial.namespace), 2);
    }
}

/// R9.1: the controller recreates what the plan says it recreates.
#[test]
fn a_pod_of_a_living_replica_set_is_made_anew() {
    let trial = Trial::new("made-anew", "Background");
    let set = replica_set(&trial);
    let pods = format!("/api/v1/namespaces/{}/pods", trial.namespace);
    let before = trial.cluster.list(&pods);
    let name = before[0]["metadata"]["name"].as_str().unwrap_or_default();
    let predicted = predict(vec![trial.deleting(vec![format!("pod/{name}")])]);
    let (trial, plan) = (&predicted[0].case.trial, &predicted[0].plan);
    let afterwards = &plan["outcomes"][0]["afterwards"];
    assert_eq!(
        (&afterwards[0]["what"], &afterwards[0]["by"]["name"]),
        (&json!("recreated"), &json!(set)),
        "{}",
        plan["outcomes"]
    );
    assert_eq!(plan["summary"]["recreated"], 1);

    predicted[0].delete();
    let is_new = |pod: &&Value| before.iter().all(|was| uid(was) != uid(pod));
    wait_until("another pod in its place", PATIENCE, || {
        let pods = trial.cluster.list(&pods);
        pods.len() == 2 && pods.iter().filter(is_new).count() == 1
    });
}

/// Orphaned pods get a new ReplicaSet as owner: the plan doesn't simulate that, but says so.
#[test]
fn pods_that_are_orphaned_below_a_deployment_are_adopted() {
    let trial = Trial::new("adopted", "Orphan");
    let set = replica_set(&trial);
    let predicted = predict(vec![trial.deleting(vec![format!("replicaset/{set}")])]);
    let (trial, plan) = (&predicted[0].case.trial, &predicted[0].plan);
    // Who adopts was read: it is told, not assumed.
    assert!(
        !assumes(plan, "adopts") && assumes(plan, "Deployment/web stays and may create objects again"),
        "{}",
        plan["assumes"]
    );
    assert_eq!(plan["summary"]["orphaned"], 2, "{}", plan["outcomes"]);
    let orphaned = plan["outcomes"].as_array().into_iter().flatten().filter(|outcome| outcome["outcome"] == "Orphaned");
    let whats: Vec<&Value> = orphaned.map(|outcome| &outcome["afterwards"][0]["what"]).collect();
    assert_eq!(whats, ["adopted", "adopted"], "{}", plan["outcomes"]);

    let pods = format!("/api/v1/namespaces/{}/pods", trial.namespace);
    let before = trial.cluster.list(&pods);
    predicted[0].delete();
    let adopted = |pod: &Value| {
        let was =
            before.iter().find(|was| uid(was) == uid(pod)).map(|was| &was["metadata"]["ownerReferences"][0]["uid"]);
        let owner = &pod["metadata"]["ownerReferences"][0];
        was.is_some_and(|was| owner["kind"] == "ReplicaSet" && owner["uid"] != *was)
    };
    wait_until("the same two pods to be adopted", PATIENCE, || {
        let pods = trial.cluster.list(&pods);
        pods.len() == 2 && pods.iter().all(adopted)
    });
}
