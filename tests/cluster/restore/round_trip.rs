//! Restores what the other commands have archived.

use std::path::Path;

use gc_cluster::archive::{Header, LeftOut};
use gc_core::model::Gap;
use serde_json::{Value, json};

use super::kit::{Archives, archived, describe, live, restore, tree};
use crate::{
    harness::{Cluster, PATIENCE, shared},
    plan::{draft::HOLD, trial::Trial},
};

fn wait_until_gone(cluster: &Cluster, objects: &[Value]) {
    cluster.wait_until("everything to be gone", PATIENCE, || {
        objects.iter().all(|object| cluster.get(&cluster.path_of(object)).is_none())
    });
}

fn path(file: &Path) -> &str {
    file.to_str().expect("a temporary folder has a readable name")
}

/// A custom resource with dependents in two levels, one of which has a second owner that isn't deleted.
fn family(trial: &Trial<'_>) -> Vec<Value> {
    let root = trial.widget("root").create();
    let middle = trial.widget("middle").blocking(&root).create();
    let leaf = trial.config_map("leaf").owned_by(&middle).blocking(&root).create();
    vec![root, middle, leaf]
}

#[test]
fn what_a_delete_has_archived_is_brought_back() {
    let trial = Trial::new("there-and-back", "Foreground");
    let archives = Archives::new();
    let before = family(&trial);
    trial.cluster.seen_by_collector(&before.iter().map(crate::harness::uid).collect::<Vec<_>>());
    let archive = archives.path("family.yaml.gz");
    let archive_flag = format!("--archive={}", path(&archive));
    let delete = ["delete", "widget/root", "-n", &trial.namespace, "--propagation=foreground", "--yes", &archive_flag];
    trial.cluster.gc(&delete).expect(0);
    wait_until_gone(trial.cluster, &before);
    restore(trial.cluster, &archive, &[]).expect(0);
    let after = live(trial.cluster, &before);
    assert_eq!(tree(&after), tree(&before));
    // The collector considers none of it garbage.
    trial.cluster.settled();
    assert_eq!(live(trial.cluster, &before), after);
}

#[test]
fn what_the_archive_lacks_is_told() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("lacking");
    let header = Header {
        context: "elsewhere".to_owned(),
        server: "elsewhere:6443".to_owned(),
        gaps: vec![Gap { resource: "secrets".to_owned(), namespace: None, reason: "forbidden".into() }],
        left_out: vec![LeftOut {
            resource: "events".to_owned(),
            namespace: Some("shop".to_owned()),
            why: "they expire".to_owned(),
        }],
        ..Header::default()
    };
    let archive = archives.write_with("lacking", &[archived("v1", "ConfigMap", &namespace, "a", &json!({}))], header);
    let ran = cluster.gc(&["restore", path(&archive), "--dry-run"]);
    let describe = ran.expect(0).replace('\n', " ");
    assert!(
        describe.contains(
            "1 object, archived 2026-01-31T08:00:00Z from another cluster: context elsewhere (elsewhere:6443)."
        ),
        "{describe}"
    );
    let creates = format!("CREATES: ConfigMap/a -n {namespace}.");
    assert!(describe.contains("Nothing was changed.") && describe.contains(&creates), "{describe}");
    let notes: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(
        notes,
        [
            "secrets (forbidden) could not be read when the archive was written, so objects may be missing.",
            "events in namespace shop were not archived: they expire.",
        ]
    );
}

#[test]
fn what_was_on_its_way_out_when_it_was_archived_comes_back_to_stay() {
    let trial = Trial::new("terminating", "Foreground");
    let archives = Archives::new();
    let cluster = shared();
    let root = trial.widget("root").create();
    let held = trial.config_map("held").blocking(&root).finalizer(HOLD).create();
    let all = [root.clone(), held.clone()];
    cluster.seen_by_collector(&all.iter().map(crate::harness::uid).collect::<Vec<_>>());
    cluster.delete(&cluster.path_of(&root), Some("Foreground"), None);
    cluster.wait_until("the dependent to be deleted", PATIENCE, || {
        live(cluster, &all).iter().all(|object| object["metadata"]["deletionTimestamp"].is_string())
    });
    let archive = archives.path("terminating.yaml");
    cluster.gc(&["archive", "widget/root", "-n", &trial.namespace, path(&archive)]).expect(0);
    // Its name is taken until it is gone.
    let ran = restore(cluster, &archive, &[]).ended(2);
    assert!(describe(&ran, "Widget/root")["because"].as_str().is_some_and(|why| why.contains("is being deleted")));

    cluster.patch(&cluster.path_of(&held), &json!({"metadata": {"finalizers": null}}));
    wait_until_gone(cluster, &all);
    restore(cluster, &archive, &[]).expect(0);
    let after = live(cluster, &all);
    assert_eq!(tree(&after), tree(&all));
    assert!(after.iter().all(|object| object["metadata"]["deletionTimestamp"].is_null()));
    let finalizers: Vec<&Value> = after.iter().map(|object| &object["metadata"]["finalizers"]).collect();
    assert_eq!(finalizers, [&Value::Null, &json!([HOLD])], "the collector's is not brought back, the other one is");
    cluster.patch(&cluster.path_of(&held), &json!({"metadata": {"finalizers": null}}));
}
