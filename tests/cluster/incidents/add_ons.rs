//! Add-ons whose controllers no longer run, and the objects whose finalizers they should remove.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Incident, cluster, incident, of_namespace};
use crate::{
    doctor::kit::{ago, is_terminating},
    harness::{Cluster, definition_of},
    plan::trial::Trial,
};

/// Group, plural and kind of what the add-ons define.
pub const KINDS: [(&str, &str, &str); 6] = [
    ("argoproj.io", "applications", "Application"),
    ("kustomize.toolkit.fluxcd.io", "kustomizations", "Kustomization"),
    ("acme.cert-manager.io", "challenges", "Challenge"),
    ("keda.sh", "scaledobjects", "ScaledObject"),
    ("longhorn.io", "backuptargets", "BackupTarget"),
    ("pg.acme.io", "pgclusters", "PgCluster"),
];

/// An object of an add-on, with the finalizer of its controller.
fn managed(trial: &Trial<'_>, group: &str, kind: &str, finalizer: &str) -> Value {
    trial.cluster.create(json!({
        "apiVersion": format!("{group}/v1"),
        "kind": kind,
        "metadata": {"name": "managed", "namespace": trial.namespace, "finalizers": [finalizer]},
    }))
}

/// The Deployment or StatefulSet of a controller. No kubelet runs its pods, so they never become ready.
pub fn controller(cluster: &Cluster, namespace: &str, kind: &str, name: &str, part_of: &str, replicas: i64) -> Value {
    let labels = json!({"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": part_of});
    // Argo CD's handles only its own namespace, unless told otherwise.
    let container = json!({"name": "main", "image": "main", "args": ["--application-namespaces=*"]});
    let mut spec = json!({
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    });
    if kind == "StatefulSet" {
        spec["serviceName"] = json!(name);
    }
    cluster.create(json!({
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": spec,
    }))
}

/// An Argo CD Application in the namespace of its controller, which is deleted as a whole.
pub fn in_the_same_namespace() {
    let trial = Trial::on(cluster(), "argocd", "Background");
    let cluster = trial.cluster;
    controller(cluster, &trial.namespace, "StatefulSet", "argocd-application-controller", "argocd", 1);
    let pods = format!("/api/v1/namespaces/{}/pods", trial.namespace);
    cluster.wait_until("its pod", Duration::from_secs(60), || !cluster.list(&pods).is_empty());
    let pod = cluster.list(&pods).swap_remove(0);
    let ready = json!([{"type": "Ready", "status": "True"}]);
    let path = format!("{pods}/{}/status", pod["metadata"]["name"].as_str().unwrap_or_default());
    cluster.patch(&path, &json!({"status": {"phase": "Running", "conditions": ready}}));
    let application = managed(&trial, "argoproj.io", "Application", "resources-finalizer.argocd.argoproj.io");
    let cause = ["resources-finalizer.argocd.argoproj.io", "argocd-application-controller"];
    Incident { aged: vec![application], ..of_namespace(&trial, &trial.namespace, &cause) }.play();
}

pub fn scaled_to_zero() {
    let trial = Trial::on(cluster(), "flux", "Background");
    let elsewhere = trial.another_namespace();
    let operator = controller(trial.cluster, &elsewhere, "Deployment", "kustomize-controller", "flux", 0);
    let held = managed(&trial, "kustomize.toolkit.fluxcd.io", "Kustomization", "finalizers.fluxcd.io");
    Incident {
        aged: vec![held.clone()],
        gone: vec![held],
        operator: Some(operator),
        ..incident(
            &trial,
            &["kustomizations.kustomize.toolkit.fluxcd.io/managed"],
            &["finalizers.fluxcd.io", "kustomize-controller"],
        )
    }
    .play();
}

pub fn without_a_ready_pod() {
    let trial = Trial::on(cluster(), "certificates", "Background");
    let elsewhere = trial.another_namespace();
    controller(trial.cluster, &elsewhere, "Deployment", "cert-manager", "cert-manager", 1);
    // It is no longer starting: it never became ready within the hour since.
    let cluster = trial.cluster;
    for (group, version, kind) in [("apis/apps/v1", "apps/v1", "Deployment"), ("api/v1", "v1", "Pod")] {
        let path = format!("/{group}/namespaces/{elsewhere}/{}s", kind.to_lowercase());
        cluster.wait_until(kind, Duration::from_secs(60), || !cluster.list(&path).is_empty());
        for mut object in cluster.list(&path) {
            object["apiVersion"] = json!(version);
            object["kind"] = json!(kind);
            object["metadata"]["creationTimestamp"] = json!(ago(3600));
            cluster.store(&object);
        }
    }
    let held = managed(&trial, "acme.cert-manager.io", "Challenge", "acme.cert-manager.io/finalizer");
    Incident {
        aged: vec![held.clone()],
        gone: vec![held],
        // The first remedy shows why it isn't ready; once somebody has mended that, it does its work.
        operator: Some(object!("apps/v1 Deployment", {"name": "cert-manager", "namespace": elsewhere})),
        ..incident(
            &trial,
            &["challenges.acme.cert-manager.io/managed"],
            &["acme.cert-manager.io/finalizer", "cert-manager"],
        )
    }
    .play();
}

pub fn removed() {
    let trial = Trial::on(cluster(), "keda", "Background");
    let held = managed(&trial, "keda.sh", "ScaledObject", "finalizer.keda.sh");
    Incident {
        aged: vec![held.clone()],
        gone: vec![held],
        ..incident(&trial, &["scaledobjects.keda.sh/managed"], &["finalizer.keda.sh"])
    }
    .play();
}

/// Its CRD is deleted, too: nobody can even create such an object again.
pub fn under_its_definition() {
    let trial = Trial::on(cluster(), "longhorn", "Background");
    let held = managed(&trial, "longhorn.io", "BackupTarget", "longhorn.io");
    let target = "customresourcedefinitions/backuptargets.longhorn.io";
    let defined = definition_of("longhorn.io", "BackupTarget", "backuptargets", &["v1"]);
    trial.cluster.delete(&trial.cluster.path_of(&defined), Some("Background"), None);
    is_terminating(trial.cluster, &held);
    Incident {
        doctor: vec![target.to_owned()],
        aged: vec![held.clone()],
        gone: vec![held, defined],
        ..incident(&trial, &[], &["longhorn.io", "managed"])
    }
    .play();
}
