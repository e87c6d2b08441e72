//! The pod garbage collector, which deletes the pods of Nodes that don't exist (R9.7).

use crate::{
    model::{ObjectId, Snapshot},
    server::{DeleteOptions, Propagation},
    simulate::{
        cause::Cause,
        context::{Assume, SLOWEST_CONTROLLER, SimContext},
        obstacles::Operation,
        state::Kubelet,
        world::World,
    },
};

use super::Assumption;

/// What it says about the pod garbage collector that a pod has been terminating for longer than it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// Perhaps none works.
    IsLeft,
    /// The Node is only gone with this delete, or may have been put out of service a moment ago.
    SaysNothing,
}

/// The pods on a Node, as far as they were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct PodsOfNode {
    pub pods: Vec<ObjectId>,
    /// How many others were created since the snapshot.
    pub unseen: usize,
    /// Whether these are all.
    pub all: bool,
}

impl SimContext<'_> {
    /// The pods bound to a Node.
    pub(crate) fn pods_of_node(&self, node: ObjectId) -> PodsOfNode {
        let snapshot: &Snapshot = self.snapshot;
        let known = self.built_in.pods.is_some_and(|pods| self.fact_index.has_all_facts(snapshot, pods));
        match snapshot.facts.node(node).and_then(|facts| facts.pods.as_ref()) {
            Some(uids) if !known => {
                let found = |uid: &String| snapshot.strings.find(uid).and_then(|uid| snapshot.by_uid(uid));
                let pods: Vec<ObjectId> = uids.iter().filter_map(found).collect();
                PodsOfNode { unseen: uids.len() - pods.len(), pods, all: true }
            }
            _ => {
                let pods = self.fact_index.pods_on(snapshot, snapshot.object(node).name).to_vec();
                PodsOfNode { pods, unseen: 0, all: known }
            }
        }
    }
}

impl World<'_, '_> {
    /// Schedules the pods of a Node that is gone.
    pub(super) fn schedule_pods_of(&mut self, node: ObjectId) {
        for pod in self.context.pods_of_node(node).pods {
            self.schedule_pod(pod, Some(node), Overdue::SaysNothing);
        }
    }

    /// Schedules a pod whose Node is gone or out of service, or never existed.
    pub(super) fn schedule_pod(&mut self, pod: ObjectId, node: Option<ObjectId>, overdue: Overdue) {
        let is_left = match overdue {
            Overdue::SaysNothing => self.context.assume == Assume::None,
            Overdue::IsLeft => self.is_left_by_pod_gc(pod),
        };
        if self.exists(pod) && !is_left && !self.manager_away() {
            self.actors.late.push_back((pod, Cause::NodeGone(node)));
        }
    }

    /// Schedules a live pod whose Node doesn't exist, if that is known: it is deleted whatever else happens to it.
    pub(super) fn leave_to_pod_gc(&mut self, pod: ObjectId) {
        let is_bound = self.context.snapshot.facts.pod(pod).is_some_and(|facts| facts.node.is_some());
        match is_bound.then(|| self.kubelet_of(pod)) {
            Some(Kubelet::Absent) => self.schedule_pod(pod, None, Overdue::IsLeft),
            Some(Kubelet::Deleted(node)) => self.schedule_pod(pod, Some(node), Overdue::SaysNothing),
            _ => {}
        }
    }

    /// Whether a pod whose Node doesn't exist should be gone by now: perhaps no pod garbage collector works.
    pub(crate) fn is_left_by_pod_gc(&self, pod: ObjectId) -> bool {
        let context = self.context;
        context.assume == Assume::None
            || context.terminating_for(pod).is_some_and(|seconds| seconds >= SLOWEST_CONTROLLER)
    }

    /// Sends the DELETEs that come long after everything else. Returns whether anything was written.
    pub(super) fn delete_late(&mut self) -> bool {
        let before = self.log.len();
        // What these lead to has its time before what becomes due because of them.
        for (object, cause) in std::mem::take(&mut self.actors.late) {
            let options = match cause {
                Cause::JobExpired { .. } if !self.has_failed(object) => continue,
                Cause::JobExpired { .. } if self.stored(object).is_none_or(|job| job.terminating) => continue,
                // R1.20.
                Cause::JobExpired { .. } => {
                    DeleteOptions { propagation: Some(Propagation::Foreground), ..DeleteOptions::default() }
                }
                // It says first that the pod has failed (pkg/controller/podgc: markFailedAndDeletePod).
                _ if !self.context.snapshot.facts.has_finished(object)
                    && self.surely_refuses(object, Operation::Status) =>
                {
                    continue;
                }
                // 40 to 80 seconds after the Node. R1.19: grace period 0 and no policy.
                _ => {
                    self.assumptions.insert(Assumption::PodGarbageCollector);
                    DeleteOptions { grace: Some(0), ..DeleteOptions::default() }
                }
            };
            self.delete(object, &options, cause);
        }
        self.log.len() > before
    }
}
