//! The kubelet, which ends a pod after its grace period (R9.6) if its Node exists.

use crate::{
    model::{ObjectId, Presence, facts::KubeletReport},
    server::DeleteOptions,
    simulate::{
        cause::Cause,
        context::{Assume, LATE},
        liveness::{look_up_named, of_lease},
        obstacles::Operation,
        state::{Kubelet, Liveness},
        world::World,
    },
};

use super::{ActorResult, Assumption, pod_gc::Overdue};

/// How many seconds this clock may be ahead of the cluster's, or the newest object of a dump ahead of its Leases: where
/// the node lifecycle controller runs, the condition says `Unknown` long before.
const CLOCK_MAY_BE_OFF: i64 = 300;

/// A kubelet that runs needs this many seconds to confirm that containers have ended.
pub(crate) const SLOWEST_KUBELET: i64 = 30;

/// What a kubelet writes about a pod whose containers have ended (R9.31).
pub(crate) const ENDS_A_POD: [Operation; 2] = [Operation::Status, Operation::Delete];

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
            // It stays until its Node is back, or deleted.
            Kubelet::Silent => return ActorResult::Done,
            // The kubelet has a problem, or takes longer than any should: perhaps because the API server refuses what
            // it writes. If so, the pod stays; if not, whether it ends the pod is unknown, unless it is late.
            Kubelet::NotReady | Kubelet::Overdue | Kubelet::Late => {
                let is_refused = ENDS_A_POD.into_iter().any(|write| self.surely_refuses(object, write));
                if !is_refused && kubelet != Kubelet::Late && self.others.is_none() {
                    self.rests_on_others.insert(object);
                }
                return ActorResult::Done;
            }
            Kubelet::OutOfService => {
                self.schedule_pod(object, None, Overdue::SaysNothing);
                return ActorResult::Done;
            }
            Kubelet::Reports | Kubelet::Unread => {
                self.assume_kubelet(object, kubelet == Kubelet::Unread);
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

    /// Notes that the kubelet of a pod's Node is assumed to end it; `unread` if nothing was read that shows it.
    pub(crate) fn assume_kubelet(&mut self, pod: ObjectId, unread: bool) {
        if let Some(node) = self.context.snapshot.facts.pod(pod).and_then(|facts| facts.node.clone()) {
            self.assumptions.insert(Assumption::Kubelet { node, unread });
        }
    }

    /// What is known of the kubelet of a Node: by its condition, and by the Lease that the kubelet keeps renewing
    /// (kube-node-lease), which says more if no controller manager keeps the condition up to date. That nothing has
    /// ever reported counts for a pod that is `overdue`.
    fn kubelet_on(&mut self, node: ObjectId, overdue: bool) -> (Kubelet, Liveness) {
        let (context, snapshot) = (self.context, self.context.snapshot);
        let away = |words: &str| Liveness::Away(words.to_owned());
        let report = snapshot.facts.node(node).and_then(|facts| facts.kubelet);
        let kubelet = match report {
            Some(KubeletReport::Silent) => {
                return (Kubelet::Silent, away("its Node is no longer Ready: the condition is Unknown"));
            }
            Some(KubeletReport::OutOfService) => return (Kubelet::OutOfService, away("its Node is out of service")),
            Some(KubeletReport::NotReady) => Kubelet::NotReady,
            Some(KubeletReport::Ready | KubeletReport::Unsaid) => Kubelet::Reports,
            None => {
                context.lacks(|needs| needs.kubelets.insert(node));
                Kubelet::Unread
            }
        };
        let name = snapshot.name(node);
        match look_up_named(context, context.built_in.leases, ("kube-node-lease", name)) {
            Presence::Present(lease) => {
                let at = |now| of_lease(context, lease, now, "the lease of its kubelet");
                let is_silent = matches!(at(context.time.map(|now| now - CLOCK_MAY_BE_OFF)), Liveness::Away(_));
                (if is_silent { Kubelet::Silent } else { kubelet }, at(context.time))
            }
            // A controller that gets no sign of life makes the condition Unknown.
            _ if report == Some(KubeletReport::Ready) => (kubelet, Liveness::Alive("its Node is Ready".to_owned())),
            _ if report == Some(KubeletReport::NotReady) => {
                (kubelet, Liveness::Alive("its Node reports, and says that it is not Ready".to_owned()))
            }
            Presence::Absent => {
                let never = away("it has no Lease, so it has never reported");
                (if overdue && report.is_some() { Kubelet::Silent } else { kubelet }, never)
            }
            Presence::Unknown => (kubelet, Liveness::Unread("the lease of its kubelet could not be read".to_owned())),
        }
    }

    /// Which kubelet would end a pod in its grace period.
    pub(crate) fn kubelet_of(&mut self, pod: ObjectId) -> Kubelet {
        self.judge_kubelet_of(pod).0
    }

    /// The same, and what shows it: one judge for plans and for the doctor.
    pub(crate) fn judge_kubelet_of(&mut self, pod: ObjectId) -> (Kubelet, Liveness) {
        let context = self.context;
        let unread = || Liveness::Unread("its Node could not be read".to_owned());
        let away = |words: &str| Liveness::Away(words.to_owned());
        let Some(facts) = self.fact(pod, context.snapshot.facts.pod(pod)) else { return (Kubelet::Unknown, unread()) };
        let Some(node) = &facts.node else { return (Kubelet::Absent, away("it has no Node")) };
        let nodes = context.built_in.nodes;
        let overdue = context.terminating_for(pod).unwrap_or_default();
        let (kubelet, seen) = match look_up_named(context, nodes, ("", node)) {
            Presence::Present(id) if self.exists(id) => self.kubelet_on(id, overdue >= SLOWEST_KUBELET),
            Presence::Present(id) => return (Kubelet::Deleted(id), away("its Node is deleted")),
            Presence::Absent => return (Kubelet::Absent, away("its Node does not exist")),
            Presence::Unknown => {
                let at = nodes.and_then(|nodes| context.snapshot.locate(nodes, "", node).ok());
                self.context.lacks(|needs| needs.look_ups.extend(at));
                (Kubelet::Unread, unread())
            }
        };
        // It should have ended the pod long ago.
        let kubelet = match kubelet {
            Kubelet::Silent | Kubelet::OutOfService => kubelet,
            _ if overdue >= LATE => Kubelet::Late,
            Kubelet::Reports if overdue >= 2 * SLOWEST_KUBELET => Kubelet::Overdue,
            _ => kubelet,
        };
        (kubelet, seen)
    }
}
