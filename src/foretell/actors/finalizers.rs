//! Finalizers that built-in controllers and cloud controllers remove themselves (9.5).

use crate::{
    foretell::{
        cause::Cause,
        world::{Assume, World},
    },
    model::{ObjectId, Symbol},
    server::Patch,
};

use super::{Assumption, Turn};

/// A finalizer whose controller is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownFinalizer {
    pub finalizer: &'static str,
    /// The group and kind that it is put on.
    pub on: (&'static str, &'static str),
    /// Who removes it.
    pub by: &'static str,
    when: When,
}

/// What the controller waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Terminating,
    /// The object is terminating and nobody uses it, which can't be seen from here.
    Unused,
    /// No scheduled pod mentions the claim; completed pods count (9.5).
    ClaimUnused,
    /// The volume's claim is gone.
    VolumeUnbound,
    /// The pod is terminating, finished or no longer a Job's (R9.8).
    JobDoneWithPod,
}

const fn known(finalizer: &'static str, on: (&'static str, &'static str), by: &'static str, when: When) -> KnownFinalizer {
    KnownFinalizer { finalizer, on, by, when }
}

/// Every finalizer of 9.5 that a controller removes by itself. The one on definitions is dealt with apart (R1.26).
pub const KNOWN_FINALIZERS: &[KnownFinalizer] = &[
    known("kubernetes.io/pvc-protection", ("", "PersistentVolumeClaim"), "the PVC protection controller", When::ClaimUnused),
    known("kubernetes.io/pv-protection", ("", "PersistentVolume"), "the PV protection controller", When::VolumeUnbound),
    known("kubernetes.io/pv-controller", ("", "PersistentVolume"), "the volume controller", When::VolumeUnbound),
    known(
        "external-provisioner.volume.kubernetes.io/finalizer",
        ("", "PersistentVolume"),
        "the volume's provisioner",
        When::VolumeUnbound,
    ),
    known(
        "kubernetes.io/vac-protection",
        ("storage.k8s.io", "VolumeAttributesClass"),
        "the VAC protection controller",
        When::Unused,
    ),
    known("service.kubernetes.io/load-balancer-cleanup", ("", "Service"), "the cloud's service controller", When::Terminating),
    known("batch.kubernetes.io/job-tracking", ("", "Pod"), "the Job controller", When::JobDoneWithPod),
    known(
        "resource.kubernetes.io/delete-protection",
        ("resource.k8s.io", "ResourceClaim"),
        "the resource claim controller",
        When::Unused,
    ),
    known(
        "networking.k8s.io/service-cidr-finalizer",
        ("networking.k8s.io", "ServiceCIDR"),
        "the service CIDR controller",
        When::Unused,
    ),
    known("scheduling.k8s.io/podgroup-protection", ("scheduling.k8s.io", "PodGroup"), "the pod group controller", When::Unused),
];

/// Domains of finalizers of widespread add-ons, whose controllers usually run wherever the finalizers are set. What they do first is
/// not foretold; that they are in nobody's hands would be a false alarm.
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

/// Whether a finalizer belongs to a widespread add-on: whether its controller runs is not known.
pub fn has_living_controller(finalizer: &str) -> bool {
    let domain = finalizer.split('/').next().unwrap_or(finalizer);
    let belongs = |family: &&str| domain == *family || domain.strip_suffix(family).is_some_and(|rest| rest.ends_with('.'));
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

    /// The entries of [`KNOWN_FINALIZERS`] that an object's kind can have and that it has.
    pub fn known_finalizers_of(&self, object: ObjectId) -> Vec<&'static KnownFinalizer> {
        let Some(stored) = self.stored(object).filter(|stored| !stored.finalizers.is_empty()) else { return Vec::new() };
        let resource = self.stage.snapshot.resources.get(self.stage.snapshot.object(object).resource);
        let kind = (resource.group.as_str(), resource.kind.as_str());
        KNOWN_FINALIZERS
            .iter()
            .filter(|known| known.on == kind)
            .filter(|known| {
                self.stage.snapshot.strings.find(known.finalizer).is_some_and(|finalizer| stored.has_finalizer(finalizer))
            })
            .collect()
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
            if stage.snapshot.object(*pod).resource == pods && self.exists(*pod) && stage.snapshot.facts.pod(*pod).is_none() {
                self.needs.facts.insert(*pod);
                all_known = false;
            }
        }
        all_known.then_some(true)
    }

    /// Whether a pod that mentions a claim keeps it. A claim made for an ephemeral volume of a pod, `<pod>-<volume>` and controlled by
    /// it, is let go as soon as the pod has been shut down (S14).
    pub fn uses_claim(&self, pod: ObjectId, claim: ObjectId) -> bool {
        let Some(stored) = self.stored(pod) else { return false };
        let snapshot = self.stage.snapshot;
        let shut_down = stored.terminating && !stored.in_grace();
        let (pod, claim) = (snapshot.object(pod), snapshot.object(claim));
        let controlled = claim.owners.iter().any(|reference| reference.uid == pod.uid && reference.controller == Some(true));
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
        let Some((namespace, name)) = facts.claim.as_deref().and_then(|claim| claim.split_once('/')) else { return Some(true) };
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
