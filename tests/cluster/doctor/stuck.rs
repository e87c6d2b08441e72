//! Deletions that don't come to an end (5.4).

use serde_json::json;

use super::mends_with;
use crate::plan::{
    draft::{HOLD, blocking},
    trial::Trial,
};

/// S2: whoever waits in the foreground is released first, without touching the finalizer.
#[test]
fn a_finalizer_that_nobody_removes() {
    let trial = Trial::new("held", "Foreground");
    let owner = trial.widget("owner").create();
    let held = trial.config_map("held").blocking(&owner).finalizer(HOLD).create();
    trial.delete_before(&owner, "Foreground");
    trial.cluster.settled();
    let args = ["-n", &trial.namespace];
    let finding = mends_with(trial.cluster, &args, "stuck-finalizer", "held", 1);
    assert_eq!((&finding["severity"], &finding["related"][0]["name"]), (&json!("Error"), &json!("owner")));
    assert!(trial.cluster.get(&trial.cluster.path_of(&held)).is_none());
}

/// S6 (R5.13).
#[test]
fn an_object_that_waits_for_itself() {
    let trial = Trial::new("ouroboros", "Foreground");
    let snake = trial.config_map("snake").create();
    trial.add_owners(&snake, &[blocking(&snake)]);
    trial.cluster.settled();
    trial.cluster.delete(&trial.cluster.path_of(&snake), Some("Foreground"), None);
    trial.cluster.settled();
    mends_with(trial.cluster, &["-n", &trial.namespace], "foreground-deadlock", "snake", 0);
    assert!(trial.cluster.get(&trial.cluster.path_of(&snake)).is_none());
}
