//! Workloads, whose controllers make the rest anew.

use std::time::Duration;

use serde_json::{Value, json};

use super::kit::{Archives, outcomes, remove, restore, text};
use crate::harness::{Cluster, shared};

const PATIENCE: Duration = Duration::from_secs(60);

fn of_kinds(cluster: &Cluster, namespace: &str, lists: &[(&str, &str)]) -> Vec<Value> {
    let mut all = Vec::new();
    for (path, kind) in lists {
        let (prefix, api_version) = path.split_once(' ').unwrap();
        for mut object in cluster.list(&format!("/{prefix}/{api_version}/namespaces/{namespace}/{kind}")) {
            // Lists don't repeat what their items are.
            object["apiVersion"] = json!(api_version);
            object["kind"] = json!(match *kind {
                "deployments" => "Deployment",
                "replicasets" => "ReplicaSet",
                _ => "Pod",
            });
            all.push(object);
        }
    }
    all
}

const LISTS: [(&str, &str); 3] = [("apis apps/v1", "deployments"), ("apis apps/v1", "replicasets"), ("api v1", "pods")];

#[test]
fn what_a_deployment_makes_is_left_to_it() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("web");
    let labels = json!({"app": "web"});
    cluster.create(json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": namespace},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels},
                 "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "main"}]}}}}));
    cluster.wait_until("two pods", PATIENCE, || of_kinds(cluster, &namespace, &LISTS).len() == 4);
    let all = of_kinds(cluster, &namespace, &LISTS);
    let archive = archives.write("web", &all);
    remove(cluster, &all[..1]);
    cluster.wait_until("the collector", PATIENCE, || of_kinds(cluster, &namespace, &LISTS).is_empty());

    let ran = restore(cluster, &archive, &[]);
    ran.expect(0);
    let left_out = outcomes(&ran).into_iter().filter(|(_, outcome)| outcome == "LeftOut").count();
    assert_eq!((left_out, ran.json()["summary"]["created"].as_u64()), (3, Some(1)));
    cluster.wait_until("two pods again", PATIENCE, || of_kinds(cluster, &namespace, &LISTS).len() == 4);
    let names =
        |objects: &[Value]| objects[..2].iter().map(|object| text(&object["metadata"]["name"]).to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&of_kinds(cluster, &namespace, &LISTS)), names(&all), "the ReplicaSet has the name that it had");
    // What its controller has done since is no difference.
    let ran = restore(cluster, &archive, &[]);
    ran.expect(0);
    assert_eq!(outcomes(&ran)["Deployment/web"], "AlreadyBack");
}
