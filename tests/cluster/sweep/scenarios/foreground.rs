//! Foreground deletion: which dependents the owner waits for.

use serde_json::json;

use super::kit::{HELD, finalizers, is_terminating, owners};
use crate::{
    harness::{owner_reference, uid},
    plan::trial::Trial,
    sweep::seat::Seated,
};

/// R5.4: an owner doesn't wait for a dependent that another owner keeps.
pub fn a_solid_owner_does_not_block(seated: &Seated<'_>) {
    let trial = Trial::on(seated.cluster, "solid", "Foreground");
    let doomed = trial.replication_controller("doomed").create();
    let remaining = trial.replication_controller("remaining").create();
    let pod = trial.pod("pod").blocking(&doomed).owned_by(&remaining).create();
    seated.delete(&doomed, "Foreground");
    seated.goes(&doomed);
    let now = seated.now(&pod);
    assert_eq!((uid(&now), owners(&now)), (uid(&pod), vec![uid(&remaining)]));
}

/// R5.2: a reference with `blockOwnerDeletion` unset or false doesn't make its owner wait.
pub fn references_that_do_not_block(seated: &Seated<'_>) {
    let trial = Trial::on(seated.cluster, "not-blocking", "Foreground");
    let doomed = trial.replication_controller("doomed").create();
    let mut says_no = owner_reference(&doomed);
    says_no["blockOwnerDeletion"] = json!(false);
    let pods = [
        trial.pod("says-nothing").owned_by(&doomed).finalizer(HELD).create(),
        trial.pod("says-no").reference(says_no).finalizer(HELD).create(),
    ];
    seated.delete(&doomed, "Foreground");
    seated.goes(&doomed);
    for pod in &pods {
        seated.becomes(pod, "terminating", is_terminating);
        assert_eq!(finalizers(&seated.now(pod)), [HELD]);
    }
}

/// R5.1: a dependent blocks its owner until it is gone, also while it is terminating.
pub fn references_that_block(seated: &Seated<'_>) {
    let trial = Trial::on(seated.cluster, "blocking", "Foreground");
    let doomed = trial.replication_controller("doomed").create();
    let pod = trial.pod("pod").blocking(&doomed).finalizer(HELD).create();
    seated.catches_up(&trial, &[("v1", "Pod"), ("v1", "ReplicationController")]);
    seated.delete(&doomed, "Foreground");
    seated.becomes(&pod, "terminating", is_terminating);
    seated.catches_up(&trial, &[("v1", "Pod"), ("v1", "ReplicationController")]);
    // What it knew by then has been worked on once what came later is done.
    seated.catches_up(&trial, &[("v1", "Pod"), ("v1", "ReplicationController")]);
    assert_eq!(finalizers(&seated.now(&doomed)), ["foregroundDeletion"]);
    assert_eq!(finalizers(&seated.now(&pod)), [HELD]);
    seated.let_go(&pod);
    seated.goes(&pod);
    seated.goes(&doomed);
}

/// A foreign finalizer stays; the collector's own is removed each time it is added (R5.8, §1.7).
pub fn deleted_twice_with_a_finalizer(seated: &Seated<'_>) {
    let trial = Trial::on(seated.cluster, "twice", "Foreground");
    let pod = trial.pod("pod").finalizer(HELD).create();
    for _ in 0..2 {
        let answer = seated.delete(&pod, "Foreground").expect("it is there");
        assert_eq!(finalizers(&answer), [HELD, "foregroundDeletion"], "{answer}");
        seated.becomes(&pod, "held by one finalizer", |pod| finalizers(pod) == [HELD]);
    }
    seated.let_go(&pod);
    seated.goes(&pod);
}
