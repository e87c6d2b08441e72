//! Pods that stay Terminating because no kubelet ends them (S13), and pods that wait for their own claims (S14).

use serde_json::{Value, json};

use super::{
    examine, follow,
    kit::{aged, is_gone, is_terminating, lease, names, words},
    mends_with, paste,
};
use crate::{
    harness::{Alone, COLLECTOR, Cluster, PATIENCE},
    plan::trial::Trial,
};

fn node(cluster: &Cluster, name: &str) {
    cluster.create(object!("v1 Node", {"name": name}));
}

pub fn a_pod_whose_node_is_gone() {
    // Without a pod garbage collector.
    let cluster = Alone::with(&[COLLECTOR]);
    let trial = Trial::on(&cluster, "no-node", "Foreground");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let owner = trial.widget("owner").create();
    let missing = trial.global("missing");
    let lost = trial.pod_on("lost", &missing).brief().blocking(&owner).create();
    cluster.seen_by_collector(&[crate::harness::uid(&lost)]);
    cluster.delete(&cluster.path_of(&owner), Some("Foreground"), None);
    is_terminating(cluster, &lost);
    aged(cluster, &lost, 20);
    // The pod garbage collector may be about to delete it.
    let found = examine(cluster, &args);
    let finding = found.one("pod-without-kubelet", "lost");
    assert_eq!((&finding["severity"], names(&finding["related"])), (&json!("Warning"), vec!["owner"]), "{finding:#}");
    assert_eq!(found.findings().count(), 1, "{:#}", found.document);
    aged(cluster, &lost, 600);
    // To look for the pod garbage collector comes first; to delete by force is the last step.
    let finding = mends_with(cluster, &args, "pod-without-kubelet", "lost", 1);
    assert_eq!(finding["severity"], "Error");
    assert_eq!(words(&finding, "message"), format!("Its node {missing} does not exist."));
    for gone in [&lost, &owner] {
        is_gone(cluster, gone);
    }
}

pub fn a_pod_whose_kubelet_is_away() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "no-kubelet", "Background");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let [dead, silent, alive] = ["dead", "silent", "alive"].map(|name| trial.global(name));
    for name in [&dead, &silent, &alive] {
        node(cluster, name);
    }
    lease(cluster, "kube-node-lease", &dead, 3600, 40);
    lease(cluster, "kube-node-lease", &alive, 0, 3600);
    let pods = [("on-dead", &dead), ("beside", &dead), ("on-silent", &silent), ("on-alive", &alive), ("runs", &dead)];
    for (name, node) in pods {
        let pod = trial.pod_on(name, node).brief().create();
        if name != "runs" {
            cluster.delete(&cluster.path_of(&pod), Some("Background"), None);
            aged(cluster, &pod, 100);
        }
    }
    let found = examine(cluster, &args);
    assert_eq!(found.findings().count(), 3, "{:#}", found.document);
    let finding = found.one("deletion-in-progress", "on-alive");
    assert!(words(finding, "message").ends_with("until the kubelet ends its containers."), "{finding:#}");
    let finding = found.one("pod-without-kubelet", "on-dead");
    assert_eq!((&finding["severity"], names(&finding["objects"])), (&json!("Error"), vec!["beside", "on-dead"]));
    assert_eq!(
        words(finding, "message"),
        format!("The kubelet on node {dead} does not respond: the lease of its kubelet expired 59m ago.")
    );
    let finding = found.one("pod-without-kubelet", "on-silent");
    assert_eq!(
        words(finding, "message"),
        format!("The kubelet on node {silent} does not respond: it has no Lease, so it has never reported.")
    );
    // To look at the Node comes first, then to say that it is shut down; to delete by force is the last step.
    mends_with(cluster, &args, "pod-without-kubelet", "on-dead", 2);
    let left = cluster.list(&format!("/api/v1/namespaces/{}/pods", trial.namespace));
    let left: Vec<&str> = left.iter().filter_map(|pod| pod["metadata"]["name"].as_str()).collect();
    assert_eq!(left, ["on-alive", "on-silent", "runs"]);
}

/// S14: a pod waits for a claim that it owns, and the claim waits for the pod that uses it.
pub fn a_pod_and_its_claim_that_wait_for_each_other() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "claimed", "Foreground");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let node = trial.node();
    let using = |name: &str| trial.pod_on(&format!("uses-{name}"), &node).uses(name).create();
    let user = using("data");
    let data = trial.claim("data").blocking(&user).create();
    // This claim only waits for a pod that keeps running.
    using("other");
    let other = trial.claim("other").create();
    cluster.delete(&cluster.path_of(&other), Some("Background"), None);
    cluster.seen_by_collector(&[crate::harness::uid(&data)]);
    cluster.delete(&cluster.path_of(&user), Some("Foreground"), None);
    is_terminating(cluster, &data);
    // Ends the pod as the kubelet would.
    cluster.delete(&cluster.path_of(&user), None, Some(0));
    cluster.settled();
    let found = examine(cluster, &args);
    let finding = found.one("pod-claim-deadlock", "uses-data");
    assert_eq!((&finding["severity"], found.findings().count()), (&json!("Error"), 2), "{:#}", found.document);
    assert_eq!(names(&finding["objects"]), ["data", "uses-data"]);
    let waiting = found.one("deletion-in-progress", "other");
    assert_eq!(names(&waiting["related"]), ["uses-other"], "{waiting:#}");
    follow(cluster, finding, 0);
    for gone in [&user, &data] {
        is_gone(cluster, gone);
    }
    let found = examine(cluster, &args);
    assert_eq!(found.findings().count(), 1, "{:#}", found.document);
    found.one("deletion-in-progress", "other");
}

/// A volume with the reclaim policy Delete, the claim that it is bound to, and a pod that uses that.
fn volume_in_use(trial: &Trial<'_>) -> [Value; 3] {
    let (cluster, place, node) = (trial.cluster, trial.namespace.as_str(), trial.node());
    let (volume, capacity) = (trial.global("mail"), json!({"storage": "1Gi"}));
    let volume = cluster.create(object!("v1 PersistentVolume", {"name": volume,
        "spec": {"accessModes": ["ReadWriteOnce"], "capacity": capacity, "hostPath": {"path": "/tmp/nothing"},
            "persistentVolumeReclaimPolicy": "Delete", "claimRef": {"namespace": place, "name": "mail"}}}));
    let claim = cluster.create(object!("v1 PersistentVolumeClaim", {"name": "mail", "namespace": place,
        "finalizers": ["kubernetes.io/pvc-protection"], "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": capacity}, "volumeName": volume["metadata"]["name"]}}));
    let pod = cluster.create(object!("v1 Pod", {"name": "mail-0", "namespace": place, "spec": {"nodeName": node,
                "containers": [{"name": "main", "image": "main"}], "volumes": [{"name": "data",
                "persistentVolumeClaim": {"claimName": "mail"}}]}}));
    [volume, claim, pod]
}

/// R9.15: the claim was deleted, and goes with its data when the pod ends that uses it, unless the volume is kept.
pub fn a_claim_that_a_running_pod_keeps() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "in-use", "Background");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let [volume, claim, pod] = volume_in_use(&trial);
    assert_eq!(examine(cluster, &args).findings().count(), 0);
    cluster.delete(&cluster.path_of(&claim), Some("Background"), None);
    is_terminating(cluster, &claim);
    let found = examine(cluster, &args);
    let finding = found.one("claim-in-use", "mail");
    assert_eq!((&finding["severity"], found.findings().count()), (&json!("Warning"), 1), "{:#}", found.document);
    assert!(words(finding, "message").ends_with("Only Pod/mail-0, which uses it, keeps it."), "{finding:#}");
    assert!(words(finding, "consequence").contains("its volume is deleted with all data on it"), "{finding:#}");
    assert_eq!(finding["remedies"][0]["decides"], true, "nothing is decided by default");
    follow(cluster, finding, 0);
    let kept = cluster.get(&cluster.path_of(&volume)).expect("the volume");
    assert_eq!(kept["spec"]["persistentVolumeReclaimPolicy"], "Retain");
    let found = examine(cluster, &args);
    found.one("deletion-in-progress", "mail");
    assert_eq!(found.findings().count(), 1, "{:#}", found.document);
    // The claim goes with the pod, as foretold.
    cluster.delete(&cluster.path_of(&pod), None, Some(0));
    is_gone(cluster, &claim);
    assert!(cluster.get(&cluster.path_of(&volume)).is_some());
}

/// S9, R9.15: a webhook that can't be asked refuses that the volume is kept, too: it is exempted first. Then everything
/// may pass.
#[test]
#[ignore = "long: a webhook in a cluster of its own"]
fn data_is_kept_past_a_dead_webhook() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "kept-past", "Background");
    let (cluster, place) = (trial.cluster, trial.namespace.as_str());
    let [volume, claim, _] = volume_in_use(&trial);
    cluster.delete(&cluster.path_of(&claim), Some("Background"), None);
    is_terminating(cluster, &claim);
    let guard = cluster.create(object!("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", {
        "name": "guard", "webhooks": [{"name": "guard.odd.test", "admissionReviewVersions": ["v1"],
            "sideEffects": "None", "timeoutSeconds": 1,
            "clientConfig": {"service": {"namespace": place, "name": "missing"}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE", "DELETE"],
                "resources": ["persistentvolumes", "persistentvolumeclaims"]}]}]}));
    let refused = |object: &Value| {
        let body = json!({"metadata": {"labels": {"a": "b"}}});
        let path = format!("{}?dryRun=All", cluster.path_of(object));
        !cluster.ask(&http::Method::PATCH, &path, Some(("application/merge-patch+json", &body))).is_success()
    };
    cluster.wait_until("the webhook to be asked", PATIENCE, || refused(&volume) && refused(&claim));
    let found = examine(cluster, &["-n", place]);
    let finding = found.one("claim-in-use", "mail");
    let commands = finding["remedies"][0]["commands"].as_array().cloned().unwrap_or_default();
    paste(cluster, commands[0].as_str().expect("a command"));
    cluster.wait_until("the exemption to count", PATIENCE, || !refused(&volume));
    assert!(refused(&claim), "everything else is refused as before");
    follow(cluster, finding, 0);
    let kept = cluster.get(&cluster.path_of(&volume)).expect("the volume");
    assert_eq!(kept["spec"]["persistentVolumeReclaimPolicy"], "Retain");
    follow(cluster, finding, 1);
    let passes = cluster.get(&cluster.path_of(&guard)).expect("the webhook");
    assert_eq!(passes["webhooks"][0]["failurePolicy"], "Ignore");
}
