//! Namespaces, whose content goes whatever references say: pods first, then the rest.

use serde_json::{Value, json};

use super::{
    draft::HOLD,
    trial::{Trial, three_ways},
};

fn target(trial: &Trial<'_>) -> Vec<String> {
    vec![format!("ns/{}", trial.namespace)]
}

/// An owner with dependents, some of which have the collector's finalizers.
fn family(trial: &Trial<'_>) {
    let owner = trial.widget("owner").finalizer("orphan").create();
    trial.config_map("dependent").blocking(&owner).create();
    let waits = trial.widget("waits").finalizer("foregroundDeletion").create();
    trial.config_map("awaited").blocking(&waits).create();
}

fn pod(trial: &Trial<'_>, metadata: &Value, node: Option<&str>) {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata.clone(),
        "spec": {"containers": [{"name": "main", "image": "main"}], "terminationGracePeriodSeconds": 1},
    });
    pod["metadata"]["namespace"] = json!(trial.namespace);
    if let Some(node) = node {
        pod["spec"]["nodeName"] = json!(node);
    }
    trial.cluster.create(pod);
}

#[test]
fn a_namespace_goes_with_its_content() {
    three_ways("doomed", |trial| {
        family(trial);
        pod(trial, &json!({"name": "unscheduled"}), None);
        target(trial)
    });
}

#[test]
fn an_object_that_is_held_holds_its_namespace() {
    three_ways("doomed-held", |trial| {
        family(trial);
        let held = trial.widget("held").finalizer(HOLD).create();
        trial.config_map("below-held").blocking(&held).create();
        target(trial)
    });
}

#[test]
fn a_pod_that_is_held_holds_everything() {
    three_ways("doomed-pod", |trial| {
        family(trial);
        pod(trial, &json!({"name": "held", "finalizers": [HOLD]}), None);
        pod(trial, &json!({"name": "goes"}), None);
        target(trial)
    });
}

#[test]
fn a_namespace_can_own_objects_elsewhere() {
    three_ways("doomed-owner", |trial| {
        let elsewhere = trial.another_namespace();
        let path = format!("/api/v1/namespaces/{}", trial.namespace);
        let namespace = trial.cluster.get(&path).expect("it was just made");
        trial.config_map("blocks").in_namespace(&elsewhere).blocking(&namespace).create();
        trial.config_map("inside").blocking(&namespace).create();
        trial.rack("follows").owned_by(&namespace).create();
        target(trial)
    });
}
