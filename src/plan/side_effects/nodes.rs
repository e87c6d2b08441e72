//! Pods of a Node that goes: no reference says so, and yet they follow it (R9.7).

use crate::{
    model::{ObjectId, effects::EffectKind},
    plan::reaction::OutsideEffect,
};

use super::{SideEffects, Survival};

impl SideEffects<'_, '_> {
    /// The pod garbage collector deletes whatever is bound to a Node that has been gone for 40 seconds.
    pub(super) fn node(&mut self, node: ObjectId) {
        let stage = self.stage;
        let snapshot = stage.snapshot;
        let known = stage.built_in.pods.is_some_and(|pods| stage.beyond.knows_all(snapshot, pods));
        // Pods that were made since are counted only.
        let (mut pods, unseen, all): (Vec<ObjectId>, usize, bool) = match snapshot.facts.node(node) {
            Some(facts) if !known => {
                let found = |uid: &String| snapshot.strings.find(uid).and_then(|uid| snapshot.by_uid(uid));
                let pods: Vec<ObjectId> = facts.pods.iter().filter_map(found).collect();
                let unseen = facts.pods.len() - pods.len();
                (pods, unseen, true)
            }
            _ => (stage.beyond.pods_on(snapshot, snapshot.object(node).name).to_vec(), 0, known),
        };
        // What goes by reference, as mirror pods do, is among the outcomes.
        pods.retain(|pod| self.fate(*pod) != Survival::Goes);
        if !all {
            self.needs.facts.insert(node);
        }
        let message = match pods.len() + unseen {
            0 if all => return,
            0 => {
                self.add(node, EffectKind::Unknown, "which pods are on it could not be read: they are deleted as well");
                return;
            }
            1 => "the pod on it follows: the pod garbage collector deletes it".to_owned(),
            count => format!("the {count} pods on it follow: the pod garbage collector deletes them"),
        };
        // The kubelet registers its Node only when it starts
        // (pkg/kubelet/kubelet_node_status.go:registerWithAPIServer).
        let unless = "when the Node has been gone for 40s, unless a restarted kubelet has registered it again";
        let more = if all { "" } else { "; there may be more, which could not be read" };
        let message = format!("{message} {unless}{more}");
        self.effects.push(OutsideEffect {
            object: node,
            kind: EffectKind::PodsDeleted,
            message: message.into(),
            related: pods,
        });
    }
}
