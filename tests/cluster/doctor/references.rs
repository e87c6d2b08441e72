//! References that don't lead to their owner (3.6).

use serde_json::json;

use super::mends;
use crate::{harness::uid, plan::trial::Trial, sweep::uncollected};

#[test]
fn an_owner_that_is_gone() {
    let trial = Trial::on(uncollected(), "absent", "Background");
    let gone = trial.gone("gone");
    let lost = trial.config_map("lost").owned_by(&gone).create();
    trial.config_map("below").owned_by(&lost).create();
    let finding = mends(trial.cluster, &["-n", &trial.namespace], "owner-absent", "lost");
    assert_eq!((&finding["severity"], &finding["reference"]["uid"]), (&json!("Warning"), &json!(uid(&gone))));
    assert_eq!(finding["consequence"], "The collector deletes it on its next look, and 1 object below.");
    // It was kept.
    assert!(trial.cluster.get(&trial.cluster.path_of(&lost)).is_some());
}

#[test]
fn an_owner_that_was_made_again() {
    let trial = Trial::on(uncollected(), "successor", "Background");
    let before = trial.gone("owner");
    trial.widget("owner").create();
    trial.config_map("left").owned_by(&before).create();
    let finding = mends(trial.cluster, &["-n", &trial.namespace], "owner-other-uid", "left");
    assert_eq!((&finding["severity"], &finding["related"][0]["name"]), (&json!("Error"), &json!("owner")));
}
