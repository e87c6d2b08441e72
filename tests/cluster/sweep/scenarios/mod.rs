//! Kubernetes' integration tests of its collector (`test/integration/garbagecollector`), played against the real
//! collector and against `sweep --watch`: each scenario must pass with both.

mod cascades;
mod custom;
mod foreground;
mod from_the_start;
pub mod kit;
mod stress;

use crate::{
    harness::{ADMIN, Alone, CountingProxy},
    side_by_side::play_all,
    sweep::seat::{Seat, Seated},
};

/// A scenario, in a namespace of its own.
type Scenario = fn(&Seated<'_>);

/// Scenarios that take a collector only seconds.
const QUICK: [(&str, Scenario); 9] = [
    ("cascades_through_controllers_and_pods", cascades::cascades_through_controllers_and_pods),
    ("owners_that_never_were", cascades::owners_that_never_were),
    ("orphans", cascades::orphans),
    ("workloads", cascades::workloads),
    ("a_solid_owner_does_not_block", foreground::a_solid_owner_does_not_block),
    ("references_that_do_not_block", foreground::references_that_do_not_block),
    ("references_that_block", foreground::references_that_block),
    ("deleted_twice_with_a_finalizer", foreground::deleted_twice_with_a_finalizer),
    ("custom_and_built_in_owners", custom::custom_and_built_in_owners),
];

/// A cluster without a collector yet.
fn cluster() -> Alone {
    Alone::with(&[])
}

fn play_quick(seated: &Seated<'_>) {
    let scenarios: Vec<_> = QUICK.iter().map(|(name, scenario)| (*name, move || scenario(seated))).collect();
    play_all(&scenarios);
}

/// Tests these tests: the real collector does what they ask of the sweep.
#[test]
fn the_collector_does_what_is_asked_of_a_sweep() {
    play_quick(&Seated::with_collector_of(&Alone::usual()));
}

#[test]
fn a_sweep_that_watches_collects_like_the_collector() {
    let cluster = cluster();
    let proxy = CountingProxy::start_as(&cluster, ADMIN);
    let seated = Seat::Sweep.take(&cluster, proxy.kubeconfig());
    play_quick(&seated);
    stress::many_at_once(&seated, &proxy);
    seated.leave();
}

/// Objects that exist before the collector starts, kinds that it sees late or never, kinds that are created and
/// deleted: this takes the real collector minutes.
#[test]
#[ignore = "long: is about the tests themselves, and waits for late watches"]
fn the_collector_does_from_the_start_what_is_asked_of_a_sweep() {
    let cluster = cluster();
    from_the_start::play(Seat::Collector, &cluster);
    let proxy = CountingProxy::start_as(&cluster, ADMIN);
    cluster.stop_controllers();
    let seated = Seat::Collector.take(&cluster, proxy.kubeconfig());
    stress::many_at_once(&seated, &proxy);
}

#[test]
#[ignore = "long: waits for late watches"]
fn a_sweep_that_watches_collects_like_the_collector_from_the_start() {
    from_the_start::play(Seat::Sweep, &cluster());
}
