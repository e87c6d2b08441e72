//! Finalizers of add-ons: whether their controllers run is judged by their workloads, in plans and by the doctor.

use serde_json::{Value, json};

use super::{
    Found, examine, follow,
    kit::{ago, created_by, is_gone, is_terminating, words},
};
use crate::harness::{Alone, COLLECTOR, Cluster, NAMESPACES, Options, VIEWER, definition_of};

const FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";

fn applications() -> Value {
    definition_of("argoproj.io", "Application", "applications", &["v1alpha1"])
}

fn application(cluster: &Cluster, namespace: &str, name: &str) -> Value {
    let metadata = json!({"name": name, "namespace": namespace, "finalizers": [FINALIZER]});
    let object = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": metadata});
    created_by(cluster, "argocd-server", &object)
}

/// The application controller's StatefulSet, with this many ready pods according to its status. It handles every
/// namespace.
fn controller(cluster: &Cluster, namespace: &str, wanted: i64, ready: i64) -> Value {
    let labels = json!({"app.kubernetes.io/name": "argocd-application-controller"});
    let container = json!({"name": "main", "image": "main", "args": ["--application-namespaces=*"]});
    let made = cluster.create(object!("apps/v1 StatefulSet", {
        "name": "argocd-application-controller", "namespace": namespace,
        "spec": {
            "replicas": wanted,
            "serviceName": "x",
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }));
    ready_pods(cluster, &made, ready);
    made
}

fn ready_pods(cluster: &Cluster, set: &Value, ready: i64) {
    let status = json!({"status": {"replicas": ready, "readyReplicas": ready}});
    cluster.patch(&format!("{}/status", cluster.path_of(set)), &status);
}

/// The only outcome of a plan: its state, its other fields, and the exit code.
#[track_caller]
fn planned(cluster: &Cluster, args: &[&str], name: &str) -> (Value, Option<i32>) {
    let ran = cluster.gc(&[&["plan", "-o", "json"], args].concat());
    let plan = ran.json();
    let outcomes = plan["outcomes"].as_array().cloned().unwrap_or_default();
    let found = outcomes.into_iter().find(|outcome| outcome["object"]["name"] == name);
    (found.unwrap_or_else(|| panic!("no {name}: {plan:#}")), ran.code)
}

/// The state of an object according to a plan, whether that is certain, and the exit code.
#[track_caller]
fn state(cluster: &Cluster, args: &[&str], name: &str) -> (String, bool, Option<i32>) {
    let (outcome, code) = planned(cluster, args, name);
    assert_eq!(outcome["outcome"], "Terminating", "{outcome:#}");
    (words(&outcome, "state").to_owned(), outcome["certain"] == true, code)
}

fn is(state: &str, certain: bool, code: i32) -> (String, bool, Option<i32>) {
    (state.to_owned(), certain, Some(code))
}

/// The controller is in the very namespace that is deleted; then it is away in every other way.
pub fn a_controller_is_judged_by_its_workload() {
    let cluster = Alone::start(&Options::default());
    cluster.create(applications());
    // Nothing changes the status of workloads here.
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let [home, apps] = ["argocd", "apps"].map(|prefix| cluster.namespace(prefix));
    let set = controller(&cluster, &home, 1, 1);
    application(&cluster, &home, "beside");
    let away = application(&cluster, &apps, "guestbook");
    cluster.settled();
    let app = ["application/guestbook", "-n", &apps];

    // It runs.
    assert_eq!(state(&cluster, &app, "guestbook"), is("waiting", true, 0));
    let text = cluster.gc(&["plan", "application/guestbook", "-n", &apps]);
    assert!(text.stdout.contains("Argo CD must remove "), "{}", text.stdout);

    // It goes with the namespace, before the application beside it.
    let namespace = format!("namespace/{home}");
    assert_eq!(state(&cluster, &[&namespace], "beside"), is("stuck", true, 2));
    let text = cluster.gc(&["plan", &namespace]);
    let evidence = "StatefulSet/argocd-application-controller goes in this delete";
    assert!(text.stdout.contains(evidence), "{}", text.stdout);

    // A user who may not list workloads can't know.
    cluster.let_viewer_see(&apps);
    let ran = cluster.gc_as(VIEWER, &["plan", "-o", "json", "application/guestbook", "-n", &apps]);
    let unseen = ran.json()["outcomes"][0].clone();
    assert_eq!((&unseen["state"], &unseen["certain"]), (&json!("unknown"), &json!(false)), "{unseen:#}");

    // Its pods don't become ready.
    ready_pods(&cluster, &set, 0);
    let reference = crate::harness::owner_reference(&set);
    let pod = cluster.create(object!("v1 Pod", {
        "name": "argocd-application-controller-0", "namespace": home, "ownerReferences": [reference],
        "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "main"}]},
    }));
    assert_eq!(state(&cluster, &app, "guestbook"), is("waiting", true, 0), "it is starting");
    let waiting = json!({"name": "main", "image": "main", "imageID": "", "ready": false, "restartCount": 9,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}}});
    let condition = json!({"type": "Ready", "status": "False", "lastTransitionTime": ago(5)});
    let status = json!({"status": {"conditions": [condition], "containerStatuses": [waiting]}});
    cluster.patch(&format!("{}/status", cluster.path_of(&pod)), &status);
    assert_eq!(state(&cluster, &app, "guestbook"), is("stuck", true, 2), "it crashes again and again");
    let text = cluster.gc(&["plan", "application/guestbook", "-n", &apps]);
    assert!(text.stdout.contains("is in CrashLoopBackOff"), "{}", text.stdout);

    // It is scaled to 0, and then there is none.
    cluster.patch(&cluster.path_of(&set), &json!({"spec": {"replicas": 0}}));
    assert_eq!(state(&cluster, &app, "guestbook"), is("stuck", true, 2));
    cluster.delete(&cluster.path_of(&pod), None, Some(0));
    cluster.delete(&cluster.path_of(&set), Some("Background"), None);
    is_gone(&cluster, &set);
    assert_eq!(state(&cluster, &app, "guestbook"), is("stuck", true, 2));

    // Another component of the add-on may be the controller under another name: that is an assumption.
    let other = super::kit::deployment(&cluster, &home, "renamed", 1, 1);
    let labels = json!({"metadata": {"labels": {"app.kubernetes.io/part-of": "argocd"}}});
    cluster.patch(&cluster.path_of(&other), &labels);
    assert_eq!(state(&cluster, &app, "guestbook"), is("unknown", false, 2));
    cluster.delete(&cluster.path_of(&other), Some("Background"), None);
    is_gone(&cluster, &other);

    // The doctor knows it at once, too.
    cluster.delete(&cluster.path_of(&away), Some("Background"), None);
    is_terminating(&cluster, &away);
    let found = examine(&cluster, &["-n", &apps]);
    let finding = found.one("armed-deletion", "guestbook");
    assert_eq!((&finding["severity"], found.code), (&json!("Error"), Some(2)), "{finding:#}");
    let message = words(finding, "message");
    assert!(message.contains("the cluster has no workload of Argo CD"), "{message}");
    follow(&cluster, finding, 0);
    is_gone(&cluster, &away);

    // A controller that runs: nothing is well before it is done, and then all is.
    controller(&cluster, &home, 1, 1);
    let slow = application(&cluster, &apps, "slow");
    cluster.delete(&cluster.path_of(&slow), Some("Background"), None);
    let found = examine(&cluster, &["-n", &apps]);
    let finding = found.one("deletion-in-progress", "slow");
    assert_eq!((&finding["severity"], found.code), (&json!("Note"), Some(0)), "{finding:#}");
    assert!(words(finding, "message").contains("Argo CD must remove "), "{finding:#}");
    let text = cluster.gc(&["doctor", "-n", &apps]);
    assert!(!text.stdout.contains("No problems found"), "{}", text.stdout);
    let fail = cluster.gc(&["doctor", "-n", &apps, "--fail-on=warning"]);
    assert_eq!(fail.code, Some(0), "{}", fail.stdout);
    cluster.patch(&cluster.path_of(&slow), &json!({"metadata": {"finalizers": null}}));
    is_gone(&cluster, &slow);
    let well = Found::of(&cluster.gc(&["doctor", "-o", "json", "-n", &apps]));
    assert!(well.findings().next().is_none(), "{:#}", well.document);
}
