//! The example shop: restored to a cluster that never had it, deleted, and restored again.

use serde_json::{Value, json};

use super::kit::{Archives, coordinate, describe, live, merge, outcomes, remove, restore, tree};
use crate::harness::{Alone, Options, example_shop};

/// The objects of `examples/shop.yaml`, with the spec fields that an API server requires.
fn shop() -> Vec<Value> {
    example_shop().into_iter().map(completed).collect()
}

fn completed(mut object: Value) -> Value {
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let app = object["spec"]["selector"]["matchLabels"]["app"].as_str().unwrap_or(&name).to_owned();
    let template =
        json!({"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "main", "image": "main"}]}});
    let once = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "main"}]}});
    let more = match object["kind"].as_str().unwrap_or_default() {
        "Deployment" | "StatefulSet" => json!({"spec": {"template": template}}),
        "ReplicaSet" => json!({"spec": {"template": template, "selector": {"matchLabels": {"app": app}}}}),
        "CronJob" => json!({"spec": {"jobTemplate": {"spec": {"template": once}}}}),
        "Job" => json!({"spec": {"template": once}}),
        "ControllerRevision" => json!({"data": {"spec": {}}}),
        "PersistentVolume" => json!({"spec": {"hostPath": {"path": "/data"}}}),
        _ => json!({}),
    };
    merge(&mut object, &more);
    if object["kind"] == "PersistentVolumeClaim" {
        // No controller of this cluster binds claims.
        object.as_object_mut().expect("an object").remove("status");
    }
    object
}

fn is(object: &Value, kinds: &[&str]) -> bool {
    kinds.iter().any(|kind| object["kind"] == *kind)
}

#[test]
fn a_shop_comes_back_as_it_was() {
    // Its definition comes and goes.
    let cluster = &Alone::start(&Options::default());
    let archives = Archives::new();
    let all = shop();
    let ran = restore(cluster, &archives.write("example", &all), &["--all"]).ended(0);

    // Jobs that have finished, and their pods, would run again.
    let outcomes_of_all = outcomes(&ran);
    let left_out: Vec<&str> =
        outcomes_of_all.iter().filter(|(_, it)| *it == "LeftOut").map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        left_out,
        ["Job/report-29495700", "Job/report-29497140", "Pod/report-29495700-d5wzr", "Pod/report-29497140-kx8nb"]
    );
    // Its owner is in another namespace, where the collector doesn't look for it.
    let dashboard = describe(&ran, "ConfigMap/web-dashboard");
    assert_eq!(dashboard["unowned"][0]["reference"]["name"], "web");
    let expected: Vec<Value> = all
        .iter()
        .filter(|object| !object["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("report-")))
        .cloned()
        .map(|mut object| {
            if object["metadata"]["name"] == "web-dashboard" {
                object["metadata"].as_object_mut().expect("metadata").remove("ownerReferences");
            }
            object
        })
        .collect();
    let first = live(cluster, &expected);
    assert_eq!(tree(&first), tree(&expected));

    // Again, from the objects that the API server stores.
    let archive = archives.write("real", &first);
    remove(cluster, &first);
    let ran = restore(cluster, &archive, &["--all"]).ended(0);
    assert!(outcomes(&ran).values().all(|outcome| outcome == "Created"), "{:?}", outcomes(&ran));
    let second = live(cluster, &first);
    assert_eq!(tree(&second), tree(&first));
    for (before, after) in first.iter().zip(&second) {
        assert_ne!(before["metadata"]["uid"], after["metadata"]["uid"]);
        for field in ["labels", "annotations", "finalizers"] {
            assert_eq!(before["metadata"][field], after["metadata"][field], "{field} of {}", coordinate(before));
        }
        // Apart from kinds with fields that the server assigns, specs are the same.
        if !is(before, &["Service", "PersistentVolumeClaim", "PersistentVolume", "Pod"]) {
            assert_eq!(before["spec"], after["spec"], "{}", coordinate(before));
        }
        assert_eq!(before["data"], after["data"], "{}", coordinate(before));
    }
    // Once more, with nothing left to do.
    let ran = restore(cluster, &archive, &["--all"]).ended(0);
    assert!(outcomes(&ran).values().all(|outcome| outcome == "AlreadyRestored"), "{:?}", outcomes(&ran));
    assert_eq!(live(cluster, &first), second, "a second restore changes nothing");
}
