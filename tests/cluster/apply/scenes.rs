//! Files as backups are, against a running collector.

use serde_json::json;

use super::kit::{By, Scene, predictions, trial};
use crate::harness::shared;

/// Objects that are there before.
pub const BEFORE: &str = include_str!("before.yaml");

/// A file with every sort of reference.
const BACKUP: &str = include_str!("backup.yaml");

fn fates(scene: &Scene, by: By) -> Vec<String> {
    let before = scene.file("before.yaml", BEFORE);
    scene.send(By::Apply, &before).expect(0);
    let file = scene.file("backup.yaml", BACKUP);
    let plan = trial(scene, by, &file);
    let told = predictions(&plan).into_iter().map(|(name, predicted)| {
        assert!(predicted.certain, "{name}: {predicted:?}");
        let parts: Vec<&str> = name.split('/').collect();
        format!("{} {}", parts[2].replace(&scene.here, "HERE"), predicted.fate)
    });
    told.collect()
}

const FATES: [&str; 13] = [
    "role-HERE Kept",
    "held Terminating",
    "of-both Stripped",
    "of-elsewhere Collected",
    "of-former-living Collected",
    "of-living Kept",
    "of-misnamed Collected",
    "of-root Collected",
    "of-unserved Kept",
    "root Kept",
    "below Collected",
    "free Kept",
    "listed Collected",
];

fn sorted(mut all: Vec<String>) -> Vec<String> {
    all.sort();
    all
}

/// R1.48
#[test]
fn a_backup_that_is_applied_loses_what_was_predicted() {
    let scene = Scene::new(shared(), "apply");
    assert_eq!(sorted(fates(&scene, By::Apply)), sorted(FATES.map(str::to_owned).to_vec()));
}

#[test]
fn a_backup_that_is_created_loses_the_same() {
    let scene = Scene::new(shared(), "create");
    assert_eq!(sorted(fates(&scene, By::Create)), sorted(FATES.map(str::to_owned).to_vec()));
}

/// R1.49: an object that exists keeps its uid. Its references are merged by uid, those of a custom resource are
/// replaced, and what was applied last decides what is removed.
#[test]
fn objects_that_exist_are_merged() {
    let scene = Scene::new(shared(), "merge");
    scene.send(By::Apply, &scene.file("before.yaml", BEFORE)).expect(0);
    scene.send(By::Apply, &scene.file("existing.yaml", include_str!("existing.yaml"))).expect(0);
    // A reference that nobody applied.
    let cluster = scene.cluster;
    let living = scene.file("living", "{uid:living}");
    let living = super::kit::shown(&living);
    let owned = json!({"metadata": {"ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "living", "uid": living}]}});
    let path = cluster.path_of(&super::kit::config_map(&scene.here, "applied-without"));
    cluster.patch(&path, &owned);
    let below = r"
apiVersion: v1
kind: ConfigMap
metadata:
  name: below-parent
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: parent, uid: {uid:parent}}
";
    scene.send(By::Apply, &scene.file("below.yaml", below)).expect(0);
    let plan = trial(&scene, By::Apply, &scene.file("file.yaml", include_str!("merged.yaml")));
    let fates: Vec<String> = predictions(&plan)
        .into_iter()
        .map(|(name, predicted)| {
            format!("{} {} {}", name.rsplit('/').next().unwrap_or_default(), predicted.arrival, predicted.fate)
        })
        .collect();
    // The first was applied with the living owner, which the file has no more; the second was not.
    assert_eq!(
        fates,
        [
            "applied Patched Collected",
            "applied-without Patched Stripped",
            "parent Patched Collected",
            "custom Patched Collected"
        ]
    );
    let others = plan["others"].as_array().expect("others");
    assert_eq!(others.len(), 1, "{others:?}");
    assert_eq!(others[0]["object"]["name"], "below-parent");
}

/// A new dependent of an owner that is being deleted goes once the owner is gone.
#[test]
fn owners_that_are_being_deleted() {
    let scene = Scene::new(shared(), "going");
    let cluster = scene.cluster;
    scene.send(By::Apply, &scene.file("owners.yaml", include_str!("going.yaml"))).expect(0);
    let path = |name: &str| cluster.path_of(&super::kit::config_map(&scene.here, name));
    cluster.delete(&path("held"), Some("Background"), None);
    cluster.delete(&path("waiting"), Some("Foreground"), None);
    cluster.settled();
    let plan = trial(&scene, By::Apply, &scene.file("file.yaml", include_str!("of-going.yaml")));
    let fates: Vec<String> = predictions(&plan).into_values().map(|predicted| predicted.fate).collect();
    assert_eq!(fates, ["GoesLater"; 3], "{plan:#}");
    for name in ["held", "waiting"] {
        cluster.patch(&path(name), &json!({"metadata": {"finalizers": null}}));
    }
    for name in ["of-held", "below-of-held", "of-waiting"] {
        cluster.wait_until("a dependent to go with its owner", std::time::Duration::from_secs(60), || {
            cluster.get(&path(name)).is_none()
        });
    }
}

/// What was applied last decides about finalizers, too: without its last one, a Terminating object goes.
#[test]
fn finalizers_are_merged() {
    let scene = Scene::new(shared(), "finalizers");
    let cluster = scene.cluster;
    scene.send(By::Apply, &scene.file("before.yaml", include_str!("held.yaml"))).expect(0);
    let path = |name: &str| cluster.path_of(&super::kit::config_map(&scene.here, name));
    let by_hand = json!({"metadata": {"finalizers": ["example.test/hold", "example.test/by-hand"]}});
    cluster.patch(&path("released"), &by_hand);
    for name in ["terminating", "more"] {
        cluster.delete(&path(name), Some("Background"), None);
    }
    let plan = trial(&scene, By::Apply, &scene.file("file.yaml", include_str!("finalizers.yaml")));
    let told: Vec<String> = predictions(&plan)
        .into_iter()
        .map(|(name, predicted)| {
            assert!(predicted.certain, "{name}: {predicted:?}");
            format!("{} {}", name.rsplit('/').next().unwrap_or_default(), predicted.fate)
        })
        .collect();
    // The file has no list any more: all of it goes, also the finalizer that nobody applied.
    assert_eq!(told, ["more Refused", "released Collected", "terminating Collected", "custom Collected"]);
}
