//! What plans say beyond owner references, read from a real API server: volumes, load balancers, pods of a Node, the
//! object's own policies.

use serde_json::{Value, json};

use super::trial::{Trial, predict};
use crate::harness::{Alone, PATIENCE, Retry, poll};

/// A claim and the volume that is bound to it.
fn bound(trial: &Trial<'_>, name: &str, policy: &str) {
    let volume = trial.global(name);
    trial.cluster.create(object!("v1 PersistentVolume", {
        "name": volume,
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "persistentVolumeReclaimPolicy": policy,
            "hostPath": {"path": "/tmp/kubectl-gc-no-such-folder/data"},
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": trial.namespace,
                "name": name},
        },
    }));
    // No controller binds them here.
    let status = json!({"status": {"phase": "Bound"}});
    trial.cluster.patch(&format!("/api/v1/persistentvolumes/{volume}/status"), &status);
    trial.cluster.create(object!("v1 PersistentVolumeClaim", {
        "name": name, "namespace": trial.namespace,
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "",
            "volumeName": volume,
        },
    }));
}

fn service(trial: &Trial<'_>, name: &str, kind: &str) {
    trial.cluster.create(object!("v1 Service", {
        "name": name, "namespace": trial.namespace,
        "spec": {"type": kind, "ports": [{"port": 80}]},
    }));
}

/// `Kind/name effect-kind` of each effect, in alphabetical order.
fn effects(plan: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let describe = plan["effects"].as_array().into_iter().flatten().map(|effect| {
        let object = &effect["object"];
        format!("{}/{} {}", text(&object["kind"]), text(&object["name"]), text(&effect["kind"]))
    });
    let mut describe: Vec<String> = describe.collect();
    describe.sort();
    describe
}

#[test]
fn what_decides_outside_is_read_right_and_kept_in_snapshots() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "outside", "Background");
    bound(&trial, "lost", "Delete");
    bound(&trial, "kept", "Retain");
    service(&trial, "front", "LoadBalancer");
    service(&trial, "back", "ClusterIP");
    for (name, policy) in [("real", "Delete"), ("spared", "Orphan")] {
        let widget = trial.widget(name).finalizer("finalizer.managedresource.crossplane.io").create();
        let spec = json!({"deletionPolicy": policy, "managementPolicies": ["*"]});
        trial.cluster.patch(&trial.cluster.path_of(&widget), &json!({ "spec": spec }));
    }
    let targets = ["pvc/lost", "pvc/kept", "service/front", "service/back", "widget/real", "widget/spared"];
    let expected = [
        "PersistentVolumeClaim/kept data-kept",
        "PersistentVolumeClaim/lost data-loss",
        "Service/front load-balancer-released",
        "Widget/real external-deleted",
        "Widget/spared external-kept",
    ];
    let predicted = predict(vec![trial.deleting(targets.map(str::to_owned).to_vec())]);
    let (trial, plan) = (&predicted[0].case.trial, &predicted[0].plan);
    assert_eq!(effects(plan), expected, "{}", plan["effects"]);
    let lost = plan["effects"].as_array().into_iter().flatten().find(|effect| effect["object"]["name"] == "lost");
    assert_eq!(lost.map(|effect| &effect["related"][0]["name"]), Some(&json!(trial.global("lost"))));

    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("cluster.json");
    let path = path.to_str().expect("a temporary folder has a readable name");
    let taken = poll(PATIENCE, || {
        let ran = trial.cluster.gc(&["snapshot", "--force", "-o", path]);
        if ran.stderr.contains("Could not list") { Err(Retry::Later(ran.stderr)) } else { Ok(ran.expect(0).to_owned()) }
    });
    taken.unwrap_or_else(|gaps| panic!("{gaps}"));
    let args = [&["plan", "-o", "json", "-n", &trial.namespace, "--from", path][..], &targets].concat();
    assert_eq!(effects(&trial.cluster.gc(&args).json()), expected, "a snapshot tells the same");
}
