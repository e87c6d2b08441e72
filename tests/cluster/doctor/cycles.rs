//! Cycles of owner references, and cycles of waiting deletions (§5.2, §5.3).

use serde_json::{Value, json};

use super::{mends_all, mends_with};
use crate::{
    harness::uid,
    plan::{draft::blocking, trial::Trial},
    sweep::uncollected,
};

/// Two objects that own each other. Each is a blocking dependent of the other.
fn pair(trial: &Trial<'_>, first: &str, second: &str) -> [Value; 2] {
    let one = trial.config_map(first).create();
    let other = trial.config_map(second).blocking(&one).create();
    trial.add_owners(&one, &[blocking(&other)]);
    [one, other]
}

/// S18: two objects that own each other, one of them through two references that differ in one field. For a built-in
/// kind, the collector unblocks only the first reference (R4.9).
fn doubled(trial: &Trial<'_>, first: &str, second: &str, (field, value): (&str, Value)) -> [Value; 2] {
    let one = trial.config_map(first).create();
    let mut again = blocking(&one);
    again[field] = value;
    let other = trial.config_map(second).blocking(&one).reference(again).create();
    trial.add_owners(&one, &[blocking(&other)]);
    [one, other]
}

/// A second reference with the kind in lower case, which the collector resolves, too (R3.15).
fn spelled() -> (&'static str, Value) {
    ("kind", json!("configmap"))
}

/// A second reference that is the controller. Unblocking turns both into controllers, which the API server refuses.
fn controlled() -> (&'static str, Value) {
    ("controller", json!(true))
}

#[test]
fn circles_that_live_on() {
    let trial = Trial::new("circles", "Background");
    let root = trial.widget("root").create();
    pair(&trial, "hen", "egg");
    // Two objects that own each other. The owner of one of them is gone (R5.12).
    let gone = trial.widget("gone").create();
    let one = trial.config_map("one").owned_by(&gone).create();
    let two = trial.config_map("two").owned_by(&one).create();
    trial.add_owners(&one, &[blocking(&two)]);
    let narcissus = trial.widget("narcissus").blocking(&root).create();
    trial.add_owners(
        &narcissus,
        &[json!({"apiVersion": "gc.test/v1", "kind": "Widget", "name": "narcissus", "uid": uid(&narcissus)})],
    );
    let snake = trial.config_map("snake").create();
    trial.add_owners(&snake, &[blocking(&snake)]);
    doubled(&trial, "castor", "pollux", spelled());
    doubled(&trial, "remus", "romulus", controlled());
    trial.delete_before(&gone, "Background");
    trial.cluster.settled();
    let rows = [
        ("ownership-cycle", "hen", 0),
        ("ownership-cycle", "one", 0),
        ("self-owned", "narcissus", 0),
        ("blocking-cycle", "snake", 0),
        ("blocking-cycle", "castor", 0),
        ("blocking-cycle", "romulus", 0),
    ];
    let found = mends_all(trial.cluster, &["-n", &trial.namespace], &rows);
    let hen = found.one("ownership-cycle", "hen");
    assert_eq!((&hen["severity"], hen["objects"].as_array().map(Vec::len)), (&json!("Warning"), Some(2)), "{hen:#}");
    assert!(hen["consequence"].as_str().is_some_and(|words| words.contains(" never collected")), "{hen:#}");
    let narcissus = found.one("self-owned", "narcissus");
    assert!(
        narcissus["consequence"].as_str().is_some_and(|words| words.contains("not even when Widget/root is deleted")),
        "{narcissus:#}"
    );
    assert_eq!(narcissus["related"][0]["name"], "root");
    assert_eq!(found.about("blocking-cycle", "hen"), [] as [&Value; 0], "the collector undoes it (R5.10)");
    // The collector has deleted none of them.
    for name in ["hen", "egg", "one", "two", "snake", "castor", "pollux", "romulus", "remus"] {
        let path = format!("/api/v1/namespaces/{}/configmaps/{name}", trial.namespace);
        assert!(trial.cluster.get(&path).is_some(), "{name}");
    }
}

/// Waits until the collector has deleted all of these objects.
#[track_caller]
fn all_go(trial: &Trial<'_>, objects: &[&Value]) {
    trial.cluster.wait_until("everything to be gone", super::PATIENCE, || {
        objects.iter().all(|object| trial.cluster.get(&trial.cluster.path_of(object)).is_none())
    });
}

/// The other remedy deletes nothing: it only makes the objects deletable.
#[test]
fn a_circle_that_is_unblocked_can_be_deleted() {
    let trial = Trial::new("unblocked", "Foreground");
    let [castor, pollux] = doubled(&trial, "castor", "pollux", spelled());
    let [remus, romulus] = doubled(&trial, "remus", "romulus", controlled());
    let snake = trial.config_map("snake").create();
    trial.add_owners(&snake, &[blocking(&snake)]);
    trial.cluster.settled();
    let rows = ["castor", "romulus", "snake"].map(|name| ("blocking-cycle", name, 1));
    mends_all(trial.cluster, &["-n", &trial.namespace], &rows);
    trial.cluster.settled();
    for object in [&castor, &remus, &snake] {
        trial.cluster.delete(&trial.cluster.path_of(object), Some("Foreground"), None);
    }
    all_go(&trial, &[&castor, &pollux, &romulus, &remus, &snake]);
}

/// S6: two foreground deletions that wait for each other (R5.14), and a third that waits for them.
#[test]
fn deletes_that_wait_for_each_other() {
    let trial = Trial::on(uncollected(), "deadlock", "Foreground");
    let [one, other] = pair(&trial, "one", "other");
    let above = trial.widget("above").create();
    trial.add_owners(&one, &[blocking(&above)]);
    // A foreground deletion that only waits for its own dependent.
    let waiting = trial.config_map("waiting").create();
    trial.config_map("below").blocking(&waiting).create();
    for object in [&one, &other, &above, &waiting] {
        trial.cluster.delete(&trial.cluster.path_of(object), Some("Foreground"), None);
    }
    let args = ["-n", &trial.namespace];
    let finding = mends_with(trial.cluster, &args, "foreground-deadlock", "one", 0);
    assert_eq!(
        (&finding["severity"], finding["objects"].as_array().map(Vec::len)),
        (&json!("Error"), Some(2)),
        "{finding:#}"
    );
    assert_eq!(finding["related"].as_array().map(Vec::len), Some(1), "{finding:#}");
    assert_eq!(finding["related"][0]["name"], "above");
    let words = [&finding["message"], &finding["consequence"]].map(|words| words.as_str().unwrap_or_default());
    assert!(words[0].contains("→"), "{words:?}");
    assert_eq!(words[1], "None of them is ever deleted, and 1 object waits with them forever.");
}

/// S18: the real collector gets stuck, and each remedy releases it.
#[test]
#[ignore = "long: waits for the collector to give up"]
fn the_collector_gets_stuck_on_two_references_of_one_uid() {
    let trial = Trial::new("doubled", "Foreground");
    let pairs = [
        doubled(&trial, "castor", "pollux", spelled()),
        doubled(&trial, "cain", "abel", spelled()),
        doubled(&trial, "romulus", "remus", controlled()),
        doubled(&trial, "jacob", "esau", controlled()),
    ];
    for [one, _] in &pairs {
        trial.delete_before(one, "Foreground");
    }
    trial.cluster.settled();
    // The real thing: what the API server refuses, and what the deletion waits for.
    let terminating = |object: &Value| {
        let now = trial.cluster.get(&trial.cluster.path_of(object)).expect("it is stuck");
        now["metadata"]["deletionTimestamp"].is_string()
    };
    let stuck: Vec<[bool; 2]> = pairs.iter().map(|pair| [terminating(&pair[0]), terminating(&pair[1])]).collect();
    assert_eq!(stuck, [[true, true], [true, true], [true, false], [true, false]]);
    let rows = [
        ("foreground-deadlock", "castor", 0),
        ("foreground-deadlock", "cain", 1),
        ("foreground-deadlock", "romulus", 0),
        ("foreground-deadlock", "jacob", 1),
    ];
    let found = mends_all(trial.cluster, &["-n", &trial.namespace], &rows);
    for (code, name, _) in rows {
        let finding = found.one(code, name);
        assert_eq!(finding["objects"].as_array().map(Vec::len), Some(2), "{finding:#}");
    }
    let refused = found.one("foreground-deadlock", "romulus");
    assert!(
        refused["message"]
            .as_str()
            .is_some_and(|words| words.contains("the API server rejects the collector's attempt to unblock them")),
        "{refused:#}"
    );
    all_go(&trial, &pairs.iter().flatten().collect::<Vec<_>>());
}
