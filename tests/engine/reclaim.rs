//! What goes, and when, of small clusters. `tests/cluster/reclaim` compares with the real controllers.

use std::io::Write as _;

use gc_cluster::dump::{self, ReadOptions};
use gc_core::{
    model::{ObjectId, Snapshot},
    reclaim::{End, Forecast, Settings, When, forecast},
};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

const NOW: i64 = 1_800_000_000;
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

fn time(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).unwrap().to_string()
}

fn snapshot(objects: &[Value]) -> Snapshot {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(list.to_string().as_bytes()).unwrap();
    let options = ReadOptions {
        max_input: dump::MAX_INPUT,
        fetch: |_| unreachable!("a file, no URL"),
        examples: &[],
        assume_complete: true,
        for_reclaim: true,
    };
    dump::read_with(&[file.path().display().to_string()], options).unwrap()
}

fn object(api_version: &str, kind: &str, name: &str, more: &Value) -> Value {
    let mut object = json!({"apiVersion": api_version, "kind": kind,
        "metadata": {"name": name, "namespace": "shop", "uid": format!("u-{name}"), "creationTimestamp": time(NOW)}});
    merge(&mut object, more);
    object
}

fn merge(value: &mut Value, more: &Value) {
    match (value, more) {
        (Value::Object(map), Value::Object(more)) => {
            more.iter().for_each(|(key, more)| merge(map.entry(key.clone()).or_insert(Value::Null), more));
        }
        (value, more) => *value = more.clone(),
    }
}

fn cluster_scoped(mut object: Value) -> Value {
    object["metadata"].as_object_mut().unwrap().remove("namespace");
    object
}

fn of(snapshot: &Snapshot, settings: &Settings) -> Forecast {
    forecast(snapshot, settings, NOW)
}

/// `NAME WHEN`, where times are relative; with `?` if it isn't certain.
fn going(objects: &[Value], settings: &Settings) -> Vec<String> {
    let snapshot = snapshot(objects);
    let forecast = of(&snapshot, settings);
    let told = forecast.removals.iter().map(|removal| {
        let when = match &removal.reason().when {
            When::Now => "now".to_owned(),
            When::At { time } => format!("at {:+}", time - NOW),
            When::Pass { from, until, .. } => format!("{:+} to {:+}", from - NOW, until - NOW),
            When::Once { event, .. } => format!("once {event}"),
        };
        let doubt = if removal.doubt().is_some() { "?" } else { "" };
        format!("{} {when}{doubt}", snapshot.text(snapshot.object(removal.object).name))
    });
    told.collect()
}

fn staying(objects: &[Value]) -> Vec<String> {
    let snapshot = snapshot(objects);
    let name = |id| snapshot.text(snapshot.object(id).name);
    of(&snapshot, &Settings::default())
        .stays
        .iter()
        .map(|stays| format!("{} {}", name(stays.object), stays.why))
        .collect()
}

fn job(name: &str, ended: i64, more: &Value) -> Value {
    let mut job = object(
        "batch/v1",
        "Job",
        name,
        &json!({"spec": {}, "status": {
        "startTime": time(ended - 10),
        "conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": time(ended)}]}}),
    );
    merge(&mut job, more);
    job
}

fn by(kind: &str, api_version: &str, name: &str) -> Value {
    json!({"metadata": {"ownerReferences": [{"apiVersion": api_version, "kind": kind, "name": name,
        "uid": format!("u-{name}"), "controller": true}]}})
}

/// R12.1
#[test]
fn finished_jobs_go_after_their_time() {
    let ttl = |seconds: i64| json!({"spec": {"ttlSecondsAfterFinished": seconds}});
    let running = object("batch/v1", "Job", "running", &ttl(0));
    let jobs =
        [job("past", NOW - 100, &ttl(10)), job("soon", NOW - 100, &ttl(160)), job("kept", NOW, &json!({})), running];
    assert_eq!(going(&jobs, &Settings::default()), ["past at -90", "soon at +60"]);
    assert_eq!(staying(&jobs), ["kept complete, without ttlSecondsAfterFinished: nothing removes it"]);
}

/// R12.2: another controller may remove one of those that are too many.
#[test]
fn of_two_controllers_either_may_be_first() {
    let cron_job = object("batch/v1", "CronJob", "cron", &json!({"spec": {"successfulJobsHistoryLimit": 1}}));
    let run = |name: &str, ended: i64, more: &Value| {
        let mut job = job(name, ended, &by("CronJob", "batch/v1", "cron"));
        merge(&mut job, more);
        job
    };
    let none = json!({});
    let three = [cron_job.clone(), run("a", NOW - 300, &none), run("b", NOW - 200, &none), run("c", NOW - 100, &none)];
    let next = "c once another run of CronJob/cron is complete";
    assert_eq!(going(&three, &Settings::default()), ["a now", "b now", next]);
    let expired = run("c", NOW - 100, &json!({"spec": {"ttlSecondsAfterFinished": 10}}));
    let three = [cron_job.clone(), run("a", NOW - 300, &none), run("b", NOW - 200, &none), expired.clone()];
    assert_eq!(going(&three, &Settings::default()), ["a now", "b now?", "c at -90"]);
    // If c goes first, a is not too many: its time deletes it in the foreground, and its Pod holds it.
    let held = run("a", NOW - 300, &json!({"spec": {"ttlSecondsAfterFinished": 10}}));
    let mut pod = object("v1", "Pod", "pod", &by("Job", "batch/v1", "a"));
    pod["metadata"]["finalizers"] = json!(["example.com/keep"]);
    let end = |objects: &[Value]| {
        let snapshot = snapshot(objects);
        let forecast = of(&snapshot, &Settings::default());
        assert!(forecast.removals.iter().all(|removal| removal.doubt().is_none()));
        let is_it = |id| snapshot.text(snapshot.object(id).name) == "a";
        forecast.removals.iter().find(|removal| is_it(removal.object)).map(|removal| removal.end)
    };
    let lasting = run("c", NOW - 100, &none);
    assert_eq!(end(&[cron_job.clone(), held.clone(), pod.clone(), lasting]), Some(End::Gone));
    assert_eq!(end(&[cron_job, held, pod, expired]), Some(End::Either));
}

/// R12.6
#[test]
fn pods_that_have_ended_go_above_a_threshold() {
    let pod = |name: &str, age: i64, phase: &str, reason: &str| {
        object(
            "v1",
            "Pod",
            name,
            &json!({"metadata": {"creationTimestamp": time(NOW - age)}, "spec": {},
            "status": {"phase": phase, "reason": reason}}),
        )
    };
    let pods = [
        pod("young", 10, "Succeeded", ""),
        pod("old", 1_000, "Failed", ""),
        pod("evicted", 100, "Failed", "Evicted"),
        pod("running", 9_000, "Running", ""),
    ];
    let settings = |threshold| Settings { terminated_pod_gc_threshold: Some(threshold), ..Settings::default() };
    assert_eq!(going(&pods, &settings(3)), [""; 0]);
    assert_eq!(going(&pods, &settings(2)), ["evicted +0 to +20"]);
    assert_eq!(going(&pods, &settings(1)), ["evicted +0 to +20", "old +0 to +20"]);
    assert_eq!(going(&pods, &settings(0)), [""; 0], "turned off");
}

/// R12.6: whether a Job that stays Terminating takes its Pod isn't certain, and so is whether one is too many then.
#[test]
fn a_pod_whose_job_is_held_is_not_certain_to_be_too_many() {
    let pod = |name: &str, age: i64| {
        let metadata = json!({"creationTimestamp": time(NOW - age)});
        object("v1", "Pod", name, &json!({"metadata": metadata, "spec": {}, "status": {"phase": "Succeeded"}}))
    };
    let mut taken = pod("taken", 1_000);
    merge(&mut taken, &by("Job", "batch/v1", "run"));
    let settings = Settings { terminated_pod_gc_threshold: Some(1), ..Settings::default() };
    let told = |more: &Value| {
        let mut run = job("run", NOW - 100, &json!({"spec": {"ttlSecondsAfterFinished": 10}}));
        merge(&mut run, more);
        going(&[run, taken.clone(), pod("other", 10)], &settings)
    };
    assert_eq!(told(&json!({})), ["run at -90", "taken +0 to +20"]);
    let held = json!({"metadata": {"finalizers": ["example.com/keep"]}});
    assert_eq!(told(&held), ["run at -90", "taken +0 to +20?"]);
}

/// R12.13
#[test]
fn certificate_requests_go_by_what_became_of_them() {
    let request = |name: &str, conditions: Value, certificate: &str| {
        cluster_scoped(object(
            "certificates.k8s.io/v1",
            "CertificateSigningRequest",
            name,
            &json!({"spec": {}, "status": {"conditions": conditions, "certificate": certificate}}),
        ))
    };
    let since = |kind: &str, age: i64| json!({"type": kind, "lastUpdateTime": time(NOW - age)});
    let requests = [
        request("pending", json!([]), ""),
        request("denied", json!([since("Denied", 2 * HOUR)]), ""),
        request("approved", json!([since("Approved", HOUR - 10)]), ""),
        request("issued", json!([since("Approved", HOUR - 10)]), "bm9uZQ=="),
        request("both", json!([since("Approved", 60), since("Failed", 30 * 60)]), ""),
    ];
    let expected = [
        "denied +0 to +3600",
        "issued +11 to +3611",
        "both +1801 to +5401",
        "approved +82811 to +86411",
        "pending +86401 to +90001",
    ];
    assert_eq!(going(&requests, &Settings::default()), expected);
}

/// R12.15: days count, not hours.
#[test]
fn tokens_of_accounts_go_by_days() {
    let midnight = NOW - NOW.rem_euclid(DAY);
    let date = |days: i64| time(midnight - days * DAY)[..10].to_owned();
    let account = object("v1", "ServiceAccount", "robot", &json!({"secrets": [{"name": "t"}]}));
    let tracking = |days: i64| {
        object(
            "v1",
            "ConfigMap",
            "kube-apiserver-legacy-service-account-token-tracking",
            &json!({"metadata": {"namespace": "kube-system"}, "data": {"since": date(days)}}),
        )
    };
    let token = |labels: Value| {
        object(
            "v1",
            "Secret",
            "t",
            &json!({"type": "kubernetes.io/service-account-token",
            "metadata": {"labels": labels, "creationTimestamp": time(NOW - 100 * DAY),
                "annotations": {"kubernetes.io/service-account.name": "robot"}}}),
        )
    };
    let settings = Settings { legacy_token_clean_up_period: Some(3 * DAY), ..Settings::default() };
    let (used, invalid) = ("kubernetes.io/legacy-token-last-used", "kubernetes.io/legacy-token-invalid-since");
    let into_day = NOW - midnight;
    for (tracked, labels, expected) in [
        // Marked four days ago, which is one day more than the period.
        (90, json!({invalid: date(4)}), Some(0)),
        (90, json!({invalid: date(3)}), Some(DAY - into_day)),
        // It is marked today.
        (90, json!({}), Some(4 * DAY - into_day)),
        (90, json!({used: date(2), invalid: date(9)}), Some(2 * DAY - into_day)),
        (1, json!({invalid: date(9)}), Some(3 * DAY - into_day)),
        (90, json!({used: "yesterday"}), None),
    ] {
        let found = going(&[account.clone(), tracking(tracked), token(labels.clone())], &settings);
        let expected: Vec<String> =
            expected.into_iter().map(|from| format!("t {from:+} to {:+}", from + DAY)).collect();
        assert_eq!(found, expected, "{labels}");
    }
    assert_eq!(going(&[account, token(json!({invalid: date(9)}))], &settings), [""; 0], "since when is unknown");
}

/// R12.3: one that has pods is passed over.
#[test]
fn old_replica_sets_go_beyond_the_limit() {
    let template = |version: i64| json!({"metadata": {"labels": {"app": "web"}}, "spec": {"version": version}});
    let deployment = |more: &Value| {
        let mut deployment = object(
            "apps/v1",
            "Deployment",
            "web",
            &json!({
            "spec": {"replicas": 0, "revisionHistoryLimit": 1, "selector": {"matchLabels": {"app": "web"}},
                "template": template(9)}, "status": {}}),
        );
        merge(&mut deployment, more);
        deployment
    };
    let set = |name: &str, version: i64, replicas: i64| {
        let mut set = object("apps/v1", "ReplicaSet", name, &by("Deployment", "apps/v1", "web"));
        merge(
            &mut set,
            &json!({"metadata": {"labels": {"app": "web", "pod-template-hash": name},
                "annotations": {"deployment.kubernetes.io/revision": version.to_string()}},
            "spec": {"replicas": replicas, "template": template(version)}, "status": {"replicas": replicas}}),
        );
        merge(&mut set, &json!({"spec": {"template": {"metadata": {"labels": {"pod-template-hash": name}}}}}));
        set
    };
    let all = [set("three", 3, 0), set("one", 1, 0), set("two", 2, 0), set("new", 9, 0)];
    let with = |deployment: Value| [all.as_slice(), &[deployment]].concat();
    let none = json!({});
    assert_eq!(going(&with(deployment(&none)), &Settings::default()), ["one now", "two now"]);
    let rolling = deployment(&json!({"spec": {"replicas": 1}}));
    let once = "once the rollout of Deployment/web is complete";
    assert_eq!(going(&with(rolling), &Settings::default()), [format!("one {once}"), format!("two {once}")]);
    let paused = deployment(&json!({"spec": {"replicas": 1, "paused": true}}));
    assert_eq!(going(&with(paused), &Settings::default()), ["one now", "two now"]);
    let full = [set("three", 3, 0), set("one", 1, 1), set("two", 2, 0), set("new", 9, 0), deployment(&none)];
    assert_eq!(going(&full, &Settings::default()), ["two now"], "no other goes in its place");
}

/// What a finalizer of somebody else holds doesn't go, and keeps its dependents; in the foreground, its owner waits.
#[test]
fn finalizers_hold_what_goes() {
    let ttl = json!({"spec": {"ttlSecondsAfterFinished": 0}});
    let held = json!({"metadata": {"finalizers": ["example.com/keep"]}});
    let pod = |name: &str, finalizer: bool| {
        let mut pod = object("v1", "Pod", name, &by("Job", "batch/v1", "report"));
        merge(&mut pod, &json!({"spec": {}, "status": {"phase": "Running"}}));
        if finalizer {
            merge(&mut pod, &held);
        }
        pod
    };
    let snapshot = snapshot(&[job("report", NOW, &ttl), pod("free", false), pod("held", true)]);
    let forecast = of(&snapshot, &Settings::default());
    let [removal] = forecast.removals.as_slice() else { panic!("{forecast:?}") };
    let names = |ids: &[ObjectId]| -> Vec<String> { ids.iter().map(|id| snapshot.short_name(*id)).collect() };
    assert_eq!(names(&removal.takes), ["Pod/free", "Pod/held"]);
    assert_eq!(names(&removal.held_dependents), ["Pod/held"]);
    assert_eq!(removal.end, End::Terminating);
    assert_eq!(removal.frees.objects, 1);
}

/// A dump of metadata alone says nothing of the rest, and that is said.
#[test]
fn what_only_metadata_is_known_of_is_a_gap() {
    let bare = object("batch/v1", "Job", "bare", &json!({}));
    let forecast = of(&snapshot(&[bare]), &Settings::default());
    assert!(forecast.removals.is_empty() && forecast.stays.is_empty());
    let gaps: Vec<String> = forecast.gaps.iter().map(ToString::to_string).collect();
    assert_eq!(gaps, ["jobs.batch (only metadata is known of 1 object)"]);
}
