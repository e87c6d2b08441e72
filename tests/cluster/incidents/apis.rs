//! Aggregated APIs and conversion webhooks that don't answer. Each has a cluster of its own, because every namespace
//! suffers.

use super::{Incident, incident, namespace};
use crate::{
    doctor::unconvertible,
    harness::{Alone, COLLECTOR, Cluster, NAMESPACES, PATIENCE, api_service},
    plan::trial::Trial,
};

pub fn cluster() -> Alone {
    Alone::with(&[])
}

/// An API that a Service in this namespace should serve.
fn api(cluster: &Cluster, name: &str, place: &str) -> String {
    let api = cluster.create(api_service(&format!("{name}.test"), place, name));
    cluster.path_of(&api)
}

/// An API whose Service doesn't exist, once the API server has found that out.
pub fn unserved(cluster: &Cluster, name: &str) {
    let path = api(cluster, name, "default");
    cluster.wait_until("the API to be found away", PATIENCE, || {
        cluster.get(&path).is_some_and(|api| api["status"]["conditions"][0]["status"] == "False")
    });
}

pub fn without_a_service() {
    let cluster = cluster();
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let trial = Trial::on(&cluster, "doomed", "Background");
    unserved(&cluster, "away");
    let target = format!("namespaces/{}", trial.namespace);
    let incident = incident(&trial, &[&target], &["v1.away.test", "default/away"]);
    Incident { doctor: vec![target.clone()], gone: vec![namespace(&trial.namespace)], ..incident }.play();
}

/// The Service behind the API is in the very namespace.
pub fn that_goes_with_its_namespace() {
    let cluster = cluster();
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let trial = Trial::on(&cluster, "doomed", "Background");
    // A server that answers nothing but discovery is enough for the API to be available.
    cluster.create(object!("v1 Service", {"name": "away", "namespace": trial.namespace,
        "spec": {"ports": [{"port": 443}]}}));
    api(&cluster, "away", &trial.namespace);
    let target = format!("namespaces/{}", trial.namespace);
    let incident = incident(&trial, &[&target], &["v1.away.test"]);
    Incident { doctor: vec![target.clone()], gone: vec![namespace(&trial.namespace)], ..incident }.play();
}

pub fn a_definition_that_cannot_be_converted() {
    let cluster = cluster();
    let (defined, place) = unconvertible(&cluster);
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let trial = Trial::on(&cluster, "beside", "Background");
    let target = "customresourcedefinitions/jars.odd.test";
    let incident = incident(&trial, &[target], &["jars.odd.test", "default/nobody"]);
    let held = object!("v1 Namespace", {"name": place});
    assert!(cluster.get(&cluster.path_of(&held)).is_some());
    Incident { doctor: vec![target.to_owned()], gone: vec![defined], ..incident }.play();
}

pub fn a_namespace_of_it() {
    let cluster = cluster();
    let (_, place) = unconvertible(&cluster);
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let trial = Trial::on(&cluster, "beside", "Background");
    let target = format!("namespaces/{place}");
    let incident = incident(&trial, &[&target], &["jars.odd.test", "default/nobody"]);
    Incident { doctor: vec![target.clone()], gone: vec![namespace(&place)], ..incident }.play();
}
