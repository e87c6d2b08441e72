//! Objects in a namespace that doesn't exist (S8), and objects with the uid of another object (R3.5).

use serde_json::{Value, json};

use super::{PATIENCE, examine, follow, mends};
use crate::{
    harness::{Alone, owner_reference, shared, uid},
    plan::trial::Trial,
};

/// S8: the API server answers an update in a missing namespace with 404, so the collector can't remove its finalizer.
#[test]
#[ignore = "long: slow"]
fn a_namespace_that_is_missing() {
    let cluster = Alone::usual();
    let trial = Trial::on(&cluster, "missing", "Foreground");
    let ns = trial.another_namespace();
    let waiting = trial.config_map("waiting").in_namespace(&ns).create();
    trial.config_map("kept").in_namespace(&ns).create();
    let namespace = object!("v1 Namespace", {"name": ns});
    cluster.etcd_delete(&cluster.etcd_key(&namespace));
    let dry_run = |ns: &str| {
        let path = format!("/api/v1/namespaces/{ns}/configmaps/kept?dryRun=All");
        let change = json!({"metadata": {"labels": {"a": "b"}}});
        cluster.ask(&http::Method::PATCH, &path, Some(("application/merge-patch+json", &change))).status
    };
    cluster.wait_until("the API server to miss the namespace", PATIENCE, || dry_run(&ns) == 404);
    cluster.delete(&cluster.path_of(&waiting), Some("Foreground"), None);
    let finding = mends(&cluster, &["configmaps/kept", "-n", &ns], "namespace-missing", "kept");
    assert_eq!(
        (&finding["severity"], &finding["message"]),
        (&json!("Error"), &json!(format!("The namespace {ns} does not exist.")))
    );
    let names: Vec<&Value> =
        finding["objects"].as_array().into_iter().flatten().map(|object| &object["name"]).collect();
    assert!(names.contains(&&json!("kept")) && names.contains(&&json!("waiting")), "{finding:#}");
    cluster.wait_until("the collector to get on", PATIENCE, || cluster.get(&cluster.path_of(&waiting)).is_none());
    assert_eq!(dry_run(&ns), 200);
}

/// An object that was restored with the uid of another. The remedy must not make the collector delete what the other
/// object owns.
#[test]
#[ignore = "long: writes to etcd, and waits for the collector"]
fn two_objects_with_one_uid() {
    let trial = Trial::on(shared(), "twins", "Background");
    let (cluster, ns) = (trial.cluster, trial.namespace.as_str());
    let original = trial.config_map("original").create();
    let of_original = trial.config_map("of-original").blocking(&original).create();
    let copy = object!("v1 ConfigMap", {
        "name": "restored", "namespace": ns, "uid": uid(&original),
        "data": {"kept": "yes"},
    });
    let copy = cluster.store(&copy);
    // An object that two API groups serve looks like this: same name, same uid.
    let both = trial.config_map("both").create();
    cluster.store(&object!("gc.test/v1 Widget", {"name": "both", "namespace": ns, "uid": uid(&both)}));
    let of_copy = trial.config_map("of-restored").owned_by(&copy).create();
    cluster.settled();
    let args = ["-n", ns, "--only", "shared-uid"];
    let found = examine(cluster, &args);
    let finding = found.one("shared-uid", "restored");
    assert_eq!((&finding["severity"], &finding["related"][0]["name"]), (&json!("Warning"), &json!("original")));
    let message = format!("It has the same uid as ConfigMap/original: {}.", uid(&original));
    assert_eq!(finding["message"], message);
    assert_eq!(found.findings().count(), 1, "{:#}", found.document);
    follow(cluster, finding, 0);
    assert_eq!(examine(cluster, &args).findings().count(), 0);
    cluster.settled();
    let now = |object: &Value| cluster.get(&cluster.path_of(object)).expect("it is kept");
    assert_eq!(uid(&now(&original)), uid(&original));
    assert_ne!(uid(&now(&copy)), uid(&original));
    assert_eq!(now(&copy)["data"], copy["data"]);
    assert_eq!(now(&of_original)["metadata"]["ownerReferences"][0]["uid"], uid(&original));
    assert_eq!(now(&of_copy)["metadata"]["ownerReferences"].as_array().map_or(0, Vec::len), 0);
    // An admin can give the dependent to the right owner.
    let owners = json!({"metadata": {"ownerReferences": [owner_reference(&now(&copy))]}});
    cluster.patch(&cluster.path_of(&of_copy), &owners);
    cluster.settled();
    now(&of_copy);
    assert_eq!(examine(cluster, &["-n", ns]).findings().count(), 0);
}
