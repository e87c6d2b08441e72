//! Objects that no longer satisfy the schema of their CRD: the API server refuses the collector's changes (R1.36).

use http::Method;
use serde_json::{Value, json};

use super::{
    examine, follow,
    kit::{is_gone, is_terminating, names, words},
};
use crate::harness::{Alone, COLLECTOR, NAMESPACES, Options, PATIENCE, owner_reference, uid};

/// A CRD whose objects must have these top-level fields.
fn definition(required: &[&str]) -> Value {
    let schema = json!({"type": "object", "required": required, "x-kubernetes-preserve-unknown-fields": true});
    object!("apiextensions.k8s.io/v1 CustomResourceDefinition", {
        "name": "seals.strict.test",
        "spec": {
            "group": "strict.test",
            "scope": "Namespaced",
            "names": {"kind": "Seal", "singular": "seal", "plural": "seals"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn object(kind: &str, name: &str, namespace: &str, owner: Option<&Value>) -> Value {
    let api_version = if kind == "Seal" { "strict.test/v1" } else { "v1" };
    let owners: Vec<Value> = owner.map(owner_reference).into_iter().collect();
    json!({"apiVersion": api_version, "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "ownerReferences": owners}})
}

/// The CRD requires a field later that its objects lack. Validation forgives only fields that don't change, and a
/// change of metadata changes the object.
pub fn objects_that_became_invalid() {
    let cluster = Alone::start(&Options::default());
    let crd = cluster.create(definition(&[]));
    let place = cluster.namespace("seals");
    let seal = object("Seal", "first", &place, None);
    let served = || cluster.ask(&Method::POST, &cluster.collection_of(&seal), Some(("application/json", &seal)));
    cluster.wait_until("a Seal to be accepted", PATIENCE, || served().is_success());
    let make = |kind: &str, name: &str, owner: Option<&Value>| cluster.create(object(kind, name, &place, owner));
    let [waits, frees] = ["waits", "frees"].map(|name| make("Seal", name, None));
    let below = make("ConfigMap", "below", Some(&frees));
    let owner = make("ConfigMap", "owner", None);
    let owned = make("Seal", "owned", Some(&owner));
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    cluster.seen_by_collector(&[uid(&below), uid(&owned)]);
    // Now every Seal must have a spec.
    let strict = json!({"spec": definition(&["spec"])["spec"]});
    cluster.patch(&cluster.path_of(&crd), &strict);
    let annotate = json!({"metadata": {"annotations": {"a": "b"}}});
    let patch = format!("{}?dryRun=All", cluster.path_of(&owned));
    let refused = || cluster.ask(&Method::PATCH, &patch, Some(("application/merge-patch+json", &annotate)));
    cluster.wait_until("the schema to apply", PATIENCE, || refused().status == 422);

    // A plan says so before anything happens, and so does a dry run of the delete.
    for (target, policy) in [("seal/waits", "foreground"), ("seal/frees", "orphan"), ("cm/owner", "orphan")] {
        let ran = cluster.gc(&["plan", target, "-n", &place, "-o", "json", "--propagation", policy]);
        let plan: Value = serde_json::from_str(ran.expect(2)).expect("a plan in JSON");
        assert_eq!(plan["verdict"]["result"], "stuck", "{target}: {plan:#}");
        let obstacle = &plan["obstacles"][0];
        let named = (&obstacle["obstacle"], &obstacle["object"]["name"]);
        assert_eq!(named, (&json!("stuck-on-schema"), &json!("seals.strict.test")), "{target}: {plan:#}");
        assert!(words(obstacle, "message").contains("spec: Required value"), "{obstacle:#}");
        let ran = cluster.gc(&["delete", target, "-n", &place, "--dry-run=server", "--propagation", policy]);
        assert!(ran.stdout.contains("no longer satisfy the schema"), "{target}: {}{}", ran.stdout, ran.stderr);
    }
    // A delete in the background changes none of them.
    let ran = cluster.gc(&["plan", "seal/waits", "-n", &place, "-o", "json"]);
    assert!(ran.expect(0).contains("\"result\": \"deletes\""), "{}", ran.stdout);
    // The deletes are accepted, and never end.
    for (object, policy) in [(&waits, "Foreground"), (&frees, "Orphan"), (&owner, "Orphan")] {
        cluster.delete(&cluster.path_of(object), Some(policy), None);
        is_terminating(&cluster, object);
    }
    let path = cluster.path_of(&below);
    let freed = || cluster.get(&path).is_some_and(|now| now["metadata"]["ownerReferences"].is_null());
    cluster.wait_until("the ConfigMap to be freed", PATIENCE, freed);
    cluster.settled();
    let found = examine(&cluster, &["-n", &place]);
    let finding = found.one("stuck-on-schema", "waits");
    assert_eq!(names(&finding["objects"]), ["owner", "frees", "waits"], "{:#}", found.document);
    assert_eq!(names(&finding["related"]), ["owned", "seals.strict.test"], "{:#}", found.document);
    assert!(words(finding, "message").contains("spec: Required value"), "{finding:#}");
    assert!(found.findings().all(|other| other["code"] != "collector-idle"), "{:#}", found.document);

    // The first remedy ends what waits for its own finalizer, and loses nothing.
    follow(&cluster, finding, 0);
    is_gone(&cluster, &waits);
    is_gone(&cluster, &frees);
    assert!(freed(), "the dependent is kept");
    // The owner still waits for a Seal that can't be freed. Once that is valid, the collector frees it.
    let finding = examine(&cluster, &["-n", &place]).one("stuck-on-schema", "owner").clone();
    let edit = words(&finding, "remedy").to_owned();
    assert!(edit.starts_with("kubectl edit seals.strict.test/owned"), "{edit}");
    cluster.patch(&cluster.path_of(&owned), &json!({"spec": {}}));
    is_gone(&cluster, &owner);
    let left = cluster.get(&cluster.path_of(&owned)).expect("it is kept");
    assert!(left["metadata"]["ownerReferences"].is_null(), "{left:#}");
}
