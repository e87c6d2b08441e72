//! What the built program reports after a delete.

use std::time::Duration;

use serde_json::{Value, json};

use super::kit::{Family, checked, config_map};
use crate::{
    harness::shared,
    plan::trial::{Trial, wait_for_items},
};

#[test]
fn it_is_told_how_it_came_out() {
    for policy in ["background", "foreground", "orphan"] {
        let family = Family::of("told", 2);
        let propagation = format!("--propagation={policy}");
        let ran = family.cluster.gc(&family.args(&["--yes", &propagation]));
        assert!(ran.expect(0).contains("DONE: as planned"), "{policy}: {}", ran.stdout);
        let left: &[&str] = if policy == "orphan" { &["leaf-0", "leaf-1"] } else { &[] };
        assert_eq!(family.there(), left, "{policy}: it was over when that was said");
    }
}

#[test]
fn documents_say_it_all() {
    let family = Family::of("documented", 2);
    let ran = family.cluster.gc(&family.args(&["--yes", "-o", "json", "--cascade=foreground"])).ended(0);
    let document = checked(ran.json());
    assert_eq!(
        (&document["ended"], &document["seen"]["gone"], &document["planned"]["deleted"]),
        (&json!("AsPlanned"), &json!(3), &json!(3))
    );
    assert_eq!(
        (&document["targets"][0]["name"], &document["targets"][0]["answer"]),
        (&json!("root"), &json!("Accepted"))
    );

    let family = Family::of("named", 1);
    let ran = family.cluster.gc(&family.args(&["--yes", "-o", "name"]));
    assert_eq!(ran.expect(0), "configmap/root\n");
}

/// If a deletion is stuck, the program names the blocker as soon as that is clear, long before the timeout.
#[test]
fn what_is_stuck_is_told_with_its_blocker() {
    let family = Family::of("stuck", 1);
    family.held();
    let ran = family.cluster.gc(&family.args(&["--yes", "--cascade=foreground", "--timeout=60s", "-o", "json"]));
    ran.expect(2);
    let document = checked(ran.json());
    let blocker = &document["blockers"][0];
    assert_eq!(
        (&blocker["object"]["name"], &blocker["heldBy"], &blocker["state"]),
        (&json!("held"), &json!(["acme.io/hold"]), &json!("stuck"))
    );
    assert_eq!(family.there(), ["held", "root"]);

    // Here, the timeout comes first.
    let family = Family::of("stuck-soon", 0);
    family.held();
    let ran = family.cluster.gc(&family.args(&["--yes", "--cascade=foreground", "--timeout=1s"]));
    assert!(ran.expect(2).contains("ConfigMap/held") && ran.stdout.contains("acme.io/hold"), "{}", ran.stdout);
    assert!(ran.stdout.contains("gc explain"), "{}", ran.stdout);
}

/// If the plan changes while the program asks, it shows the new plan.
#[test]
fn what_comes_out_otherwise_is_told() {
    let family = Family::of("otherwise", 1);
    let (mut terminal, watches) = family.delete_on_terminal(&["--timeout=4s", "--cascade=foreground"]);
    terminal.shows("Delete 2 objects?");
    // The plan now says that the deletion gets stuck, so the program asks again.
    let leaf = format!("/api/v1/namespaces/{}/configmaps/leaf-0", family.namespace);
    watches.have_brought(&family.cluster.patch(&leaf, &json!({"metadata": {"finalizers": ["acme.io/late"]}})));
    terminal.types("y");
    terminal.shows("The cluster has changed (otherwise: ");
    terminal.shows("STUCK");
    let (code, shown) = terminal.answered("leaf-0");
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("acme.io/late"), "{shown}");
}

/// kubectl flag: `--wait=false` | same
#[test]
fn nobody_has_to_wait() {
    let family = Family::of("unawaited", 1);
    family.held();
    let ran = family.cluster.gc(&family.args(&["--yes", "--cascade=foreground", "--wait=false", "-o", "json"]));
    ran.expect(0);
    let document = checked(ran.json());
    assert_eq!(document["ended"], "NotFollowed");
    let root = family.cluster.get(&family.cluster.path_of(&family.root)).expect("it waits for its dependents");
    assert!(root["metadata"]["deletionTimestamp"].is_string());
    let ran = family.cluster.gc(&family.args(&["--yes", "--wait=false", "--timeout=3s"])).ended(1);
    assert!(ran.stderr.contains("--timeout"), "{}", ran.stderr);
}

/// Ctrl-C stops following, and nothing else.
#[test]
fn an_interrupt_stops_following() {
    let family = Family::of("interrupted", 1);
    let held = family.held();
    let mut terminal = family.cluster.gc_on_terminal(&family.args(&["--yes", "--cascade=foreground"]));
    family.cluster.wait_until("the delete", Duration::from_secs(30), || {
        let root = family.cluster.get(&family.cluster.path_of(&family.root));
        root.is_some_and(|root| root["metadata"]["deletionTimestamp"].is_string())
    });
    terminal.interrupts();
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(1), "{shown}");
    let in_one_line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        in_one_line.contains("NOT FINISHED: interrupted after")
            && in_one_line.contains("The cascade continues in the cluster"),
        "{shown}"
    );
    // The cascade continues.
    family.cluster.patch(&family.cluster.path_of(&held), &json!({"metadata": {"finalizers": null}}));
    family.cluster.wait_until("all of it to go", Duration::from_secs(60), || family.there().is_empty());
}

/// A dependent that is created after the plan is deleted, too. The report lists it separately.
#[test]
fn latecomers_are_told() {
    let family = Family::of("latecomers", 1);
    let held = family.held();
    let terminal = family.cluster.gc_on_terminal(&family.args(&["--yes", "--cascade=foreground"]));
    let root = family.cluster.path_of(&family.root);
    family.cluster.wait_until("the delete", Duration::from_secs(30), || {
        family.cluster.get(&root).is_some_and(|root| root["metadata"]["deletionTimestamp"].is_string())
    });
    family.dependent("latecomer");
    family.cluster.patch(&family.cluster.path_of(&held), &json!({"metadata": {"finalizers": null}}));
    let (code, shown) = terminal.ends();
    let describe = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        describe.contains("ConfigMap/latecomer") && describe.contains("created after the plan"),
        "{code:?}: {shown}"
    );
    // The plan predicted a stuck deletion, but the test removes the finalizer.
    assert!(code == Some(0) && describe.contains("DONE"), "{code:?}: {shown}");
    assert_eq!(family.there(), Vec::<String>::new());
}

/// Several targets: deleting one also deletes another.
#[test]
fn a_target_that_went_with_another_is_no_error() {
    let family = Family::of("several", 2);
    let ran = family.cluster.gc(&["delete", "cm", "root", "leaf-0", "-n", &family.namespace, "--yes", "-o", "json"]);
    ran.expect(0);
    let document: Value = checked(ran.json());
    assert_eq!(document["targets"].as_array().map(Vec::len), Some(2));
    assert_eq!(family.there(), Vec::<String>::new());
}

#[test]
fn a_namespace_is_followed_to_its_end() {
    let cluster = shared();
    let namespace = cluster.namespace("followed");
    cluster.create(config_map(&namespace, "content", &[]));
    let ran = cluster.gc(&["delete", &format!("ns/{namespace}"), "--yes"]);
    assert!(ran.expect(0).contains("DONE"), "{}", ran.stdout);
    assert_eq!(cluster.get(&format!("/api/v1/namespaces/{namespace}")), None);
}

/// If a target is already terminating, the program waits for it, as kubectl does, and names the blocker.
#[test]
fn what_is_terminating_already_is_followed() {
    let family = Family::of("terminating", 0);
    let path = family.cluster.path_of(&family.root);
    family.cluster.patch(&path, &json!({"metadata": {"finalizers": ["acme.io/hold"]}}));
    family.cluster.delete(&path, Some("Background"), None);
    let ran = family.cluster.gc(&family.args(&["--yes", "--timeout=2s"]));
    assert!(ran.expect(2).contains("STUCK") && ran.stdout.contains("finalizer acme.io/hold"), "{}", ran.stdout);
    let terminal = family.cluster.gc_on_terminal(&family.args(&["--yes"]));
    terminal.shows("1 Terminating");
    family.cluster.patch(&path, &json!({"metadata": {"finalizers": null}}));
    let (code, shown) = terminal.ends();
    assert!(code == Some(0) && shown.contains("DONE"), "{code:?}: {shown}");
    assert_eq!(family.there(), Vec::<String>::new());
}

/// R9.24: which of several pods an adopter deletes is not certain, and one that it keeps is not waited for.
#[test]
fn what_an_adopter_keeps_is_not_waited_for() {
    let trial = Trial::new("adopter", "Orphan");
    let (cluster, namespace) = (trial.cluster, &trial.namespace);
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    for (name, replicas, all) in [("few", 1, 1), ("many", 3, 4)] {
        let (labels, template) = (json!({"app": "web", "of": name}), json!([{"name": "main", "image": "main"}]));
        cluster.create(object!("apps/v1 ReplicaSet", {
            "name": name, "namespace": namespace,
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": if name == "few" { json!({"app": "web"}) } else { labels.clone() }},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": template}},
            },
        }));
        wait_for_items(cluster, &pods, all);
    }
    let _ran = cluster.gc(&["delete", "rs/many", "-n", namespace, "--cascade=orphan", "--yes"]).ended(0);
    wait_for_items(cluster, &pods, 1);
}
