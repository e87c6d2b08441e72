//! What kubectl or the API server refuses, object by object.

use super::kit::{By, Scene, predictions, trial};
use crate::harness::shared;

/// R1.50, and what no cluster accepts (§1.11).
#[test]
fn refusals_are_predicted_object_by_object() {
    let scene = Scene::new(shared(), "refused");
    let before = "
apiVersion: v1
kind: ConfigMap
metadata: {name: there}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: changed}
";
    scene.send(By::Apply, &scene.file("before.yaml", before)).expect(0);
    let owner = "apiVersion: v1, kind: ConfigMap, name: there, uid: {uid:there}";
    let with = |name: &str, metadata: &str| {
        format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, {metadata}}}\n")
    };
    let file = [
        with("no-uid", "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: there}]"),
        with("no-version", "ownerReferences: [{apiVersion: apps/, kind: Deployment, name: there, uid: a}]"),
        with("slashes", "ownerReferences: [{apiVersion: a/b/v1, kind: Deployment, name: there, uid: a}]"),
        with("event", "ownerReferences: [{apiVersion: v1, kind: Event, name: there, uid: a}]"),
        with("later-event", "ownerReferences: [{apiVersion: events.k8s.io/v1, kind: Event, name: there, uid: a}]"),
        with(
            "controllers",
            &format!(
                "ownerReferences: [{{{owner}, controller: true}}, {{apiVersion: v1, kind: ConfigMap, name: b, \
                      uid: b, controller: true}}]"
            ),
        ),
        with(
            "same-controllers",
            &format!("ownerReferences: [{{{owner}, controller: true}}, {{{owner}, controller: true}}]"),
        ),
        with("finalizers", "finalizers: [orphan, foregroundDeletion]"),
        // kubectl reads these as YAML 1.1: as true and false.
        with("words", "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: n, uid: a}]"),
        with("quoted-words", &format!("ownerReferences: [{{{owner}, controller: yes, blockOwnerDeletion: off}}]")),
        with("nowhere", "namespace: refused-nowhere-{here}"),
        with("there", "uid: 66666666-6666-4666-8666-666666666666"),
        with("changed", "resourceVersion: \"1\""),
        with("early", "namespace: late-{here}"),
        "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: late-{here}}\n".to_owned(),
        with("late", "namespace: late-{here}"),
        "---\napiVersion: nowhere.test/v1\nkind: Nothing\nmetadata: {name: unserved}\n".to_owned(),
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: made-}\n".to_owned(),
    ]
    .concat();
    let file = scene.file("file.yaml", &file);
    let plan = trial(&scene, By::Apply, &file);
    let told: Vec<String> = predictions(&plan)
        .into_iter()
        .map(|(name, predicted)| {
            let name = name.rsplit('/').next().unwrap_or_default().replace(&scene.here, "HERE");
            format!("{name} {} {}", predicted.arrival, predicted.fate)
        })
        .collect();
    let refused = |told: &&String| told.ends_with("Refused Refused");
    let names: Vec<&str> = told.iter().filter(refused).filter_map(|told| told.split(' ').next()).collect();
    let mut names = names.clone();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "changed",
            "controllers",
            "early",
            "event",
            "finalizers",
            "no-uid",
            "no-version",
            "nowhere",
            "slashes",
            "there",
            "unserved",
            "words"
        ],
        "{told:?}"
    );
}
