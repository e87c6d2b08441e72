//! Workloads, whose controllers recreate the rest.

use serde_json::{Value, json};

use super::kit::{Archives, coordinate, live, merge, outcomes, remove, restore, text};
use crate::harness::{Cluster, PATIENCE, deployment, shared, uid};

fn of_kinds(cluster: &Cluster, namespace: &str, lists: &[(&str, &str)]) -> Vec<Value> {
    let mut all = Vec::new();
    for (path, kind) in lists {
        let (prefix, api_version) = path.split_once(' ').unwrap();
        for mut object in cluster.list(&format!("/{prefix}/{api_version}/namespaces/{namespace}/{kind}")) {
            // Items of a list have no type.
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
    cluster.create(deployment(&namespace, "web", 2));
    cluster.wait_until("two pods", PATIENCE, || of_kinds(cluster, &namespace, &LISTS).len() == 4);
    let all = of_kinds(cluster, &namespace, &LISTS);
    let archive = archives.write("web", &all);
    remove(cluster, &all[..1]);
    cluster.wait_until("the collector", PATIENCE, || of_kinds(cluster, &namespace, &LISTS).is_empty());

    let ran = restore(cluster, &archive, &[]).ended(0);
    let left_out = outcomes(&ran).into_iter().filter(|(_, outcome)| outcome == "LeftOut").count();
    assert_eq!((left_out, ran.json()["summary"]["created"].as_u64()), (3, Some(1)));
    cluster.wait_until("two pods again", PATIENCE, || of_kinds(cluster, &namespace, &LISTS).len() == 4);
    let names = |objects: &[Value]| {
        objects[..2].iter().map(|object| text(&object["metadata"]["name"]).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&of_kinds(cluster, &namespace, &LISTS)), names(&all), "the ReplicaSet has the name that it had");
    // Later changes by its controller are no difference.
    let ran = restore(cluster, &archive, &[]).ended(0);
    assert_eq!(outcomes(&ran)["Deployment/web"], "AlreadyRestored");
}

/// One of every kind that namespaces usually contain.
fn furnishing(namespace: &str) -> Vec<Value> {
    let labels = json!({"app": "web"});
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "main", "image": "main"}]});
    let always = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "main"}]}});
    let job = json!({"template": {"spec": pod}});
    let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let all = [
        (
            "apps/v1",
            "Deployment",
            json!({"spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": always}}),
        ),
        (
            "apps/v1",
            "StatefulSet",
            json!({"spec": {"replicas": 1, "serviceName": "one", "selector": {"matchLabels": labels},
                "template": always,
                            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}]}}),
        ),
        ("batch/v1", "Job", json!({"spec": job})),
        ("batch/v1", "CronJob", json!({"spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": job}}})),
        ("v1", "Service", json!({"spec": {"type": "NodePort", "selector": labels, "ports": [{"port": 80}]}})),
        ("v1", "PersistentVolumeClaim", json!({"spec": claim})),
        ("v1", "ServiceAccount", json!({})),
        ("v1", "Secret", json!({"data": {"password": "c2VjcmV0"}})),
        (
            "v1",
            "Secret",
            json!({"metadata": {"name": "token", "annotations": {"kubernetes.io/service-account.name": "one"}},
                                "type": "kubernetes.io/service-account-token"}),
        ),
        ("rbac.authorization.k8s.io/v1", "Role", json!({"rules": []})),
        (
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "one"},
                   "subjects": [{"kind": "ServiceAccount", "name": "one"}]}),
        ),
        ("v1", "LimitRange", json!({"spec": {"limits": []}})),
        (
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            json!({"spec": {"maxReplicas": 2, "scaleTargetRef":
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": "one"}}}),
        ),
        ("policy/v1", "PodDisruptionBudget", json!({"spec": {"minAvailable": 1, "selector": {"matchLabels": labels}}})),
        ("networking.k8s.io/v1", "NetworkPolicy", json!({"spec": {"podSelector": {}}})),
        (
            "networking.k8s.io/v1",
            "Ingress",
            json!({"spec": {"defaultBackend": {"service": {"name": "one", "port": {"number": 80}}}}}),
        ),
        ("gc.test/v1", "Widget", json!({"spec": {"size": 1}, "status": {"ready": true}})),
    ];
    let object = |(api_version, kind, more): (&str, &str, Value)| {
        let mut object =
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "one", "namespace": namespace}});
        merge(&mut object, &more);
        object
    };
    all.into_iter().map(object).collect()
}

#[test]
#[ignore = "long: a cluster of its own"]
fn a_whole_namespace_is_deleted_and_brought_back() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("whole");
    let made: Vec<Value> = furnishing(&namespace).iter().map(|object| cluster.create(object)).collect();
    // Its ReplicaSet, and three pods.
    let settled = || of_kinds(cluster, &namespace, &LISTS).len() == 5;
    cluster.wait_until("the pods", PATIENCE, settled);
    cluster.seen_by_collector(&[uid(&made[0])]);
    let archive = archives.path("namespace.yaml");
    let (target, flag) = (format!("ns/{namespace}"), format!("--archive={}", archive.display()));
    cluster.gc(&["delete", &target, "--yes", &flag]).expect(0);
    let path = format!("/api/v1/namespaces/{namespace}");
    cluster.wait_until("the namespace to be gone", PATIENCE, || cluster.get(&path).is_none());

    let ran = restore(cluster, &archive, &[]).ended(0);
    cluster.wait_until("the pods again", PATIENCE, settled);
    let back = live(cluster, &made);
    for (before, after) in made.iter().zip(&back) {
        assert_ne!(uid(before), uid(after));
        for field in ["data", "rules", "roleRef", "subjects"] {
            // The token controller issues another token.
            if field == "data" && before["type"] == "kubernetes.io/service-account-token" {
                continue;
            }
            assert_eq!(before[field], after[field], "{field} of {}", coordinate(before));
        }
    }
    assert_eq!(back.last().map(|widget| &widget["status"]), Some(&json!({"ready": true})));
    let created = ran.json()["summary"]["created"].as_u64();
    assert_eq!(
        created,
        Some(made.len() as u64 + 2),
        "the namespace, and the claim of the StatefulSet, too: {}",
        ran.stdout
    );
    // Later changes by controllers are no difference, and nothing is created twice.
    let again = restore(cluster, &archive, &[]).ended(0);
    assert_eq!(again.json()["summary"]["created"], 0, "{}", again.stdout);
}
