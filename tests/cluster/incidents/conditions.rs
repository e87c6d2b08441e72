//! What the API server's conditions of a Namespace or of a CustomResourceDefinition name.

use http::Method;
use serde_json::{Value, json};

use super::{
    Incident,
    add_ons::controller,
    admission, apis,
    causes::{acme, of_two_causes},
    cluster, incident, namespace, of_namespace, with_add_ons,
};
use crate::{
    doctor::{definition, kit::created_by},
    harness::{Alone, COLLECTOR, NAMESPACES, PATIENCE},
    plan::{draft::HOLD, trial::Trial},
};

/// An instance of a kind, and its definition.
fn instance(trial: &Trial<'_>, plural: &str, kind: &str) -> [Value; 2] {
    let defined = trial.cluster.create(definition(plural, &["v1"]));
    trial.cluster.await_kind(&defined);
    let metadata = json!({"name": "kept", "namespace": trial.namespace});
    [trial.cluster.create(json!({"apiVersion": "odd.test/v1", "kind": kind, "metadata": metadata})), defined]
}

/// Its instances go, and then somebody else's finalizer keeps it.
pub fn a_definition_with_a_finalizer_of_its_own() {
    let trial = Trial::on(cluster(), "butt", "Background");
    let [kept, defined] = instance(&trial, "butts", "Butt");
    let held = json!({"metadata": {"finalizers": [HOLD, "customresourcecleanup.apiextensions.k8s.io"]}});
    trial.cluster.patch(&trial.cluster.path_of(&defined), &held);
    let target = "customresourcedefinitions/butts.odd.test";
    let (aged, gone) = (vec![defined.clone()], vec![kept, defined]);
    Incident { doctor: vec![target.to_owned()], aged, gone, ..incident(&trial, &[target], &[HOLD]) }.play();
}

/// A Namespace for whose end two things are in the way.
fn a_namespace_of_two_causes(trial: &Trial<'_>, aged: Vec<Value>) {
    let incident = of_namespace(trial, &trial.namespace, &[]);
    of_two_causes(Incident { aged, ..incident }, &namespace(&trial.namespace));
}

pub fn a_namespace_with_two_apis_away() {
    let cluster = apis::cluster();
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let trial = Trial::on(&cluster, "unserved-twice", "Background");
    for name in ["away", "lost"] {
        apis::unserved(&cluster, name);
    }
    a_namespace_of_two_causes(&trial, Vec::new());
}

pub fn a_namespace_with_an_api_away_and_a_finalizer() {
    let cluster = apis::cluster();
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let trial = Trial::on(&cluster, "unserved-held", "Background");
    let held = trial.widget("held").finalizer(HOLD).create();
    apis::unserved(&cluster, "away");
    a_namespace_of_two_causes(&trial, vec![held]);
}

pub fn a_namespace_with_a_dead_webhook_and_a_finalizer() {
    let cluster = admission::cluster();
    let trial = Trial::on(&cluster, "guarded-held", "Background");
    let held = trial.widget("held").finalizer(HOLD).create();
    let kept = trial.config_map("kept").create();
    admission::webhook(&trial, "guard", "default", "nobody", &["DELETE"]);
    admission::is_asked(&trial, &kept, &Method::DELETE);
    a_namespace_of_two_causes(&trial, vec![held]);
}

/// A definition whose only instance is stored in a version that it no longer has, and the namespace of that: somebody
/// said that nothing is stored in it any more, and removed it. No client can list its instances.
fn lost_version(cluster: &Alone) -> (Value, String) {
    let defined = cluster.create(definition("tins", &["v1"]));
    cluster.await_kind(&defined);
    let place = cluster.namespace("tins");
    let metadata = json!({"name": "old", "namespace": place});
    cluster.create(json!({"apiVersion": "odd.test/v1", "kind": "Tin", "metadata": metadata}));
    let path = cluster.path_of(&defined);
    for versions in [&["v1", "v2"][..], &["v2"]] {
        cluster.patch(&path, &json!({"spec": definition("tins", versions)["spec"]}));
        cluster.patch(&format!("{path}/status"), &json!({"status": {"storedVersions": ["v2"]}}));
    }
    cluster.wait_until("the lists to fail", PATIENCE, || {
        let answer = cluster.ask(&Method::GET, "/apis/odd.test/v2/tins?limit=500", None);
        !answer.is_success() && answer.text().contains("invalid group/version")
    });
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    (defined, place)
}

pub fn a_definition_that_lost_a_stored_version() {
    let cluster = apis::cluster();
    let (defined, _) = lost_version(&cluster);
    let trial = Trial::on(&cluster, "beside", "Background");
    let target = "customresourcedefinitions/tins.odd.test";
    let incident = incident(&trial, &[target], &["tins.odd.test"]);
    Incident { doctor: vec![target.to_owned()], gone: vec![defined], ..incident }.play();
}

pub fn a_namespace_with_an_object_of_a_lost_version() {
    let cluster = apis::cluster();
    let (_, place) = lost_version(&cluster);
    let trial = Trial::on(&cluster, "beside", "Background");
    of_namespace(&trial, &place, &["tins.odd.test"]).play();
}

pub fn a_namespace_beside_a_lost_version_and_with_a_finalizer() {
    let cluster = apis::cluster();
    lost_version(&cluster);
    let trial = Trial::on(&cluster, "unread-held", "Background");
    let held = trial.widget("held").finalizer(HOLD).create();
    a_namespace_of_two_causes(&trial, vec![held]);
}

/// The operator, which has no pods, goes first: then nobody removes the finalizer.
pub fn a_namespace_with_its_operator_inside() {
    // Other incidents have operators of the same finalizer, which might be the one.
    let cluster = with_add_ons();
    let trial = Trial::on(&cluster, "acme-home", "Background");
    let (group, kind, finalizer, [sort, name]) = acme("home-operator");
    controller(trial.cluster, &trial.namespace, sort, name, name, 0);
    let metadata = json!({"name": "managed", "namespace": trial.namespace, "finalizers": [finalizer]});
    let object = json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": metadata});
    let held = created_by(trial.cluster, name, &object);
    Incident { aged: vec![held], ..of_namespace(&trial, &trial.namespace, &[finalizer]) }.play();
}
