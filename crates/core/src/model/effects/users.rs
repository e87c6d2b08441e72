//! Objects that keep another: as long as they are there, its controller leaves its finalizer alone (R9.40).

use serde_json::Value;

use super::pauses::matches_pattern;

/// What keeps a finalizer in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownUsers {
    /// One `*` matches any text.
    finalizer: &'static str,
    /// The kind of what they keep; empty: any.
    of: &'static str,
    /// Their groups and kinds; an empty group is that of the object that they keep.
    pub kinds: &'static [(&'static str, &'static str)],
    pub naming: Naming,
    /// They keep it as long as nobody deletes them; otherwise, until they are gone.
    pub only_living: bool,
    /// They are lost without it: nobody should remove the finalizer by hand before they are gone.
    pub need_it: bool,
}

const KEEP: KnownUsers =
    KnownUsers { finalizer: "", of: "", kinds: &[], naming: Naming::Namespace, only_living: false, need_it: false };

/// How users name what they use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// Not at all: they use what is in their namespace.
    Namespace,
    /// By a label with this key.
    Label(&'static str),
    /// By a field of theirs; lists on the way to it are read through.
    Field(&'static str),
    /// By what their own facts say.
    Fact,
    /// By what the facts of the object that they keep say.
    OfKept,
    /// By what a running operation of theirs has made, anywhere.
    Operation,
}

const APPLICATION: (&str, &str) = ("argoproj.io", "Application");

/// A volume, as long as a Node has it.
const ATTACHED: KnownUsers = KnownUsers {
    of: "PersistentVolume",
    kinds: &[("storage.k8s.io", "VolumeAttachment")],
    naming: Naming::Field("spec.source.persistentVolumeName"),
    ..KEEP
};

const USERS: &[KnownUsers] = &[
    // crossplane/crossplane-runtime pkg/reconciler/providerconfig/reconciler.go
    KnownUsers {
        finalizer: "in-use.crossplane.io",
        kinds: &[("", "ProviderConfigUsage"), ("", "ClusterProviderConfigUsage")],
        naming: Naming::Label("crossplane.io/provider-config"),
        ..KEEP
    },
    // rook/rook pkg/operator/ceph/cluster/dependents.go:CephClusterDependents
    KnownUsers {
        finalizer: "cephcluster.ceph.rook.io",
        of: "CephCluster",
        kinds: &[
            ("", "CephBlockPool"),
            ("", "CephRBDMirror"),
            ("", "CephFilesystem"),
            ("", "CephFilesystemMirror"),
            ("", "CephObjectStore"),
            ("", "CephObjectStoreUser"),
            ("", "CephObjectZone"),
            ("", "CephObjectZoneGroup"),
            ("", "CephObjectRealm"),
            ("", "CephNFS"),
            ("", "CephClient"),
        ],
        ..KEEP
    },
    // rook/rook pkg/operator/ceph/cluster/controller.go:removeFinalizers, before it lets go of the CephCluster itself
    KnownUsers {
        finalizer: "ceph.rook.io/disaster-protection",
        kinds: &[("ceph.rook.io", "CephCluster")],
        need_it: true,
        ..KEEP
    },
    // argoproj/argo-cd controller/appcontroller.go:finalizeProjectDeletion
    KnownUsers {
        finalizer: "resources-finalizer.argocd.argoproj.io",
        of: "AppProject",
        kinds: &[APPLICATION],
        naming: Naming::Field("spec.project"),
        ..KEEP
    },
    // kubernetes-sigs/kueue pkg/controller/core/resourceflavor_controller.go:Reconcile
    KnownUsers {
        finalizer: "kueue.x-k8s.io/resource-in-use",
        of: "ResourceFlavor",
        kinds: &[("kueue.x-k8s.io", "ClusterQueue")],
        naming: Naming::Field("spec.resourceGroups.flavors.name"),
        ..KEEP
    },
    // kubernetes-sigs/kueue pkg/controller/core/clusterqueue_controller.go:Reconcile
    KnownUsers {
        finalizer: "kueue.x-k8s.io/resource-in-use",
        of: "ClusterQueue",
        kinds: &[("kueue.x-k8s.io", "Workload")],
        naming: Naming::Field("status.admission.clusterQueue"),
        ..KEEP
    },
    // kubernetes-sigs/gateway-api apis/v1/gatewayclass_types.go
    KnownUsers {
        finalizer: "gateway-exists-finalizer.gateway.networking.k8s.io",
        of: "GatewayClass",
        kinds: &[("gateway.networking.k8s.io", "Gateway")],
        naming: Naming::Field("spec.gatewayClassName"),
        ..KEEP
    },
    // aws/karpenter-provider-aws pkg/controllers/nodeclass/controller.go:finalize
    KnownUsers {
        finalizer: "karpenter.k8s.aws/termination",
        of: "EC2NodeClass",
        kinds: &[("karpenter.sh", "NodeClaim")],
        naming: Naming::Field("spec.nodeClassRef.name"),
        ..KEEP
    },
    // Azure/karpenter-provider-azure pkg/controllers/nodeclass/termination/controller.go:finalize
    KnownUsers {
        finalizer: "karpenter.azure.com/termination",
        of: "AKSNodeClass",
        kinds: &[("karpenter.sh", "NodeClaim")],
        naming: Naming::Field("spec.nodeClassRef.name"),
        ..KEEP
    },
    // argoproj/gitops-engine pkg/sync/sync_context.go:Sync, pkg/sync/hook/hook.go:HookFinalizer
    KnownUsers {
        finalizer: "argocd.argoproj.io/hook-finalizer",
        kinds: &[APPLICATION],
        naming: Naming::Operation,
        ..KEEP
    },
    // kubernetes-csi/external-attacher pkg/controller/csi_handler.go:SyncNewOrUpdatedPersistentVolume
    KnownUsers { finalizer: "external-attacher/*", ..ATTACHED },
    // kubernetes-csi/external-provisioner pkg/controller/controller.go:canDeleteVolume
    KnownUsers { finalizer: "external-provisioner.volume.kubernetes.io/finalizer", ..ATTACHED },
    // kubernetes-csi/external-snapshotter pkg/common-controller/snapshot_controller.go:isPVCBeingUsed
    KnownUsers {
        finalizer: "snapshot.storage.kubernetes.io/pvc-as-source-protection",
        of: "PersistentVolumeClaim",
        kinds: &[("snapshot.storage.k8s.io", "VolumeSnapshot")],
        naming: Naming::Fact,
        ..KEEP
    },
    // kubernetes-csi/external-snapshotter pkg/sidecar-controller/snapshot_controller.go:shouldDelete
    KnownUsers {
        finalizer: "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection",
        of: "VolumeSnapshotContent",
        kinds: &[("", "VolumeSnapshot")],
        naming: Naming::OfKept,
        only_living: true,
        need_it: true,
    },
];

/// What keeps this finalizer of an object of a kind in its place, if anything does.
pub fn known_users(finalizer: &str, kind: &str) -> Option<&'static KnownUsers> {
    let keeps = |users: &&KnownUsers| matches_pattern(users.finalizer, finalizer);
    USERS.iter().find(|users| keeps(users) && (users.of.is_empty() || users.of == kind))
}

/// The fields with which objects of a kind name what they use.
fn naming_fields<'k>(group: &'k str, kind: &'k str) -> impl Iterator<Item = &'static str> + 'k {
    let of_kind = move |users: &&KnownUsers| users.kinds.contains(&(group, kind));
    USERS.iter().filter(of_kind).filter_map(|users| match users.naming {
        Naming::Field(field) => Some(field),
        _ => None,
    })
}

/// Whether objects of a kind name what they use in a field.
pub(crate) fn names_by_field(group: &str, kind: &str) -> bool {
    naming_fields(group, kind).next().is_some()
}

/// What a whole object of a kind names as used by it, sorted.
pub(crate) fn names_used(group: &str, kind: &str, object: &Value) -> Vec<String> {
    let mut names = Vec::new();
    naming_fields(group, kind).for_each(|field| texts(object, field, &mut names));
    if (group, kind) == APPLICATION {
        names.extend(hooks_of(object));
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// The hooks that the running operation of an Application has made, as [`hook`] writes them: those that it lists, and
/// the one that it says it waits for.
fn hooks_of(application: &Value) -> Vec<String> {
    let operation = &application["status"]["operationState"];
    if operation["phase"] != "Running" {
        return Vec::new();
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let listed = operation["syncResult"]["resources"].as_array().into_iter().flatten();
    let hooks = listed.filter(|resource| !text(&resource["hookType"]).is_empty());
    let hooks = hooks.map(|it| hook(&text(&it["kind"]), &text(&it["namespace"]), &text(&it["name"])));
    // `waiting for deletion of hook batch/Job/migrate and 2 more hooks`
    let message = text(&operation["message"]);
    let waited = message.split_once(" of hook ").and_then(|(_, rest)| rest.split_whitespace().next());
    let waited = waited.and_then(|waited| waited.rsplit_once('/')).map(|(kind, name)| {
        let kind = kind.rsplit('/').next().unwrap_or(kind);
        hook(kind, &text(&application["spec"]["destination"]["namespace"]), name)
    });
    hooks.chain(waited).collect()
}

/// What an operation has made, as a name that nothing else has.
pub(crate) fn hook(kind: &str, namespace: &str, name: &str) -> String {
    format!("{kind}/{namespace}/{name}")
}

/// The texts at a path of keys, in every item of the lists on the way.
fn texts(value: &Value, path: &str, found: &mut Vec<String>) {
    match (value, path.split_once('.').unwrap_or((path, ""))) {
        (Value::Array(items), _) => items.iter().for_each(|item| texts(item, path, found)),
        (Value::String(text), ("", _)) => found.push(text.clone()),
        (Value::Object(fields), (key, rest)) => {
            fields.get(key).into_iter().for_each(|value| texts(value, rest, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_read_through_lists() {
        let used = |kind, object: Value| names_used("kueue.x-k8s.io", kind, &object);
        let flavors =
            |names: &[&str]| json!({"flavors": names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>()});
        let queue = json!({"spec": {"resourceGroups": [flavors(&["spot", "gpu"]), flavors(&["gpu"]), 7]}});
        assert_eq!(used("ClusterQueue", queue.clone()), ["gpu", "spot"]);
        assert_eq!(used("Workload", json!({"status": {"admission": {"clusterQueue": "main"}}})), ["main"]);
        assert_eq!(used("LocalQueue", queue), Vec::<String>::new());
        assert_eq!(used("Workload", json!({"status": {"admission": {"clusterQueue": {"name": "main"}}}})), [""; 0]);
    }
}
