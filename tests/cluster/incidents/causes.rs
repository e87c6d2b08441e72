//! What the API server's conditions name, and remedies that follow from the cause: operators without pods, what refuses
//! a remedy, pods that have ended, and two causes at once.

use http::Method;
use serde_json::{Value, json};

use super::{
    Incident, add_ons::controller, admission, cluster, incident, namespace, of_namespace, pods::dead_node, with_add_ons,
};
use crate::{
    doctor::{definition, kit::created_by},
    harness::{Alone, Cluster, PATIENCE},
    plan::{draft::HOLD, trial::Trial},
};

/// Kind, workload and finalizer of an add-on whose controller has no pods.
pub type AddOn = (&'static str, &'static str, &'static str, [&'static str; 2]);

const ARGO_CD: AddOn = (
    "argoproj.io",
    "Application",
    "resources-finalizer.argocd.argoproj.io",
    ["StatefulSet", "argocd-application-controller"],
);
const FLUX: AddOn =
    ("kustomize.toolkit.fluxcd.io", "Kustomization", "finalizers.fluxcd.io", ["Deployment", "kustomize-controller"]);
/// Nothing is known of it, but that a program of its name made the object.
pub fn acme(name: &'static str) -> AddOn {
    ("pg.acme.io", "PgCluster", "pg.acme.io/finalizer", ["Deployment", name])
}

/// An object of the add-on, whose controller is scaled to zero in this namespace.
fn scaled_to_zero(trial: &Trial<'_>, place: &str, (group, kind, finalizer, [sort, name]): AddOn) -> [Value; 2] {
    let operator = controller(trial.cluster, place, sort, name, name, 0);
    let metadata = json!({"name": "managed", "namespace": trial.namespace, "finalizers": [finalizer]});
    let object = json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": metadata});
    [operator, created_by(trial.cluster, name, &object)]
}

/// The object is deleted; its operator is elsewhere.
fn of_the_object(cluster: &Cluster, prefix: &str, add_on: AddOn) {
    let trial = Trial::on(cluster, prefix, "Background");
    let elsewhere = trial.another_namespace();
    let [operator, held] = scaled_to_zero(&trial, &elsewhere, add_on);
    let (group, kind, finalizer, [_, name]) = add_on;
    let target = format!("{}s.{group}/managed", kind.to_lowercase());
    let (aged, gone) = (vec![held.clone()], vec![held]);
    let incident = incident(&trial, &[&target], &[finalizer, name]);
    Incident { aged, gone, operator: Some(operator), ..incident }.play();
}

pub fn a_stateful_set_that_is_scaled_to_zero() {
    of_the_object(&with_add_ons(), "argo-zero", ARGO_CD);
}

pub fn an_operator_that_nobody_knows() {
    of_the_object(cluster(), "acme-zero", acme("pg-operator"));
}

/// The conditions of the Namespace name the finalizer.
fn of_its_namespace(cluster: &Cluster, prefix: &str, add_on: AddOn) {
    let trial = Trial::on(cluster, prefix, "Background");
    let elsewhere = trial.another_namespace();
    let [operator, held] = scaled_to_zero(&trial, &elsewhere, add_on);
    let incident = of_namespace(&trial, &trial.namespace, &[add_on.2, add_on.3[1]]);
    let (aged, gone) = (vec![held.clone()], vec![held, namespace(&trial.namespace)]);
    Incident { aged, gone, operator: Some(operator), ..incident }.play();
}

pub fn its_namespace() {
    of_its_namespace(&with_add_ons(), "flux-zero", FLUX);
}

pub fn the_namespace_of_an_unknown_operator() {
    of_its_namespace(cluster(), "acme-inside", acme("db-operator"));
}

/// An owner waits for an object that its operator must let go.
pub fn a_dependent_of_such_an_operator() {
    let trial = Trial::on(cluster(), "acme-below", "Foreground");
    let elsewhere = trial.another_namespace();
    let [operator, held] = scaled_to_zero(&trial, &elsewhere, acme("kv-operator"));
    let owner = trial.widget("owner").create();
    trial.add_owners(&held, &[crate::plan::draft::blocking(&owner)]);
    trial.cluster.seen_by_collector(&[crate::harness::uid(&held)]);
    let incident =
        incident(&trial, &["widgets/owner", "--propagation=foreground"], &["pg.acme.io/finalizer", "kv-operator"]);
    Incident { aged: vec![held.clone()], gone: vec![held, owner], operator: Some(operator), ..incident }.play();
}

/// Only the operator lets the instances of a definition go.
pub fn a_definition_with_its_operator_at_zero() {
    let trial = Trial::on(cluster(), "vat", "Background");
    let elsewhere = trial.another_namespace();
    let defined = trial.cluster.create(definition("vats", &["v1"]));
    trial.cluster.await_kind(&defined);
    let operator = controller(trial.cluster, &elsewhere, "Deployment", "vat-operator", "vat", 0);
    let metadata = json!({"name": "held", "namespace": trial.namespace, "finalizers": ["vat.odd.test/clean-up"]});
    let held = json!({"apiVersion": "odd.test/v1", "kind": "Vat", "metadata": metadata});
    let held = created_by(trial.cluster, "vat-operator", &held);
    let target = "customresourcedefinitions/vats.odd.test";
    let incident = incident(&trial, &[target], &["vat.odd.test/clean-up", "vat-operator"]);
    let (aged, doctor) = (vec![held.clone()], vec![target.to_owned()]);
    Incident { doctor, aged, gone: vec![held, defined], operator: Some(operator), ..incident }.play();
}

/// A pod that has ended still protects its claim, as long as it exists.
pub fn a_claim_of_a_pod_that_has_ended() {
    let trial = Trial::on(cluster(), "ended", "Background");
    let claim = trial.claim("data").create();
    let ended = trial.pod_on("ended", "worker-of-old").brief().uses("data").create();
    let status = format!("{}/status", trial.cluster.path_of(&ended));
    trial.cluster.patch(&status, &json!({"status": {"phase": "Succeeded"}}));
    let (aged, gone) = (vec![claim.clone()], vec![claim]);
    Incident { aged, gone, ..incident(&trial, &["persistentvolumeclaims/data"], &["ended"]) }.play();
}

/// The Namespace waits for a claim, and that for a pod on a dead node.
pub fn a_namespace_with_a_claim_in_use() {
    let trial = Trial::on(cluster(), "in-use-inside", "Background");
    let node = dead_node(&trial);
    trial.claim("data").create();
    let lost = trial.pod_on("lost", &node).brief().uses("data").create();
    Incident { aged: vec![lost], ..of_namespace(&trial, &trial.namespace, &["lost", &node]) }.play();
}

/// Plays an incident with two causes: the first remedy mends one, and the next the other. The other may only show once
/// a controller has looked again, and until then there is no finding.
pub fn of_two_causes(incident: Incident<'_>, gone: &Value) {
    let cluster = incident.cluster;
    let incident = Incident { gone: Vec::new(), ..incident };
    incident.play();
    let path = cluster.path_of(gone);
    cluster.wait_until(&format!("{path} to go"), PATIENCE, || {
        let is_left = cluster.get(&path).is_some();
        if is_left {
            incident.becomes_healthy();
        }
        !is_left
    });
}

pub fn a_namespace_with_two_finalizers() {
    let trial = Trial::on(cluster(), "held-twice", "Background");
    let held =
        [trial.widget("first").finalizer(HOLD).create(), trial.secret("second").finalizer("odd.io/keep").create()];
    let incident = of_namespace(&trial, &trial.namespace, &[]);
    of_two_causes(Incident { aged: held.to_vec(), ..incident }, &namespace(&trial.namespace));
}

pub fn a_namespace_with_a_lost_pod_and_a_finalizer() {
    let trial = Trial::on(cluster(), "lost-and-held", "Background");
    let node = dead_node(&trial);
    let held = [trial.pod_on("lost", &node).brief().create(), trial.widget("held").finalizer(HOLD).create()];
    let incident = of_namespace(&trial, &trial.namespace, &[]);
    // The rest of the content goes once the pod has gone (R9.10).
    of_two_causes(Incident { aged: held[..1].to_vec(), ..incident }, &namespace(&trial.namespace));
}

pub fn a_namespace_with_a_finalizer_in_its_spec_and_inside() {
    let trial = Trial::on(cluster(), "beside", "Background");
    let name = trial.global("both").replace('.', "-");
    let mut outer = namespace(&name);
    outer["spec"] = json!({"finalizers": ["kubernetes", "acme.io/hold"]});
    let outer = trial.cluster.create(&outer);
    let held = trial.widget("held").in_namespace(&name).finalizer(HOLD).create();
    let aged = vec![outer.clone(), held];
    of_two_causes(Incident { aged, ..of_namespace(&trial, &name, &[]) }, &outer);
}

/// Content that a policy keeps; the Namespace's condition says so.
pub fn a_namespace_whose_content_a_policy_keeps() {
    let cluster = admission::cluster();
    let trial = Trial::on(&cluster, "kept", "Background");
    let kept = trial.config_map("kept").create();
    trial.refusing(&["DELETE"], "configmaps", "false");
    admission::is_asked(&trial, &kept, &Method::DELETE);
    of_namespace(&trial, &trial.namespace, &[&trial.namespace]).play();
}

/// The same with a webhook that nobody serves.
pub fn a_namespace_whose_content_a_dead_webhook_keeps() {
    let cluster = admission::cluster();
    let trial = Trial::on(&cluster, "guarded", "Background");
    let kept = trial.config_map("kept").create();
    admission::webhook(&trial, "guard", "default", "nobody", &["DELETE"]);
    admission::is_asked(&trial, &kept, &Method::DELETE);
    of_namespace(&trial, &trial.namespace, &["guard.incident.test"]).play();
}

/// Who removes the finalizer by hand is refused: what refuses goes first.
fn refused(prefix: &str, refuse: impl Fn(&Trial<'_>), cause: impl Fn(&Trial<'_>) -> String) {
    let cluster: Alone = admission::cluster();
    let trial = Trial::on(&cluster, prefix, "Background");
    let held = trial.config_map("held").finalizer(HOLD).create();
    refuse(&trial);
    admission::is_asked(&trial, &held, &Method::PATCH);
    let incident = incident(&trial, &["configmaps/held"], &[HOLD, &cause(&trial)]);
    of_two_causes(Incident { aged: Vec::new(), ..incident }, &held);
}

pub fn a_remedy_that_a_policy_refuses() {
    refused(
        "refusing",
        |trial| drop(trial.refusing(&["UPDATE"], "configmaps", "false")),
        |trial| trial.namespace.clone(),
    );
}

pub fn a_remedy_that_a_dead_webhook_refuses() {
    let webhook = |trial: &Trial<'_>| drop(admission::webhook(trial, "mute", "default", "nobody", &["UPDATE"]));
    refused("muted", webhook, |_| "mute.incident.test".to_owned());
}
