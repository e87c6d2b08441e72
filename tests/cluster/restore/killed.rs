//! A restore that is killed at any moment, and then repeated.

use std::{process::Stdio, thread, time::Duration};

use serde_json::{Value, json};

use super::{
    kit::{Archives, archived, outcomes, owned, quiet, restore, text, tree},
    many::stages,
};
use crate::harness::{ADMIN, Cluster, uid};

/// Custom resources with a status, a cycle of owners, and one that owns itself.
fn objects(namespace: &str) -> Vec<Value> {
    let mut all: Vec<Value> = stages(namespace, 1).into_iter().take(24).collect();
    // Add the owners of the objects taken above.
    let more: Vec<Value> = stages(namespace, 1)
        .into_iter()
        .filter(|object| object["spec"]["level"] != 3 && !all.contains(object))
        .collect();
    all.extend(more.into_iter().filter(|object| object["kind"] == "Stage"));
    let config = |name: &str| archived("v1", "ConfigMap", namespace, name, &json!({"data": {"name": name}}));
    let (one, two) = (config("one"), config("two"));
    all.push(owned(one.clone(), &[&two]));
    all.push(owned(two, &[&one]));
    let own = config("own");
    all.push(owned(own.clone(), &[&own]));
    all
}

/// Those of them that exist, including the namespace.
fn there(cluster: &Cluster, namespace: &str) -> Vec<Value> {
    let mut all: Vec<Value> = cluster.get(&format!("/api/v1/namespaces/{namespace}")).into_iter().collect();
    for (version, plural, api_version, kind) in
        [("apis/restore.test/v1", "stages", "restore.test/v1", "Stage"), ("api/v1", "configmaps", "v1", "ConfigMap")]
    {
        for mut object in cluster.list(&format!("/{version}/namespaces/{namespace}/{plural}")) {
            // Items of a list have no type.
            object["apiVersion"] = json!(api_version);
            object["kind"] = json!(kind);
            all.push(object);
        }
    }
    all
}

#[test]
fn whatever_moment_a_restore_is_killed_the_next_one_finishes_it() {
    each_killed_restore_is_finished(8);
}

#[test]
#[ignore = "long: 50 kills"]
fn whatever_moment_a_restore_is_killed_the_next_one_finishes_it_each_time() {
    each_killed_restore_is_finished(50);
}

fn each_killed_restore_is_finished(kills: usize) {
    let cluster = quiet();
    let archives = Archives::new();
    let kubeconfig = cluster.kubeconfig(ADMIN);
    let mut half_way = 0;
    for kill in 0..kills {
        let namespace = cluster.unique("killed");
        let all = objects(&namespace);
        let archive = archives.write(&namespace, &all);
        let mut command = cluster.gc_command(&kubeconfig);
        command
            .arg("restore")
            .arg(&archive)
            .arg("--yes")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("kubectl-gc runs");
        // Kill it by its progress and a few milliseconds, not by time: machines differ in speed.
        let wanted = kill * all.len() / kills;
        while there(cluster, &namespace).len() < wanted && child.try_wait().expect("it can be waited for").is_none() {
            thread::sleep(Duration::from_millis(2));
        }
        thread::sleep(Duration::from_millis(u64::try_from(kill % 7).expect("small")));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let there = there(cluster, &namespace);
        half_way += usize::from(!there.is_empty() && there.len() < all.len());

        let ran = restore(cluster, &archive, &[]);
        ran.expect(0);
        let named = |object: &Value| format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]));
        let known: Vec<String> = there.iter().map(named).collect();
        for (name, outcome) in outcomes(&ran) {
            assert_eq!(
                outcome,
                if known.contains(&name) { "AlreadyRestored" } else { "Created" },
                "{name}, kill {kill}"
            );
        }
        let back = self::there(cluster, &namespace);
        assert_eq!(tree(&back), tree(&all), "kill {kill}");
        for live in &back {
            let archived = all.iter().find(|it| named(it) == named(live)).expect("nothing else was created");
            assert!(archived["kind"] != "Stage" || archived["status"] == live["status"], "kill {kill}: {live}");
            // What was already restored is still the same object: nothing was created twice.
            let before = there.iter().find(|it| named(it) == named(live));
            assert!(before.is_none_or(|before| uid(before) == uid(live)), "kill {kill}: {live}");
        }
    }
    assert!(half_way > kills / 3, "only {half_way} of {kills} were killed half-way");
}
