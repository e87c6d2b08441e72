//! A Deployment with the controllers that make its ReplicaSet and pods.

use serde_json::{Value, json};

use super::trial::{Trial, three_ways, wait_for_items};

/// A Deployment of three pods that no node runs; assigned to this node, if one is given.
fn deployment(trial: &Trial<'_>, node: Option<&str>) -> Vec<String> {
    let mut pod = json!({"containers": [{"name": "web", "image": "web"}]});
    if let Some(node) = node {
        pod["nodeName"] = json!(node);
    }
    let labels = json!({"app": "web"});
    trial.cluster.create(json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": trial.namespace},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }));
    let pods = wait_for_items(trial.cluster, &format!("/api/v1/namespaces/{}/pods", trial.namespace), 3);
    check_tree(trial, &pods);
    vec!["deploy/web".to_owned()]
}

/// Checks that the Deployment's tree contains its ReplicaSet, these pods, and nothing else.
fn check_tree(trial: &Trial<'_>, pods: &[Value]) {
    let ran = trial.cluster.gc(&["tree", "-o", "name", "-n", &trial.namespace, "deploy/web"]);
    let mut expected: Vec<String> =
        pods.iter().map(|pod| format!("pod/{}", pod["metadata"]["name"].as_str().unwrap_or_default())).collect();
    let set = pods[0]["metadata"]["ownerReferences"][0]["name"].as_str().unwrap_or_default();
    expected.extend(["deployment.apps/web".to_owned(), format!("replicaset.apps/{set}")]);
    expected.sort();
    let mut lines: Vec<&str> = ran.expect(0).lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, expected);
}

#[test]
fn a_deployment_whose_pods_were_never_scheduled() {
    three_ways("unscheduled", |trial| deployment(trial, None));
}

#[test]
fn a_deployment_whose_pods_have_a_node() {
    three_ways("scheduled", |trial| deployment(trial, Some(&trial.node())));
}
