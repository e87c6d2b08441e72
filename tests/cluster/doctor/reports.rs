//! What people wrote in public and that needs a control plane: what the API server says is believed, also in the first
//! minute, and remedies that a policy refuses are not the first.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::{
    Found,
    apis::definition,
    examine, follow,
    kit::{is_gone, words},
};
use crate::{
    harness::{Alone, Audit, COLLECTOR, Cluster, NAMESPACES, Options, PATIENCE},
    plan::trial::Trial,
};

/// The cluster is its own, because of its webhooks and policies.
#[test]
#[ignore = "long: four clusters of their own"]
fn situations_that_people_reported() {
    let audit = Audit::new();
    let cluster = Alone::start(&Options { api_server: audit.flags(), ..Options::default() });
    cluster.create(definition("crates", &["v1", "v2"]));
    cluster.create(definition("routers", &["v1"]));
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    who_deleted_it(&cluster, &audit);
    a_webhook_in_the_namespace_that_goes(&cluster);
    a_policy_without_its_parameters(&cluster);
    a_storage_version_that_went_back(&cluster);
    a_stored_version_that_is_gone(&cluster);
}

/// The output of a command about one target.
fn said(cluster: &Cluster, args: &[&str]) -> String {
    let ran = cluster.gc(args);
    format!("{} {}", ran.stdout, ran.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An object that is gone, and the audit log: the collector deleted it, because somebody deleted its owner.
fn who_deleted_it(cluster: &Cluster, audit: &Audit) {
    let trial = Trial::on(cluster, "reported", "Background");
    let owner = trial.config_map("owner").create();
    let below = trial.config_map("below").owned_by(&owner).create();
    cluster.delete(&cluster.path_of(&owner), Some("Background"), None);
    is_gone(cluster, &below);
    let log = audit.log();
    let log = log.to_str().expect("UTF-8");
    for command in ["explain", "doctor"] {
        let told = said(cluster, &[command, "cm/below", "-n", &trial.namespace, "--evidence", log]);
        for text in ["The garbage collector deleted it ", "and may have been its owner: configmaps/owner by "] {
            assert!(told.contains(text), "{text:?}: {told}");
        }
    }
}

fn create(cluster: &Cluster, kind: &str, version: &str, namespace: &str, metadata: Value) -> Value {
    let mut object = json!({"apiVersion": format!("odd.test/{version}"), "kind": kind, "metadata": metadata});
    object["metadata"]["namespace"] = json!(namespace);
    cluster.create(object)
}

/// A webhook guards what is in the namespace, and its own service was there: in the first minute, too, nobody says that
/// nothing blocks the delete.
fn a_webhook_in_the_namespace_that_goes(cluster: &Cluster) {
    let place = cluster.namespace("mesh");
    let router = create(cluster, "Router", "v1", &place, json!({"name": "r1"}));
    let rules = json!([{"apiGroups": ["odd.test"], "apiVersions": ["*"], "resources": ["routers"],
        "operations": ["DELETE"]}]);
    let guard = cluster.create(object!("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", {
        "name": "guard",
        "webhooks": [{
            "name": "guard.odd.test", "rules": rules, "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "timeoutSeconds": 1, "clientConfig": {"service": {"namespace": place, "name": "guard"}},
        }],
    }));
    let path = format!("{}?dryRun=All", cluster.path_of(&router));
    let refuses = || !cluster.ask(&Method::DELETE, &path, None).is_success();
    cluster.wait_until("the webhook to count", PATIENCE, refuses);
    let namespace = format!("/api/v1/namespaces/{place}");
    cluster.delete(&namespace, Some("Background"), None);
    let fails = || cluster.has_condition(&namespace, "NamespaceDeletionContentFailure", "True");
    cluster.wait_until("the namespace controller to fail", PATIENCE, fails);
    let target = format!("ns/{place}");
    let told = said(cluster, &["explain", &target]);
    assert!(told.contains("guard") && told.contains("NamespaceDeletionContentFailure"), "{told}");
    for wrong in ["nothing blocks", "the collector deletes it", "Router/r1 -n mesh will be deleted"] {
        assert!(!told.contains(wrong), "{wrong:?}: {told}");
    }
    let ran = cluster.gc(&["doctor", &target]);
    assert!(ran.code == Some(2) && ran.stdout.contains("guard"), "{}", ran.stdout);
    let told = said(cluster, &["explain", "router/r1", "-n", &place]);
    assert!(!told.contains("WILL BE DELETED"), "{told}");
    // Its first remedy helps.
    let found = examine(cluster, &[&target]);
    follow(cluster, found.one("namespace-stuck", &place), 0);
    is_gone(cluster, &router);
    cluster.delete(&cluster.path_of(&guard), Some("Background"), None);
}

/// A policy refuses what it matches once its parameters are gone, also the removal of a finalizer.
fn a_policy_without_its_parameters(cluster: &Cluster) {
    let trial = Trial::on(cluster, "limited", "Background");
    let place = trial.namespace.as_str();
    let held = trial.config_map("data").finalizer("acme.io/backup-first").create();
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["configmaps"]});
    let selector = json!({"matchLabels": {"kubernetes.io/metadata.name": place}});
    let policy = json!({
        "matchConstraints": {"resourceRules": [rule], "namespaceSelector": selector},
        "paramKind": {"apiVersion": "odd.test/v1", "kind": "Router"},
        "validations": [{"expression": "size(object.metadata.name) < 100"}],
    });
    let bound = json!({"policyName": place, "validationActions": ["Deny"],
        "paramRef": {"selector": {}, "parameterNotFoundAction": "Deny"}});
    for (kind, spec) in [("ValidatingAdmissionPolicy", policy), ("ValidatingAdmissionPolicyBinding", bound)] {
        cluster.create(json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
            "metadata": {"name": place}, "spec": spec}));
    }
    let patch = json!([{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]);
    let path = format!("{}?dryRun=All", cluster.path_of(&held));
    let body = Some(("application/json-patch+json", &patch));
    let refuses = || !cluster.ask(&Method::PATCH, &path, body).is_success();
    cluster.wait_until("the policy to count", PATIENCE, refuses);
    cluster.delete(&cluster.path_of(&held), Some("Background"), None);
    let args = ["cm/data", "-n", place];
    let found = examine(cluster, &args);
    let finding = found.one("stuck-finalizer", "data");
    let refused =
        format!("ValidatingAdmissionPolicy/{place} refuses the remedies below (its parameters of kind Router");
    assert!(words(finding, "consequence").contains(&refused), "{finding:#}");
    assert!(said(cluster, &["explain", "cm/data", "-n", place]).contains(&refused));
    follow(cluster, finding, 0);
    cluster.wait_until("the policy to let it pass", PATIENCE, || !refuses());
    follow(cluster, examine(cluster, &args).one("stuck-finalizer", "data"), 0);
    is_gone(cluster, &held);
}

/// An object is stored in a version that isn't the stored one any more, and the conversion webhook is gone: a list in
/// its own version works, and the CRD can't be deleted. Nobody says that nothing keeps it.
fn a_storage_version_that_went_back(cluster: &Cluster) {
    let place = cluster.namespace("gone-back");
    create(cluster, "Crate", "v2", &place, json!({"name": "a"}));
    let mut definition = definition("crates", &["v2", "v1"]);
    definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "nowhere", "name": "gone", "path": "/convert"}}}});
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crates.odd.test";
    let answer = cluster.ask(&Method::PATCH, path, Some(("application/merge-patch+json", &definition)));
    assert!(answer.is_success(), "{}", answer.text());
    let objects = format!("/apis/odd.test/v1/namespaces/{place}/crates");
    let fails = || !cluster.ask(&Method::GET, &objects, None).is_success();
    cluster.wait_until("the conversion to count", PATIENCE, fails);
    let ran = cluster.gc(&["plan", "crd/crates.odd.test", "-o", "json"]);
    assert_ne!(ran.json()["verdict"]["certain"], true, "{}", ran.stdout);
    cluster.delete(path, Some("Background"), None);
    let failed = || {
        let conditions = cluster.get(path).map(|found| found["status"]["conditions"].clone()).unwrap_or_default();
        conditions.as_array().into_iter().flatten().any(|condition| condition["reason"] == "InstanceDeletionFailed")
    };
    cluster.wait_until("the API server to fail", Duration::from_secs(90), failed);
    for command in ["doctor", "explain"] {
        let told = said(cluster, &[command, "crd/crates.odd.test"]);
        assert!(told.contains("conversion"), "{told}");
        assert!(!told.contains("Nothing else keeps it") && !told.contains("nothing blocks"), "{told}");
    }
}

/// An object is stored in a version that its CRD no longer has. A dump of the CRD alone says why that doesn't go.
fn a_stored_version_that_is_gone(cluster: &Cluster) {
    let place = cluster.namespace("gone-version");
    let tubs = cluster.create(definition("tubs", &["v1"]));
    cluster.await_kind(&tubs);
    create(cluster, "Tub", "v1", &place, json!({"name": "a"}));
    let path = cluster.path_of(&tubs);
    for versions in [&["v1", "v2"][..], &["v2"]] {
        cluster.patch(&path, &json!({"spec": definition("tubs", versions)["spec"]}));
        cluster.patch(&format!("{path}/status"), &json!({"status": {"storedVersions": ["v2"]}}));
    }
    let lists = || cluster.ask(&Method::GET, "/apis/odd.test/v2/tubs?limit=500", None);
    cluster.wait_until("the lists to fail", PATIENCE, || lists().text().contains("invalid group/version"));
    cluster.delete(&path, Some("Background"), None);
    // Each new try of the API server begins with another condition.
    let mut failed = None;
    cluster.wait_until("the API server to fail", Duration::from_secs(90), || {
        let found = cluster.get(&path).expect("nobody can delete its instances");
        failed = found["status"]["conditions"].to_string().contains("InstanceDeletionFailed").then_some(found);
        failed.is_some()
    });
    let file = cluster.folder().join("tubs.json");
    std::fs::write(&file, failed.expect("it failed").to_string()).expect("a file");
    let ran = cluster.gc(&["doctor", "-o", "json", "--from", file.to_str().expect("UTF-8")]);
    let found = Found::of(&ran);
    let finding = found.one("definition-stuck", "tubs.odd.test");
    assert!(words(finding, "message").contains("InstanceDeletionFailed"), "{finding:#}");
}
