//! `doctor --watch`: reports a finding once, and again when it changes.

use crate::{harness::Watching, plan::trial::Trial, sweep::uncollected};

fn start(trial: &Trial<'_>, args: &[&str]) -> Watching {
    Watching::start(trial.cluster, &[&["doctor", "--watch", "--interval=1", "-n", &trial.namespace], args].concat())
}

#[test]
fn what_changes_is_told() {
    let trial = Trial::on(uncollected(), "watch", "Background");
    let watching = start(&trial, &["--only=owner-absent"]);
    watching.until("No problems found");
    let gone = trial.gone("gone");
    let lost = trial.config_map("lost").owned_by(&gone).create();
    let describe = watching.until("owner-absent");
    assert!(describe.iter().any(|line| line.ends_with(": 1 new, 0 resolved or changed.")), "{describe:#?}");
    trial.cluster.delete(&trial.cluster.path_of(&lost), Some("Background"), None);
    let describe = watching.until("No problems found");
    assert!(describe.iter().any(|line| line.ends_with(": 0 new, 1 resolved or changed.")), "{describe:#?}");
}

#[test]
fn documents_come_one_after_the_other() {
    let trial = Trial::on(uncollected(), "watch-json", "Background");
    let watching = start(&trial, &["--only=owner-absent", "-o", "json"]);
    let first = watching.until("\"note\": 0");
    let gone = trial.gone("gone");
    trial.config_map("lost").owned_by(&gone).create();
    let mut second = watching.until("\"note\": 0");
    // The first document ends before the second begins.
    let end = second.iter().position(|line| line == "}").expect("the end of the first");
    let whole = [first, second.drain(..=end).collect()].concat().join("\n");
    let document: serde_json::Value = serde_json::from_str(&whole).expect("a document");
    assert_eq!(document["findings"], serde_json::json!([]));
    assert!(second.iter().any(|line| line.contains("owner-absent")), "{second:#?}");
}
