//! Answers that are none, and ends that come too late or too early.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::{
    harness::{CountingProxy, Fault, PATIENCE, resource_version, shared, uid},
    plan::trial::Trial,
    sweep::{stale_list, uncollected},
};

/// Answers after which a command with `--request-timeout=2s` must not wait longer than that.
const LATE: [(u16, &str, &str); 4] = [
    (429, "retry-after", "60"),
    (503, "retry-after", "60"),
    (302, "location", "/api/v1/namespaces"),
    (307, "location", "https://192.0.2.1/"),
];

/// robustness line: a list that is answered by a redirect, or by 429 or 503 with a long Retry-After, under
///   `--request-timeout` | {LATE} answers | a gap; it isn't asked for again
#[test]
fn no_pause_is_longer_than_the_time_limit() {
    let trial = Trial::on(uncollected(), "line-late", "Background");
    let proxy = CountingProxy::start(trial.cluster);
    let secrets = format!("/api/v1/namespaces/{}/secrets", trial.namespace);
    for (status, name, value) in LATE {
        let spoilt = secrets.clone();
        proxy.with(move |request| {
            let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status});
            (request.path == spoilt).then(|| Fault::Answer { status, headers: vec![(name, value)], body })
        });
        proxy.forget();
        let args = ["tree", "-o", "json", "-n", &trial.namespace, "--request-timeout=2s"];
        let ran = trial.cluster.gc_with(proxy.kubeconfig(), &args).ended(0);
        assert_eq!(ran.json()["complete"], false, "{status}: {ran:#?}");
        assert_eq!(proxy.requests().iter().filter(|request| request.path == secrets).count(), 1, "{status}");
    }
}

/// Answers with status 200 to a write that was never done.
fn garbage() -> [Value; 5] {
    let object = object!("v1 ConfigMap", {"name": "other", "uid": "other"});
    [json!("garbage"), json!({}), json!(null), json!({"kind": "Status", "status": "Success"}), object]
}

/// robustness line: a PATCH that isn't done and answered with garbage and status 200, in a pass of `sweep` that lets
///   dependents go | each kind of garbage | the owner keeps its finalizer until its dependent is free
#[test]
#[ignore = "long: slow"]
fn an_owner_waits_until_its_dependent_is_free() {
    for (number, answer) in garbage().into_iter().enumerate() {
        let trial = Trial::on(uncollected(), &format!("line-patch-{number}"), "Background");
        let owner = trial.config_map("owner").create();
        let dependent = trial.config_map("dependent").blocking(&owner).create();
        let [owner, dependent] = [&owner, &dependent].map(|object| trial.cluster.path_of(object));
        trial.cluster.delete(&owner, Some("Orphan"), None);
        let proxy = CountingProxy::start(trial.cluster);
        let patched = AtomicUsize::new(0);
        let spoilt = dependent.clone();
        let wrong = answer.clone();
        proxy.with(move |request| {
            let strikes =
                request.method == "PATCH" && request.path == spoilt && patched.fetch_add(1, Ordering::SeqCst) == 0;
            strikes.then(|| Fault::Answer { status: 200, headers: Vec::new(), body: wrong.clone() })
        });
        let ran = trial.cluster.gc_with(proxy.kubeconfig(), &["sweep", "--yes", "-n", &trial.namespace]).ended(0);
        let requests = proxy.requests();
        let writes: Vec<(&str, &str)> = requests
            .iter()
            .filter(|request| request.method != "GET")
            .map(|request| (request.method.as_str(), request.path.as_str()))
            .collect();
        let first_of_owner = writes.iter().position(|(_, path)| *path == owner);
        let last_of_dependent = writes.iter().rposition(|(_, path)| *path == dependent);
        assert!(writes.len() == 3 && last_of_dependent < first_of_owner, "{answer}: {writes:?}\n{ran:#?}");
        let freed = trial.cluster.get(&dependent).expect("it stays");
        assert_eq!(freed["metadata"]["ownerReferences"], Value::Null, "{answer}: {ran:#?}");
        assert_eq!(trial.cluster.get(&owner), None, "{answer}: {ran:#?}");
    }
}

/// Answers with status 200 to a list that was never read.
fn no_lists() -> [Value; 4] {
    let kind = |kind: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {"resourceVersion": "1"}});
    let without_uids = object!("v1 ConfigMapList", {"resourceVersion": "1", "items": "none"});
    [kind("PartialObjectMetadataList"), kind("ConfigMapList"), kind("APIResourceList"), without_uids]
}

/// robustness line: a list that is answered with another document and status 200, under `tree` and a pass of `sweep`
///   | each kind of document | a gap, and no success
#[test]
fn another_document_is_no_empty_list() {
    let trial = Trial::on(uncollected(), "line-lists", "Background");
    let gone = trial.gone("gone");
    let lost = trial.cluster.path_of(&trial.config_map("lost").owned_by(&gone).create());
    let proxy = CountingProxy::start(trial.cluster);
    for answer in no_lists() {
        let wrong = answer.clone();
        proxy.with(move |request| {
            let strikes = request.method == "GET" && request.path.ends_with("/configmaps");
            strikes.then(|| Fault::Answer { status: 200, headers: Vec::new(), body: wrong.clone() })
        });
        let ran = trial.cluster.gc_with(proxy.kubeconfig(), &["tree", "-o", "json", "-n", &trial.namespace]).ended(0);
        assert!(ran.json()["complete"] == false && ran.stderr.contains("configmaps"), "{answer}: {ran:#?}");
        let ran = trial.cluster.gc_with(proxy.kubeconfig(), &["sweep", "--yes", "-n", &trial.namespace]);
        assert!(ran.code != Some(0) && ran.stderr.contains("configmaps"), "{answer}: {ran:#?}");
        assert!(trial.cluster.get(&lost).is_some());
    }
}

/// robustness line: a list that was read before an owner was created, and before it was replaced, under `tree` and
///   `snapshot` | each | the owner is looked up, and called absent only if it is
#[test]
fn an_owner_that_a_list_lacks_is_not_absent() {
    let trial = Trial::on(uncollected(), "line-stale", "Background");
    let owner = trial.widget("owner").create();
    trial.config_map("dependent").owned_by(&owner).create();
    trial.config_map("lost").owned_by(&trial.gone("gone")).create();
    let proxy = CountingProxy::start(trial.cluster);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("snapshot.json");
    let file = file.to_str().expect("UTF-8");
    let verdicts = |document: &Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let edges = document["edges"].as_array().into_iter().flatten();
        let mut verdicts: Vec<_> = edges.map(|edge| (text(&edge["name"]), text(&edge["verdict"]))).collect();
        verdicts.sort();
        verdicts
    };
    let named = |owner: &str| {
        [("gone", "Absent"), ("owner", owner)].map(|(name, verdict)| (name.to_owned(), verdict.to_owned()))
    };
    let namespace = trial.namespace.clone();
    let replaced = [(namespace.as_str(), "owner", "before")];
    for items in [&[][..], &replaced] {
        for forbidden in [false, true] {
            let list = stale_list(items);
            proxy.with(move |request| match request.path.rsplit('/').next() {
                Some("widgets") => Some(list.clone()),
                Some("owner") if forbidden => Some(Fault::status(403, "Forbidden")),
                _ => None,
            });
            let run = |kubeconfig: &std::path::Path, args: &[&str]| trial.cluster.gc_with(kubeconfig, args).ended(0);
            run(proxy.kubeconfig(), &["snapshot", "--force", "-o", file]);
            for from in [&[][..], &["--from", file]] {
                let args = [&["tree", "-o", "json", "-n", &trial.namespace], from].concat();
                let ran = run(proxy.kubeconfig(), &args);
                let expected = named(if forbidden { "Unread" } else { "Solid" });
                assert_eq!(verdicts(&ran.json()), expected, "{items:?} {args:?}: {ran:#?}");
            }
        }
    }
}

/// How many owners `tree` looks up at most.
const LOOKED_UP: usize = 1_000;

/// robustness line: a list of objects of which each names another owner that doesn't exist, under `tree`
///   | {LOOKED_UP} and more | so many are looked up, and the others are unknown, which is a gap
#[test]
#[ignore = "long: waits for time limits"]
fn there_is_an_end_to_looking_up_owners() {
    let trial = Trial::on(uncollected(), "line-owners", "Background");
    let item = |number: usize| {
        json!({"metadata": {"namespace": trial.namespace, "name": format!("c{number}"), "uid": format!("u-c{number}"),
            "ownerReferences": [{"apiVersion": "gc.test/v1", "kind": "Widget", "name": format!("w{number}"),
                "uid": format!("u-w{number}")}]}})
    };
    let body = object!("meta.k8s.io/v1 PartialObjectMetadataList", {
        "resourceVersion": "1",
        "items": (0..LOOKED_UP + 100).map(item).collect::<Vec<_>>(),
    });
    let proxy = CountingProxy::start(trial.cluster);
    let list = format!("/api/v1/namespaces/{}/configmaps", trial.namespace);
    proxy.with(move |request| {
        (request.path == list).then(|| Fault::Answer { status: 200, headers: Vec::new(), body: body.clone() })
    });
    let ran = trial.cluster.gc_with(proxy.kubeconfig(), &["tree", "-o", "json", "-n", &trial.namespace]).ended(0);
    let owners = format!("/apis/gc.test/v1/namespaces/{}/widgets/", trial.namespace);
    let asked = proxy.requests().iter().filter(|request| request.path.starts_with(&owners)).count();
    let document = ran.json();
    assert_eq!((asked, &document["complete"]), (LOOKED_UP, &json!(false)), "{}", ran.stderr);
    let gaps = document["gaps"].as_array().expect("gaps");
    let told: Vec<&str> = gaps.iter().map(|gap| gap["reason"].as_str().unwrap_or_default()).collect();
    assert!(
        matches!(told.as_slice(), [told] if told.ends_with(" and 97 more: not looked up: more than 1,000")),
        "{told:?}"
    );
    assert_eq!(ran.stdout.matches("\"Unread\"").count(), 100);
}

/// The commands that read the stale lists, on the owner that they lack.
const STALE: [&str; 6] = [
    "plan cm/first -o json",
    "doctor -o json",
    "explain cm/shared -o json",
    "sweep --dry-run -o json",
    "sweep --yes -o json",
    "delete cm/first --yes -o json",
];

/// robustness line: lists as they were before an owner was created and another was deleted, under commands that plan,
///   explain, sweep and delete | {STALE} commands | no dependent of an owner that is there goes, or is said to go
#[test]
fn a_stale_list_takes_no_owner_away() {
    // Deletes need the collector, sweeps must be alone.
    for (cluster, collected) in [(shared(), true), (uncollected(), false)] {
        let trial = Trial::on(cluster, "line-older", "Background");
        let gone = trial.widget("gone").create();
        let first = trial.config_map("first").create();
        let below = trial.config_map("below").owned_by(&first).create();
        let version = resource_version(&below).to_owned();
        let second = trial.widget("second").create();
        let both = trial.config_map("shared").owned_by(&first).owned_by(&second).create();
        let held = trial.config_map("held").owned_by(&second).create();
        cluster.delete(&cluster.path_of(&gone), Some("Background"), None);
        let lost = if collected { None } else { Some(trial.config_map("lost").owned_by(&gone).create()) };
        if collected {
            cluster.settled();
        }
        let proxy = CountingProxy::start(cluster);
        let widgets = format!("/apis/gc.test/v1/namespaces/{}/widgets", trial.namespace);
        proxy.with(move |request| {
            let is_list = request.query.contains("limit=") && !request.query.contains("watch=");
            let is_it = is_list && (request.path == widgets || request.path == "/apis/gc.test/v1/widgets");
            is_it.then(|| Fault::AsOf(version.clone()))
        });
        for command in STALE.into_iter().filter(|command| command.starts_with("delete") <= collected) {
            if command.starts_with("sweep --yes") && collected {
                continue;
            }
            let args: Vec<&str> = command.split(' ').chain(["-n", &trial.namespace]).collect();
            let ran = cluster.gc_with(proxy.kubeconfig(), &args);
            assert!(matches!(ran.code, Some(0 | 2)), "{command}: {ran:#?}");
            let document = ran.json();
            for outcome in document["outcomes"].as_array().into_iter().flatten() {
                let stays = ["shared", "held", "second"].iter().any(|name| outcome["object"]["name"] == *name);
                assert!(!stays || outcome["outcome"] != "Deleted", "{command}: {outcome} {ran:#?}");
            }
            for finding in document["findings"].as_array().into_iter().flatten() {
                let subjects = finding["subjects"].as_array().into_iter().flatten();
                let own = subjects.filter(|subject| subject["namespace"] == trial.namespace.as_str());
                let wrong = own.filter(|subject| subject["name"] == "shared" || subject["name"] == "held").count();
                assert_eq!(wrong, 0, "{command}: {finding}");
            }
            for object in [&second, &both, &held] {
                let now = cluster.get(&cluster.path_of(object)).map(|now| uid(&now).to_owned());
                assert_eq!(now.as_deref(), Some(uid(object)), "{command}: {ran:#?}");
            }
            assert!(!ran.stderr.contains("not found") && !ran.stdout.contains("does not exist"), "{command}: {ran:#?}");
            assert!(!ran.stdout.contains("it is missing"), "{command}: {ran:#?}");
        }
        if let Some(lost) = lost {
            // The list says that its owner is there; the watch that begins at the list's version knows better, once it
            // has begun.
            cluster.wait_until("a pass to learn that the owner is gone", PATIENCE, || {
                cluster.gc_with(proxy.kubeconfig(), &["sweep", "--yes", "-n", &trial.namespace]).expect(0);
                cluster.get(&cluster.path_of(&lost)).is_none()
            });
        } else {
            assert_eq!(cluster.get(&cluster.path_of(&below)), None);
        }
    }
}
