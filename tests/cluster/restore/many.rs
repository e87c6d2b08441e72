//! Hundreds of objects, and a thousand: custom resources in three levels, with a status.

use serde_json::{Value, json};

use super::kit::{Archives, archived, live, outcomes, owned, quiet, remove, restore, tree};
use crate::harness::{ADMIN, CountingProxy};

/// `roots` trees of custom resources in three levels, each with a status, and ConfigMaps that two of them own; 41
/// objects per tree.
pub fn stages(namespace: &str, roots: usize) -> Vec<Value> {
    let stage = |name: String, level: usize| {
        let more = json!({"spec": {"level": level}, "status": {"level": level, "ready": true, "seen": ["a", null, 1.5],
            "id": format!("x-{name}")}});
        archived("restore.test/v1", "Stage", namespace, &name, &more)
    };
    let mut all = vec![archived("v1", "Namespace", "", namespace, &json!({}))];
    for root in 0..roots {
        let top = stage(format!("top-{root}"), 1);
        for middle in 0..8 {
            let middle = owned(stage(format!("middle-{root}-{middle}"), 2), &[&top]);
            for leaf in 0..3 {
                let name = middle["metadata"]["name"].as_str().unwrap_or_default();
                all.push(owned(stage(format!("leaf-{name}-{leaf}"), 3), &[&middle]));
            }
            let config = archived(
                "v1",
                "ConfigMap",
                namespace,
                middle["metadata"]["name"].as_str().unwrap_or_default(),
                &json!({}),
            );
            all.push(owned(config, &[&middle, &top]));
            all.push(middle);
        }
        all.push(top);
    }
    all
}

#[test]
#[ignore = "long: hundreds of objects"]
fn hundreds_of_objects_come_back_with_their_status() {
    come_back_with_their_status(5);
}

#[test]
#[ignore = "long: a thousand objects"]
fn a_thousand_objects_come_back_with_their_status() {
    come_back_with_their_status(25);
}

fn come_back_with_their_status(roots: usize) {
    let cluster = quiet();
    let archives = Archives::new();
    let all = stages(&cluster.unique("many"), roots);
    assert_eq!(all.len(), 1 + 41 * roots);
    let proxy = CountingProxy::start_as(cluster, ADMIN);
    let archive = archives.write("many", &all);
    let ran = cluster.gc_with(proxy.kubeconfig(), &["restore", archive.to_str().unwrap(), "--yes", "-o", "json"]);
    ran.expect(0);
    // Restore creates each object and writes the status of those that have one, nothing else. Permission checks come
    // before.
    let wrote = |method: &str| {
        let written = proxy.requests();
        let written = written.iter().filter(|it| it.method == method && !it.path.contains("authorization.k8s.io"));
        written.count()
    };
    assert_eq!(["POST", "PATCH", "PUT", "DELETE"].map(wrote), [all.len(), 33 * roots, 0, 0]);
    assert!(outcomes(&ran).values().all(|outcome| outcome == "Created"));
    let first = live(cluster, &all);
    assert_eq!(tree(&first), tree(&all));
    for (before, after) in all.iter().zip(&first) {
        assert!(before["kind"] != "Stage" || before["status"] == after["status"], "{before}\n{after}");
    }
    let last = format!("middle-{}-", roots - 1);
    // Archive, remove and restore what the server stores, too; one tree without its root is enough.
    let of_tree = |object: &&Value| object["metadata"]["name"].as_str().unwrap_or_default().contains(&last);
    let part: Vec<Value> = first.iter().filter(of_tree).cloned().collect();
    assert_eq!(part.len(), 40);
    let archive = archives.write("part", &part);
    remove(cluster, &part);
    restore(cluster, &archive, &[]).expect(0);
    let mut second = first.clone();
    for object in &mut second {
        if part.contains(object) {
            *object = live(cluster, std::slice::from_ref(object)).remove(0);
        }
    }
    assert_eq!(tree(&second), tree(&first));
    assert!(first.iter().zip(&second).all(|(before, after)| before["status"] == after["status"]));
}
