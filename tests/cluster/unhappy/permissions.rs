//! Users who may not read everything: what is forbidden is not absent.

use serde_json::Value;

use super::{certain, family, gaps, refused};
use crate::{
    harness::{Api, NOBODY, VIEWER},
    plan::trial::Trial,
};

/// Lets the viewer read the trial's namespace, and waits until that works.
fn show(trial: &Trial<'_>) {
    let cluster = trial.cluster;
    cluster.let_viewer_see(&trial.namespace);
    let api = Api::connect(&cluster.kubeconfig(VIEWER), None).expect("the viewer has a kubeconfig");
    let path = format!("/api/v1/namespaces/{}/configmaps", trial.namespace);
    cluster.wait_until("the role binding to work", std::time::Duration::from_secs(30), || {
        api.get(&path).is_ok_and(|answer| answer.is_success())
    });
}

fn plan(trial: &Trial<'_>, policy: &str) -> Value {
    let propagation = format!("--propagation={policy}");
    let ran =
        trial.cluster.gc_as(VIEWER, &["plan", "-o", "json", "-n", &trial.namespace, &propagation, "widget/owner"]);
    ran.expect(0);
    let elsewhere = format!("(forbidden outside of namespace {})", trial.namespace);
    assert!(ran.stderr.starts_with("Could not list: ") && ran.stderr.contains("(forbidden)"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&elsewhere), "{}", ran.stderr);
    ran.json()
}

#[test]
fn who_sees_a_namespace_gets_its_tree() {
    let (trial, _) = family("viewer-tree");
    show(&trial);
    let cluster = trial.cluster;
    let ran = cluster.gc_as(VIEWER, &["tree", "-o", "name", "-n", &trial.namespace]);
    let lines: Vec<&str> = ran.expect(0).lines().collect();
    assert!(lines.windows(2).any(|pair| pair == ["widget.gc.test/owner", "configmap/dependent"]), "{lines:?}");
    assert!(ran.stderr.starts_with("Could not list: ") && ran.stderr.contains("(forbidden)"), "{}", ran.stderr);
}

/// R10.1.
#[test]
fn who_sees_a_namespace_gets_plans_of_it() {
    let (trial, _) = family("viewer-plan");
    show(&trial);
    trial.cluster.settled();
    let background = plan(&trial, "background");
    assert!(certain(&background, "owner") && certain(&background, "dependent"), "{:#}", background["outcomes"]);
    let describe = gaps(&background);
    for gap in [
        "racks.gc.test in -: forbidden".to_owned(),
        format!("configmaps in -: forbidden outside of namespace {}", trial.namespace),
    ] {
        assert!(describe.contains(&gap), "{gap:?} is not in {describe:#?}");
    }
    assert!(!certain(&plan(&trial, "foreground"), "owner"), "something elsewhere could block it");
}

#[test]
fn what_may_have_hidden_dependents_is_not_certain() {
    let (trial, dependent) = family("viewer-hidden");
    show(&trial);
    trial.rack("hidden").blocking(&dependent).create();
    let cluster = trial.cluster;
    cluster.settled();
    let plan = plan(&trial, "foreground");
    let path = cluster.path_of(&dependent);
    trial.delete_before(
        &cluster.get(&format!("/apis/gc.test/v1/namespaces/{}/widgets/owner", trial.namespace)).unwrap(),
        "Foreground",
    );
    cluster.wait_until("the dependent to be deleted, too", std::time::Duration::from_secs(30), || {
        cluster.get(&path).is_none_or(|dependent| dependent["metadata"]["deletionTimestamp"].is_string())
    });
    assert!(cluster.get(&path).is_some(), "the rack blocks it");
    for name in ["owner", "dependent"] {
        assert!(
            !certain(&plan, name),
            "{name} stays, and the plan is certain of something else: {:#}",
            plan["outcomes"]
        );
    }
}

#[test]
fn who_may_read_nothing_is_told_so() {
    let (trial, _) = family("nobody");
    let run = |args: &[&str]| trial.cluster.gc_as(NOBODY, &[args, &["-n", &trial.namespace]].concat());
    for args in [&["plan", "widget/owner"][..], &["tree", "widget/owner"], &["tree"], &["plan"]] {
        refused(&run(args), &["user nobody", "refuses all reads", "forbidden"]);
    }
}
