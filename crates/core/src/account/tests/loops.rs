//! What is made again and again.

use super::kit::{ABSENT, EXISTS, Play, made_by, object, owned};
use crate::account::{Change, Happening, Loop, OwnerState, Scope, What};

/// The types of what is told: `made`, `remade`, `gone`, `LOOP n`.
fn types(told: &[Happening]) -> Vec<String> {
    let describe = |happening: &Happening| match &happening.what {
        What::Object { change: Change::CreatedDangling { .. }, .. } => "made".to_owned(),
        What::Object { change: Change::Recreated { times, .. }, .. } => format!("remade {times}"),
        What::Object { change: Change::Gone { .. }, .. } => "gone".to_owned(),
        What::Loop(found) => format!("LOOP {}", found.times),
        other => format!("{other:?}"),
    };
    told.iter().map(describe).collect()
}

/// A controller makes an object of this name, with an owner that doesn't exist; the collector deletes it.
fn round(play: &mut Play, name: &str, number: u32) -> Vec<Happening> {
    let map = made_by(owned(object("ConfigMap", name, number), "Runner", "a", 1), "runner-controller");
    play.see(&map);
    play.gone(&map);
    play.answer(|_| ABSENT);
    play.told()
}

#[test]
fn a_loop_is_named_after_the_second_time() {
    let mut play = Play::begun(Scope::Everything);
    let told: Vec<String> = (1..=9).flat_map(|number| types(&round(&mut play, "runner-7", number))).collect();
    let expected = [
        "made", "gone", "remade 1", "LOOP 2", "gone", "remade 2", "gone", "remade 3", "LOOP 4", "gone", "remade 7",
        "LOOP 8", "gone",
    ];
    assert_eq!(told, expected, "of later rounds, only every doubling is told");
    assert_eq!(play.asked.len(), 1, "a uid that is absent stays absent");
    let summary = play.account.summary();
    let [Loop { owner, times: 9, managers, .. }] = summary.loops.as_slice() else { panic!("{summary:#?}") };
    assert_eq!((owner.name.as_str(), managers.as_slice()), ("a", &["runner-controller".to_owned()][..]));
    assert_eq!((summary.collected, summary.recreated), (9, 8));
}

/// With generated names, the owner tells that they belong together.
#[test]
fn a_loop_needs_no_equal_names() {
    let mut play = Play::begun(Scope::Everything);
    let told: Vec<String> =
        (1..=3).flat_map(|number| types(&round(&mut play, &format!("runner-{number}"), 1))).collect();
    assert_eq!(told, ["made", "gone", "made", "LOOP 2", "gone", "made", "gone"]);
}

/// A ReplicaSet that makes ten pods while it is deleted is no loop.
#[test]
fn many_at_once_are_no_loop() {
    let mut play = Play::begun(Scope::Everything);
    let maps: Vec<_> =
        (0..10).map(|number| owned(object("ConfigMap", &format!("m{number}"), 1), "Runner", "a", 1)).collect();
    maps.iter().for_each(|map| play.see(map));
    maps.iter().for_each(|map| play.gone(map));
    play.answer(|_| ABSENT);
    let told = types(&play.told());
    assert!(told.len() == 20 && !told.iter().any(|one| one.starts_with("LOOP")), "{told:?}");
    assert_eq!(play.account.summary().loops, []);
}

/// A controller learns of a deletion a moment later: what it makes until then is no loop.
#[test]
fn a_controller_may_be_late() {
    let mut play = Play::with(Scope::Everything, &[object("Runner", "a", 1)]);
    play.gone(&object("Runner", "a", 1));
    for number in 1..=3 {
        assert!(!types(&round(&mut play, "x", number)).iter().any(|one| one.starts_with("LOOP")), "{number}");
    }
    play.now += 10_000;
    let told: Vec<String> = (4..=5).flat_map(|number| types(&round(&mut play, "x", number))).collect();
    assert_eq!(told, ["remade 3", "gone", "remade 4", "LOOP 2", "gone"]);
}

/// A StatefulSet's pods, for instance: their owner exists.
#[test]
fn what_is_recreated_under_a_living_owner_is_no_loop() {
    let mut play = Play::with(Scope::Everything, &[object("Runner", "a", 1)]);
    for number in 1..=5 {
        let map = owned(object("ConfigMap", "x", number), "Runner", "a", 1);
        play.see(&map);
        play.gone(&map);
        play.answer(|_| EXISTS);
        let told = play.told();
        let is_plain = |happening: &&Happening| match &happening.what {
            What::Object { change: Change::Recreated { owners, .. }, .. } => owners.is_empty(),
            What::Object { change: Change::Gone { .. }, .. } => true,
            _ => false,
        };
        assert_eq!(told.iter().filter(is_plain).count(), told.len(), "{told:#?}");
    }
    assert_eq!((play.account.summary().loops, play.account.summary().recreated), (Vec::new(), 4));
}

/// An owner that the watch has not shown yet is looked up, and exists.
#[test]
fn a_new_object_whose_owner_is_new_too_is_not_told() {
    let mut play = Play::begun(Scope::Everything);
    play.see(&owned(object("ConfigMap", "x", 1), "Runner", "a", 1));
    play.answer(|_| EXISTS);
    assert_eq!(play.told(), []);
    // Without an answer, nothing is claimed.
    play.see(&owned(object("ConfigMap", "y", 1), "Runner", "b", 1));
    play.now += 10_000;
    assert_eq!(play.told(), []);
}

#[test]
fn the_other_object_with_the_owners_name_is_told() {
    let mut play = Play::begun(Scope::Everything);
    for number in 1..=2 {
        let map = owned(object("ConfigMap", "x", number), "Runner", "a", 1);
        play.see(&map);
        play.gone(&map);
        play.answer(|_| crate::account::Answer::Absent { current_uid: Some("new".to_owned()) });
        play.told();
    }
    let found = play.account.summary().loops;
    assert_eq!(found[0].owner.state, OwnerState::Absent { current_uid: Some("new".to_owned()) });
}
