//! How many connections there are, of which protocol, and what happens when the server or the network ends them.

mod pipe;

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use self::pipe::Pipe;
use crate::{
    harness::{Alone, Cluster, KINDS, Options, PATIENCE},
    plan::trial::Trial,
    sweep::seat::SweepSettings,
};

/// A cluster of these tests, without a collector, one after the other: their sweeps collect whatever they find.
fn alone() -> MutexGuard<'static, Alone> {
    static CLUSTER: LazyLock<Mutex<Alone>> = LazyLock::new(|| Mutex::new(with_flags(&[])));
    CLUSTER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A cluster without a collector, whose API server has these flags.
fn with_flags(flags: &[&str]) -> Alone {
    let api_server = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let cluster = Alone::start(&Options { api_server, ..Options::default() });
    cluster.apply_yaml(KINDS);
    cluster
}

/// How many resources a sweep watches.
fn watched(sweeping: &SweepSettings) -> usize {
    let answer = sweeping.metrics().get("/metrics").expect("metrics");
    let line = answer.text().lines().find_map(|line| {
        line.strip_prefix("kubectl_gc_sweep_resources")
            .filter(|rest| rest.contains("synced=\"true\""))
            .map(str::to_owned)
    });
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).expect("the number of resources")
}

/// An object that a sweep must collect goes.
#[track_caller]
fn works(cluster: &Cluster, trial: &Trial<'_>, name: &str) {
    let gone = trial.gone(&format!("owner-of-{name}"));
    let object = trial.config_map(name).owned_by(&gone).create();
    let path = cluster.path_of(&object);
    cluster.wait_until(&format!("{path} to go"), PATIENCE, || cluster.get(&path).is_none());
}

/// kubectl habit: HTTP/2: all requests and watches share a connection | same
#[test]
fn all_watches_share_a_connection() {
    let cluster = &*alone();
    let trial = Trial::on(cluster, "one-connection", "Background");
    let folder = tempfile::tempdir().expect("a folder");
    let (pipe, kubeconfig) = Pipe::to_api_server(cluster, folder.path());
    let sweeping = SweepSettings::start(cluster, &kubeconfig);
    assert_eq!(sweeping.wait_for_sync(), "synced");
    works(cluster, &trial, "lost");
    assert!(watched(&sweeping) > 40, "{} resources", watched(&sweeping));
    assert_eq!(pipe.opened(), 1, "connections for {} watches", watched(&sweeping));
    sweeping.terminate();
    cluster.wait_until("the connection to be closed", PATIENCE, || pipe.open() == 0);
}

/// kubectl habit: `DISABLE_HTTP2` in the environment | same: HTTP/1.1, a connection for each watch
#[test]
#[ignore = "long: slow"]
fn without_http2_each_watch_has_its_connection() {
    let cluster = &*alone();
    let trial = Trial::on(cluster, "many-connections", "Background");
    let folder = tempfile::tempdir().expect("a folder");
    let (pipe, kubeconfig) = Pipe::to_api_server(cluster, folder.path());
    let sweeping = SweepSettings::start_in(cluster, &kubeconfig, &[("DISABLE_HTTP2", "1")]);
    assert_eq!(sweeping.wait_for_sync(), "synced");
    works(cluster, &trial, "lost");
    // One that is lost is opened again.
    cluster.wait_until("a connection for each watch", PATIENCE, || pipe.open() >= watched(&sweeping));
    sweeping.terminate();
}

/// A server that takes ten requests on a connection gets as many connections as there must be, and few more.
/// kubectl habit: more requests at once than the server takes on a connection | same: more connections
#[test]
#[ignore = "long: a server with few streams"]
fn what_does_not_fit_on_a_connection_gets_another() {
    let cluster = with_flags(&["--http2-max-streams-per-connection=10"]);
    let trial = Trial::on(&cluster, "narrow", "Background");
    let folder = tempfile::tempdir().expect("a folder");
    let (pipe, kubeconfig) = Pipe::to_api_server(&cluster, folder.path());
    let sweeping = SweepSettings::start(&cluster, &kubeconfig);
    assert_eq!(sweeping.wait_for_sync(), "synced");
    works(&cluster, &trial, "lost");
    let (opened, watched) = (pipe.opened(), watched(&sweeping));
    assert!(opened >= watched.div_ceil(10), "{opened} connections for {watched} watches");
    assert!(opened <= 2 * watched.div_ceil(10) + 4, "{opened} connections for {watched} watches");
    sweeping.terminate();
}

/// Nothing tells that a connection is dead, only the missing answer to a ping. A silent watch is given up only after
/// minutes.
/// kubectl habit: `HTTP2_READ_IDLE_TIMEOUT_SECONDS`, `HTTP2_PING_TIMEOUT_SECONDS` in the environment | same
#[test]
fn a_dead_connection_is_noticed() {
    let cluster = &*alone();
    let trial = Trial::on(cluster, "dead-connection", "Background");
    let folder = tempfile::tempdir().expect("a folder");
    let (pipe, kubeconfig) = Pipe::to_api_server(cluster, folder.path());
    let variables = [("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1"), ("HTTP2_PING_TIMEOUT_SECONDS", "1")];
    let sweeping = SweepSettings::start_in(cluster, &kubeconfig, &variables);
    assert_eq!(sweeping.wait_for_sync(), "synced");
    pipe.let_all_die();
    works(cluster, &trial, "lost");
    assert!(pipe.opened() > 1, "the sweep went on without a connection");
    sweeping.terminate();
}

/// An API server with `--goaway-chance` closes connections on which requests are under way. No command fails, and
/// nothing is done twice.
/// kubectl habit: a server that closes connections (GOAWAY) | same: what it has not processed is sent again
#[test]
fn a_server_that_closes_connections_fails_no_request() {
    let cluster = with_flags(&["--goaway-chance=0.02"]);
    let trial = Trial::on(&cluster, "goaway", "Background");
    let folder = tempfile::tempdir().expect("a folder");
    let (pipe, kubeconfig) = Pipe::to_api_server(&cluster, folder.path());
    let commands = 12;
    for number in 0..commands {
        trial.config_map(&format!("map-{number}")).create();
        let target = format!("configmap/map-{number}");
        let ran = cluster.gc_with(&kubeconfig, &["delete", &target, "--yes", "-n", &trial.namespace, "-o", "json"]);
        ran.expect(0);
        assert!(ran.json()["gaps"].as_array().is_none_or(Vec::is_empty), "{}", ran.json()["gaps"]);
    }
    assert!(pipe.opened() > commands, "no connection was closed: {} for {commands} commands", pipe.opened());
    let sweeping = SweepSettings::start(&cluster, &kubeconfig);
    assert_eq!(sweeping.wait_for_sync(), "synced");
    for number in 0..10 {
        works(&cluster, &trial, &format!("lost-{number}"));
    }
    sweeping.terminate();
}
