//! `sweep --watch` as its user sees it: what it prints, serves, and doesn't change, and how it ends.

use serde_json::{Value, json};

use super::{seat::SweepSettings, without_collector};
use crate::{
    doctor::kit::is_gone,
    harness::{ADMIN, NOBODY, PATIENCE, definition_of},
    plan::trial::Trial,
};

/// Creates an object that a sweep must collect.
fn lost(trial: &Trial<'_>, name: &str) -> Value {
    let gone = trial.gone(&format!("owner-of-{name}"));
    trial.config_map(name).owned_by(&gone).create()
}

/// The status and the body that it serves at a path.
fn served(sweeping: &SweepSettings, path: &str) -> (u16, String) {
    let answer = sweeping.metrics().get(path).unwrap_or_else(|error| panic!("GET {path}: {error}"));
    (answer.status, answer.text())
}

/// The sum of the samples of a metric whose labels contain all of these.
fn metric(sweeping: &SweepSettings, name: &str, labels: &[&str]) -> f64 {
    let (status, body) = served(sweeping, "/metrics");
    assert_eq!(status, 200, "{body}");
    let is_it = |line: &&str| {
        let rest = line.strip_prefix(name).filter(|rest| rest.starts_with([' ', '{']));
        rest.is_some_and(|rest| labels.iter().all(|label| rest.contains(label)))
    };
    body.lines().filter(is_it).filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

/// Several things that come and go while it runs, in one test because they share a cluster.
#[test]
#[ignore = "long: a cluster of its own, and waits for what must not happen"]
fn it_keeps_on_whatever_comes_and_goes() {
    let cluster = without_collector();
    let trial = Trial::on(&cluster, "watched", "Background");
    let sweeping = SweepSettings::start(&cluster, &cluster.kubeconfig(ADMIN));
    assert_eq!(sweeping.wait_for_sync(), "synced");
    assert_eq!((served(&sweeping, "/healthz").0, served(&sweeping, "/readyz").0), (200, 200));
    let before = metric(&sweeping, "kubectl_gc_sweep_writes_total", &["write=\"delete\"", "result=\"done\""]);
    assert!((before - 0.0).abs() < f64::EPSILON, "nothing was to be done: {before}");

    let lost_ones: Vec<Value> = (0..5).map(|number| lost(&trial, &format!("lost-{number}"))).collect();
    lost_ones.iter().for_each(|object| is_gone(&cluster, object));
    complains_once(&trial);
    follows_definitions(&trial, &sweeping);

    cluster.wait_until("the metrics to tell all that", PATIENCE, || {
        let deleted = metric(&sweeping, "kubectl_gc_sweep_writes_total", &["write=\"delete\"", "result=\"done\""]);
        // Those five, and at least one of the others.
        deleted >= 6.0
            && metric(&sweeping, "kubectl_gc_sweep_objects", &[]) > 20.0
            && metric(&sweeping, "workqueue_depth", &[]).abs() < f64::EPSILON
            && metric(&sweeping, "workqueue_adds_total", &["attempt_to_delete"]) >= 6.0
    });

    // A crash of the API server doesn't end it.
    cluster.kill_api_server();
    sweeping.wait_for_line("it to notice", PATIENCE, |line| line.starts_with("partly synced: "));
    assert_eq!(served(&sweeping, "/healthz").0, 200, "it lives");
    cluster.start_api_server_again();
    is_gone(&cluster, &lost(&trial, "after-that"));
    sweeping.wait_for_line("everything to be seen again", PATIENCE, |line| line == "synced");

    // Next to it, a pass finds nothing to do or shares the work; alone, it does everything.
    let ones: Vec<Value> = (0..20).map(|number| lost(&trial, &format!("both-{number}"))).collect();
    cluster.gc(&["sweep", "--yes"]).expect(0);
    ones.iter().for_each(|object| is_gone(&cluster, object));
    sweeping.terminate();
    let alone = lost(&trial, "alone");
    let ran = cluster.gc(&["sweep", "--yes", "-o", "json"]).ended(0);
    assert_eq!((&ran.json()["summary"]["deleted"], &ran.json()["result"]["ended"]), (&json!(1), &json!("AsPlanned")));
    assert_eq!(cluster.get(&cluster.path_of(&alone)), None, "it was over when that was said");
}

/// R3.7: exactly one event for each dependent that names an owner in another namespace.
fn complains_once(trial: &Trial<'_>) {
    let elsewhere = trial.another_namespace();
    let owner = trial.widget("solid").create();
    let strays: Vec<Value> = (0..2)
        .map(|number| trial.config_map(&format!("stray-{number}")).owned_by(&owner).in_namespace(&elsewhere).create())
        .collect();
    let events = || {
        let all = trial.cluster.list(&format!("/api/v1/namespaces/{elsewhere}/events"));
        let complaints = all.into_iter().filter(|event| event["reason"] == "OwnerRefInvalidNamespace");
        complaints.map(|event| (event["involvedObject"]["name"].clone(), event["count"].clone())).collect::<Vec<_>>()
    };
    trial.cluster.wait_until("a complaint about each", PATIENCE, || events().len() >= 2);
    strays.iter().for_each(|stray| is_gone(trial.cluster, stray));
    // Complaints are written in their order: another one about those would have come before.
    trial.config_map("stray-2").owned_by(&owner).in_namespace(&elsewhere).create();
    trial.cluster.wait_until("a complaint about a later one", PATIENCE, || events().len() >= 3);
    let mut seen = events();
    seen.sort_by_key(|(name, _)| name.to_string());
    assert_eq!(seen, [0, 1, 2].map(|number| (json!(format!("stray-{number}")), json!(1))));
}

/// New kinds are watched within `--resync`, and removed ones are no longer watched.
fn follows_definitions(trial: &Trial<'_>, sweeping: &SweepSettings) {
    let cluster = trial.cluster;
    let definition = cluster.create(definition_of("new.test", "Gadget", "gadgets", &["v1"]));
    cluster.await_kind(&definition);
    let resources = || metric(sweeping, "kubectl_gc_sweep_resources", &["synced=\"true\""]);
    let before = resources();
    let gadget = trial.draft("new.test/v1", "Gadget", "owner", Some(&trial.namespace)).create();
    let below = trial.config_map("of-gadget").owned_by(&gadget).create();
    // A dependent of a new kind, and an owner of it.
    let lost = trial.gone("owner-of-gadget");
    is_gone(cluster, &trial.draft("new.test/v1", "Gadget", "lost", Some(&trial.namespace)).owned_by(&lost).create());
    assert!(cluster.get(&cluster.path_of(&below)).is_some(), "its owner is there");
    cluster.delete(&cluster.path_of(&gadget), Some("Foreground"), None);
    is_gone(cluster, &below);
    is_gone(cluster, &gadget);
    let with_it = resources();
    assert!(with_it >= before, "{before} {with_it}");
    cluster.delete(&cluster.path_of(&definition), Some("Background"), None);
    cluster.wait_until("the kind to be let go of", PATIENCE, || resources() < with_it);
    assert_eq!(served(sweeping, "/readyz").0, 200);
}

/// An owner whose dependents may be hidden keeps its finalizer: without it, the collector would delete those that are
/// not freed.
const KEEPS: &str = "it keeps its finalizer, because what is not synced may contain its dependents";

/// The ways of a delete that wait for dependents.
const WAITING: [&str; 2] = ["Orphan", "Foreground"];

/// A sweep that may not read everything reports what is missing, works without it, and reports when that is over.
///
/// robustness rights: `sweep --watch` without secrets, which depend on owners that wait | {WAITING} kinds of waiting
///   | the owners stay until secrets can be read; it says so once
#[test]
#[ignore = "long: waits for watches that fail"]
fn it_says_what_it_cannot_see() {
    let alone = super::without_collector();
    let cluster = &*alone;
    let trial = Trial::on(cluster, "half-blind", "Background");
    let role = |name: &str, rules: Value| {
        let name = format!("{}-{name}", trial.namespace);
        let metadata = json!({"name": name});
        let group = "rbac.authorization.k8s.io";
        cluster.create(
            json!({"apiVersion": format!("{group}/v1"), "kind": "ClusterRole", "metadata": metadata, "rules": rules}),
        );
        cluster.create(json!({
            "apiVersion": format!("{group}/v1"),
            "kind": "ClusterRoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": group, "kind": "User", "name": NOBODY}],
        }))
    };
    // All kinds but Secrets.
    let listed = cluster.listed();
    let plural = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let names = listed.iter().map(|kind| plural(&kind.path)).filter(|name| name != "secrets");
    let names: Vec<String> = names.chain(["events".to_owned()]).collect();
    role("most", json!([{"apiGroups": ["*"], "resources": names, "verbs": ["get", "list", "watch"]}]));
    let verbs = json!(["delete", "patch", "create", "update"]);
    role("writes", json!([{"apiGroups": [""], "resources": ["configmaps", "events"], "verbs": verbs}]));
    let other = Trial::on(cluster, "elsewhere", "Background");
    let of_secret = trial.config_map("of-secret").owned_by(&trial.secret("secret").create()).create();
    let (here, there) = (lost(&trial, "here"), lost(&other, "there"));
    let waiting = WAITING.map(|policy| {
        let owner = trial.config_map(&policy.to_lowercase()).create();
        let secret = trial.secret(&format!("of-{}", policy.to_lowercase())).blocking(&owner).create();
        cluster.delete(&cluster.path_of(&owner), Some(policy), None);
        (owner, secret)
    });

    let kubeconfig = cluster.kubeconfig(NOBODY);
    let sweeping = SweepSettings::start_with(cluster, &kubeconfig, &["-n", &trial.namespace]);
    let line = sweeping.wait_for_sync();
    assert!(line.starts_with("partly synced: ") && line.contains("secrets") && line.contains("forbidden"), "{line}");
    is_gone(cluster, &here);
    let complaints = || sweeping.said().matches(KEEPS).count();
    cluster.wait_until("it to say that owners stay", PATIENCE, || complaints() >= WAITING.len());
    let retries = || ["to_orphan", "to_delete"].map(|queue| metric(&sweeping, "workqueue_retries_total", &[queue]));
    let before = retries();
    cluster.wait_until("it to try the owners again", PATIENCE, || {
        retries().iter().zip(before).all(|(now, before)| *now >= before + 4.0)
    });
    assert_eq!(complaints(), WAITING.len(), "each is said once: {}", sweeping.said());
    for object in waiting.iter().flat_map(|(owner, secret)| [owner, secret]) {
        assert!(cluster.get(&cluster.path_of(object)).is_some(), "{object}");
    }
    let all = ["get", "list", "watch", "patch", "delete"];
    role("rest", json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": all}]));
    sweeping.wait_for_line("everything to be seen", PATIENCE, |line| line == "synced");
    let [(orphaning, orphan), (foreground, deleted)] = &waiting;
    [orphaning, foreground, deleted].into_iter().for_each(|object| is_gone(cluster, object));
    // Once later ones are gone, what was to be done before is done.
    is_gone(cluster, &lost(&trial, "later"));
    is_gone(cluster, &trial.secret("later").owned_by(&trial.gone("owner-of-secret")).create());
    let orphan = cluster.get(&cluster.path_of(orphan)).expect("the orphan stays");
    assert_eq!(orphan["metadata"]["ownerReferences"], Value::Null);
    assert_eq!(cluster.get(&cluster.path_of(&of_secret)), Some(of_secret), "its owner was there all the time");
    assert_eq!(cluster.get(&cluster.path_of(&there)), Some(there), "nothing is written to outside of the namespace");
    sweeping.terminate();
}
