//! All known finalizers: who removes them, and what their controllers do first.

use crate::model::{HOLD, UNCANCELLED};

use super::{EffectKind, named::surely_needs, pauses::matches_pattern, policies::Policy};
use EffectKind::{CleanedUp, DataLost, ExternalDeleted, LoadBalancerReleased, ObjectsDeleted};
use When::{Asked, ClaimUnused, Elsewhere, JobDoneWithPod, Terminating, Unused, VolumeUnbound};

/// A finalizer with a known controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownFinalizer {
    /// The finalizer; one `*` matches any text.
    pub finalizer: &'static str,
    /// The groups and kinds that have it; empty: any.
    pub on: &'static [(&'static str, &'static str)],
    /// The controller that removes it.
    pub by: &'static str,
    pub when: When,
    pub does: FinalizerEffect,
    /// Where this is documented.
    pub source: &'static str,
}

impl KnownFinalizer {
    /// Whether its controller is a part of Kubernetes, which runs wherever the collector does: not a cloud's, a volume
    /// driver's or an add-on's.
    pub(crate) fn is_kubernetes_own(&self) -> bool {
        const OTHERS: [&str; 2] =
            ["service.kubernetes.io/load-balancer-cleanup", "external-provisioner.volume.kubernetes.io/finalizer"];
        !matches!(self.when, When::Elsewhere | When::Asked) && !OTHERS.contains(&self.finalizer)
    }
}

/// What the controller waits for before it removes its finalizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Terminating,
    /// The object is terminating, and nobody uses it.
    Unused,
    /// No scheduled pod mentions the claim; completed pods count as well (§9.5).
    ClaimUnused,
    /// The volume's claim is gone.
    VolumeUnbound,
    /// The pod is terminating, finished or no longer a Job's (R9.8).
    JobDoneWithPod,
    /// Its own work outside the graph, which can't be predicted.
    Elsewhere,
    /// A person lets the object go.
    Asked,
}

/// What a controller does outside the graph before it removes its finalizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalizerEffect {
    /// Nothing, or something that is reported for the volume itself.
    Nothing,
    /// The effect with this text, unless the object's policy prevents it.
    Acts(EffectKind, &'static str, Option<Policy>),
}

const ANY: &[(&str, &str)] = &[];
const PV: &[(&str, &str)] = &[("", "PersistentVolume")];
const PVC: &[(&str, &str)] = &[("", "PersistentVolumeClaim")];
const SERVICE: &[(&str, &str)] = &[("", "Service")];
const INGRESS: &[(&str, &str)] = &[("networking.k8s.io", "Ingress"), ("extensions", "Ingress")];
const KARPENTER: &[(&str, &str)] = &[("", "Node"), ("karpenter.sh", "NodeClaim")];
const ARGO_CD: &[(&str, &str)] = &[("argoproj.io", "Application")];
const CSTOR: &str = "cstor.openebs.io";
const CHALLENGE: &[(&str, &str)] = &[("acme.cert-manager.io", "Challenge")];
const PXC: &[(&str, &str)] = &[("pxc.percona.com", "PerconaXtraDBCluster")];
/// The databases of KubeDB.
const KUBE_DB: &[(&str, &str)] = &[
    ("kubedb.com", "Postgres"),
    ("kubedb.com", "MySQL"),
    ("kubedb.com", "MariaDB"),
    ("kubedb.com", "MongoDB"),
    ("kubedb.com", "Redis"),
    ("kubedb.com", "Elasticsearch"),
    ("kubedb.com", "PerconaXtraDB"),
    ("kubedb.com", "Kafka"),
];
const SNAPSHOTS: &[(&str, &str)] = &[
    ("snapshot.storage.k8s.io", "VolumeSnapshot"),
    ("snapshot.storage.k8s.io", "VolumeSnapshotContent"),
    ("", "PersistentVolumeClaim"),
];
const RELEASED: FinalizerEffect =
    FinalizerEffect::Acts(LoadBalancerReleased, "its load balancer and the load balancer's address are released", None);

/// The rows of the table: a finalizer, on what, and by whom it is removed; when, and after what; where that is
/// documented.
macro_rules! finalizers {
    ($($finalizer:expr, $on:expr, $by:literal: $when_does:expr, $source:literal;)*) => {
        &[$(KnownFinalizer {
            finalizer: $finalizer,
            on: $on,
            by: $by,
            when: $when_does.0,
            does: $when_does.1,
            source: $source,
        }),*]
    };
}

/// What a controller waits for that does nothing.
const fn waits(when: When) -> (When, FinalizerEffect) {
    (when, FinalizerEffect::Nothing)
}

/// What an add-on does.
const fn acts(effect: EffectKind, text: &'static str, policy: Option<Policy>) -> (When, FinalizerEffect) {
    (Elsewhere, FinalizerEffect::Acts(effect, text, policy))
}

/// All known finalizers, except the collector's own and the one of CustomResourceDefinitions (R1.26).
pub(crate) const KNOWN_FINALIZERS: &[KnownFinalizer] = finalizers! {
    // Built-in and cloud controllers remove these by themselves (§9.5).
    "kubernetes.io/pvc-protection", PVC, "the PVC protection controller":
        waits(ClaimUnused), "kubernetes/kubernetes pkg/volume/util/finalizer.go";
    "kubernetes.io/pv-protection", PV, "the PV protection controller":
        waits(VolumeUnbound), "kubernetes/kubernetes pkg/volume/util/finalizer.go";
    "kubernetes.io/pv-controller", PV, "the volume controller":
        waits(VolumeUnbound), "kubernetes/component-helpers storage/volume/pv_helpers.go";
    "external-provisioner.volume.kubernetes.io/finalizer", PV, "the volume's provisioner":
        waits(VolumeUnbound), "kubernetes/component-helpers storage/volume/pv_helpers.go";
    "provisioner.storage.kubernetes.io/cloning-protection", PVC, "the volume's provisioner":
        waits(Elsewhere), "kubernetes-csi/external-provisioner pkg/controller/clone_controller.go";
    "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection",
        &[("snapshot.storage.k8s.io", "VolumeSnapshot")], "the volume's provisioner":
        waits(Elsewhere), "kubernetes-csi/external-provisioner pkg/controller/controller.go";
    "kubernetes.io/vac-protection", &[("storage.k8s.io", "VolumeAttributesClass")], "the VAC protection controller":
        waits(Unused), "kubernetes/kubernetes pkg/volume/util/finalizer.go";
    "service.kubernetes.io/load-balancer-cleanup", SERVICE, "the cloud's service controller":
        (Terminating, RELEASED), "kubernetes/cloud-provider service/helpers/helper.go";
    "batch.kubernetes.io/job-tracking", &[("", "Pod")], "the Job controller":
        waits(JobDoneWithPod), "kubernetes/kubernetes pkg/controller/job/job_controller.go";
    "resource.kubernetes.io/delete-protection", &[("resource.k8s.io", "ResourceClaim")],
        "the resource claim controller":
        waits(Unused), "kubernetes/kubernetes pkg/apis/resource/types.go";
    "networking.k8s.io/service-cidr-finalizer", &[("networking.k8s.io", "ServiceCIDR")], "the service CIDR controller":
        waits(Unused), "kubernetes/kubernetes pkg/controller/servicecidrs/servicecidrs_controller.go";
    "scheduling.k8s.io/podgroup-protection", &[("scheduling.k8s.io", "PodGroup")], "the pod group controller":
        waits(Unused), "kubernetes/kubernetes pkg/apis/scheduling/types.go";
    HOLD, ANY, "kubectl gc (delete --hold=0s, or cancel)":
        waits(Asked), "kubectl-gc crates/core/src/hold/mod.rs";
    UNCANCELLED, ANY, "kubectl gc (delete --hold=0s, or cancel)":
        waits(Asked), "kubectl-gc crates/core/src/hold/mod.rs";
    // Add-ons: whether their controllers run is judged by evidence (`add_ons`).
    "snapshot.storage.kubernetes.io/*", SNAPSHOTS, "the snapshot controller":
        waits(Elsewhere), "kubernetes-csi/external-snapshotter pkg/utils/util.go";
    "resources-finalizer.argocd.argoproj.io", ARGO_CD, "Argo CD":
        acts(ObjectsDeleted, "Argo CD deletes every resource that it tracks", Some(Policy::ArgoCd)),
        "https://argo-cd.readthedocs.io/en/stable/user-guide/app_deletion/";
    "resources-finalizer.argocd.argoproj.io/foreground", ARGO_CD, "Argo CD":
        acts(ObjectsDeleted, "Argo CD deletes every resource that it tracks", Some(Policy::ArgoCd)),
        "argoproj/argo-cd pkg/apis/application/v1alpha1/application_defaults.go";
    "resources-finalizer.argocd.argoproj.io/background", ARGO_CD, "Argo CD":
        acts(ObjectsDeleted, "Argo CD deletes every resource that it tracks", Some(Policy::ArgoCd)),
        "argoproj/argo-cd pkg/apis/application/v1alpha1/application_defaults.go";
    // While others use them (R9.40).
    "resources-finalizer.argocd.argoproj.io", &[("argoproj.io", "AppProject")], "Argo CD":
        waits(Elsewhere), "argoproj/argo-cd controller/appcontroller.go";
    "kueue.x-k8s.io/resource-in-use", ANY, "Kueue":
        waits(Elsewhere), "kubernetes-sigs/kueue pkg/controller/core/clusterqueue_controller.go";
    "gateway-exists-finalizer.gateway.networking.k8s.io", &[("gateway.networking.k8s.io", "GatewayClass")],
        "the gateway's controller":
        waits(Elsewhere), "kubernetes-sigs/gateway-api apis/v1/gatewayclass_types.go";
    "finalizer.managedresource.crossplane.io", ANY, "Crossplane's provider":
        acts(ExternalDeleted, "Crossplane's provider deletes the external resource", Some(Policy::Crossplane)),
        "crossplane/crossplane-runtime pkg/reconciler/managed/policies.go";
    "finalizer.apiextensions.crossplane.io", ANY, "Crossplane":
        acts(ObjectsDeleted, "Crossplane deletes the composite resource of this claim and every resource composed by \
            it", Some(Policy::CrossplaneClaim)),
        "crossplane/crossplane internal/controller/apiextensions/claim/reconciler.go";
    "cluster.cluster.x-k8s.io", &[("cluster.x-k8s.io", "Cluster")], "Cluster API":
        acts(ExternalDeleted, "Cluster API deletes the whole cluster: its machines and its infrastructure", None),
        "kubernetes-sigs/cluster-api api/v1beta1/cluster_types.go";
    "machine.cluster.x-k8s.io", &[("cluster.x-k8s.io", "Machine")], "Cluster API":
        acts(ExternalDeleted, "Cluster API drains its Node and deletes the machine", None),
        "kubernetes-sigs/cluster-api api/v1beta1/machine_types.go";
    "machinepool.cluster.x-k8s.io", &[("cluster.x-k8s.io", "MachinePool")], "Cluster API":
        acts(ExternalDeleted, "Cluster API deletes the pool's machines and their Nodes", None),
        "kubernetes-sigs/cluster-api exp/api/v1beta1/machinepool_types.go";
    "awsmachine.infrastructure.cluster.x-k8s.io", &[("infrastructure.cluster.x-k8s.io", "AWSMachine")],
        "Cluster API's AWS provider":
        acts(ExternalDeleted, "the EC2 instance is terminated", None),
        "kubernetes-sigs/cluster-api-provider-aws api/v1beta2/awsmachine_types.go";
    "machine.machine.openshift.io", &[("machine.openshift.io", "Machine")], "OpenShift's machine controller":
        acts(ExternalDeleted, "OpenShift drains its Node, and deletes the machine and the Node",
            Some(Policy::OpenShiftMachine)),
        "openshift/machine-api-operator pkg/controller/machine/controller.go";
    "karpenter.sh/termination", KARPENTER, "Karpenter":
        acts(ExternalDeleted, "Karpenter drains the Node and terminates its instance", None),
        "https://karpenter.sh/docs/concepts/disruption/";
    "finalizers.fluxcd.io", &[("kustomize.toolkit.fluxcd.io", "Kustomization")], "Flux":
        acts(ObjectsDeleted, "Flux deletes every object that it applied", Some(Policy::Kustomization)),
        "fluxcd/kustomize-controller internal/controller/kustomization_controller.go";
    "finalizers.fluxcd.io", &[("helm.toolkit.fluxcd.io", "HelmRelease")], "Flux":
        acts(ObjectsDeleted, "Flux uninstalls the Helm release", Some(Policy::HelmRelease)),
        "fluxcd/helm-controller internal/controller/helmrelease_controller.go";
    "finalizers.tf.contrib.fluxcd.io", &[("infra.contrib.fluxcd.io", "Terraform")], "the Tofu controller":
        acts(ExternalDeleted, "everything that Terraform created for it is destroyed", Some(Policy::Terraform)),
        "flux-iac/tofu-controller api/v1alpha2/terraform_types.go";
    "finalizer.stack.pulumi.com", &[("pulumi.com", "Stack")], "the Pulumi operator":
        acts(ExternalDeleted, "everything in the Pulumi stack is destroyed", Some(Policy::Pulumi)),
        "pulumi/pulumi-kubernetes-operator operator/api/pulumi/shared/stack_types.go";
    "finalizers.*.services.k8s.aws/*", ANY, "ACK":
        acts(ExternalDeleted, "ACK deletes the AWS resource", Some(Policy::Ack)),
        "https://aws-controllers-k8s.github.io/docs/guides/deletion-policy";
    "cnrm.cloud.google.com/finalizer", ANY, "Config Connector":
        acts(ExternalDeleted, "Config Connector deletes the Google Cloud resource", Some(Policy::ConfigConnector)),
        "https://cloud.google.com/config-connector/docs/how-to/managing-deleting-resources";
    "cnrm.cloud.google.com/deletion-defender", ANY, "Config Connector":
        waits(Elsewhere), "GoogleCloudPlatform/k8s-config-connector pkg/k8s/constants.go";
    "serviceoperator.azure.com/finalizer", ANY, "Azure Service Operator":
        acts(ExternalDeleted, "Azure Service Operator deletes the Azure resource", Some(Policy::AzureServiceOperator)),
        "https://azure.github.io/azure-service-operator/guide/annotations/";
    "service.k8s.aws/resources", SERVICE, "the AWS Load Balancer Controller":
        (Elsewhere, RELEASED), "kubernetes-sigs/aws-load-balancer-controller controllers/service/service_controller.go";
    "ingress.k8s.aws/resources", INGRESS, "the AWS Load Balancer Controller":
        (Elsewhere, RELEASED), "kubernetes-sigs/aws-load-balancer-controller pkg/ingress/finalizer.go";
    "group.ingress.k8s.aws/*", INGRESS, "the AWS Load Balancer Controller":
        acts(LoadBalancerReleased, "its rules are removed from the group's load balancer, which is deleted with the \
            last Ingress of the group", None),
        "kubernetes-sigs/aws-load-balancer-controller pkg/ingress/finalizer.go";
    "elbv2.k8s.aws/resources", &[("elbv2.k8s.aws", "TargetGroupBinding")], "the AWS Load Balancer Controller":
        acts(CleanedUp, "its targets are removed from the load balancer's target group", None),
        "kubernetes-sigs/aws-load-balancer-controller controllers/elbv2/targetgroupbinding_controller.go";
    "gateway.k8s.aws/*lb", &[("gateway.networking.k8s.io", "Gateway")], "the AWS Load Balancer Controller":
        (Elsewhere, RELEASED), "kubernetes-sigs/aws-load-balancer-controller pkg/gateway/constants";
    "networking.gke.io/ingress-finalizer", INGRESS, "GKE's ingress controller":
        (Elsewhere, RELEASED), "kubernetes/ingress-gce pkg/utils/common/finalizer.go";
    "networking.gke.io/ingress-finalizer-V2", INGRESS, "GKE's ingress controller":
        (Elsewhere, RELEASED), "kubernetes/ingress-gce pkg/utils/common/finalizer.go";
    "gke.networking.io/l4-*", SERVICE, "GKE's L4 controller":
        (Elsewhere, RELEASED), "kubernetes/ingress-gce pkg/utils/common/finalizer.go";
    "networking.gke.io/neg-finalizer", &[("networking.gke.io", "ServiceNetworkEndpointGroup")], "GKE's NEG controller":
        acts(LoadBalancerReleased, "its network endpoint groups are deleted", None),
        "kubernetes/ingress-gce pkg/utils/common/finalizer.go";
    "hive.openshift.io/deprovision", &[("hive.openshift.io", "ClusterDeployment")], "Hive":
        acts(ExternalDeleted, "Hive destroys the whole cluster: its machines, volumes and load balancers",
            Some(Policy::Hive)),
        "openshift/hive apis/hive/v1/clusterdeployment_types.go";
    "gardener", &[("core.gardener.cloud", "Shoot")], "Gardener":
        acts(ExternalDeleted, "Gardener deletes the whole cluster: its machines, volumes and load balancers", None),
        "gardener/gardener pkg/gardenlet/controller/shoot/shoot/reconciler_delete.go";
    "baremetalhost.metal3.io", &[("metal3.io", "BareMetalHost")], "Metal3's operator":
        acts(ExternalDeleted, "Metal3's operator deprovisions the machine, and powers it off", None),
        "metal3-io/baremetal-operator internal/controller/metal3.io/host_state_machine.go";
    "tidb.pingcap.com/backup-protection", &[("pingcap.com", "Backup")], "TiDB's operator":
        acts(DataLost, "TiDB's operator deletes the backup from its storage", Some(Policy::TidbBackup)),
        "pingcap/tidb-operator pkg/backup/backup/backup_cleaner.go";
    "cephcluster.ceph.rook.io", &[("ceph.rook.io", "CephCluster")], "Rook":
        acts(DataLost, "the Ceph cluster is destroyed, and its disks are wiped", Some(Policy::Rook)),
        "https://rook.io/docs/rook/latest/Getting-Started/ceph-teardown";
    "longhorn.io", &[("longhorn.io", "Volume")], "Longhorn":
        acts(DataLost, "Longhorn deletes the volume with all its replicas", None),
        "longhorn/longhorn-manager controller/volume_controller.go";
    "longhorn.io", &[("longhorn.io", "Backup"), ("longhorn.io", "BackupVolume")], "Longhorn":
        acts(DataLost, "Longhorn deletes the backup from its backup target", None),
        "longhorn/longhorn-manager controller/backup_controller.go";
    "longhorn.io", &[("longhorn.io", "Replica")], "Longhorn":
        acts(DataLost, "Longhorn deletes this replica of a volume", None),
        "longhorn/longhorn-manager controller/replica_controller.go";
    "cstorpoolcluster.openebs.io/finalizer", &[(CSTOR, "CStorPoolCluster")], "cStor's pool operator":
        acts(DataLost, "cStor destroys its pools, with all volumes that are in them", None),
        "openebs/cstor-operators pkg/controllers/cspc-controller/handler.go";
    "cstorpoolcluster.openebs.io/finalizer", &[(CSTOR, "CStorPoolInstance"), ("openebs.io", "BlockDeviceClaim")],
        "cStor's pool operator":
        waits(Elsewhere), "openebs/cstor-operators pkg/controllers/cspc-controller/handler.go";
    "openebs.io/bdc-protection", &[("openebs.io", "BlockDeviceClaim")], "OpenEBS' device manager":
        acts(DataLost, "OpenEBS releases its disk, and wipes it", None),
        "openebs/node-disk-manager pkg/cleaner/jobcontroller.go";
    "openebs.io/pool-protection", &[(CSTOR, "CStorPoolInstance")], "cStor's pool manager":
        acts(DataLost, "cStor destroys the pool, with all volumes that are in it", None),
        "openebs/cstor-operators pkg/controllers/cspi-controller/handler.go";
    "cvc.openebs.io/finalizer", &[(CSTOR, "CStorVolumeConfig")], "cStor's volume operator":
        acts(DataLost, "cStor deletes the volume with all its replicas", None),
        "openebs/cstor-operators pkg/controllers/cstorvolumeconfig/controller.go";
    "cstorvolumereplica.openebs.io/finalizer", &[(CSTOR, "CStorVolumeReplica"), ("openebs.io", "CStorVolumeReplica")],
        "cStor's pool manager":
        acts(DataLost, "cStor destroys this replica of a volume", None),
        "openebs/cstor-operators pkg/controllers/replica-controller/handler.go";
    "operator.libopenstorage.org/delete", &[("core.libopenstorage.org", "StorageCluster")], "the Portworx operator":
        acts(DataLost, "Portworx is uninstalled, and all its drives are wiped", Some(Policy::Portworx)),
        "libopenstorage/operator drivers/storage/portworx/portworx.go";
    "cnpg.io/deleteDatabase", &[("postgresql.cnpg.io", "Database")], "CloudNativePG's instance manager":
        acts(DataLost, "the database is dropped, with all that is in it", Some(Policy::CloudNativePg)),
        "cloudnative-pg/cloudnative-pg internal/management/controller/database_controller.go";
    "database.k8s.mariadb.com/finalizer", &[("k8s.mariadb.com", "Database")], "the MariaDB operator":
        acts(DataLost, "the database is dropped, with all that is in it", Some(Policy::MariaDb)),
        "mariadb-operator/mariadb-operator internal/controller/database_controller_finalizer.go";
    "objectbucket.io/finalizer", &[("objectbucket.io", "ObjectBucketClaim"), ("objectbucket.io", "ObjectBucket")],
        "the bucket's provisioner":
        acts(DataLost, "the bucket is deleted with all that is in it", Some(Policy::Bucket)),
        "kube-object-storage/lib-bucket-provisioner pkg/provisioner/controller.go";
    "objectbucket.io/finalizer", &[("", "ConfigMap"), ("", "Secret")], "the bucket's provisioner":
        waits(Elsewhere), "kube-object-storage/lib-bucket-provisioner pkg/provisioner/controller.go";
    "wrangler.cattle.io/VMController.CleanupPVCAndSnapshot", &[("kubevirt.io", "VirtualMachine")], "Harvester":
        acts(ObjectsDeleted, "Harvester deletes the machine's snapshots, and the claims that its annotation \
            harvesterhci.io/removedPersistentVolumeClaims names", None),
        "harvester/harvester pkg/controller/master/virtualmachine/vm_controller.go";
    "foregroundDeleteKubeVirt", &[("kubevirt.io", "KubeVirt")], "KubeVirt's operator":
        acts(ObjectsDeleted, "KubeVirt's operator deletes its CRDs, with every virtual machine",
            Some(Policy::KubeVirt)),
        "kubevirt/kubevirt pkg/virt-operator/resource/apply/delete.go";
    "operator.cdi.kubevirt.io", &[("cdi.kubevirt.io", "CDI")], "CDI's operator":
        acts(ObjectsDeleted, "CDI's operator uninstalls CDI, and may delete every DataVolume with its claim",
            Some(Policy::Cdi)),
        "kubevirt/containerized-data-importer-api pkg/apis/core/v1beta1/types.go";
    "controller.cattle.io/node-controller", &[("management.cattle.io", "Node")], "Rancher":
        acts(ObjectsDeleted, "Rancher, before version 2.12, deletes the Node that it stands for",
            Some(Policy::RancherNode)),
        "rancher/rancher pkg/controllers/management/node/controller.go";
    "controller.projectcapsule.dev/finalize", &[("capsule.clastix.io", "Tenant")], "Capsule":
        acts(ObjectsDeleted, "Capsule deletes the tenant's Namespaces, with all that is in them",
            Some(Policy::Capsule)),
        "projectcapsule/capsule internal/controllers/tenant/namespaces.go";
    "app.oam.dev/resource-tracker-finalizer", &[("core.oam.dev", "Application")], "KubeVela":
        acts(ObjectsDeleted, "KubeVela deletes its trackers, and what they list", Some(Policy::KubeVela)),
        "kubevela/kubevela pkg/resourcekeeper/gc.go";
    "resourcetracker.core.oam.dev/finalizer", &[("core.oam.dev", "ResourceTracker")], "KubeVela":
        acts(ObjectsDeleted, "KubeVela deletes what it lists", Some(Policy::KubeVelaTracker)),
        "kubevela/kubevela pkg/resourcekeeper/gc.go";
    "configsync.gke.io/reconciler", &[("configsync.gke.io", "RootSync"), ("configsync.gke.io", "RepoSync")],
        "Config Sync":
        acts(ObjectsDeleted, "Config Sync deletes every object that it applied", Some(Policy::ConfigSync)),
        "GoogleContainerTools/kpt-config-sync pkg/reconciler/finalizer/reposync_finalizer.go";
    "fleet.cattle.io/*", &[("fleet.cattle.io", "GitRepo")], "Fleet":
        acts(ObjectsDeleted, "Fleet deletes its bundles, and in every cluster what they deployed", Some(Policy::Fleet)),
        "rancher/fleet internal/cmd/controller/finalize/finalize.go";
    "fleet.cattle.io/*", &[("fleet.cattle.io", "HelmOp")], "Fleet":
        acts(ObjectsDeleted, "Fleet deletes its bundle, and in every cluster what it deployed",
            Some(Policy::FleetHelm)),
        "rancher/fleet internal/cmd/controller/finalize/finalize.go";
    "fleet.cattle.io/*", &[("fleet.cattle.io", "Bundle")], "Fleet":
        acts(ObjectsDeleted, "Fleet deletes in every cluster what it deployed", Some(Policy::FleetBundle)),
        "rancher/fleet internal/cmd/controller/finalize/finalize.go";
    "fleet.cattle.io/bundle-deployment-finalizer", &[("fleet.cattle.io", "BundleDeployment")], "Fleet's agent":
        acts(ObjectsDeleted, "Fleet's agent uninstalls what it deployed", Some(Policy::FleetDeployment)),
        "rancher/fleet internal/cmd/agent/deployer/cleanup/cleanup.go";
    "wrangler.cattle.io/on-helm-chart-remove", &[("helm.cattle.io", "HelmChart")], "the Helm controller of k3s":
        acts(ObjectsDeleted, "the Helm controller of k3s uninstalls the Helm release", Some(Policy::HelmChart)),
        "k3s-io/helm-controller pkg/controllers/chart/chart.go";
    "finalizers.kapp-ctrl.k14s.io/delete", &[("kappctrl.k14s.io", "App")], "kapp-controller":
        acts(ObjectsDeleted, "kapp-controller deletes everything that it deployed", Some(Policy::Kapp)),
        "carvel-dev/kapp-controller pkg/app/app_reconcile.go";
    "istio-finalizer.install.istio.io", &[("install.istio.io", "IstioOperator")], "Istio's operator":
        acts(ObjectsDeleted, "Istio's operator deletes the control plane and its gateways",
            Some(Policy::IstioOperator)),
        "istio/istio operator/pkg/controller/istiocontrolplane/istiocontrolplane_controller.go";
    "percona.com/delete-pxc-pvc", PXC, "the Percona operator":
        acts(ObjectsDeleted, "the operator deletes the database's PersistentVolumeClaims", Some(Policy::PerconaClaims)),
        "percona/percona-xtradb-cluster-operator pkg/naming/naming.go";
    "percona.com/delete-proxysql-pvc", PXC, "the Percona operator":
        acts(ObjectsDeleted, "the operator deletes ProxySQL's PersistentVolumeClaims", Some(Policy::PerconaClaims)),
        "percona/percona-xtradb-cluster-operator pkg/naming/naming.go";
    "percona.com/delete-psmdb-pvc", &[("psmdb.percona.com", "PerconaServerMongoDB")], "the Percona operator":
        acts(ObjectsDeleted, "the operator deletes the database's PersistentVolumeClaims", Some(Policy::PerconaClaims)),
        "percona/percona-server-mongodb-operator pkg/naming/naming.go";
    "percona.com/delete-pvc", &[("pgv2.percona.com", "PerconaPGCluster")], "the Percona operator":
        acts(ObjectsDeleted, "the operator deletes the database's PersistentVolumeClaims", Some(Policy::PerconaClaims)),
        "percona/percona-postgresql-operator percona/controller/pgcluster/finalizer.go";
    "kubedb.com", KUBE_DB, "KubeDB":
        acts(ObjectsDeleted, "KubeDB deletes the database's PersistentVolumeClaims", Some(Policy::KubeDb)),
        "kubedb/apimachinery apis/kubedb/v1/types.go";
    "postgres-operator.acid.zalan.do", &[("acid.zalan.do", "postgresql")], "Zalando's Postgres operator":
        acts(ObjectsDeleted, "the operator deletes the database's StatefulSet, Services, Secrets and \
            PersistentVolumeClaims, unless its configuration keeps these", Some(Policy::Zalando)),
        "zalando/postgres-operator pkg/cluster/cluster.go";
    "finalizer.clickhouseinstallation.altinity.com", &[("clickhouse.altinity.com", "ClickHouseInstallation")],
        "Altinity's ClickHouse operator":
        acts(ObjectsDeleted, "the operator deletes the PersistentVolumeClaims that don't say Retain",
            Some(Policy::Altinity)),
        "Altinity/clickhouse-operator pkg/controller/chi/worker.go";
    "strimzi.io/topic-operator", &[("kafka.strimzi.io", "KafkaTopic")], "Strimzi's topic operator":
        acts(DataLost, "the topic is deleted in Kafka, with all its messages", Some(Policy::Strimzi)),
        "strimzi/strimzi-kafka-operator \
            topic-operator/src/main/java/io/strimzi/operator/topic/BatchingTopicController.java";
    "restores.velero.io/external-resources-finalizer", &[("velero.io", "Restore")], "Velero":
        acts(CleanedUp, "Velero deletes the restore's logs and results from its storage", None),
        "vmware-tanzu/velero pkg/controller/restore_controller.go";
    "finalizer.acme.cert-manager.io", CHALLENGE, "cert-manager":
        acts(CleanedUp, "cert-manager removes the DNS record or pod that answers the challenge", None),
        "cert-manager/cert-manager internal/controller/feature/features.go";
    "acme.cert-manager.io/finalizer", CHALLENGE, "cert-manager":
        acts(CleanedUp, "cert-manager removes the DNS record or pod that answers the challenge", None),
        "cert-manager/cert-manager internal/controller/feature/features.go";
};

impl KnownFinalizer {
    /// Whether this is the entry for a finalizer on an object of this kind.
    pub fn matches(&self, finalizer: &str, group: &str, kind: &str) -> bool {
        (self.on.is_empty() || self.on.contains(&(group, kind))) && matches_pattern(self.finalizer, finalizer)
    }

    /// The policy that decides what its controller does.
    pub fn policy(&self) -> Option<Policy> {
        match self.does {
            FinalizerEffect::Acts(_, _, policy) => policy,
            FinalizerEffect::Nothing => None,
        }
    }
}

/// Whether objects with the same finalizer share what its controller deletes with the last of them.
pub(crate) fn is_of_a_group(finalizer: &str) -> bool {
    finalizer.starts_with("group.ingress.k8s.aws/")
}

/// The entry for a finalizer on an object of this kind.
pub fn known_finalizer(finalizer: &str, group: &str, kind: &str) -> Option<&'static KnownFinalizer> {
    KNOWN_FINALIZERS.iter().find(|known| known.matches(finalizer, group, kind))
}

/// The entry for a finalizer on objects of one of these resources, by their full names.
pub(crate) fn known_finalizer_in(finalizer: &str, resources: &[String]) -> Option<&'static KnownFinalizer> {
    let is_of = |resource: &String, (group, kind): (&str, &str)| {
        let (plural, own) = resource.split_once('.').unwrap_or((resource, ""));
        let kind = kind.to_ascii_lowercase();
        // The plural of `policy` ends otherwise.
        own == group && plural.starts_with(&kind[..kind.len().saturating_sub(1)])
    };
    let is_here = |on: &(&str, &str)| resources.iter().any(|resource| is_of(resource, *on));
    let mut all = KNOWN_FINALIZERS.iter().filter(|known| known.on.is_empty() || known.on.iter().any(is_here));
    all.find(|known| matches_pattern(known.finalizer, finalizer))
}

/// These controllers read what their objects name, and remove their finalizers without it (fluxcd/source-controller
/// internal/controller/gitrepository_controller.go:reconcileDelete).
const NEEDS_NOTHING: &str = "finalizers.fluxcd.io";

/// Whether the controller of a finalizer may need what an object of a kind names: a table says so, it is in no table,
/// or it deletes something outside of the cluster.
pub(crate) fn may_need(finalizer: &str, group: &str, kind: &str) -> bool {
    if surely_needs(finalizer, group, kind) {
        return true;
    }
    let deletes_outside = |does| matches!(does, FinalizerEffect::Acts(ExternalDeleted | DataLost, ..));
    // Kubernetes' own kinds name what others use.
    group.contains('.')
        && !group.ends_with(".k8s.io")
        && !matches!(finalizer, "foregroundDeletion" | "orphan")
        && finalizer != NEEDS_NOTHING
        && known_finalizer(finalizer, group, kind).is_none_or(|known| deletes_outside(known.does))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_at_least_one_character() {
        let cases = [
            ("a/b", "a/b", true),
            ("a/b", "a/bc", false),
            ("a/*", "a/", false),
            ("a/*", "a/b", true),
            ("finalizers.*.services.k8s.aws/*", "finalizers.s3.services.k8s.aws/Bucket", true),
            ("finalizers.*.services.k8s.aws/*", "finalizers.services.k8s.aws/Bucket", false),
            ("finalizers.*.services.k8s.aws/*", "finalizers.s3.services.k8s.aws/", false),
            ("finalizers.*.services.k8s.aws/*", "finalizers.ä.services.k8s.aws/ü", true),
            ("a*b", "ab", false),
            ("a*b", "axb", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn every_entry_is_found_and_has_a_source() {
        for known in KNOWN_FINALIZERS {
            let example = known.finalizer.replace('*', "x");
            let (group, kind) = known.on.first().copied().unwrap_or(("any.example.org", "Any"));
            assert_eq!(
                known_finalizer(&example, group, kind),
                Some(known),
                "each entry is the first for what it is about"
            );
            let cited = known.source.starts_with("https://") || known.source.split(['/', ' ']).count() >= 3;
            assert!(cited, "{}: {}", known.finalizer, known.source);
        }
        assert_eq!(
            known_finalizer("karpenter.sh/termination", "karpenter.sh", "NodePool"),
            None,
            "its Nodes are its dependents"
        );
    }
}
