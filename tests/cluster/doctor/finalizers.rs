//! Deletions that a finalizer blocks (S1–S3): which controller removes it, whether that runs, and which objects wait.

use serde_json::{Value, json};

use super::{
    examine, examine_as, follow,
    kit::{aged, created_by, deployment, is_gone, is_terminating, lease, names, words},
    mends, mends_with,
};
use crate::{
    harness::VIEWER,
    plan::{
        draft::{HOLD, blocking},
        trial::Trial,
    },
    sweep::uncollected,
};

/// An hour: after that, the doctor doesn't assume that a controller is still at work on a deletion.
const LONG: i64 = 3600;

/// S2: the first remedy releases the owner that waits in the foreground, and doesn't touch the finalizer.
pub fn a_finalizer_that_nobody_removes() {
    let trial = Trial::new("held", "Foreground");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let owner = trial.widget("owner").create();
    let held = trial.config_map("held").blocking(&owner).finalizer(HOLD).create();
    trial.config_map("free").blocking(&owner).create();
    trial.delete_before(&owner, "Foreground");
    is_terminating(cluster, &held);
    cluster.settled();
    // The controller of the finalizer may still be at work.
    let found = examine(cluster, &args);
    let finding = found.one("stuck-finalizer", "held");
    assert_eq!(
        (&finding["severity"], found.findings().count(), found.code),
        (&json!("Warning"), 1, Some(0)),
        "{:#}",
        found.document
    );
    assert!(words(finding, "message").ends_with("The controller that removes it may still be working."), "{finding:#}");

    aged(cluster, &held, LONG);
    let found = examine(cluster, &args);
    let finding = found.one("stuck-finalizer", "held");
    assert_eq!(
        (&finding["severity"], names(&finding["objects"]), found.code),
        (&json!("Error"), vec!["held"], Some(2))
    );
    assert_eq!(names(&finding["related"]), ["owner"]);
    let message = words(finding, "message");
    assert!(message.starts_with("Terminating for 60m, blocked by the finalizer acme.io/hold (added by "), "{message}");
    assert_eq!(finding["consequence"], "It stays until the finalizer is removed. Widget/owner waits for it.");
    assert_eq!(found.findings().count(), 1, "{:#}", found.document);

    follow(cluster, finding, 0);
    is_gone(cluster, &owner);
    let finding = mends(cluster, &args, "stuck-finalizer", "held");
    assert_eq!((names(&finding["related"]), finding["remedies"].as_array().map(Vec::len)), (vec![], Some(1)));
    assert!(cluster.get(&cluster.path_of(&held)).is_none());
}

/// S1 and S3: deleted in the background, with two finalizers: the dependents stay until both are removed.
pub fn what_is_below_lives_until_the_finalizers_go() {
    let trial = Trial::new("held-above", "Background");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let owner = trial.widget("owner").create();
    let held = trial.config_map("held").blocking(&owner).finalizer(HOLD).finalizer("acme.io/other").create();
    let below = trial.config_map("below").owned_by(&held).create();
    trial.delete_before(&held, "Background");
    trial.delete_before(&owner, "Foreground");
    aged(cluster, &held, LONG);
    cluster.settled();
    let found = examine(cluster, &args);
    let finding = found.one("stuck-finalizer", "held");
    assert_eq!((found.findings().count(), names(&finding["related"])), (1, vec!["owner"]), "{:#}", found.document);
    let message = words(finding, "message");
    assert!(
        message.contains("blocked by the finalizers acme.io/hold (") && message.contains(" and acme.io/other ("),
        "{message}"
    );
    assert_eq!(
        finding["consequence"],
        "It stays until all of them are removed. Widget/owner waits for it. Whoever removes them, by hand or as a \
         controller that is installed again: the collector then deletes 1 existing object."
    );
    assert!(cluster.get(&cluster.path_of(&below)).is_some());
    mends_with(cluster, &args, "stuck-finalizer", "held", 2);
    for object in [&held, &owner, &below] {
        is_gone(cluster, object);
    }
}

/// Follows a chain to its root cause: a namespace waits for a Deployment, which waits for its ReplicaSet, which waits
/// for a pod.
pub fn all_that_wait_are_named_from_the_nearest_on() {
    let trial = Trial::new("chain", "Foreground");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let mut web = crate::harness::deployment(&trial.namespace, "web", 1);
    web["spec"]["template"]["metadata"]["finalizers"] = json!(["acme.io/drain"]);
    let web = cluster.create(web);
    let pods = crate::plan::trial::wait_for_items(cluster, &format!("/api/v1/namespaces/{}/pods", trial.namespace), 1);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": pods[0]["metadata"]});
    cluster.seen_by_collector(&[crate::harness::uid(&pod)]);
    cluster.delete(&cluster.path_of(&web), Some("Foreground"), None);
    is_terminating(cluster, &pod);
    let namespace = object!("v1 Namespace", {"name": trial.namespace});
    cluster.delete(&cluster.path_of(&namespace), Some("Background"), None);
    aged(cluster, &pod, LONG);

    let name = words(&pod["metadata"], "name");
    let set = words(&pod["metadata"]["ownerReferences"][0], "name");
    let found = examine(cluster, &args);
    let finding = found.one("stuck-finalizer", name);
    assert_eq!(names(&finding["related"]), [set, "web", trial.namespace.as_str()], "{:#}", found.document);
    assert_eq!(
        finding["consequence"],
        json!(format!(
            "It stays until the finalizer is removed. ReplicaSet/{set}, Deployment/web and Namespace/{} wait for it.",
            trial.namespace
        ))
    );
    assert_eq!(found.findings().count(), 1, "{:#}", found.document);
    // The namespace waits whatever the remedies do about its content, so no command touches it.
    let commands = follow(cluster, finding, 0);
    assert!(commands.len() == 2 && commands.iter().all(|command| !command.contains("namespaces")), "{commands:?}");
    is_gone(cluster, &web);
    let finding = mends(cluster, &args, "stuck-finalizer", name);
    assert_eq!(names(&finding["related"]), [trial.namespace.as_str()]);
    is_gone(cluster, &namespace);
}

/// A controller that runs may be slow. The doctor raises no alarm.
pub fn a_finalizer_of_a_controller_that_is_there() {
    let trial = Trial::on(uncollected(), "slow", "Background");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let elsewhere = trial.another_namespace();
    let [runs, leads] = ["runs", "leads"].map(|name| format!("{name}-{}", trial.namespace));
    deployment(cluster, &elsewhere, &runs, 2, 1);
    lease(cluster, &elsewhere, &leads, 0, LONG);
    let made = [("slow", &runs), ("led", &leads), ("young", &runs)].map(|(name, manager)| {
        let object = created_by(cluster, manager, &held_widget(&trial, name));
        cluster.delete(&cluster.path_of(&object), Some("Background"), None);
        object
    });
    for object in &made[..2] {
        aged(cluster, object, LONG);
    }
    let found = examine(cluster, &args);
    assert_eq!((found.findings().count(), found.code), (3, Some(0)), "{:#}", found.document);
    assert_eq!(found.one("deletion-in-progress", "young")["severity"], "Note");
    let finding = found.one("slow-finalizer", "slow");
    assert_eq!((&finding["severity"], names(&finding["objects"])), (&json!("Note"), vec!["slow"]));
    let message = format!(
        "Terminating for 60m, blocked by the finalizer {HOLD} (added by {runs:?}; Deployment/{runs} -n \
         {elsewhere} has ready pods)."
    );
    assert_eq!(finding["message"], message);
    assert!(
        words(found.one("slow-finalizer", "led"), "message").contains("; its lease was renewed "),
        "{:#}",
        found.document
    );
    // The first remedy only inspects: it changes nothing.
    follow(cluster, finding, 0);
    // So does the second one, which these pods can't answer.
    let logs = format!("kubectl logs deployments.apps/{runs} -n {elsewhere} --tail=100");
    assert_eq!(finding["remedies"][1]["commands"][0], json!(logs));
    mends_with(cluster, &args, "slow-finalizer", "slow", 2);
    is_gone(cluster, &made[0]);
}

/// A user who may not read the controller gets only a warning, which says that the controller was not seen.
pub fn a_controller_that_may_not_be_seen_is_not_away() {
    let trial = Trial::on(uncollected(), "unseen-keeper", "Background");
    let cluster = trial.cluster;
    let manager = format!("keeper-{}", trial.namespace);
    deployment(cluster, &trial.another_namespace(), &manager, 0, 0);
    let object = created_by(cluster, &manager, &held_widget(&trial, "held"));
    trial.config_map("below").owned_by(&object).create();
    cluster.delete(&cluster.path_of(&object), Some("Background"), None);
    aged(cluster, &object, LONG);
    cluster.let_viewer_see(&trial.namespace);
    let found = examine_as(cluster, VIEWER, &["-n", &trial.namespace]);
    let finding = found.one("stuck-finalizer", "held");
    assert_eq!((&finding["severity"], found.code), (&json!("Warning"), Some(0)), "{finding:#}");
    assert!(words(finding, "message").ends_with("; not all workloads and Leases could be read)."), "{finding:#}");
    // A user who may read the controller gets a definite finding.
    let found = examine(cluster, &["-n", &trial.namespace]);
    assert_eq!(
        (found.one("armed-deletion", "held")["severity"].as_str(), found.findings().count()),
        (Some("Error"), 1)
    );
}

fn held_widget(trial: &Trial<'_>, name: &str) -> Value {
    object!("gc.test/v1 Widget", {"name": name, "namespace": trial.namespace, "finalizers": [HOLD]})
}

/// Once the controller is back, or the finalizer is removed, the collector deletes the dependents.
pub fn deletions_inside_the_cluster_are_armed() {
    let trial = Trial::on(uncollected(), "armed", "Background");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let manager = format!("away-{}", trial.namespace);
    let elsewhere = trial.another_namespace();
    deployment(cluster, &elsewhere, &manager, 0, 0);
    let held = created_by(cluster, &manager, &held_widget(&trial, "held"));
    let below = trial.config_map("below").owned_by(&held).create();
    trial.config_map("lower").owned_by(&below).create();
    // This one has no dependents, so its deletion triggers nothing more.
    let alone = created_by(cluster, &manager, &held_widget(&trial, "alone"));
    // Another owner keeps this dependent.
    let other = trial.widget("other").create();
    trial.config_map("kept").owned_by(&held).owned_by(&other).create();
    for object in [&held, &alone] {
        cluster.delete(&cluster.path_of(object), Some("Background"), None);
    }
    let found = examine(cluster, &args);
    let finding = found.one("armed-deletion", "held");
    // The doctor sees that the controller is scaled to 0, so it reports an error without waiting.
    assert_eq!(
        (&finding["severity"], names(&finding["objects"])),
        (&json!("Error"), vec!["alone", "held"]),
        "{finding:#}"
    );
    assert!(
        words(finding, "message").ends_with(&format!(
            "blocked by the finalizer {HOLD} (added by {manager:?}; Deployment/{manager} -n {elsewhere} is \
                scaled to 0)."
        )),
        "{finding:#}"
    );
    assert_eq!(
        finding["consequence"],
        "If their controller restarts, the collector deletes 2 existing objects. Decide about that before you restart \
         it."
    );
    assert_eq!(found.findings().count(), 1, "{:#}", found.document);
    // Starting the controller repairs nothing here: no Deployment gets pods.
    let remedies: Vec<&str> =
        finding["remedies"].as_array().into_iter().flatten().map(|remedy| words(remedy, "what")).collect();
    assert_eq!(
        remedies,
        [
            "keep their dependents: remove the references to them, then start the controller",
            "start the controller; then the collector deletes 2 existing objects",
            "force-remove the finalizer (its cleanup will NOT run): the collector then deletes 2 objects that \
             depend on them",
        ]
    );
    assert_eq!(finding["remedies"][1]["decides"], true, "{finding:#}");
    follow(cluster, finding, 1);
    let stop_again = || {
        let scaled =
            cluster.get(&format!("/apis/apps/v1/namespaces/{elsewhere}/deployments/{manager}")).expect("it is there");
        assert_eq!(scaled["spec"]["replicas"], 1);
        cluster.patch(&cluster.path_of(&scaled), &json!({"spec": {"replicas": 0}}));
    };
    stop_again();
    mends(cluster, &args, "armed-deletion", "held");
    stop_again();
    assert!(cluster.get(&cluster.path_of(&below)).is_some_and(|below| below["metadata"]["ownerReferences"].is_null()));
    // The first remedy starts the controller, which has no pods here.
    let finding = mends_with(cluster, &args, "stuck-finalizer", "held", 1);
    let start = format!("start the controller, Deployment/{manager} -n {elsewhere}");
    assert_eq!(finding["remedies"][0]["what"], start);
    is_gone(cluster, &held);
}

/// Deleting these objects also deletes the external resources behind them, unless their own policy keeps those.
pub fn deletions_outside_the_cluster_are_armed() {
    let trial = Trial::on(uncollected(), "armed-outside", "Background");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let manager = format!("provider-{}", trial.namespace);
    lease(cluster, &trial.another_namespace(), &manager, (11 * 24 + 12) * LONG, 15);
    let bucket = |name: &str, spec: Value| {
        let mut object = held_widget(&trial, name);
        object["metadata"]["finalizers"] = json!(["finalizer.managedresource.crossplane.io"]);
        object["spec"] = spec;
        let made = created_by(cluster, &manager, &object);
        cluster.delete(&cluster.path_of(&made), Some("Background"), None);
    };
    bucket("logs", json!({"deletionPolicy": "Delete"}));
    bucket("data", json!({"managementPolicies": ["Observe", "Delete"]}));
    bucket("kept", json!({"deletionPolicy": "Orphan"}));
    let found = examine(cluster, &args);
    let finding = found.one("armed-deletion", "logs");
    assert_eq!(names(&finding["objects"]), ["data", "kept", "logs"]);
    assert_eq!(
        finding["consequence"],
        "If their controller restarts, Crossplane's provider deletes the external resource (for 2 objects). Decide \
         about that before you restart it. Then install or repair Crossplane's provider: removing the finalizer by \
         hand is the last resort."
    );
    let message = words(finding, "message");
    assert!(message.ends_with("; its lease expired 11d ago)."), "{message}");
    let finding = mends(cluster, &args, "armed-deletion", "logs");
    let remedy = words(&finding, "remedy");
    assert_eq!(remedy.lines().count(), 2, "one is kept as it is: {remedy}");
    let spec = |name: &str| {
        cluster.get(&cluster.path_of(&held_widget(&trial, name))).expect("it is still there")["spec"].clone()
    };
    // These have a namespace: there, Crossplane's resources have no deletionPolicy.
    let all = ["Observe", "Create", "Update", "LateInitialize"];
    assert_eq!(spec("logs"), json!({"deletionPolicy": "Delete", "managementPolicies": all}));
    assert_eq!(spec("data"), json!({"managementPolicies": ["Observe"]}));
    // To install its controller comes first.
    mends_with(cluster, &args, "stuck-finalizer", "logs", 1);
}

/// A field manager such as kubectl doesn't say which controller removes a finalizer.
pub fn a_finalizer_that_was_set_by_hand() {
    let trial = Trial::on(uncollected(), "by-hand", "Foreground");
    let (cluster, args) = (trial.cluster, ["-n", &trial.namespace]);
    let mut widget = held_widget(&trial, "held");
    // No program gives it to others.
    widget["metadata"]["finalizers"] = json!(["acme.io/by-hand"]);
    let object = created_by(cluster, "kubectl-create", &widget);
    let waiting = trial.widget("waiting").create();
    trial.add_owners(&object, &[blocking(&waiting)]);
    for one in [&object, &waiting] {
        cluster.delete(&cluster.path_of(one), Some("Foreground"), None);
        aged(cluster, one, LONG);
    }
    let found = examine(cluster, &[&args[..], &["--only", "stuck-finalizer"]].concat());
    let finding = found.one("stuck-finalizer", "held");
    assert!(
        words(finding, "message").ends_with(r#"(added by hand with "kubectl-create"; its controller is not known)."#),
        "{finding:#}"
    );
}
