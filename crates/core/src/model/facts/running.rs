//! Facts about what is running: pods, nodes, workloads, leases, services.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{LabelSelector, Limits, Required, values::in_one_line};
use crate::model::resources::Resource;

sparse! {
    /// What decides how a pod is deleted (R1.14) and what it protects (§9.5).
    pub struct PodFacts {
        /// `spec.nodeName`; `None` if never scheduled.
        pub node?: Option<String>,
        /// `status.phase`.
        pub phase?: Option<String>,
        /// `spec.terminationGracePeriodSeconds`.
        pub grace?: Option<i64>,
        /// `spec.serviceAccountName`, unless it is `default`, which always comes back.
        pub account?: Option<String>,
        /// The PersistentVolumeClaims it mounts, including those of its ephemeral volumes (`<pod>-<volume>`).
        pub claims?: Vec<String>,
        /// The Secrets and ConfigMaps that it names, apart from optional ones, in order (R9.50).
        pub requires?: Vec<Required>,
        /// Why it isn't ready; `None` if it is, or if its status doesn't say.
        pub not_ready?: Option<Box<NotReady>>,
        /// The annotation `controller.kubernetes.io/pod-deletion-cost`; 0 if unset or no number.
        pub deletion_cost?: i32,
        /// Whether its annotation `karpenter.sh/do-not-disrupt` is `true`.
        pub undisturbed?: bool,
    }

    /// How many of its pods a PodDisruptionBudget lets go now.
    pub struct BudgetFacts {
        /// `spec.selector`; `None` selects nothing.
        pub selector?: Option<LabelSelector>,
        /// `status.disruptionsAllowed`; `None` if its controller has not said so yet.
        pub allowed?: Option<i64>,
    }

    /// A pod whose condition `Ready` or `PodScheduled` is not true.
    pub struct NotReady {
        /// The condition's `lastTransitionTime`, in Unix seconds.
        pub since?: Option<i64>,
        /// Why its first waiting container waits, such as `CrashLoopBackOff`.
        pub waiting?: Option<String>,
        /// More of that: how a container ended last, what the kubelet says, or why no Node takes the pod.
        pub because?: Option<String>,
    }
}

impl NotReady {
    /// Why a container waits that ends again and again.
    pub const CRASHES: &'static str = "CrashLoopBackOff";

    /// The same, with how its container ended last, by reason and exit code, or else with what is said of it.
    #[must_use]
    pub fn because(self, ended: Option<(Option<String>, i64)>, said: Option<String>) -> NotReady {
        let ended = ended.map(|(reason, code)| match reason {
            Some(reason) if reason != "Error" => reason,
            _ => format!("exit code {code}"),
        });
        let said = || said.map(|said| in_one_line(&said)).filter(|said| !said.is_empty());
        NotReady { because: ended.or_else(said), ..self }
    }
}

impl PodFacts {
    /// The annotation of pods that says which of them a ReplicaSet deletes first.
    pub const DELETION_COST: &'static str = "controller.kubernetes.io/pod-deletion-cost";

    /// The annotation of pods that Karpenter doesn't evict.
    pub const DO_NOT_DISRUPT: &'static str = "karpenter.sh/do-not-disrupt";

    /// Whether it runs, and isn't said not to be ready.
    pub(crate) fn is_ready(&self) -> bool {
        self.phase.as_deref() == Some("Running") && self.not_ready.is_none()
    }

    /// Whether its containers have ended for good.
    pub fn finished(&self) -> bool {
        matches!(self.phase.as_deref(), Some("Succeeded" | "Failed"))
    }
}

sparse! {
    /// The pods of a Node, and whether its kubelet reports. Each is read only if it matters.
    pub struct NodeFacts {
        /// The pods' uids, read with one list instead of one by one; `None` if not read.
        pub pods?: Option<Vec<String>>,
        /// Whether its kubelet reports; `None` if not read.
        pub kubelet?: Option<KubeletReport>,
    }
}

/// What the condition Ready of a Node says about its kubelet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KubeletReport {
    /// Ready is True.
    Ready,
    /// Ready is not there: nothing has reported, and nobody says that something should have.
    Unsaid,
    /// Ready is False: the kubelet reports, but may not be able to end pods.
    NotReady,
    /// Ready is Unknown: the kubelet has stopped reporting.
    Silent,
    /// Not Ready, and tainted `node.kubernetes.io/out-of-service`: the pod garbage collector ends its pods.
    OutOfService,
}

impl NodeFacts {
    /// With what else was read.
    pub(super) fn merge(self, other: NodeFacts) -> NodeFacts {
        NodeFacts { pods: other.pods.or(self.pods), kubelet: other.kubelet.or(self.kubelet) }
    }
}

sparse! {
    /// The desired and ready pods of a Deployment, StatefulSet, ReplicaSet, ReplicationController or DaemonSet.
    pub struct WorkloadFacts {
        /// `spec.replicas`, or a DaemonSet's `status.desiredNumberScheduled`.
        pub wanted?: Option<i64>,
        /// `spec.ordinals.start` of a StatefulSet: the ordinal of its first pod.
        pub first_ordinal?: i64,
        /// Whether `spec.podManagementPolicy` of a StatefulSet is `Parallel`: it doesn't wait for pods before others.
        pub parallel?: bool,
        /// Whether some pods of a DaemonSet run where it wants none (`status.numberMisscheduled`).
        pub misscheduled?: bool,
        /// `status.readyReplicas`, a DaemonSet's `status.numberReady`, or how many Jobs a CronJob's `status.active`
        /// names; zero if unset.
        pub ready: i64,
        /// Whether it has no `status`: then its readiness is unknown.
        pub without_status?: bool,
        /// Whether it has a status in which its controller has written nothing.
        pub unattended?: bool,
        /// `spec.paused` of a Deployment.
        pub paused?: bool,
        /// Of a Deployment and its ReplicaSets: the annotation `deployment.kubernetes.io/revision`.
        pub revision?: Option<NonZeroU32>,
        /// A StatefulSet's claims.
        pub claims?: Option<ClaimTemplates>,
        /// `spec.selector`; `None` if not read.
        pub selector?: Option<LabelSelector>,
        /// Which objects its program handles, if something limits them. Not of a ReplicaSet.
        pub limits?: Option<Box<Limits>>,
        /// Whether it is a driver of volumes that deletes files which it keeps by default.
        pub deletes_files?: bool,
        /// Whether it could not create its last pods (`status.conditions`: ReplicaFailure).
        pub fails_to_create?: bool,
        /// What its pods name that somebody must have made, and can't be created or started without (R9.44, R9.50), and
        /// what it names itself.
        pub requires?: Vec<Required>,
        /// How much its pods ask for, if they say it.
        pub asks?: Option<Box<Asked>>,
    }

    /// How much of something one container asks for at most, and how much all of a pod do, in thousandths: what they
    /// are limited to, or what they request.
    pub struct Asked {
        pub cpu?: [i64; 2],
        pub memory?: [i64; 2],
    }

    /// `max` of a LimitRange, in thousandths: of a container, and of a pod.
    pub struct LimitRangeFacts {
        pub cpu?: [Option<i64>; 2],
        pub memory?: [Option<i64>; 2],
    }
}

impl LimitRangeFacts {
    /// Whether it lets no such pod be created (kubernetes/kubernetes plugin/pkg/admission/limitranger/admission.go).
    pub(crate) fn refuses(&self, asked: &Asked) -> bool {
        let bounds = [(self.cpu, asked.cpu), (self.memory, asked.memory)];
        let mut each = bounds.into_iter().flat_map(|(most, asked)| most.into_iter().zip(asked));
        each.any(|(most, asked)| most.is_some_and(|most| asked > most))
    }
}

sparse! {
    /// What is used up of a ResourceQuota: `status.used` is more than `status.hard`.
    pub struct QuotaFacts {
        pub exceeded?: Vec<String>,
        /// Whether each container must say what it needs (kubernetes/kubernetes pkg/quota/v1/evaluator/core/pods.go:
        /// Constraints).
        pub demands?: bool,
    }
}

impl QuotaFacts {
    /// What a quota can limit only if each container says how much it needs.
    pub(super) const DEMANDED: [&'static str; 6] =
        ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

    /// Whether that may be why no more objects of a resource are created
    /// (kubernetes/kubernetes pkg/quota/v1/evaluator/core/pods.go).
    pub(crate) fn limits(&self, resource: &Resource) -> bool {
        let is_pod = resource.group.is_empty() && resource.kind == "Pod";
        self.exceeded.iter().any(|name| match name.split_once(['/', '.']) {
            Some(("count", counted)) => counted == resource.full_name(),
            Some((prefix, _)) => is_pod && name != "requests.storage" && matches!(prefix, "requests" | "limits"),
            None => is_pod && matches!(name.as_str(), "pods" | "cpu" | "memory" | "ephemeral-storage"),
        })
    }
}

sparse! {
    /// What a StatefulSet says of its claims. They are named `<template>-<StatefulSet>-<ordinal>`.
    pub struct ClaimTemplates {
        /// The names in `spec.volumeClaimTemplates`.
        pub names?: Vec<String>,
        /// Whether `spec.persistentVolumeClaimRetentionPolicy.whenDeleted` is `Delete`.
        pub deleted: bool,
    }

    /// Who handles a Job's pods, and how many of them may fail.
    pub struct JobFacts {
        /// `spec.managedBy`, unless it is the built-in controller.
        pub managed_by?: Option<String>,
        /// `spec.backoffLimit` less the pods that have failed: one more failure ends the Job if this is 0. `None` if it
        /// has finished, or if that is unknown. With `spec.backoffLimitPerIndex`, the same of its indexes, by
        /// `spec.maxFailedIndexes`.
        pub failures_left?: Option<i64>,
        /// Whether a deleted pod may not count as failed: `spec.podFailurePolicy`, `spec.podReplacementPolicy` or a
        /// `spec.backoffLimitPerIndex` above 0 decides.
        pub judges_failures?: bool,
        /// Whether its `spec.podFailurePolicy` makes it fail with the first pod whose Node is gone.
        pub fails_with_node?: bool,
        /// Whether that may make it fail with any pod that is deleted, as its containers end.
        pub may_fail_at_once?: bool,
        /// Whether an index whose pod has failed is not tried again: `spec.backoffLimitPerIndex` is 0.
        pub tries_indexes_once?: bool,
        /// `spec.ttlSecondsAfterFinished`; `None`: it stays.
        pub seconds_after_finished?: Option<i64>,
        /// When it is deleted because of that, in Unix seconds: it finished so many seconds before.
        pub expires?: Option<i64>,
        /// Whether it is complete or has failed.
        pub finished?: bool,
        /// `spec.suspend`: it makes no pods.
        pub suspended?: bool,
        /// Whether it has a status in which its controller has written nothing.
        pub unattended?: bool,
        /// `status.active`, as far as a dump says it: how many of its pods have not ended.
        pub active?: i64,
        /// `spec.selector`; `None` if not read.
        pub selector?: Option<LabelSelector>,
    }
}

impl JobFacts {
    /// The name of the built-in controller in `spec.managedBy`.
    pub(crate) const BUILT_IN: &'static str = "kubernetes.io/job-controller";
}

sparse! {
    /// The holder of a Lease, and when it expires.
    pub struct LeaseFacts {
        /// `spec.holderIdentity`; `None` if released.
        pub holder?: Option<String>,
        /// `spec.leaseDurationSeconds`: how long it is valid after a renewal.
        pub seconds?: Option<i64>,
        /// When it was renewed, in Unix seconds: by the API server's clock, if that is known, or else `spec.renewTime`.
        pub renewed?: Option<i64>,
        /// When it was read from a cluster, in Unix seconds: what follows may take longer than it is valid.
        pub seen?: Option<i64>,
    }

    /// The type of a Service, and what belongs to it.
    pub struct ServiceFacts {
        /// `spec.type`.
        #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
        pub kind: Option<String>,
        /// `spec.clusterIPs`: the names of its IPAddresses.
        #[serde(default, rename = "clusterIPs", skip_serializing_if = "Vec::is_empty")]
        pub cluster_ips: Vec<String>,
        /// `spec.ports`; empty if an older snapshot file lacks them, or a headless Service has none.
        pub ports?: Vec<i64>,
        /// `spec.selector`; `None` if it is unset, or an older snapshot file lacks it.
        pub selector?: Option<LabelSelector>,
        /// Whether `spec.selector` is set, so that the endpoints controllers make its Endpoints and EndpointSlices.
        #[serde(default)]
        pub selects: bool,
    }
}

impl ServiceFacts {
    /// Whether the endpoints controllers make EndpointSlices for it.
    pub(crate) fn has_slices(&self) -> bool {
        self.selects && self.kind.as_deref() != Some("ExternalName")
    }
}

/// That a ServiceAccount's token Secrets were read: they have [`TokenFacts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AccountFacts {}

sparse! {
    /// The ServiceAccount of a Secret of the type `kubernetes.io/service-account-token`, from its annotations.
    pub struct TokenFacts {
        /// The name of the ServiceAccount.
        pub account: String,
        /// Its uid; `None` if the Secret doesn't say.
        pub uid?: Option<String>,
    }
}

impl TokenFacts {
    /// The type of such Secrets.
    pub const TYPE: &'static str = "kubernetes.io/service-account-token";
}

sparse! {
    /// The endpoints of an EndpointSlice. The label [`SliceFacts::SERVICE`] names its Service.
    pub struct SliceFacts {
        /// How many endpoints are ready; endpoints without that condition count as ready.
        pub ready: u64,
        /// The pods behind them (`targetRef`), by name.
        pub pods?: Vec<String>,
    }
}

impl SliceFacts {
    /// The label that names the Service.
    pub(crate) const SERVICE: &'static str = "kubernetes.io/service-name";
}
