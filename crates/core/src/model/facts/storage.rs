//! Facts about stored data: volumes, claims and snapshots.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

sparse! {
    /// What decides how a PersistentVolume is deleted, and what is deleted with it.
    pub struct VolumeFacts {
        /// `spec.persistentVolumeReclaimPolicy`.
        pub reclaim_policy?: Option<Box<str>>,
        /// `spec.claimRef` as `namespace/name`.
        pub claim?: Option<Box<str>>,
        /// `spec.claimRef.uid`: without one, it waits for a claim of that name.
        pub claim_uid?: Option<Box<str>>,
        /// `status.phase`.
        pub phase?: Option<Box<str>>,
        /// Who deletes it once its claim is gone, if its reclaim policy says so; `None` if that was not read.
        pub deleted_by?: Option<VolumeDeleter>,
        /// Where a CSI driver has its data.
        pub csi?: Option<Box<CsiVolume>>,
        /// `status.message`, if its phase is Failed: why its data could not be deleted.
        pub failure?: Option<Box<str>>,
        /// `spec.volumeAttributesClassName`.
        pub attributes_class?: Option<Box<str>>,
        /// The Nodes that its data is on, by their names or labels: those that `spec.nodeAffinity` demands.
        pub nodes?: Box<[String]>,
        /// What else says where its data is, or what becomes of it. Few volumes have that.
        pub data?: Option<Box<VolumeData>>,
    }
}

/// A volume of a CSI driver.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CsiVolume {
    /// Volumes with the same have the same data.
    pub handle: VolumeHandle,
    /// What its data is in, and what that keeps (R9.40).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<String>,
    /// The Secrets with which it is attached, mounted and grown, as `namespace/name`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
}

impl CsiVolume {
    const SECRETS: [&'static str; 5] = [
        "controllerPublishSecretRef",
        "nodeStageSecretRef",
        "nodePublishSecretRef",
        "controllerExpandSecretRef",
        "nodeExpandSecretRef",
    ];

    /// The Secrets that `spec.csi` names, each once.
    pub(super) fn secrets_of(csi: &Value) -> Vec<String> {
        let named = Self::SECRETS.iter().filter_map(|key| {
            let secret = csi.get(key)?;
            Some(format!("{}/{}", secret["namespace"].as_str()?, secret["name"].as_str()?))
        });
        named.collect::<BTreeSet<String>>().into_iter().collect()
    }
}

/// Where a CSI driver has a volume's data.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VolumeHandle {
    /// `spec.csi.driver`.
    pub driver: String,
    /// `spec.csi.volumeHandle`.
    pub handle: String,
}

impl VolumeHandle {
    /// The name of the VolumeAttachment that the attach-detach controller makes for it and a Node
    /// (`K/pkg/volume/csi/csi_attacher.go:getAttachmentName`).
    pub(crate) fn attachment_to(&self, node: &str) -> String {
        let hash = Sha256::digest(format!("{}{}{node}", self.handle, self.driver));
        hash.iter().fold("csi-".to_owned(), |name, byte| format!("{name}{byte:02x}"))
    }
}

/// What is special about a volume's data.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VolumeData {
    /// It is on the Nodes that have used it: a path of the host that demands no Node.
    OnHost,
    /// This StorageClass says whether the provisioner keeps it.
    KeptByClass(String),
    /// Its CSI driver keeps it: its volumeHandle says so.
    KeptByDriver,
    /// Its CSI driver keeps it unless it runs with [`VolumeData::DELETES_FILES`].
    KeptByDefault,
}

impl VolumeData {
    /// The flag with which the driver of EFS deletes the files of an access point with it
    /// (kubernetes-sigs/aws-efs-csi-driver `cmd/main.go`).
    pub const DELETES_FILES: &'static str = "--delete-access-point-root-dir";
}

sparse! {
    /// What a StorageClass says of the data of its volumes.
    pub struct StorageClassFacts {
        /// The provisioner keeps the data of a volume that it deletes; only one of NFS does so.
        pub keeps_data: bool,
    }
}

impl StorageClassFacts {
    /// The end of the name of the provisioner that these parameters are for.
    const NFS: &'static str = "nfs-subdir-external-provisioner";

    /// Whether a provisioner of this name heeds them.
    pub(crate) fn heeds(provisioner: &str) -> bool {
        provisioner.ends_with(Self::NFS)
    }

    /// By the parameters `onDelete` and `archiveOnDelete` (kubernetes-sigs/nfs-subdir-external-provisioner
    /// `cmd/nfs-subdir-external-provisioner/provisioner.go:Delete`).
    pub(crate) fn of(on_delete: Option<&str>, archive: Option<&str>) -> Self {
        let is_false = |text: &str| matches!(text, "0" | "f" | "F" | "false" | "FALSE" | "False");
        let keeps_data = match on_delete {
            Some("delete") => false,
            Some("retain") => true,
            _ => !archive.is_some_and(is_false),
        };
        StorageClassFacts { keeps_data }
    }
}

impl VolumeFacts {
    /// Whether a label or field of Nodes, as a node affinity names it, is that of one Node: its name, its host name, or
    /// what a driver of local volumes calls it (`topology.topolvm.io/node`, `openebs.io/nodename`).
    pub(crate) fn names_node(key: &str) -> bool {
        let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
        matches!(name, "metadata.name" | "hostname" | "node" | "nodename" | "nodeid")
    }

    /// `spec.persistentVolumeReclaimPolicy` of volumes that are deleted with their data once their claim is gone.
    pub const DELETE: &'static str = "Delete";

    /// Whether a CSI driver keeps the data of a volume that it deletes. Those of NFS and SMB have written that into the
    /// volumeHandle (kubernetes-csi/csi-driver-nfs `pkg/nfs/controllerserver.go:getNfsVolFromID`, `:DeleteVolume`,
    /// kubernetes-csi/csi-driver-smb `pkg/smb/controllerserver.go:getSmbVolFromID`, `:DeleteVolume`). Without a word
    /// there, a flag of the driver decides, whose default deletes. That of EFS deletes an access point, and its files
    /// only if a flag says so (kubernetes-sigs/aws-efs-csi-driver `pkg/driver/controller.go:DeleteVolume`).
    pub(crate) fn kept(csi: &VolumeHandle) -> Option<VolumeData> {
        let part = match csi.driver.as_str() {
            "nfs.csi.k8s.io" => 4,
            "smb.csi.k8s.io" => 3,
            "efs.csi.aws.com" => return Some(VolumeData::KeptByDefault),
            _ => return None,
        };
        let on_delete = csi.handle.split('#').nth(part).unwrap_or_default().to_ascii_lowercase();
        matches!(on_delete.as_str(), "retain" | "archive").then_some(VolumeData::KeptByDriver)
    }

    /// The namespace and the name of the claim that `spec.claimRef` names.
    pub fn claim_name(&self) -> Option<(&str, &str)> {
        self.claim.as_deref()?.split_once('/')
    }

    /// Whether its CSI driver keeps the data.
    pub(crate) fn is_kept_by_driver(&self) -> bool {
        self.data.as_deref() == Some(&VolumeData::KeptByDriver)
    }

    /// Whether its CSI driver keeps the data, unless a flag of the driver says otherwise.
    pub(crate) fn is_kept_by_default(&self) -> bool {
        self.data.as_deref() == Some(&VolumeData::KeptByDefault)
    }

    /// The StorageClass that says whether its provisioner keeps the data.
    pub(crate) fn keeping_class(&self) -> Option<&str> {
        match self.data.as_deref() {
            Some(VolumeData::KeptByClass(class)) => Some(class),
            _ => None,
        }
    }

    /// Whether the claim that it names is an earlier one, which is gone.
    pub(crate) fn is_released(&self) -> bool {
        matches!(self.phase.as_deref(), Some("Released" | "Failed"))
    }

    /// Whether no claim has had it since its reclaim policy counts.
    pub(crate) fn is_unclaimed(&self) -> bool {
        self.phase.as_deref() == Some("Available") && self.claim.is_none()
    }

    /// Whether its data is being deleted, again and again until that succeeds.
    pub fn is_being_deleted(&self) -> bool {
        self.is_released() && self.goes_with_its_claim()
    }

    /// Whether its reclaim policy deletes it with its data once its claim is gone.
    pub(crate) fn goes_with_its_claim(&self) -> bool {
        self.reclaim_policy.as_deref() == Some(VolumeFacts::DELETE)
    }

    /// Whether a claim with this uid is the one that it names, as far as it names one.
    pub(crate) fn names_uid(&self, uid: &str) -> bool {
        self.claim_uid.as_deref().is_none_or(|named| named == uid)
    }

    /// Whether it is bound to the claim that it names, as far as its phase is known.
    pub(crate) fn may_be_bound(&self) -> bool {
        self.phase.as_deref().is_none_or(|phase| phase == "Bound")
    }
}

/// Who deletes a volume whose reclaim policy is Delete (R9.35).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VolumeDeleter {
    /// kube-controller-manager itself.
    Kubernetes,
    /// The provisioner of this name: it runs in the cluster or outside of it.
    Provisioner(Box<str>),
    /// A plugin that kube-controller-manager had before [`VolumeDeleter::LOST`].
    FormerPlugin,
    /// Nobody: the volume's phase becomes Failed.
    Nobody,
}

impl VolumeDeleter {
    /// The annotation that names the provisioner that made a volume.
    pub(crate) const PROVISIONED_BY: &'static str = "pv.kubernetes.io/provisioned-by";
    /// The annotation that names the CSI driver that has taken over a volume of an older kind.
    pub(crate) const MIGRATED_TO: &'static str = "pv.kubernetes.io/migrated-to";

    /// The sources of volumes for which kube-controller-manager has no plugin that deletes them.
    pub(crate) const NOT_DELETED: [&str; 4] = ["nfs", "iscsi", "fc", "local"];

    /// Those that it had a plugin for.
    pub(crate) const DELETED_ONCE: [&str; 8] = [
        "awsElasticBlockStore",
        "azureDisk",
        "azureFile",
        "cephfs",
        "cinder",
        "gcePersistentDisk",
        "rbd",
        "vsphereVolume",
    ];
    /// The minor version of Kubernetes 1 that has none of these plugins, nor has the one before it.
    pub(crate) const LOST: u32 = 32;

    /// The CSI drivers that have taken over what those plugins made: kube-controller-manager adds the annotation that
    /// says so (`K/pkg/volume/csimigration/plugin_manager.go`, `k8s.io/csi-translation-lib`).
    const TAKEN_OVER: [(&str, &str); 7] = [
        ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
        ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
        ("kubernetes.io/azure-file", "file.csi.azure.com"),
        ("kubernetes.io/cinder", "cinder.csi.openstack.org"),
        ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
        ("kubernetes.io/portworx-volume", "pxd.portworx.com"),
        ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
    ];

    /// By the two annotations, the path on the host, and who deletes its other source, each if the volume has it;
    /// `None` if it has none of them
    /// (`K/pkg/controller/volume/persistentvolume/pv_controller.go:findDeletablePlugin`). Of the plugins that
    /// kube-controller-manager has, only that of host paths deletes volumes, and only below `/tmp`
    /// (`K/pkg/volume/hostpath/host_path.go:Delete`). A provisioner deletes what the annotation says it made; and
    /// without that, every volume of its CSI driver (sig-storage-lib-external-provisioner
    /// `controller/controller.go:isProvisionerForVolume`).
    pub fn of(
        provisioned_by: Option<&str>,
        migrated_to: Option<&str>,
        host_path: Option<&str>,
        other: Option<VolumeDeleter>,
    ) -> Option<Self> {
        const HOST_PATH: &str = "kubernetes.io/host-path";
        let filled = |name: &&str| !name.is_empty();
        let plugin = provisioned_by.filter(filled).filter(|_| migrated_to.is_none());
        let below_tmp = host_path.and_then(|path| path.split_once("/tmp/")).is_some_and(|(_, rest)| !rest.is_empty());
        let taken_over = |name: &str| Self::TAKEN_OVER.iter().find(|(plugin, _)| *plugin == name);
        match plugin.or(migrated_to.filter(filled)) {
            None | Some(HOST_PATH) if below_tmp => Some(VolumeDeleter::Kubernetes),
            None => host_path.map(|_| VolumeDeleter::Nobody).or(other),
            Some(HOST_PATH) => Some(VolumeDeleter::Nobody),
            Some(name) if let Some((_, driver)) = taken_over(name) => {
                Some(VolumeDeleter::Provisioner((*driver).into()))
            }
            Some(name) if name.starts_with("kubernetes.io/") => Some(VolumeDeleter::FormerPlugin),
            Some(name) => Some(VolumeDeleter::Provisioner(name.into())),
        }
    }
}

sparse! {
    /// The volume of a PersistentVolumeClaim.
    pub struct ClaimFacts {
        /// `spec.volumeName`; `None` if not bound.
        pub volume?: Option<String>,
        /// `spec.volumeAttributesClassName`.
        pub attributes_class?: Option<String>,
        /// Those between which its volume is modified: `status.currentVolumeAttributesClassName` and
        /// `status.modifyVolumeStatus.targetVolumeAttributesClassName`.
        pub modified_between?: Vec<String>,
        /// The VolumeSnapshot that it is filled from: its `spec.dataSource`, as long as `status.phase` is Pending.
        pub filled_from?: Option<String>,
        /// `spec.storageClassName` of one that has no volume yet.
        pub class?: Option<String>,
    }

    /// The content and source of a VolumeSnapshot.
    pub struct SnapshotFacts {
        /// `status.boundVolumeSnapshotContentName`.
        pub content?: Option<String>,
        /// The claim that it is being taken of: `spec.source.persistentVolumeClaimName`, as long as `status.readyToUse`
        /// is not true.
        pub taken_of?: Option<String>,
        /// `status.error.message`, as long as it is being taken: its controller tries again and again.
        pub failure?: Option<Box<str>>,
    }

    /// What happens to the data of a deleted VolumeSnapshotContent.
    pub struct SnapshotContentFacts {
        /// `spec.deletionPolicy`.
        pub deletion_policy?: Option<String>,
        /// `spec.volumeSnapshotRef` as `namespace/name`.
        pub snapshot?: Option<String>,
        /// `spec.driver`.
        pub driver?: Option<String>,
    }
}

#[cfg(test)]
mod tests {
    use super::VolumeDeleter::{self, FormerPlugin, Kubernetes, Nobody, Provisioner};

    #[test]
    fn somebody_or_nobody_deletes_a_volume() {
        let by = |name: &str| Some(Provisioner(name.into()));
        for (made, moved, path, other, expected) in [
            (None, None, Some("/tmp/a"), None, Some(Kubernetes)),
            (Some("kubernetes.io/host-path"), None, Some("/tmp/a"), None, Some(Kubernetes)),
            (None, None, Some("/data"), None, Some(Nobody)),
            (None, None, Some("/tmp/"), None, Some(Nobody)),
            (None, None, None, Some(Nobody), Some(Nobody)),
            (Some("kubernetes.io/aws-ebs"), None, None, None, by("ebs.csi.aws.com")),
            (Some("kubernetes.io/rbd"), None, None, None, Some(FormerPlugin)),
            (Some("kubernetes.io/host-path"), None, Some("/data"), None, Some(Nobody)),
            (Some("kubernetes.io/aws-ebs"), Some("ebs.csi.aws.com"), None, None, by("ebs.csi.aws.com")),
            (Some("disks.acme.io"), None, Some("/data"), Some(Nobody), by("disks.acme.io")),
            (None, Some("disks.acme.io"), None, Some(Nobody), by("disks.acme.io")),
            (None, None, None, None, None),
            (None, None, None, Some(FormerPlugin), Some(FormerPlugin)),
            (None, Some("ebs.csi.aws.com"), None, Some(FormerPlugin), by("ebs.csi.aws.com")),
        ] {
            let found = VolumeDeleter::of(made, moved, path, other.clone());
            assert_eq!(found, expected, "{made:?} {moved:?} {path:?} {other:?}");
        }
    }
}
