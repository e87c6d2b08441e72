//! A restore that is interrupted, or killed at any moment, and then repeated.

use std::{
    collections::BTreeSet,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{
    kit::{Archives, archived, outcomes, owned, quiet, restore, text, tree},
    many::stages,
};
use crate::harness::{Cluster, CountingProxy, Fault, Gate, Killer, Moment, PATIENCE, is_write, uid};

/// Custom resources with a status, a cycle of owners, and one that owns itself.
fn objects(namespace: &str) -> Vec<Value> {
    // Of the tree: its namespace, two branches with their leaves, and its root.
    let mut all = stages(namespace, 1);
    all.drain(11..all.len() - 1);
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
#[ignore = "long: kills at six moments, and finishes each"]
fn whatever_moment_a_restore_is_killed_the_next_one_finishes_it() {
    each_killed_restore_is_finished(6);
}

#[test]
#[ignore = "long: before and after each write"]
fn whatever_moment_a_restore_is_killed_the_next_one_finishes_it_each_time() {
    each_killed_restore_is_finished(usize::MAX);
}

fn each_killed_restore_is_finished(most: usize) {
    let cluster = quiet();
    let archives = Archives::new();
    let killer = Killer::of(cluster, is_write);
    let written = || {
        let namespace = cluster.unique("killed");
        let all = objects(&namespace);
        let archive = archives.write(&namespace, &all);
        (namespace, all, archive)
    };
    let (_, all, archive) = written();
    let writes = killer.requests(&["restore", archive.to_str().unwrap(), "--yes"]);
    assert!(writes > all.len(), "each object is created, and some have a status: {writes}");
    let moments = Moment::some(writes, most);
    let mut half_way = 0;
    for moment in &moments {
        let (namespace, all, archive) = written();
        assert!(killer.kill(*moment, &["restore", archive.to_str().unwrap(), "--yes"]), "{moment:?}");
        let there = there(cluster, &namespace);
        assert_eq!(there.is_empty(), *moment == Moment::Before(1), "{moment:?}");
        half_way += usize::from(!there.is_empty() && there.len() < all.len());

        let ran = restore(cluster, &archive, &[]).ended(0);
        let named = |object: &Value| format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]));
        let known: Vec<String> = there.iter().map(named).collect();
        for (name, outcome) in outcomes(&ran) {
            assert_eq!(
                outcome,
                if known.contains(&name) { "AlreadyRestored" } else { "Created" },
                "{name}, {moment:?}"
            );
        }
        let back = self::there(cluster, &namespace);
        assert_eq!(tree(&back), tree(&all), "{moment:?}");
        for live in &back {
            let archived = all.iter().find(|it| named(it) == named(live)).expect("nothing else was created");
            assert!(archived["kind"] != "Stage" || archived["status"] == live["status"], "{moment:?}: {live}");
            // What was already restored is still the same object: nothing was created twice.
            let before = there.iter().find(|it| named(it) == named(live));
            assert!(before.is_none_or(|before| uid(before) == uid(live)), "{moment:?}: {live}");
        }
    }
    assert!(half_way > moments.len() / 3, "only {half_way} of {} were killed half-way", moments.len());
}

/// The write under way is finished and reported, the rest is not tried, and the next run does it.
#[test]
fn an_interrupted_restore_says_what_it_has_done() {
    let cluster = quiet();
    let archives = Archives::new();
    for (signal, format) in [(Signal::INT, "json"), (Signal::TERM, "wide")] {
        // One after the other: each owns the next. The signal is heard long before the last one.
        let namespace = cluster.unique("interrupted");
        let mut all = vec![archived("v1", "Namespace", "", &namespace, &json!({}))];
        for number in 0..30 {
            let data = json!({"data": {"number": number.to_string()}});
            let config = archived("v1", "ConfigMap", &namespace, &format!("c{number:02}"), &data);
            let owners: Vec<&Value> = all[1..].last().into_iter().collect();
            all.push(owned(config, &owners));
        }
        let archive = archives.write(&namespace, &all);
        let (proxy, gate, writes) = (CountingProxy::start(cluster), Arc::new(Gate::default()), AtomicUsize::new(0));
        let held = Arc::clone(&gate);
        proxy.with(move |request| {
            let is_third = is_write(request) && writes.fetch_add(1, Ordering::SeqCst) == 2;
            is_third.then(|| Fault::Before(Arc::clone(&held)))
        });
        let mut command = cluster.gc_command(proxy.kubeconfig());
        command.args(["restore", archive.to_str().unwrap(), "--yes", "-o", format]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        cluster.wait_until("the third write", PATIENCE, || gate.is_reached());
        kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), signal).unwrap();
        gate.open();
        let ended = child.wait_with_output().unwrap();
        let shown = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{shown}");

        let there = there(cluster, &namespace).len();
        assert!((3..all.len()).contains(&there), "{there}: {shown}");
        let missing = all.len() - there;
        if format == "json" {
            let document: Value = serde_json::from_str(&shown).unwrap();
            assert_eq!(
                (&document["summary"]["created"], &document["summary"]["notTried"]),
                (&json!(there), &json!(missing))
            );
        } else {
            let line =
                format!("NOT FINISHED: interrupted: {there} objects created, {missing} of 31 objects were not tried.");
            assert!(shown.starts_with(&line) || shown.contains(&format!("\n{line}")), "{shown}");
            assert!(shown.contains("run this again, it creates the rest:"), "{shown}");
            assert!(shown.contains(&format!("kubectl gc restore {}", archive.display())), "{shown}");
        }
        let again = restore(cluster, &archive, &[]).ended(0);
        let told: BTreeSet<String> = outcomes(&again).into_values().collect();
        assert_eq!(told, BTreeSet::from(["AlreadyRestored".to_owned(), "Created".to_owned()]));
        assert_eq!(tree(&self::there(cluster, &namespace)), tree(&all));
    }
}
