//! Which fields of an archived object are not sent: those that the server or a controller sets, and that a new object
//! may not have or should not have.

use serde_json::{Map, Value};

use crate::hold::{drop_finalizers_of_deletion, drop_server_fields, keep_items};

use super::archived::Place;

/// Annotations that a controller sets when its work is done, which it has to do again.
const ANNOTATIONS: &[(&str, &str, &[&str])] = &[
    // pkg/controller/deployment/util: the controller starts counting revisions again.
    ("apps", "Deployment", &["deployment.kubernetes.io/revision"]),
    // pkg/controller/endpoint: it says when the endpoints controller last changed them.
    ("", "Endpoints", &["endpoints.kubernetes.io/last-change-trigger-time"]),
    // pkg/controller/volume/persistentvolume: a claim with `bind-completed` whose volume is missing is lost
    // permanently.
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
    // pkg/controller/serviceaccount/tokens_controller.go: it deletes a token whose uid is not that of its account.
    ("", "Secret", &["kubernetes.io/service-account.uid"]),
];

/// The labels by which a Job finds its pods; the server derives them from the Job's uid
/// (pkg/registry/batch/job/strategy.go).
const OF_JOB: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];
/// The type of a Secret with a ServiceAccount's token.
const TOKEN_TYPE: &str = "kubernetes.io/service-account-token";
/// The name prefix of the volume that the ServiceAccount admission plugin adds to every pod
/// (plugin/pkg/admission/serviceaccount).
const TOKEN_VOLUME: &str = "kube-api-access-";

/// The object to create, without owner references and status: those need information from the cluster.
///
/// Both sides of a comparison are converted like this, so that only fields that a restore can set are compared.
pub(super) fn as_created(place: &Place, whole: &Value) -> Value {
    let mut object = whole.clone();
    let Some(fields) = object.as_object_mut() else { return object };
    fields.remove("status");
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        drop_server_fields(metadata);
        metadata.remove("ownerReferences");
        drop_finalizers_of_deletion(metadata);
        for (group, kind, annotations) in ANNOTATIONS {
            if place.is(group, kind) {
                remove_from(metadata, "annotations", annotations);
            }
        }
    }
    clean_kind(place, fields);
    object
}

fn clean_kind(place: &Place, object: &mut Map<String, Value>) {
    match (place.group(), place.kind.as_str()) {
        ("", "Namespace") => drop_from_spec(object, &["finalizers"]),
        ("", "Service") => clean_service(object),
        ("", "Pod") => clean_pod(object),
        ("", "PersistentVolumeClaim") => drop_from_spec(object, &["volumeName"]),
        // Without the uid, the volume waits for a claim with this name and any uid.
        ("", "PersistentVolume") => remove_in(object, &["spec", "claimRef"], &["uid", "resourceVersion"]),
        ("", "ServiceAccount") => clean_service_account(&place.name, object),
        ("", "Secret") if object.get("type").is_some_and(|it| it == TOKEN_TYPE) => {
            // The token controller sets them, with a token for the new account.
            remove_from(object, "data", &["token", "ca.crt", "namespace"]);
        }
        ("batch", "Job") => clean_job(object),
        _ => {}
    }
}

fn clean_service(service: &mut Map<String, Value>) {
    let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else { return };
    // A headless service remains headless: "None" is the user's choice, not an assigned address.
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

/// Removes what admission and the scheduler have added: a pod that already has it would be refused, or bound to a node
/// that may be gone.
fn clean_pod(pod: &mut Map<String, Value>) {
    // Admission sets the priority from the priority class again; ephemeral containers can't be created.
    drop_from_spec(pod, &["nodeName", "priority", "preemptionPolicy", "ephemeralContainers"]);
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let is_token = |named: &Value| named["name"].as_str().is_some_and(|name| name.starts_with(TOKEN_VOLUME));
    keep_items(spec, "volumes", |volume| !(is_token(volume) && volume["projected"].is_object()));
    for containers in ["containers", "initContainers"] {
        for container in spec.get_mut(containers).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(container) = container.as_object_mut() {
                keep_items(container, "volumeMounts", |mount| !is_token(mount));
            }
        }
    }
}

/// Removes the automatically created token Secrets, which don't exist any more since Kubernetes 1.24.
fn clean_service_account(name: &str, account: &mut Map<String, Value>) {
    let made = |secret: &Value| {
        let secret = secret["name"].as_str().unwrap_or_default();
        let rest = secret.strip_prefix(name).unwrap_or_default();
        ["-token-", "-dockercfg-"].iter().any(|word| rest.strip_prefix(word).is_some_and(|end| end.len() == 5))
    };
    keep_items(account, "secrets", |secret| !made(secret));
    keep_items(account, "imagePullSecrets", |secret| !made(secret));
}

/// Removes the selector, which the server derives from the new uid, unless the author has chosen it.
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

/// Removes fields of a nested object.
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

/// Removes entries of a map, and the map if it is then empty.
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
