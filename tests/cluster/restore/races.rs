//! What controllers would make themselves if it came back after them: claims, ReplicaSets and pods are restored first,
//! and adopted.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::kit::{Archives, describe, outcomes, restore, text};
use crate::harness::{Alone, CLAIM_PROTECTION, COLLECTOR, Cluster, Options, PATIENCE, WORKLOADS, uid};

/// A cluster with all controllers of workloads, of volumes, and with the collector.
fn alive() -> &'static Cluster {
    static ALIVE: LazyLock<Alone> = LazyLock::new(|| {
        let cluster = Alone::start(&Options::default());
        let volumes = ["persistentvolume-binder-controller", "ephemeral-volume-controller", "daemonset-controller"];
        cluster.start_controllers(&[&[COLLECTOR, CLAIM_PROTECTION], &volumes[..], WORKLOADS].concat());
        cluster
    });
    &ALIVE
}

fn names(objects: &[Value]) -> Vec<&str> {
    objects.iter().map(|object| text(&object["metadata"]["name"])).collect()
}

/// A StatefulSet that owns its claims. The volume of the first is reserved for it.
fn stateful_set(namespace: &str) -> Value {
    let labels = json!({"app": "db"});
    let resources = json!({"requests": {"storage": "1Gi"}});
    let claim = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": resources});
    object!("apps/v1 StatefulSet", {"name": "db", "namespace": namespace, "spec": {"replicas": 3, "serviceName": "db",
            "podManagementPolicy": "Parallel", "selector": {"matchLabels": labels},
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "main"}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}]}})
}

fn volume(name: &str, namespace: &str) -> Value {
    object!("v1 PersistentVolume", {"name": name, "spec": {"capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}, "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "", "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "namespace": namespace, "name": "data-db-0"}}})
}

/// A volume that was kept waits for the claim that was deleted. It is reserved for the claim that is restored, or that
/// another client has made anew: without that, a database would start with an empty one beside its data.
#[test]
fn a_claim_gets_the_volume_back_that_was_kept() {
    let (cluster, archives) = (alive(), Archives::new());
    let namespace = cluster.namespace("kept");
    let kept = cluster.create(volume(&namespace, &namespace));
    let resources = json!({"requests": {"storage": "1Gi"}});
    let made = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-db-0", "namespace": namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": resources}});
    let claim = cluster.create(made.clone());
    let phase = |object: &Value| cluster.get(&cluster.path_of(object)).map(|it| it["status"]["phase"].clone());
    cluster.wait_until("the claim", PATIENCE, || phase(&claim) == Some(json!("Bound")));
    for (archive, is_there, outcome) in [("kept.yaml", false, "Created"), ("again.yaml", true, "Same")] {
        let archive = archives.path(archive);
        let flag = format!("--archive={}", archive.display());
        cluster.gc(&["delete", "pvc/data-db-0", "-n", &namespace, "--yes", &flag]).expect(0);
        cluster.wait_until("the volume to be released", PATIENCE, || phase(&kept) == Some(json!("Released")));
        if is_there {
            cluster.create(made.clone());
        }

        let path = archive.to_str().expect("a path");
        let dry_run = cluster.gc(&["restore", path, "--dry-run"]);
        let back = format!("gets PersistentVolume/{namespace} back, with its data");
        assert!(dry_run.stdout.contains(&back), "{}", dry_run.stdout);
        assert_eq!(phase(&kept), Some(json!("Released")), "a dry run reserves nothing");
        let ran = restore(cluster, &archive, &[]).ended(0);
        let told = describe(&ran, "PersistentVolumeClaim/data-db-0");
        assert_eq!((&told["outcome"], &told["volume"]), (&json!(outcome), &json!(namespace)), "{told:#}");
        let again = cluster.get(&cluster.path_of(&claim)).expect("the claim is back");
        assert_eq!(again["spec"]["volumeName"], namespace.as_str(), "{again:#}");
        assert_eq!(phase(&claim), Some(json!("Bound")));
    }
    // One that has another volume by now keeps that, and it is said where the data is.
    let archive = archives.path("other.yaml");
    let flag = format!("--archive={}", archive.display());
    cluster.gc(&["delete", "pvc/data-db-0", "-n", &namespace, "--yes", &flag]).expect(0);
    cluster.wait_until("the volume to be released", PATIENCE, || phase(&kept) == Some(json!("Released")));
    let mut other = made.clone();
    other["spec"]["volumeName"] = json!("another");
    cluster.create(other);
    let ran = cluster.gc(&["restore", archive.to_str().expect("a path"), "--yes"]);
    let said = format!("it is bound to PersistentVolume/another, and its data is on PersistentVolume/{namespace}");
    assert!(ran.expect(2).contains(&said), "{}", ran.stdout);
    cluster.delete(&cluster.path_of(&claim), None, Some(0));
    cluster.delete(&cluster.path_of(&kept), None, Some(0));
}

/// Deletes a StatefulSet that takes its claims with it, and restores it from its archive. All must be as before: the
/// claims with what was written on them, and owned by the new StatefulSet.
fn a_database_comes_back_with_its_claims(cluster: &Cluster, archives: &Archives, all: &[&str]) {
    let namespace = cluster.namespace("claims");
    let pv = cluster.create(volume(&namespace, &namespace));
    let set = cluster.create(stateful_set(&namespace));
    let path = format!("/api/v1/namespaces/{namespace}/persistentvolumeclaims");
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let owned_by = |set: &Value| {
        let claims = cluster.list(&path);
        let owned = |claim: &Value| claim["metadata"]["ownerReferences"][0]["uid"] == *uid(set);
        claims.len() == 3 && claims.iter().all(owned) && cluster.list(&pods).len() == 3
    };
    cluster
        .wait_until("the claims", PATIENCE, || owned_by(&set) && cluster.list(&path)[0]["status"]["phase"] == "Bound");
    for name in names(&cluster.list(&path)) {
        let labels = json!({"metadata": {"labels": {"backup": name}, "annotations": {"acme.io/backup": "nightly"}}});
        cluster.patch(&format!("{path}/{name}"), &labels);
    }
    let before = cluster.list(&path);
    cluster.seen_by_collector(&before.iter().chain([&set]).map(uid).collect::<Vec<_>>());
    let archive = archives.path(&format!("{namespace}.yaml"));
    let flag = format!("--archive={}", archive.display());
    cluster.gc(&["delete", "sts/db", "-n", &namespace, "--yes", "--wait=false", &flag]).expect(0);
    cluster.wait_until("all to be gone", PATIENCE, || {
        cluster.get(&cluster.path_of(&set)).is_none()
            && cluster.list(&path).is_empty()
            && cluster.list(&pods).is_empty()
    });

    let ran = restore(cluster, &archive, all).ended(0);
    for (name, outcome) in outcomes(&ran) {
        let expected = if all.is_empty() && !name.starts_with("Stateful") && !name.starts_with("PersistentVolumeClaim")
        {
            "LeftOut"
        } else {
            "Created"
        };
        assert_eq!(outcome, expected, "{name}: {}", ran.stdout);
    }
    let again = cluster.get(&cluster.path_of(&set)).expect("the StatefulSet is back");
    cluster.wait_until("the pods again", PATIENCE, || owned_by(&again));
    for (was, is) in before.iter().zip(cluster.list(&path)) {
        let name = text(&is["metadata"]["name"]);
        assert_eq!(describe(&ran, &format!("PersistentVolumeClaim/{name}"))["currentUid"], is["metadata"]["uid"]);
        for field in ["name", "labels"] {
            assert_eq!(was["metadata"][field], is["metadata"][field]);
        }
        assert_eq!(is["metadata"]["annotations"]["acme.io/backup"], "nightly");
        let references = is["metadata"]["ownerReferences"].as_array().map_or(0, Vec::len);
        assert_eq!(references, 1, "{is:#}");
    }
    // There was nothing left to do.
    let ran = restore(cluster, &archive, all).ended(0);
    assert_eq!(ran.json()["summary"]["created"], 0, "{}", ran.stdout);
    cluster.delete(&cluster.path_of(&pv), None, Some(0));
    cluster.delete(&format!("/api/v1/namespaces/{namespace}"), None, Some(0));
}

#[test]
#[ignore = "long: a race, seven times"]
fn a_stateful_set_and_its_claims_come_back_together() {
    let archives = Archives::new();
    for _ in 0..3 {
        a_database_comes_back_with_its_claims(alive(), &archives, &[]);
    }
    a_database_comes_back_with_its_claims(alive(), &archives, &["--all"]);
}

#[test]
#[ignore = "long: twenty times what the quick tier does three times"]
fn a_stateful_set_and_its_claims_come_back_together_twenty_times() {
    let archives = Archives::new();
    for _ in 0..20 {
        a_database_comes_back_with_its_claims(alive(), &archives, &[]);
    }
}

/// Two rollouts, so that there are two ReplicaSets, and the revision of the younger is not that which a new one gets.
fn a_deployment_adopts_what_it_had(cluster: &Cluster, archives: &Archives) {
    let namespace = cluster.namespace("adopted");
    let labels = json!({"app": "web"});
    let template = |image: &str| {
        let scratch =
            json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
        json!({"metadata": {"labels": labels}, "spec": {
            "containers": [{"name": "main", "image": image}],
            "volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": scratch}}]}})
    };
    let web = cluster.create(object!("apps/v1 Deployment", {"name": "web", "namespace": namespace,
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template("one"),
            "strategy": {"type": "Recreate"}}}));
    let list = |path: &str| cluster.list(&format!("/{path}"));
    let sets = format!("apis/apps/v1/namespaces/{namespace}/replicasets");
    let pods = format!("api/v1/namespaces/{namespace}/pods");
    let claims = format!("api/v1/namespaces/{namespace}/persistentvolumeclaims");
    let settled = |count: usize| {
        list(&sets).len() == count
            && list(&pods).len() == 2
            && list(&claims).len() == 2
            && list(&sets).iter().filter(|set| set["status"]["replicas"] == 2).count() == 1
    };
    cluster.wait_until("the pods", PATIENCE, || settled(1));
    cluster.patch(&cluster.path_of(&web), &json!({"spec": {"template": template("two")}}));
    cluster.wait_until("the next pods", PATIENCE, || {
        settled(2) && list(&pods).iter().all(|pod| pod["spec"]["containers"][0]["image"] == "two")
    });
    let before = [list(&sets), list(&pods), list(&claims)];
    cluster.seen_by_collector(&before.iter().flatten().chain([&web]).map(uid).collect::<Vec<_>>());
    let archive = archives.path(&format!("{namespace}.yaml"));
    let flag = format!("--archive={}", archive.display());
    cluster.gc(&["delete", "deploy/web", "-n", &namespace, "--yes", "--wait=false", &flag]).expect(0);
    cluster.wait_until("all to be gone", PATIENCE, || {
        cluster.get(&cluster.path_of(&web)).is_none() && [&sets, &pods, &claims].iter().all(|it| list(it).is_empty())
    });

    let ran = restore(cluster, &archive, &["--all"]).ended(0);
    let again = cluster.get(&cluster.path_of(&web)).expect("the Deployment is back");
    cluster.wait_until("its status", PATIENCE, || {
        cluster.get(&cluster.path_of(&web)).is_some_and(|web| web["status"]["observedGeneration"] == 1)
    });
    cluster.wait_until("the pods again", PATIENCE, || settled(2));
    let after = [list(&sets), list(&pods), list(&claims)];
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(names(before), names(after), "{}", ran.stdout);
    }
    assert!(after[0].iter().all(|set| set["metadata"]["ownerReferences"][0]["uid"] == *uid(&again)), "{:#?}", after[0]);
    cluster.delete(&format!("/api/v1/namespaces/{namespace}"), None, Some(0));
}

#[test]
#[ignore = "long: a race, seven times"]
fn with_all_a_deployment_adopts_its_replica_sets_and_they_their_pods() {
    let archives = Archives::new();
    for _ in 0..3 {
        a_deployment_adopts_what_it_had(alive(), &archives);
    }
}

#[test]
#[ignore = "long: twenty times what the quick tier does three times"]
fn with_all_a_deployment_adopts_what_it_had_twenty_times() {
    let archives = Archives::new();
    for _ in 0..20 {
        a_deployment_adopts_what_it_had(alive(), &archives);
    }
}
