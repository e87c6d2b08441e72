//! Why `--keep` needs a guard, and what happens to the guard when something fails.

use std::time::Duration;

use gc_cluster::act::{self, KeepFailure, Released};
use gc_core::{command_line::PLAIN, server::Propagation::Background};
use serde_json::{Value, json};

use super::{Keeper, PATIENCE, deployment, gone, now};
use crate::{
    harness::{owner_reference, uid, wait_until},
    plan::trial::Trial,
};

fn owners(trial: &Trial<'_>, object: &Value) -> Value {
    now(trial, object).unwrap_or_else(|| panic!("{object} is gone"))["metadata"]["ownerReferences"].clone()
}

/// Without a guard, the ReplicaSet's controller adopts a freed pod again, and the pod would go with its ReplicaSet.
/// R9.3, R9.5.
#[test]
fn what_is_merely_freed_is_taken_back() {
    let trial = Trial::new("keep-freed", "Background");
    let (_, set, pods) = deployment(&trial);
    trial.cluster.patch(&trial.cluster.path_of(&pods[0]), &json!({"metadata": {"ownerReferences": null}}));
    wait_until("the pod is adopted again", PATIENCE, || owners(&trial, &pods[0])[0]["uid"] == uid(&set));
}

/// A guarded pod survives for as long as it takes, even if it gets another reference to a dying owner. After an
/// interruption the pod lives, and can be released later or by a command. R9.13.
#[test]
fn a_guard_holds_until_it_is_released() {
    let trial = Trial::new("keep-guard", "Background");
    let (web, set, pods) = deployment(&trial);
    trial.cluster.settled();
    let mut keeper = Keeper::read(trial.cluster);
    let keeping = keeper.plan(&[keeper.id(uid(&web))], Background, &[keeper.id(uid(&pods[0]))]);
    let detached = keeper.cut(&keeping);
    let guard = owners(&trial, &pods[0]);
    assert_eq!(
        (guard[0]["uid"].as_str(), &guard[0]["controller"], &guard[1]),
        (Some(uid(&pods[0])), &json!(true), &Value::Null)
    );
    assert!(detached[0].guarded);
    // The owner lives: the guard stays.
    let release =
        act::release(&keeper.connection, &keeper.snapshot, &keeping.plan, &detached, Duration::from_millis(500));
    let released = keeper.runtime.block_on(release).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(released[..], [(_, Released::Guarded(owner))] if owner == keeper.id(uid(&set))), "{released:?}");
    assert_eq!(owners(&trial, &pods[0]), guard, "nobody has adopted it");
    // Add a reference to an owner that is about to go, and let the collector delete that owner.
    let mut both = guard.as_array().cloned().unwrap_or_default();
    both.push(owner_reference(&set));
    trial.cluster.patch(&trial.cluster.path_of(&pods[0]), &json!({"metadata": {"ownerReferences": both}}));
    trial.cluster.delete(&trial.cluster.path_of(&web), Some("Background"), None);
    gone(&trial, &set);
    gone(&trial, &pods[1]);
    trial.cluster.settled();
    assert_eq!(owners(&trial, &pods[0]), guard, "it lost what died, and lives");
    // Release it by the printed command.
    let command = detached[0].release_command(&keeper.snapshot, &PLAIN).unwrap().to_string();
    let patch = command.split_once("-p '").and_then(|(_, patch)| patch.strip_suffix('\'')).unwrap_or_default();
    let patch: Value = serde_json::from_str(patch).unwrap_or_else(|error| panic!("{command}: {error}"));
    let patched = trial.cluster.ask(
        &http::Method::PATCH,
        &trial.cluster.path_of(&pods[0]),
        Some(("application/json-patch+json", &patch)),
    );
    assert!(patched.is_success(), "{command}");
    assert_eq!(owners(&trial, &pods[0]), Value::Null);
    keeper.release(&keeping, &detached);
}

/// One of two objects can't be cut: the other gets its owners back, and nothing is deleted.
#[test]
fn what_is_cut_is_put_back_when_another_can_not_be() {
    let trial = Trial::new("keep-back", "Background");
    let (web, _, pods) = deployment(&trial);
    trial.cluster.settled();
    let mut keeper = Keeper::read(trial.cluster);
    let wanted: Vec<_> = pods.iter().map(|pod| keeper.id(uid(pod))).collect();
    let keeping = keeper.plan(&[keeper.id(uid(&web))], Background, &wanted);
    let (first, second) = (owners(&trial, &pods[0]), &pods[1]);
    let mut new = owners(&trial, second);
    let another = owner_reference(&trial.config_map("new").create());
    new.as_array_mut().unwrap_or_else(|| panic!("{second} has owners")).push(another);
    trial.cluster.patch(&trial.cluster.path_of(second), &json!({"metadata": {"ownerReferences": new}}));
    let cut = act::cut(&keeper.connection, &keeper.snapshot, &keeping.plan.request.cuts);
    let error = keeper.runtime.block_on(cut).expect_err("its references are others than were planned with");
    assert!(matches!(&error.why, KeepFailure::Changed(what) if what == "ConfigMap/new is new"), "{error}");
    assert!(error.left.is_empty() && error.to_string().contains("all references are as they were"), "{error}");
    assert_eq!(owners(&trial, &pods[0]), first);
}
