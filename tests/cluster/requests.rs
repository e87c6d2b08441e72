//! The requests of commands: only what the question needs, and each only once.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    harness::{CountingProxy, Listed, old_discovery, owner_reference, shared},
    plan::trial::{Trial, wait_for_items},
    sweep::uncollected,
};

const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const METADATA: &str = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// The lists of which a plan needs whole objects, and their paths: what the API server depends on.
const WHOLE: [&str; 7] = [
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "/apis/apiregistration.k8s.io/v1/apiservices",
    "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies",
    "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
];

/// Upper bound for an object's metadata, including managedFields.
const BYTES_AN_OBJECT: u64 = 1536;
/// Upper bound for an empty list, including its share of the fixed costs.
const BYTES_A_LIST: u64 = 256;

/// A namespace with this many dependents of one owner.
fn crowd(count: usize) -> Trial<'static> {
    let trial = Trial::new("crowd", "Background");
    let owner = trial.widget("owner").create();
    for number in 0..count {
        trial.cluster.create(object!("v1 ConfigMap", {
            "name": format!("dependent-{number}"), "namespace": trial.namespace,
            "ownerReferences": [owner_reference(&owner)],
        }));
    }
    trial
}

/// How often each path was requested. Panics on writes and watches, and unless discovery and lists use the smallest
/// formats.
pub fn paths(proxy: &CountingProxy, lists: &[String], in_whole: bool) -> BTreeMap<String, usize> {
    let mut paths = BTreeMap::new();
    for request in proxy.requests() {
        assert_eq!(request.method, "GET", "{request:?}");
        assert!(!request.query.contains("watch"), "{request:?}");
        assert_eq!(request.status, Some(200), "{request:?}");
        if request.path == "/api" || request.path == "/apis" {
            assert!(request.accept.starts_with(DISCOVERY), "{request:?}");
        } else if lists.contains(&request.path) {
            let as_json = in_whole && WHOLE.contains(&request.path.as_str());
            assert!(request.accept.starts_with(if as_json { "application/json" } else { METADATA }), "{request:?}");
        }
        *paths.entry(request.path).or_default() += 1;
    }
    paths
}

/// The expected requests: discovery, the server's version and each of these lists, once.
pub fn once(lists: &[String]) -> BTreeMap<String, usize> {
    let discovery = ["/api", "/apis", "/version"].map(str::to_owned);
    discovery.into_iter().chain(lists.iter().cloned()).map(|path| (path, 1)).collect()
}

#[test]
#[ignore = "long: slow"]
fn a_tree_of_a_namespace_lists_what_is_in_its_scope_once() {
    let trial = crowd(300);
    let (cluster, namespace) = (trial.cluster, &trial.namespace);
    let proxy = CountingProxy::start(cluster);
    let ran = cluster.gc_with(proxy.kubeconfig(), &["tree", "-o", "name", "-n", namespace]);
    assert_eq!(ran.expect(0).lines().count(), 301);

    let lists: Vec<String> = cluster.listed().iter().map(|kind| kind.path_in(namespace)).collect();
    assert_eq!(paths(&proxy, &lists, false), once(&lists));

    let read: u64 = proxy
        .requests()
        .iter()
        .filter(|request| lists.contains(&request.path))
        .map(|request| request.response_bytes)
        .sum();
    let in_scope = objects_in_scope(&cluster.listed(), namespace);
    let most = BYTES_AN_OBJECT * in_scope + BYTES_A_LIST * lists.len() as u64;
    assert!(read <= most, "{read} bytes were read for {in_scope} objects in {} lists; {most} are enough", lists.len());
}

/// The number of objects in a namespace, plus cluster-scoped ones.
fn objects_in_scope(kinds: &[Listed], namespace: &str) -> u64 {
    let objects = shared().objects_of(kinds);
    let in_scope = |object: &&Value| object["metadata"]["namespace"].as_str().is_none_or(|own| own == namespace);
    objects.iter().filter(in_scope).count() as u64
}

#[test]
fn a_plan_reads_besides_only_what_it_has_to_know_of_pods() {
    // The program reads few pods one by one, and many with a list.
    for (replicas, as_list) in [(3, false), (12, true)] {
        let trial = Trial::new("plan-requests", "Background");
        let (cluster, namespace) = (trial.cluster, &trial.namespace);
        trial.deployment(replicas);
        // A pod that the plan doesn't affect.
        cluster.create(object!("v1 Pod", {
            "name": "bystander", "namespace": namespace,
            "spec": {"containers": [{"name": "main", "image": "main"}]},
        }));
        let proxy = CountingProxy::start(cluster);
        let ran = cluster.gc_with(proxy.kubeconfig(), &["plan", "-o", "name", "-n", namespace, "deploy/web"]);
        assert_eq!(ran.expect(0).lines().count(), replicas + 2);

        let lists: Vec<String> = cluster.listed().into_iter().map(|kind| kind.path).collect();
        let pods = format!("/api/v1/namespaces/{namespace}/pods");
        let mut expected = once(&lists);
        if as_list {
            expected.insert(pods, 1);
        } else {
            let names =
                cluster.list(&pods).into_iter().filter_map(|pod| pod["metadata"]["name"].as_str().map(str::to_owned));
            expected.extend(names.filter(|name| name != "bystander").map(|name| (format!("{pods}/{name}"), 1)));
        }
        assert_eq!(paths(&proxy, &lists, true), expected, "{replicas} pods");
    }
}

/// R9.24: who may adopt pods is read only if a plan frees pods, and only of those that may match.
#[test]
fn a_plan_reads_who_adopts_only_if_it_frees_pods() {
    let trial = Trial::new("adopters", "Orphan");
    let (cluster, namespace) = (trial.cluster, &trial.namespace);
    for (kind, name) in [("ReplicaSet", "many"), ("ReplicaSet", "few"), ("Deployment", "web")] {
        let labels = json!({"app": name});
        cluster.create(json!({
            "apiVersion": "apps/v1",
            "kind": kind,
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "replicas": if name == "many" { 2 } else { 0 },
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "m"}]}},
            },
        }));
    }
    let (pods, sets) =
        (format!("/api/v1/namespaces/{namespace}/pods"), format!("/apis/apps/v1/namespaces/{namespace}/replicasets"));
    wait_for_items(cluster, &pods, 2);
    wait_for_items(cluster, &sets, 3);
    let lists: Vec<String> = cluster.listed().into_iter().map(|kind| kind.path).collect();
    let read = |policy: &str| {
        let proxy = CountingProxy::start(cluster);
        cluster.gc_with(proxy.kubeconfig(), &["plan", "-n", namespace, policy, "rs/many"]).expect(0);
        let mut read = paths(&proxy, &lists, true);
        for path in once(&lists).into_keys() {
            assert_eq!(read.remove(&path), Some(1), "{path}");
        }
        read
    };
    // The ReplicaSet of the Deployment has a label in its selector that the pods don't have.
    let names = cluster.list(&pods).into_iter().filter_map(|pod| pod["metadata"]["name"].as_str().map(str::to_owned));
    let mut expected: BTreeMap<String, usize> = names.map(|name| (format!("{pods}/{name}"), 1)).collect();
    // The comparison with an orphaning delete reads nothing more.
    assert_eq!(read("--cascade=background"), expected);
    expected.insert(format!("{sets}/few"), 1);
    assert_eq!(read("--cascade=orphan"), expected);
}

/// R8.7: sweep requests each owner that the lists lack once, if it matters, and nothing else.
#[test]
fn a_sweep_asks_besides_for_every_owner_that_lists_lack() {
    let cluster = uncollected();
    let trial = Trial::on(cluster, "sweep-requests", "Background");
    let owner = trial.widget("owner").create();
    for gone in ["gone-a", "gone-b"] {
        let gone_owner = trial.gone(gone);
        for number in 0..3 {
            trial.config_map(&format!("{gone}-{number}")).owned_by(&gone_owner).create();
        }
    }
    trial.config_map("kept").owned_by(&owner).create();
    let proxy = CountingProxy::start(cluster);
    let ran = cluster.gc_with(proxy.kubeconfig(), &["sweep", "--dry-run", "-o", "name", "-n", &trial.namespace]);
    assert_eq!(ran.expect(0).lines().count(), 6);

    let lists: Vec<String> = cluster.listed().into_iter().map(|kind| kind.path).collect();
    let (found, absent): (Vec<_>, Vec<_>) =
        proxy.requests().into_iter().partition(|request| request.status == Some(200));
    let mut looked_up: Vec<String> =
        absent.into_iter().map(|request| format!("{} {}", request.method, request.path)).collect();
    looked_up.sort();
    let widgets = format!("GET /apis/gc.test/v1/namespaces/{}/widgets", trial.namespace);
    assert_eq!(looked_up, ["gone-a", "gone-b"].map(|name| format!("{widgets}/{name}")));
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for request in found {
        assert_eq!(request.method, "GET", "{request:?}");
        *counted.entry(request.path).or_default() += 1;
    }
    assert_eq!(counted, once(&lists));
}

/// What is asked costs what it touches: `doctor -n` and `explain` request no object of another namespace, whatever the
/// collector has left undone there.
#[test]
fn an_answer_about_one_namespace_asks_for_nothing_elsewhere() {
    let cluster = uncollected();
    let [asked, other] = ["doctor-asked", "doctor-other"].map(|name| Trial::on(cluster, name, "Background"));
    for trial in [&asked, &other] {
        let (kept, gone) = (trial.widget("kept").create(), trial.gone("gone"));
        // The collector would delete one, and remove a reference from the other, which a schema might refuse.
        trial.config_map("dangling").owned_by(&gone).create();
        trial.widget("changed").owned_by(&gone).owned_by(&kept).create();
    }
    for args in [&["doctor"][..], &["doctor", "widget/changed"], &["explain", "widget/changed"]] {
        let proxy = CountingProxy::start(cluster);
        let ran = cluster.gc_with(proxy.kubeconfig(), &[args, &["-n", &asked.namespace]].concat());
        assert!(ran.stdout.contains("widget") || ran.stdout.contains("Widget"), "{}", ran.stdout);
        let about = |trial: &Trial<'_>, method: &str| {
            let within = format!("/namespaces/{}/", trial.namespace);
            proxy.requests().iter().filter(|one| one.method == method && one.path.contains(&within)).count()
        };
        for method in ["GET", "PATCH"] {
            assert!(about(&asked, method) > 0, "{args:?}: no {method} of what was asked about");
            assert_eq!(about(&other, method), 0, "{args:?}: {method} of another namespace");
        }
    }
}

#[test]
#[ignore = "long: slow"]
fn servers_without_aggregated_discovery_give_the_same() {
    let trial = crowd(3);
    trial.deployment(2);
    let cluster = trial.cluster;
    cluster.settled();
    let proxy = CountingProxy::start(cluster);
    let run = |args: &[&str]| cluster.gc_with(proxy.kubeconfig(), &[args, &["-n", &trial.namespace]].concat());
    for args in [&["tree", "-o", "json"][..], &["plan", "-o", "json", "deploy/web", "widget/owner"]] {
        proxy.without();
        let aggregated = run(args);
        proxy.with(old_discovery);
        let old = run(args);
        assert_eq!([&aggregated, &old].map(|ran| ran.code), [Some(0); 2], "{args:?}: {aggregated:#?}, {old:#?}");
        assert_eq!(aggregated.told(), old.told(), "{args:?}");
    }
    let discovery = proxy.requests().iter().filter(|request| request.path == "/apis/apps/v1").count();
    assert!(discovery > 0, "each group version was to be asked for");
}
