//! The claims of deleted StatefulSets: what the plan says of them is what becomes of them (R9.18).

use serde_json::{Value, json};

use super::{
    trial::{POLICIES, Prediction, Trial, all_come_true, predict},
    workloads::stateful_set_with,
};
use crate::harness::shared;

/// The names of these claims in the plan.
fn names(claims: &Value) -> Vec<&str> {
    let mut names: Vec<&str> =
        claims.as_array().into_iter().flatten().filter_map(|claim| claim["name"].as_str()).collect();
    names.sort_unstable();
    names
}

const BOTH: [&str; 2] = ["data-db-0", "data-db-1"];

/// Checks what the plan says against the claims that are left.
#[track_caller]
fn check(one: &Prediction<'_>, when_deleted: &str, keeps: bool) {
    let trial = &one.case.trial;
    let what = format!("{} {} of {:?}", when_deleted, trial.policy, one.case.targets);
    let claims = &one.plan["claims"];
    assert_eq!(claims.as_array().map(Vec::len), Some(1), "{what}: {claims:#}");
    let of = &claims[0];
    assert_eq!((&of["statefulSet"]["name"], &of["whenDeleted"]), (&json!("db"), &json!(when_deleted)), "{what}");
    let (kept, deleted) = if keeps { (&BOTH[..], &[][..]) } else { (&[][..], &BOTH[..]) };
    assert_eq!((names(&of["kept"]), names(&of["deleted"])), (kept.to_vec(), deleted.to_vec()), "{what}");
    let left = trial.cluster.list(&format!("/api/v1/namespaces/{}/persistentvolumeclaims", trial.namespace));
    assert_eq!(left.len(), kept.len(), "{what}: {left:#?}");
}

#[test]
#[ignore = "long: each retention policy in turn"]
fn claims_are_kept_or_deleted_as_the_plan_says() {
    let mut cases = Vec::new();
    let mut expected = Vec::new();
    for when_deleted in ["Retain", "Delete"] {
        for policy in POLICIES {
            let trial = Trial::new("set-claims", policy);
            let targets = stateful_set_with(&trial, None, when_deleted);
            cases.push(trial.deleting(targets));
            expected.push((when_deleted, when_deleted == "Retain" || policy == "Orphan"));
        }
        let trial = Trial::new("set-claims", "Background");
        stateful_set_with(&trial, None, when_deleted);
        let namespace = format!("namespace/{}", trial.namespace);
        cases.push(trial.deleting(vec![namespace]));
        expected.push((when_deleted, false));
    }
    let predicted = predict(cases);
    all_come_true(&predicted);
    for (one, (when_deleted, keeps)) in predicted.iter().zip(expected) {
        check(one, when_deleted, keeps);
    }
    // Words say it, too.
    let trial = Trial::new("set-claims", "Background");
    let targets = stateful_set_with(&trial, None, "Retain");
    let text = shared().gc(&["plan", "-n", &trial.namespace, &targets[0]]).stdout;
    let line = "StatefulSet/db: 2 claims are kept (whenDeleted Retain): data-db-0, data-db-1";
    assert!(text.contains(line), "{text}");
}
