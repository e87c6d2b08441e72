//! Writes to etcd, bypassing the API server.

use std::thread;

use http::Method;
use serde_json::{Value, json};

use crate::{
    harness::{Alone, LOST_KEY, Options, PATIENCE, shared, uid},
    plan::draft::HOLD,
};

#[test]
#[ignore = "long: is about the tests themselves"]
fn keys_are_written_read_and_deleted() {
    let cluster = Alone::start(&Options::default());
    let key = format!("/test/{}", cluster.unique("key"));
    assert_eq!(cluster.etcd_get(&key), None);
    for value in [&b"\0\xff any bytes"[..], b""] {
        cluster.etcd_put(&key, value);
        assert_eq!(cluster.etcd_get(&key).as_deref(), Some(value));
    }
    cluster.etcd_delete(&key);
    assert_eq!(cluster.etcd_get(&key), None);
}

/// The etcd key under which the API server stores objects.
#[test]
#[ignore = "long: is about the tests themselves"]
fn the_key_of_an_object_is_known() {
    let cluster = Alone::usual();
    let namespace = cluster.namespace("keys");
    let metadata = |name: &str| json!({"name": name, "namespace": namespace});
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
    let objects = [
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("a")}),
        json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": metadata("a")}),
        object!("v1 Node", {"name": cluster.unique("node")}),
        json!({
            "apiVersion": "v1",
            "kind": "ReplicationController",
            "metadata": metadata("a"),
            "spec": {"replicas": 0, "selector": {"a": "b"}, "template": template},
        }),
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata("a"),
            "spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": template},
        }),
        json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": metadata("a"),
            "spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 1}}}},
        }),
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata("a")}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata("a")}),
        json!({"apiVersion": "gc.test/v1", "kind": "Widget", "metadata": metadata("a")}),
        object!("gc.test/v1 Rack", {"name": cluster.unique("rack")}),
    ];
    let there = [
        ("v1", "Namespace", None, namespace.as_str()),
        ("v1", "Service", Some("default"), "kubernetes"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", None, "widgets.gc.test"),
        ("apiregistration.k8s.io/v1", "APIService", None, "v1.apps"),
    ];
    let there = there.map(|(api_version, kind, namespace, name)| {
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}})
    });
    for object in &objects {
        cluster.create(object);
    }
    for object in objects.iter().chain(&there) {
        let key = cluster.etcd_key(object);
        assert!(cluster.etcd_get(&key).is_some_and(|value| !value.is_empty()), "nothing under {key}: {object}");
    }
}

/// A reference that no API server accepts.
fn impossible() -> Value {
    json!({"apiVersion": "a/b/c", "kind": "Shop", "name": "", "uid": "gone"})
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn what_the_server_would_refuse_is_stored() {
    let cluster = shared();
    let namespace = cluster.namespace("stored");
    for (api_version, kind) in [("v1", "ConfigMap"), ("gc.test/v1", "Widget")] {
        let object = json!({
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": "bad", "namespace": namespace, "ownerReferences": [impossible()]},
        });
        let collection = cluster.collection_of(&object);
        let refused = cluster.ask(&Method::POST, &collection, Some(("application/json", &object)));
        assert_eq!(refused.status, 422, "{}", refused.text());

        let stored = cluster.store(&object);
        assert_eq!(stored["metadata"]["ownerReferences"], json!([impossible()]), "{stored}");
        assert!(stored["metadata"]["creationTimestamp"].is_string() && uid(&stored).len() == 36, "{stored}");
        assert_eq!(cluster.get(&cluster.path_of(&object)).as_ref(), Some(&stored));
        let listed = cluster.list(&collection);
        assert!(listed.iter().any(|item| item["metadata"]["ownerReferences"] == json!([impossible()])), "{listed:?}");
    }
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn what_is_stored_anew_stays_the_same_object() {
    let cluster = Alone::start(&Options::default());
    let namespace = cluster.namespace("stored");
    let mut object = cluster.create(object!("v1 ConfigMap", {"name": "a", "namespace": namespace}));
    let before = object.clone();
    object["metadata"]["deletionTimestamp"] = json!("2020-01-01T00:00:00Z");
    object["metadata"]["finalizers"] = json!([HOLD]);
    let stored = cluster.store(&object);
    for kept in ["uid", "creationTimestamp"] {
        assert_eq!(stored["metadata"][kept], before["metadata"][kept]);
    }
    assert_eq!(stored["metadata"]["deletionTimestamp"], object["metadata"]["deletionTimestamp"]);
    assert_eq!(stored["metadata"]["finalizers"], object["metadata"]["finalizers"]);
    assert_ne!(stored["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
    // Remove it from etcd: nothing would remove its finalizer.
    cluster.etcd_delete(&cluster.etcd_key(&object));
    cluster.wait_until("it to go", PATIENCE, || cluster.get(&cluster.path_of(&object)).is_none());
}

fn named(api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "default"}})
}

/// An object that can't be decoded makes lists of its kind fail. Only the decoder's message says why; it names the key
/// only if decryption failed.
#[test]
#[ignore = "long: is about the tests themselves"]
fn what_is_spoiled_spoils_the_lists() {
    let cluster = Alone::with(&[]);
    let cases = [
        ("v1", "ConfigMap", None, "couldn't get version/kind; json parse error: unexpected end of JSON input"),
        ("gc.test/v1", "Widget", None, "unexpected end of JSON input"),
        (
            "v1",
            "Secret",
            Some(LOST_KEY),
            "Internal error occurred: unable to transform key \"/registry/secrets/default/spoiled\": identity \
                transformer tried to read \
             encrypted data",
        ),
    ];
    // In parallel, because each takes half a minute.
    thread::scope(|scope| {
        for (api_version, kind, bytes, expected) in cases {
            let cluster = &cluster;
            scope.spawn(move || check_spoiled(cluster, api_version, kind, bytes, expected));
        }
    });
}

fn check_spoiled(cluster: &Alone, api_version: &str, kind: &str, bytes: Option<&[u8]>, expected: &str) {
    let beside = cluster.create(named(api_version, kind, "beside"));
    let spoiled = named(api_version, kind, "spoiled");
    let list = match bytes {
        None => cluster.spoil(&spoiled),
        Some(bytes) => cluster.spoil_with(&spoiled, bytes),
    };
    assert_eq!((list.status, list.json()["message"].as_str()), (500, Some(expected)), "{kind}");
    let collection = cluster.collection_of(&spoiled);
    let ask = |method, path: &str| cluster.ask(&method, path, None);
    // A list from the cache, as informers do it, gets a 429: retry later.
    let watched = ask(Method::GET, &format!("{collection}?resourceVersion=0"));
    assert_eq!(watched.status, 429, "{}", watched.text());
    let path = cluster.path_of(&spoiled);
    assert_eq!([ask(Method::GET, &path).status, ask(Method::DELETE, &path).status], [500, 500], "{kind}");
    assert!(cluster.get(&cluster.path_of(&beside)).is_some(), "what is beside it is still there");

    cluster.etcd_delete(&cluster.etcd_key(&spoiled));
    let lists = ["limit=500", "resourceVersion=0"];
    cluster.wait_until("lists to work again", PATIENCE, || {
        lists.iter().all(|query| ask(Method::GET, &format!("{collection}?{query}")).is_success())
    });
}
