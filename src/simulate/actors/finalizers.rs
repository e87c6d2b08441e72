//! Finalizers that built-in controllers and cloud controllers remove themselves (§9.5). Which ones there are stands in
//! [`crate::model::effects::finalizers`].

use crate::{
    model::{
        ObjectId, Symbol,
        effects::{KNOWN_FINALIZERS, KnownFinalizer, When, known_finalizer},
    },
    server::Patch,
    simulate::{
        cause::Cause,
        world::{Assume, World},
    },
};

use super::{Assumption, Turn};

/// Domains of finalizers of widespread add-ons, beside those in the table, whose controllers usually run wherever the
/// finalizers are set. What they do first is not foretold; that they are in nobody's hands would be a false alarm.
const WIDESPREAD: &[&str] = &[
    "argoproj.io",
    "fluxcd.io",
    "cert-manager.io",
    "crossplane.io",
    "cluster.x-k8s.io",
    "karpenter.sh",
    "elbv2.k8s.aws",
    "service.k8s.aws",
    "networking.gke.io",
    "snapshot.storage.kubernetes.io",
    "external-attacher",
    "external-resizer",
    "gateway.networking.k8s.io",
    "tekton.dev",
    "keda.sh",
    "longhorn.io",
    "rook.io",
    "kubevirt.io",
];

/// Whether a finalizer on an object of this kind belongs to a widespread add-on: whether its controller runs is not
/// known.
pub fn has_living_controller(finalizer: &str, group: &str, kind: &str) -> bool {
    if known_finalizer(finalizer, group, kind).is_some_and(|known| known.when == When::Elsewhere) {
        return true;
    }
    let domain = finalizer.split('/').next().unwrap_or(finalizer);
    let belongs =
        |family: &&str| domain == *family || domain.strip_suffix(family).is_some_and(|rest| rest.ends_with('.'));
    WIDESPREAD.iter().any(belongs)
}

impl World<'_, '_> {
    pub(super) fn remove_known_finalizers(&mut self, object: ObjectId) -> Turn {
        if self.stage.assume == Assume::None {
            return Turn::Done;
        }
        let mut turn = Turn::Done;
        for known in self.known_finalizers_of(object) {
            // The object may go with its last finalizer.
            let Some(stored) = self.stored(object) else { return Turn::Done };
            let Some(finalizer) = self.stage.snapshot.strings.find(known.finalizer) else { continue };
            if !stored.has_finalizer(finalizer) {
                continue;
            }
            match self.is_time(object, known.when) {
                Some(true) => {
                    self.assumptions.insert(Assumption::Finalizer { finalizer: known.finalizer, by: known.by });
                    let patch = Patch::RemoveFinalizer { finalizer, version: stored.version };
                    self.patch(object, &patch, Cause::KnownFinalizer(finalizer));
                }
                Some(false) => turn = Turn::HasToWait,
                None => {
                    self.doubtful.insert(object);
                }
            }
        }
        turn
    }

    /// The entries of [`KNOWN_FINALIZERS`] that an object has, and whose controllers are known to remove them by
    /// themselves.
    pub fn known_finalizers_of(&self, object: ObjectId) -> Vec<&'static KnownFinalizer> {
        let Some(stored) = self.stored(object).filter(|stored| !stored.finalizers.is_empty()) else {
            return Vec::new();
        };
        let resource = self.stage.snapshot.resources.get(self.stage.snapshot.object(object).resource);
        let text = |finalizer: &Symbol| self.stage.snapshot.text(*finalizer);
        let of_kind = |known: &&KnownFinalizer| {
            known.when != When::Elsewhere
                && stored
                    .finalizers
                    .iter()
                    .any(|finalizer| known.matches(text(finalizer), &resource.group, &resource.kind))
        };
        KNOWN_FINALIZERS.iter().filter(of_kind).collect()
    }

    /// Whether a controller would remove its finalizer now; none where that can't be known.
    fn is_time(&mut self, object: ObjectId, when: When) -> Option<bool> {
        let terminating = self.stored(object).is_some_and(|stored| stored.terminating);
        match when {
            When::Terminating => Some(terminating),
            // Whoever uses it is not known.
            When::Unused => {
                if terminating {
                    None
                } else {
                    Some(false)
                }
            }
            When::ClaimUnused => {
                if terminating {
                    self.claim_unused(object)
                } else {
                    Some(false)
                }
            }
            When::VolumeUnbound => {
                if terminating {
                    self.volume_unbound(object)
                } else {
                    Some(false)
                }
            }
            When::JobDoneWithPod => Some(terminating || !self.controlled_by_job(object)),
            When::Elsewhere => None,
        }
    }

    fn claim_unused(&mut self, claim: ObjectId) -> Option<bool> {
        let stage = self.stage;
        let namespace = stage.snapshot.object(claim).namespace;
        let pods = stage.built_in.pods?;
        if stage.users_of_claim(claim).iter().any(|pod| self.uses_claim(*pod, claim)) {
            return Some(false);
        }
        let mut all_known = stage.snapshot.covers(pods, Some(namespace));
        for pod in stage.in_namespace(namespace) {
            if stage.snapshot.object(*pod).resource == pods
                && self.exists(*pod)
                && stage.snapshot.facts.pod(*pod).is_none()
            {
                self.needs.facts.insert(*pod);
                all_known = false;
            }
        }
        all_known.then_some(true)
    }

    /// Whether a pod that mentions a claim keeps it. A claim made for an ephemeral volume of a pod, `<pod>-<volume>`
    /// and controlled by it, is let go as soon as the pod has been shut down (S14).
    pub fn uses_claim(&self, pod: ObjectId, claim: ObjectId) -> bool {
        let Some(stored) = self.stored(pod) else { return false };
        let snapshot = self.stage.snapshot;
        let shut_down = stored.terminating && !stored.in_grace();
        let (pod, claim) = (snapshot.object(pod), snapshot.object(claim));
        let controlled =
            claim.owners.iter().any(|reference| reference.uid == pod.uid && reference.controller == Some(true));
        let rest = snapshot.text(claim.name).strip_prefix(snapshot.text(pod.name));
        let ephemeral = controlled && rest.is_some_and(|rest| rest.starts_with('-'));
        !(shut_down && ephemeral)
    }

    fn volume_unbound(&mut self, volume: ObjectId) -> Option<bool> {
        let stage = self.stage;
        let Some(facts) = stage.snapshot.facts.volume(volume) else {
            self.needs.facts.insert(volume);
            return None;
        };
        if facts.phase.as_deref().is_some_and(|phase| phase != "Bound") {
            return Some(true);
        }
        let Some((namespace, name)) = facts.claim.as_deref().and_then(|claim| claim.split_once('/')) else {
            return Some(true);
        };
        let strings = &stage.snapshot.strings;
        let (Some(namespace), Some(name)) = (strings.find(namespace), strings.find(name)) else { return Some(true) };
        self.find(stage.built_in.claims, namespace, name).map(|claim| claim.is_none())
    }

    fn controlled_by_job(&self, pod: ObjectId) -> bool {
        self.stored(pod).is_some_and(|stored| {
            stored.owners.iter().any(|reference| {
                reference.controller == Some(true)
                    && self.stage.snapshot.text(reference.kind) == "Job"
                    && !self.owner_gone(reference.uid)
            })
        })
    }

    fn owner_gone(&self, uid: Symbol) -> bool {
        // An owner that was not read is not known to be gone.
        self.stage.snapshot.by_uid(uid).is_some_and(|owner| !self.exists(owner))
    }
}
