//! Claims that pods use, and the controller that protects them meanwhile.

use serde_json::{Value, json};

use super::{
    draft::blocking,
    trial::{Case, Trial, all_come_true, predict, three_ways, three_ways_on},
};
use crate::harness::Alone;

const PROTECTION: &str = "kubernetes.io/pvc-protection";

/// A claim with the protection finalizer, which an admission plugin usually adds.
fn claim(trial: &Trial<'_>, owners: &[Value]) -> Value {
    trial.cluster.create(json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": trial.namespace, "finalizers": [PROTECTION],
            "ownerReferences": owners},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }))
}

/// A pod that uses the claim; on this node, if one is given.
fn user(trial: &Trial<'_>, node: Option<&str>, owners: &[Value]) -> Value {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "user", "namespace": trial.namespace, "ownerReferences": owners},
        "spec": {
            "containers": [{"name": "main", "image": "main"}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
        },
    });
    if let Some(node) = node {
        pod["spec"]["nodeName"] = json!(node);
    }
    trial.cluster.create(pod)
}

fn target() -> Vec<String> {
    vec!["pvc/data".to_owned()]
}

#[test]
fn a_claim_that_nobody_uses_goes() {
    three_ways("unused", |trial| {
        let claim = claim(trial, &[]);
        trial.config_map("dependent").blocking(&claim).create();
        target()
    });
}

#[test]
fn a_claim_stays_for_as_long_as_a_pod_uses_it() {
    three_ways_on(&Alone::usual(), "used", |trial| {
        claim(trial, &[]);
        user(trial, Some(&trial.node()), &[]);
        target()
    });
}

#[test]
fn a_pod_that_was_never_scheduled_uses_nothing() {
    three_ways("used-by-nobody", |trial| {
        claim(trial, &[]);
        user(trial, None, &[]);
        target()
    });
}

#[test]
fn a_claim_goes_after_the_pod_that_used_it() {
    three_ways_on(&Alone::usual(), "used-below", |trial| {
        let owner = trial.widget("root").create();
        claim(trial, &[blocking(&owner)]);
        user(trial, Some(&trial.node()), &[blocking(&owner)]);
        vec!["widget/root".to_owned()]
    });
}

#[test]
#[ignore = "long: waits for the pod garbage collector"]
fn a_claim_goes_with_a_pod_whose_node_is_gone() {
    three_ways("used-no-node", |trial| {
        let owner = trial.widget("root").create();
        claim(trial, &[blocking(&owner)]);
        user(trial, Some(&trial.global("no-node")), &[blocking(&owner)]);
        vec!["widget/root".to_owned()]
    });
}

#[test]
fn a_pod_and_its_own_claim_can_wait_for_each_other() {
    three_ways_on(&Alone::usual(), "used-by-owner", |trial| {
        let pod = user(trial, Some(&trial.node()), &[]);
        claim(trial, &[blocking(&pod)]);
        vec!["pod/user".to_owned()]
    });
}

/// Nothing but the claim needs to know what the pod uses.
#[test]
fn a_claim_that_is_terminating_goes_with_a_pod_that_is_deleted_by_force() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "used-force", "Background");
    let claim = claim(&trial, &[]);
    user(&trial, Some(&trial.node()), &[]);
    trial.cluster.delete(&trial.cluster.path_of(&claim), None, None);
    let case = Case { flags: vec!["--force"], grace: Some(0), ..trial.deleting(vec!["pod/user".to_owned()]) };
    let predicted = predict(vec![case]);
    assert_eq!(predicted[0].outcome("PersistentVolumeClaim", "data"), Some("Deleted"), "{}", predicted[0].plan);
    all_come_true(&predicted);
}
