//! Webhooks that the API server must call and can't, and policies that refuse.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::{Foreseen, Incident, incident};
use crate::{
    harness::{Alone, COLLECTOR, NAMESPACES, uid},
    plan::trial::Trial,
};

/// A cluster of its own: the doctor reports a broken webhook whatever its scope.
pub fn cluster() -> Alone {
    Alone::with(&[COLLECTOR, NAMESPACES])
}

const SERVED: Duration = Duration::from_secs(60);

/// A webhook for ConfigMaps of the trial's namespace, served by a Service in `place`.
pub fn webhook(trial: &Trial<'_>, name: &str, place: &str, service: &str, operations: &[&str]) -> Value {
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": operations});
    webhook_for(trial, name, [place, service], &rule)
}

/// A webhook for what this rule names in the trial's namespace.
pub fn webhook_for(trial: &Trial<'_>, name: &str, [place, service]: [&str; 2], rule: &Value) -> Value {
    trial.cluster.create(object!("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", {
        "name": trial.global(name),
        "webhooks": [{
            "name": format!("{name}.incident.test"),
            "clientConfig": {"service": {"namespace": place, "name": service}},
            "rules": [rule],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": trial.namespace}},
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "timeoutSeconds": 1,
        }],
    }))
}

fn service(trial: &Trial<'_>, place: &str, name: &str, selector: &Value) -> Value {
    trial.cluster.create(object!("v1 Service", {
        "name": name, "namespace": place,
        "spec": {"ports": [{"port": 443}], "selector": selector},
    }))
}

fn endpoint(trial: &Trial<'_>, place: &str, service: &str, ready: bool) -> Value {
    trial.cluster.create(object!("discovery.k8s.io/v1 EndpointSlice", {
        "name": format!("{service}-1"), "namespace": place, "labels": {"kubernetes.io/service-name": service},
        "addressType": "IPv4",
        "ports": [{"port": 443}],
        "endpoints": [{"addresses": ["10.1.0.1"], "conditions": {"ready": ready}}],
    }))
}

/// Waits until the API server calls the webhook, which fails.
pub fn is_asked(trial: &Trial<'_>, object: &Value, method: &Method) {
    let path = format!("{}?dryRun=All", trial.cluster.path_of(object));
    let body = json!({"metadata": {"annotations": {"seen": "yes"}}});
    let body = (*method == Method::PATCH).then_some(("application/merge-patch+json", &body));
    trial
        .cluster
        .wait_until("the webhook to be asked", SERVED, || !trial.cluster.ask(method, &path, body).is_success());
}

/// An owner with one dependent, a ConfigMap.
fn family(trial: &Trial<'_>) -> [Value; 2] {
    let owner = trial.widget("owner").create();
    let below = trial.config_map("below").blocking(&owner).create();
    trial.cluster.seen_by_collector(&[uid(&below)]);
    [owner, below]
}

pub fn without_a_service() {
    let cluster = cluster();
    let trial = Trial::on(&cluster, "unserved-hook", "Background");
    let [owner, below] = family(&trial);
    webhook(&trial, "missing", &trial.namespace, "missing", &["DELETE"]);
    is_asked(&trial, &below, &Method::DELETE);
    let cause = ["missing.incident.test", &format!("Service/missing -n {}", trial.namespace)];
    let incident = incident(&trial, &["widgets/owner", "--propagation=foreground"], &cause);
    Incident { gone: vec![owner, below], ..incident }.play();
}

pub fn without_a_ready_endpoint() {
    let cluster = cluster();
    let trial = Trial::on(&cluster, "silent-hook", "Background");
    let [owner, below] = family(&trial);
    let elsewhere = trial.another_namespace();
    service(&trial, &elsewhere, "silent", &Value::Null);
    endpoint(&trial, &elsewhere, "silent", false);
    webhook(&trial, "silent", &elsewhere, "silent", &["DELETE"]);
    is_asked(&trial, &below, &Method::DELETE);
    let cause = ["silent.incident.test", &format!("Service/silent -n {elsewhere}")];
    let incident = incident(&trial, &["widgets/owner", "--propagation=foreground"], &cause);
    Incident { gone: vec![owner, below], ..incident }.play();
}

/// The collector can't remove the reference to the orphaned owner.
pub fn for_updates() {
    let cluster = cluster();
    let trial = Trial::on(&cluster, "update-hook", "Orphan");
    let [owner, below] = family(&trial);
    webhook(&trial, "updates", &trial.namespace, "missing", &["UPDATE"]);
    is_asked(&trial, &below, &Method::PATCH);
    let incident = incident(&trial, &["widgets/owner", "--propagation=orphan"], &["updates.incident.test"]);
    Incident { gone: vec![owner], ..incident }.play();
}

/// The API server refuses the very delete.
pub fn of_the_target() {
    let cluster = cluster();
    let trial = Trial::on(&cluster, "refused", "Background");
    let target = trial.config_map("target").create();
    webhook(&trial, "refuses", &trial.namespace, "missing", &["DELETE"]);
    is_asked(&trial, &target, &Method::DELETE);
    let incident = incident(&trial, &["configmaps/target"], &["refuses.incident.test"]);
    // Whoever heals the webhook can delete the object again.
    Incident { plan: Foreseen::Refused, ..incident }.play();
    trial.cluster.delete(&trial.cluster.path_of(&target), Some("Background"), None);
    assert!(trial.cluster.get(&trial.cluster.path_of(&target)).is_none());
}

pub fn a_policy() {
    let cluster = cluster();
    let trial = Trial::on(&cluster, "policy", "Foreground");
    let [owner, below] = family(&trial);
    let name = trial.global("keep").replace('.', "-");
    let api_version = "admissionregistration.k8s.io/v1";
    let selector = json!({"matchLabels": {"kubernetes.io/metadata.name": trial.namespace}});
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["configmaps"]});
    trial.cluster.create(json!({
        "apiVersion": api_version, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": selector},
            "validations": [{"expression": "false", "message": "nothing is deleted here"}],
        },
    }));
    trial.cluster.create(json!({
        "apiVersion": api_version, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }));
    is_asked(&trial, &below, &Method::DELETE);
    let incident = incident(&trial, &["widgets/owner", "--propagation=foreground"], &[&name]);
    Incident { gone: vec![owner, below], ..incident }.play();
}
