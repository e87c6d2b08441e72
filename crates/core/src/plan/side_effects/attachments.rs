//! Volumes that a Node has: the attacher of a CSI driver detaches one as soon as its VolumeAttachment is deleted,
//! whoever uses it (R9.49).

use crate::{
    model::{ObjectId, effects::EffectKind},
    simulate::recreators::Survival,
    wording::some_of,
};

use super::SideEffects;

/// At most so many pods are named.
const NAMED: usize = 2;

impl SideEffects<'_, '_> {
    /// The pods that stay, and lose the volume of a deleted attachment.
    pub(super) fn attachment(&mut self, attachment: ObjectId) {
        let snapshot = self.context.snapshot;
        let Some(facts) = snapshot.facts.policy(attachment) else {
            self.needs.facts.insert(attachment);
            return;
        };
        let Some(node) = facts.attached_to() else { return };
        let volumes = facts.uses.iter().filter_map(|name| {
            let volumes = self.context.built_in.volumes?;
            snapshot.look_up_named(volumes, "", name).object()
        });
        for volume in volumes.collect::<Vec<ObjectId>>() {
            let Some(facts) = snapshot.facts.volume(volume) else {
                self.needs.facts.insert(volume);
                continue;
            };
            let claim = facts.claim.as_deref().and_then(|claim| claim.split_once('/'));
            let claim = claim
                .zip(self.context.built_in.claims)
                .and_then(|((namespace, name), claims)| snapshot.look_up_named(claims, namespace, name).object());
            let Some(claim) = claim else { continue };
            let uses = |pod: &ObjectId| {
                snapshot.facts.pod(*pod).is_some_and(|facts| facts.node.as_deref() == Some(node) && !facts.finished())
                    && self.survival(*pod) != Survival::Removed
            };
            let pods: Vec<ObjectId> = self.context.users_of_claim(claim).iter().copied().filter(uses).collect();
            if pods.is_empty() {
                continue;
            }
            let names = some_of(pods.iter().map(|pod| snapshot.located(*pod, None)), NAMED);
            let use_it = match pods.len() {
                1 => "uses it, and can't reach the data until it is started again",
                _ => "use it, and can't reach the data until they are started again",
            };
            let message = format!(
                "{} is detached from Node/{node} at once, though {names} {use_it}",
                snapshot.short_name(volume)
            );
            self.add(attachment, EffectKind::DataUnreachable, message);
            self.effects.last_mut().into_iter().for_each(|effect| effect.related.clone_from(&pods));
        }
    }
}
