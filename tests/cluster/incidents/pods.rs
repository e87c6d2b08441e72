//! Pods that no kubelet ends.

use serde_json::json;

use super::{Incident, cluster, collector::dead, incident, of_namespace};
use crate::{doctor::kit::lease, plan::trial::Trial};

/// A Node whose kubelet reported for the last time an hour ago.
pub fn dead_node(trial: &Trial<'_>) -> String {
    let name = trial.global("dead");
    let node = trial.cluster.create(object!("v1 Node", {"name": name}));
    let ready = json!([{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]);
    trial.cluster.patch(&format!("{}/status", trial.cluster.path_of(&node)), &json!({"status": {"conditions": ready}}));
    lease(trial.cluster, "kube-node-lease", &name, 3600, 40);
    name
}

pub fn on_a_node_that_is_not_ready() {
    let trial = Trial::on(cluster(), "not-ready", "Background");
    let node = dead_node(&trial);
    let lost = trial.pod_on("lost", &node).brief().create();
    Incident { aged: vec![lost.clone()], gone: vec![lost], ..incident(&trial, &["pods/lost"], &[&node]) }.play();
}

/// The pod garbage collector died with the controller manager.
pub fn on_a_node_that_does_not_exist() {
    let cluster = dead();
    let trial = Trial::on(&cluster, "no-node", "Background");
    let node = trial.global("missing");
    let lost = trial.pod_on("lost", &node).brief().create();
    let incident = incident(&trial, &["pods/lost"], &[&node]);
    Incident { collected: false, aged: vec![lost.clone()], gone: vec![lost], ..incident }.play();
}

pub fn in_a_namespace() {
    let trial = Trial::on(cluster(), "dead-node", "Background");
    let node = dead_node(&trial);
    let lost = trial.pod_on("lost", &node).brief().create();
    Incident { aged: vec![lost], ..of_namespace(&trial, &trial.namespace, &["lost", &node]) }.play();
}

/// The pod that uses the claim can't end: its kubelet is dead.
pub fn a_claim_in_use() {
    let trial = Trial::on(cluster(), "in-use", "Background");
    let node = dead_node(&trial);
    let claim = trial.claim("data").create();
    let lost = trial.pod_on("lost", &node).brief().uses("data").create();
    let delete = ["pods/lost", "persistentvolumeclaims/data"];
    Incident { aged: vec![lost.clone()], gone: vec![lost, claim], ..incident(&trial, &delete, &[&node]) }.play();
}
