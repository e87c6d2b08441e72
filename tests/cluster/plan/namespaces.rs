//! Namespaces: their content is deleted whatever its owner references are, pods first, then the rest.

use std::time::Duration;

use serde_json::json;

use super::{
    draft::HOLD,
    trial::{Trial, all_come_true, predict, three_ways, three_ways_on},
};
use crate::harness::{Alone, COLLECTOR, NAMESPACES, Options, api_service, shared, wait_until};

fn target(trial: &Trial<'_>) -> Vec<String> {
    vec![format!("ns/{}", trial.namespace)]
}

/// An owner with dependents, some of which have the collector's finalizers.
fn family(trial: &Trial<'_>) {
    let owner = trial.widget("owner").finalizer("orphan").create();
    trial.config_map("dependent").blocking(&owner).create();
    let waits = trial.widget("waits").finalizer("foregroundDeletion").create();
    trial.config_map("awaited").blocking(&waits).create();
}

#[test]
fn a_namespace_goes_with_its_content() {
    three_ways("doomed", |trial| {
        family(trial);
        trial.pod("unscheduled").brief().create();
        target(trial)
    });
}

#[test]
fn an_object_that_is_held_holds_its_namespace() {
    three_ways("doomed-held", |trial| {
        family(trial);
        let held = trial.widget("held").finalizer(HOLD).create();
        trial.config_map("below-held").blocking(&held).create();
        target(trial)
    });
}

#[test]
#[ignore = "long: slow"]
fn a_pod_that_is_held_holds_everything() {
    three_ways("doomed-pod", |trial| {
        family(trial);
        trial.pod("held").brief().finalizer(HOLD).create();
        trial.pod("goes").brief().create();
        target(trial)
    });
}

#[test]
fn a_namespace_can_own_objects_elsewhere() {
    three_ways_on(&Alone::usual(), "doomed-owner", |trial| {
        let elsewhere = trial.another_namespace();
        let path = format!("/api/v1/namespaces/{}", trial.namespace);
        let namespace = trial.cluster.get(&path).expect("it was just made");
        trial.config_map("blocks").in_namespace(&elsewhere).blocking(&namespace).create();
        trial.config_map("inside").blocking(&namespace).create();
        trial.rack("follows").owned_by(&namespace).create();
        target(trial)
    });
}

#[test]
#[ignore = "long: slow"]
fn what_a_held_pod_spares_is_told() {
    let trial = Trial::new("doomed-spared", "Background");
    family(&trial);
    trial.pod("held").brief().finalizer(HOLD).create();
    let case = target(&trial);
    let predicted = predict(vec![trial.deleting(case)]);
    let plan = &predicted[0].plan;
    let namespace = predicted[0].case.trial.namespace.as_str();
    assert_eq!(plan["deletedLater"].as_array().map(Vec::len), Some(1), "{:#}", plan["deletedLater"]);
    let spares = &plan["deletedLater"][0];
    assert_eq!((&spares["namespace"], &spares["afterPods"][0]["name"]), (&json!(namespace), &json!("held")));
    let spared = json!([{"resource": "configmaps", "count": 2}, {"resource": "widgets.gc.test", "count": 2}]);
    assert_eq!(spares["resources"], spared);
    // The namespace waits for the pod, and the pod for its finalizer.
    let outcomes = plan["outcomes"].as_array().expect("outcomes");
    let of = |kind: &str| outcomes.iter().find(|outcome| outcome["object"]["kind"] == kind).expect(kind);
    assert_eq!((outcomes.len(), &of("Namespace")["waitsFor"][0]["name"]), (2, &json!("held")));
    assert_eq!(of("Pod")["heldBy"], json!([HOLD]));
    all_come_true(&predicted);
    // Without the finalizer everything goes.
    let cluster = predicted[0].case.trial.cluster;
    cluster.patch(&format!("/api/v1/namespaces/{namespace}/pods/held"), &json!({"metadata": {"finalizers": null}}));
    wait_until("the namespace to go with all that was spared", Duration::from_secs(40), || {
        cluster.get(&format!("/api/v1/namespaces/{namespace}")).is_none()
    });
}

#[test]
#[ignore = "long: writes many Events"]
fn events_go_with_their_namespace() {
    let trial = Trial::new("doomed-events", "Background");
    let namespace = trial.namespace.clone();
    let cluster = trial.cluster;
    let events = format!("/api/v1/namespaces/{namespace}/events");
    for name in ["one", "two", "three"] {
        cluster.create(object!("v1 Event", {
            "name": name, "namespace": namespace,
            "involvedObject": {"kind": "ConfigMap", "name": "any", "namespace": namespace},
        }));
    }
    let predicted = predict(vec![trial.deleting(vec![format!("ns/{namespace}")])]);
    let describe = json!([{"namespace": namespace, "resource": "events", "count": 3}]);
    assert_eq!(predicted[0].plan["alsoDeletes"], describe);
    let text = cluster.gc(&["plan", &format!("ns/{namespace}"), "-o", "wide"]);
    let line = format!("Note  deletes 3 events in namespace {namespace}\n");
    assert!(text.expect(0).contains(&line), "{}", text.stdout);
    // Keep one event by a finalizer, to show that the namespace waits for events like for everything else.
    cluster.patch(&format!("{events}/one"), &json!({"metadata": {"finalizers": [HOLD]}}));
    predicted[0].delete();
    wait_until("two events to go", Duration::from_secs(40), || cluster.list(&events).len() == 1);
    cluster.patch(&format!("{events}/one"), &json!({"metadata": {"finalizers": null}}));
    all_come_true(&predicted);
}

#[test]
fn some_namespaces_are_protected() {
    for name in ["default", "kube-system", "kube-public"] {
        let ran = shared().gc(&["plan", &format!("ns/{name}")]);
        assert_eq!(ran.expect(2), "");
        assert_eq!(
            ran.stderr,
            format!("error: the API server refuses to delete Namespace/{name}: this namespace may not be deleted\n")
        );
        let answer = shared().ask(&http::Method::DELETE, &format!("/api/v1/namespaces/{name}?dryRun=All"), None);
        assert_eq!(answer.status, 403, "{}", answer.text());
    }
    // The other system namespace is not protected.
    shared().gc(&["plan", "ns/kube-node-lease"]).expect(0);
    let class = "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical";
    let ran = shared().gc(&["plan", "priorityclass/system-node-critical"]);
    assert!(
        ran.expect(2).is_empty() && ran.stderr.contains("the API server refuses to delete PriorityClass/"),
        "{}",
        ran.stderr
    );
    assert_eq!(shared().ask(&http::Method::DELETE, &format!("{class}?dryRun=All"), None).status, 403);
}

/// R9.11, on a cluster of its own, because it causes a gap in all plans.
#[test]
#[ignore = "long: a cluster of its own, with an API that is away"]
fn an_api_that_cannot_be_discovered_keeps_namespaces() {
    let cluster = Alone::start(&Options::default());
    let service = "/apis/apiregistration.k8s.io/v1/apiservices/v1.broken.test";
    cluster.create(api_service("broken.test", "default", "nobody"));
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let namespace = cluster.namespace("kept");
    let path = format!("/api/v1/namespaces/{namespace}");
    let inside = format!("{path}/configmaps/inside");
    cluster.create(object!("v1 ConfigMap", {"name": "inside", "namespace": namespace}));
    let ran = cluster.gc(&["plan", "-o", "json", &format!("ns/{namespace}")]).ended(2);
    let plan = ran.json();
    let outcomes = plan["outcomes"].as_array().expect("outcomes");
    let of = |kind: &str| outcomes.iter().find(|outcome| outcome["object"]["kind"] == kind).expect(kind);
    assert_eq!((&of("ConfigMap")["outcome"], &of("Namespace")["outcome"]), (&json!("Deleted"), &json!("Terminating")));
    // The APIService that is unavailable names the group version that could not be discovered, too.
    assert_eq!(of("Namespace")["heldBy"], json!(["spec.finalizers", "v1.broken.test"]));
    assert_eq!((&of("Namespace")["state"], &of("Namespace")["certain"]), (&json!("stuck"), &json!(false)));
    cluster.delete(&path, Some("Background"), None);
    let condition = |of: &serde_json::Value| {
        let conditions = of["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|one| one["type"] == "NamespaceDeletionDiscoveryFailure" && one["status"] == "True")
    };
    wait_until("the namespace controller to complain", Duration::from_secs(40), || {
        cluster.get(&path).is_some_and(|now| condition(&now))
    });
    assert!(cluster.get(&inside).is_none(), "its content goes all the same");
    cluster.delete(service, None, None);
    wait_until("the namespace to go", Duration::from_mins(2), || cluster.get(&path).is_none());
}

/// Without `kubernetes` in the `spec.finalizers` of a living namespace, no controller empties it.
#[test]
fn a_namespace_without_spec_finalizers_is_not_emptied() {
    let cluster = shared();
    let namespace = cluster.namespace("unfinalized");
    let path = format!("/api/v1/namespaces/{namespace}");
    let inside = format!("{path}/configmaps/inside");
    cluster.create(object!("v1 ConfigMap", {"name": "inside", "namespace": namespace}));
    let mut object = cluster.get(&path).expect("it was just made");
    object["spec"]["finalizers"] = json!([]);
    let answer = cluster.ask(&http::Method::PUT, &format!("{path}/finalize"), Some(("application/json", &object)));
    assert!(answer.is_success(), "{}", answer.text());
    let plan = |word: &str, state: &str| {
        let ran = cluster.gc(&["plan", "-o", "json", &format!("ns/{namespace}")]);
        let plan = ran.json();
        let outcomes = plan["outcomes"].as_array().expect("outcomes");
        let describe: Vec<&str> = outcomes.iter().filter_map(|outcome| outcome["outcome"].as_str()).collect();
        let states: Vec<&str> = outcomes.iter().map(|outcome| outcome["state"].as_str().unwrap_or_default()).collect();
        assert_eq!((describe, states), (vec![word], vec![state]), "{plan:#}");
    };
    plan("Terminating", "stuck");
    cluster.delete(&path, Some("Background"), None);
    // The namespace controller begins with each five seconds after its delete: with the earlier one first.
    let later = format!("/api/v1/namespaces/{}", cluster.namespace("unfinalized-later"));
    cluster.delete(&later, Some("Background"), None);
    cluster.wait_until("a later namespace to go", Duration::from_mins(2), || cluster.get(&later).is_none());
    assert!(cluster.get(&path).is_some() && cluster.get(&inside).is_some(), "nobody does anything");
    plan("Deleted", "");
    cluster.delete(&path, Some("Background"), None);
    assert!(cluster.get(&path).is_none() && cluster.get(&inside).is_some(), "it goes, and its content stays behind");
    cluster.delete(&inside, Some("Background"), None);
}
