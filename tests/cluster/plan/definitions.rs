//! CRDs, whose instances are deleted with them. They need a cluster of their own, because other tests depend on the
//! kinds that theirs serves.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    draft::{HOLD, blocking},
    trial::{POLICIES, Trial, all_come_true, predict},
};
use crate::{
    doctor::unconvertible,
    harness::{Alone, COLLECTOR, NAMESPACES, Options, Ran, definition_of, wait_until},
};

/// The CRD of a kind named after a policy, in a group of its own.
fn definition(policy: &str) -> String {
    definition_of(&format!("{}.test", policy.to_lowercase()), "Crate", "crates", &["v1"]).to_string()
}

/// Instances with and without finalizers, each with a dependent; on request, one with a foreign finalizer.
fn instances(trial: &Trial<'_>, held: bool) {
    let mut finalizers = vec![("plain", None), ("orphans", Some("orphan")), ("waits", Some("foregroundDeletion"))];
    if held {
        finalizers.push(("held", Some(HOLD)));
    }
    let elsewhere = trial.another_namespace();
    for (name, finalizer) in finalizers {
        let mut crate_ = json!({
            "apiVersion": format!("{}.test/v1", trial.policy.to_lowercase()),
            "kind": "Crate",
            "metadata": {"name": name, "namespace": if name == "plain" { &elsewhere } else { &trial.namespace }},
        });
        if let Some(finalizer) = finalizer {
            crate_["metadata"]["finalizers"] = json!([finalizer]);
        }
        let owner = trial.cluster.create(crate_);
        let mut dependent = object!("v1 ConfigMap", {"name": format!("of-{name}")});
        dependent["metadata"]["namespace"] = owner["metadata"]["namespace"].clone();
        dependent["metadata"]["ownerReferences"] = json!([blocking(&owner)]);
        trial.cluster.create(dependent);
    }
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}", name(trial.policy));
    let definition = trial.cluster.get(&path).expect("it was made at the start");
    trial.config_map("of-the-definition").blocking(&definition).create();
}

fn name(policy: &str) -> String {
    format!("crates.{}.test", policy.to_lowercase())
}

#[test]
fn a_definition_goes_with_its_instances_whatever_the_policy() {
    let cluster = Alone::start(&Options::default());
    for policy in POLICIES {
        cluster.apply_yaml(&definition(policy));
    }
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let cases = POLICIES.map(|policy| {
        let trial = Trial::on(&cluster, "crates", policy);
        trial.includes(&name(policy));
        // The API server removes it with the last definition of its group (R9.21).
        trial.includes(&format!("v1.{}.test", policy.to_lowercase()));
        // The policy makes no difference, so each one can test another case as well.
        instances(&trial, policy == "Foreground");
        trial.deleting(vec![format!("crd/{}", name(policy))])
    });
    all_come_true(&predict(cases.into()));
}

fn condition(definition: &Value, kind: &str, status: &str) -> bool {
    let conditions = definition["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.iter().any(|condition| condition["type"] == kind && condition["status"] == status)
}

/// The plan's outcome for the CRD itself.
fn of_definition(ran: &Ran) -> Value {
    let plan = ran.json();
    let outcomes = plan["outcomes"].as_array().cloned().unwrap_or_default();
    let found = outcomes.iter().find(|outcome| outcome["object"]["kind"] == "CustomResourceDefinition").cloned();
    found.unwrap_or_else(|| panic!("no definition among {outcomes:#?}"))
}

#[test]
#[ignore = "long: a cluster of its own with a taken kind"]
fn a_definition_whose_kind_is_taken_has_no_instances() {
    let cluster = Alone::start(&Options::default());
    let path = |plural: &str| format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.odd.test");
    cluster.create(definition_of("odd.test", "Crate", "crates", &["v1"]));
    cluster.create(object!("odd.test/v1 Crate", {"name": "kept", "namespace": "default"}));
    cluster.create(definition_of("odd.test", "Crate", "boxes", &["v1"]));
    wait_until("its names to be refused", Duration::from_secs(20), || {
        cluster.get(&path("boxes")).is_some_and(|now| condition(&now, "NamesAccepted", "False"))
    });
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let ran = cluster.gc(&["plan", "-o", "json", "crd/boxes.odd.test"]).ended(0);
    let plan = ran.json();
    let outcomes = plan["outcomes"].as_array().expect("outcomes");
    assert_eq!(
        (outcomes.len(), &outcomes[0]["outcome"], &outcomes[0]["certain"]),
        (1, &json!("Deleted"), &json!(true)),
        "{outcomes:#?}"
    );
    cluster.delete(&path("boxes"), Some("Background"), None);
    wait_until("it to go", Duration::from_secs(20), || cluster.get(&path("boxes")).is_none());
    assert!(cluster.get("/apis/odd.test/v1/namespaces/default/crates/kept").is_some());
}

#[test]
#[ignore = "long: waits for retries"]
fn a_definition_whose_instances_cannot_be_converted_stays() {
    let cluster = Alone::start(&Options::default());
    let (jars, _) = unconvertible(&cluster);
    let path = cluster.path_of(&jars);
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let ran = cluster.gc(&["plan", "-o", "json", "crd/jars.odd.test"]);
    let describe = of_definition(&ran);
    assert_eq!(
        (&describe["outcome"], &describe["state"], &describe["certain"]),
        (&json!("Terminating"), &json!("stuck"), &json!(false)),
        "{describe:#}"
    );
    ran.expect(2);
    // Whether a namespace contains any is unknown, too.
    let namespace = cluster.namespace("kept");
    let ran = cluster.gc(&["plan", "-o", "json", &format!("ns/{namespace}")]).ended(2);
    let of_namespace = ran.json()["outcomes"][0].clone();
    assert_eq!(
        (&of_namespace["outcome"], &of_namespace["state"]),
        (&json!("Terminating"), &json!("stuck")),
        "{of_namespace:#}"
    );
    assert_eq!(of_namespace["heldBy"], json!(["spec.finalizers", "jars.odd.test"]));
    let in_namespace = format!("/api/v1/namespaces/{namespace}");
    cluster.delete(&in_namespace, Some("Background"), None);
    // The server tells the namespace controller to retry later, and the controller does so for minutes before it
    // reports anything.
    cluster
        .wait_until("the namespace controller to fail", Duration::from_mins(2), || cluster.retries_of("namespace") > 0);
    assert!(cluster.get(&in_namespace).is_some(), "it stays");
    cluster.delete(&path, Some("Background"), None);
    wait_until("the clean-up to fail", Duration::from_secs(40), || {
        let now = cluster.get(&path).expect("it stays");
        let conditions = now["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions
            .iter()
            .any(|condition| condition["type"] == "Terminating" && condition["reason"] == "InstanceDeletionFailed")
    });
}

/// R1.26: without a served version, the API server deletes the instances all the same. One with a finalizer keeps its
/// CRD, and nobody can free it before it is served again.
#[test]
fn a_definition_without_a_served_version_takes_its_instances_along() {
    let cluster = Alone::start(&Options::default());
    let path = |plural: &str| format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.odd.test");
    let instance = |kind: &str, finalizers: &[&str]| {
        json!({"apiVersion": "odd.test/v1", "kind": kind,
            "metadata": {"name": "one", "namespace": "default", "finalizers": finalizers}})
    };
    for (kind, plural, finalizers) in [("Jar", "jars", &[][..]), ("Box", "boxes", &[HOLD])] {
        let definition = definition_of("odd.test", kind, plural, &["v1"]);
        cluster.create(&definition);
        cluster.create(instance(kind, finalizers));
        let mut changed = definition["spec"].clone();
        changed["versions"][0]["served"] = json!(false);
        cluster.patch(&path(plural), &json!({ "spec": changed }));
        cluster.wait_until("the kind to be served no more", Duration::from_secs(30), || {
            !cluster.ask(&http::Method::GET, &format!("/apis/odd.test/v1/{plural}"), None).is_success()
                && !cluster.discovers(["odd.test", "v1", plural])
        });
        let ran = cluster.gc(&["plan", &format!("crd/{plural}.odd.test")]);
        let said = ran.expect(0);
        let why = format!("not certain: no version of {plural}.odd.test is served.");
        assert!(said.contains(&why) && said.contains("/spec/versions/0/served"), "{said}");
        cluster.delete(&path(plural), Some("Background"), None);
    }
    wait_until("the first to go", Duration::from_secs(30), || cluster.get(&path("jars")).is_none());
    let stored = |plural: &str| cluster.etcd_get(&format!("/registry/odd.test/{plural}/default/one"));
    assert!(stored("jars").is_none(), "its instance went, too");
    cluster.wait_until("the API server to delete the other", Duration::from_secs(30), || {
        stored("boxes").is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains("deletionTimestamp"))
    });
    let serve = json!([{"op": "replace", "path": "/spec/versions/0/served", "value": true}]);
    let left = || cluster.get("/apis/odd.test/v1/namespaces/default/boxes/one");
    assert!(left().is_none() && cluster.get(&path("boxes")).is_some(), "it waits for what nobody can read");
    let answer = cluster.ask(&http::Method::PATCH, &path("boxes"), Some(("application/json-patch+json", &serve)));
    assert!(answer.is_success(), "{}", answer.text());
    cluster.wait_until("it to be served again", Duration::from_secs(30), || left().is_some());
    cluster.patch("/apis/odd.test/v1/namespaces/default/boxes/one", &json!({"metadata": {"finalizers": null}}));
    wait_until("both to go", Duration::from_secs(30), || cluster.get(&path("boxes")).is_none());
}
