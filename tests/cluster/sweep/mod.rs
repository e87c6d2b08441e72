//! Sweeps by the built program: predicted, done in one pass, and continuous. The prediction is what a collector does
//! that starts on the same state.

mod adversary;
mod bench;
mod obstacles;
mod pass;
mod scenarios;
pub mod seat;
mod watching;

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::{Value, json};

use crate::{
    harness::{
        ADMIN, Alone, COLLECTOR, Cluster, CountingProxy, Fault, NAMESPACES, PATIENCE, Retry, example_shop,
        owner_reference, poll,
    },
    plan::{
        compare::compare,
        draft::{HOLD, blocking},
        trial::Trial,
    },
};

/// A cluster without a collector.
pub fn without_collector() -> Alone {
    Alone::with(&[])
}

/// The shared cluster without a collector, which also serves the kind of the example shop.
pub fn uncollected() -> &'static Cluster {
    static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| {
        let cluster = without_collector();
        let definitions = example_shop().into_iter().filter(|object| object["kind"] == "CustomResourceDefinition");
        for mut definition in definitions {
            definition["metadata"] = json!({"name": definition["metadata"]["name"]});
            cluster.apply_yaml(&definition.to_string());
        }
        cluster.share()
    });
    &CLUSTER
}

impl Trial<'_> {
    /// An object that existed once: its dependents still refer to it.
    pub fn gone(&self, name: &str) -> Value {
        let object = self.widget(name).create();
        self.deleted(&object, "Background");
        object
    }

    fn deleted(&self, object: &Value, policy: &str) {
        self.cluster.delete(&self.cluster.path_of(object), Some(policy), None);
    }

    /// The objects of this trial that exist.
    fn holds(&self) -> Vec<Value> {
        let objects = self.cluster.objects_of(&self.cluster.listed());
        objects.into_iter().filter(|object| self.is_own(object)).collect()
    }
}

/// Creates an object for every case that a sweep handles, and for those that it must not change.
fn furnish(trial: &Trial<'_>) {
    // Objects whose owners are all gone, and one that another owner keeps.
    let (gone, solid) = (trial.gone("gone"), trial.widget("solid").create());
    let lost = trial.config_map("lost").blocking(&gone).create();
    trial.config_map("below").owned_by(&lost).create();
    trial.config_map("kept").owned_by(&gone).blocking(&solid).create();
    trial.config_map("held").owned_by(&gone).finalizer(HOLD).create();
    // Another object has taken its name.
    let replaced = trial.gone("replaced");
    trial.widget("replaced").create();
    trial.config_map("of-replaced").owned_by(&replaced).create();
    // References that don't match their owner, or that name an owner that can't exist.
    let elsewhere = trial.another_namespace();
    trial.config_map("cross").owned_by(&solid).in_namespace(&elsewhere).create();
    trial.config_map("haunted").owned_by(&gone).reference(trial.unserved()).create();
    trial.rack("of-namespaced").owned_by(&solid).create();
    // Deletes that wait for the collector, one of them also for a foreign finalizer.
    let waiting = trial.widget("waiting").create();
    let first = trial.config_map("first").blocking(&waiting).create();
    trial.config_map("second").owned_by(&waiting).create();
    trial.config_map("third").blocking(&first).create();
    trial.deleted(&waiting, "Foreground");
    let freeing = trial.widget("freeing").create();
    trial.config_map("freed").blocking(&freeing).create();
    trial.config_map("freed-elsewhere").owned_by(&freeing).in_namespace(&elsewhere).create();
    trial.deleted(&freeing, "Orphan");
    let stuck = trial.widget("stuck").create();
    trial.config_map("holding").blocking(&stuck).finalizer(HOLD).create();
    trial.deleted(&stuck, "Foreground");
    // Cycles live on.
    let egg = trial.config_map("egg").create();
    let hen = trial.config_map("hen").blocking(&egg).create();
    trial.add_owners(&egg, &[blocking(&hen)]);
    trial.add_owners(&solid, &[owner_reference(&solid)]);
    // R8.10: a starting collector postpones an object that it sees after an owner that gets stuck. Which one it sees
    // first is chance.
    let lag = trial.config_map("lag-a").create();
    trial.config_map("lag-b").blocking(&lag).finalizer(HOLD).create();
    trial.config_map("lag-c").owned_by(&lag).create();
    trial.deleted(&lag, "Foreground");
}

/// A sweep without the outcome of one object.
fn without(sweep: &Value, name: &str) -> Value {
    let mut rest = sweep.clone();
    let outcomes = rest["outcomes"].as_array_mut().expect("outcomes");
    let before = outcomes.len();
    outcomes.retain(|outcome| outcome["object"]["name"] != name);
    assert_eq!(outcomes.len(), before - 1, "{name} is one of them");
    for (index, outcome) in outcomes.iter_mut().enumerate() {
        outcome["order"] = json!(index + 1);
    }
    let deleted = rest["summary"]["deleted"].as_i64().expect("a number");
    rest["summary"]["deleted"] = json!(deleted - 1);
    rest
}

/// Outcomes by the objects' names.
fn words(sweep: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let outcomes = sweep["outcomes"].as_array().into_iter().flatten();
    outcomes.map(|outcome| (text(&outcome["object"]["name"]), text(&outcome["outcome"]))).collect()
}

fn sweep(cluster: &Cluster, code: i32, args: &[&str]) -> Value {
    let ran = cluster.gc(&[&["sweep", "--dry-run", "-o", "json"], args].concat());
    ran.expect(code);
    ran.json()
}

/// A starting collector does what the sweep predicts, except for what it may postpone (R8.10).
#[test]
#[ignore = "long: a collector that starts, again and again"]
fn a_collector_that_comes_up_does_what_a_sweep_foretold() {
    let cluster = without_collector();
    let trial = Trial::on(&cluster, "sweep", "Background");
    furnish(&trial);
    let before = trial.holds();
    let predicted = sweep(&cluster, 2, &[]);
    assert_eq!(predicted["complete"], true, "{}", predicted["gaps"]);
    let names = |list: &Value| -> Vec<String> {
        let objects = list.as_array().into_iter().flatten();
        objects.map(|stays| stays["object"]["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(names(&predicted["remaining"]), ["lag-a", "stuck"], "{}", predicted["remaining"]);
    check_limits(&trial, &predicted);

    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    cluster.settled();
    cluster.wait_until("the collector to begin", PATIENCE, || {
        !trial.holds().iter().any(|object| object["metadata"]["name"] == "lost")
    });
    cluster.settled();
    let lags = trial.holds().iter().any(|object| object["metadata"]["name"] == "lag-c");
    let real = if lags { without(&predicted, "lag-c") } else { predicted.clone() };
    comes_true(&trial, &real, &before);

    // Once the owner is no longer stuck, the collector does the rest.
    cluster.patch(
        &format!("/api/v1/namespaces/{}/configmaps/lag-b", trial.namespace),
        &json!({"metadata": {"finalizers": null}}),
    );
    let rest = ["lag-a", "lag-b", "lag-c"];
    cluster.wait_until("all that lagged to go", PATIENCE, || {
        !trial.holds().iter().any(|object| rest.iter().any(|name| object["metadata"]["name"] == *name))
    });
    // Then a sweep finds only what is stuck.
    cluster.settled();
    let after = sweep(&cluster, 2, &[]);
    assert_eq!(
        (after["outcomes"].as_array().map(Vec::len), names(&after["remaining"])),
        (Some(0), vec!["stuck".to_owned()]),
        "{after}"
    );
}

#[track_caller]
fn comes_true(trial: &Trial<'_>, predicted: &Value, before: &[Value]) {
    trial.cluster.settled();
    let verdict = poll(PATIENCE, || compare(predicted, before, &trial.holds()).map_err(Retry::Later));
    verdict.unwrap_or_else(|wrong| panic!("{wrong}"));
    // What matches the prediction must stay so.
    trial.cluster.settled();
    compare(predicted, before, &trial.holds()).unwrap_or_else(|wrong| panic!("{wrong}"));
}

/// A sweep of one namespace does the same there as the whole sweep, unless it would have to write elsewhere.
fn check_limits(trial: &Trial<'_>, whole: &Value) {
    let limited = sweep(trial.cluster, 2, &["-n", &trial.namespace]);
    let mut expected = words(whole);
    // Two are elsewhere, and the owner that orphans one of them must wait for that.
    for name in ["cross", "freed-elsewhere", "freeing"] {
        assert!(expected.remove(name).is_some(), "{name}");
    }
    assert_eq!(words(&limited), expected);
    let stays = limited["remaining"].as_array().cloned().unwrap_or_default();
    let freeing = stays.iter().find(|stays| stays["object"]["name"] == "freeing").expect("it has to stay");
    assert_eq!(freeing["waitsFor"][0]["name"], "freed-elsewhere", "{freeing}");

    let one = sweep(trial.cluster, 0, &["-n", &trial.namespace, "cm/lost"]);
    assert_eq!(words(&one), BTreeMap::from([("lost".to_owned(), "Deleted".to_owned())]));
}

/// An outdated answer to a list of metadata.
pub fn stale_list(items: &[(&str, &str, &str)]) -> Fault {
    let item = |(namespace, name, uid): &(&str, &str, &str)| {
        json!({"metadata": {"namespace": namespace, "name": name,
        "uid": uid}})
    };
    let items: Vec<Value> = items.iter().map(item).collect();
    let body = object!("meta.k8s.io/v1 PartialObjectMetadataList", {"resourceVersion": "1", "items": items});
    Fault::Answer { status: 200, headers: Vec::new(), body }
}

/// R8.7: an owner that lists lack, or show with another uid, is dangling only if a look-up confirms it.
#[test]
fn what_a_list_lacks_is_looked_up() {
    let cluster = uncollected();
    let trial = Trial::on(cluster, "stale", "Background");
    let (owner, gone) = (trial.widget("owner").create(), trial.gone("gone"));
    trial.config_map("kept").owned_by(&owner).create();
    trial.config_map("lost").owned_by(&gone).create();
    let proxy = CountingProxy::start_as(cluster, ADMIN);
    let sweep_with = |more: &[&str], code: i32| {
        let args = ["sweep", "--dry-run", "-o", "json", "-n", &trial.namespace];
        let ran = cluster.gc_with(proxy.kubeconfig(), &[&args, more].concat());
        ran.expect(code);
        (ran.json(), ran.stderr)
    };
    let sweep = |code: i32| sweep_with(&[], code);
    let lost = BTreeMap::from([("lost".to_owned(), "Deleted".to_owned())]);
    assert_eq!(words(&sweep(0).0), lost);

    let list = "/apis/gc.test/v1/widgets";
    let namespace = trial.namespace.clone();
    proxy.with(move |request| (request.path == list).then(|| stale_list(&[])));
    assert_eq!(words(&sweep(0).0), lost, "the list was read before the owner was made");
    proxy.with(move |request| (request.path == list).then(|| stale_list(&[(&namespace, "owner", "before")])));
    assert_eq!(words(&sweep(0).0), lost, "the list was read before the owner was replaced");

    // An owner that can't be looked up is unknown, and so is one whose whole API path is not served (R3.16).
    for fault in [Fault::status(403, "Forbidden"), Fault::status(404, "NotFound"), Fault::status(500, "InternalError")]
    {
        let describe = format!("{fault:?}");
        proxy.with(move |request| request.path.ends_with("/widgets/gone").then(|| fault.clone()));
        let (document, said) = sweep(1);
        assert_eq!(words(&document), BTreeMap::from([("lost".to_owned(), "Unchanged".to_owned())]), "{describe}");
        assert_eq!(document["outcomes"][0]["uncertainBecause"], "gap", "{describe}");
        assert_eq!(document["complete"], false, "{describe}");
        assert!(said.contains("gone: ") && said.contains("error: 1 outcome is not certain"), "{describe}: {said}");
    }
    // With `--trust-missing-apis` a 404 for the whole path counts as absent; a 403 never does.
    for (status, reason, code, word) in [(404, "NotFound", 0, "Deleted"), (403, "Forbidden", 1, "Unchanged")] {
        proxy.with(move |request| request.path.ends_with("/widgets/gone").then(|| Fault::status(status, reason)));
        let (document, said) = sweep_with(&["--trust-missing-apis"], code);
        assert_eq!(words(&document), BTreeMap::from([("lost".to_owned(), word.to_owned())]), "{status}: {said}");
    }
}

/// A user who may read only one namespace learns nothing of the rest: the sweep doesn't act on what it can't read.
#[test]
fn what_may_not_be_read_is_not_absent() {
    let cluster = without_collector();
    let trial = Trial::on(&cluster, "unseen", "Background");
    let rack = trial.rack("rack").create();
    let gone = trial.gone("gone");
    trial.config_map("of-rack").owned_by(&rack).create();
    trial.config_map("lost").owned_by(&gone).create();
    cluster.let_viewer_see(&trial.namespace);
    let ran = cluster.gc_as(crate::harness::VIEWER, &["sweep", "--dry-run", "-o", "json", "-n", &trial.namespace]);
    ran.expect(1);
    let expected =
        [("lost", "Deleted"), ("of-rack", "Unchanged")].map(|(name, word)| (name.to_owned(), word.to_owned()));
    assert_eq!(words(&ran.json()), BTreeMap::from(expected), "{}", ran.stderr);
    assert_eq!(
        words(&sweep(&cluster, 0, &["-n", &trial.namespace])),
        BTreeMap::from([("lost".to_owned(), "Deleted".to_owned())])
    );
}
