//! What the doctor reports if it examines only a part of the cluster.

use std::thread;

use super::examine;
use crate::{plan::trial::Trial, sweep::uncollected};

#[test]
fn only_what_was_asked_about_is_told() {
    let trial = Trial::on(uncollected(), "limits", "Background");
    let elsewhere = trial.another_namespace();
    let gone = trial.gone("gone");
    trial.config_map("lost").owned_by(&gone).create();
    trial.config_map("fine").create();
    trial.config_map("haunted").reference(trial.unserved()).create();
    let abroad = trial.widget("abroad").in_namespace(&elsewhere).create();
    trial.config_map("stray").owned_by(&abroad).create();
    let codes = &|args: &[&str]| -> Vec<String> {
        let found = examine(
            trial.cluster,
            &[args, &["--only", "owner-absent,owner-not-served,owner-other-namespace"]].concat(),
        );
        let mut codes: Vec<String> =
            found.findings().filter_map(|finding| finding["code"].as_str().map(str::to_owned)).collect();
        codes.sort_unstable();
        codes
    };
    let ns = trial.namespace.as_str();
    let asked: [(&[&str], &[&str]); 6] = [
        (&["-n", ns], &["owner-absent", "owner-not-served", "owner-other-namespace"]),
        (&["cm/lost", "-n", ns], &["owner-absent"]),
        (&["cm/fine", "-n", ns], &[]),
        (&["cm/lost", "cm/haunted", "-n", ns], &["owner-absent", "owner-not-served"]),
        // The finding involves the owner.
        (&["widget/abroad", "-n", &elsewhere], &["owner-other-namespace"]),
        (&["-n", &elsewhere], &["owner-other-namespace"]),
    ];
    // In parallel: each run takes a while.
    thread::scope(|scope| {
        for (args, expected) in asked {
            scope.spawn(move || assert_eq!(codes(args), expected, "{args:?}"));
        }
    });
}
