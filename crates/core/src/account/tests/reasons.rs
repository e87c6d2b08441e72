//! Why objects go, by what watches and look-ups show.

use super::kit::{ABSENT, EXISTS, Play, WAITS, gone_for, holds, object, owned, states, terminating};
use crate::account::{Answer, Change, DeletionPolicy, OwnerState, Reason, Scope};

const TERMINATING: Answer = Answer::Found { terminating: true, waiting: false, orphaning: false };

/// A ConfigMap with these owners is deleted; the owners are not watched, but looked up.
fn reason_with(answers: &[(&'static str, Answer)]) -> Reason {
    let map = answers.iter().fold(object("ConfigMap", "x", 1), |map, (name, _)| owned(map, "Rack", name, 1));
    let mut play = Play::with(Scope::Everything, std::slice::from_ref(&map));
    play.gone(&map);
    assert_eq!(play.changes(), [], "nothing is told before the look-ups are answered");
    play.answer(|asked| answers.iter().find(|(name, _)| *name == asked.name).expect("an owner").1.clone());
    let asked: Vec<&str> = play.asked.iter().map(|asked| asked.namespace.as_str()).collect();
    assert_eq!(asked, vec!["shop"; answers.len()], "as the collector does: from the namespace of the dependent");
    gone_for(&play.changes(), "ConfigMap/x")
}

#[test]
fn an_owner_is_absent_only_if_a_look_up_says_so() {
    let why = reason_with(&[("a", ABSENT)]);
    assert_eq!(
        (states(&why), matches!(why, Reason::OwnersGone { .. })),
        (vec![OwnerState::Absent { current_uid: None }], true)
    );
    let other = Answer::Absent { current_uid: Some("new".to_owned()) };
    assert_eq!(states(&reason_with(&[("a", other)])), [OwnerState::Absent { current_uid: Some("new".to_owned()) }]);
    let unknown = Answer::Unknown("forbidden".to_owned());
    assert!(matches!(reason_with(&[("a", unknown.clone())]), Reason::Unknown { .. }));
    // One absent owner makes the collector probable, and one that exists excludes it.
    let probably = reason_with(&[("a", unknown.clone()), ("b", ABSENT)]);
    assert!(matches!(&probably, Reason::OwnersGone { .. }), "{probably:?}");
    assert!(states(&probably).contains(&OwnerState::Unknown("forbidden".to_owned())));
    for answers in [[("a", EXISTS), ("b", ABSENT)], [("a", unknown), ("b", EXISTS)], [("a", WAITS), ("b", EXISTS)]] {
        assert!(matches!(reason_with(&answers), Reason::OwnerExists { .. }), "{answers:?}");
    }
    for answers in [[("a", WAITS), ("b", ABSENT)], [("a", ABSENT), ("b", WAITS)]] {
        assert!(matches!(reason_with(&answers), Reason::OwnerWaits { .. }), "{answers:?}");
    }
    // It may have waited until a moment ago.
    assert!(matches!(reason_with(&[("a", TERMINATING)]), Reason::Unknown { .. }));
}

/// R5: a Terminating owner without the finalizer of the foreground is solid, unless its watch has shown the finalizer
/// before.
#[test]
fn a_terminating_owner_may_have_waited() {
    for (finalizers, waited) in [(vec!["acme.io/x", "foregroundDeletion"], true), (vec!["acme.io/x"], false)] {
        let owner = object("Deployment", "web", 1);
        let map = owned(object("ConfigMap", "x", 1), "Deployment", "web", 1);
        let mut play = Play::with(Scope::Everything, &[map.clone(), owner.clone()]);
        play.see(&terminating(owner.clone(), &finalizers));
        play.see(&terminating(owner, &["acme.io/x"]));
        play.gone(&map);
        play.answer(|_| TERMINATING);
        let why = gone_for(&play.changes(), "ConfigMap/x");
        assert_eq!(matches!(why, Reason::OwnerWaits { .. }), waited, "{why:?}");
        assert_eq!(matches!(why, Reason::OwnerExists { .. }), !waited, "{why:?}");
    }
}

/// The one that a client deletes goes first, and is the cause of the others, whenever that is told.
#[test]
fn in_a_circle_of_owners_the_first_to_go_is_the_cause() {
    let circle = |name: &str, owner: &str| owned(object("ConfigMap", name, 1), "ConfigMap", owner, 1);
    let all = [circle("a", "c"), circle("b", "a"), circle("c", "b")];
    let mut play = Play::with(Scope::Everything, &all);
    all.iter().for_each(|map| play.gone(map));
    play.answer(|_| ABSENT);
    let changes = play.changes();
    let first = gone_for(&changes, "ConfigMap/a");
    assert!(matches!(&first, Reason::OwnerExists { .. }), "{first:?}");
    for next in ["ConfigMap/b", "ConfigMap/c"] {
        let why = gone_for(&changes, next);
        assert!(matches!(&why, Reason::OwnersGone { .. }), "{why:?}");
    }
    let summary = play.account.summary();
    assert_eq!((summary.collected, summary.otherwise), (2, 1));
}

#[test]
fn a_cascade_in_the_background_needs_no_look_up() {
    let owner = object("Deployment", "web", 1);
    let maps: Vec<_> =
        (0..50).map(|number| owned(object("ConfigMap", &format!("m{number}"), 1), "Deployment", "web", 1)).collect();
    let mut play = Play::with(Scope::Everything, &[maps.clone(), vec![owner.clone()]].concat());
    play.gone(&owner);
    let at = play.now;
    maps.iter().for_each(|map| play.gone(map));
    let changes = play.changes();
    assert_eq!(gone_for(&changes, "Deployment/web"), Reason::NoOwner);
    let seen = OwnerState::SeenGoing { at, policy: Some(DeletionPolicy::Background) };
    assert_eq!(states(&gone_for(&changes, "ConfigMap/m49")), [seen]);
    play.answer(|_| EXISTS);
    assert_eq!((changes.len(), play.asked.len()), (51, 0));
    let summary = play.account.summary();
    assert_eq!((summary.collected, summary.otherwise), (50, 1));
}

/// Dependents that go by another watch than their owner share one look-up.
#[test]
fn many_dependents_of_one_owner_share_a_look_up() {
    let maps: Vec<_> =
        (0..50).map(|number| owned(object("ConfigMap", &format!("m{number}"), 1), "Rack", "r", 1)).collect();
    let mut play = Play::with(Scope::Everything, &maps);
    maps.iter().for_each(|map| play.gone(map));
    play.answer(|_| ABSENT);
    assert_eq!((play.changes().len(), play.asked.len()), (50, 1));
}

/// The watch of the owner is late: the look-up waits for it, to tell how it went.
#[test]
fn an_owner_that_a_look_up_misses_is_shown_by_its_watch() {
    let owner = object("Deployment", "web", 1);
    let map = owned(object("ConfigMap", "x", 1), "Deployment", "web", 1);
    let mut play = Play::with(Scope::Everything, &[map.clone(), owner.clone()]);
    play.gone(&map);
    play.answer(|_| ABSENT);
    assert_eq!(play.changes(), []);
    play.see(&terminating(owner.clone(), &["foregroundDeletion"]));
    play.gone(&terminating(owner.clone(), &[]));
    let why = gone_for(&play.changes(), "ConfigMap/x");
    assert!(matches!(why, Reason::OwnerWaits { .. }), "{why:?}");
    // If the watch stays silent, the look-up is enough.
    let mut play = Play::with(Scope::Everything, &[map.clone(), owner]);
    play.gone(&map);
    play.answer(|_| ABSENT);
    play.now += 1_000;
    assert!(matches!(gone_for(&play.changes(), "ConfigMap/x"), Reason::OwnersGone { .. }));
}

#[test]
fn a_look_up_without_an_answer_is_unknown_after_a_while() {
    let map = owned(object("ConfigMap", "x", 1), "Rack", "r", 1);
    let mut play = Play::with(Scope::Everything, std::slice::from_ref(&map));
    play.gone(&map);
    assert_eq!(play.changes(), []);
    play.now += 5_000;
    assert!(matches!(gone_for(&play.changes(), "ConfigMap/x"), Reason::Unknown { .. }));
    // An answer that was under way before something happened doesn't count for it.
    let again = owned(object("ConfigMap", "y", 1), "Rack", "r", 1);
    let mut play = Play::with(Scope::Everything, &[map.clone(), again.clone()]);
    play.gone(&map);
    let look_up = play.account.next_look_up().expect("a look-up");
    play.gone(&again);
    play.account.answered(&look_up, EXISTS);
    let told: Vec<String> = play.changes().into_iter().map(|(name, _)| name).collect();
    assert_eq!(told, ["ConfigMap/x"]);
    play.answer(|_| ABSENT);
    assert!(matches!(gone_for(&play.changes(), "ConfigMap/y"), Reason::OwnersGone { .. }));
}

#[test]
fn a_foreground_deletion_is_told_step_by_step() {
    let owner = object("Deployment", "web", 1);
    let map = owned(object("ConfigMap", "x", 1), "Deployment", "web", 1);
    let mut play = Play::with(Scope::Everything, &[map.clone(), owner.clone()]);
    play.see(&terminating(owner.clone(), &["foregroundDeletion", "acme.io/x"]));
    let changes = play.changes();
    let [(name, change)] = changes.as_slice() else { panic!("{changes:#?}") };
    assert_eq!(name, "Deployment/web");
    assert!(matches!(
        change,
        Change::DeletionRequested { policy: DeletionPolicy::Foreground, why: Reason::NoOwner, .. }
    ));
    assert_eq!(holds(change).finalizers, ["acme.io/x"]);
    assert_eq!((holds(change).blocking[0].name.as_str(), holds(change).blocking_count), ("x", 1));
    play.gone(&map);
    play.see(&terminating(owner.clone(), &["acme.io/x"]));
    play.answer(|_| WAITS);
    let changes = play.changes();
    assert!(matches!(gone_for(&changes, "ConfigMap/x"), Reason::OwnerWaits { .. }));
    let removed = vec!["foregroundDeletion".to_owned()];
    assert_eq!(changes[1].1, Change::FinalizersRemoved { removed, left: vec!["acme.io/x".to_owned()] });
    // Its last state still has the finalizer.
    play.gone(&terminating(owner, &["acme.io/x"]));
    let changes = play.changes();
    assert!(
        matches!(&changes[0].1, Change::Gone { why: None, after: Some(1..), removed } if removed == &["acme.io/x"])
    );
}

/// What happened first is told first, although every resource has its own watch.
#[test]
fn the_order_is_that_of_the_changes() {
    let owner = object("Deployment", "web", 1);
    let map = owned(object("ConfigMap", "x", 1), "Deployment", "web", 1);
    let mut play = Play::with(Scope::Everything, &[map.clone(), owner.clone()]);
    let at = |mut object: crate::model::RawObject<'static>, version: &'static str| {
        object.resource_version = version.into();
        object
    };
    play.account.see(0, &at(map, "1001"), true, play.now);
    play.account.see(1, &at(owner, "1000"), true, play.now + 20);
    let names: Vec<String> = play.changes().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["Deployment/web", "ConfigMap/x"]);
}

/// A pod that its kubelet need not end, for instance, is Terminating for milliseconds only.
#[test]
fn what_goes_at_once_is_one_line() {
    let map = owned(object("ConfigMap", "x", 1), "Rack", "r", 1);
    let mut play = Play::with(Scope::Everything, std::slice::from_ref(&map));
    play.see(&terminating(map.clone(), &[]));
    play.gone(&terminating(map, &[]));
    play.answer(|_| ABSENT);
    let changes = play.changes();
    assert!(matches!(gone_for(&changes, "ConfigMap/x"), Reason::OwnersGone { .. }));
    assert_eq!((changes.len(), play.account.summary().collected), (1, 1));
}

#[test]
fn references_that_go_have_a_reason() {
    let map = owned(owned(object("ConfigMap", "x", 1), "Rack", "a", 1), "Rack", "b", 1);
    let freed = owned(object("ConfigMap", "x", 1), "Rack", "b", 1);
    let orphaning = Answer::Found { terminating: true, waiting: false, orphaning: true };
    for (answer, expected) in [
        (ABSENT, OwnerState::Absent { current_uid: None }),
        (EXISTS, OwnerState::Exists { terminating: false, orphaning: false }),
        (orphaning, OwnerState::Exists { terminating: true, orphaning: true }),
    ] {
        let mut play = Play::with(Scope::Everything, std::slice::from_ref(&map));
        play.see(&freed);
        play.answer(|_| answer.clone());
        let changes = play.changes();
        let Change::OwnersRemoved { owners, left: 1 } = &changes[0].1 else { panic!("{changes:#?}") };
        assert_eq!((owners[0].name.as_str(), &owners[0].state), ("a", &expected));
        play.see(&map);
        let changes = play.changes();
        assert!(matches!(&changes[0].1, Change::OwnersAdded { owners } if owners[0].name == "a"), "{changes:#?}");
    }
}

#[test]
fn what_stays_terminating_is_told_again_and_again() {
    let old = terminating(object("ConfigMap", "old", 1), &["acme.io/x"]);
    let mut play = Play::with(Scope::Everything, std::slice::from_ref(&old));
    let changes = play.changes();
    assert!(matches!(&changes[0].1, Change::StillTerminating { since: 1_000_000, .. }), "{changes:#?}");
    assert_eq!(holds(&changes[0].1).finalizers, ["acme.io/x"]);
    let mut times = Vec::new();
    for second in 0..3_600 {
        play.now += 600;
        times.extend(play.changes().iter().map(|_| second));
    }
    assert_eq!(times.len(), 6, "after 30 s, and then after twice as long each time: {times:?}");
    assert!(play.account.due(play.now).is_some());
    play.gone(&old);
    play.changes();
    assert_eq!(play.account.summary().terminating, 0);
}
