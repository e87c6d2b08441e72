//! Objects that exist before the collector or sweep starts, and kinds that it can't see, or sees late.

use std::{sync::Arc, thread};

use serde_json::{Value, json};

use super::{
    custom,
    kit::{PATIENCE, never_was},
};
use crate::{
    doctor::unconvertible,
    harness::{ADMIN, Alone, Cluster, CountingProxy, Fault, Gate, Request, owner_reference, uid},
    plan::trial::Trial,
    sweep::seat::{Seat, Seated},
};

/// The number of valid dependents, and of invalid ones of each sort.
const VALID: usize = 60;
const INVALID: usize = 20;
/// The number of references to unserved kinds in each invalid dependent that has them.
const UNSERVED: usize = 25;

/// Plays everything on one cluster. It breaks the conversion of jars there.
pub fn play(seat: Seat, cluster: &Alone) {
    let (jars, _) = unconvertible(cluster);
    let crossing = Crossing::prepare(cluster);
    let proxy = CountingProxy::start_as(cluster, ADMIN);
    let gate = Arc::<Gate>::default();
    let held = Arc::clone(&gate);
    proxy.with(move |request| watches_volumes(request).then(|| Fault::Before(Arc::clone(&held))));

    let seated = seat.take(cluster, proxy.kubeconfig());
    if let Some(sweeping) = seated.sweeping() {
        let said = sweeping.said();
        assert!(said.lines().any(|line| line.starts_with("partly synced: ") && line.contains("jars")), "{said}");
    }
    owners_that_are_seen_late(&seated, || gate.open());
    thread::scope(|scope| {
        scope.spawn(|| custom::a_kind_that_comes_and_goes_twice(&seated));
        scope.spawn(|| a_kind_that_cannot_be_read_holds_up_nobody(&seated));
        crossing.check(&seated);
    });
    // Repair the conversion: then the sweep sees everything.
    if let Some(sweeping) = seated.sweeping() {
        let conversion = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
        cluster.patch(&cluster.path_of(&jars), &conversion);
        sweeping.wait_for_line("all to be in sight", PATIENCE * 2, |line| line == "synced");
    }
    seated.leave();
}

fn watches_volumes(request: &Request) -> bool {
    request.path == "/api/v1/persistentvolumes" && request.query.contains("watch=")
}

/// R2.6: a kind that can't be listed doesn't stop the collection of others.
fn a_kind_that_cannot_be_read_holds_up_nobody(seated: &Seated<'_>) {
    let trial = Trial::on(seated.cluster, "beside-jars", "Background");
    let owner = trial.replication_controller("owner").create();
    let pod = trial.pod("pod").owned_by(&owner).create();
    seated.delete(&owner, "Background");
    seated.goes(&owner);
    seated.goes(&pod);
}

/// Cluster-scoped owners whose watch is late. Dependents stay if a look-up finds the owner, go if it doesn't, and stay
/// if the owner can't be looked up.
fn owners_that_are_seen_late(seated: &Seated<'_>, begin_watch: impl FnOnce()) {
    let trial = Trial::on(seated.cluster, "late", "Background");
    let spec = json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "hostPath": {"path": "/late"}});
    let volume = trial.draft("v1", "PersistentVolume", &trial.global("volume"), None).spec(spec).create();
    let of_volume = trial.config_map("of-volume").owned_by(&volume).create();
    let mut missing = owner_reference(&volume);
    missing["name"] = json!(trial.global("missing"));
    missing["uid"] = json!("never-was-a-volume");
    let of_missing = trial.config_map("of-missing").reference(missing).create();
    let of_unserved = trial.config_map("of-unserved").reference(trial.unserved()).create();
    seated.goes(&of_missing);
    seated.catches_up(&trial, &[("v1", "ConfigMap")]);
    // What it knew by then has been worked on once what came later is done.
    seated.catches_up(&trial, &[("v1", "ConfigMap")]);
    for kept in [&of_volume, &of_unserved] {
        assert_eq!(uid(&seated.now(kept)), uid(kept));
    }
    // Whether it learns this by watch or by look-up: once the owner is gone, its dependent is deleted.
    begin_watch();
    seated.delete(&volume, "Background");
    seated.goes(&of_volume);
    assert_eq!(uid(&seated.now(&of_unserved)), uid(&of_unserved));
}

/// References across namespaces with the uid of an existing owner, and valid dependents of the same owner.
struct Crossing<'c> {
    trial: Trial<'c>,
    elsewhere: String,
    parent: Value,
    single: Vec<Value>,
    kept: Vec<Value>,
}

impl<'c> Crossing<'c> {
    fn prepare(cluster: &'c Cluster) -> Self {
        let trial = Trial::on(cluster, "crossing", "Background");
        let elsewhere = trial.another_namespace();
        let parent = trial.config_map("parent").create();
        let mut kept: Vec<Value> =
            (0..VALID).map(|number| trial.secret(&format!("child-{number}")).owned_by(&parent).create()).collect();
        let mut single = Vec::new();
        for number in 0..INVALID {
            let mut config = trial.config_map(&format!("invalid-{number}")).in_namespace(&elsewhere);
            let mut secret = trial.secret(&format!("invalid-{number}")).in_namespace(&elsewhere);
            for kind in 0..UNSERVED {
                let reference = json!({
                    "apiVersion": "gone.test/v1",
                    "kind": format!("Ghost{kind}"),
                    "name": "ghost",
                    "uid": format!("ghost-{kind}"),
                });
                config = config.reference(reference.clone());
                secret = secret.reference(reference);
            }
            kept.push(config.reference(misnamed(&parent)).create());
            kept.push(secret.reference(misnamed(&parent)).create());
            single.push(
                trial
                    .secret(&format!("single-{number}"))
                    .in_namespace(&elsewhere)
                    .reference(misnamed(&parent))
                    .create(),
            );
        }
        Self { trial, elsewhere, parent, single, kept }
    }

    fn check(&self, seated: &Seated<'_>) {
        for single in &self.single {
            seated.goes(single);
        }
        let kinds = [("v1", "ConfigMap"), ("v1", "Secret")];
        seated.catches_up(&self.trial, &kinds);
        let late = self.trial.secret("late").in_namespace(&self.elsewhere).reference(misnamed(&self.parent)).create();
        seated.goes(&late);
        seated.catches_up(&self.trial, &kinds);
        for kept in self.kept.iter().chain([&self.parent]) {
            assert_eq!(uid(&seated.now(kept)), uid(kept));
        }
        // R3.7: a cross-namespace reference causes an event, now that the owner has been seen.
        let events = format!("/api/v1/namespaces/{}/events", self.elsewhere);
        let complained = || {
            let about = |event: &&Value| {
                event["involvedObject"]["uid"] == uid(&late) && event["reason"] == "OwnerRefInvalidNamespace"
            };
            seated.cluster.list(&events).iter().any(|event| about(&event))
        };
        seated.cluster.wait_until("a complaint", PATIENCE, complained);
        // An owner that never existed keeps nothing, whatever namespace it would be in.
        let nobodys =
            self.trial.secret("nobodys").in_namespace(&self.elsewhere).reference(never_was("nobody")).create();
        seated.goes(&nobodys);
    }
}

/// A reference with the uid of an owner in another namespace, but with another kind and name.
fn misnamed(owner: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "name": "invalid", "uid": uid(owner), "controller": false})
}
