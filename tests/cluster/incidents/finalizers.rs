//! Finalizers that nobody removes.

use serde_json::json;

use super::{Foreseen, Incident, cluster, incident, namespace, of_namespace};
use crate::{
    doctor::definition,
    harness::uid,
    plan::{draft::HOLD, trial::Trial},
};

pub fn of_an_unknown_controller() {
    let trial = Trial::on(cluster(), "held", "Background");
    let held = trial.widget("held").finalizer(HOLD).create();
    Incident { aged: vec![held.clone()], gone: vec![held], ..incident(&trial, &["widgets/held"], &[HOLD]) }.play();
}

pub fn of_a_dependent() {
    let trial = Trial::on(cluster(), "held-below", "Foreground");
    let owner = trial.widget("owner").create();
    let held = trial.config_map("held").blocking(&owner).finalizer(HOLD).create();
    trial.cluster.seen_by_collector(&[uid(&held)]);
    Incident {
        aged: vec![held],
        gone: vec![owner],
        ..incident(&trial, &["widgets/owner", "--propagation=foreground"], &[HOLD, "ConfigMap"])
    }
    .play();
}

pub fn in_a_namespace() {
    let trial = Trial::on(cluster(), "held-inside", "Background");
    let held = trial.widget("held").finalizer(HOLD).create();
    Incident { aged: vec![held], ..of_namespace(&trial, &trial.namespace, &[HOLD, "held"]) }.play();
}

pub fn in_the_spec_of_a_namespace() {
    let cluster = cluster();
    let trial = Trial::on(cluster, "beside", "Background");
    let mut held = namespace(&trial.global("spec").replace('.', "-"));
    held["spec"] = json!({"finalizers": ["kubernetes", "acme.io/hold"]});
    let held = cluster.create(&held);
    let name = held["metadata"]["name"].as_str().unwrap_or_default();
    Incident { aged: vec![held.clone()], ..of_namespace(&trial, name, &["acme.io/hold"]) }.play();
}

pub fn of_an_instance() {
    let cluster = cluster();
    let trial = Trial::on(cluster, "instance", "Background");
    let defined = cluster.create(definition("crates", &["v1"]));
    cluster.await_kind(&defined);
    let metadata = json!({"name": "held", "namespace": trial.namespace, "finalizers": [HOLD]});
    let held = cluster.create(json!({"apiVersion": "odd.test/v1", "kind": "Crate", "metadata": metadata}));
    let target = "customresourcedefinitions/crates.odd.test";
    Incident {
        doctor: vec![target.to_owned()],
        aged: vec![held.clone()],
        gone: vec![held, defined],
        plan: Foreseen::Stuck,
        ..incident(&trial, &[target], &[HOLD, "held"])
    }
    .play();
}
