//! Pods, the only kind with a grace period, with and without a kubelet that ends them.

use serde_json::{Value, json};

use super::{
    draft::HOLD,
    trial::{Case, Trial, all_come_true, predict, three_ways_on},
};
use crate::harness::Alone;

fn target() -> Vec<String> {
    vec!["pod/root".to_owned()]
}

#[test]
fn a_pod_with_dependents_on_a_node() {
    three_ways_on(&Alone::usual(), "pod-node", |trial| {
        let owner = trial.pod_on("root", &trial.node()).create();
        trial.config_map("blocks").blocking(&owner).create();
        trial.config_map("follows").owned_by(&owner).create();
        target()
    });
}

#[test]
#[ignore = "long: waits for grace periods"]
fn pods_below_a_target_keep_their_own_grace_period() {
    three_ways_on(&Alone::usual(), "pods-below", |trial| {
        let owner = trial.widget("root").create();
        trial.pod_on("ends", &trial.node()).blocking(&owner).create();
        trial.pod_on("stays", &trial.global("gone")).blocking(&owner).create();
        trial.pod_on("held", &trial.global("node")).blocking(&owner).finalizer(HOLD).create();
        vec!["widget/root".to_owned()]
    });
}

/// A grace flag, the grace period that kubectl makes of it, and whether the pod goes.
type Graced = (&'static [&'static str], Option<i64>, bool);

const FLAGS: [Graced; 6] = [
    (&[], None, false),
    (&["--grace-period=5"], Some(5), false),
    (&["--grace-period=0"], Some(1), false),
    (&["--now"], Some(1), false),
    (&["--force"], Some(0), true),
    (&["--force", "--grace-period=0"], Some(0), true),
];

/// Deletes a pod on a missing node with each of the flags, after running `before` on it. Whether it goes at once, or
/// only the pod garbage collector deletes it, depends on the flags.
#[track_caller]
fn with_flags(prefix: &str, policy: &'static str, goes: impl Fn(&Graced) -> bool, before: impl Fn(&Trial<'_>, &Value)) {
    let case = |flags: &Graced| {
        let trial = Trial::new(prefix, policy);
        let owner = trial.pod_on("root", &trial.global("gone")).create();
        trial.config_map("dependent").owned_by(&owner).create();
        before(&trial, &owner);
        Case { trial, targets: target(), flags: flags.0.to_vec(), grace: flags.1 }
    };
    let mut predicted = predict(FLAGS.iter().map(case).collect());
    for (one, flags) in predicted.iter().zip(&FLAGS) {
        if is_without_effect(&one.plan) {
            assert_eq!(flags.1, None, "only a shorter grace period changes anything: {}", one.plan);
            continue;
        }
        assert_eq!(one.outcome("Pod", "root"), Some("Deleted"), "{flags:?}: {}", one.plan);
        let assumes = one.plan["assumes"].to_string();
        assert_eq!(!assumes.contains("pod garbage collector"), goes(flags), "{flags:?}: {}", one.plan);
    }
    // A DELETE that changes nothing has no outcome, and the pod garbage collector deletes the pod all the same.
    predicted.retain(|one| !is_without_effect(&one.plan));
    all_come_true(&predicted);
}

fn is_without_effect(plan: &Value) -> bool {
    plan["outcomes"] == json!([])
}

#[test]
#[ignore = "long: waits for grace periods"]
fn only_force_removes_a_pod_at_once() {
    with_flags("grace", "Background", |flags| flags.2, |_, _| {});
}

#[test]
#[ignore = "long: waits for grace periods"]
fn a_grace_period_that_runs_can_only_be_shortened() {
    let delete = |trial: &Trial<'_>, pod: &Value| {
        trial.cluster.delete(&trial.cluster.path_of(pod), Some("Foreground"), None);
    };
    with_flags("grace-again", "Background", |flags| flags.2, delete);
}

#[test]
fn a_pod_that_has_finished_goes_at_once() {
    let finish = |trial: &Trial<'_>, pod: &Value| {
        let path = format!("{}/status", trial.cluster.path_of(pod));
        trial.cluster.patch(&path, &json!({"status": {"phase": "Succeeded"}}));
    };
    with_flags("finished", "Background", |_| true, finish);
}
