//! What decides whether, and when, the cluster removes an object by itself, beyond its [`Fact`](super::Fact). Only the
//! command `reclaim` reads it.

use serde::{Deserialize, Serialize};

/// What of one object decides when it, or others, are removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReclaimFacts {
    Job(JobTimes),
    CronJob(JobHistory),
    Deployment(Rollout),
    StatefulSet(SetHistory),
    DaemonSet(Template),
    ReplicaSet(OldTemplate),
    /// Of a ControllerRevision.
    Revision(RevisionFacts),
    Pod(PodUse),
    Volume(VolumeUse),
    /// Of a PersistentVolumeClaim.
    Claim(ClaimUse),
    /// Of a CertificateSigningRequest.
    Request(RequestFacts),
    /// Of a Secret with a bootstrap token.
    BootstrapToken(Expiration),
    /// Of a ServiceAccount: the names in `secrets`.
    Account(Vec<String>),
    /// Of the ConfigMap that says since when uses of ServiceAccounts' tokens are recorded: its date.
    TokensTrackedSince(Option<String>),
}

sparse! {
    /// When a Job began and ended.
    pub struct JobTimes {
        /// `status.startTime`, in Unix seconds.
        pub started: Option<i64>,
        /// By the first condition that says so; `None` if it runs.
        pub end: Option<JobEnd>,
    }
}

/// How a Job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobEnd {
    /// Complete; else Failed.
    pub complete: bool,
    /// The condition's `lastTransitionTime`, in Unix seconds.
    pub at: Option<i64>,
}

/// How many finished Jobs a CronJob keeps; `None`: all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobHistory {
    /// `spec.successfulJobsHistoryLimit`.
    pub complete: Option<i64>,
    /// `spec.failedJobsHistoryLimit`.
    pub failed: Option<i64>,
    /// `spec.suspend`.
    pub suspended: bool,
}

sparse! {
    /// A pod template, and how many former ones are kept.
    pub struct Template {
        /// `spec.revisionHistoryLimit`.
        pub limit: Option<i64>,
        /// `spec.template`, with sorted keys, and without nulls and the label with its hash.
        pub template: String,
    }

    /// What decides whether a Deployment has come to its end, and removes old ReplicaSets.
    pub struct Rollout {
        pub template: Template,
        /// `spec.replicas`.
        pub wanted: i64,
        /// `status.replicas`, `status.updatedReplicas` and `status.availableReplicas`.
        pub replicas: [i64; 3],
    }

    /// What decides which revisions and claims a StatefulSet keeps.
    pub struct SetHistory {
        pub template: Template,
        /// `status.currentRevision`.
        pub current: Option<String>,
        /// Whether `spec.updateStrategy.type` is RollingUpdate.
        pub rolling: bool,
        /// `spec.replicas`.
        pub wanted: i64,
        /// `spec.ordinals.start`.
        pub first: i64,
        /// `status.replicas`, `status.updatedReplicas` and `status.readyReplicas`.
        pub replicas: [i64; 3],
        /// Whether `spec.persistentVolumeClaimRetentionPolicy.whenScaled` is Delete.
        pub deletes_scaled: bool,
    }

    /// A ReplicaSet's pod template, and whether it has pods.
    pub struct OldTemplate {
        /// As [`Template::template`].
        pub template: String,
        /// The annotation [`OldTemplate::REVISION`]; 0 if unset, `None` if it is no number.
        pub revision: Option<i64>,
        /// `spec.replicas`.
        pub wanted: i64,
        /// `status.replicas`.
        pub replicas: i64,
    }
}

impl OldTemplate {
    /// The annotation with a ReplicaSet's place in the history of its Deployment.
    pub(crate) const REVISION: &'static str = "deployment.kubernetes.io/revision";
}

sparse! {
    /// The place and the content of a ControllerRevision.
    pub struct RevisionFacts {
        pub revision: i64,
        /// The pod template in its data, as [`Template::template`]; `None` if it has other data.
        pub template: Option<String>,
    }

    /// What a pod holds.
    pub struct PodUse {
        /// Whether it has failed with the reason Evicted.
        pub evicted: bool,
        /// The Secrets that it names.
        pub secrets: Vec<String>,
    }

    /// What decides what becomes of a PersistentVolume without its claim, and what is stored on it.
    pub struct VolumeUse {
        /// Whether a provisioner made it.
        pub provisioned: bool,
        /// Whether a CSI driver has taken it over.
        pub migrated: bool,
        /// `spec.capacity.storage`, in bytes.
        pub bytes: Option<u64>,
        /// `spec.storageClassName`; empty if unset.
        pub class: String,
    }

    /// Which volumes a PersistentVolumeClaim may be bound to.
    pub struct ClaimUse {
        /// `spec.storageClassName`; empty if unset.
        pub class: String,
    }

    /// How far a CertificateSigningRequest has come.
    pub struct RequestFacts {
        /// `status.conditions`, whatever their status: type, and `lastUpdateTime` in Unix seconds.
        pub conditions: Vec<(String, Option<i64>)>,
        /// Whether `status.certificate` is set.
        pub issued: bool,
        /// When that certificate expires, in Unix seconds; `None` if it can't be read.
        pub expires: Option<i64>,
    }
}

/// When a bootstrap token expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Expiration {
    Never,
    /// In Unix seconds.
    At(i64),
    /// The token says it in a form that nobody can read, which counts as expired.
    Unreadable,
}
