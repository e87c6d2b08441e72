//! The kubelet, which ends a pod once its grace period is over (R9.6), where its Node exists.

use crate::{
    model::{Coordinate, ObjectId, Presence, ResourceId, Symbol},
    server::DeleteOptions,
    simulate::{
        cause::Cause,
        world::{Assume, World},
    },
};

use super::{Assumption, Turn};

impl World<'_, '_> {
    pub(super) fn end_pod(&mut self, object: ObjectId) -> Turn {
        let ends = self.stage.assume == Assume::Known && self.stage.rules(object).graceful;
        if !ends || !self.stored(object).is_some_and(|stored| stored.in_grace()) {
            return Turn::Done;
        }
        match self.kubelet_of(object) {
            Kubelet::Absent | Kubelet::Deleted => return Turn::Done,
            // As nearly all are; what rests on it is marked.
            Kubelet::Unknown => {
                self.doubtful.insert(object);
            }
            Kubelet::On(node) => {
                self.assumptions.insert(Assumption::Kubelet { node });
            }
        }
        // R1.19: grace 0 and no policy, so that the collector's finalizers stay.
        self.delete(object, &DeleteOptions { grace: Some(0), ..DeleteOptions::default() }, Cause::Kubelet);
        Turn::Done
    }

    /// Whether a cluster-scoped object was there before anything was deleted.
    fn was_there(&self, resource: Option<ResourceId>, name: Symbol) -> bool {
        resource.is_some_and(|resource| {
            let coordinate = Coordinate { resource, namespace: Symbol::EMPTY, name };
            matches!(self.stage.snapshot.look_up(coordinate), Presence::Present(_))
        })
    }

    /// Who would end a pod in its grace period.
    pub fn kubelet_of(&mut self, pod: ObjectId) -> Kubelet {
        let Some(facts) = self.stage.snapshot.facts.pod(pod) else {
            self.needs.facts.insert(pod);
            return Kubelet::Unknown;
        };
        let Some(node) = facts.node.clone() else { return Kubelet::Absent };
        let nodes = self.stage.built_in.nodes;
        let Some(name) = self.stage.snapshot.strings.find(&node) else {
            // No object that was read has such a name.
            let nodes_read = nodes.is_some_and(|nodes| self.stage.snapshot.covers(nodes, None));
            return if nodes_read { Kubelet::Absent } else { Kubelet::Unknown };
        };
        match self.find(nodes, Symbol::EMPTY, name) {
            Some(Some(_)) => Kubelet::On(node),
            Some(None) if self.was_there(nodes, name) => Kubelet::Deleted,
            Some(None) => Kubelet::Absent,
            None => Kubelet::Unknown,
        }
    }
}

/// Who would end a pod in its grace period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kubelet {
    /// The kubelet of this Node, which exists.
    On(String),
    /// Nobody: its Node doesn't exist (S13).
    Absent,
    /// Nobody any more: its Node goes as well. The pod garbage collector removes such pods (R9.7).
    Deleted,
    /// The pod's node, or whether it exists, could not be read.
    Unknown,
}
