//! The facts beyond metadata: a snapshot file contains the same facts as a dump of the whole objects.

use std::{fs, path::Path};

use gc_cluster::dump;
use gc_core::model::{
    ObjectId, Snapshot,
    facts::{Fact, LabelRequirement, LabelSelector, LeaseFacts, Setter, SliceFacts, WorkloadFacts},
};
use serde_json::{Value, json};

use crate::harness::{Alone, Cluster, CountingProxy, Options, PATIENCE, api_service, definition_of, uid};

/// This many objects of a kind in one namespace are listed, not read one by one.
const MANY: usize = 9;

/// A workload that no controller runs.
fn workload(kind: &str, namespace: &str) -> Value {
    let labels = json!({"app": kind});
    let mut object = json!({
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": kind.to_lowercase(), "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "main"}]}},
        },
    });
    if kind != "DaemonSet" {
        object["spec"]["replicas"] = json!(3);
    }
    object
}

/// `renewTime` of the Leases.
const RENEWED: i64 = 1_769_846_400;

fn lease(namespace: &str, name: &str) -> Value {
    object!("coordination.k8s.io/v1 Lease", {
        "name": name, "namespace": namespace,
        "spec": {"holderIdentity": format!("{name}-0"), "leaseDurationSeconds": 15,
            "renewTime": "2026-01-31T08:00:00.123456Z"},
    })
}

/// A webhook for a resource that doesn't exist, so that it affects no request.
fn webhooks(kind: &str, more: &Value) -> Value {
    let mut webhook = json!({
        "name": "hook.facts.test",
        "clientConfig": {"service": {"namespace": "nowhere", "name": "hook"}},
        "rules": [{"apiGroups": ["facts.test"], "apiVersions": ["v1"], "resources": ["nothings"],
            "operations": ["DELETE"]}],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        webhook[key] = value.clone();
    }
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "facts"},
        "webhooks": [webhook],
    })
}

fn definition() -> Value {
    let mut definition = definition_of("facts.test", "Crate", "crates", &["v2", "v1"]);
    definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "clientConfig": {"service": {"namespace": "nowhere", "name": "converter", "path": "/convert"}},
        "conversionReviewVersions": ["v1"],
    }});
    definition
}

/// The value of a condition of the object at a path.
fn condition(cluster: &Cluster, path: &str, kind: &str) -> Value {
    let object = cluster.get(path).unwrap_or_else(|| panic!("{path} was made"));
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions
        .into_iter()
        .find(|condition| condition["type"] == kind)
        .map(|condition| condition["status"].clone())
        .unwrap_or_default()
}

/// Creates one object of every kind with its own facts, in the state with most facts. Returns their paths.
fn furnish(cluster: &Cluster, namespace: &str) -> Vec<String> {
    let slice = object!("discovery.k8s.io/v1 EndpointSlice", {
        "name": "web-1", "namespace": namespace, "labels": {"kubernetes.io/service-name": "web"},
        "addressType": "IPv4",
        "endpoints": [
            {"addresses": ["10.1.0.1"], "conditions": {"ready": true}},
            {"addresses": ["10.1.0.2"], "conditions": {"ready": false}},
            {"addresses": ["10.1.0.3"]},
        ],
    });
    let empty = object!("discovery.k8s.io/v1 EndpointSlice", {
        "name": "web-2", "namespace": namespace,
        "addressType": "IPv4",
        "endpoints": [],
    });
    let selective =
        json!({"failurePolicy": "Ignore", "matchPolicy": "Exact", "objectSelector": {"matchLabels": {"a": "b"}}});
    let without = object!("admissionregistration.k8s.io/v1 MutatingWebhookConfiguration", {"name": "without"});
    let mut objects = vec![
        slice,
        empty,
        lease(namespace, "acme"),
        webhooks("ValidatingWebhookConfiguration", &json!({})),
        webhooks("MutatingWebhookConfiguration", &selective),
        without,
        definition(),
        api_service("away.test", "default", "away"),
    ];
    objects.extend(["Deployment", "StatefulSet", "ReplicaSet", "DaemonSet"].map(|kind| workload(kind, namespace)));
    let mut paths: Vec<String> = objects
        .iter()
        .map(|object| {
            cluster.create(object);
            cluster.path_of(object)
        })
        .collect();
    // A holder whose clock is years behind.
    let path = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/acme");
    cluster.wait_until("a Lease to be renewed", PATIENCE, || {
        let time = jiff::Timestamp::now().strftime("2026-01-31T08:00:00.%6fZ").to_string();
        let lease = cluster.patch(&path, &json!({"spec": {"leaseDurationSeconds": 1, "renewTime": time}}));
        let at = |value: &Value| value.as_str().and_then(|time| time.parse::<jiff::Timestamp>().ok());
        let metadata = &lease["metadata"];
        at(&metadata["managedFields"][0]["time"]).map(jiff::Timestamp::as_second)
            > at(&metadata["creationTimestamp"]).map(|created| created.as_second() + 1)
    });
    let in_apps = |plural_and_name: &str| format!("/apis/apps/v1/namespaces/{namespace}/{plural_and_name}/status");
    cluster.patch(&in_apps("deployments/deployment"), &json!({"status": {"replicas": 3, "readyReplicas": 2}}));
    let scheduled =
        json!({"currentNumberScheduled": 5, "numberMisscheduled": 0, "desiredNumberScheduled": 5, "numberReady": 4});
    cluster.patch(&in_apps("daemonsets/daemonset"), &json!({"status": scheduled}));
    let of_namespace = format!("/api/v1/namespaces/{namespace}");
    let describe = |kind: &str, status: &str| {
        json!({"type": kind, "status": status, "reason": "Told",
        "message": "by a test", "lastTransitionTime": "2026-01-31T08:00:00Z"})
    };
    let conditions =
        [describe("NamespaceContentRemaining", "True"), describe("NamespaceDeletionContentFailure", "False")];
    cluster.patch(&format!("{of_namespace}/status"), &json!({"status": {"conditions": conditions}}));
    paths.push(of_namespace);
    let available = || condition(cluster, "/apis/apiregistration.k8s.io/v1/apiservices/v1.away.test", "Available");
    cluster.wait_until("an APIService without a service", PATIENCE, || available() == "False");
    let crates = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crates.facts.test";
    cluster.wait_until("an established definition", PATIENCE, || condition(cluster, crates, "Established") == "True");
    paths
}

fn read(path: &Path) -> Snapshot {
    let path = path.to_str().expect("a temporary folder has a readable name").to_owned();
    dump::read(&[path], false).unwrap_or_else(|error| panic!("{error}"))
}

fn id(snapshot: &Snapshot, object: &Value) -> ObjectId {
    let found = snapshot.strings.find(uid(object)).and_then(|uid| snapshot.by_uid(uid));
    found.unwrap_or_else(|| panic!("it is not in the snapshot: {object:#}"))
}

#[test]
fn a_snapshot_file_tells_the_facts_that_the_objects_tell() {
    // Its own cluster, because an unavailable API is a gap for every test.
    let cluster = Alone::start(&Options::default());
    let namespace = cluster.namespace("facts");
    let many = cluster.namespace("many");
    let mut paths = furnish(&cluster, &namespace);
    paths.extend((0..MANY).map(|number| cluster.path_of(&cluster.create(lease(&many, &format!("lease-{number}"))))));
    // Terminating, with a finalizer whose field manager is known.
    cluster.apply_yaml(&format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: held, namespace: {namespace}, finalizers: \
            [facts.test/hold]}}\n"
    ));
    let held = format!("/api/v1/namespaces/{namespace}/configmaps/held");
    cluster.delete(&held, None, None);
    paths.push(held.clone());

    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, plain) = (folder.path().join("snapshot.json"), folder.path().join("plain.json"));
    let proxy = CountingProxy::start(&cluster);
    let ran = cluster.gc_with(proxy.kubeconfig(), &["snapshot", "-o", file.to_str().expect("a readable name")]);
    assert_eq!(ran.expect(0), "");
    let gaps: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("Could not list")).collect();
    assert!(gaps.len() == 1 && gaps[0].contains("away.test/v1"), "{}", ran.stderr);

    // The same objects in JSON from the API server, managed fields included.
    let objects: Vec<Value> = paths.iter().map(|path| cluster.get(path).unwrap_or_else(|| panic!("{path}"))).collect();
    fs::write(&plain, json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()).expect("a file");
    let (snapshot, plain) = (read(&file), read(&plain));
    for object in &objects {
        // A dump contains nothing about the webhooks of a configuration without webhooks.
        let expected = match plain.facts.get(id(&plain, object)) {
            None if object["metadata"]["name"] == "without" => Some(Fact::Webhooks(Default::default())),
            None if object["kind"] == "ConfigMap" => None,
            fact => Some(fact.unwrap_or_else(|| panic!("no facts of {object:#}")).clone()),
        };
        // Only what a program reads from a cluster says when that was, and when it was renewed by the server's clock.
        let found = snapshot.facts.get(id(&snapshot, object)).cloned().map(|fact| match fact {
            Fact::Lease(lease) => Fact::Lease(LeaseFacts { seen: None, renewed: Some(RENEWED), ..lease }),
            other => other,
        });
        assert_eq!(found, expected, "{object:#}");
    }

    let facts = |path: &str| {
        let object =
            objects.iter().zip(&paths).find(|(_, known)| known.ends_with(path)).unwrap_or_else(|| panic!("{path}")).0;
        (&snapshot.facts, id(&snapshot, object))
    };
    let workload = |wanted, ready, app: &str| {
        let values = vec![app.to_owned()];
        let selector = vec![LabelRequirement { key: "app".to_owned(), operator: "In".to_owned(), values }];
        let selector = Some(LabelSelector(selector));
        WorkloadFacts { wanted: Some(wanted), ready, selector, ..WorkloadFacts::default() }
    };
    let (known, deployment) = facts("deployments/deployment");
    assert_eq!(known.workload(deployment), Some(&workload(3, 2, "Deployment")));
    let (known, set) = facts("replicasets/replicaset");
    // Nobody has written a status.
    let unattended = WorkloadFacts { unattended: true, ..workload(3, 0, "ReplicaSet") };
    assert_eq!(known.workload(set), Some(&unattended));
    let (known, set) = facts("daemonsets/daemonset");
    assert_eq!(known.workload(set), Some(&workload(5, 4, "DaemonSet")));
    let (known, lease) = facts("leases/acme");
    let read = known.lease(lease).expect("a Lease");
    let holder = Some("acme-0".to_owned());
    assert_eq!(*read, LeaseFacts { holder, seconds: Some(1), ..read.clone() });
    let since_renewed = read.seen.zip(read.renewed).map(|(seen, renewed)| seen - renewed);
    assert!(since_renewed.is_some_and(|seconds| (0..600).contains(&seconds)), "by the API server's clock: {read:?}");
    let (known, slice) = facts("endpointslices/web-1");
    assert_eq!(known.slice(slice), Some(&SliceFacts { ready: 2, pods: Vec::new() }));
    let (known, webhooks) = facts("validatingwebhookconfigurations/facts");
    let webhook = &known.webhooks(webhooks).expect("a webhook").webhooks[0];
    assert_eq!((webhook.required, webhook.selective, webhook.exact), (true, false, false));
    assert_eq!(webhook.backend.as_ref().and_then(|backend| backend.service()), Some(("nowhere", "hook")));
    let (known, webhooks) = facts("mutatingwebhookconfigurations/facts");
    let webhook = &known.webhooks(webhooks).expect("a webhook").webhooks[0];
    assert_eq!((webhook.required, webhook.selective, webhook.exact), (false, true, true));
    let (known, api) = facts("apiservices/v1.away.test");
    let api = known.api_service(api).expect("an APIService");
    assert_eq!((api.available, api.reason.as_str()), (Some(false), "ServiceNotFound"));
    let (known, definition) = facts("customresourcedefinitions/crates.facts.test");
    let definition = known.definition(definition).expect("a definition");
    assert_eq!(definition.conversion.as_ref().and_then(|backend| backend.service()), Some(("nowhere", "converter")));
    assert!(definition.established && definition.conditions.iter().any(|condition| condition.kind == "NamesAccepted"));
    let (known, of_namespace) = facts(&format!("namespaces/{namespace}"));
    let conditions = &known.namespace(of_namespace).expect("a namespace").conditions;
    assert_eq!(conditions.len(), 1, "only what is true is kept: {conditions:?}");
    assert_eq!((conditions[0].reason.as_str(), conditions[0].message.as_str()), ("Told", "by a test"));

    let (known, held_id) = facts("configmaps/held");
    let setters = known.setters(held_id).expect("it is terminating and has a finalizer");
    assert!(
        matches!(setters, [Setter { finalizer, manager, time: Some(_) }] if finalizer == "facts.test/hold" && manager
            == "test")
    );
    let held_object = objects.last().expect("the last one made");
    assert_eq!(plain.facts.setters(id(&plain, held_object)), Some(setters));

    // The program reads each whole object once, and lists where there are many.
    let asked = |path: &str| {
        let requests = proxy.requests();
        requests
            .iter()
            .filter(|request| request.path.starts_with(path))
            .map(|request| request.accept.clone())
            .collect::<Vec<_>>()
    };
    for plural in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
        assert_eq!(asked(&format!("/apis/admissionregistration.k8s.io/v1/{plural}")), ["application/json"]);
    }
    assert_eq!(asked("/apis/apiregistration.k8s.io/v1/apiservices"), ["application/json"]);
    assert_eq!(asked(&format!("/apis/coordination.k8s.io/v1/namespaces/{many}/leases")), ["application/json"]);
    assert_eq!(
        asked(&format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/acme")),
        ["application/json"]
    );
    assert_eq!(asked(&held).len(), 1);
}
