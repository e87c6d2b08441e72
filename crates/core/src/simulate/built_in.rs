//! Built-in kinds that simulations look up often, resolved once.

use crate::model::{Mapping, ResourceId, Resources, facts::RBAC};

/// The API group of volume snapshots; an add-on, but handled like a built-in group.
const SNAPSHOTS: &str = "snapshot.storage.k8s.io";

/// The label of EndpointSlices that names the controller that manages them.
pub(crate) const MANAGER_OF_SLICES: &str = "endpointslice.kubernetes.io/managed-by";
/// The controller that makes EndpointSlices of Endpoints.
pub(crate) const MIRRORS_ENDPOINTS: &str = "endpointslicemirroring-controller.k8s.io";

/// Each kind's resource in its picked version; `None` if not served, or not contained in the dump.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    pub pods: Option<ResourceId>,
    pub claims: Option<ResourceId>,
    pub volumes: Option<ResourceId>,
    pub namespaces: Option<ResourceId>,
    pub nodes: Option<ResourceId>,
    pub services: Option<ResourceId>,
    pub endpoints: Option<ResourceId>,
    pub slices: Option<ResourceId>,
    pub addresses: Option<ResourceId>,
    pub accounts: Option<ResourceId>,
    pub jobs: Option<ResourceId>,
    pub stateful_sets: Option<ResourceId>,
    pub replica_sets: Option<ResourceId>,
    pub replication_controllers: Option<ResourceId>,
    pub daemon_sets: Option<ResourceId>,
    pub deployments: Option<ResourceId>,
    pub leases: Option<ResourceId>,
    pub api_services: Option<ResourceId>,
    pub definitions: Option<ResourceId>,
    pub attachments: Option<ResourceId>,
    pub volume_snapshots: Option<ResourceId>,
    pub snapshot_contents: Option<ResourceId>,
    pub roles: Option<ResourceId>,
    pub cluster_roles: Option<ResourceId>,
    pub role_bindings: Option<ResourceId>,
    pub cluster_role_bindings: Option<ResourceId>,
}

impl BuiltIn {
    pub fn of(resources: &Resources) -> Self {
        let core = |kind| match resources.map("v1", kind) {
            Mapping::Served(id) => Some(resources.picked(id)),
            _ => None,
        };
        BuiltIn {
            pods: core("Pod"),
            claims: core("PersistentVolumeClaim"),
            volumes: core("PersistentVolume"),
            namespaces: core("Namespace"),
            nodes: core("Node"),
            services: core("Service"),
            endpoints: core("Endpoints"),
            slices: resources.by_group_kind("discovery.k8s.io", "EndpointSlice"),
            addresses: resources.by_group_kind("networking.k8s.io", "IPAddress"),
            accounts: core("ServiceAccount"),
            jobs: resources.by_group_kind("batch", "Job"),
            stateful_sets: resources.by_group_kind("apps", "StatefulSet"),
            replica_sets: resources.by_group_kind("apps", "ReplicaSet"),
            replication_controllers: core("ReplicationController"),
            daemon_sets: resources.by_group_kind("apps", "DaemonSet"),
            deployments: resources.by_group_kind("apps", "Deployment"),
            leases: resources.by_group_kind("coordination.k8s.io", "Lease"),
            api_services: resources.by_group_kind("apiregistration.k8s.io", "APIService"),
            definitions: resources.by_group_kind("apiextensions.k8s.io", "CustomResourceDefinition"),
            // In any version.
            attachments: resources.by_group_kind("storage.k8s.io", "VolumeAttachment"),
            volume_snapshots: resources.by_group_kind(SNAPSHOTS, "VolumeSnapshot"),
            snapshot_contents: resources.by_group_kind(SNAPSHOTS, "VolumeSnapshotContent"),
            roles: resources.by_group_kind(RBAC, "Role"),
            cluster_roles: resources.by_group_kind(RBAC, "ClusterRole"),
            role_bindings: resources.by_group_kind(RBAC, "RoleBinding"),
            cluster_role_bindings: resources.by_group_kind(RBAC, "ClusterRoleBinding"),
        }
    }
}
