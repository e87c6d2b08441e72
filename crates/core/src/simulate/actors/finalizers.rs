//! Finalizers that built-in controllers and cloud controllers remove themselves (§9.5), see
//! [`crate::model::effects::finalizers`].

use crate::{
    model::{
        ObjectId, Symbol,
        effects::{KnownFinalizer, When, known_finalizer, known_users},
        facts::VolumeFacts,
    },
    server::Patch,
    simulate::{
        cause::Cause,
        context::{Assume, SimContext},
        controllers::{lacks_provisioner, runs_in_a_cloud},
        is_removed_by_controller_manager, left_by_job_controller, managed_by_another,
        obstacles::Operation,
        world::World,
    },
};

use super::{ActorResult, Assumption};

impl SimContext<'_> {
    /// What is known of a finalizer that its controller removes without being asked (§9.5). Not of an add-on's, and not
    /// of one that a program outside of Kubernetes should have removed long ago, or whose cloud or provisioner is not
    /// seen.
    pub(crate) fn removed_by_itself(&self, object: ObjectId, finalizer: Symbol) -> Option<&'static KnownFinalizer> {
        let found = self.snapshot.object(object);
        let resource = self.snapshot.resources.get(found.resource);
        let known = known_finalizer(self.snapshot.text(finalizer), &resource.group, &resource.kind)?;
        let removes = match known.when {
            When::Elsewhere | When::Asked => false,
            When::JobDoneWithPod => left_by_job_controller(self.snapshot, object, finalizer).is_none(),
            _ => true,
        };
        // A volume waits for its claim first.
        let is_bound = self.snapshot.facts.volume(object).is_some_and(|facts| facts.phase.as_deref() == Some("Bound"));
        let is_seen = || !self.aside(|| lacks_provisioner(self, object, finalizer)).0;
        let is_in_time = || is_bound || self.overdue_for(object).is_none() && is_seen();
        let is_taken_to_run = || is_in_time() && runs_in_a_cloud(self, object, finalizer);
        (removes && (known.is_kubernetes_own() || is_taken_to_run())).then_some(known)
    }

    /// Whether a controller of Kubernetes' own would have removed its finalizer long ago, as nothing that was read
    /// keeps it from that: whether it still does is open.
    pub(crate) fn is_left(&self, object: ObjectId, known: &KnownFinalizer) -> bool {
        let is_due = || match known.when {
            When::Terminating | When::JobDoneWithPod => true,
            When::ClaimUnused => {
                let namespace = self.snapshot.object(object).namespace;
                let is_read = |pods| self.snapshot.covers(pods, Some(namespace));
                self.users_of_claim(object).is_empty() && self.built_in.pods.is_some_and(is_read)
            }
            When::VolumeUnbound => {
                let phase = self.snapshot.facts.volume(object).and_then(|facts| facts.phase.as_deref());
                phase.is_some_and(|phase| phase != "Bound")
            }
            When::Unused | When::Elsewhere | When::Asked => false,
        };
        known.is_kubernetes_own() && self.overdue_for(object).is_some() && is_due()
    }
}

impl World<'_, '_> {
    pub(super) fn remove_known_finalizers(&mut self, object: ObjectId) -> ActorResult {
        if self.context.assume == Assume::None {
            return ActorResult::Done;
        }
        let mut result = ActorResult::Done;
        for known in self.known_finalizers_of(object) {
            // The object may be removed with its last finalizer.
            let Some(stored) = self.stored(object) else { return ActorResult::Done };
            let Some(finalizer) = self.context.snapshot.strings.find(known.finalizer) else { continue };
            if !stored.has_finalizer(finalizer)
                || self.manager_away() && is_removed_by_controller_manager(known.finalizer)
                || self.others.is_none() && self.context.is_left(object, known)
            {
                continue;
            }
            // Reads what shows whether its controller runs: if nothing does, it isn't known any more.
            lacks_provisioner(self.context, object, finalizer);
            let is_due = match self.is_removal_due(object, known.when) {
                Some(true) if self.is_attached(object, known) => Some(false),
                due => due,
            };
            match is_due {
                Some(true) => {
                    self.assumptions.insert(Assumption::of_finalizer(known));
                    let patch = Patch::RemoveFinalizer { finalizer, version: stored.version };
                    self.patch(object, &patch, Cause::KnownFinalizer(finalizer));
                }
                Some(false) => result = ActorResult::Waits,
                None => {
                    self.doubtful.insert(object);
                }
            }
        }
        result
    }

    /// Whether a Node has a volume and can't be rid of it, which a controller waits for.
    fn is_attached(&mut self, object: ObjectId, known: &KnownFinalizer) -> bool {
        known.when == When::VolumeUnbound
            && known_users(known.finalizer, "PersistentVolume").next().is_some()
            && !self.failing_attachments(object).is_empty()
    }

    /// The finalizers that an object has and whose controllers remove them by themselves
    /// ([`SimContext::removed_by_itself`](crate::simulate::SimContext::removed_by_itself)).
    pub(crate) fn known_finalizers_of(&self, object: ObjectId) -> Vec<&'static KnownFinalizer> {
        let Some(stored) = self.stored(object).filter(|stored| !stored.finalizers.is_empty()) else {
            return Vec::new();
        };
        let removed = |finalizer: &Symbol| self.context.removed_by_itself(object, *finalizer);
        stored.finalizers.iter().filter_map(removed).collect()
    }

    /// Whether a controller would remove its finalizer now; `None` if unknown.
    fn is_removal_due(&mut self, object: ObjectId, when: When) -> Option<bool> {
        let terminating = self.stored(object).is_some_and(|stored| stored.terminating);
        match when {
            When::Terminating => Some(terminating),
            When::Unused => {
                if !terminating {
                    return Some(false);
                }
                let users = self.users_of(object);
                if users.found.is_empty() && !users.others { users.all.then_some(true) } else { Some(false) }
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
            When::JobDoneWithPod => self.job_is_done_with(object, terminating),
            When::Elsewhere | When::Asked => None,
        }
    }

    fn claim_unused(&mut self, claim: ObjectId) -> Option<bool> {
        let context = self.context;
        let namespace = context.snapshot.object(claim).namespace;
        let pods = context.built_in.pods?;
        if context.users_of_claim(claim).iter().any(|pod| self.protects_claim(*pod, claim)) {
            return Some(false);
        }
        let mut all_known = context.snapshot.covers(pods, Some(namespace));
        for pod in context.in_namespace(namespace) {
            if context.snapshot.object(*pod).resource == pods && self.exists(*pod) {
                all_known &= self.fact(*pod, context.snapshot.facts.pod(*pod)).is_some();
            }
        }
        all_known.then_some(true)
    }

    /// Whether a pod that mentions a claim protects it. A claim of an ephemeral volume, named `<pod>-<volume>` and
    /// controlled by the pod, is released as soon as the pod has been shut down (S14).
    pub(crate) fn protects_claim(&self, pod: ObjectId, claim: ObjectId) -> bool {
        let Some(stored) = self.stored(pod) else { return false };
        let snapshot = self.context.snapshot;
        let shut_down = stored.terminating && !stored.in_grace();
        let (pod, claim) = (snapshot.object(pod), snapshot.object(claim));
        let rest = snapshot.text(claim.name).strip_prefix(snapshot.text(pod.name));
        let ephemeral = claim.is_controlled_by(pod.uid) && rest.is_some_and(|rest| rest.starts_with('-'));
        !(shut_down && ephemeral)
    }

    fn volume_unbound(&mut self, volume: ObjectId) -> Option<bool> {
        let context = self.context;
        let facts = self.fact(volume, context.snapshot.facts.volume(volume))?;
        if facts.phase.as_deref().is_some_and(|phase| phase != "Bound") {
            return Some(true);
        }
        self.claim_named_by(facts).map(|claim| claim.is_none())
    }

    /// The claim that a volume is bound to, if it exists.
    pub(crate) fn claim_of_volume(&mut self, volume: ObjectId) -> Option<ObjectId> {
        self.claim_named_by(self.context.snapshot.facts.volume(volume)?).flatten()
    }

    /// The claim that a volume names by its name and uid, if it exists; `None` if that is unknown.
    pub(super) fn claim_named_by(&mut self, volume: &VolumeFacts) -> Option<Option<ObjectId>> {
        let (snapshot, claims) = (self.context.snapshot, self.context.built_in.claims);
        let Some((namespace, name)) = volume.claim_name() else { return Some(None) };
        let (Some(namespace), Some(name)) = (snapshot.strings.find(namespace), snapshot.strings.find(name)) else {
            // No object has these names. That it was not read is no proof.
            return claims.filter(|claims| snapshot.covers(*claims, None)).map(|_| None);
        };
        let is_it = |claim: &ObjectId| volume.names_uid(snapshot.text(snapshot.object(*claim).uid));
        Some(self.find(claims, namespace, name)?.filter(is_it))
    }

    /// R9.8: the Job controller is done with a pod that is terminating, or whose Job is, or that has no Job any more. A
    /// Job of another controller keeps its pods' finalizers.
    fn job_is_done_with(&mut self, pod: ObjectId, terminating: bool) -> Option<bool> {
        let snapshot = self.context.snapshot;
        let Some(stored) = self.stored(pod) else { return Some(true) };
        let mut jobs = stored.owners.iter().filter(|reference| {
            reference.is_controller() && snapshot.text(reference.kind) == "Job" && !self.owner_gone(reference.uid)
        });
        let Some(reference) = jobs.next() else { return Some(true) };
        // A Job that was not read may exist.
        let Some(job) = snapshot.by_uid(reference.uid) else { return Some(terminating) };
        if self.fact(job, snapshot.facts.job(job)).is_some_and(|facts| facts.managed_by.is_some()) {
            return Some(false);
        }
        let ends = self.stored(job).map(|job| job.terminating);
        // It counts the pod first, in the status of a Job that goes on.
        if terminating && ends == Some(false) && self.surely_refuses_before(pod, job, Operation::Status) {
            return Some(false);
        }
        Some(terminating || ends == Some(true))
    }

    /// Whether the Job of a pod is there, and another controller decides over this finalizer.
    pub(crate) fn is_managed_elsewhere(&self, pod: ObjectId, finalizer: Symbol) -> bool {
        managed_by_another(self.context.snapshot, pod, finalizer).is_some_and(|(job, _)| self.exists(job))
    }

    fn owner_gone(&self, uid: Symbol) -> bool {
        // An owner that was not read may exist.
        self.context.snapshot.by_uid(uid).is_some_and(|owner| !self.exists(owner))
    }
}
