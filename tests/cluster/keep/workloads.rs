//! Plan, cut, delete, release: with each policy, everything must end as planned.

use gc_core::server::Propagation;
use serde_json::{Value, json};

use super::{Keeper, deployment, gone, keep_and_delete, now};
use crate::{
    bench::number,
    harness::uid,
    plan::{
        trial::{POLICIES, Trial, all_come_true_by, predict, wait_for_items},
        workloads::{cron_job, job, stateful_set},
    },
};

/// Builds the same objects for each policy; `build` returns the targets and what to keep.
#[track_caller]
fn kept_three_ways(prefix: &str, policies: &[&'static str], build: impl Fn(&Trial<'_>) -> (Vec<String>, String)) {
    let cases = policies.iter().map(|policy| {
        let trial = Trial::new(prefix, policy);
        let (targets, keep) = build(&trial);
        let mut case = trial.deleting(targets);
        case.flags = vec![format!("--keep={keep}").leak()];
        case
    });
    all_come_true_by(&predict(cases.collect()), keep_and_delete);
}

#[test]
fn a_replica_set_of_a_deployment() {
    kept_three_ways("keep-rs", &POLICIES[..2], |trial| {
        deployment(trial);
        (vec!["deployment/web".to_owned()], "rs".to_owned())
    });
}

#[test]
fn one_pod_of_a_deployment() {
    kept_three_ways("keep-pod", &POLICIES[..2], |trial| {
        let (_, _, pods) = deployment(trial);
        let name = pods[0]["metadata"]["name"].as_str().unwrap_or_default();
        (vec!["deployment/web".to_owned()], format!("pod/{name}"))
    });
}

#[test]
fn one_pod_of_a_replica_set_that_is_deleted_itself() {
    kept_three_ways("keep-rs-pod", &POLICIES[..2], |trial| {
        let labels = json!({"app": "db"});
        trial.cluster.create(object!("apps/v1 ReplicaSet", {
            "name": "db", "namespace": trial.namespace,
            "spec": {
                "replicas": 3,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main",
                    "image": "main"}]}},
            },
        }));
        let pods = wait_for_items(trial.cluster, &format!("/api/v1/namespaces/{}/pods", trial.namespace), 3);
        let name = pods[0]["metadata"]["name"].as_str().unwrap_or_default();
        (vec!["replicaset/db".to_owned()], format!("pod/{name}"))
    });
}

/// Claims go with their StatefulSet because its controller maintains their owner references; it adopts pods by name.
#[test]
fn a_claim_and_a_pod_of_a_stateful_set() {
    kept_three_ways("keep-sts", &POLICIES[..2], |trial| {
        let targets = stateful_set(trial);
        (targets, "pvc/data-db-0,pod/db-1".to_owned())
    });
}

/// The Job controller removes its finalizer from a pod that no longer belongs to it.
#[test]
#[ignore = "long: waits for the Job controller"]
fn a_job_of_a_cron_job_and_a_pod_of_a_job() {
    kept_three_ways("keep-job", &POLICIES[..2], |trial| {
        cron_job(trial);
        (vec!["cronjob/nightly".to_owned()], "job".to_owned())
    });
    kept_three_ways("keep-job-pod", &POLICIES[..2], |trial| {
        job(trial, None);
        let pods = wait_for_items(trial.cluster, &format!("/api/v1/namespaces/{}/pods", trial.namespace), 2);
        let name = pods[0]["metadata"]["name"].as_str().unwrap_or_default();
        (vec!["job/batch".to_owned()], format!("pod/{name}"))
    });
}

/// No controller adopts these. One of two owners stays; a chain in between is deleted.
#[test]
fn what_has_no_selector() {
    kept_three_ways("keep-widgets", &POLICIES[..2], |trial| {
        let root = trial.widget("root").create();
        let stays = trial.widget("stays").create();
        let middle = trial.widget("middle").blocking(&root).create();
        trial.config_map("leaf").blocking(&middle).create();
        trial.config_map("other").blocking(&middle).create();
        trial.config_map("both").blocking(&middle).blocking(&root).create();
        trial.config_map("safe").blocking(&root).blocking(&stays).create();
        (vec!["widget/root".to_owned()], "cm/leaf,cm/both".to_owned())
    });
}

/// A wrong delete can't be undone, and it is a race of milliseconds: repeat it `KEEP_TIMES` times, alternating between
/// the policies.
#[test]
#[ignore = "long: again and again"]
fn again_and_again_nothing_that_is_kept_goes() {
    for time in 0..number("KEEP_TIMES", 4) as usize {
        let policy = [Propagation::Background, Propagation::Foreground][time % 2];
        let trial = Trial::new("keep-again", policy.name());
        let (web, set, pods) = deployment(&trial);
        trial.cluster.settled();
        let mut keeper = Keeper::read(trial.cluster);
        let wanted = if time / 2 % 2 == 0 { &set } else { &pods[0] };
        let keeping = keeper.plan(&[keeper.id(uid(&web))], policy, &[keeper.id(uid(wanted))]);
        let detached = keeper.cut(&keeping);
        trial.cluster.delete(&trial.cluster.path_of(&web), Some(policy.name()), None);
        keeper.release(&keeping, &detached);
        gone(&trial, &web);
        trial.cluster.settled();
        let after = now(&trial, wanted).unwrap_or_else(|| panic!("{time}: {wanted} is kept, and gone"));
        let metadata = &after["metadata"];
        assert_eq!(
            (&metadata["deletionTimestamp"], &metadata["ownerReferences"]),
            (&Value::Null, &Value::Null),
            "{time}"
        );
        if wanted == &set {
            for pod in &pods {
                let pod = now(&trial, pod).unwrap_or_else(|| panic!("{time}: a pod of what is kept is gone"));
                assert!(pod["metadata"]["deletionTimestamp"].is_null(), "{time}");
            }
        } else {
            gone(&trial, &set);
            gone(&trial, &pods[1]);
        }
    }
}
