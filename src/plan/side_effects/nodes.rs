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
                self.add_unread(
                    node,
                    EffectKind::PodsDeleted,
                    "the pods on it are deleted, too; which pods could not be read",
                    None,
                );
                return;
            }
            1 => "the pod garbage collector deletes the pod on it".to_owned(),
            count => format!("the pod garbage collector deletes the {count} pods on it"),
        };
        // The kubelet registers its Node only when it starts
        // (pkg/kubelet/kubelet_node_status.go:registerWithAPIServer).
        let unless = "40s after the Node is deleted, unless a restarted kubelet registers it again";
        let more = if all { "" } else { "; there may be more, which could not be read" };
        let message = format!("{message} {unless}{more}");
        self.effects.push(OutsideEffect {
            object: node,
            kind: EffectKind::PodsDeleted,
            at_worst: None,
            message: message.into(),
            related: pods,
        });
    }
}
