//! What Kubernetes' own controllers make, with an owner reference to what they make it for.

/// A group and a kind.
pub(crate) type GroupKind = (&'static str, &'static str);

/// A kind that a component makes for objects of another kind, and makes again if it is deleted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MadeKind {
    pub owner: GroupKind,
    pub dependent: GroupKind,
    /// The component, in words.
    pub by: &'static str,
    /// Whether owners of this kind usually have such dependents, apart from those that only say that a node is there.
    pub usual: bool,
}

const fn usual(owner: GroupKind, dependent: GroupKind, by: &'static str) -> MadeKind {
    MadeKind { owner, dependent, by, usual: true }
}

const fn at_times(owner: GroupKind, dependent: GroupKind, by: &'static str) -> MadeKind {
    MadeKind { owner, dependent, by, usual: false }
}

/// Everything of this kind.
pub(crate) const MADE_BY_CONTROLLERS: &[MadeKind] = &[
    // pkg/controller/deployment/sync.go, getNewReplicaSet. Older ReplicaSets, the history of rollouts, are not made
    // again.
    usual(("apps", "Deployment"), ("apps", "ReplicaSet"), "its Deployment"),
    // pkg/controller/replicaset/replica_set.go, manageReplicas.
    usual(("apps", "ReplicaSet"), ("", "Pod"), "its ReplicaSet"),
    usual(("", "ReplicationController"), ("", "Pod"), "its ReplicationController"),
    // pkg/controller/statefulset/stateful_set_control.go, under the same name.
    usual(("apps", "StatefulSet"), ("", "Pod"), "its StatefulSet"),
    usual(("apps", "StatefulSet"), ("apps", "ControllerRevision"), "its StatefulSet"),
    // pkg/controller/daemon/daemon_controller.go and update.go.
    usual(("apps", "DaemonSet"), ("", "Pod"), "its DaemonSet"),
    usual(("apps", "DaemonSet"), ("apps", "ControllerRevision"), "its DaemonSet"),
    // pkg/controller/job/job_controller.go: a Job that is created again starts again.
    usual(("batch", "Job"), ("", "Pod"), "its Job"),
    // pkg/controller/cronjob/cronjob_controllerv2.go: at its scheduled times only.
    usual(("batch", "CronJob"), ("batch", "Job"), "its CronJob, at its times"),
    // pkg/controller/endpointslice.
    usual(("", "Service"), ("discovery.k8s.io", "EndpointSlice"), "its Service's controller"),
    // pkg/controller/endpointslicemirroring.
    at_times(("", "Endpoints"), ("discovery.k8s.io", "EndpointSlice"), "the controller that mirrors Endpoints"),
    // pkg/controller/volume/ephemeral and pkg/controller/resourceclaim, for each pod with such a volume or claim.
    at_times(("", "Pod"), ("", "PersistentVolumeClaim"), "its Pod's volume controller"),
    at_times(("", "Pod"), ("resource.k8s.io", "ResourceClaim"), "its Pod's claim controller"),
    // The kubelet makes the mirrors of its static pods (pkg/kubelet/pod/mirror_client.go), and renews its Lease
    // (pkg/kubelet/kubelet.go).
    at_times(("", "Node"), ("", "Pod"), "its Node's kubelet"),
    at_times(("", "Node"), ("coordination.k8s.io", "Lease"), "its Node's kubelet"),
    at_times(("", "Node"), ("storage.k8s.io", "CSINode"), "its Node's kubelet"),
];
