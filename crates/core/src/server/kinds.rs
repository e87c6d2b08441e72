//! Kinds that the API server treats specially (§1.5, §1.6, §1.9).

use crate::model::{ObjectId, Propagation, Resource, Snapshot, is_built_in_group};

/// Which implementation of DELETE a kind has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnDelete {
    /// The generic store.
    Generic,
    /// Namespaces: `spec.finalizers` block their deletion (R1.25).
    Namespace,
    /// CustomResourceDefinitions: the first DELETE ignores the propagation policy (R1.26).
    Definition,
}

/// The API server's rules for one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindRules {
    /// The propagation policy of requests without one (§1.6, R1.20).
    pub default_policy: Propagation,
    /// `false` for core Events, which never get a collector's finalizer (§1.3, priority 1).
    pub collected: bool,
    /// Pods: deletion with a grace period (§1.5).
    pub graceful: bool,
    pub own_delete: OwnDelete,
    /// Built-in kinds accept strategic merge patches; custom resources answer 415 (§4.3).
    pub strategic_merge: bool,
}

impl KindRules {
    /// The rules of a resource version.
    pub fn of(resource: &Resource) -> Self {
        let own_delete = match (resource.group.as_str(), resource.kind.as_str()) {
            ("", "Namespace") => OwnDelete::Namespace,
            ("apiextensions.k8s.io", "CustomResourceDefinition") => OwnDelete::Definition,
            _ => OwnDelete::Generic,
        };
        let orphans_by_default = matches!(
            (resource.group.as_str(), resource.version.as_str(), resource.kind.as_str()),
            ("batch", "v1", "Job") | ("", "v1", "ReplicationController") | ("batch", "v1beta1", "CronJob")
        );
        KindRules {
            default_policy: if orphans_by_default { Propagation::Orphan } else { Propagation::Background },
            collected: !(resource.group.is_empty() && resource.kind == "Event"),
            graceful: resource.group.is_empty() && resource.kind == "Pod",
            own_delete,
            strategic_merge: is_built_in_group(&resource.group),
        }
    }
}

/// Why the API server refuses every DELETE of an object; `None` if it doesn't (R1.25, R1.27).
pub fn protected(snapshot: &Snapshot, id: ObjectId) -> Option<&'static str> {
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    let name = snapshot.text(object.name);
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Namespace") if matches!(name, "default" | "kube-system" | "kube-public") => {
            Some("this namespace may not be deleted")
        }
        ("scheduling.k8s.io", "PriorityClass")
            if matches!(name, "system-node-critical" | "system-cluster-critical") =>
        {
            Some("the system's priority classes may not be deleted")
        }
        _ => None,
    }
}
