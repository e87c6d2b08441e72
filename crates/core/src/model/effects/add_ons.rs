//! Controllers of add-ons: how their workloads and Leases are called, so that evidence shows whether they run.

/// The controller that removes some finalizers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddOn {
    pub name: &'static str,
    /// Its finalizers: what stands in front of the slash. Words of finalizers and of the object's kind may precede it:
    /// another word is another's (`results.tekton.dev` on a TaskRun). `.x.y` is any domain within `x.y`; one with a
    /// slash is how the whole finalizer begins.
    domains: &'static [&'static str],
    /// The groups of the objects that it handles; empty: any. A group below may be a sister's.
    groups: &'static [&'static str],
    /// The kinds that it handles; empty: any.
    kinds: &'static [&'static str],
    /// The usual names of its workload, in which `*` is the first word of the object's group. A release's name may
    /// precede them. Without any, nothing shows that it runs: which workload it is isn't known.
    workloads: &'static [&'static str],
    /// How names of workloads begin that may be its own: it runs several, one for each provider or service.
    beginnings: &'static [&'static str],
    /// The add-on's names in labels such as `app.kubernetes.io/part-of`: such a workload is some component of it.
    pub labels: &'static [&'static str],
    /// The Leases of its leader, with `*` as in `workloads`.
    leases: &'static [&'static str],
    /// It may run where the cluster doesn't show it, for instance in a cloud's control plane.
    pub may_run_outside: bool,
    /// It leaves its finalizers on objects of others when it goes: only where it is seen, it is said to remove them.
    pub often_left: bool,
    /// Since which of its versions it leaves these finalizers, though it runs; which version runs isn't known.
    pub given_up: &'static str,
    /// Unless a setting names other namespaces, it handles what is in its own.
    pub own_namespace: bool,
    /// It runs beside what it handles, and nowhere else.
    pub runs_beside: bool,
}

const NONE: AddOn = AddOn {
    name: "",
    domains: &[],
    groups: &[],
    kinds: &[],
    workloads: &[],
    beginnings: &[],
    labels: &[],
    leases: &[],
    may_run_outside: false,
    often_left: false,
    given_up: "",
    own_namespace: false,
    runs_beside: false,
};

/// The rows of the table: an add-on's name and what is known of it.
macro_rules! add_ons {
    ($($name:literal { $($field:ident: $value:expr),* })*) => {
        &[$(AddOn { name: $name, $($field: $value,)* ..NONE }),*]
    };
}

/// All known add-ons. The first one that fits counts.
const ADD_ONS: &[AddOn] = add_ons! {
    // argoproj/argo-cd manifests/base/application-controller/argocd-application-controller-statefulset.yaml
    // argoproj/argo-cd docs/operator-manual/app-any-namespace.md
    "Argo CD" { domains: &["argocd.argoproj.io"], kinds: &["Application", "AppProject"],
        workloads: &["argocd-application-controller", "gitops-application-controller"], labels: &["argocd"],
        own_namespace: true }
    "Argo CD" { domains: &["argocd.argoproj.io"], kinds: &["ApplicationSet"],
        workloads: &["argocd-applicationset-controller", "gitops-applicationset-controller"], labels: &["argocd"],
        own_namespace: true }
    // argoproj/argo-workflows manifests/base/workflow-controller/workflow-controller-deployment.yaml
    "Argo Workflows" { domains: &["argoproj.io"], kinds: &["Workflow", "CronWorkflow", "WorkflowTemplate"],
        workloads: &["workflow-controller"], labels: &["argo-workflows"] }
    // argoproj/argo-workflows workflow/common/common.go: FinalizerPodStatus, on pods.
    "Argo Workflows" { domains: &["workflows.argoproj.io"], workloads: &["workflow-controller"],
        labels: &["argo-workflows"] }
    // argoproj/gitops-engine pkg/sync/hook/hook.go: HookFinalizer, on what an Application's hooks create anywhere.
    "Argo CD" { domains: &["argocd.argoproj.io"],
        workloads: &["argocd-application-controller", "gitops-application-controller"], labels: &["argocd"] }
    // argoproj/argo-events manifests/base/controller-manager/controller-manager-deployment.yaml: it is called as many
    // are, and its finalizers have no domain.
    "Argo Events" { domains: &["eventbus-controller", "eventsource-controller", "sensor-controller"],
        groups: &["argoproj.io"], labels: &["argo-events"], beginnings: &["argo-events-controller-manager"] }
    "Argo" { domains: &[".argoproj.io"], labels: &["argocd", "argo-workflows", "argo-events", "argo-rollouts"] }
    // crossplane/crossplane cluster/charts/crossplane/templates/deployment.yaml
    "Crossplane" { domains: &[".apiextensions.crossplane.io", ".pkg.crossplane.io"], workloads: &["crossplane"],
        labels: &["crossplane"], leases: &["crossplane-leader-election-core"] }
    // crossplane/crossplane internal/controller/pkg/revision/runtime.go: a provider's workload has a generated name.
    // crossplane/crossplane-runtime pkg/reconciler/providerconfig/reconciler.go: each provider's own.
    "Crossplane's provider" { domains: &[".crossplane.io"], beginnings: &["provider-"] }
    // kubernetes-sigs/cluster-api-provider-aws config/manager/manager.yaml
    "Cluster API's AWS provider" { domains: &["infrastructure.cluster.x-k8s.io"],
        groups: &["infrastructure.cluster.x-k8s.io"],
        kinds: &["AWSMachine", "AWSCluster", "AWSManagedCluster", "AWSMachinePool", "AWSManagedMachinePool"],
        workloads: &["capa-controller-manager"], leases: &["controller-leader-elect-capa"] }
    // kubernetes-sigs/cluster-api config/manager/manager.yaml
    "Cluster API" { domains: &["cluster.x-k8s.io", "addons.cluster.x-k8s.io", "topology.cluster.x-k8s.io"],
        groups: &["cluster.x-k8s.io", "addons.cluster.x-k8s.io"],
        kinds: &["Cluster", "Machine", "MachineSet", "MachineDeployment", "MachinePool", "ClusterResourceSet",
            "ClusterResourceSetBinding"],
        workloads: &["capi-controller-manager"], leases: &["controller-leader-election-capi"] }
    // kubernetes-sigs/cluster-api controlplane/kubeadm/config/manager/manager.yaml
    "Cluster API's kubeadm control plane" { domains: &["controlplane.cluster.x-k8s.io"],
        kinds: &["KubeadmControlPlane"], workloads: &["capi-kubeadm-control-plane-controller-manager"],
        may_run_outside: true }
    // Other providers have workloads of their own, such as capv-controller-manager.
    "Cluster API's provider" { domains: &[".cluster.x-k8s.io"],
        beginnings: &["capd-", "capg-", "caph-", "capk-", "capm3-", "capo-", "capv-", "capx-", "capz-"],
        may_run_outside: true }
    // openshift/machine-api-operator; hosted control planes run it elsewhere.
    // openshift/cluster-control-plane-machine-set-operator handles the ControlPlaneMachineSet.
    "OpenShift's machine controller" { domains: &["machine.openshift.io"], kinds: &["Machine"],
        workloads: &["machine-api-controllers"], may_run_outside: true }
    // aws/karpenter-provider-aws charts/karpenter/templates/deployment.yaml; clouds run it, too.
    "Karpenter" { domains: &["karpenter.sh", "karpenter.k8s.aws", "karpenter.azure.com"], workloads: &["karpenter"],
        leases: &["karpenter-leader-election"], may_run_outside: true }
    // openshift/hive config/controllers/deployment.yaml
    "Hive" { domains: &["hive.openshift.io"], groups: &["hive.openshift.io"], workloads: &["hive-controllers"] }
    // gardener/gardener charts/gardener/gardenlet: it runs in the seed, which is another cluster.
    "Gardener" { domains: &["gardener"], groups: &["core.gardener.cloud"], kinds: &["Shoot"],
        workloads: &["gardenlet"], may_run_outside: true }
    // metal3-io/baremetal-operator config/base/manager.yaml; openshift/cluster-baremetal-operator calls it otherwise.
    "Metal3's operator" { domains: &["baremetalhost.metal3.io"], groups: &["metal3.io"],
        workloads: &["baremetal-operator-controller-manager", "metal3-baremetal-operator"] }
    // pingcap/tidb-operator charts/tidb-operator/templates/controller-manager-deployment.yaml
    "TiDB's operator" { domains: &["tidb.pingcap.com"], groups: &["pingcap.com"],
        workloads: &["tidb-controller-manager"] }
    // fluxcd/flux2 manifests/bases: one controller for each group.
    "Flux" { domains: &["fluxcd.io"],
        groups: &["kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "source.toolkit.fluxcd.io",
            "notification.toolkit.fluxcd.io"],
        workloads: &["*-controller"], labels: &["flux"], leases: &["*-controller-leader-election"] }
    "Flux" { domains: &["fluxcd.io"], kinds: &["ImageRepository", "ImagePolicy"],
        workloads: &["image-reflector-controller"], labels: &["flux"],
        leases: &["image-reflector-controller-leader-election"] }
    "Flux" { domains: &["fluxcd.io"], kinds: &["ImageUpdateAutomation"], workloads: &["image-automation-controller"],
        labels: &["flux"], leases: &["image-automation-controller-leader-election"] }
    // flux-iac/tofu-controller charts/tofu-controller
    "the Tofu controller" { domains: &["tf.contrib.fluxcd.io"], workloads: &["tofu-controller", "tf-controller"] }
    "Flux" { domains: &[".fluxcd.io"], labels: &["flux"] }
    // pulumi/pulumi-kubernetes-operator operator/config/manager/manager.yaml
    "the Pulumi operator" { domains: &["pulumi.com"],
        workloads: &["pulumi-kubernetes-operator", "pulumi-kubernetes-operator-controller-manager"] }
    // aws-controllers-k8s: one controller for each service; EKS runs them, too.
    "ACK" { domains: &[".services.k8s.aws"], workloads: &["ack-*-controller", "*-chart"], may_run_outside: true }
    // GoogleCloudPlatform/k8s-config-connector pkg/controller/deletiondefender, config/installbundle
    "Config Connector's deletion defender" { domains: &["cnrm.cloud.google.com/deletion-defender"],
        workloads: &["cnrm-deletiondefender"], may_run_outside: true }
    "Config Connector" { domains: &["cnrm.cloud.google.com"], workloads: &["cnrm-controller-manager"],
        beginnings: &["cnrm-controller-manager-"], may_run_outside: true }
    // Azure/azure-service-operator v2/config/manager/manager.yaml
    "Azure Service Operator" { domains: &["serviceoperator.azure.com"],
        workloads: &["azureserviceoperator-controller-manager", "azure-service-operator-controller-manager"] }
    // aws/aws-application-networking-k8s config/manager/manager.yaml: of VPC Lattice, which has no load balancers.
    "the AWS Gateway API Controller" {
        domains: &["gateway.k8s.aws/resources", "httproute.k8s.aws", "grpcroute.k8s.aws", "serviceexport.k8s.aws"],
        workloads: &["gateway-api-controller", "aws-gateway-controller-chart"], may_run_outside: true }
    // kubernetes-sigs/aws-load-balancer-controller helm/aws-load-balancer-controller; EKS Auto Mode runs its own.
    "the AWS Load Balancer Controller" {
        domains: &["elbv2.k8s.aws", "service.k8s.aws", ".ingress.k8s.aws", "gateway.k8s.aws"],
        workloads: &["aws-load-balancer-controller"], leases: &["aws-load-balancer-controller-leader"],
        may_run_outside: true }
    // aws/amazon-vpc-resource-controller-k8s and the network policy controller, both in EKS' control plane.
    "EKS" { domains: &[".networking.k8s.aws"], may_run_outside: true }
    // EKS Auto Mode runs controllers of load balancers, Ingresses and NodeClasses outside of the cluster.
    "EKS Auto Mode" { domains: &["service.eks.amazonaws.com", ".ingress.eks.amazonaws.com", "eks.amazonaws.com"],
        may_run_outside: true }
    "GKE" { domains: &[".networking.gke.io", ".gke.networking.io"], may_run_outside: true }
    // kubernetes-csi/external-snapshotter deploy/kubernetes/snapshot-controller; clouds run it in the control plane.
    "the snapshot controller" { domains: &["snapshot.storage.kubernetes.io"], workloads: &["snapshot-controller"],
        leases: &["snapshot-controller-leader"], may_run_outside: true }
    // kubernetes/cloud-provider: a cloud may run it in its control plane.
    "the cloud's service controller" { domains: &["service.kubernetes.io"], kinds: &["Service"],
        workloads: &["cloud-controller-manager"], leases: &["cloud-controller-manager"], may_run_outside: true }
    "the volume's provisioner" {
        domains: &["external-provisioner.volume.kubernetes.io", "provisioner.storage.kubernetes.io"],
        may_run_outside: true }
    "the volume's CSI driver" { domains: &["external-attacher", "external-resizer"], may_run_outside: true }
    "the gateway's controller" { domains: &[".gateway.networking.k8s.io"], may_run_outside: true }
    // kubernetes-sigs/kueue charts/kueue/templates/manager/manager.yaml
    "Kueue" { domains: &["kueue.x-k8s.io"], workloads: &["kueue-controller-manager"] }
    // StarRocks/starrocks-kubernetes-operator deploy/operator.yaml
    "StarRocks' operator" {
        domains: &["starrocks.com.starrockscluster", "starrocks.com.statefulset", "starrocks.com.service"],
        workloads: &["kube-starrocks-operator"] }
    // rook/rook deploy/charts/rook-ceph/templates/deployment.yaml
    "Rook" { domains: &["ceph.rook.io"], workloads: &["rook-ceph-operator"] }
    // ray-project/kuberay helm-chart/kuberay-operator/templates/deployment.yaml
    "KubeRay" { domains: &["ray.io"], workloads: &["kuberay-operator"] }
    // libopenstorage/operator deploy/operator.yaml
    "the Portworx operator" { domains: &[".libopenstorage.org"], workloads: &["portworx-operator"] }
    // percona/percona-helm-charts charts/pxc-operator and others: one operator for each database.
    "the Percona operator" { domains: &[".percona.com"] }
    // strimzi/strimzi-kafka-operator: the topic operator runs beside the user operator, or alone.
    "Strimzi's topic operator" { domains: &["strimzi.io"], kinds: &["KafkaTopic"],
        workloads: &["entity-operator", "strimzi-topic-operator"], labels: &["strimzi"], runs_beside: true }
    // vmware-tanzu/velero pkg/install/daemonset.go: what moves data runs on each node.
    "Velero's node agent" { domains: &["velero.io"],
        kinds: &["DataUpload", "DataDownload", "PodVolumeBackup", "PodVolumeRestore"], workloads: &["node-agent"],
        own_namespace: true }
    // vmware-tanzu/velero pkg/install/deployment.go
    "Velero" { domains: &["velero.io"], workloads: &["velero"], own_namespace: true, runs_beside: true }
    // prometheus-operator/prometheus-operator example/rbac/prometheus-operator; charts add the name of their release.
    "the Prometheus operator" { domains: &["monitoring.coreos.com"], groups: &["monitoring.coreos.com"],
        workloads: &["prometheus-operator", "kube-prometheus-stack-operator"] }
    // VictoriaMetrics/operator config/manager/manager.yaml, VictoriaMetrics/helm-charts: on all that it makes, too.
    "VictoriaMetrics' operator" { domains: &["apps.victoriametrics.com"],
        workloads: &["victoria-metrics-operator", "vm-operator"] }
    // open-policy-agent/gatekeeper deploy/gatekeeper.yaml
    "Gatekeeper" { domains: &[".gatekeeper.sh"], workloads: &["gatekeeper-controller-manager"],
        labels: &["gatekeeper"] }
    // kubernetes-sigs/vsphere-csi-driver manifests/vanilla/vsphere-csi-driver.yaml
    "the vSphere CSI driver" { domains: &["cns.vmware.com"], workloads: &["vsphere-csi-controller"] }
    // kubedb/installer charts/kubedb-provisioner/templates/deployment.yaml
    "KubeDB" { domains: &["kubedb.com"], groups: &["kubedb.com"],
        workloads: &["kubedb-provisioner", "kubedb-operator"] }
    // zalando/postgres-operator charts/postgres-operator/templates/deployment.yaml
    "Zalando's Postgres operator" { domains: &[".acid.zalan.do"], workloads: &["postgres-operator"] }
    // Altinity/clickhouse-operator deploy/helm/clickhouse-operator
    "Altinity's ClickHouse operator" { domains: &["clickhouseinstallation.altinity.com"],
        workloads: &["clickhouse-operator", "altinity-clickhouse-operator"] }
    // cert-manager/cert-manager deploy/charts/cert-manager/templates/deployment.yaml
    "cert-manager" { domains: &["cert-manager.io", "acme.cert-manager.io"],
        groups: &["cert-manager.io", "acme.cert-manager.io"], workloads: &["cert-manager"], labels: &["cert-manager"],
        leases: &["cert-manager-controller"] }
    // tektoncd/chains config/100-deployment.yaml: it signs runs, and keeps them until it has.
    "Tekton Chains" { domains: &["chains.tekton.dev"], workloads: &["tekton-chains-controller"] }
    // tektoncd/pipeline config/controller.yaml
    "Tekton" { domains: &["tekton.dev"], groups: &["tekton.dev"], workloads: &["tekton-pipelines-controller"],
        labels: &["tekton-pipelines"] }
    // kedacore/charts keda/templates/manager/deployment.yaml
    "KEDA" { domains: &["keda.sh"], groups: &["keda.sh", "eventing.keda.sh"], workloads: &["keda-operator"],
        labels: &["keda"] }
    // longhorn/longhorn chart/templates/daemonset-sa.yaml
    "Longhorn" { domains: &["longhorn.io"], workloads: &["longhorn-manager"] }
    // openebs/cstor-operators deploy/helm/charts/templates: the pool managers run in the pods of the pools.
    "cStor's pool operator" { domains: &["cstorpoolcluster.openebs.io"], workloads: &["cspc-operator"] }
    "cStor's volume operator" { domains: &["cvc.openebs.io"], workloads: &["cvc-operator"] }
    "OpenEBS' device manager" { domains: &["openebs.io"], kinds: &["BlockDeviceClaim"], workloads: &["ndm-operator"] }
    "cStor's pool manager" { domains: &["openebs.io", "cstorvolumereplica.openebs.io"],
        kinds: &["CStorPoolInstance", "CStorVolumeReplica"], labels: &["cstor-pool"] }
    // openebs/mayastor-extensions k8s/operators/src/pool, chart/templates/mayastor/operators/operator-diskpool.yaml
    "Mayastor's pool operator" { domains: &["openebs.io"], kinds: &["DiskPool"],
        workloads: &["openebs-operator-diskpool", "mayastor-operator-diskpool"] }
    // cloudnative-pg/cloudnative-pg internal/management: it runs in the database's pods, which no workload makes.
    "CloudNativePG's instance manager" { domains: &["cnpg.io"], kinds: &["Database", "Publication", "Subscription"],
        may_run_outside: true }
    // mariadb-operator/mariadb-operator deploy/charts/mariadb-operator/templates/operator/deployment.yaml
    "the MariaDB operator" { domains: &[".k8s.mariadb.com"], workloads: &["mariadb-operator"] }
    // carvel-dev/kapp-controller config/config/deployment.yml
    "kapp-controller" { domains: &["kapp-ctrl.k14s.io", "packageinstall.packaging.carvel.dev"],
        workloads: &["kapp-controller"] }
    // kubernetes-retired/service-catalog charts/catalog/templates/controller-manager-deployment.yaml
    "Service Catalog" { domains: &["kubernetes-incubator/service-catalog"], workloads: &["catalog-controller-manager"] }
    // istio/istio manifests/charts/istio-operator/templates/deployment.yaml
    "Istio's operator" { domains: &["install.istio.io"], workloads: &["istio-operator"] }
    // kube-object-storage/lib-bucket-provisioner: each store has a provisioner of its own.
    "the bucket's provisioner" { domains: &["objectbucket.io"] }
    // rancher/fleet charts/fleet/templates/deployment.yaml, charts/fleet-agent/templates/deployment.yaml
    "Fleet's agent" { domains: &["fleet.cattle.io"], kinds: &["BundleDeployment"], workloads: &["fleet-agent"] }
    "Fleet" { domains: &["fleet.cattle.io"], workloads: &["fleet-controller"] }
    // harvester/harvester deploy/charts/harvester/templates/deployment.yaml
    "Harvester" { domains: &["wrangler.cattle.io/VMController."], groups: &["kubevirt.io"], workloads: &["harvester"] }
    // k3s-io/helm-controller pkg/controllers/chart/chart.go: k3s and RKE2 run it within their server.
    "the Helm controller of k3s" { domains: &["wrangler.cattle.io"], groups: &["helm.cattle.io"],
        may_run_outside: true }
    // k3s-io/k3s pkg/etcd/controller.go, pkg/node/controller.go; RKE2 is built on it.
    "the server of k3s or RKE2" { domains: &["wrangler.cattle.io"], groups: &[""], kinds: &["Node"],
        may_run_outside: true }
    // rancher/rancher pkg/controllers/management/node/controller.go: since version 2.12, Rancher leaves this one.
    "Rancher" { domains: &["controller.cattle.io/node-controller"], groups: &["management.cattle.io"],
        kinds: &["Node"], workloads: &["rancher"], given_up: "since version 2.12", often_left: true }
    // rancher/rancher chart/templates/deployment.yaml; rancher/rancher-cleanup cleanup.sh. In the clusters that it
    // manages, it acts through its agent.
    "Rancher" { domains: &[".controller.cattle.io"], workloads: &["rancher"], beginnings: &["cattle-cluster-agent"],
        often_left: true }
    "Rancher" { domains: &["wrangler.cattle.io"],
        groups: &["management.cattle.io", "provisioning.cattle.io", "project.cattle.io", "cluster.cattle.io",
            "rke.cattle.io", "rbac.authorization.k8s.io"],
        workloads: &["rancher"], beginnings: &["cattle-cluster-agent"], often_left: true }
    // kubevela/kubevela charts/vela-core/templates/kubevela-controller.yaml
    "KubeVela" { domains: &["app.oam.dev", "resourcetracker.core.oam.dev"], groups: &["core.oam.dev"],
        workloads: &["vela-core"] }
    // projectcapsule/capsule charts/capsule/templates/deployment.yaml, pkg/api/meta/finalizers.go
    "Capsule" { domains: &[".projectcapsule.dev", "capsule.clastix.io"], groups: &["capsule.clastix.io"],
        workloads: &["capsule-controller-manager"], labels: &["capsule"] }
    // GoogleContainerTools/kpt-config-sync pkg/core/name.go: each RootSync and RepoSync has a reconciler of its own.
    "Config Sync" { domains: &["configsync.gke.io"], beginnings: &["root-reconciler", "ns-reconciler"] }
    // operator-framework/operator-lifecycle-manager deploy/chart/templates/0000_50_olm_07-olm-operator.deployment.yaml
    "OLM" { domains: &["operators.coreos.com"], kinds: &["ClusterServiceVersion"], workloads: &["olm-operator"] }
    // kubevirt/kubevirt staging/src/kubevirt.io/api/core/v1/types.go: its finalizers have no domain.
    "KubeVirt's operator" { domains: &["foregroundDeleteKubeVirt"], workloads: &["virt-operator"] }
    // kubevirt/containerized-data-importer pkg/operator/controller/controller.go
    "CDI's operator" { domains: &["operator.cdi.kubevirt.io"], kinds: &["CDI"] }
    // kubevirt/kubevirt pkg/virt-controller/watch/application.go; CDI's group and others are within this one, too.
    "KubeVirt" { domains: &["foregroundDeleteVirtualMachine", ".kubevirt.io"],
        groups: &["kubevirt.io", "snapshot.kubevirt.io", "export.kubevirt.io", "clone.kubevirt.io", "pool.kubevirt.io",
            "migrations.kubevirt.io"],
        workloads: &["virt-controller"], labels: &["kubevirt", "virt-handler"] }
};

/// The add-on whose controller removes this finalizer from an object of this kind, by what is known of it.
pub fn add_on(finalizer: &str, group: &str, kind: &str) -> Option<&'static AddOn> {
    ADD_ONS.iter().find(|add_on| {
        add_on.domains.iter().any(|own| is_of_domain(finalizer, own, kind))
            && (add_on.groups.is_empty() || add_on.groups.contains(&group))
            && (add_on.kinds.is_empty() || add_on.kinds.contains(&kind))
    })
}

/// Whether a finalizer is one of a domain of the table.
fn is_of_domain(finalizer: &str, own: &str, kind: &str) -> bool {
    let domain = finalizer.split('/').next().unwrap_or(finalizer);
    if let Some(parent) = own.strip_prefix('.') {
        return is_within(domain, parent);
    }
    let before = || domain.strip_suffix(own)?.strip_suffix('.');
    let is_plain = |word: &str| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        word.contains("finalizer") || kind.to_ascii_lowercase().starts_with(singular)
    };
    domain == own
        || own.contains('/') && finalizer.starts_with(own)
        || before().is_some_and(|words| words.split('.').all(is_plain))
}

/// Whether a domain is another or a part of it.
pub(crate) fn is_within(domain: &str, parent: &str) -> bool {
    domain == parent || domain.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
}

/// A name of the table for objects of this group.
fn for_group(name: &str, group: &str) -> String {
    name.replace('*', group.split('.').next().unwrap_or_default())
}

/// Whether a workload of this name is known as the controller of something else than this group.
pub(crate) fn is_of_another(workload: &str, group: &str, add_on: Option<&AddOn>) -> bool {
    let is_its = |other: &AddOn| {
        let groups = other.groups.iter().copied().filter(|own| *own != group);
        other.is_called(workload, "*") || groups.into_iter().any(|of| other.is_called(workload, of))
    };
    !add_on.is_some_and(|add_on| add_on.is_called(workload, group)) && ADD_ONS.iter().any(is_its)
}

impl AddOn {
    /// Whether a workload of this name is its controller for objects of this group. A release's name may precede the
    /// usual name.
    pub(crate) fn is_called(&self, name: &str, group: &str) -> bool {
        self.workloads.iter().any(|usual| {
            let usual = for_group(usual, group);
            name.strip_suffix(&*usual).is_some_and(|rest| rest.is_empty() || rest.ends_with('-'))
        })
    }

    /// Whether the name of its workload is known.
    pub(crate) fn has_names(&self) -> bool {
        !self.workloads.is_empty()
    }

    /// How its workload is usually called.
    pub(crate) fn usual_name(&self, group: &str) -> Option<String> {
        self.workloads.first().map(|usual| for_group(usual, group))
    }

    /// The Leases of its leader.
    pub(crate) fn leases(&self, group: &str) -> impl Iterator<Item = String> {
        self.leases.iter().map(move |lease| for_group(lease, group))
    }

    /// Whether nothing but its name is known: then the kind itself may tell more.
    pub(crate) fn is_only_a_name(&self) -> bool {
        !self.has_names() && self.labels.is_empty() && self.beginnings.is_empty() && !self.may_run_outside
    }

    /// Whether a workload of this name may be its controller.
    pub(crate) fn may_be_called(&self, name: &str) -> bool {
        self.beginnings.iter().any(|beginning| name.starts_with(beginning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::effects::{When, finalizers::KNOWN_FINALIZERS};

    #[test]
    fn domains_match_as_a_whole() {
        let name = |finalizer, group, kind| add_on(finalizer, group, kind).map(|add_on| add_on.name);
        let argo = "resources-finalizer.argocd.argoproj.io";
        assert_eq!(name(argo, "argoproj.io", "Application"), Some("Argo CD"));
        let background = "resources-finalizer.argocd.argoproj.io/background";
        assert_eq!(name(background, "argoproj.io", "Application"), Some("Argo CD"));
        assert_eq!(name("workflows.argoproj.io/artifact-gc", "argoproj.io", "Workflow"), Some("Argo Workflows"));
        assert_eq!(name("notargoproj.io/x", "argoproj.io", "Application"), None);
        assert_eq!(name("acme.io/hold", "acme.io", "Widget"), None);
        let sets = ("addons.cluster.x-k8s.io", "addons.cluster.x-k8s.io", "ClusterResourceSet");
        assert_eq!(name(sets.0, sets.1, sets.2), Some("Cluster API"));
        let gateway = name("gateway.k8s.aws/alb", "gateway.networking.k8s.io", "Gateway");
        assert_eq!(gateway, Some("the AWS Load Balancer Controller"));
        assert_eq!(name("networking.k8s.aws/resources", "networking.k8s.io", "NetworkPolicy"), Some("EKS"));
        let flux = |group| add_on("finalizers.fluxcd.io", group, "X").map(|add_on| add_on.usual_name(group));
        assert_eq!(flux("helm.toolkit.fluxcd.io"), Some(Some("helm-controller".to_owned())));
        assert_eq!(flux("image.toolkit.fluxcd.io"), Some(None));
        let image = |kind| add_on("finalizers.fluxcd.io", "image.toolkit.fluxcd.io", kind).map(|it| it.workloads);
        assert_eq!(image("ImagePolicy"), Some(&["image-reflector-controller"][..]));
        let source = add_on("finalizers.fluxcd.io", "source.toolkit.fluxcd.io", "GitRepository").unwrap();
        let other = |name| is_of_another(name, "source.toolkit.fluxcd.io", Some(source));
        assert!(other("kustomize-controller") && !other("source-controller") && !other("flux-something"));
    }

    #[test]
    fn workloads_have_their_usual_names_behind_a_release() {
        let argo = add_on("resources-finalizer.argocd.argoproj.io", "argoproj.io", "Application").unwrap();
        let called = |name| argo.is_called(name, "argoproj.io");
        assert!(called("argocd-application-controller") && called("prod-argocd-application-controller"));
        assert!(!called("argocd-server") && !called("notargocd-application-controller"));
        let group = "s3.services.k8s.aws";
        let ack = add_on("finalizers.s3.services.k8s.aws/Bucket", group, "Bucket").unwrap();
        assert!(ack.is_called("ack-s3-controller", group) && ack.is_called("ack-s3-controller-s3-chart", group));
        assert!(!ack.is_called("ack-rds-controller", group));
        let provider = add_on("finalizer.managedresource.crossplane.io", "s3.example.org", "Bucket").unwrap();
        assert!(provider.may_be_called("provider-aws-s3-3a5b") && !provider.may_be_called("crossplane"));
    }

    #[test]
    fn a_sister_is_not_the_controller() {
        let has_names = |finalizer, group, kind| add_on(finalizer, group, kind).is_some_and(AddOn::has_names);
        for (finalizer, group, kind) in [
            ("cdi.kubevirt.io/dataVolumeFinalizer", "cdi.kubevirt.io", "DataVolume"),
            ("operator.cdi.kubevirt.io", "cdi.kubevirt.io", "CDI"),
            ("kubevirt.io/hyperconverged", "hco.kubevirt.io", "HyperConverged"),
            ("results.tekton.dev/taskrun", "tekton.dev", "TaskRun"),
            ("tektonconfigs.operator.tekton.dev", "operator.tekton.dev", "TektonConfig"),
            ("eventlisteners.triggers.tekton.dev", "triggers.tekton.dev", "EventListener"),
            ("httpscaledobject.http.keda.sh", "http.keda.sh", "HTTPScaledObject"),
            ("trust.cert-manager.io/x", "trust.cert-manager.io", "Bundle"),
            ("kubernetes.crossplane.io/referred-by-object-1", "", "ConfigMap"),
            ("x.machine.openshift.io", "machine.openshift.io", "ControlPlaneMachineSet"),
            ("wrangler.cattle.io/on-helm-chart-remove", "helm.cattle.io", "HelmChart"),
            ("wrangler.cattle.io/x", "network.harvesterhci.io", "VlanConfig"),
        ] {
            assert!(!has_names(finalizer, group, kind), "{finalizer} on {kind}");
        }
        for (finalizer, group, kind) in [
            ("kubevirt.io/virtualMachineControllerFinalize", "kubevirt.io", "VirtualMachine"),
            ("snapshot.kubevirt.io/vmsnapshot-protection", "snapshot.kubevirt.io", "VirtualMachineSnapshot"),
            ("pipelineruns.tekton.dev", "tekton.dev", "PipelineRun"),
            ("finalizer.keda.sh", "keda.sh", "ScaledObject"),
            ("finalizer.acme.cert-manager.io", "acme.cert-manager.io", "Challenge"),
            ("composite.apiextensions.crossplane.io", "acme.io", "XDatabase"),
            ("machinepool.cluster.x-k8s.io", "cluster.x-k8s.io", "MachinePool"),
            ("cephblockpool.ceph.rook.io", "ceph.rook.io", "CephBlockPool"),
        ] {
            assert!(has_names(finalizer, group, kind), "{finalizer} on {kind}");
        }
    }

    #[test]
    fn every_known_finalizer_of_an_add_on_has_one() {
        for known in KNOWN_FINALIZERS.iter().filter(|known| known.when == When::Elsewhere) {
            let (group, kind) = known.on.first().copied().unwrap_or(("any.example.org", "Any"));
            let found = add_on(&known.finalizer.replace('*', "x"), group, kind);
            assert!(found.is_some(), "{}", known.finalizer);
        }
    }
}
