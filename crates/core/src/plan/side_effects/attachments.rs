//! Volumes that a Node has: the attacher of a CSI driver detaches one as soon as its VolumeAttachment is deleted,
//! whoever uses it (R9.49).

use crate::{
    model::{ObjectId, effects::EffectKind},
    simulate::recreators::Survival,
};

use super::SideEffects;

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
