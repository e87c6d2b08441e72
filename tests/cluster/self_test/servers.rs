//! The API server, its users, and the controllers of workloads.

use std::{env, panic};

use http::Method;
use serde_json::json;

use crate::harness::{ADMIN, Alone, Api, NOBODY, Options, PATIENCE, VERSION, VIEWER, deployment, shared, uid};

#[test]
#[ignore = "long: is about the tests themselves"]
fn the_server_reports_the_version_it_was_built_from() {
    let version = shared().get("/version").unwrap();
    let git_version = version["gitVersion"].as_str().unwrap();
    let numbers: Vec<&str> = git_version.trim_start_matches('v').split('.').collect();
    assert_eq!((&version["major"], &version["minor"]), (&json!(numbers[0]), &json!(numbers[1])));
    assert_ne!(numbers[0], "0", "kubectl would complain");
    if let Ok(wanted) = env::var(VERSION) {
        assert_eq!(git_version, wanted);
        return;
    }
    // Binaries from `KUBEBUILDER_ASSETS` may have another version.
    if env::var_os("KUBEBUILDER_ASSETS").is_none() {
        let required =
            include_str!("../../control-plane/go.mod").contains(&format!("k8s.io/kubernetes {git_version}\n"));
        assert!(required, "go.mod requires another version than {git_version}");
    }
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn workloads_get_their_dependents_and_lose_them_with_the_owner() {
    let cluster = shared();
    let namespace = cluster.namespace("workloads");
    let web = cluster.create(deployment(&namespace, "web", 2));
    let sets = format!("/apis/apps/v1/namespaces/{namespace}/replicasets");
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    cluster.wait_until("two pods", PATIENCE, || cluster.list(&pods).len() == 2);
    let set = cluster.list(&sets).remove(0);
    assert_eq!(set["metadata"]["ownerReferences"][0]["uid"], uid(&web));

    cluster.settled();
    let graph = cluster.collector_graph(&[uid(&web)]);
    for object in cluster.list(&pods).iter().chain([&web, &set]) {
        assert!(graph.contains(&format!("uid={:?}", uid(object))), "{} is not in the graph:\n{graph}", uid(object));
    }
    assert!(graph.contains(&format!("{:?} -> {:?}", uid(&set), uid(&web))), "no edge to the deployment:\n{graph}");

    cluster.delete(&cluster.path_of(&web), Some("Background"), None).expect("it was there");
    cluster.wait_until("the collector to delete everything", PATIENCE, || {
        cluster.list(&sets).is_empty() && cluster.list(&pods).is_empty()
    });
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn namespaces_are_emptied() {
    let cluster = shared();
    let namespace = cluster.namespace("doomed");
    cluster.create(object!("v1 ConfigMap", {"name": "a", "namespace": namespace}));
    let path = format!("/api/v1/namespaces/{namespace}");
    cluster.delete(&path, None, None).expect("it was there");
    cluster.wait_until("the namespace to go", PATIENCE, || cluster.get(&path).is_none());
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn users_may_do_what_they_are_allowed_to() {
    let cluster = shared();
    let namespace = cluster.namespace("seen");
    let other = cluster.namespace("unseen");
    cluster.let_viewer_see(&namespace);
    let status = |user, namespace: &str| {
        let api = Api::connect(&cluster.kubeconfig(user), None).unwrap();
        api.ask(&Method::GET, &format!("/api/v1/namespaces/{namespace}/pods"), None).status
    };
    cluster.wait_until("the role binding to work", PATIENCE, || status(VIEWER, &namespace) == 200);
    assert_eq!(status(VIEWER, &other), 403);
    assert_eq!(status(NOBODY, &namespace), 403);
    assert_eq!(status(ADMIN, &other), 200);
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn objects_are_written_patched_and_deleted() {
    let cluster = shared();
    let namespace = cluster.namespace("objects");
    let yaml = format!(
        "apiVersion: gc.test/v1\nkind: Widget\nmetadata: {{name: a, namespace: {namespace}, finalizers: \
            [gc.test/keep]}}\n\
         ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: b, namespace: {namespace}}}\n"
    );
    let objects = cluster.apply_yaml(&yaml);
    let paths: Vec<String> = objects.iter().map(|object| cluster.path_of(object)).collect();
    assert_eq!(paths[0], format!("/apis/gc.test/v1/namespaces/{namespace}/widgets/a"));
    let patched = cluster.patch(&paths[1], &json!({"data": {"key": "value"}}));
    assert_eq!(patched["data"]["key"], "value");

    let held = cluster.delete(&paths[0], None, None).expect("it was there");
    assert!(held["metadata"]["deletionTimestamp"].is_string(), "{held}");
    cluster.patch(&paths[0], &json!({"metadata": {"finalizers": null}}));
    assert!(cluster.get(&paths[0]).is_none());
    assert!(cluster.delete(&paths[0], None, None).is_none());
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn the_binary_runs_against_the_cluster() {
    assert!(shared().gc(&["--help"]).code.is_some());
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn a_server_that_does_not_start_says_why() {
    let options = Options { api_server: vec!["--no-such-flag".to_owned()], ..Options::default() };
    let panic = panic::catch_unwind(|| Alone::start(&options)).err().expect("it cannot start");
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.contains("kube-apiserver ended by itself") && message.contains("--no-such-flag"), "{message}");
}
