//! Pods of a deleted Node: no owner reference leads to them, and yet they are deleted (R9.7).

use crate::{
    model::{ObjectId, effects::EffectKind},
    plan::reaction::OutsideEffect,
};

use super::{SideEffects, Survival};

impl SideEffects<'_, '_> {
    /// The pod garbage collector deletes all pods of a Node that has been gone for 40 seconds.
    pub(super) fn node(&mut self, node: ObjectId) {
        let context = self.context;
        let snapshot = context.snapshot;
        let known = context.built_in.pods.is_some_and(|pods| context.fact_index.has_all_facts(snapshot, pods));
        // Pods created since the snapshot are only counted.
        let (mut pods, unseen, all): (Vec<ObjectId>, usize, bool) = match snapshot.facts.node(node) {
            Some(facts) if !known => {
                let found = |uid: &String| snapshot.strings.find(uid).and_then(|uid| snapshot.by_uid(uid));
                let pods: Vec<ObjectId> = facts.pods.iter().filter_map(found).collect();
                let unseen = facts.pods.len() - pods.len();
                (pods, unseen, true)
            }
            _ => (context.fact_index.pods_on(snapshot, snapshot.object(node).name).to_vec(), 0, known),
        };
        // Pods deleted by reference, as mirror pods are, have outcomes of their own.
        pods.retain(|pod| self.survival(*pod) != Survival::Removed);
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
