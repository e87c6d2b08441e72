//! How cascades end, and when the program reports the end.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use gc_cluster::act::{Answered, Ended, FollowEvent};
use gc_core::{
    plan::{OutcomeKind, tracker::Relation},
    simulate::State,
};
use http::Method;
use serde_json::{Value, json};

use super::kit::Carried;
use crate::{
    doctor::kit::{ago, lease},
    harness::{self, Alone, definition_of, owner_reference},
    plan::{
        draft::{HOLD, blocking},
        trial::{POLICIES, Trial},
        workloads::stateful_set,
    },
    sweep::uncollected,
};

fn get(trial: &Trial<'_>, path: &str) -> Value {
    let path = path.replace("NS", &trial.namespace);
    trial.cluster.get(&path).unwrap_or_else(|| panic!("no {path}"))
}

/// R9.14. Whatever the controller makes anew on the way, following ends as planned.
#[test]
fn stateful_sets_go_as_foretold() {
    let gone = POLICIES.map(|policy| {
        let trial = Trial::new("follow-stateful", policy);
        stateful_set(&trial);
        let target = get(&trial, "/apis/apps/v1/namespaces/NS/statefulsets/db");
        let outcome = Carried::new(&trial, vec![&target]).out(|| (), || ());
        let progress = outcome.events.iter().any(|event| matches!(event, FollowEvent::Progress(_)));
        assert!(progress, "{:?}", outcome.events);
        outcome.as_planned()
    });
    assert!(gone[0] >= 3 && gone[1] == gone[0] && gone[2] == 1, "{gone:?}");
}

/// If the plan predicts a stuck deletion, following ends as soon as it is stuck.
#[test]
fn what_was_to_stay_is_not_waited_for() {
    let trial = Trial::new("follow-held", "Foreground");
    let owner = trial.widget("owner").create();
    trial.config_map("goes").blocking(&owner).create();
    trial.config_map("held").blocking(&owner).finalizer(HOLD).create();
    let outcome = Carried::new(&trial, vec![&owner]).out(|| (), || ());
    assert!(outcome.plan.stuck());
    assert_eq!(outcome.as_planned(), 1);
    let followed = &outcome.followed;
    assert_eq!(followed.left, 2);
    let [blocker] = followed.blockers.as_slice() else { panic!("{:#?}", followed.blockers) };
    assert_eq!(blocker.object.short_name(), "ConfigMap/held");
    assert_eq!((blocker.state, blocker.holds_up), (State::Stuck, 1));
    assert_eq!(blocker.held_by, [HOLD]);
}

/// R9.37: others have done their part, and no collector has done what follows. That is not the end of the plan.
#[test]
fn what_follows_the_part_of_others_is_waited_for() {
    let trial = Trial::on(uncollected(), "follow-late", "Background");
    let owner = trial.widget("owner").finalizer(HOLD).create();
    trial.config_map("dependent").owned_by(&owner).finalizer("acme.io/second").create();
    let release = || {
        trial.cluster.patch(&trial.cluster.path_of(&owner), &json!({"metadata": {"finalizers": null}}));
    };
    let timeout = Duration::from_secs(4);
    let outcome = Carried::new(&trial, vec![&owner]).within(timeout).unsettled(|| (), release);
    assert_eq!(outcome.followed.ended, Ended::TimedOut, "{:#?}", outcome.followed);
    assert_eq!(outcome.followed.progress.gone, 1);
}

/// R2.7: a collector that doesn't watch the owner's kind yet sees late that it is gone, and does what follows then.
#[test]
#[ignore = "long: waits until the collector has seen a new kind"]
fn what_follows_an_owner_of_a_young_kind_is_waited_for() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "follow-young", "Background");
    alone.create(definition_of("young.test", "Seedling", "seedlings", &["v1"]));
    let list = format!("/apis/young.test/v1/namespaces/{}/seedlings", trial.namespace);
    let seedling = json!({
        "apiVersion": "young.test/v1",
        "kind": "Seedling",
        "metadata": {"name": "owner", "finalizers": [HOLD]},
    });
    let create = || alone.ask(&Method::POST, &list, Some(("application/json", &seedling))).is_success();
    alone.wait_until("a Seedling to be accepted", harness::PATIENCE, create);
    let owner = get(&trial, &format!("{list}/owner"));
    trial.config_map("dependent").owned_by(&owner).finalizer("acme.io/second").create();
    let release = || {
        alone.patch(&alone.path_of(&owner), &json!({"metadata": {"finalizers": null}}));
    };
    let outcome = Carried::new(&trial, vec![&owner]).unsettled(|| (), release);
    assert_eq!((outcome.as_planned(), outcome.followed.left), (1, 1), "{:#?}", outcome.followed);
    let later: Vec<_> = outcome.plan.later().map(|outcome| (outcome.kind, outcome.uncertain)).collect();
    assert_eq!(later, [(OutcomeKind::Deleted, None)], "its going is noticed in the end");
}

/// Someone adds a finalizer after the plan: following reports the blocker long before the timeout.
#[test]
fn what_gets_stuck_is_told_with_what_holds_it() {
    let trial = Trial::new("follow-stuck", "Foreground");
    let owner = trial.widget("owner").create();
    let middle = trial.widget("middle").blocking(&owner).create();
    let held = trial.config_map("held").blocking(&middle).create();
    let hold = || {
        trial.cluster.patch(&trial.cluster.path_of(&held), &json!({"metadata": {"finalizers": [HOLD]}}));
    };
    let outcome = Carried::new(&trial, vec![&owner]).out(hold, || ());
    let followed = &outcome.followed;
    assert_eq!(followed.ended, Ended::Stuck, "{followed:#?}");
    let expected = ["Widget/owner", "Widget/middle", "ConfigMap/held"];
    let mut otherwise = outcome.otherwise();
    otherwise.sort_by_key(|(name, ..)| expected.iter().position(|known| known == name));
    assert_eq!(otherwise, expected.map(|name| (name.to_owned(), OutcomeKind::Deleted, OutcomeKind::Terminating)));
    assert_eq!(followed.left, 3);
    let [blocker] = followed.blockers.as_slice() else { panic!("{:#?}", followed.blockers) };
    assert_eq!((blocker.object.short_name().as_str(), blocker.holds_up), ("ConfigMap/held", 2));
    assert_eq!(blocker.held_by, [HOLD]);
}

/// The collector also deletes a dependent that was created after the plan. Following waits for it, and doesn't report a
/// deviation.
#[test]
fn what_comes_meanwhile_and_goes_along_is_told_apart() {
    let trial = Trial::new("follow-new", "Background");
    let owner = trial.widget("owner").create();
    trial.config_map("known").owned_by(&owner).create();
    let stranger = trial.config_map("stranger").create();
    let between = || {
        trial.config_map("new").owned_by(&owner).create();
        trial.add_owners(&stranger, &[owner_reference(&owner)]);
        trial.delete_before(&trial.widget("other").create(), "Background");
    };
    let outcome = Carried::new(&trial, vec![&owner]).out(between, || ());
    let followed = &outcome.followed;
    assert_eq!(followed.ended, Ended::AsPlanned, "{followed:#?}");
    let mut outside: Vec<(String, bool, bool)> =
        followed.outside.iter().map(|one| (one.object.short_name(), one.new, one.gone)).collect();
    outside.sort();
    assert_eq!(outside, [("ConfigMap/new".to_owned(), true, true), ("ConfigMap/stranger".to_owned(), false, true)]);
    let of_owner =
        |because: &Relation| matches!(because, Relation::Owner(owner) if owner.short_name() == "Widget/owner");
    assert!(followed.outside.iter().all(|one| of_owner(&one.because)), "{:#?}", followed.outside);
    assert_eq!(trial.cluster.list(&format!("/api/v1/namespaces/{}/configmaps", trial.namespace)), [] as [Value; 0]);
}

/// Someone orphans an object in time: the end differs from the plan, and nothing is stuck.
#[test]
fn what_is_saved_meanwhile_is_told() {
    let trial = Trial::new("follow-saved", "Background");
    let owner = trial.widget("owner").create();
    let saved = trial.config_map("saved").owned_by(&owner).create();
    trial.config_map("goes").owned_by(&owner).create();
    let save = || {
        trial.cluster.patch(&trial.cluster.path_of(&saved), &json!({"metadata": {"ownerReferences": null}}));
    };
    let outcome = Carried::new(&trial, vec![&owner]).out(save, || ());
    assert_eq!(outcome.followed.ended, Ended::Otherwise, "{:#?}", outcome.followed);
    assert_eq!(outcome.otherwise(), [("ConfigMap/saved".to_owned(), OutcomeKind::Deleted, OutcomeKind::Orphaned)]);
    assert_eq!(outcome.followed.blockers, []);
}

/// A target that is already gone is no error. If another object has taken its name, that one is left alone.
#[test]
fn targets_may_be_gone_before() {
    let trial = Trial::new("follow-gone", "Background");
    let [first, second, third] = ["first", "second", "third"].map(|name| trial.widget(name).create());
    let between = || {
        for target in [&first, &second] {
            trial.cluster.delete(&trial.cluster.path_of(target), None, None);
        }
        trial.widget("second").create();
    };
    let outcome = Carried::new(&trial, vec![&first, &second, &third]).out(between, || ());
    let answered: Vec<&Answered> = outcome.sent.iter().map(|sent| &sent.answered).collect();
    assert_eq!(answered, [&Answered::GoneBefore, &Answered::Replaced, &Answered::Removed]);
    assert_eq!(outcome.as_planned(), 3);
    get(&trial, "/apis/gc.test/v1/namespaces/NS/widgets/second");
}

/// Following waits for pods until their kubelet has ended them.
#[test]
#[ignore = "long: the same as a delete is tried in the quick tier"]
fn pods_are_waited_for() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "follow-pods", "Foreground");
    let node = trial.node();
    let owner = trial.widget("owner").create();
    let pod = trial.pod_on("pod", &node).with("terminationGracePeriodSeconds", json!(60)).blocking(&owner).create();
    // The pod ends once it is told that it is waited for: later than following would take for the end.
    let ends = |event: &FollowEvent| {
        if matches!(event, FollowEvent::Waiting { .. }) {
            trial.cluster.delete(&trial.cluster.path_of(&pod), None, Some(0));
        }
        false
    };
    let outcome = Carried::new(&trial, vec![&owner]).heeding(ends).out(|| (), || ());
    assert_eq!(outcome.as_planned(), 2);
    let waited = outcome.events.iter().find_map(|event| match event {
        FollowEvent::Waiting { blockers, .. } => Some(blockers),
        _ => None,
    });
    let [blocker] = waited.expect("it is told what is waited for").as_slice() else { panic!("{waited:?}") };
    assert_eq!((blocker.object.short_name().as_str(), blocker.state), ("Pod/pod", State::Waiting));
    assert_eq!(blocker.held_by, ["kubelet"]);
}

/// Without a collector nothing is deleted, and following doesn't take that for the end.
#[test]
fn time_runs_out_where_nobody_collects() {
    let trial = Trial::on(uncollected(), "follow-uncollected", "Background");
    let owner = trial.widget("owner").create();
    trial.config_map("dependent").owned_by(&owner).create();
    let timeout = Duration::from_secs(4);
    let outcome = Carried::new(&trial, vec![&owner]).within(timeout).unsettled(|| (), || ());
    assert_eq!(outcome.followed.ended, Ended::TimedOut, "{:#?}", outcome.followed);
    assert_eq!(outcome.otherwise(), [("ConfigMap/dependent".to_owned(), OutcomeKind::Deleted, OutcomeKind::Unchanged)]);
    assert_eq!(outcome.followed.progress.gone, 1);
}

/// The Lease that was read when the delete began has expired since. The one that is there is renewed.
#[test]
#[ignore = "long: waits until a Lease has expired that was read before"]
fn a_controller_manager_that_renews_its_lease_is_not_blamed() {
    // The collector is the one part of it that doesn't work.
    let cluster = Alone::with(&[]);
    let namespace = cluster.namespace("renewed");
    let made = lease(&cluster, "kube-system", "kube-controller-manager", 0, 15);
    let owner = cluster.create(config_map(&namespace, "owner"));
    let mut dependent = config_map(&namespace, "dependent");
    dependent["metadata"]["ownerReferences"] = json!([blocking(&owner)]);
    cluster.create(dependent);
    let is_over = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let renewed = ago(0).replace('Z', ".000000Z");
                cluster.patch(&cluster.path_of(&made), &json!({"spec": {"renewTime": renewed}}));
                std::thread::sleep(Duration::from_secs(2));
            }
        });
        let args = ["delete", "cm/owner", "-n", &namespace, "--cascade=foreground", "--yes", "--timeout=90s"];
        let ran = cluster.gc(&args);
        is_over.store(true, Ordering::Relaxed);
        ran
    });
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    assert!(!ran.stdout.contains("No controller manager is known to run"), "{}", ran.stdout);
}

fn config_map(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}})
}
