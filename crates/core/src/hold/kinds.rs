//! Which objects can't be held, because something happens as soon as they are Terminating, or can't be undone; and what
//! controllers leave undone meanwhile.

use serde_json::Value;

use crate::model::{FOREGROUND_FINALIZER, HOLD, ORPHAN_FINALIZER, UNCANCELLED};

use super::anew::JOB_CONTROLLER;

/// Why an object can't be held.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotHeld {
    /// No object of its kind can; why.
    #[error("{0}")]
    Kind(&'static str),
    /// It is Terminating, and not because of a hold.
    #[error("it is being deleted already")]
    Terminating,
    /// Its delete is being taken back.
    #[error("its delete is being taken back")]
    BeingTakenBack,
    /// Another finalizer: its controller acts on the deletionTimestamp.
    #[error("the controller of its finalizer {0} begins its clean-up as soon as it is Terminating")]
    Finalizer(String),
    /// Its controller would replace it in the moment in which it doesn't exist: `Kind/name`.
    #[error("{0} controls it, and would replace it before it is created again; hold {0} instead")]
    Controlled(String),
    /// Another program controls the Job.
    #[error("spec.managedBy says that {0} manages it, and it is not known what that does meanwhile")]
    Managed(String),
    /// Its pods are counted, and no longer exist.
    #[error("Pods of it have finished and are gone: a new Job could not count them, and would run them again")]
    PodsGone,
    /// Another target owns it.
    #[error("it goes with {0}, which is to be held, too; hold only that")]
    Below(String),
    /// The API server allows no DELETE, PATCH or create of its kind.
    #[error("its kind does not support {0}")]
    Verb(&'static str),
}

/// Kinds that can't be held, and why.
const NEVER: &[(&str, &str, &str)] = &[
    // pkg/controller/namespace: the controller deletes everything once the namespace is Terminating.
    ("", "Namespace", "its content is deleted as soon as it is Terminating, whatever finalizers it has"),
    // apiextensions-apiserver pkg/controller/finalizer: the same for all objects of the kind.
    (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "the objects of its kind are deleted as soon as it is Terminating",
    ),
    ("apiregistration.k8s.io", "APIService", "what it serves is not its own, and does not depend on its finalizers"),
    // pkg/kubelet: the deletionTimestamp is the order to stop.
    ("", "Pod", "its kubelet stops it as soon as it is Terminating"),
    // pkg/controller/podgc: pods without a Node are deleted.
    ("", "Node", "for a moment no Node would have its name, and its Pods could be deleted for that"),
    // pkg/controller/volume/persistentvolume: a volume without its claim is released, and perhaps deleted.
    ("", "PersistentVolumeClaim", "its volume would be released in the moment in which the claim does not exist"),
    ("", "PersistentVolume", "its claim would be lost in the moment in which the volume does not exist"),
    ("storage.k8s.io", "VolumeAttachment", "its volume is detached as soon as it is Terminating"),
    // pkg/serviceaccount/claims.go: a minute after the deletionTimestamp, tokens are refused; a new uid refuses them,
    // too.
    ("", "ServiceAccount", "its tokens become invalid a minute after it is Terminating"),
    // pkg/registry/core/service, pkg/controller/endpoint: the address is free, and the Endpoints are deleted.
    (
        "",
        "Service",
        "its address is given back and its Endpoints are deleted once it does not exist, even for a moment",
    ),
    ("resource.k8s.io", "ResourceClaim", "Pods name it by its uid"),
    ("certificates.k8s.io", "CertificateSigningRequest", "a new one would have to be approved again"),
    // pkg/controller/daemon: a DaemonSet that is Terminating reports nothing, so that nothing shows what its
    // controller has seen.
    (
        "apps",
        "DaemonSet",
        "nothing shows whether its controller sees the present Pods, so that a new one could start others beside them",
    ),
];

/// The type of a Secret with a ServiceAccount's token: it is refused a minute after its deletionTimestamp.
const TOKEN_TYPE: &str = "kubernetes.io/service-account-token";

/// Why this object, as the server returned it, can't be held; none if it can, or is.
pub fn why_not(group: &str, whole: &Value) -> Option<NotHeld> {
    let kind = whole["kind"].as_str().unwrap_or_default();
    if let Some((_, _, why)) = NEVER.iter().find(|(of, named, _)| (*of, *named) == (group, kind)) {
        return Some(NotHeld::Kind(why));
    }
    if (group, kind) == ("", "Secret") && whole["type"] == TOKEN_TYPE {
        return Some(NotHeld::Kind("the token in it becomes invalid as soon as it is Terminating"));
    }
    let metadata = &whole["metadata"];
    let finalizers = || metadata["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match super::Held::of(finalizers()) {
        Some(super::Held::BeingTakenBack) if !metadata["deletionTimestamp"].is_null() => {
            return Some(NotHeld::BeingTakenBack);
        }
        None if !metadata["deletionTimestamp"].is_null() => return Some(NotHeld::Terminating),
        _ => {}
    }
    // A background delete removes the collector's own.
    let harmless = [HOLD, UNCANCELLED, FOREGROUND_FINALIZER, ORPHAN_FINALIZER];
    if let Some(other) = finalizers().find(|finalizer| !harmless.contains(finalizer)) {
        return Some(NotHeld::Finalizer(other.to_owned()));
    }
    let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
    if let Some(owner) = owners.into_iter().find(|owner| owner["controller"] == true) {
        let text = |field: &str| owner[field].as_str().unwrap_or_default();
        return Some(NotHeld::Controlled(format!("{}/{}", text("kind"), text("name"))));
    }
    let manager = whole["spec"]["managedBy"].as_str().filter(|_| (group, kind) == ("batch", "Job"));
    manager.filter(|manager| *manager != JOB_CONTROLLER).map(|manager| NotHeld::Managed(manager.to_owned()))
}

/// What its controller does not do for an object that is Terminating, in a sentence.
pub fn meanwhile(group: &str, kind: &str) -> &'static str {
    match (group, kind) {
        // pkg/controller/deployment: syncStatusOnly.
        ("apps", "Deployment") => "Meanwhile it is not scaled or rolled out; its ReplicaSets go on replacing Pods.",
        // pkg/controller/replicaset: manageReplicas only without a deletionTimestamp.
        ("apps", "ReplicaSet") | ("", "ReplicationController") => {
            "Meanwhile it replaces no Pod that ends, and is not scaled."
        }
        // pkg/controller/statefulset: updateStatefulSet ends early.
        ("apps", "StatefulSet") => "Meanwhile it replaces no Pod that ends, and is not scaled or rolled out.",
        // pkg/controller/job: manageJob only without a deletionTimestamp.
        ("batch", "Job") => {
            "Meanwhile it starts no Pods; those that finish are counted again if the delete is taken back."
        }
        ("batch", "CronJob") => "Meanwhile it starts no Jobs.",
        _ => "What its controller does with an object that is Terminating, if it has one, is not known.",
    }
}

/// Whether the controller of such an owner claims these dependents by its selector if they have no controller, so that
/// it has to find them as soon as the owner exists.
pub fn adopts(owner: (&str, &str), dependent: (&str, &str)) -> bool {
    match owner {
        ("apps", "Deployment") => dependent == ("apps", "ReplicaSet"),
        // A StatefulSet that is Terminating stops at each ControllerRevision without a controller
        // (pkg/controller/statefulset: adoptOrphanRevisions), and a new one finds them by their names.
        ("apps", "ReplicaSet" | "StatefulSet") | ("", "ReplicationController") | ("batch", "Job") => {
            dependent == ("", "Pod")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn why(group: &str, kind: &str, metadata: Value, more: Value) -> Option<String> {
        let mut whole = json!({"kind": kind, "metadata": metadata});
        for (field, value) in more.as_object().into_iter().flatten() {
            whole[field] = value.clone();
        }
        why_not(group, &whole).map(|why| why.to_string())
    }

    #[test]
    fn what_would_not_be_protected_is_not_held() {
        let plain = |group, kind| why(group, kind, json!({}), json!({}));
        for (group, kind, _) in NEVER {
            assert!(plain(group, kind).is_some(), "{kind}");
        }
        // Another group's kind of the same name is another kind.
        assert_eq!(plain("acme.io", "Pod"), None);
        for (group, kind) in [("apps", "Deployment"), ("", "ConfigMap"), ("", "Secret"), ("batch", "Job")] {
            assert_eq!(plain(group, kind), None, "{kind}");
        }
        assert!(why("", "Secret", json!({}), json!({"type": TOKEN_TYPE})).is_some());
        let managed = why("batch", "Job", json!({}), json!({"spec": {"managedBy": "acme.io/jobs"}})).unwrap();
        assert!(managed.contains("acme.io/jobs"), "{managed}");
        assert_eq!(why("batch", "Job", json!({}), json!({"spec": {"managedBy": JOB_CONTROLLER}})), None);
    }

    #[test]
    fn whoever_acts_on_the_deletion_at_once_prevents_a_hold() {
        let object = |metadata| why("apps", "Deployment", metadata, json!({}));
        assert!(object(json!({"finalizers": ["acme.io/clean-up"]})).unwrap().contains("acme.io/clean-up"));
        assert_eq!(object(json!({"finalizers": ["foregroundDeletion", "orphan"]})), None);
        let now = "2026-01-02T03:04:05Z";
        assert_eq!(object(json!({"deletionTimestamp": now})).unwrap(), "it is being deleted already");
        assert_eq!(object(json!({"deletionTimestamp": now, "finalizers": [HOLD, UNCANCELLED]})), None);
        let back = object(json!({"deletionTimestamp": now, "finalizers": [HOLD]}));
        assert_eq!(back.unwrap(), "its delete is being taken back");
        let owner =
            |controller: bool| json!({"ownerReferences": [{"kind": "Shop", "name": "a", "controller": controller}]});
        assert!(object(owner(true)).unwrap().starts_with("Shop/a controls it"));
        assert_eq!(object(owner(false)), None);
    }

    #[test]
    fn controllers_find_what_they_select() {
        assert!(adopts(("apps", "Deployment"), ("apps", "ReplicaSet")));
        assert!(adopts(("apps", "StatefulSet"), ("", "Pod")));
        assert!(!adopts(("apps", "StatefulSet"), ("", "PersistentVolumeClaim")));
        assert!(!adopts(("apps", "StatefulSet"), ("apps", "ControllerRevision")));
        assert!(!adopts(("batch", "CronJob"), ("batch", "Job")));
    }
}
