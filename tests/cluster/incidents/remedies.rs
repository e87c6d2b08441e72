//! First remedies that follow from the cause, not from the kind of trouble.

use http::Method;
use serde_json::{Value, json};

use super::{
    Incident,
    add_ons::controller,
    admission,
    causes::{acme, of_two_causes},
    cluster,
    collector::dead,
    incident,
    pods::dead_node,
    with_add_ons,
};
use crate::{
    doctor::kit::created_by,
    harness::{Alone, PATIENCE, WORKLOADS},
    plan::{draft::HOLD, trial::Trial},
};

pub fn an_object_with_two_finalizers() {
    let trial = Trial::on(cluster(), "twice", "Background");
    let held = trial.secret("twice").finalizer(HOLD).finalizer("odd.io/keep").create();
    let incident = incident(&trial, &["secrets/twice"], &[HOLD, "odd.io/keep"]);
    of_two_causes(Incident { aged: vec![held.clone()], ..incident }, &held);
}

/// The finalizer was added with kubectl; the operator that is called after its domain, and is scaled to zero, removes
/// it all the same.
pub fn a_finalizer_that_somebody_added() {
    let cluster: Alone = with_add_ons();
    let trial = Trial::on(&cluster, "added", "Background");
    let elsewhere = trial.another_namespace();
    let (group, kind, finalizer, [sort, name]) = acme("pg-operator");
    let operator = controller(trial.cluster, &elsewhere, sort, name, name, 0);
    let metadata = json!({"name": "managed", "namespace": trial.namespace});
    let object = json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": metadata});
    let held = created_by(trial.cluster, name, &object);
    let edit = format!("{}?fieldManager=kubectl-edit", trial.cluster.path_of(&held));
    trial.cluster.patch(&edit, &json!({"metadata": {"finalizers": [finalizer]}}));
    let incident = incident(&trial, &["pgclusters.pg.acme.io/managed"], &[finalizer, name]);
    Incident { aged: vec![held.clone()], gone: vec![held], operator: Some(operator), ..incident }.play();
}

/// A Deployment whose pod is on this node, with these finalizers; and the pod.
fn deployment(trial: &Trial<'_>, node: &str, finalizers: &[&str]) -> [Value; 2] {
    let mut made = crate::harness::deployment(&trial.namespace, "web", 1);
    made["spec"]["template"]["metadata"]["finalizers"] = json!(finalizers);
    made["spec"]["template"]["spec"]["nodeName"] = json!(node);
    let made = trial.cluster.create(made);
    let pods = format!("/api/v1/namespaces/{}/pods", trial.namespace);
    trial.cluster.wait_until("its pod", PATIENCE, || !trial.cluster.list(&pods).is_empty());
    let mut pod = trial.cluster.list(&pods).swap_remove(0);
    (pod["apiVersion"], pod["kind"]) = (json!("v1"), json!("Pod"));
    [made, pod]
}

pub fn a_deployment_with_a_pod_on_a_dead_node() {
    let trial = Trial::on(cluster(), "deployed", "Foreground");
    let node = dead_node(&trial);
    let [deployment, pod] = deployment(&trial, &node, &[]);
    let incident = incident(&trial, &["deployments/web", "--propagation=foreground"], &[&node]);
    Incident { aged: vec![pod.clone()], gone: vec![pod, deployment], ..incident }.play();
}

pub fn a_deployment_whose_pod_has_a_finalizer() {
    let trial = Trial::on(cluster(), "drained", "Foreground");
    let [deployment, pod] = deployment(&trial, "", &["acme.io/drain"]);
    let incident = incident(&trial, &["deployments/web", "--propagation=foreground"], &["acme.io/drain"]);
    Incident { aged: vec![pod], gone: vec![deployment], ..incident }.play();
}

/// A policy refuses to delete the pod that has ended: what refuses goes first.
pub fn a_claim_whose_ended_pod_may_not_be_deleted() {
    let cluster: Alone = with_add_ons();
    let trial = Trial::on(&cluster, "ended-kept", "Background");
    let claim = trial.claim("data").create();
    let ended = trial.pod_on("ended", "worker-of-old").brief().uses("data").create();
    let status = format!("{}/status", cluster.path_of(&ended));
    cluster.patch(&status, &json!({"status": {"phase": "Failed"}}));
    trial.refusing(&["DELETE"], "pods", "false");
    admission::is_asked(&trial, &ended, &Method::DELETE);
    let incident = incident(&trial, &["persistentvolumeclaims/data"], &["ended"]);
    of_two_causes(Incident { aged: vec![claim.clone()], ..incident }, &claim);
}

/// Nobody deletes anything: an object is left whose owner's kind is no longer served.
pub fn a_leftover_of_a_kind_that_is_not_served() {
    let trial = Trial::on(cluster(), "leftover", "Background");
    let left = trial.config_map("left").reference(trial.unserved()).create();
    trial.cluster.seen_by_collector(&[crate::harness::uid(&left)]);
    incident(&trial, &[], &["left", "Ghost"]).play();
}

/// The Job controller, which died with the controller manager, would remove the finalizer.
pub fn a_pod_of_a_job_that_nobody_runs() {
    let cluster = dead();
    let trial = Trial::on(&cluster, "job", "Background");
    let mut lost =
        json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "main", "image": "main"}]}});
    lost["metadata"] = json!({"name": "lost", "namespace": trial.namespace,
        "finalizers": ["batch.kubernetes.io/job-tracking"]});
    let lost = cluster.create(&lost);
    let incident = incident(&trial, &["pods/lost"], &["batch.kubernetes.io/job-tracking"]);
    let manager = Some((&cluster, WORKLOADS));
    Incident { collected: false, manager, aged: vec![lost.clone()], gone: vec![lost], ..incident }.play();
}
