//! Foreground deletions that wait for a dependent that the collector never deletes (§5.4).

use std::{
    panic,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::json;

use super::{
    examine, follow,
    kit::{aged, ago, is_gone, is_terminating, names, words},
    mends, mends_with,
};
use crate::{
    harness::{Alone, owner_reference, uid},
    plan::{
        draft::{HOLD, blocking},
        trial::Trial,
    },
};

/// S6 (R5.13).
pub fn an_object_that_waits_for_itself() {
    let trial = Trial::new("ouroboros", "Foreground");
    let snake = trial.config_map("snake").create();
    trial.add_owners(&snake, &[blocking(&snake)]);
    trial.cluster.settled();
    trial.cluster.delete(&trial.cluster.path_of(&snake), Some("Foreground"), None);
    trial.cluster.settled();
    mends_with(trial.cluster, &["-n", &trial.namespace], "foreground-deadlock", "snake", 0);
    assert!(trial.cluster.get(&trial.cluster.path_of(&snake)).is_none());
}

/// S4: if the collector can't look up one reference, it never deletes the dependent, whatever the other references are.
pub fn a_dependent_with_a_reference_to_what_is_not_served() {
    let trial = Trial::new("not-served", "Foreground");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let [above, owner] = ["above", "owner"].map(|name| trial.widget(name).create());
    trial.add_owners(&owner, &[blocking(&above)]);
    let haunted = trial.config_map("haunted").reference(trial.unserved()).blocking(&owner).create();
    let beside = trial.config_map("beside").reference(trial.unserved()).owned_by(&owner).create();
    cluster.seen_by_collector(&[uid(&owner)]);
    trial.delete_before(&above, "Foreground");
    is_terminating(cluster, &owner);
    cluster.settled();
    let found = examine(cluster, &[&args[..], &["--only", "stuck-on-not-served"]].concat());
    let finding = found.one("stuck-on-not-served", "haunted");
    assert_eq!((&finding["severity"], &finding["reference"]["kind"]), (&json!("Error"), &json!("Ghost")));
    assert_eq!((names(&finding["objects"]), names(&finding["related"])), (vec!["haunted"], vec!["owner", "above"]));
    assert_eq!(
        (words(finding, "message"), words(finding, "consequence")),
        (
            "It has a reference to gone.test/v1 Ghost/ghost, a kind that is not served.",
            "The collector fails on it, retries forever, and never deletes it. Widget/owner and Widget/above wait for \
             it."
        )
    );
    // A dependent blocks nothing unless an owner waits for it.
    assert_eq!(found.findings().count(), 1, "{:#}", found.document);

    mends(cluster, &args, "stuck-on-not-served", "haunted");
    for gone in [&owner, &above] {
        is_gone(cluster, gone);
    }
    for kept in [&haunted, &beside] {
        assert!(cluster.get(&cluster.path_of(kept)).is_some());
    }
}

/// S4 and S5: an admin deletes what the collector can't delete, or leaves a dependent to its other owner. Dropping the
/// reference is not enough: the collector doesn't process the owner again.
pub fn what_the_collector_cannot_delete_goes_by_hand() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "by-hand", "Foreground");
    let cluster = trial.cluster;
    let [rack, other] = ["owner", "other"].map(|name| trial.rack(name).create());
    let widget = trial.widget("widget").create();
    let scoped = trial.rack("scoped").owned_by(&widget).blocking(&rack).create();
    let below = trial.config_map("below").owned_by(&scoped).create();
    let haunted = trial.config_map("haunted").blocking(&rack).reference(trial.unserved()).create();
    let shared = trial.config_map("shared").owned_by(&other).reference(trial.unserved()).blocking(&rack).create();
    trial.delete_before(&rack, "Foreground");
    cluster.settled();
    let target = format!("racks/{}", trial.global("owner"));
    let finding = mends_with(cluster, &[&target], "stuck-on-invalid-scope", &trial.global("scoped"), 1);
    assert_eq!(
        (&finding["severity"], names(&finding["related"])),
        (&json!("Error"), vec![trial.global("owner").as_str()])
    );
    assert_eq!(
        words(&finding, "message"),
        "It is cluster-scoped, but has a reference to the namespaced gc.test/v1 Widget/widget."
    );
    assert_eq!(&finding["reference"]["uid"], uid(&widget));
    for gone in [&scoped, &below] {
        is_gone(cluster, gone);
    }
    let found = examine(cluster, &[&target, "--only", "stuck-on-not-served"]);
    let finding = found.one("stuck-on-not-served", "haunted");
    assert_eq!(names(&finding["objects"]), ["haunted", "shared"]);
    for remedy in [1, 2] {
        follow(cluster, finding, remedy);
    }
    for gone in [&haunted, &rack] {
        is_gone(cluster, gone);
    }
    let kept = cluster.get(&cluster.path_of(&shared)).expect("its other owner keeps it");
    assert_eq!(kept["metadata"]["ownerReferences"], json!([owner_reference(&other)]));
}

/// S5: only the owner is deleted.
pub fn a_cluster_scoped_dependent_with_a_namespaced_owner() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "scope", "Foreground");
    let cluster = trial.cluster;
    let rack = trial.rack("owner").create();
    let widget = trial.widget("widget").create();
    let scoped = trial.rack("scoped").owned_by(&widget).blocking(&rack).create();
    // Without another reference, the collector deletes it as usual.
    let plain = trial.rack("plain").blocking(&rack).create();
    trial.delete_before(&rack, "Foreground");
    is_gone(cluster, &plain);
    cluster.settled();
    let target = format!("racks/{}", trial.global("owner"));
    let finding = mends(cluster, &[&target], "stuck-on-invalid-scope", &trial.global("scoped"));
    assert_eq!(names(&finding["objects"]), [trial.global("scoped")]);
    is_gone(cluster, &rack);
    assert!(cluster.get(&cluster.path_of(&scoped)).is_some());
}

/// S7: the API server never deletes the built-in priority classes.
pub fn a_dependent_that_may_not_be_deleted() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "protected", "Foreground");
    let cluster = trial.cluster;
    let rack = trial.rack("owner").create();
    let class = "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical";
    cluster.patch(class, &json!({"metadata": {"ownerReferences": [blocking(&rack)]}}));
    cluster.seen_by_collector(&[uid(&rack)]);
    cluster.delete(&cluster.path_of(&rack), Some("Foreground"), None);
    cluster.settled();
    let target = format!("racks/{}", trial.global("owner"));
    let finding = mends(cluster, &[&target], "stuck-on-protected", "system-node-critical");
    assert_eq!(
        (&finding["severity"], names(&finding["related"])),
        (&json!("Error"), vec![trial.global("owner").as_str()])
    );
    assert_eq!(finding["remedies"].as_array().map(Vec::len), Some(1), "{finding:#}");
    is_gone(cluster, &rack);
    cluster.patch(class, &json!({"metadata": {"ownerReferences": null}}));
}

/// S10, B9: the collector doesn't watch events, so it never learns that one was deleted.
pub fn a_delete_that_the_collector_never_learns_of() {
    let trial = Trial::new("unwatched", "Foreground");
    let cluster = trial.cluster;
    let event = cluster.create(object!("events.k8s.io/v1 Event", {
        "name": "owner", "namespace": trial.namespace, "finalizers": ["foregroundDeletion"],
        "eventTime": "2026-01-31T08:00:00.000000Z",
        "type": "Normal",
        "reason": "Tested",
        "action": "Testing",
        "reportingController": "test",
        "reportingInstance": "test",
        "regarding": {"namespace": trial.namespace},
    }));
    let below = trial.config_map("below").blocking(&event).create();
    cluster.settled();
    // The API server would remove the finalizer when it gets a DELETE for an event.
    let mut deleted = event.clone();
    deleted["metadata"]["deletionTimestamp"] = json!(ago(60));
    deleted["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    cluster.store(&deleted);
    cluster.settled();
    let args = ["-n", &trial.namespace, "configmaps/below", "events.events.k8s.io/owner"];
    let finding = mends(cluster, &args, "stuck-unwatched", "owner");
    assert_eq!(finding["severity"], "Error");
    is_gone(cluster, &event);
    is_gone(cluster, &below);
}

/// S12: like a controller, the test keeps creating dependents that a foreground deletion waits for, each with a new
/// name. Each exists only for a moment, but there is always one.
pub fn dependents_that_are_made_again_and_again() {
    let trial = Trial::new("recreated", "Foreground");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let owner = trial.widget("owner").create();
    let first = trial.config_map("first").blocking(&owner).finalizer(HOLD).create();
    trial.delete_before(&owner, "Foreground");
    is_terminating(cluster, &first);
    // A dependent that was just being created when the owner was deleted proves nothing.
    let only = [&args[..], &["--only", "dependents-recreated"]].concat();
    let found = examine(cluster, &only);
    assert!(found.findings().next().is_none(), "{:#}", found.document);
    aged(cluster, &owner, 60);
    let dependent = object!("v1 ConfigMap", {
        "generateName": "made-", "namespace": trial.namespace, "finalizers": [HOLD],
        "ownerReferences": [blocking(&owner)],
    });
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut last = first;
            while !stop.load(Ordering::Relaxed) && cluster.get(&cluster.path_of(&owner)).is_some() {
                let next = cluster.create(&dependent);
                cluster.patch(&cluster.path_of(&last), &json!({"metadata": {"finalizers": null}}));
                last = next;
                thread::sleep(Duration::from_millis(50));
            }
            cluster.patch(&cluster.path_of(&last), &json!({"metadata": {"finalizers": null}}));
        });
        let mended = panic::catch_unwind(panic::AssertUnwindSafe(|| {
            cluster.wait_until("the first to go", Duration::from_secs(30), || {
                cluster.get(&format!("/api/v1/namespaces/{}/configmaps/first", trial.namespace)).is_none()
            });
            mends(cluster, &args, "dependents-recreated", "owner")
        }));
        stop.store(true, Ordering::Relaxed);
        let finding = mended.unwrap_or_else(|why| panic::resume_unwind(why));
        assert_eq!(finding["severity"], "Warning");
        let message = words(&finding, "message");
        assert!(
            message.contains("new ones were created, the last ") && message.contains(": ConfigMap/made-"),
            "{message}"
        );
    });
    is_gone(cluster, &owner);
}
