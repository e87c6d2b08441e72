//! Kinds that the collector doesn't watch yet.

use http::Method;
use serde_json::{Value, json};

use crate::harness::{Alone, COLLECTOR, Cluster, Options, PATIENCE, definition_of, owner_reference};

fn config_map(name: &str) -> Value {
    object!("v1 ConfigMap", {"name": name, "namespace": "default"})
}

/// A ConfigMap that owns a Seedling.
fn planted(cluster: &Cluster, group: &str, name: &str) -> (Value, Value) {
    let owner = cluster.create(config_map(name));
    let list = format!("/apis/{group}/v1/namespaces/default/seedlings");
    let seedling = json!({
        "apiVersion": format!("{group}/v1"),
        "kind": "Seedling",
        "metadata": {"name": name, "namespace": "default", "ownerReferences": [owner_reference(&owner)]},
    });
    let create = || cluster.ask(&Method::POST, &list, Some(("application/json", &seedling))).is_success();
    cluster.wait_until("a Seedling to be accepted", PATIENCE, create);
    let seedling = cluster.get(&format!("{list}/{name}")).expect("it was created");
    (owner, seedling)
}

/// Whether the plan to orphan this Seedling is certain; checks that it says why not.
fn certain(cluster: &Cluster, owner: &str) -> bool {
    let ran = cluster.gc(&["plan", &format!("cm/{owner}"), "-n", "default", "--cascade=orphan", "-o", "json"]).ended(0);
    let plan = ran.json();
    let outcomes = plan["outcomes"].as_array().unwrap();
    let orphan = outcomes.iter().find(|outcome| outcome["object"]["kind"] == "Seedling").unwrap();
    assert_eq!(orphan["outcome"], "Orphaned", "{plan:#}");
    let certain = orphan["certain"].as_bool().unwrap();
    let told = plan["assumes"].to_string().contains("the collector already watches Seedling");
    assert_eq!(told, !certain, "{plan:#}");
    if !certain {
        assert_eq!((&orphan["uncertainBecause"], &plan["verdict"]["certain"]), (&json!("assumption"), &json!(false)));
    }
    certain
}

/// R2.5: an orphaning frees nothing of a kind that is not watched yet. Its objects are deleted later, because their
/// owner is gone.
#[test]
#[ignore = "long: waits until a kind is old"]
fn an_orphan_of_a_young_kind_may_be_deleted() {
    let cluster = Alone::start(&Options::default());
    cluster.start_controllers(&[COLLECTOR]);
    // The collector works.
    let canary = cluster.create(config_map("canary"));
    let mut follows = config_map("follows");
    follows["metadata"]["ownerReferences"] = json!([owner_reference(&canary)]);
    let follows = cluster.create(follows);
    cluster.delete(&cluster.path_of(&canary), Some("Background"), None);
    let gone = |object: &Value| cluster.get(&cluster.path_of(object)).is_none();
    cluster.wait_until("the collector", PATIENCE, || gone(&follows));
    // It may ask for new resources just after the CRD was created, but not every time.
    let lost = (0..4).any(|round| {
        let group = format!("young{round}.test");
        cluster.create(definition_of(&group, "Seedling", "seedlings", &["v1"]));
        let (owner, seedling) = planted(&cluster, &group, &format!("seedling-{round}"));
        assert!(!certain(&cluster, &format!("seedling-{round}")));
        cluster.delete(&cluster.path_of(&owner), Some("Orphan"), None);
        cluster.wait_until("the owner to be deleted", PATIENCE, || gone(&owner));
        let freed =
            || cluster.get(&cluster.path_of(&seedling)).is_some_and(|now| now["metadata"]["ownerReferences"].is_null());
        cluster.wait_until("the Seedling to be freed or deleted", PATIENCE, || gone(&seedling) || freed());
        gone(&seedling)
    });
    assert!(lost, "no Seedling was deleted");
    // The first kind is no longer young.
    let (owner, seedling) = planted(&cluster, "young0.test", "later");
    cluster.wait_until("the plan to be certain", PATIENCE, || certain(&cluster, "later"));
    cluster.delete(&cluster.path_of(&owner), Some("Orphan"), None);
    let freed =
        || cluster.get(&cluster.path_of(&seedling)).is_some_and(|now| now["metadata"]["ownerReferences"].is_null());
    cluster.wait_until("the Seedling to be freed", PATIENCE, freed);
}
