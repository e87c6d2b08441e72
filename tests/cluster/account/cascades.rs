//! Deletions of all sorts, as the real collector and controllers carry them out.

use serde_json::{Value, json};

use super::kit::{Watching, because, is, one};
use crate::{harness::ADMIN, plan::trial::Trial};

const DEPLOYMENTS: &str = "apis/apps/v1";

fn delete(trial: &Trial<'_>, object: &Value, policy: &str) {
    trial.cluster.delete(&trial.cluster.path_of(object), Some(policy), None);
}

/// How often an object of this kind has an event of this type.
fn number(events: &[Value], of_type: &str, kind: &str) -> usize {
    events.iter().filter(|event| event["type"] == of_type && event["object"]["kind"] == kind).count()
}

fn replica_set(trial: &Trial<'_>) -> String {
    let all = trial.cluster.list(&format!("/{DEPLOYMENTS}/namespaces/{}/replicasets", trial.namespace));
    all[0]["metadata"]["name"].as_str().expect("a name").to_owned()
}

/// The events until the pods are gone.
fn until_pods_are_gone(watching: &Watching) -> Vec<Value> {
    let left = std::cell::Cell::new(2);
    watching.until("the end of two pods", |event| {
        if event["type"] == "Gone" && event["object"]["kind"] == "Pod" {
            left.set(left.get() - 1);
        }
        left.get() == 0
    })
}

#[test]
fn a_deployment_in_the_background() {
    let trial = Trial::new("account-background", "Background");
    let web = trial.deployment(2);
    let set = replica_set(&trial);
    let watching = Watching::namespace(&trial);
    delete(&trial, &web, "Background");
    let events = until_pods_are_gone(&watching);
    assert_eq!(because(one(&events, "Gone", "Deployment", "web")), "NoOwner");
    assert_eq!(because(one(&events, "Gone", "ReplicaSet", &set)), "OwnersGone Deployment/web=Deleted");
    assert_eq!(one(&events, "Gone", "ReplicaSet", &set)["because"]["owners"][0]["policy"], "Background");
    for pod in events.iter().filter(|event| event["type"] == "Gone" && event["object"]["kind"] == "Pod") {
        assert_eq!(because(pod), format!("OwnersGone ReplicaSet/{set}=Deleted"), "{pod:#}");
        assert_eq!((&pod["because"]["collected"], &pod["because"]["certain"]), (&json!(true), &json!(true)));
    }
    // Causes come before their effects.
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["object"]["kind"].as_str()).collect();
    assert_eq!(kinds[..2], ["Deployment", "ReplicaSet"], "{events:#?}");
}

#[test]
fn a_deployment_in_the_foreground() {
    let trial = Trial::new("account-foreground", "Foreground");
    let web = trial.deployment(2);
    let set = replica_set(&trial);
    let watching = Watching::namespace(&trial);
    delete(&trial, &web, "Foreground");
    let events = watching.up_to("Gone", "Deployment", "web");
    let requested = one(&events, "DeletionRequested", "Deployment", "web");
    assert_eq!((&requested["policy"], because(requested)), (&json!("Foreground"), "NoOwner".to_owned()));
    assert_eq!(requested["waitsFor"]["blockingDependents"][0]["name"], json!(set));
    let requested = one(&events, "DeletionRequested", "ReplicaSet", &set);
    assert_eq!((&requested["policy"], &requested["because"]["reason"]), (&json!("Foreground"), &json!("OwnerWaits")));
    assert_eq!(requested["waitsFor"]["blockingDependentsCount"], 2);
    assert_eq!(number(&events, "Gone", "Pod"), 2, "{events:#?}");
    for pod in events.iter().filter(|event| event["object"]["kind"] == "Pod") {
        assert_eq!(pod["because"]["reason"], "OwnerWaits", "{pod:#}");
    }
}

#[test]
fn an_orphaning() {
    let trial = Trial::new("account-orphan", "Orphan");
    let owner = trial.widget("owner").create();
    let other = trial.widget("other").create();
    let freed = trial.config_map("freed").owned_by(&owner).create();
    trial.config_map("shared").owned_by(&owner).owned_by(&other).create();
    trial.cluster.watched_by_collector(&owner);
    let watching = Watching::namespace(&trial);
    delete(&trial, &owner, "Orphan");
    let events = watching.up_to("Gone", "Widget", "owner");
    assert_eq!(one(&events, "DeletionRequested", "Widget", "owner")["waitsFor"]["orphaning"], true);
    for (name, left) in [("freed", 0), ("shared", 1)] {
        let removed = one(&events, "OwnersRemoved", "ConfigMap", name);
        assert_eq!((&removed["owners"][0]["name"], &removed["ownersLeft"]), (&json!("owner"), &json!(left)));
        assert!(removed["message"].as_str().is_some_and(|text| text.contains("orphaned: ")), "{removed:#}");
    }
    // An owner that exists, and one that goes while another one stays.
    delete(&trial, &freed, "Background");
    assert_eq!(because(watching.up_to("Gone", "ConfigMap", "freed").last().unwrap()), "NoOwner");
    let third = trial.widget("third").create();
    let kept = trial.config_map("kept").owned_by(&other).owned_by(&third).create();
    delete(&trial, &third, "Background");
    let events = watching.up_to("OwnersRemoved", "ConfigMap", "kept");
    let removed = events.last().unwrap();
    assert_eq!((&removed["owners"][0]["state"], &removed["ownersLeft"]), (&json!("Deleted"), &json!(1)), "{removed:#}");
    delete(&trial, &kept, "Background");
    let events = watching.up_to("Gone", "ConfigMap", "kept");
    assert_eq!(because(events.last().unwrap()), "OwnerExists Widget/other=Exists");
    assert_eq!(events.last().unwrap()["because"]["collected"], false);
}

/// Both ends of a finalizer that nobody removes, and a watch that begins in between.
#[test]
fn a_finalizer_that_stays() {
    let trial = Trial::new("account-finalizer", "Background");
    let stuck = trial.config_map("stuck").finalizer("acme.io/x").finalizer("acme.io/y").create();
    let watching = Watching::namespace(&trial);
    delete(&trial, &stuck, "Background");
    let events = watching.up_to("DeletionRequested", "ConfigMap", "stuck");
    assert_eq!(events.last().unwrap()["waitsFor"]["finalizers"], json!(["acme.io/x", "acme.io/y"]));
    let later = Watching::namespace(&trial);
    let events = later.up_to("StillTerminating", "ConfigMap", "stuck");
    assert_eq!(events.last().unwrap()["waitsFor"]["finalizers"], json!(["acme.io/x", "acme.io/y"]));
    let path = trial.cluster.path_of(&stuck);
    trial.cluster.patch(&path, &json!({"metadata": {"finalizers": ["acme.io/y"]}}));
    for watching in [&watching, &later] {
        let events = watching.up_to("FinalizersRemoved", "ConfigMap", "stuck");
        assert_eq!(events.last().unwrap()["removedFinalizers"], json!(["acme.io/x"]));
    }
    trial.cluster.patch(&path, &json!({"metadata": {"finalizers": null}}));
    let events = watching.up_to("Gone", "ConfigMap", "stuck");
    assert_eq!(events.last().unwrap()["removedFinalizers"], json!(["acme.io/y"]));
    assert!(events.last().unwrap()["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
}

#[test]
fn a_namespace_takes_its_content() {
    let trial = Trial::new("account-namespace", "Background");
    let owner = trial.widget("owner").create();
    trial.config_map("dependent").owned_by(&owner).create();
    let held = trial.config_map("held").finalizer("acme.io/x").create();
    let target = format!("namespace/{}", trial.namespace);
    let mut watching = Watching::start(&trial, &trial.cluster.kubeconfig(ADMIN), &[&target, "--until-gone"]);
    trial.cluster.delete(&format!("/api/v1/namespaces/{}", trial.namespace), None, None);
    let events =
        watching.until("the request of what is held", |event| is(event, "DeletionRequested", "ConfigMap", "held"));
    let content = &one(&events, "DeletionRequested", "Namespace", &trial.namespace)["waitsFor"]["content"];
    assert_eq!(
        (&content["objects"], &content["withFinalizers"][0]["name"]),
        (&json!(3), &json!("held")),
        "{content:#}"
    );
    assert_eq!(because(events.last().unwrap()), "Namespace");
    trial.cluster.patch(&trial.cluster.path_of(&held), &json!({"metadata": {"finalizers": null}}));
    let (rest, summary, code) = watching.ended();
    assert_eq!(code, Some(0), "{summary}");
    let events = [events, rest].concat();
    for (kind, name) in [("Widget", "owner"), ("ConfigMap", "dependent")] {
        assert_eq!(because(one(&events, "Gone", kind, name)), "Namespace");
    }
    one(&events, "Gone", "Namespace", &trial.namespace);
    assert!(summary.contains("with their namespace or definition"), "{summary}");
}

/// Targets with their dependents, also those of a target that is made again, and nothing else.
#[test]
fn targets_and_what_depends_on_them() {
    let trial = Trial::new("account-targets", "Background");
    let owner = trial.widget("owner").create();
    trial.config_map("dependent").owned_by(&owner).create();
    let other = trial.config_map("other").create();
    let args = ["widget/owner", "-n", &trial.namespace];
    let watching = Watching::start(&trial, &trial.cluster.kubeconfig(ADMIN), &args);
    delete(&trial, &other, "Background");
    trial.config_map("late").owned_by(&owner).create();
    delete(&trial, &owner, "Background");
    let left = std::cell::Cell::new(2);
    let mut events = watching.until("the end of both dependents", |event| {
        left.set(left.get() - i32::from(event["type"] == "Gone" && event["object"]["kind"] == "ConfigMap"));
        left.get() == 0
    });
    trial.widget("owner").create();
    events.extend(watching.up_to("Recreated", "Widget", "owner"));
    let names: Vec<&str> = events.iter().filter_map(|event| event["object"]["name"].as_str()).collect();
    assert!(!names.contains(&"other") && names.contains(&"late") && names.contains(&"dependent"), "{names:?}");
}
