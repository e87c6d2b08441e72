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
    /// Their groups and kinds; `*` is the group of the object that they keep.
    pub kinds: &'static [(&'static str, &'static str)],
    pub naming: Naming,
    /// They keep it as long as nobody deletes them; otherwise, until they are gone.
    pub only_living: bool,
    /// They are lost without it: nobody should remove the finalizer by hand before they are gone.
    pub need_it: bool,
    /// Where its own policy has `true` in this field, they don't keep it.
    pub unless: &'static str,
}

const KEEP: KnownUsers = KnownUsers {
    finalizer: "",
    of: "",
    kinds: &[],
    naming: Naming::Namespace,
    only_living: false,
    need_it: false,
    unless: "",
};

/// How users name what they use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// Not at all: they use what is in their namespace.
    Namespace,
    /// By a label with this key.
    Label(&'static str),
    /// The object that they keep names them, by a label with this key.
    LabelOfKept(&'static str),
    /// By a field of theirs; lists on the way to it are read through.
    Field(&'static str),
    /// By a field of theirs; without it, they use what has this name.
    FieldOr(&'static str, &'static str),
    /// By fields with its namespace and its name; without the second: they use what is in that namespace.
    Fields(&'static str, &'static str),
    /// By what their own facts say.
    Fact,
    /// By what the facts of the object that they keep say.
    OfKept,
    /// By what a running operation of theirs has made, anywhere.
    Operation,
}

const VOLUME: (&str, &str) = ("", "PersistentVolume");
const CLUSTER_ID: &str = "spec.csi.volumeAttributes.clusterID";

const CLUSTER: KnownUsers = KnownUsers { finalizer: "cephcluster.ceph.rook.io", of: "CephCluster", ..KEEP };
const BLOCK_POOL: KnownUsers = KnownUsers { finalizer: "cephblockpool.ceph.rook.io", of: "CephBlockPool", ..KEEP };
const FILE_SYSTEM: KnownUsers = KnownUsers { finalizer: "cephfilesystem.ceph.rook.io", of: "CephFilesystem", ..KEEP };
const OBJECT_STORE: KnownUsers =
    KnownUsers { finalizer: "cephobjectstore.ceph.rook.io", of: "CephObjectStore", ..KEEP };

const APPLICATION: (&str, &str) = ("argoproj.io", "Application");

/// A volume, as long as a Node has it.
const ATTACHED: KnownUsers = KnownUsers {
    of: VOLUME.1,
    kinds: &[("storage.k8s.io", "VolumeAttachment")],
    naming: Naming::Field("spec.source.persistentVolumeName"),
    ..KEEP
};

/// The rows of the table: each says what it has of its own; the rest is as in the one that it names.
macro_rules! users {
    ($($base:ident { $($field:ident: $value:expr),* })*) => { &[$(KnownUsers { $($field: $value,)* ..$base }),*] };
}

const USERS: &[KnownUsers] = users! {
    // crossplane/crossplane-runtime pkg/reconciler/providerconfig/reconciler.go
    KEEP { finalizer: "in-use.crossplane.io",
        kinds: &[("*", "ProviderConfigUsage"), ("*", "ClusterProviderConfigUsage")],
        naming: Naming::Label("crossplane.io/provider-config") }
    // rook/rook pkg/operator/ceph/cluster/controller.go:csiVolumesAllowForDeletion. The claims come first: what is in
    // the next row can't go before them.
    CLUSTER { kinds: &[VOLUME], naming: Naming::Fields(CLUSTER_ID, ""),
        unless: "spec.cleanupPolicy.allowUninstallWithVolumes" }
    // rook/rook pkg/operator/ceph/cluster/dependents.go:CephClusterDependents
    CLUSTER {
        kinds: &[("*", "CephBlockPool"), ("*", "CephRBDMirror"), ("*", "CephFilesystem"), ("*", "CephFilesystemMirror"),
            ("*", "CephObjectStore"), ("*", "CephObjectStoreUser"), ("*", "CephObjectZone"),
            ("*", "CephObjectZoneGroup"), ("*", "CephObjectRealm"), ("*", "CephNFS"), ("*", "CephClient")] }
    // rook/rook pkg/daemon/ceph/client/pool.go:DeletePool, pkg/operator/ceph/pool/dependents.go
    BLOCK_POOL { kinds: &[VOLUME], naming: Naming::Fields(CLUSTER_ID, "spec.csi.volumeAttributes.pool") }
    BLOCK_POOL { kinds: &[("*", "CephBlockPoolRadosNamespace")], naming: Naming::Field("spec.blockPoolName") }
    // rook/rook pkg/operator/ceph/file/dependent.go:cephFilesystemDependents
    FILE_SYSTEM { kinds: &[VOLUME], naming: Naming::Fields(CLUSTER_ID, "spec.csi.volumeAttributes.fsName") }
    FILE_SYSTEM { kinds: &[("*", "CephFilesystemSubVolumeGroup")], naming: Naming::Field("spec.filesystemName") }
    // rook/rook pkg/operator/ceph/object/dependents.go:CephObjectStoreDependents, object/bucket/provisioner.go
    OBJECT_STORE { kinds: &[("objectbucket.io", "ObjectBucket")],
        naming: Naming::Fields("spec.additionalState.objectStoreNamespace", "spec.additionalState.objectStoreName") }
    OBJECT_STORE { kinds: &[("*", "CephObjectStoreUser")], naming: Naming::Field("spec.store") }
    // rook/rook pkg/operator/ceph/cluster/controller.go:removeFinalizers, before it lets go of the CephCluster itself
    KEEP { finalizer: "ceph.rook.io/disaster-protection", kinds: &[("ceph.rook.io", "CephCluster")], need_it: true }
    // argoproj/argo-cd controller/appcontroller.go:finalizeProjectDeletion
    KEEP { finalizer: "resources-finalizer.argocd.argoproj.io", of: "AppProject", kinds: &[APPLICATION],
        naming: Naming::Field("spec.project") }
    // kubernetes-sigs/kueue pkg/controller/core/resourceflavor_controller.go:Reconcile
    KEEP { finalizer: "kueue.x-k8s.io/resource-in-use", of: "ResourceFlavor",
        kinds: &[("kueue.x-k8s.io", "ClusterQueue")], naming: Naming::Field("spec.resourceGroups.flavors.name") }
    // kubernetes-sigs/kueue pkg/controller/core/clusterqueue_controller.go:Reconcile
    KEEP { finalizer: "kueue.x-k8s.io/resource-in-use", of: "ClusterQueue", kinds: &[("kueue.x-k8s.io", "Workload")],
        naming: Naming::Field("status.admission.clusterQueue") }
    // kubernetes-sigs/kueue pkg/controller/jobs/pod/pod_controller.go: a group keeps its pods until it has ended.
    KEEP { finalizer: "kueue.x-k8s.io/managed", of: "Pod", kinds: &[("kueue.x-k8s.io", "Workload")],
        naming: Naming::LabelOfKept("kueue.x-k8s.io/pod-group-name") }
    // kubernetes-retired/service-catalog pkg/controller/controller_instance.go:checkServiceInstanceHasExistingBindings
    KEEP { finalizer: "kubernetes-incubator/service-catalog", of: "ServiceInstance",
        kinds: &[("servicecatalog.k8s.io", "ServiceBinding")], naming: Naming::Field("spec.instanceRef.name") }
    // SAP/sap-btp-service-operator controllers/serviceinstance_controller.go, servicebinding_controller.go
    KEEP { finalizer: "services.cloud.sap.com/sap-btp-finalizer", of: "ServiceInstance",
        kinds: &[("services.cloud.sap.com", "ServiceBinding")], naming: Naming::Field("spec.serviceInstanceName") }
    // argoproj/argo-events controllers/eventbus/installer/installer.go:Uninstall
    KEEP { finalizer: "eventbus-controller", of: "EventBus",
        kinds: &[("argoproj.io", "EventSource"), ("argoproj.io", "Sensor")],
        naming: Naming::FieldOr("spec.eventBusName", "default") }
    // RedisLabs/redis-enterprise-k8s-docs: the finalizer is named after the databases that it waits for.
    KEEP { finalizer: "redbfinalizer.redisenterpriseclusters.app.redislabs.com", of: "RedisEnterpriseCluster",
        kinds: &[("app.redislabs.com", "RedisEnterpriseDatabase")],
        naming: Naming::Field("spec.redisEnterpriseCluster.name") }
    // kubernetes-sigs/gateway-api apis/v1/gatewayclass_types.go
    KEEP { finalizer: "gateway-exists-finalizer.gateway.networking.k8s.io", of: "GatewayClass",
        kinds: &[("gateway.networking.k8s.io", "Gateway")], naming: Naming::Field("spec.gatewayClassName") }
    // aws/karpenter-provider-aws pkg/controllers/nodeclass/controller.go:finalize
    KEEP { finalizer: "karpenter.k8s.aws/termination", of: "EC2NodeClass", kinds: &[("karpenter.sh", "NodeClaim")],
        naming: Naming::Field("spec.nodeClassRef.name") }
    // Azure/karpenter-provider-azure pkg/controllers/nodeclass/termination/controller.go:finalize
    KEEP { finalizer: "karpenter.azure.com/termination", of: "AKSNodeClass", kinds: &[("karpenter.sh", "NodeClaim")],
        naming: Naming::Field("spec.nodeClassRef.name") }
    // argoproj/gitops-engine pkg/sync/sync_context.go:Sync, pkg/sync/hook/hook.go:HookFinalizer
    KEEP { finalizer: "argocd.argoproj.io/hook-finalizer", kinds: &[APPLICATION], naming: Naming::Operation }
    // kubernetes-csi/external-attacher pkg/controller/csi_handler.go:SyncNewOrUpdatedPersistentVolume
    ATTACHED { finalizer: "external-attacher/*" }
    // kubernetes-csi/external-provisioner pkg/controller/controller.go:canDeleteVolume
    ATTACHED { finalizer: "external-provisioner.volume.kubernetes.io/finalizer" }
    // kubernetes-csi/external-snapshotter pkg/common-controller/snapshot_controller.go:isPVCBeingUsed
    KEEP { finalizer: "snapshot.storage.kubernetes.io/pvc-as-source-protection", of: "PersistentVolumeClaim",
        kinds: &[("snapshot.storage.k8s.io", "VolumeSnapshot")], naming: Naming::Fact }
    // kubernetes-csi/external-snapshotter pkg/common-controller/snapshot_controller.go:isVolumeBeingCreatedFromSnapshot
    KEEP { finalizer: "snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection", of: "VolumeSnapshot",
        kinds: &[("", "PersistentVolumeClaim")], naming: Naming::Fact }
    // kubernetes-csi/external-provisioner pkg/controller/controller.go: until the volume is there.
    KEEP { finalizer: "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection", of: "VolumeSnapshot",
        kinds: &[("", "PersistentVolumeClaim")], naming: Naming::Fact }
    // kubernetes-csi/external-snapshotter pkg/sidecar-controller/snapshot_controller.go:shouldDelete
    KEEP { finalizer: "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection",
        of: "VolumeSnapshotContent", kinds: &[("*", "VolumeSnapshot")], naming: Naming::OfKept, only_living: true,
        need_it: true }
};

/// What controllers create in the namespace of an object before they remove their finalizer.
const CREATED_FIRST: [(&str, &str); 1] = [
    // ray-project/kuberay ray-operator/controllers/ray/raycluster_controller.go:rayClusterReconcile
    ("ray.io/gcs-ft-redis-cleanup-finalizer", "a Job"),
];

/// What the controller of this finalizer must create first, if anything.
pub(crate) fn creates_first(finalizer: &str) -> Option<&'static str> {
    CREATED_FIRST.iter().find(|(known, _)| *known == finalizer).map(|(_, what)| *what)
}

/// What keeps this finalizer of an object of a kind in its place.
pub fn known_users<'t>(finalizer: &'t str, kind: &'t str) -> impl Iterator<Item = &'static KnownUsers> + 't {
    let keeps = move |users: &&KnownUsers| matches_pattern(users.finalizer, finalizer);
    USERS.iter().filter(keeps).filter(move |users| users.of.is_empty() || users.of == kind)
}

/// How objects of a kind name what they use in fields, and the kind of that.
fn by_field<'k>(group: &'k str, kind: &'k str) -> impl Iterator<Item = &'static KnownUsers> + 'k {
    let is_it = move |user: &(&str, &str)| user.1 == kind && (user.0 == "*" || user.0 == group);
    let in_fields = |naming| matches!(naming, Naming::Field(_) | Naming::FieldOr(..) | Naming::Fields(..));
    let names = move |users: &&KnownUsers| in_fields(users.naming);
    USERS.iter().filter(names).filter(move |users| users.kinds.iter().any(is_it))
}

/// Whether objects of a kind name what they use in a field.
pub(crate) fn names_by_field(group: &str, kind: &str) -> bool {
    by_field(group, kind).next().is_some() || PROTECTORS.contains(&(group, kind))
}

/// Crossplane's objects that protect another one (R9.48), and its user, for which they wait.
pub(super) const PROTECTORS: &[(&str, &str)] = &[
    ("apiextensions.crossplane.io", "Usage"),
    ("protection.crossplane.io", "Usage"),
    ("protection.crossplane.io", "ClusterUsage"),
];

/// What a protector names in one of its fields. It has resolved selectors to names.
fn named_by_protector(protector: &Value, field: &str, so: fn(&str, &str) -> String) -> Option<String> {
    let named = protector.get("spec")?.get(field)?;
    Some(so(named.get("kind")?.as_str()?, named.pointer("/resourceRef/name")?.as_str()?))
}

/// What a protector protects, as it names that.
pub(crate) fn protected(kind: &str, name: &str) -> String {
    used(kind, "", name)
}

/// The user of that, as it names it.
pub(crate) fn protected_for(kind: &str, name: &str) -> String {
    used(kind, "by", name)
}

/// What a whole object of a kind names as used by it, sorted.
pub(crate) fn names_used(group: &str, kind: &str, object: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let one = |field: &str| object.pointer(&format!("/{}", field.replace('.', "/"))).and_then(Value::as_str);
    for users in by_field(group, kind) {
        match users.naming {
            Naming::Field(field) => texts(object, field, &mut names),
            Naming::FieldOr(field, other) => {
                names.push(one(field).filter(|name| !name.is_empty()).unwrap_or(other).to_owned());
            }
            Naming::Fields(namespace, "") => names.extend(one(namespace).map(|it| used(users.of, it, ""))),
            Naming::Fields(namespace, name) => {
                names.extend(one(namespace).zip(one(name)).map(|(namespace, name)| used(users.of, namespace, name)));
            }
            _ => {}
        }
    }
    if (group, kind) == APPLICATION {
        names.extend(hooks_of(object));
    }
    if PROTECTORS.contains(&(group, kind)) {
        names.extend(named_by_protector(object, "of", protected));
        names.extend(named_by_protector(object, "by", protected_for));
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

/// What is used, as two fields name it.
pub(crate) fn used(kind: &str, namespace: &str, name: &str) -> String {
    format!("{kind} {namespace} {name}")
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
