//! Aggregated APIs and conversion webhooks that don't answer. Each has a cluster of its own, because every namespace
//! suffers.

use super::{Incident, incident, of_namespace};
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
    of_namespace(&trial, &trial.namespace, &["v1.away.test", "Service/away -n default"]).play();
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
    of_namespace(&trial, &trial.namespace, &["v1.away.test"]).play();
}

pub fn a_definition_that_cannot_be_converted() {
    let cluster = cluster();
    let (defined, place) = unconvertible(&cluster);
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let trial = Trial::on(&cluster, "beside", "Background");
    let target = "customresourcedefinitions/jars.odd.test";
    let incident = incident(&trial, &[target], &["jars.odd.test", "Service/nobody -n default"]);
    let held = object!("v1 Namespace", {"name": place});
    assert!(cluster.get(&cluster.path_of(&held)).is_some());
    Incident { doctor: vec![target.to_owned()], gone: vec![defined], ..incident }.play();
}

pub fn a_namespace_of_it() {
    let cluster = cluster();
    let (_, place) = unconvertible(&cluster);
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let trial = Trial::on(&cluster, "beside", "Background");
    of_namespace(&trial, &place, &["jars.odd.test", "Service/nobody -n default"]).play();
}
