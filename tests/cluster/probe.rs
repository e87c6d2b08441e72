//! Probes whether a collector runs, with and without one.

use std::time::Duration;

use gc_cluster::act::{Probe, ProbeError, probe};
use serde_json::{Value, json};

use crate::{
    harness::{ADMIN, Alone, Cluster, NOBODY, Options, shared},
    plan::{draft::HOLD, trial::Trial},
    reading::connect,
    sweep::uncollected,
};

fn probe_as(user: &str, cluster: &Cluster, namespace: &str, patience: Duration) -> Result<Probe, ProbeError> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let connection = connect(cluster, user, &runtime);
    runtime.block_on(probe(&connection, namespace, patience))
}

/// The objects that probes have left in a namespace.
fn leftovers(cluster: &Cluster, namespace: &str) -> Vec<Value> {
    let label = "labelSelector=app.kubernetes.io/managed-by=kubectl-gc";
    cluster.list(&format!("/api/v1/namespaces/{namespace}/configmaps?{label}"))
}

/// R10.3.
#[test]
fn a_running_collector_is_seen() {
    let cluster = shared();
    let namespace = cluster.namespace("probed");
    let found = probe_as(ADMIN, cluster, &namespace, Duration::from_mins(1));
    assert!(matches!(found, Ok(Probe::Collected { .. })), "{found:?}");
    assert_eq!(leftovers(cluster, &namespace), [] as [Value; 0]);
}

#[test]
fn a_missing_collector_is_seen() {
    let cluster = uncollected();
    let namespace = cluster.namespace("probed");
    let patience = Duration::from_secs(2);
    let found = probe_as(ADMIN, cluster, &namespace, patience);
    assert!(matches!(&found, Ok(Probe::NotCollected { waited, .. }) if *waited >= patience), "{found:?}");
    assert_eq!(leftovers(cluster, &namespace), [] as [Value; 0]);
}

/// R1.10.
#[test]
#[ignore = "long: a cluster of its own"]
fn an_api_server_without_garbage_collection_is_told_apart() {
    let cluster = Alone::start(&Options {
        api_server: vec!["--enable-garbage-collector=false".to_owned()],
        ..Options::default()
    });
    assert_eq!(probe_as(ADMIN, &cluster, "default", Duration::from_secs(2)), Err(ProbeError::NotHeld));
    assert_eq!(leftovers(&cluster, "default"), [] as [Value; 0]);
}

/// The error of a probe that can't start; panics if it left objects.
#[track_caller]
fn refused(user: &str, cluster: &Cluster, namespace: &str) -> String {
    let error = probe_as(user, cluster, namespace, Duration::from_secs(2)).expect_err("it is refused");
    assert!(matches!(error, ProbeError::Refused { .. }), "{error:?}");
    assert_eq!(leftovers(cluster, namespace), [] as [Value; 0]);
    error.to_string()
}

#[test]
fn what_keeps_a_probe_from_beginning_is_said() {
    let trial = Trial::new("unprobed", "Background");
    let cluster = trial.cluster;
    let forbidden = refused(NOBODY, cluster, &trial.namespace);
    assert!(
        forbidden.contains("cannot create resource \"configmaps\"") && forbidden.contains("you may create"),
        "{forbidden}"
    );

    let missing = refused(ADMIN, cluster, "no-such-namespace");
    assert!(
        missing.contains("namespaces \"no-such-namespace\" not found") && missing.contains("that is not being deleted"),
        "{missing}"
    );

    let full = trial.another_namespace();
    let quota = json!({"count/configmaps": "0"});
    let object = cluster.create(object!("v1 ResourceQuota", {
        "name": "few", "namespace": full,
        "spec": {"hard": quota},
    }));
    // As the quota controller would do it.
    let status = format!("{}/status", cluster.path_of(&object));
    cluster.patch(&status, &json!({"status": {"hard": quota, "used": quota}}));
    let exceeded = refused(ADMIN, cluster, &full);
    assert!(exceeded.contains("exceeded quota: few") && exceeded.contains("room in its quota"), "{exceeded}");

    trial.config_map("held").finalizer(HOLD).create();
    cluster.delete(&format!("/api/v1/namespaces/{}", trial.namespace), None, None);
    let terminating = refused(ADMIN, cluster, &trial.namespace);
    assert!(
        terminating.contains("because it is being terminated") && terminating.contains("that is not being deleted"),
        "{terminating}"
    );
}
