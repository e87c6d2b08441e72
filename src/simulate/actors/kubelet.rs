//! The kubelet, which ends a pod after its grace period (R9.6) if its Node exists.

use crate::{
    model::{Coordinate, ObjectId, ResourceId, Symbol},
    server::DeleteOptions,
    simulate::{
        cause::Cause,
        world::{Assume, World},
    },
};

use super::{ActorResult, Assumption};

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
        match self.kubelet_of(object) {
            // R9.7: the pod garbage collector ends it, with or without a Node.
            Kubelet::Absent => {
                self.schedule_pod(object, None);
                return ActorResult::Done;
            }
            // The deleted Node has scheduled it, unless its pods weren't read.
            Kubelet::Deleted(node) => {
                self.schedule_pod(object, Some(node));
                return ActorResult::Done;
            }
            // Assume a kubelet, as nearly all pods have one, and mark what depends on it.
            Kubelet::Unknown => {
                self.doubtful.insert(object);
            }
            Kubelet::On(node) => {
                self.assumptions.insert(Assumption::Kubelet { node });
            }
        }
        // R1.19: grace period 0 and no policy, so the collector's finalizers stay.
        self.delete(object, &DeleteOptions { grace: Some(0), ..DeleteOptions::default() }, Cause::Kubelet);
        ActorResult::Done
    }

    /// The cluster-scoped object of this name before anything was deleted.
    fn before(&self, resource: Option<ResourceId>, name: Symbol) -> Option<ObjectId> {
        self.context.snapshot.look_up(Coordinate { resource: resource?, namespace: Symbol::EMPTY, name }).object()
    }

    /// Which kubelet would end a pod in its grace period.
    pub(crate) fn kubelet_of(&mut self, pod: ObjectId) -> Kubelet {
        let Some(facts) = self.context.snapshot.facts.pod(pod) else {
            self.needs.facts.insert(pod);
            return Kubelet::Unknown;
        };
        let Some(node) = facts.node.clone() else { return Kubelet::Absent };
        let nodes = self.context.built_in.nodes;
        let Some(name) = self.context.snapshot.strings.find(&node) else {
            // No object that was read has this name.
            let nodes_read = nodes.is_some_and(|nodes| self.context.snapshot.covers(nodes, None));
            return if nodes_read { Kubelet::Absent } else { Kubelet::Unknown };
        };
        match self.find(nodes, Symbol::EMPTY, name) {
            Some(Some(_)) => Kubelet::On(node),
            Some(None) => self.before(nodes, name).map_or(Kubelet::Absent, Kubelet::Deleted),
            None => Kubelet::Unknown,
        }
    }
}

/// The kubelet that would end a pod in its grace period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kubelet {
    /// The kubelet of this existing Node.
    On(String),
    /// None: the Node doesn't exist (S13).
    Absent,
    /// None any more: the Node was deleted as well. The pod garbage collector removes such pods (R9.7).
    Deleted(ObjectId),
    /// The pod's node, or whether it exists, could not be read.
    Unknown,
}
