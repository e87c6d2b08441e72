//! What prevents the writes of a sweep: webhooks that can't be asked, and policies that refuse.

use crate::harness::PATIENCE;
use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};

use super::{pass::checked, without_collector};
use crate::{doctor::paste, plan::trial::Trial};

const GROUP: &str = "admissionregistration.k8s.io/v1";

/// A chain of objects whose owner is gone, and one beside it.
fn orphans(trial: &Trial<'_>) -> Value {
    let gone = trial.gone("gone");
    let first = trial.config_map("first").owned_by(&gone).create();
    trial.widget("below").owned_by(&first).create();
    trial.widget("beside").owned_by(&gone).create();
    first
}

/// A webhook without a backend for deletes of ConfigMaps in the trial's namespace.
fn dead_webhook(trial: &Trial<'_>) -> Value {
    let name = &trial.namespace;
    trial.cluster.create(json!({
        "apiVersion": GROUP,
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{
            "name": format!("{name}.odd.test"),
            "clientConfig": {"service": {"namespace": name, "name": "missing"}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                "operations": ["DELETE"]}],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "timeoutSeconds": 1,
        }],
    }))
}

fn names<'a>(objects: impl Iterator<Item = &'a Value>) -> BTreeSet<String> {
    objects.filter_map(|object| object["name"].as_str()).map(str::to_owned).collect()
}

fn left(trial: &Trial<'_>) -> BTreeSet<String> {
    let mine = ["first", "below", "beside"];
    let all: Vec<Value> = trial.holds().into_iter().map(|object| object["metadata"].clone()).collect();
    names(all.iter()).into_iter().filter(|name| mine.contains(&name.as_str())).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
#[ignore = "long: a cluster of its own with webhooks and policies"]
fn what_prevents_a_sweep_is_foretold() {
    let cluster = without_collector();
    let sweep = |trial: &Trial<'_>, code: i32, flag: &str| {
        let ran = cluster.gc(&["sweep", "-n", &trial.namespace, "-o", "json", flag]);
        assert_eq!(ran.code, Some(code), "{}{}", ran.stdout, ran.stderr);
        checked(ran.json())
    };
    type Stage = fn(&Trial<'_>) -> Value;
    let stages: [(&str, Stage); 2] = [
        ("webhook-unreachable", dead_webhook),
        ("policy-refuses", |trial| trial.refusing(&["DELETE"], "configmaps", "false")),
    ];
    for (code, stage) in stages {
        let trial = Trial::on(&cluster, "obstructed", "Background");
        let first = orphans(&trial);
        stage(&trial);
        cluster.wait_until("a delete to be refused", PATIENCE, || {
            !cluster.ask(&Method::DELETE, &format!("{}?dryRun=All", cluster.path_of(&first)), None).is_success()
        });
        let plan = sweep(&trial, 2, "--dry-run");
        let [obstacle] = plan["obstacles"].as_array().expect("obstacles").as_slice() else { panic!("{plan:#}") };
        assert_eq!(obstacle["obstacle"], code, "{plan:#}");
        assert_eq!(names(obstacle["prevents"].as_array().unwrap().iter()), set(&["first", "below"]), "{plan:#}");
        assert!(obstacle["message"].as_str().unwrap().contains("this sweep would otherwise delete"), "{plan:#}");
        let deleted = plan["outcomes"].as_array().unwrap().iter().map(|outcome| &outcome["object"]);
        assert_eq!(names(deleted), set(&["beside"]), "{plan:#}");

        // It does what it said, and can't do the rest.
        let swept = sweep(&trial, 2, "--yes");
        assert_eq!((left(&trial), &swept["obstacles"]), (set(&["first", "below"]), &plan["obstacles"]), "{swept:#}");
        let text = cluster.gc(&["sweep", "-n", &trial.namespace, "--dry-run"]);
        let text = text.expect(2);
        assert!(text.contains("STUCK: 2 are prevented (") && !text.contains("\nOK: "), "{text}");
        let command = obstacle["commands"][0].as_str().expect("a command");
        assert!(text.contains(command), "{command} is not in {text}");

        // What it recommends heals it.
        paste(&cluster, command);
        cluster.wait_until("deletes to be allowed", PATIENCE, || {
            cluster.ask(&Method::DELETE, &format!("{}?dryRun=All", cluster.path_of(&first)), None).is_success()
        });
        let mended = sweep(&trial, 0, "--yes");
        assert_eq!((left(&trial), mended.get("obstacles")), (set(&[]), None), "{mended:#}");
    }
    // What may be refused is not certain.
    let trial = Trial::on(&cluster, "judged", "Background");
    orphans(&trial);
    trial.refusing(&["DELETE"], "configmaps", "oldObject.metadata.name != 'first'");
    let plan = sweep(&trial, 0, "--dry-run");
    let unsure = plan["outcomes"].as_array().unwrap().iter().filter(|outcome| outcome["certain"] == false);
    assert!(unsure.clone().all(|outcome| outcome["uncertainBecause"] == "assumption"), "{plan:#}");
    assert_eq!(names(unsure.map(|outcome| &outcome["object"])), set(&["first", "below"]), "{plan:#}");
}

/// S7: a sweep does the collector's work where no controller manager runs. What only that does is foretold, and the
/// pass ends by itself.
#[test]
#[ignore = "long: a cluster of its own without a controller manager"]
fn what_only_a_controller_manager_does_is_foretold() {
    let cluster = without_collector();
    cluster.create(object!("coordination.k8s.io/v1 Lease", {
        "name": "kube-controller-manager", "namespace": "kube-system",
        "spec": {"holderIdentity": "none", "leaseDurationSeconds": 15, "renewTime": "2020-01-01T00:00:00.000000Z"},
    }));
    let trial = Trial::on(&cluster, "unmanaged", "Foreground");
    let owner = trial.config_map("owner").create();
    let below = trial.config_map("below").blocking(&owner).create();
    let claim = trial.claim("data").blocking(&owner).create();
    cluster.delete(&cluster.path_of(&owner), Some("Foreground"), None);
    let ran = cluster.gc(&["sweep", "-n", &trial.namespace, "--yes"]);
    let text = ran.expect(2);
    assert!(text.contains("STUCK: ") && text.contains("no controller manager is known to run"), "{text}");
    assert!(!text.contains("let kubectl gc sweep"), "{text}");
    assert!(cluster.get(&cluster.path_of(&below)).is_none());
    for left in [&owner, &claim] {
        let left = cluster.get(&cluster.path_of(left)).expect("what waits for the controller manager");
        assert!(left["metadata"]["deletionTimestamp"].is_string(), "{left:#}");
    }
}
