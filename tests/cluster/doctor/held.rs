//! What `doctor` and `explain` say of a delete that waits, and of what an interrupted run has left.

use serde_json::{Value, json};

use crate::harness::uid;
use crate::hold::kit::{Kind, Scene};

/// The findings about holds in the namespace.
fn findings(scene: &Scene) -> Vec<Value> {
    let ran = scene.gc(&["doctor", "-o", "json", "--only=held-deletion"]);
    let document = ran.json();
    document["findings"].as_array().cloned().unwrap_or_else(|| panic!("{document:#}"))
}

/// The commands of a finding, without `kubectl gc`, as far as they are this plugin's.
fn commands(finding: &Value) -> Vec<Vec<String>> {
    let remedies = finding["remedies"].as_array().into_iter().flatten();
    let all = remedies.flat_map(|remedy| remedy["commands"].as_array().into_iter().flatten());
    let words = |command: &Value| command.as_str().unwrap_or_default().split(' ').map(str::to_owned).collect();
    let words: Vec<Vec<String>> = all.map(words).collect();
    words
        .into_iter()
        .filter(|words| words[1] == "gc")
        .map(|words| words[2..].iter().filter(|word| !word.starts_with("--context")).cloned().collect())
        .collect()
}

fn run(scene: &Scene, words: &[String]) {
    let args: Vec<&str> = words.iter().map(String::as_str).chain(["--yes"]).collect();
    scene.cluster.gc(&args).expect(0);
}

#[test]
#[ignore = "long: slow"]
fn a_delete_that_waits_is_found_with_both_ways_out() {
    let scene = Scene::of(Kind::ConfigMap);
    let before = scene.state();
    assert_eq!(findings(&scene), Vec::<Value>::new());
    scene.hold();
    let found = findings(&scene);
    assert_eq!((found.len(), &found[0]["objects"][0]["name"]), (1, &json!("web")), "{found:#?}");
    let ways = commands(&found[0]);
    assert_eq!(ways.iter().map(|words| words[0].as_str()).collect::<Vec<_>>(), ["cancel", "delete"]);
    // No other finding is about it.
    let all = scene.gc(&["doctor", "-o", "json"]).json();
    let codes: Vec<&Value> = all["findings"].as_array().unwrap().iter().map(|finding| &finding["code"]).collect();
    assert_eq!(codes, ["held-deletion"], "{all:#}");
    // `explain` says who removes the finalizer.
    let shown = scene.gc(&["explain", "configmap/web"]).stdout;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("kubectl gc (delete --hold=0s, or cancel) removes it"), "{shown}");
    run(&scene, &ways[0]);
    scene.is_as(&before);
    scene.hold();
    run(&scene, &commands(&findings(&scene)[0])[1]);
    assert!(scene.state().is_empty());
    assert_eq!(findings(&scene), Vec::<Value>::new());
}

/// A Secret whose object isn't held any more: it was let go by hand.
#[test]
#[ignore = "long: slow"]
fn what_is_left_of_a_hold_is_found() {
    let scene = Scene::of(Kind::ConfigMap);
    scene.hold();
    scene.cluster.patch(&scene.path(), &json!({"metadata": {"finalizers": null}}));
    scene.cluster.settled();
    assert_eq!((scene.state().len(), scene.secrets().len()), (0, 1));
    let found = findings(&scene);
    assert_eq!((found.len(), &found[0]["objects"][0]["kind"]), (1, &json!("Secret")), "{found:#?}");
    let words = commands(&found[0]).remove(0);
    let args: Vec<&str> = words.iter().map(String::as_str).chain(["--yes"]).collect();
    let ran = scene.cluster.gc(&args).ended(2);
    assert!(ran.stdout.contains("has gone on: it can no longer be taken back"), "{}", ran.stdout);
    assert_eq!((scene.secrets().len(), findings(&scene).len()), (0, 0));
}

/// The holder was killed before its DELETE: the object was never deleted.
#[test]
fn a_hold_that_never_deleted_is_removed() {
    let scene = Scene::of(Kind::ConfigMap);
    let before = scene.state();
    let old = scene.root();
    scene.hold();
    // Its Secret, as it was before the DELETE, and the object, as if it had not been deleted.
    let secret = scene.cluster.get(&format!("/api/v1/namespaces/{}/secrets/{}", scene.namespace, scene.secrets()[0]));
    let secret = secret.unwrap();
    scene.gc(&["cancel", "configmap/web", "--yes"]).expect(0);
    let root = scene.root();
    let rewritten = secret["data"].as_object().unwrap().iter().map(|(name, data)| {
        let data = data.as_str().unwrap();
        let text = String::from_utf8(base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data).unwrap());
        (name.clone(), json!(text.unwrap().replace(uid(&old), uid(&root))))
    });
    let data: serde_json::Map<String, Value> = rewritten.collect();
    scene.cluster.create(object!("v1 Secret", {"name": format!("kubectl-gc-hold-{}", uid(&root)),
        "namespace": scene.namespace, "labels": {"kubectl-gc/hold": uid(&root)}, "type": secret["type"],
        "stringData": data}));
    let finalizers = json!(["kubectl-gc/hold", "kubectl-gc/uncancelled"]);
    scene.cluster.patch(&scene.path(), &json!({"metadata": {"finalizers": finalizers}}));
    let found = findings(&scene);
    assert!(found.len() == 1 && found[0]["message"].as_str().unwrap().contains("which is not held"), "{found:#?}");
    let ran = scene.gc(&["cancel", "configmap/web", "--yes"]);
    assert!(ran.expect(0).contains("had not been deleted yet"), "{}", ran.stdout);
    assert_eq!(uid(&scene.root()), uid(&root));
    scene.is_as(&before);
}

/// While a delete is being taken back, its guards are no trouble of their own.
#[test]
#[ignore = "long: slow"]
fn guards_belong_to_the_delete_that_is_taken_back() {
    let scene = Scene::of(Kind::ConfigMap);
    let before = scene.state();
    scene.hold();
    // As an interrupted `cancel` leaves it.
    scene.cluster.patch(&scene.path(), &json!({"metadata": {"finalizers": ["kubectl-gc/hold"]}}));
    let leaf = format!("/api/v1/namespaces/{}/configmaps/leaf-0", scene.namespace);
    let object = scene.cluster.get(&leaf).unwrap();
    let references = object["metadata"]["ownerReferences"].clone();
    let guard = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "leaf-0", "uid": uid(&object)}]);
    scene.cluster.patch(&leaf, &json!({"metadata": {"ownerReferences": guard}}));
    let all = scene.gc(&["doctor", "-o", "json"]).json();
    let found = all["findings"].as_array().unwrap();
    assert_eq!((found.len(), &found[0]["code"]), (1, &json!("held-deletion")), "{all:#}");
    assert_eq!(found[0]["related"][0]["name"], "leaf-0");
    let ways = commands(&found[0]);
    assert_eq!(ways.iter().map(|words| words[0].as_str()).collect::<Vec<_>>(), ["cancel"]);
    // Nobody lets it go meanwhile.
    let ran = scene.gc(&["delete", "configmap/web", "--hold=0", "--yes"]).ended(1);
    assert!(ran.stderr.contains("its delete is being taken back"), "{}", ran.stderr);
    scene.cluster.patch(&leaf, &json!({"metadata": {"ownerReferences": references}}));
    run(&scene, &ways[0]);
    scene.is_as(&before);
}
