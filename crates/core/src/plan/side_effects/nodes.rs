//! What goes with a Node although no owner reference leads to it: its pods (R9.7), and its volumes.

use std::collections::BTreeMap;

use crate::{
    model::{
        ObjectId,
        effects::{EffectKind, known_finalizer},
        facts::{VolumeData, VolumeDeleter},
    },
    plan::outcome::{Outcome, OutcomeKind, OutsideEffect, Plan},
    simulate::{Cause, Kubelet, PodsOfNode, World, recreators::Survival},
    wording::some_of,
};

use super::SideEffects;

/// At most so many volumes are named in a sentence.
const NAMED: usize = 3;

impl SideEffects<'_, '_> {
    /// Pods that lose an owner: the pod garbage collector deletes them if their Node doesn't exist.
    pub(super) fn freed_pods(&mut self, plan: &Plan) {
        for outcome in &plan.outcomes {
            let freed = matches!(outcome.kind, OutcomeKind::Orphaned | OutcomeKind::Detached);
            if freed && self.context.rules(outcome.object).graceful {
                self.context.fact(outcome.object, self.context.snapshot.facts.pod(outcome.object));
            }
        }
    }

    /// The pod garbage collector deletes all pods of a Node that has been gone for 40 seconds.
    pub(super) fn node(&mut self, node: ObjectId) {
        // Pods created since the snapshot are only counted.
        let PodsOfNode { mut pods, unseen, all } = self.context.pods_of_node(node);
        let has_known = !pods.is_empty();
        // Most pods have outcomes of their own.
        pods.retain(|pod| self.survival(*pod) != Survival::Removed && !self.prevented.contains(pod));
        if !all {
            self.context.lacks(|needs| needs.facts.insert(node));
        }
        let message = match pods.len() + unseen {
            0 if all => return,
            0 if has_known => {
                let message = "there may be more pods on it, which are deleted, too; they could not be read";
                return self.add(node, EffectKind::Unknown, message);
            }
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

    /// Containers that nobody ends: their pods go with their Node, or by force, and their kubelet doesn't respond.
    pub(super) fn left_running(&mut self, plan: &Plan) {
        let context = self.context;
        let by_force = |outcome: &Outcome| outcome.because == Some(Cause::Requested) && plan.request.grace == Some(0);
        let deleted = plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
        let about = |outcome: &Outcome| match outcome.because {
            Some(Cause::NodeGone(Some(node))) => Some(node),
            _ => (by_force(outcome) && context.rules(outcome.object).graceful).then_some(outcome.object),
        };
        let mut suspects = deleted.filter_map(|outcome| Some((about(outcome)?, outcome.object))).peekable();
        // Most deletes have none, and need no world for this.
        if suspects.peek().is_none() {
            return;
        }
        let mut world = World::at_rest(context);
        let mut left: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
        for (about, pod) in suspects {
            if !context.snapshot.facts.has_finished(pod) && world.kubelet_of(pod) == Kubelet::Silent {
                left.entry(about).or_default().push(pod);
            }
        }
        for (about, mut pods) in left {
            let message = "containers may still run there: the kubelet of the node does not respond";
            pods.retain(|pod| *pod != about);
            self.effects.push(OutsideEffect {
                object: about,
                kind: EffectKind::MayStillRun,
                at_worst: None,
                message: message.into(),
                related: pods,
            });
        }
    }

    /// The data of volumes that are on a deleted Node only: nobody reaches it until a Node of that name is back, also
    /// where the volume goes, unless the data is lost with the volume or with the Node.
    pub(super) fn data_on_node(&mut self, node: ObjectId) {
        let snapshot = self.context.snapshot;
        let Some(resource) = self.context.built_in.volumes else { return };
        let pods = self.context.fact_index.pods_on(snapshot, snapshot.object(node).name).iter();
        let claims: Vec<ObjectId> = pods.flat_map(|pod| self.context.claims_of_pod(*pod)).collect();
        let used = claims.iter().filter_map(|claim| self.context.fact_index.volume_of(snapshot, *claim));
        let used: Vec<ObjectId> = used.collect();
        let mut volumes: Vec<ObjectId> = Vec::new();
        for volume in self.context.of_resource(resource).iter().copied() {
            let Some(facts) = self.context.evidence(volume, snapshot.facts.volume(volume)) else { continue };
            let is_on_host = facts.data.as_deref() == Some(&VolumeData::OnHost);
            let is_only_on_it =
                facts.nodes.len() == 1 && self.context.is_on(facts, node) || is_on_host && used.contains(&volume);
            let is_lost = |effect: &OutsideEffect| {
                effect.kind == EffectKind::DataLost && (effect.object == volume || effect.related.contains(&volume))
            };
            if is_only_on_it && !self.effects.iter().any(is_lost) {
                volumes.push(volume);
            }
        }
        if volumes.is_empty() {
            return;
        }
        let (emptied, others): (Vec<ObjectId>, Vec<ObjectId>) =
            volumes.into_iter().partition(|volume| self.is_emptied_with(*volume, node));
        let emptied_by = "TopoLVM deletes it, with the claim, before the Node goes";
        self.data_of(node, emptied, EffectKind::DataLost, emptied_by);
        if self.ends_with_its_instance(node) || self.goes_with_its_machine(node) {
            self.data_of(node, others, EffectKind::DataLost, "is lost with its instance");
        } else {
            let unreached = "can't be reached until it is back: pods that use it stay Pending";
            self.data_of(node, others, EffectKind::DataUnreachable, unreached);
        }
    }

    /// What becomes of the data of volumes that are on a deleted Node.
    fn data_of(&mut self, node: ObjectId, volumes: Vec<ObjectId>, kind: EffectKind, what: &str) {
        if volumes.is_empty() {
            return;
        }
        let snapshot = self.context.snapshot;
        let named = some_of(volumes.iter().map(|volume| snapshot.short_name(*volume)), NAMED);
        let message = format!("the data of {named} is on it, and {what}").into();
        // A volume that is retained doesn't keep what is lost with its Node: Next must not say so.
        let related = if kind == EffectKind::DataLost { Vec::new() } else { volumes };
        self.effects.push(OutsideEffect { object: node, kind, at_worst: None, message, related });
    }

    /// Whether the controller of a Node's finalizer terminates what the Node runs on: nothing on it comes back.
    fn ends_with_its_instance(&self, node: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        snapshot.object(node).finalizers.iter().any(|finalizer| {
            let known = known_finalizer(snapshot.text(*finalizer), "", "Node");
            known.is_some_and(|known| known.does == Some(EffectKind::ExternalDeleted))
        })
    }

    /// Whether OpenShift deletes a Node with the Machine that it stands for.
    fn goes_with_its_machine(&self, node: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        let Some(machines) = snapshot.resources.by_group_kind("machine.openshift.io", "Machine") else { return false };
        let name = snapshot.name(node);
        let lists = |machine: ObjectId| {
            let inventory = snapshot.facts.policy(machine).and_then(|facts| facts.inventory.as_ref());
            inventory.is_some_and(|inventory| inventory.objects.iter().any(|listed| listed.name == name))
        };
        let mut machines = self.context.of_resource(machines).iter().copied();
        machines.any(|machine| self.survival(machine) != Survival::Survives && lists(machine))
    }

    /// Whether TopoLVM deletes the claim of a volume before it lets go of the Node that the volume is on
    /// (topolvm/topolvm internal/controller/node_controller.go:doFinalize).
    fn is_emptied_with(&self, volume: ObjectId, node: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        let mut finalizers = snapshot.object(node).finalizers.iter();
        let made_by = snapshot.facts.volume(volume).and_then(|facts| facts.deleted_by.as_ref());
        matches!(made_by, Some(VolumeDeleter::Provisioner(by)) if &**by == "topolvm.io")
            && finalizers.any(|finalizer| snapshot.text(*finalizer) == "topolvm.io/node")
    }
}

impl SideEffects<'_, '_> {
    /// The pods that stay, and lose the volume of a deleted attachment.
    pub(super) fn attachment(&mut self, attachment: ObjectId) {
        let snapshot = self.context.snapshot;
        let Some(facts) = self.context.fact(attachment, snapshot.facts.policy(attachment)) else { return };
        let Some(node) = facts.attached_to() else { return };
        let volumes = facts.uses.iter().filter_map(|name| {
            let volumes = self.context.built_in.volumes?;
            snapshot.look_up_named(volumes, "", name).object()
        });
        for volume in volumes.collect::<Vec<ObjectId>>() {
            self.context.fact(volume, snapshot.facts.volume(volume));
            let Some(claim) = snapshot.claim_of(volume).object() else { continue };
            if !self.context.reads_pods_beside(claim) {
                let message = format!(
                    "{} is detached from Node/{node} at once; whether a pod uses it could not be read",
                    snapshot.short_name(volume)
                );
                self.add_unread(attachment, EffectKind::DataUnreachable, message, None);
                continue;
            }
            let uses = |pod: &ObjectId| {
                snapshot.facts.pod(*pod).is_some_and(|facts| facts.node.as_deref() == Some(node) && !facts.finished())
                    && self.survival(*pod) != Survival::Removed
            };
            let pods: Vec<ObjectId> = self.context.users_of_claim(claim).iter().copied().filter(uses).collect();
            if pods.is_empty() {
                continue;
            }
            let message = format!(
                "{} is detached from Node/{node} at once, and what uses it can't reach the data until it is started \
                 again",
                snapshot.short_name(volume)
            );
            self.add(attachment, EffectKind::DataUnreachable, message);
            self.effects.last_mut().into_iter().for_each(|effect| effect.related.clone_from(&pods));
        }
    }
}
