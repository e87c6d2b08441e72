//! What can't be held, and arguments that make no sense.

use serde_json::{Value, json};

use super::kit::{Kind, Scene};
use crate::harness::{owner_reference, shared, uid};

#[test]
fn what_would_not_be_protected_is_refused() {
    let cluster = shared();
    let namespace = cluster.namespace("unheld");
    let metadata = |name: &str| json!({"name": name, "namespace": namespace});
    let pod = json!({"containers": [{"name": "main", "image": "main"}]});
    let objects = [
        (json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata("a"), "spec": pod}), "pod/a", "kubelet"),
        (
            json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata("a"),
                "spec": {"ports": [{"port": 80}]}}),
            "service/a",
            "Endpoints",
        ),
        (json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata("a")}), "sa/a", "tokens"),
        (
            object!("v1 ConfigMap", {"name": "kept", "namespace": namespace, "finalizers": ["acme.io/clean-up"]}),
            "cm/kept",
            "acme.io/clean-up",
        ),
    ];
    let mut made: Vec<Value> = Vec::new();
    for (object, word, why) in objects {
        let object = cluster.create(object);
        let ran = cluster.gc(&["delete", word, "-n", &namespace, "--hold=1s", "--yes"]).ended(1);
        assert!(ran.stderr.contains("can't be held: ") && ran.stderr.contains(why), "{}", ran.stderr);
        made.push(object);
    }
    let target = format!("namespace/{namespace}");
    let ran = cluster.gc(&["delete", &target, "--hold=1s", "--yes"]).ended(1);
    assert!(ran.stderr.contains("its content is deleted as soon as it is Terminating"), "{}", ran.stderr);
    for object in &made {
        let there = cluster.get(&cluster.path_of(object)).unwrap();
        assert_eq!((uid(&there), there["metadata"].get("deletionTimestamp")), (uid(object), None));
    }
    cluster.patch(&cluster.path_of(&made[3]), &json!({"metadata": {"finalizers": null}}));
}

/// A controller would replace it in the moment in which it doesn't exist.
#[test]
fn what_a_controller_owns_is_refused() {
    let scene = Scene::of(Kind::Deployment);
    let before = scene.state();
    let replica_set = before.keys().find_map(|key| key.strip_prefix("replicasets/")).unwrap();
    let word = format!("replicaset/{replica_set}");
    let ran = scene.gc(&["delete", &word, "--hold=1s", "--yes"]).ended(1);
    assert!(ran.stderr.contains("Deployment/web controls it"), "{}", ran.stderr);
    // Not even together with its owner.
    let ran = scene.gc(&["delete", "deployment/web", &word, "--hold=1s", "--yes"]).ended(1);
    assert!(ran.stderr.contains("it goes with Deployment/web"), "{}", ran.stderr);
    assert_eq!((scene.state(), scene.secrets()), (before, vec![]));
}

/// What doesn't fit into a Secret is refused before anything is written.
#[test]
fn what_is_too_big_for_a_secret_is_refused() {
    let cluster = shared();
    let namespace = cluster.namespace("big");
    let big = "x".repeat(950_000);
    let object = cluster.create(object!("v1 ConfigMap", {"name": "big", "namespace": namespace, "data": {"big": big}}));
    let ran = cluster.gc(&["delete", "cm/big", "-n", &namespace, "--hold=1s", "--yes"]).ended(1);
    assert!(ran.stderr.contains("bytes of a Secret, which may have 1048576"), "{}", ran.stderr);
    assert_eq!(cluster.get(&cluster.path_of(&object)).unwrap()["metadata"].get("finalizers"), None);
}

/// Of what isn't held, nothing can be taken back.
#[test]
fn without_a_hold_there_is_nothing_to_take_back() {
    let scene = Scene::of(Kind::ConfigMap);
    let ran = scene.gc(&["cancel", "configmap/web", "--yes"]).ended(1);
    assert_eq!(ran.stderr, format!("error: no delete of ConfigMap/web waits in namespace {}\n", scene.namespace));
    let ran = scene.gc(&["cancel", "secret/kubectl-gc-hold-none", "--yes"]).ended(1);
    assert!(ran.stderr.contains("there is no Secret/kubectl-gc-hold-none"), "{}", ran.stderr);
    // What is held without its Secret can only be let go.
    let finalizers = json!(["kubectl-gc/hold", "kubectl-gc/uncancelled"]);
    scene.cluster.patch(&scene.path(), &json!({"metadata": {"finalizers": finalizers}}));
    scene.cluster.delete(&scene.path(), None, None);
    let ran = scene.gc(&["cancel", "configmap/web", "--yes"]).ended(1);
    assert!(ran.stderr.contains("is held") && ran.stderr.contains("--hold=0s lets it go"), "{}", ran.stderr);
    scene.cluster.patch(&scene.path(), &json!({"metadata": {"finalizers": null}}));
}

/// A dry run says what would happen, also what would prevent it, and writes nothing.
#[test]
fn a_dry_run_writes_nothing() {
    let scene = Scene::of(Kind::Deployment);
    let before = scene.root();
    let ran = scene.gc(&["delete", "deployment/web", "--hold=10m", "--dry-run"]).ended(0);
    assert!(ran.stderr.contains("Meanwhile it is not scaled"), "{}", ran.stderr);
    assert_eq!((scene.root(), scene.secrets()), (before, vec![]));
    scene.hold();
    let state = scene.state();
    let ran = scene.gc(&["cancel", "deployment/web", "--dry-run", "-o", "json"]).ended(0);
    assert_eq!(ran.json()["objects"][0]["outcome"], "WouldBeTakenBack");
    assert_eq!(scene.state(), state);
    let deletion = &scene.root()["metadata"]["deletionTimestamp"];
    assert!(deletion.is_string());
    scene.gc(&["cancel", "deployment/web", "--yes"]).expect(0);
}

/// An owner that goes meanwhile is no owner of the new object: with a reference to it, it would be deleted at once.
#[test]
fn a_reference_to_an_owner_that_is_gone_is_left_out() {
    let cluster = shared();
    let namespace = cluster.namespace("owned");
    let map = |name: &str, owners: Value| {
        cluster.create(object!("v1 ConfigMap", {"name": name, "namespace": namespace, "ownerReferences": owners}))
    };
    let (gone, stays) = (map("gone", json!([])), map("stays", json!([])));
    let object = map("web", json!([owner_reference(&gone), owner_reference(&stays)]));
    cluster.gc(&["delete", "cm/web", "-n", &namespace, "--hold=1h", "--wait=false", "--yes"]).expect(0);
    cluster.delete(&cluster.path_of(&gone), Some("Background"), None);
    let ran = cluster.gc(&["cancel", "cm/web", "-n", &namespace, "--yes"]);
    assert!(ran.expect(0).contains("has lost 1 reference to an owner"), "{}", ran.stdout);
    let back = cluster.get(&cluster.path_of(&object)).unwrap();
    assert_eq!(back["metadata"]["ownerReferences"], json!([owner_reference(&stays)]));
}
