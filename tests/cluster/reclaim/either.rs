//! A Job that two controllers delete: what comes of it depends on who is first.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    bench::now,
    expect::text,
    make::{FOREIGN, controlled_by, template, time},
};
use crate::harness::{Alone, COLLECTOR, Cluster, Options};

const HISTORY: &str = "cronjob-controller";
const TIMER: &str = "ttl-after-finished-controller";
/// For a controller's start. Generous, so that no test fails because the machine is busy.
const START: Duration = Duration::from_mins(2);

/// A CronJob that keeps one complete Job and none that has failed. Of its two complete Jobs, whose time has passed,
/// the first has a Pod that a finalizer holds; a third Job has failed.
fn build(cluster: &Cluster, namespace: &str) {
    cluster.create(object!("v1 Namespace", {"name": namespace}));
    let labels = json!({"app": "run"});
    let mut run = template(&labels, 1);
    run["spec"]["restartPolicy"] = json!("Never");
    let cron_job = cluster.create(object!("batch/v1 CronJob", {"name": "cron", "namespace": namespace,
        "spec": {"schedule": "0 0 1 1 *", "suspend": true, "successfulJobsHistoryLimit": 1, "failedJobsHistoryLimit": 0,
            "jobTemplate": {"spec": {"template": run}}}}));
    let job = |name: &str, how: [&str; 2], more: Value| {
        let condition = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": time(now() - 100)});
        let mut spec = json!({"selector": {"matchLabels": labels}, "template": run, "manualSelector": true});
        spec.as_object_mut().expect("a spec").extend(more.as_object().cloned().unwrap_or_default());
        cluster.store(&object!("batch/v1 Job", {"name": name, "namespace": namespace,
            "ownerReferences": controlled_by(&cron_job), "spec": spec,
            "status": {"startTime": time(now() - 300), "conditions": how.map(condition)}}))
    };
    let expired = json!({"ttlSecondsAfterFinished": 10});
    let complete = ["SuccessCriteriaMet", "Complete"];
    let first = job("a", complete, expired.clone());
    job("b", complete, expired);
    job("failed", ["FailureTarget", "Failed"], json!({}));
    cluster.store(
        &object!("v1 Pod", {"name": "held", "namespace": namespace, "labels": labels, "finalizers": [FOREIGN],
        "ownerReferences": controlled_by(&first),
        "spec": {"containers": [{"name": "app", "image": "registry.example.com/app"}]},
        "status": {"phase": "Succeeded"}}),
    );
}

/// The predicted end of the first Job, and whether it is certain to be deleted.
fn told(cluster: &Cluster, namespace: &str) -> (String, bool) {
    let document = cluster.gc(&["reclaim", "-n", namespace, "-o", "json"]).ended(0);
    let document = document.json();
    let mut removals = document["removals"].as_array().into_iter().flatten();
    let removal = removals.find(|removal| removal["object"]["name"] == "a").unwrap_or_else(|| panic!("{document}"));
    (text(&removal["end"]).to_owned(), removal["certain"] == true)
}

/// R12.1, R12.2: the timer deletes in the foreground, and the Pod holds the Job. If the timer has removed the other Job
/// before the CronJob's controller looks, the first is not too many, and stays Terminating; else it goes at once.
#[test]
#[ignore = "long: the controllers start one after the other; tests/engine/reclaim.rs has the prediction"]
fn a_job_that_two_controllers_delete_goes_or_stays_terminating() {
    let cluster = Alone::start(&Options::default());
    let path = |namespace: &str, name: &str| format!("/apis/batch/v1/namespaces/{namespace}/jobs/{name}");
    let is_gone = |namespace: &str, name: &str| cluster.get(&path(namespace, name)).is_none();

    build(&cluster, "timer");
    assert_eq!(told(&cluster, "timer"), ("Either".to_owned(), true));
    cluster.start_controllers(&[TIMER, COLLECTOR]);
    let is_terminating =
        || cluster.get(&path("timer", "a")).is_some_and(|job| job["metadata"]["deletionTimestamp"].is_string());
    cluster.wait_until("the timer", START, || is_gone("timer", "b") && is_terminating());
    cluster.stop_controllers();
    cluster.start_controllers(&[HISTORY]);
    // One look removes first what is complete, and then what has failed.
    cluster.wait_until("the CronJob's controller", START, || is_gone("timer", "failed"));
    assert!(is_terminating());
    cluster.stop_controllers();

    build(&cluster, "history");
    assert_eq!(told(&cluster, "history"), ("Either".to_owned(), true));
    cluster.start_controllers(&[HISTORY]);
    cluster.wait_until("the CronJob's controller", START, || is_gone("history", "failed"));
    assert_eq!((is_gone("history", "a"), is_gone("history", "b")), (true, false));
}
