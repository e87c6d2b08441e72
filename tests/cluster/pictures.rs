//! Pictures of what came of a delete and of a sweep: they show what is so in the cluster then.

use std::{collections::BTreeMap, thread};

use serde_json::{Value, json};

use crate::{
    chromium::{data, opened},
    delete::kit::{Family, config_map},
    plan::trial::Trial,
    sweep::uncollected,
};

/// The word beside each object, by name.
fn words(picture: &Value) -> BTreeMap<&str, &str> {
    let rows = picture["views"][0]["rows"].as_array().expect("rows").iter();
    let name = |row: &Value| picture["objects"][row["object"].as_u64()? as usize]["name"].as_str();
    rows.filter_map(|row| Some((name(row)?, row["word"].as_str()?))).collect()
}

/// Checks that the page shows this verdict and these words in a browser.
#[track_caller]
fn shows(page: &str, verdict: &str, words: &BTreeMap<&str, &str>) {
    // Only what the script has made: the document that it reads has all of it, too.
    let seen = opened(page);
    assert!(!seen.contains("<pre id=\"text\">"), "the script has not run:\n{seen}");
    let seen = seen.split("<script").map(|part| part.split_once("</script>").map_or(part, |(_, rest)| rest));
    let seen: String = seen.collect();
    assert!(seen.contains(verdict), "{verdict:?} is not shown:\n{seen}");
    for (name, word) in words {
        assert!(seen.contains(name) && seen.contains(word), "{name}: {word:?} is not shown:\n{seen}");
    }
}

#[test]
fn of_a_delete_as_planned() {
    planned();
}

fn planned() -> String {
    let family = Family::of("pictured", 2);
    let ran = family.cluster.gc(&family.args(&["--yes", "-o", "html", "--cascade=foreground"]));
    let page = ran.expect(0);
    let picture = data(page);
    assert_eq!((&picture["kind"], &picture["views"][0]["verdict"]["word"]), (&json!("Deletion"), &json!("DONE")));
    let words = words(&picture);
    assert_eq!(words, BTreeMap::from([("leaf-0", "deleted"), ("leaf-1", "deleted"), ("root", "deleted")]));
    assert!(family.there().is_empty());
    page.to_owned()
}

/// What is stuck is so in every format.
#[test]
#[ignore = "long: waits until a delete is stuck"]
fn of_a_delete_that_is_stuck() {
    thread::scope(|scope| {
        for format in ["html", "svg", "mermaid", "dot"] {
            scope.spawn(move || drop(stuck(format)));
        }
    });
}

fn stuck(format: &str) -> String {
    let family = Family::of(&format!("pictured-{format}"), 1);
    let mut held = config_map(&family.namespace, "held", &[&family.root]);
    held["metadata"]["finalizers"] = json!(["acme.io/hold"]);
    family.cluster.create(held);
    let args = family.args(&["--yes", "--cascade=foreground", "--timeout=60s", "-o", format]);
    let ran = family.cluster.gc(&args);
    let drawn = ran.expect(2);
    assert_eq!(family.there(), ["held", "root"]);
    if format == "html" {
        let picture = data(drawn);
        let words = words(&picture);
        let right = BTreeMap::from([("held", "STUCK"), ("leaf-0", "deleted"), ("root", "Terminating")]);
        assert_eq!(words, right);
        let facts = picture["views"][0]["facts"].as_array().expect("a list").clone();
        let left = |fact: &Value| {
            fact["lines"].as_array().is_some_and(|lines| fact["label"] == "Left Terminating" && lines.len() == 1)
        };
        assert!(facts.iter().any(left), "{facts:?}");
    } else {
        assert!(drawn.contains("leaf-0") && drawn.contains("held") && drawn.contains("STUCK"), "{drawn}");
    }
    drawn.to_owned()
}

#[test]
fn of_a_pass_of_a_sweep() {
    swept();
}

fn swept() -> String {
    let trial = Trial::on(uncollected(), "pictured-sweep", "Background");
    let gone = trial.gone("gone");
    trial.config_map("left").owned_by(&gone).create();
    trial.config_map("other").create();
    let ran = trial.cluster.gc(&["sweep", "-n", &trial.namespace, "--yes", "-o", "html"]);
    let page = ran.expect(0);
    let picture = data(page);
    let words = words(&picture);
    assert_eq!((&picture["kind"], words.get("left"), words.get("other")), (&json!("Sweep"), Some(&"deleted"), None));
    let left = format!("/api/v1/namespaces/{}/configmaps/left", trial.namespace);
    assert!(trial.cluster.get(&left).is_none());
    page.to_owned()
}

#[test]
#[ignore = "long: opens pages in Chromium"]
fn a_browser_shows_what_came_of_it() {
    for (page, verdict) in [(planned(), "DONE"), (stuck("html"), "STUCK"), (swept(), "DONE")] {
        shows(&page, verdict, &words(&data(&page)));
    }
}
