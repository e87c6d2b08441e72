//! Claims that pods use, and the controller that protects them meanwhile.

use serde_json::{Value, json};

use super::trial::{Case, Trial, all_come_true, predict, three_ways};
use crate::harness::{Alone, COLLECTOR, NAMESPACES, PATIENCE, POD_GC, text, wait_until};

#[test]
#[ignore = "long: waits for the pod garbage collector"]
fn a_claim_goes_with_a_pod_whose_node_is_gone() {
    three_ways("used-no-node", |trial| {
        let owner = trial.widget("root").create();
        trial.claim("data").blocking(&owner).create();
        trial.pod_on("user", &trial.global("no-node")).uses("data").blocking(&owner).create();
        vec!["widget/root".to_owned()]
    });
}

/// Nothing but the claim needs to know what the pod uses.
#[test]
fn a_claim_that_is_terminating_goes_with_a_pod_that_is_deleted_by_force() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "used-force", "Background");
    let claim = trial.claim("data").create();
    trial.pod_on("user", &trial.node()).uses("data").create();
    trial.cluster.delete(&trial.cluster.path_of(&claim), None, None);
    let case = Case { flags: vec!["--force"], grace: Some(0), ..trial.deleting(vec!["pod/user".to_owned()]) };
    let predicted = predict(vec![case]);
    assert_eq!(predicted[0].outcome("PersistentVolumeClaim", "data"), Some("Deleted"), "{}", predicted[0].plan);
    all_come_true(&predicted);
}

/// The controllers that bind, protect, attach and detach volumes.
const OF_VOLUMES: &[&str] = &[
    COLLECTOR,
    NAMESPACES,
    POD_GC,
    "persistentvolumeclaim-protection-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-attach-detach-controller",
];

/// A Node that has two volumes: these pods use the claim `one`, and the pod `alone` uses `two`, whose VolumeAttachment
/// has a finalizer. Returns the Node's name.
fn attached(trial: &Trial<'_>, users_of_one: &[&str]) -> String {
    let (cluster, node) = (trial.cluster, trial.node());
    let driver = trial.global("attach");
    let managed = json!({"volumes.kubernetes.io/controller-managed-attach-detach": "true"});
    cluster.patch(&format!("/api/v1/nodes/{node}"), &json!({"metadata": {"annotations": managed}}));
    let drivers = json!({"drivers": [{"name": driver, "nodeID": node}]});
    trial.draft("storage.k8s.io/v1", "CSIDriver", &driver, None).spec(json!({"attachRequired": true})).create();
    trial.draft("storage.k8s.io/v1", "CSINode", &node, None).spec(drivers).create();
    for (claim, users) in [("one", users_of_one), ("two", &["alone"])] {
        let volume = trial.global(claim);
        let spec = json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
            "persistentVolumeReclaimPolicy": "Retain", "csi": {"driver": driver, "volumeHandle": claim},
            "claimRef": {"namespace": trial.namespace, "name": claim}});
        trial.draft("v1", "PersistentVolume", &volume, None).spec(spec).create();
        trial.claim(claim).with("storageClassName", json!("")).with("volumeName", json!(volume)).create();
        users.iter().for_each(|user| _ = trial.pod_on(user, &node).uses(claim).create());
    }
    let attachments = "/apis/storage.k8s.io/v1/volumeattachments";
    let made = || {
        let mut all = cluster.list(attachments);
        all.retain(|attachment| attachment["spec"]["nodeName"] == node.as_str());
        all
    };
    wait_until("both volumes to be attached", PATIENCE, || made().len() == 2);
    for attachment in made() {
        let name = text(&attachment["metadata"]["name"]);
        let path = format!("{attachments}/{name}");
        trial.includes(name);
        if attachment["spec"]["source"]["persistentVolumeName"] == trial.global("two") {
            cluster.patch(&path, &json!({"metadata": {"finalizers": ["acme.io/hold"]}}));
        }
        cluster.patch(&format!("{path}/status"), &json!({"status": {"attached": true}}));
    }
    let bound = |claim: &Value| claim["status"]["phase"] == "Bound";
    let claims = format!("/api/v1/namespaces/{}/persistentvolumeclaims", trial.namespace);
    wait_until("both claims to be bound", PATIENCE, || cluster.list(&claims).iter().all(bound));
    node
}

/// R9.49: with the last pod on a Node that uses a volume, the attach-detach controller deletes its VolumeAttachment.
#[test]
fn a_volume_is_detached_with_the_last_pod_that_uses_it() {
    let alone = Alone::with(OF_VOLUMES);
    let trial = |prefix: &str, users: &[&str]| {
        let trial = Trial::on(&alone, prefix, "Background");
        attached(&trial, users);
        trial
    };
    let pods = |names: &[&str]| names.iter().map(|name| format!("pod/{name}")).collect::<Vec<_>>();
    let namespace = trial("detached-all", &["only", "other"]);
    let target = vec![format!("namespace/{}", namespace.namespace)];
    let predicted = predict(vec![
        trial("detached", &["only"]).deleting(pods(&["only", "alone"])),
        trial("detached-not", &["only", "other"]).deleting(pods(&["only"])),
        namespace.deleting(target),
    ]);
    let detached = |plan: &Value| {
        let all = plan["outcomes"].as_array().into_iter().flatten();
        let all = all.filter(|outcome| outcome["object"]["kind"] == "VolumeAttachment");
        all.map(|outcome| text(&outcome["because"]["reason"]).to_owned()).collect::<Vec<_>>()
    };
    let told: Vec<Vec<String>> = predicted.iter().map(|one| detached(&one.plan)).collect();
    assert_eq!(told, [vec!["detached"; 2], vec![], vec!["detached"; 2]]);
    all_come_true(&predicted);
}

#[test]
#[ignore = "long: waits for the pod garbage collector"]
fn a_volume_is_detached_from_a_node_that_is_gone() {
    let alone = Alone::with(OF_VOLUMES);
    let trial = Trial::on(&alone, "detached-node", "Background");
    let node = attached(&trial, &["only"]);
    all_come_true(&predict(vec![trial.deleting(vec![format!("node/{node}")])]));
}
