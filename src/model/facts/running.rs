//! Facts about what is running: pods, nodes, workloads, leases, services.

use serde::{Deserialize, Serialize};

/// What decides how a pod is deleted (R1.14) and what it protects (§9.5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodFacts {
    /// `spec.nodeName`; `None` if never scheduled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// `status.phase`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// `spec.terminationGracePeriodSeconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<i64>,
    /// The PersistentVolumeClaims it mounts, including those of its ephemeral volumes (`<pod>-<volume>`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
}

impl PodFacts {
    /// Whether its containers have ended for good.
    pub fn finished(&self) -> bool {
        matches!(self.phase.as_deref(), Some("Succeeded" | "Failed"))
    }
}

/// The pods of a Node, read with one list instead of one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// The pods' uids.
    #[serde(default)]
    pub pods: Vec<String>,
}

/// The desired and ready pods of a Deployment, StatefulSet, ReplicaSet or DaemonSet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadFacts {
    /// `spec.replicas`, or a DaemonSet's `status.desiredNumberScheduled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<i64>,
    /// `status.readyReplicas`, or a DaemonSet's `status.numberReady`; zero if unset.
    pub ready: i64,
}

/// The holder of a Lease, and when it expires.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseFacts {
    /// `spec.holderIdentity`; `None` if released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// `spec.leaseDurationSeconds`: how long it is valid after a renewal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<i64>,
    /// `spec.renewTime`, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewed: Option<i64>,
}

/// The type of a Service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceFacts {
    /// `spec.type`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// The endpoints of an EndpointSlice. The label [`SliceFacts::SERVICE`] names its Service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceFacts {
    /// How many endpoints are ready; endpoints without that condition count as ready.
    pub ready: u64,
    /// The pods behind them (`targetRef`), by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<String>,
}

impl SliceFacts {
    /// The label that names the Service.
    pub(crate) const SERVICE: &'static str = "kubernetes.io/service-name";
}
