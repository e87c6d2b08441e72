//! The built-in kinds that a simulation asks for again and again, resolved once.

use crate::model::{Mapping, ResourceId, Resources};

/// The group of snapshots of volumes, which is an add-on's, and known all the same.
const SNAPSHOTS: &str = "snapshot.storage.k8s.io";

/// Each kind's resource in its picked version; none where it is not served, as in a dump that holds none of it.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    pub pods: Option<ResourceId>,
    pub claims: Option<ResourceId>,
    pub volumes: Option<ResourceId>,
    pub namespaces: Option<ResourceId>,
    pub nodes: Option<ResourceId>,
    pub services: Option<ResourceId>,
    pub endpoints: Option<ResourceId>,
    pub leases: Option<ResourceId>,
    pub definitions: Option<ResourceId>,
    pub volume_snapshots: Option<ResourceId>,
    pub snapshot_contents: Option<ResourceId>,
}

impl BuiltIn {
    /// Resolves the kinds.
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
            leases: resources.by_group_kind("coordination.k8s.io", "Lease"),
            definitions: resources.by_group_kind("apiextensions.k8s.io", "CustomResourceDefinition"),
            // In whichever version.
            volume_snapshots: resources.by_group_kind(SNAPSHOTS, "VolumeSnapshot"),
            snapshot_contents: resources.by_group_kind(SNAPSHOTS, "VolumeSnapshotContent"),
        }
    }
}
