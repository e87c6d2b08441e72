//! A cluster whose collector is started and stopped.

use std::time::Duration;

use serde_json::json;

use crate::harness::{Alone, COLLECTOR, Options, owner_reference};

#[test]
#[ignore = "long: is about the tests themselves"]
fn the_collector_can_be_off_and_on_again() {
    let cluster = Alone::start(&Options::default());
    let config_map = |name: &str| object!("v1 ConfigMap", {"name": name});
    let owner = cluster.create(config_map("owner"));
    let mut dependent = config_map("dependent");
    dependent["metadata"]["ownerReferences"] = json!([owner_reference(&owner)]);
    let dependent = cluster.create(dependent);
    cluster.delete(&cluster.path_of(&owner), Some("Background"), None).expect("it was there");

    cluster.start_controllers(&[COLLECTOR]);
    let path = cluster.path_of(&dependent);
    let patience = Duration::from_secs(30);
    cluster.wait_until("a collector that has just started to collect", patience, || cluster.get(&path).is_none());

    let second = cluster.create(config_map("second"));
    cluster.watched_by_collector(&second);
    cluster.stop_controllers();
    assert_eq!(cluster.pids().len(), 2, "etcd and the API server go on");
    let held = cluster.delete(&cluster.path_of(&second), Some("Foreground"), None).expect("it was there");
    assert_eq!(held["metadata"]["finalizers"], json!(["foregroundDeletion"]));

    cluster.start_controllers(&[COLLECTOR]);
    let path = cluster.path_of(&second);
    cluster.wait_until("the next collector to finish", patience, || cluster.get(&path).is_none());
    cluster.settled();
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn the_collector_watches_the_kinds_of_the_usual_cluster() {
    let cluster = Alone::usual();
    let namespace = cluster.namespace("kinds");
    let rack = cluster.unique("rack");
    let objects = cluster.apply_yaml(&format!(
        "{{apiVersion: gc.test/v1, kind: Rack, metadata: {{name: {rack}}}}}\n\
         ---\n\
         {{apiVersion: gc.test/v1, kind: Widget, metadata: {{name: widget, namespace: {namespace}}}}}\n"
    ));
    for object in &objects {
        cluster.watched_by_collector(object);
    }
}

/// What fails again and again is tried again after pauses that grow: the wait for it must not.
#[test]
#[ignore = "long: is about the tests themselves"]
fn the_wait_for_retries_never_grows() {
    let cluster = Alone::start(&Options::default());
    cluster.start_controllers(&[COLLECTOR]);
    for _ in 0..20 {
        cluster.retried_by_collector();
    }
}
