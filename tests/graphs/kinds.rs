//! The kinds of objects in test graphs.

/// A kind as discovery describes it, in one version.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    pub api_version: &'static str,
    pub name: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
}

const fn kind(api_version: &'static str, name: &'static str, plural: &'static str, namespaced: bool) -> Kind {
    Kind { api_version, name, plural, namespaced }
}

/// Kinds that the API server serves. A kind listed here in two versions is served in both; the first is preferred.
pub const KINDS: &[Kind] = &[
    kind("v1", "Pod", "pods", true),
    kind("v1", "ConfigMap", "configmaps", true),
    kind("v1", "Secret", "secrets", true),
    kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims", true),
    kind("v1", "PersistentVolume", "persistentvolumes", false),
    kind("v1", "Service", "services", true),
    kind("v1", "Endpoints", "endpoints", true),
    kind("v1", "Namespace", "namespaces", false),
    kind("v1", "Node", "nodes", false),
    kind("apps/v1", "Deployment", "deployments", true),
    kind("apps/v1", "ReplicaSet", "replicasets", true),
    kind("apps/v1", "StatefulSet", "statefulsets", true),
    kind("batch/v1", "Job", "jobs", true),
    kind("batch/v1", "CronJob", "cronjobs", true),
    kind("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false),
    kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", false),
    kind("acme.io/v1", "Shop", "shops", true),
    kind("acme.io/v1alpha1", "Shop", "shops", true),
    kind("argoproj.io/v1alpha1", "Application", "applications", true),
    kind("s3.aws.upbound.io/v1", "Bucket", "buckets", false),
    kind("snapshot.storage.k8s.io/v1", "VolumeSnapshot", "volumesnapshots", true),
    kind("snapshot.storage.k8s.io/v1", "VolumeSnapshotContent", "volumesnapshotcontents", false),
    kind("v1", "ServiceAccount", "serviceaccounts", true),
    kind("networking.k8s.io/v1", "IPAddress", "ipaddresses", false),
    kind("acme.io/v1", "Region", "regions", false),
    // These kinds support neither list nor watch, like those of some aggregated APIs.
    kind(HIDDEN_API, HIDDEN, "hiddens", true),
    kind(HIDDEN_API, HIDDEN_REGION, "hiddenregions", false),
    // This kind can't be listed or watched either, but supports deletecollection.
    kind(HIDDEN_API, SEALED, "sealed", true),
    kind("v1", "Event", "events", true),
    kind("events.k8s.io/v1", "Event", "events", true),
];

/// The namespaced kind that can't be listed.
pub const HIDDEN: &str = "Hidden";
/// The cluster-scoped kind that can't be listed.
pub const HIDDEN_REGION: &str = "HiddenRegion";
/// The kind that supports deletecollection, but not list.
pub const SEALED: &str = "Sealed";
const HIDDEN_API: &str = "odd.io/v1";

impl Kind {
    /// The kind of this name, in its preferred version.
    pub fn find(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// The kind of this name; panics if there is none.
    #[track_caller]
    pub fn named(name: &str) -> &'static Kind {
        Self::find(name).unwrap_or_else(|| panic!("no kind {name}"))
    }

    /// The `apiVersion` of a kind; that of the core group for unknown kinds.
    pub fn api_version_of(name: &str) -> &'static str {
        Self::find(name).map_or("v1", |kind| kind.api_version)
    }
}
