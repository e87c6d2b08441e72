//! Missing, forbidden, broken or mistyped input: the program reports what it knows, and claims nothing else.

mod connections;
mod every_type;
mod lists;
mod permissions;
mod pipes;
mod targets;

use serde_json::Value;

use crate::{
    harness::{Cluster, Ran, shared},
    plan::trial::Trial,
};

/// An owner and a blocking dependent.
fn family(prefix: &str) -> (Trial<'static>, Value) {
    family_on(shared(), prefix)
}

fn family_on<'c>(cluster: &'c Cluster, prefix: &str) -> (Trial<'c>, Value) {
    let trial = Trial::on(cluster, prefix, "Foreground");
    let owner = trial.widget("owner").create();
    let dependent = trial.config_map("dependent").blocking(&owner).create();
    (trial, dependent)
}

/// Checks that a command failed: exit code 1, nothing on standard output, and an error with all of these words.
#[track_caller]
fn refused(ran: &Ran, words: &[&str]) {
    ends_with(1, ran, words);
}

/// The same with this exit code.
fn ends_with(code: i32, ran: &Ran, words: &[&str]) {
    assert_eq!(ran.expect(code), "", "something is on standard output");
    assert!(
        ran.stderr.starts_with("error: ") && ran.stderr.lines().count() == 1,
        "not one line that is an error:\n{}",
        ran.stderr
    );
    for word in words {
        assert!(ran.stderr.contains(word), "{word:?} is not in: {}", ran.stderr);
    }
}

/// The gaps of a document as `resource in namespace: reason`.
fn gaps(document: &Value) -> Vec<String> {
    let text = |gap: &Value, key: &str| gap[key].as_str().unwrap_or("-").to_owned();
    let describe =
        |gap: &Value| format!("{} in {}: {}", text(gap, "resource"), text(gap, "namespace"), text(gap, "reason"));
    document["gaps"].as_array().into_iter().flatten().map(describe).collect()
}

/// Whether a plan is certain of the outcome of the object with this name.
#[track_caller]
fn certain(plan: &Value, name: &str) -> bool {
    let outcomes = plan["outcomes"].as_array().cloned().unwrap_or_default();
    let outcome = outcomes.iter().find(|outcome| outcome["object"]["name"] == name);
    let outcome = outcome.unwrap_or_else(|| panic!("{name} has no outcome in {:#}", plan["outcomes"]));
    outcome["certain"].as_bool().expect("certain is a boolean")
}
