//! What of an archived object is not sent again: fields that the server or a controller sets by itself, and that would
//! be refused, or be wrong, in a new object. The one place for it.

use serde_json::{Map, Value};

use crate::model::{FOREGROUND_FINALIZER, ORPHAN_FINALIZER};

use super::archived::Place;

/// What the server sets in every object.
const METADATA: [&str; 8] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
];

/// Annotations that a controller sets when it has done its work, which is now to be done again.
const ANNOTATIONS: &[(&str, &str, &[&str])] = &[
    // pkg/controller/deployment/util: the controller counts revisions anew.
    ("apps", "Deployment", &["deployment.kubernetes.io/revision"]),
    // pkg/controller/volume/persistentvolume: a claim with `bind-completed` whose volume is missing counts as lost for
    // ever.
    (
        "",
        "PersistentVolumeClaim",
        &[
            "pv.kubernetes.io/bind-completed",
            "pv.kubernetes.io/bound-by-controller",
            "volume.kubernetes.io/selected-node",
            "volume.kubernetes.io/storage-provisioner",
            "volume.beta.kubernetes.io/storage-provisioner",
        ],
    ),
    ("", "PersistentVolume", &["pv.kubernetes.io/bound-by-controller"]),
    // pkg/controller/serviceaccount/tokens_controller.go: it deletes a token whose uid is not its account's.
    ("", "Secret", &["kubernetes.io/service-account.uid"]),
];

/// The labels by which a Job finds its pods; the server makes them of its uid (pkg/registry/batch/job/strategy.go).
const OF_JOB: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];
/// Secrets that hold a ServiceAccount's token.
const TOKEN_TYPE: &str = "kubernetes.io/service-account-token";
/// How the volume is called that the ServiceAccount admission plugin puts into every pod
/// (plugin/pkg/admission/serviceaccount).
const TOKEN_VOLUME: &str = "kube-api-access-";

/// An object as it is to be created, without owner references and status: those need what only the cluster knows.
///
/// Both sides of a comparison are put through this, so that only what can be brought back is compared.
pub(super) fn as_created(place: &Place, whole: &Value) -> Value {
    let mut object = whole.clone();
    let Some(fields) = object.as_object_mut() else { return object };
    fields.remove("status");
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in METADATA.iter().chain(&["ownerReferences"]) {
            metadata.remove(*field);
        }
        clean_finalizers(metadata);
        for (group, kind, annotations) in ANNOTATIONS {
            if place.is(group, kind) {
                remove_from(metadata, "annotations", annotations);
            }
        }
    }
    clean_kind(place, fields);
    object
}

/// Foreground and orphan are the collector's, and belong to the deletion that is undone: with one of them the new
/// object's own deletion would take that way, whatever its propagation. Every other finalizer is kept: its controller
/// would set it again at its first look, but whoever deletes the object before that must not leave behind what the
/// finalizer guards.
fn clean_finalizers(metadata: &mut Map<String, Value>) {
    let Some(finalizers) = metadata.get_mut("finalizers").and_then(Value::as_array_mut) else { return };
    finalizers.retain(|finalizer| finalizer != FOREGROUND_FINALIZER && finalizer != ORPHAN_FINALIZER);
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    }
}

fn clean_kind(place: &Place, object: &mut Map<String, Value>) {
    match (place.group(), place.kind.as_str()) {
        ("", "Namespace") => drop_from_spec(object, &["finalizers"]),
        ("", "Service") => clean_service(object),
        ("", "Pod") => clean_pod(object),
        ("", "PersistentVolumeClaim") => drop_from_spec(object, &["volumeName"]),
        // Without the uid the volume waits for the claim of this name, whichever uid that has by then.
        ("", "PersistentVolume") => remove_in(object, &["spec", "claimRef"], &["uid", "resourceVersion"]),
        ("", "ServiceAccount") => clean_service_account(&place.name, object),
        ("", "Secret") if object.get("type").is_some_and(|it| it == TOKEN_TYPE) => {
            // The token controller fills them in, with a token for the new account.
            remove_from(object, "data", &["token", "ca.crt", "namespace"]);
        }
        ("batch", "Job") => clean_job(object),
        _ => {}
    }
}

fn clean_service(service: &mut Map<String, Value>) {
    let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else { return };
    // A headless service stays one: "None" is a choice, and no address.
    if spec.get("clusterIP").is_some_and(|address| address != "None" && address != "") {
        spec.remove("clusterIP");
        spec.remove("clusterIPs");
    }
    spec.remove("healthCheckNodePort");
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(port) = port.as_object_mut() {
            port.remove("nodePort");
        }
    }
}

/// What admission and the scheduler have added: a pod that has them already would be refused, or bound to a node that
/// may be gone.
fn clean_pod(pod: &mut Map<String, Value>) {
    // The number of a priority class is looked up again; ephemeral containers can't be created.
    drop_from_spec(pod, &["nodeName", "priority", "preemptionPolicy", "ephemeralContainers"]);
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let is_token = |named: &Value| named["name"].as_str().is_some_and(|name| name.starts_with(TOKEN_VOLUME));
    retain(spec, "volumes", |volume| !(is_token(volume) && volume["projected"].is_object()));
    for containers in ["containers", "initContainers"] {
        for container in spec.get_mut(containers).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(container) = container.as_object_mut() {
                retain(container, "volumeMounts", |mount| !is_token(mount));
            }
        }
    }
}

/// Secrets that were made for the account of themselves, which are not made any more since Kubernetes 1.24.
fn clean_service_account(name: &str, account: &mut Map<String, Value>) {
    let made = |secret: &Value| {
        let secret = secret["name"].as_str().unwrap_or_default();
        let rest = secret.strip_prefix(name).unwrap_or_default();
        ["-token-", "-dockercfg-"].iter().any(|word| rest.strip_prefix(word).is_some_and(|end| end.len() == 5))
    };
    retain(account, "secrets", |secret| !made(secret));
    retain(account, "imagePullSecrets", |secret| !made(secret));
}

/// The selector is made anew of the new uid, unless its author has chosen it.
fn clean_job(job: &mut Map<String, Value>) {
    let Some(spec) = job.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if spec.get("manualSelector").is_some_and(|manual| manual == true) {
        return;
    }
    spec.remove("selector");
    let template = spec.get_mut("template").and_then(|template| template.get_mut("metadata"));
    if let Some(metadata) = template.and_then(Value::as_object_mut) {
        remove_from(metadata, "labels", &OF_JOB);
    }
    if let Some(metadata) = job.get_mut("metadata").and_then(Value::as_object_mut) {
        remove_from(metadata, "labels", &OF_JOB);
    }
}

fn drop_from_spec(object: &mut Map<String, Value>, names: &[&str]) {
    remove_in(object, &["spec"], names);
}

/// Removes fields of an object further down.
fn remove_in(object: &mut Map<String, Value>, path: &[&str], names: &[&str]) {
    let mut current = object;
    for step in path {
        match current.get_mut(*step).and_then(Value::as_object_mut) {
            Some(next) => current = next,
            None => return,
        }
    }
    for name in names {
        current.remove(*name);
    }
}

/// Removes entries of a map, and the map with its last.
fn remove_from(object: &mut Map<String, Value>, field: &str, names: &[&str]) {
    let Some(map) = object.get_mut(field).and_then(Value::as_object_mut) else { return };
    let before = map.len();
    for name in names {
        map.remove(*name);
    }
    if map.is_empty() && before > 0 {
        object.remove(field);
    }
}

/// Keeps some items of a list, and removes the list with its last.
fn retain(object: &mut Map<String, Value>, field: &str, keep: impl FnMut(&Value) -> bool) {
    let Some(list) = object.get_mut(field).and_then(Value::as_array_mut) else { return };
    let before = list.len();
    list.retain(keep);
    if list.is_empty() && before > 0 {
        object.remove(field);
    }
}
