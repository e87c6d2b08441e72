//! One change, exactly between a read of the collector and the request that follows from it.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use super::cluster;
use crate::{
    harness::{Cluster, CountingProxy, Fault, Gate, Options, owner_reference, uid},
    plan::trial::Trial,
    sweep::{
        scenarios::kit::{PATIENCE, owners},
        seat::{Seat, Seated},
    },
};

/// How often somebody writes to an object just before its DELETE, causing a conflict each time.
const CONFLICTS: usize = 8;

/// Everything that the real collector and the sweep both handle; the last one only the sweep does.
fn changes_between_look_and_act(seat: Seat) {
    let (cluster, proxy) = cluster(&Options::default());
    let seated = seat.take(&cluster, proxy.kubeconfig());
    for kind in [("v1", "ConfigMap"), ("gc.test/v1", "Widget")] {
        an_owner_comes_before_the_delete(&seated, &proxy, kind, 0);
        an_owner_comes_before_the_strip(&seated, &proxy, kind);
        an_owner_comes_before_the_orphaning(&seated, &proxy, kind);
        a_namesake_comes_before_the_delete(&seated, &proxy, kind);
        if seat == Seat::Sweep {
            an_owner_comes_before_the_delete(&seated, &proxy, kind, CONFLICTS);
        }
    }
    proxy.without();
    seated.leave();
}

#[test]
#[ignore = "long: plays each change for two kinds"]
fn whatever_comes_between_the_look_and_the_act_of_a_sweep_counts() {
    changes_between_look_and_act(Seat::Sweep);
}

/// Tests this test: the real collector must pass it, too.
#[test]
#[ignore = "long: is about the tests themselves"]
fn whatever_comes_between_the_look_and_the_act_of_the_collector_counts() {
    changes_between_look_and_act(Seat::Collector);
}

/// Holds up requests with this method and path, one after the other. All others pass.
struct HoldUp<'p> {
    proxy: &'p CountingProxy,
    method: &'static str,
    path: String,
    gates: Arc<Mutex<Gates>>,
}

/// One for each request that came, and whether what comes now passes.
#[derive(Default)]
struct Gates {
    gates: Vec<Arc<Gate>>,
    open: bool,
    /// How many have been opened.
    passed: usize,
}

impl<'p> HoldUp<'p> {
    fn of(proxy: &'p CountingProxy, method: &'static str, path: &str) -> Self {
        let held_up = Self { proxy, method, path: path.to_owned(), gates: Arc::default() };
        let (path, gates) = (path.to_owned(), Arc::clone(&held_up.gates));
        proxy.forget();
        proxy.with(move |request| {
            let mut gates = gates.lock().expect("nobody has panicked");
            (request.method == method && request.path == path && !gates.open).then(|| {
                let gate = Arc::<Gate>::default();
                gates.gates.push(Arc::clone(&gate));
                Fault::Before(gate)
            })
        });
        held_up
    }

    fn lock(&self) -> MutexGuard<'_, Gates> {
        self.gates.lock().expect("nobody has panicked")
    }

    /// Waits until the next such request is held up.
    #[track_caller]
    fn is_on_its_way(&self, cluster: &Cluster) {
        let what = format!("{} {}", self.method, self.path);
        cluster.wait_until(&what, PATIENCE, || {
            let gates = self.lock();
            gates.gates.len() > gates.passed
        });
    }

    /// Lets the request pass that is held up, and returns the status of its answer. The next one is held up again.
    #[track_caller]
    fn answered(&self, cluster: &Cluster) -> u16 {
        let number = {
            let mut gates = self.lock();
            gates.gates[gates.passed].open();
            gates.passed += 1;
            gates.passed
        };
        let mut status = None;
        cluster.wait_until(&format!("the answer to {} {} number {number}", self.method, self.path), PATIENCE, || {
            let requests = self.proxy.requests();
            let mut such = requests.iter().filter(|request| request.method == self.method && request.path == self.path);
            status = such.nth(number - 1).and_then(|request| request.status);
            status.is_some()
        });
        status.expect("it is there by now")
    }

    /// The same for the last one: whatever comes now passes.
    #[track_caller]
    fn answered_at_last(self, cluster: &Cluster) -> u16 {
        let mut gates = self.lock();
        gates.open = true;
        gates.gates.iter().skip(gates.passed + 1).for_each(|gate| gate.open());
        drop(gates);
        self.answered(cluster)
    }
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

/// R4.1: the DELETE carries the version that the collector read. After so many conflicts, that is R4.2, more strictly
/// than the real collector: it reads again, and if the references are the same, it deletes whatever version there is,
/// and misses an owner that is added right after that read. The sweep doesn't, however many conflicts came before.
fn an_owner_comes_before_the_delete(
    seated: &Seated<'_>,
    proxy: &CountingProxy,
    (version, kind): (&str, &str),
    conflicts: usize,
) {
    let trial = Trial::on(seated.cluster, "before-delete", "Background");
    let [gone, solid] = ["gone", "solid"].map(|name| trial.config_map(name).create());
    let object = trial.draft(version, kind, "object", Some(&trial.namespace)).owned_by(&gone).create();
    let path = seated.cluster.path_of(&object);
    let delete = HoldUp::of(proxy, "DELETE", &path);
    seated.delete(&gone, "Background");
    for number in 1..=conflicts {
        delete.is_on_its_way(seated.cluster);
        seated.cluster.patch(&path, &json!({"metadata": {"annotations": {"changed": number.to_string()}}}));
        assert_eq!(delete.answered(seated.cluster), 409, "after {} conflicts", number - 1);
    }
    delete.is_on_its_way(seated.cluster);
    set_owners(seated, &object, &[&gone, &solid]);
    assert_eq!(delete.answered_at_last(seated.cluster), 409);
    lives(seated, &trial, &object, &[uid(&solid)]);
}

/// R4.3: the strip removes references to owners that are gone, not one that was added meanwhile.
fn an_owner_comes_before_the_strip(seated: &Seated<'_>, proxy: &CountingProxy, (version, kind): (&str, &str)) {
    let trial = Trial::on(seated.cluster, "before-strip", "Background");
    let [gone, going, solid] = ["gone", "going", "solid"].map(|name| trial.widget(name).create());
    let object = trial.draft(version, kind, "object", Some(&trial.namespace)).owned_by(&gone).owned_by(&going).create();
    let strip = HoldUp::of(proxy, "PATCH", &seated.cluster.path_of(&object));
    seated.delete(&gone, "Background");
    strip.is_on_its_way(seated.cluster);
    set_owners(seated, &object, &[&gone, &going, &solid]);
    seated.delete(&going, "Background");
    strip.answered_at_last(seated.cluster);
    lives(seated, &trial, &object, &[uid(&solid)]);
}

/// The same for an owner that orphans its dependents (§6).
fn an_owner_comes_before_the_orphaning(seated: &Seated<'_>, proxy: &CountingProxy, (version, kind): (&str, &str)) {
    let trial = Trial::on(seated.cluster, "before-orphaning", "Orphan");
    let [freeing, solid] = ["freeing", "solid"].map(|name| trial.widget(name).create());
    let object = trial.draft(version, kind, "object", Some(&trial.namespace)).owned_by(&freeing).create();
    seated.catches_up(&trial, &[(version, kind)]);
    let patch = HoldUp::of(proxy, "PATCH", &seated.cluster.path_of(&object));
    seated.delete(&freeing, "Orphan");
    patch.is_on_its_way(seated.cluster);
    set_owners(seated, &object, &[&freeing, &solid]);
    patch.answered_at_last(seated.cluster);
    seated.goes(&freeing);
    lives(seated, &trial, &object, &[uid(&solid)]);
}

/// An owner that is recreated is another object: the dependents of the old one are deleted.
fn a_namesake_comes_before_the_delete(seated: &Seated<'_>, proxy: &CountingProxy, (version, kind): (&str, &str)) {
    let trial = Trial::on(seated.cluster, "namesake", "Background");
    let gone = trial.config_map("gone").create();
    let object = trial.draft(version, kind, "object", Some(&trial.namespace)).owned_by(&gone).create();
    let delete = HoldUp::of(proxy, "DELETE", &seated.cluster.path_of(&object));
    seated.delete(&gone, "Background");
    delete.is_on_its_way(seated.cluster);
    let namesake = trial.config_map("gone").create();
    delete.answered_at_last(seated.cluster);
    seated.goes(&object);
    assert_eq!(uid(&seated.now(&namesake)), uid(&namesake));
}
