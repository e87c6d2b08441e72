//! Findings about the collector itself: it isn't running, is refused, has forgotten an owner, or has emitted warnings.

use std::{panic, process::Command, sync::LazyLock, thread};

use serde_json::{Value, json};

use super::{Found, PATIENCE, examine, follow, mends};
use crate::{
    harness::{ADMIN, Alone, Audit, COLLECTOR, Cluster, KINDS, Options, VIEWER, api_service, uid},
    plan::{
        draft::{HOLD, blocking},
        trial::Trial,
    },
};

/// A cluster for one test, which decides whether a collector runs.
fn alone() -> Alone {
    Alone::with(&[])
}

/// The finding with this code; panics unless there is exactly one. For findings about the whole cluster.
#[track_caller]
fn only<'f>(found: &'f Found, code: &str) -> &'f Value {
    let mut findings = found.findings().filter(|finding| finding["code"] == code);
    let first = findings.next().unwrap_or_else(|| panic!("no {code}\n{:#}", found.document));
    assert_eq!(findings.next(), None, "more than one {code}");
    first
}

#[track_caller]
fn none_of(found: &Found, code: &str) {
    assert_eq!(found.findings().filter(|finding| finding["code"] == code).count(), 0, "{:#}", found.document);
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(|object| object["name"].as_str()).collect()
}

fn words<'f>(finding: &'f Value, field: &str) -> &'f str {
    finding[field].as_str().unwrap_or_default()
}

/// Creates what a collector would process at once: its own finalizers, dependents to orphan or delete, and a reference
/// to drop.
fn leave_work(trial: &Trial<'_>) -> [Value; 6] {
    let cluster = trial.cluster;
    let waiting = trial.config_map("waiting").create();
    let owner = trial.config_map("owner").create();
    let below = trial.config_map("below").blocking(&owner).create();
    let freeing = trial.config_map("freeing").create();
    let freed = trial.config_map("freed").blocking(&freeing).create();
    let lost = trial.config_map("lost").owned_by(&trial.gone("gone")).create();
    for (object, policy) in [(&waiting, "Foreground"), (&owner, "Foreground"), (&freeing, "Orphan")] {
        cluster.delete(&cluster.path_of(object), Some(policy), None);
    }
    // The collector has nothing to do here.
    trial.config_map("fine").owned_by(&trial.widget("living").create()).create();
    [waiting, owner, below, freeing, freed, lost]
}

/// The name of an object if it still exists.
fn now_named(cluster: &Cluster) -> impl Fn(&Value) -> Option<&str> {
    |object| cluster.get(&cluster.path_of(object)).and(object["metadata"]["name"].as_str())
}

#[test]
#[ignore = "long: the doctor looks again and again"]
fn a_collector_that_does_not_run() {
    let cluster = alone();
    let (trial, other) = (Trial::on(&cluster, "idle", "Foreground"), Trial::on(&cluster, "idle-too", "Foreground"));
    let [waiting, owner, below, freeing, freed, lost] = leave_work(&trial);
    let swept = Trial::on(&cluster, "swept", "Foreground");
    let work = leave_work(&swept);
    let elsewhere = other.config_map("elsewhere").create();
    cluster.delete(&cluster.path_of(&elsewhere), Some("Foreground"), None);
    cluster.create(object!("coordination.k8s.io/v1 Lease", {
        "name": "kube-controller-manager", "namespace": "kube-system",
        "spec": {"holderIdentity": "none", "leaseDurationSeconds": 15, "renewTime": "2020-01-01T00:00:00.000000Z"},
    }));
    // A collector would not watch this kind yet: it refreshes discovery every 30 seconds.
    cluster.apply_yaml(&KINDS.replace("gc.test", "young.test"));
    let young = object!("young.test/v1 Widget", {"name": "young", "namespace": trial.namespace});
    let young = cluster.create(young);
    cluster.delete(&cluster.path_of(&young), Some("Foreground"), None);
    let args = ["-n", &trial.namespace, "--only", "collector-idle,collector-stopped"];
    // The probe decides it with a throw-away object, and deletes nothing else.
    let (found, probed) = thread::scope(|scope| {
        let probed = scope.spawn(|| examine(&cluster, &[&args[..], &["--probe"]].concat()));
        (examine(&cluster, &args), probed.join())
    });
    let probed = probed.unwrap_or_else(|panic| panic::resume_unwind(panic));
    cluster.delete(&cluster.path_of(&young), Some("Background"), None);
    assert_eq!(found.code, Some(2));
    let idle = only(&found, "collector-idle");
    assert_eq!(idle["severity"], "Error");
    // The affected objects, and the objects that a collector would patch for them; only in the requested namespace.
    assert_eq!(names(&idle["objects"]), ["freeing", "lost", "owner", "waiting"]);
    assert_eq!(names(&idle["related"]), ["below", "freed"]);
    assert!(words(idle, "message").contains("kube-controller-manager's lease expired"), "{idle:#}");
    assert!(words(idle, "consequence").contains("nothing is collected"), "{idle:#}");

    let stopped = only(&probed, "collector-stopped");
    assert_eq!((&stopped["severity"], names(&stopped["objects"])), (&json!("Error"), names(&idle["objects"])));
    assert!(words(stopped, "message").contains("was not collected within"), "{stopped:#}");
    assert_eq!(probed.document["collectorRuns"], false);
    // A user who may not probe learns that, and still gets all other findings.
    cluster.let_viewer_see(&trial.namespace);
    let ran = cluster.gc_as(VIEWER, &[&["doctor", "-o", "json", "--probe"], &args[..]].concat()).ended(1);
    assert!(ran.stderr.contains("error: cannot create the test ConfigMap in namespace"), "{}", ran.stderr);
    assert!(ran.json()["collectorRuns"].is_null() && ran.json()["findings"].is_array(), "{}", ran.stdout);
    none_of(&probed, "collector-idle");
    let left = cluster
        .list(&format!("/api/v1/namespaces/{}/configmaps?labelSelector=app.kubernetes.io/managed-by", trial.namespace));
    assert_eq!(left, [] as [Value; 0]);
    assert_eq!(stopped["remedies"][0], idle["remedies"][0]);
    follow(&cluster, stopped, 2);

    // The first remedy finishes what was requested, the second starts other deletes: both delete an existing object.
    let now = |object: &Value| cluster.get(&cluster.path_of(object));
    let place = ["-n", &swept.namespace, "--only", "collector-idle"];
    let found = examine(&cluster, &place);
    let remedies = only(&found, "collector-idle")["remedies"].as_array().cloned().unwrap_or_default();
    assert_eq!((&remedies[0]["decides"], &remedies[1]["decides"]), (&json!(true), &json!(true)), "{remedies:#?}");
    assert!(words(&remedies[0], "what").ends_with("it deletes 1 existing object"), "{remedies:#?}");
    follow(&cluster, only(&found, "collector-idle"), 0);
    let left: Vec<&str> = work.iter().filter_map(now_named(&cluster)).collect();
    assert_eq!(left, ["freed", "lost"]);
    follow(&cluster, only(&found, "collector-idle"), 1);
    let left: Vec<&str> = work.iter().filter_map(now_named(&cluster)).collect();
    assert_eq!(left, ["freed"]);
    none_of(&examine(&cluster, &place), "collector-idle");

    // Without this plugin, follow the other remedies until nothing is left to do.
    for remedy in 2..idle["remedies"].as_array().map_or(0, Vec::len) {
        follow(&cluster, idle, remedy);
    }
    for object in [&waiting, &owner, &freeing, &lost] {
        assert_eq!(now(object), None);
    }
    assert_eq!(now(&freed).expect("it is free")["metadata"]["ownerReferences"].as_array().map_or(0, Vec::len), 0);
    // Its owner is gone now, so the collector has to delete this dependent.
    let found = examine(&cluster, &args);
    assert_eq!(names(&only(&found, "collector-idle")["objects"]), ["below"]);
    assert_eq!(only(&found, "collector-idle")["severity"], "Warning");

    // With a collector, all of it is deleted, and the probe sees the collector.
    cluster.start_controllers(&[COLLECTOR]);
    cluster.wait_until("the collector to get on", PATIENCE, || now(&below).is_none() && now(&elsewhere).is_none());
    let ran = cluster.gc(&["doctor", "-o", "json", "-n", &trial.namespace, "--probe"]);
    assert_eq!(ran.json()["findings"], json!([]), "{}", ran.stdout);
    assert!(ran.expect(0).len() > 2 && ran.stderr.contains("A collector is running"), "{}", ran.stderr);
}

/// A policy for one namespace that denies deleting objects named "protected" and changing objects named "kept".
fn policy(name: &str) -> [Value; 2] {
    let api_version = "admissionregistration.k8s.io/v1";
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE", "DELETE"],
        "resources": ["configmaps"]});
    let forbidden = "request.name != (request.operation == 'DELETE' ? 'protected' : 'kept')";
    let spec = json!({
        "matchConstraints": {
            "resourceRules": [rule],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
        },
        "validations": [{"expression": forbidden, "message": "out of the question"}],
    });
    let bound = json!({"policyName": name, "validationActions": ["Deny"]});
    [("ValidatingAdmissionPolicy", spec), ("ValidatingAdmissionPolicyBinding", bound)]
        .map(|(kind, spec)| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}))
}

/// S7, S8, R1.36: a collector that runs, but whose requests are refused.
#[test]
#[ignore = "long: waits for a collector that tries again"]
fn a_collector_that_is_refused() {
    let cluster = &alone();
    cluster.start_controllers(&[COLLECTOR]);
    let trial = Trial::on(cluster, "refused", "Foreground");
    let owner = trial.config_map("owner").create();
    let protected = trial.config_map("protected").blocking(&owner).create();
    let kept = trial.config_map("kept").create();
    cluster.seen_by_collector(&[uid(&protected)]);
    let policy = policy(&trial.namespace);
    for object in &policy {
        cluster.create(object);
    }
    let delete = format!("{}?dryRun=All", cluster.path_of(&protected));
    cluster.wait_until("the policy to apply", PATIENCE, || {
        cluster.ask(&http::Method::DELETE, &delete, None).status == 422
    });
    for object in [&owner, &kept] {
        cluster.delete(&cluster.path_of(object), Some("Foreground"), None);
    }
    let args = ["-n", &trial.namespace, "--probe", "--only", "collector-refused,collector-idle"];
    let found = examine(cluster, &args);
    let finding = only(&found, "collector-refused");
    assert_eq!((&finding["severity"], names(&finding["objects"])), (&json!("Error"), vec!["kept", "owner"]));
    // What is refused, and the policy that refuses it.
    assert_eq!(names(&finding["related"]), ["protected", &trial.namespace]);
    none_of(&found, "collector-idle");
    // The commands of the first remedy show the reason.
    for command in finding["remedies"][0]["commands"].as_array().into_iter().flatten() {
        let command = command.as_str().expect("a command");
        let ran = Command::new("sh")
            .args(["-c", command])
            .env("KUBECONFIG", cluster.kubeconfig(ADMIN))
            .output()
            .expect("a shell");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!ran.status.success() && said.contains("out of the question"), "{command}\n{said}");
    }
    // The next remedy releases the waiting owner. The policy still refuses the deletion of its dependent, until the
    // test deletes the policy.
    follow(cluster, finding, 1);
    for object in [&owner, &kept] {
        assert_eq!(cluster.get(&cluster.path_of(object)), None);
    }
    assert!(cluster.get(&cluster.path_of(&protected)).is_some());
    for object in &policy {
        cluster.delete(&cluster.path_of(object), None, None);
    }
    cluster.wait_until("the collector to try again", PATIENCE, || cluster.get(&cluster.path_of(&protected)).is_none());
    none_of(&examine(cluster, &args), "collector-refused");
}

/// R3.22: a running collector that has forgotten which owner waits for its dependents.
#[test]
#[ignore = "long: slow"]
fn an_owner_that_was_forgotten() {
    let trial = Trial::new("forgotten", "Foreground");
    let owner = trial.config_map("owner").create();
    let mut plain = blocking(&owner);
    plain["blockOwnerDeletion"] = json!(false);
    let held = trial.config_map("held").blocking(&owner).reference(plain).finalizer(HOLD).create();
    trial.delete_before(&owner, "Foreground");
    trial.cluster.wait_until("the collector to delete what is held", PATIENCE, || {
        let now = trial.cluster.get(&trial.cluster.path_of(&held)).expect("it is held");
        now["metadata"]["deletionTimestamp"].is_string()
    });
    trial.cluster.settled();
    trial.cluster.patch(&trial.cluster.path_of(&held), &json!({"metadata": {"ownerReferences": null}}));
    trial.cluster.settled();
    let finding = mends(trial.cluster, &["-n", &trial.namespace], "collector-idle", "owner");
    assert_eq!((&finding["severity"], names(&finding["objects"])), (&json!("Error"), vec!["owner"]));
    assert!(words(&finding, "consequence").contains("has lost track of these"), "{finding:#}");
}

/// A cluster whose API server has garbage collection turned off and writes an audit log, with an unavailable aggregated
/// API. No collector runs.
pub fn odd() -> &'static Cluster {
    static CLUSTER: LazyLock<Alone> = LazyLock::new(|| {
        let off = "--enable-garbage-collector=false".to_owned();
        let api_server = audit().flags().into_iter().chain([off]).collect();
        let cluster = Alone::start(&Options { api_server, ..Options::default() });
        cluster.apply_yaml(KINDS);
        cluster.create(api_service("dead.test", "default", "nobody"));
        cluster
    });
    &CLUSTER
}

/// The audit log of that cluster.
pub fn audit() -> &'static Audit {
    static AUDIT: LazyLock<Audit> = LazyLock::new(Audit::new);
    &AUDIT
}

/// S15: neither foreground nor orphan deletion works as usual.
#[test]
#[ignore = "long: a cluster of its own"]
fn an_api_server_that_leaves_nothing_to_the_collector() {
    let found = examine(odd(), &["-n", "default", "--probe", "--only", "collector-stopped"]);
    let finding = only(&found, "collector-stopped");
    assert!(words(finding, "message").contains("garbage collection is turned off in the API server"), "{finding:#}");
    assert!(words(finding, "remedy").contains("component=kube-apiserver"), "{finding:#}");
    follow(odd(), finding, 0);
}

/// R3.7: warning events of the collector, after the bad references themselves are gone.
#[test]
#[ignore = "long: waits for Events of the collector"]
fn complaints_of_owners_in_other_namespaces() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "complaints", "Background");
    let (cluster, elsewhere) = (trial.cluster, trial.another_namespace());
    let owner = trial.widget("owner").create();
    // A dependent in the owner's namespace: the graph then shows whether the collector has seen the owner. It emits the
    // event only for an owner that it has seen.
    trial.config_map("beside").owned_by(&owner).create();
    cluster.seen_by_collector(&[uid(&owner)]);
    let local = trial.widget("local").in_namespace(&elsewhere).create();
    let stray = [
        trial.config_map("stray").owned_by(&owner).in_namespace(&elsewhere).create(),
        trial.config_map("stray-too").owned_by(&owner).in_namespace(&elsewhere).create(),
    ];
    trial.config_map("detached").owned_by(&owner).blocking(&local).in_namespace(&elsewhere).create();
    // This one keeps its reference, so the doctor reports the reference.
    trial.rack("rack").owned_by(&owner).create();
    let events = || cluster.list(&format!("/api/v1/namespaces/{elsewhere}/events")).len();
    cluster.wait_until("the collector to complain", PATIENCE, || {
        events() == 3 && stray.iter().all(|stray| cluster.get(&cluster.path_of(stray)).is_none())
    });
    cluster.settled();
    let args = ["-n", &elsewhere, "--only", "owner-namespace-event"];
    let found = examine(cluster, &args);
    let gone = found.findings().find(|finding| names(&finding["objects"]).is_empty()).expect("of what is gone");
    assert_eq!(gone["severity"], "Note");
    assert!(words(gone, "message").contains("and 1 more") && words(gone, "message").contains(uid(&owner)), "{gone:#}");
    assert!(words(gone, "consequence").starts_with("It no longer exists"), "{gone:#}");
    let still = found.one("owner-namespace-event", "detached");
    assert!(words(still, "consequence").starts_with("It still exists, but the reference does not"), "{still:#}");
    assert_eq!(found.findings().count(), 2, "{:#}", found.document);
    // The events stay: they tell what happened, and expire by themselves.
    let before = events();
    follow(cluster, still, 0);
    assert_eq!(gone["remedies"], json!([]), "{gone:#}");
    assert_eq!((events(), examine(cluster, &args).findings().count()), (before, 2));
    // For the rack, the doctor reports the reference, not the event.
    let rack = format!("racks.gc.test/{}", trial.global("rack"));
    let of_rack = examine(cluster, &[&rack, "--only", "owner-namespace-event,namespaced-owner-of-cluster-scoped"]);
    assert_eq!(
        of_rack.findings().map(|finding| words(finding, "code")).collect::<Vec<_>>(),
        ["namespaced-owner-of-cluster-scoped"]
    );
}
