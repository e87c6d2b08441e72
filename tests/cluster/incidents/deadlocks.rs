//! Foreground deletions that wait for ever.

use serde_json::json;

use super::{Incident, cluster, incident};
use crate::{
    harness::{Alone, COLLECTOR, Options, uid},
    plan::{draft::blocking, trial::Trial},
};

const FOREGROUND: &str = "--propagation=foreground";

pub fn an_object_that_waits_for_itself() {
    let trial = Trial::on(cluster(), "snake", "Foreground");
    let snake = trial.config_map("snake").create();
    trial.add_owners(&snake, &[blocking(&snake)]);
    trial.cluster.seen_by_collector(&[uid(&snake)]);
    Incident { gone: vec![snake], ..incident(&trial, &["configmaps/snake", FOREGROUND], &["snake"]) }.play();
}

/// A collector that sees the first delete before the second would unblock them.
pub fn two_objects_that_wait_for_each_other() {
    let cluster = Alone::start(&Options::default());
    let trial = Trial::on(&cluster, "circle", "Foreground");
    let one = trial.config_map("one").create();
    let other = trial.config_map("other").blocking(&one).create();
    trial.add_owners(&one, &[blocking(&other)]);
    let incident = incident(&trial, &["configmaps/one", "configmaps/other", FOREGROUND], &["one", "other"]);
    Incident { come_back: Some((&cluster, &[COLLECTOR])), gone: vec![one, other], ..incident }.play();
}

pub fn a_kind_that_is_not_served() {
    let trial = Trial::on(cluster(), "ghost", "Foreground");
    let owner = trial.widget("owner").create();
    let haunted = trial.config_map("haunted").reference(trial.unserved()).blocking(&owner).create();
    trial.cluster.seen_by_collector(&[uid(&haunted)]);
    let incident = incident(&trial, &["widgets/owner", FOREGROUND], &["haunted", "Ghost"]);
    Incident { gone: vec![owner], ..incident }.play();
}

pub fn a_cluster_scoped_dependent() {
    let trial = Trial::on(cluster(), "scoped", "Foreground");
    let rack = trial.rack("owner").create();
    let widget = trial.widget("widget").create();
    let scoped = trial.rack("scoped").owned_by(&widget).blocking(&rack).create();
    trial.cluster.seen_by_collector(&[uid(&scoped)]);
    let target = format!("racks/{}", trial.global("owner"));
    let incident = incident(&trial, &[&target, FOREGROUND], &[&trial.global("scoped"), "Widget"]);
    Incident { doctor: vec![target.clone()], gone: vec![rack], ..incident }.play();
}

/// The API server never deletes the built-in priority classes.
pub fn a_protected_dependent() {
    let trial = Trial::on(cluster(), "protected", "Foreground");
    let rack = trial.rack("owner").create();
    let class = "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical";
    trial.cluster.patch(class, &json!({"metadata": {"ownerReferences": [blocking(&rack)]}}));
    trial.cluster.seen_by_collector(&[uid(&rack)]);
    let target = format!("racks/{}", trial.global("owner"));
    let incident = incident(&trial, &[&target, FOREGROUND], &["system-node-critical"]);
    Incident { doctor: vec![target.clone()], gone: vec![rack], ..incident }.play();
    trial.cluster.patch(class, &json!({"metadata": {"ownerReferences": null}}));
}
