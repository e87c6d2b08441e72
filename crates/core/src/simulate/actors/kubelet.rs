//! The kubelet, which ends a pod after its grace period (R9.6) if its Node exists.

use crate::{
    model::{Coordinate, ObjectId, ResourceId, Symbol, facts::KubeletReport},
    server::DeleteOptions,
    simulate::{
        cause::Cause,
        liveness::{Liveness, of_lease},
        obstacles::Operation,
        world::{Assume, LATE, World},
    },
};

use super::{ActorResult, Assumption, pod_gc::Overdue};

/// How many seconds this clock may be ahead of the cluster's, or the newest object of a dump ahead of its Leases: where
/// the node lifecycle controller runs, the condition says `Unknown` long before.
const CLOCK_MAY_BE_OFF: i64 = 300;

impl World<'_, '_> {
    pub(super) fn end_pod(&mut self, object: ObjectId) -> ActorResult {
        let ends = self.context.assume == Assume::Known && self.context.rules(object).graceful;
        let Some(stored) = self.stored(object).filter(|_| ends) else { return ActorResult::Done };
        if !stored.in_grace() {
            if !stored.terminating {
                self.leave_to_pod_gc(object);
            }
            return ActorResult::Done;
        }
        let kubelet = self.kubelet_of(object);
        match kubelet {
            // R9.7: the pod garbage collector ends it, with or without a Node.
            Kubelet::Absent => {
                self.schedule_pod(object, None, Overdue::IsLeft);
                return ActorResult::Done;
            }
            // The deleted Node has scheduled it, unless its pods weren't read.
            Kubelet::Deleted(node) => {
                self.schedule_pod(object, Some(node), Overdue::SaysNothing);
                return ActorResult::Done;
            }
            // Assume a kubelet, as nearly all pods have one, and mark what depends on it.
            Kubelet::Unknown => {
                self.doubtful.insert(object);
            }
            // It stays until its Node is back, or deleted, or until what hinders the kubelet is mended.
            Kubelet::Silent | Kubelet::Late => return ActorResult::Done,
            // The kubelet reports that it has a problem; whether it ends the pod is unknown.
            Kubelet::NotReady => {
                if self.others.is_none() {
                    self.rests_on_others.insert(object);
                }
                return ActorResult::Done;
            }
            Kubelet::OutOfService => {
                self.schedule_pod(object, None, Overdue::SaysNothing);
                return ActorResult::Done;
            }
            Kubelet::Reports | Kubelet::Unread => {
                self.assume_kubelet(object);
                if kubelet == Kubelet::Unread && self.others.is_none() {
                    self.rests_on_others.insert(object);
                }
            }
        }
        self.ended.insert(object);
        // A kubelet says first that the containers have ended, again and again.
        if self.surely_refuses(object, Operation::Status) {
            return ActorResult::Waits;
        }
        // R1.19: grace period 0 and no policy, so the collector's finalizers stay.
        self.delete(object, &DeleteOptions { grace: Some(0), ..DeleteOptions::default() }, Cause::Kubelet);
        ActorResult::Done
    }

    /// Notes that the kubelet of a pod's Node is assumed to end it.
    pub(crate) fn assume_kubelet(&mut self, pod: ObjectId) {
        if let Some(node) = self.context.snapshot.facts.pod(pod).and_then(|facts| facts.node.clone()) {
            self.assumptions.insert(Assumption::Kubelet { node });
        }
    }

    /// The cluster-scoped object of this name before anything was deleted.
    fn before(&self, resource: Option<ResourceId>, name: Symbol) -> Option<ObjectId> {
        self.context.snapshot.look_up(Coordinate { resource: resource?, namespace: Symbol::EMPTY, name }).object()
    }

    /// What is known of the kubelet of a Node: by its condition, and by its Lease, which says more if no controller
    /// manager keeps the condition up to date. `None` if it wasn't read.
    fn report_of(&mut self, node: ObjectId) -> Option<KubeletReport> {
        let context = self.context;
        let snapshot = context.snapshot;
        let Some(report) = snapshot.facts.node(node).and_then(|facts| facts.kubelet) else {
            self.needs.kubelets.insert(node);
            return None;
        };
        if !matches!(report, KubeletReport::Ready | KubeletReport::Unsaid) {
            return Some(report);
        }
        let lease = context.built_in.leases.and_then(|leases| {
            snapshot.look_up_named(leases, "kube-node-lease", snapshot.text(snapshot.object(node).name)).object()
        });
        let now = context.time.map(|now| now - CLOCK_MAY_BE_OFF);
        let liveness = lease.map(|lease| of_lease(context, &mut self.needs, lease, now, "its lease"));
        Some(if matches!(liveness, Some(Liveness::Away(_))) { KubeletReport::Silent } else { report })
    }

    /// Which kubelet would end a pod in its grace period.
    pub(crate) fn kubelet_of(&mut self, pod: ObjectId) -> Kubelet {
        let Some(facts) = self.context.snapshot.facts.pod(pod) else {
            self.needs.facts.insert(pod);
            return Kubelet::Unknown;
        };
        let Some(node) = &facts.node else { return Kubelet::Absent };
        let nodes = self.context.built_in.nodes;
        let Some(name) = self.context.snapshot.strings.find(node) else {
            // No object that was read has this name.
            let nodes_read = nodes.is_some_and(|nodes| self.context.snapshot.covers(nodes, None));
            return if nodes_read { Kubelet::Absent } else { self.punctual(pod, Kubelet::Unread) };
        };
        match self.find(nodes, Symbol::EMPTY, name) {
            Some(Some(id)) => match self.report_of(id) {
                Some(KubeletReport::NotReady) => self.punctual(pod, Kubelet::NotReady),
                Some(KubeletReport::Silent) => Kubelet::Silent,
                Some(KubeletReport::OutOfService) => Kubelet::OutOfService,
                Some(KubeletReport::Ready | KubeletReport::Unsaid) => self.punctual(pod, Kubelet::Reports),
                None => self.punctual(pod, Kubelet::Unread),
            },
            Some(None) => self.before(nodes, name).map_or(Kubelet::Absent, Kubelet::Deleted),
            None => self.punctual(pod, Kubelet::Unread),
        }
    }

    /// This kubelet, unless it should have ended the pod long ago.
    fn punctual(&self, pod: ObjectId, kubelet: Kubelet) -> Kubelet {
        if self.context.terminating_for(pod).is_some_and(|seconds| seconds >= LATE) { Kubelet::Late } else { kubelet }
    }
}

/// The kubelet that would end a pod in its grace period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kubelet {
    /// The kubelet of its Node, which exists.
    Reports,
    /// The kubelet of its Node, which has a problem.
    NotReady,
    /// The kubelet of its Node, which should have ended it long ago, and has not (S13).
    Late,
    /// None: the kubelet of the Node has stopped reporting (S13).
    Silent,
    /// None: the Node is out of service. The pod garbage collector removes such pods (R9.7).
    OutOfService,
    /// None: the Node doesn't exist (S13).
    Absent,
    /// None any more: the Node was deleted as well. The pod garbage collector removes such pods (R9.7).
    Deleted(ObjectId),
    /// The kubelet of its Node, if that works: the Node could not be read. Most users may not read Nodes.
    Unread,
    /// The pod's node could not be read.
    Unknown,
}
