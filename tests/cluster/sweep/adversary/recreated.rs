//! R2.11: an owner is deleted and created again under its name while no watch shows that.

use std::time::Duration;

use serde_json::Value;

use super::cluster;
use crate::{
    harness::{COLLECTOR, CountingProxy, Fault, Options, Request, uid},
    plan::trial::Trial,
    sweep::seat::{Seat, Seated},
};

/// How long to wait for the owners to be listed again: the collector or sweep waits longer after each failure.
const LISTED: Duration = Duration::from_mins(2);

fn reads_owners(request: &Request) -> bool {
    request.method == "GET" && request.path == "/apis/gc.test/v1/widgets"
}

/// Makes watches of owners fail, so that they are listed again and again. The collector lists again after a 403, but
/// repeats a watch that has expired; a sweep lists again after a 410, and polls slowly after a 403.
fn without_watch(seat: Seat) -> impl Fn(&Request) -> Option<Fault> + Send + Sync + 'static {
    let (status, reason) = if seat == Seat::Collector { (403, "Forbidden") } else { (410, "Expired") };
    move |request| {
        let watches = reads_owners(request) && request.query.contains("watch=");
        watches.then(|| Fault::status(status, reason))
    }
}

/// Makes all reads of owners fail.
fn blind(request: &Request) -> Option<Fault> {
    reads_owners(request).then(|| Fault::status(503, "ServiceUnavailable"))
}

/// Waits until the owners are listed twice: the first list may have begun earlier.
fn is_listed_again(seated: &Seated<'_>, proxy: &CountingProxy) {
    proxy.forget();
    let whole = |request: &&Request| reads_owners(request) && request.status == Some(200) && request.finished;
    seated.cluster.wait_until("the owners to be listed", LISTED, || proxy.requests().iter().filter(whole).count() >= 2);
}

/// Replaces an owner, and returns the old owner and its dependent. The collector or sweep has listed both owners, but
/// has seen no deletion.
fn replace_an_owner(seat: Seat, seated: &Seated<'_>, proxy: &CountingProxy) -> (Value, Value) {
    let trial = Trial::on(seated.cluster, "recreated", "Background");
    let old = trial.widget("owner").create();
    let dependent = trial.config_map("dependent").owned_by(&old).create();
    is_listed_again(seated, proxy);
    seated.catches_up(&trial, &[("v1", "ConfigMap")]);
    proxy.with(blind);
    // Lists come one after the other: none is under way any more.
    proxy.forget();
    seated.cluster.wait_until("a list to fail", LISTED, || {
        proxy.requests().iter().any(|request| reads_owners(request) && request.status == Some(503))
    });
    seated.delete(&old, "Background");
    let new = trial.widget("owner").create();
    assert_ne!(uid(&old), uid(&new));
    proxy.with(without_watch(seat));
    is_listed_again(seated, proxy);
    (old, dependent)
}

#[test]
#[ignore = "long: waits for silence after each race"]
fn a_sweep_misses_no_owner_that_was_replaced() {
    let (cluster, proxy) = cluster(&Options::default());
    proxy.with(without_watch(Seat::Sweep));
    let seated = Seat::Sweep.take(&cluster, proxy.kubeconfig());
    let (_, dependent) = replace_an_owner(Seat::Sweep, &seated, &proxy);
    seated.goes(&dependent);
    seated.leave();
}

/// The collector mistakes the new owner for an update of the old one.
#[test]
#[ignore = "long: waits for the collector's back-off"]
fn the_collector_misses_an_owner_that_was_replaced_until_it_restarts() {
    let (cluster, proxy) = cluster(&Options::default());
    proxy.with(without_watch(Seat::Collector));
    let seated = Seat::Collector.take_beside(&cluster, proxy.kubeconfig(), &[]);
    let (old, dependent) = replace_an_owner(Seat::Collector, &seated, &proxy);
    seated.settled();
    assert_eq!(uid(&seated.now(&dependent)), uid(&dependent));
    assert!(cluster.collector_graph(&[uid(&old)]).contains(uid(&old)), "the old owner is in the graph");
    cluster.stop_controllers();
    cluster.start_controllers(&[COLLECTOR]);
    seated.goes(&dependent);
}
