//! One change, exactly between a read of the collector and the request that follows from it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::cluster;
use crate::{
    harness::{Cluster, CountingProxy, Fault, Options, owner_reference, uid},
    plan::trial::Trial,
    sweep::{
        scenarios::kit::{PATIENCE, owners},
        seat::{Seat, Seated},
    },
};

/// How long requests are delayed: long enough to make a change meanwhile.
const HELD_UP: Duration = Duration::from_secs(1);

/// How often somebody writes to an object just before its DELETE, causing a conflict each time.
const CONFLICTS: usize = 8;

/// How late the test may notice a request.
const NOTICED: Duration = Duration::from_millis(200);

/// Everything that the real collector and the sweep both handle; the last one only the sweep does.
fn changes_between_look_and_act(seat: Seat) {
    let (cluster, proxy) = cluster(&Options::default());
    let seated = seat.take(&cluster, proxy.kubeconfig());
    for kind in [("v1", "ConfigMap"), ("gc.test/v1", "Widget")] {
        an_owner_comes_before_the_delete(&seated, &proxy, kind);
        an_owner_comes_before_the_strip(&seated, &proxy, kind);
        an_owner_comes_before_the_orphaning(&seated, &proxy, kind);
        a_namesake_comes_before_the_delete(&seated, &proxy, kind);
        if seat == Seat::Sweep {
            an_owner_comes_after_conflicts(&seated, &proxy, kind);
        }
    }
    proxy.without();
    seated.leave();
}

#[test]
#[ignore = "long: waits a second before each answer"]
fn whatever_comes_between_the_look_and_the_act_of_a_sweep_counts() {
    changes_between_look_and_act(Seat::Sweep);
}

/// Tests this test: the real collector must pass it, too.
#[test]
#[ignore = "long: is about the tests themselves"]
fn whatever_comes_between_the_look_and_the_act_of_the_collector_counts() {
    changes_between_look_and_act(Seat::Collector);
}

/// Delays every request with this method and path. All others pass.
struct HoldUp<'p> {
    proxy: &'p CountingProxy,
    method: &'static str,
    path: String,
    times: usize,
}

impl<'p> HoldUp<'p> {
    fn of(proxy: &'p CountingProxy, method: &'static str, path: &str) -> Self {
        let held_up = path.to_owned();
        proxy.forget();
        proxy.with(move |request| {
            (request.method == method && request.path == held_up).then_some(Fault::Delay(HELD_UP))
        });
        Self { proxy, method, path: path.to_owned(), times: 0 }
    }

    /// Waits until another such request is on its way, and returns until when it is certainly delayed.
    #[track_caller]
    fn is_on_its_way(&mut self, cluster: &Cluster) -> Instant {
        let wanted = self.times + 1;
        cluster
            .wait_until(&format!("{} {} number {wanted}", self.method, self.path), PATIENCE, || self.sent() >= wanted);
        self.times = wanted;
        // The request may have arrived a moment before the test saw it.
        Instant::now() + HELD_UP - NOTICED
    }

    fn sent(&self) -> usize {
        self.proxy
            .requests()
            .iter()
            .filter(|request| request.method == self.method && request.path == self.path)
            .count()
    }

    /// Waits until the request with this number (from 1) has been answered, and returns the status.
    #[track_caller]
    fn answered(&self, cluster: &Cluster, number: usize) -> u16 {
        let mut status = None;
        cluster.wait_until(&format!("the answer to {} {} number {number}", self.method, self.path), PATIENCE, || {
            let requests = self.proxy.requests();
            let mut such = requests.iter().filter(|request| request.method == self.method && request.path == self.path);
            status = such.nth(number - 1).and_then(|request| request.status);
            status.is_some()
        });
        status.expect("it is there by now")
    }
}

/// Asserts that the change was made before the deadline: a machine too slow for that proves nothing, and the test
/// fails.
#[track_caller]
fn in_time(deadline: Instant) {
    assert!(Instant::now() < deadline, "this machine is too slow for a change within {HELD_UP:?}");
}

/// Waits until the object has only the expected owners and the collector has seen everything, then checks that it is
/// still the same object.
#[track_caller]
fn lives(seated: &Seated<'_>, trial: &Trial<'_>, object: &Value, expected: &[&str]) {
    seated.becomes(object, "left with the owners that live", |object| owners(object) == expected);
    seated.catches_up(trial, &[("v1", "ConfigMap"), ("gc.test/v1", "Widget")]);
    let now = seated.now(object);
    assert_eq!((uid(&now), owners(&now)), (uid(object), expected.to_vec()), "{now}");
}

fn set_owners(seated: &Seated<'_>, object: &Value, owners: &[&Value]) {
    let references: Vec<Value> = owners.iter().map(|owner| owner_reference(owner)).collect();
    seated.cluster.patch(&seated.cluster.path_of(object), &json!({"metadata": {"ownerReferences": references}}));
}

/// R4.1: the DELETE carries the version that the collector read.
fn an_owner_comes_before_the_delete(seated: &Seated<'_>, proxy: &CountingProxy, (version, kind): (&str, &str)) {
    let trial = Trial::on(seated.cluster, "before-delete", "Background");
    let [gone, solid] = ["gone", "solid"].map(|name| trial.config_map(name).create());
    let object = trial.draft(version, kind, "object", Some(&trial.namespace)).owned_by(&gone).create();
    let mut delete = HoldUp::of(proxy, "DELETE", &seated.cluster.path_of(&object));
    seated.delete(&gone, "Background");
    let deadline = delete.is_on_its_way(seated.cluster);
    set_owners(seated, &object, &[&gone, &solid]);
    in_time(deadline);
    assert_eq!(delete.answered(seated.cluster, 1), 409);
    lives(seated, &trial, &object, &[uid(&solid)]);
}

/// R4.3: the strip removes references to owners that are gone, not one that was added meanwhile.
fn an_owner_comes_before_the_strip(seated: &Seated<'_>, proxy: &CountingProxy, (version, kind): (&str, &str)) {
    let trial = Trial::on(seated.cluster, "before-strip", "Background");
    let [gone, going, solid] = ["gone", "going", "solid"].map(|name| trial.widget(name).create());
    let object = trial.draft(version, kind, "object", Some(&trial.namespace)).owned_by(&gone).owned_by(&going).create();
    let mut strip = HoldUp::of(proxy, "PATCH", &seated.cluster.path_of(&object));
    seated.delete(&gone, "Background");
    let deadline = strip.is_on_its_way(seated.cluster);
    set_owners(seated, &object, &[&gone, &going, &solid]);
    seated.delete(&going, "Background");
    in_time(deadline);
    strip.answered(seated.cluster, 1);
    lives(seated, &trial, &object, &[uid(&solid)]);
}

/// The same for an owner that orphans its dependents (§6).
fn an_owner_comes_before_the_orphaning(seated: &Seated<'_>, proxy: &CountingProxy, (version, kind): (&str, &str)) {
    let trial = Trial::on(seated.cluster, "before-orphaning", "Orphan");
    let [freeing, solid] = ["freeing", "solid"].map(|name| trial.widget(name).create());
    let object = trial.draft(version, kind, "object", Some(&trial.namespace)).owned_by(&freeing).create();
    seated.catches_up(&trial, &[(version, kind)]);
    let mut patch = HoldUp::of(proxy, "PATCH", &seated.cluster.path_of(&object));
    seated.delete(&freeing, "Orphan");
    let deadline = patch.is_on_its_way(seated.cluster);
    set_owners(seated, &object, &[&freeing, &solid]);
    in_time(deadline);
    patch.answered(seated.cluster, 1);
    seated.goes(&freeing);
    lives(seated, &trial, &object, &[uid(&solid)]);
}

/// An owner that is recreated is another object: the dependents of the old one are deleted.
fn a_namesake_comes_before_the_delete(seated: &Seated<'_>, proxy: &CountingProxy, (version, kind): (&str, &str)) {
    let trial = Trial::on(seated.cluster, "namesake", "Background");
    let gone = trial.config_map("gone").create();
    let object = trial.draft(version, kind, "object", Some(&trial.namespace)).owned_by(&gone).create();
    let mut delete = HoldUp::of(proxy, "DELETE", &seated.cluster.path_of(&object));
    seated.delete(&gone, "Background");
    delete.is_on_its_way(seated.cluster);
    let namesake = trial.config_map("gone").create();
    seated.goes(&object);
    assert_eq!(uid(&seated.now(&namesake)), uid(&namesake));
}

/// R4.2, more strictly than the real collector. After a conflict the collector reads again, and if the references are
/// the same, it deletes whatever version there is: it misses an owner that is added right after that read. The sweep
/// doesn't, however many conflicts came before.
fn an_owner_comes_after_conflicts(seated: &Seated<'_>, proxy: &CountingProxy, (version, kind): (&str, &str)) {
    let trial = Trial::on(seated.cluster, "after-conflicts", "Background");
    let [gone, solid] = ["gone", "solid"].map(|name| trial.config_map(name).create());
    let object = trial.draft(version, kind, "object", Some(&trial.namespace)).owned_by(&gone).create();
    let path = seated.cluster.path_of(&object);
    let mut delete = HoldUp::of(proxy, "DELETE", &path);
    seated.delete(&gone, "Background");
    for number in 1..=CONFLICTS {
        let deadline = delete.is_on_its_way(seated.cluster);
        seated.cluster.patch(&path, &json!({"metadata": {"annotations": {"changed": number.to_string()}}}));
        in_time(deadline);
        assert_eq!(delete.answered(seated.cluster, number), 409, "after {} conflicts", number - 1);
    }
    let deadline = delete.is_on_its_way(seated.cluster);
    set_owners(seated, &object, &[&gone, &solid]);
    in_time(deadline);
    assert_eq!(delete.answered(seated.cluster, CONFLICTS + 1), 409);
    lives(seated, &trial, &object, &[uid(&solid)]);
}
