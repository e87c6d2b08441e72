//! Definitions of custom resources, whose instances go with them. On a cluster of its own, because the other tests count on what
//! theirs serves.

use serde_json::json;

use super::{
    draft::HOLD,
    trial::{POLICIES, Trial, all_come_true, foretell},
};
use crate::harness::{COLLECTOR, Cluster, NAMESPACES, Options, owner_reference};

/// The definition of a kind named after a policy, in a group of its own.
fn definition(policy: &str) -> String {
    let policy = policy.to_lowercase();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("crates.{policy}.test")},
        "spec": {
            "group": format!("{policy}.test"),
            "scope": "Namespaced",
            "names": {"kind": "Crate", "singular": "crate", "plural": "crates"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
    .to_string()
}

/// Instances with and without finalizers, each with a dependent; one that is held, if wanted.
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
        let mut dependent = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("of-{name}")}});
        dependent["metadata"]["namespace"] = owner["metadata"]["namespace"].clone();
        let mut reference = owner_reference(&owner);
        reference["blockOwnerDeletion"] = json!(true);
        dependent["metadata"]["ownerReferences"] = json!([reference]);
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
    let cluster = Cluster::start(&Options::default());
    for policy in POLICIES {
        cluster.apply_yaml(&definition(policy));
    }
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let cases = POLICIES.map(|policy| {
        let trial = Trial::on(&cluster, "crates", policy);
        trial.includes(&name(policy));
        // What the policy asks for is ignored, so each of them can also be used for another case.
        instances(&trial, policy == "Foreground");
        trial.deleting(vec![format!("crd/{}", name(policy))])
    });
    all_come_true(&foretell(cases.into()));
}
