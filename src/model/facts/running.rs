//! What runs, where, and whether it is alive: pods, nodes, workloads, and what stands behind a Service.

use serde::{Deserialize, Serialize};

/// What decides how a pod goes (R1.14) and what it keeps from going (§9.5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodFacts {
    /// `spec.nodeName`; none for a pod that was never scheduled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// `status.phase`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// `spec.terminationGracePeriodSeconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<i64>,
    /// The PersistentVolumeClaims it mounts, those of its ephemeral volumes (`<pod>-<volume>`) included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
}

impl PodFacts {
    /// Whether its containers have ended for good.
    pub fn finished(&self) -> bool {
        matches!(self.phase.as_deref(), Some("Succeeded" | "Failed"))
    }
}

/// Which pods are bound to a Node, where it was asked instead of each pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// Their uids.
    #[serde(default)]
    pub pods: Vec<String>,
}

/// How many pods a Deployment, StatefulSet, ReplicaSet or DaemonSet is to have, and how many are ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadFacts {
    /// `spec.replicas`, or a DaemonSet's `status.desiredNumberScheduled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<i64>,
    /// `status.readyReplicas`, or a DaemonSet's `status.numberReady`; zero where it isn't said.
    pub ready: i64,
}

/// Who holds a Lease, and until when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseFacts {
    /// `spec.holderIdentity`; none for a Lease that was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// `spec.leaseDurationSeconds`: how long after it was renewed it is good for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<i64>,
    /// `spec.renewTime`, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewed: Option<i64>,
}

/// What stands behind a Service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceFacts {
    /// `spec.type`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// What an EndpointSlice leads to. Of which Service it is one says its label [`SliceFacts::SERVICE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceFacts {
    /// How many of its endpoints are ready, as those are that don't say.
    pub ready: u64,
}

impl SliceFacts {
    /// The label that names the Service.
    pub const SERVICE: &'static str = "kubernetes.io/service-name";
}
