//! The Job controller: it lets go of the pods of a terminating Job, and deletes those of a Job that has failed.

use crate::{
    model::{ObjectId, Reference, Snapshot, Symbol},
    simulate::{
        cause::Cause,
        world::{Assume, World},
    },
};

use super::Assumption;

/// A Job that expires within so many seconds after it has failed is followed to its end (R9.36).
const SOON: i64 = 60;
/// The finalizer of pods that the Job controller has yet to count.
const TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// Why the Job controller never removes its finalizer from a pod: something else than a Job controls it (R9.8).
pub fn left_by_job_controller(snapshot: &Snapshot, pod: ObjectId, finalizer: Symbol) -> Option<String> {
    let controller = Reference::controller_of(&snapshot.object(pod).owners)?;
    let (kind, group) = (snapshot.text(controller.kind), snapshot.text(controller.api_version));
    let is_job = kind == "Job" && group == "batch/v1";
    (snapshot.text(finalizer) == TRACKING && !is_job)
        .then(|| format!("the Job controller leaves it on pods of others: {kind}/{}", snapshot.text(controller.name)))
}

/// Who decides over the Job controller's finalizer of a pod instead, as the pod's Job says (R9.8): the Job, and why.
pub(crate) fn managed_by_another(snapshot: &Snapshot, pod: ObjectId, finalizer: Symbol) -> Option<(ObjectId, String)> {
    let job = snapshot.controller_of(pod).filter(|_| snapshot.text(finalizer) == TRACKING)?;
    let manager = snapshot.facts.job(job)?.managed_by.as_ref()?;
    Some((job, format!("spec.managedBy of {} gives it to {manager}", snapshot.short_name(job))))
}

impl World<'_, '_> {
    /// A Job is terminating: marks its pods, which lose the Job controller's finalizer then (R9.8).
    pub(in crate::simulate) fn notice_pods_of_job(&mut self, job: ObjectId) {
        let context = self.context;
        if Some(context.snapshot.object(job).resource) == context.built_in.jobs {
            for pod in context.graph.dependents(job.into()) {
                self.actors.notice(*pod);
            }
        }
    }

    /// A pod is terminating. If it belongs to a Job, it has failed, and the Job may have failed with it (R9.22).
    pub(in crate::simulate) fn count_failure(&mut self, pod: ObjectId) {
        let context = self.context;
        let (Some(job), Some(pods)) = (self.job_of_uncounted(pod), context.built_in.pods) else { return };
        if context.assume == Assume::None || self.manager_away() || !self.actors.failed.insert(pod) {
            return;
        }
        let facts = context.snapshot.facts.job(job);
        let Some(facts) = facts else {
            self.needs.facts.insert(job);
            return;
        };
        let failures = self.actors.failures.entry(job).or_default();
        *failures += 1;
        // Once it has failed, it deletes nothing more.
        if facts.managed_by.is_some() || facts.failures_left.is_none_or(|left| *failures - 1 != left) {
            return;
        }
        let orphans = self.stored(job).is_some_and(|job| job.has_finalizer(Symbol::ORPHAN));
        match facts.seconds_after_finished {
            None => {}
            Some(_) if facts.judges_failures || orphans => {
                self.rests_on_others.insert(job);
            }
            Some(..=SOON) => self.actors.late.push_back((job, Cause::JobExpired { pod })),
            Some(seconds) => {
                let job = context.snapshot.short_name(job);
                self.assumptions.insert(Assumption::ExpiresLater { job, seconds });
            }
        }
        for other in context.graph.dependents(job.into()) {
            let found = context.snapshot.object(*other);
            let is_active = found.resource == pods
                && self.stored(*other).is_some_and(|stored| !stored.terminating)
                && !context.snapshot.facts.has_finished(*other);
            if !is_active || self.job_of(*other) != Some(job) {
                continue;
            }
            // The Job may be gone before its controller looks at it.
            if facts.judges_failures || orphans {
                self.rests_on_others.insert(*other);
            } else {
                self.actors.due.push_back((*other, Cause::JobFailed { job, pod }));
            }
        }
    }

    /// R9.36: a Job has failed once all its pods have ended.
    pub(super) fn has_failed(&self, job: ObjectId) -> bool {
        let ended = |pod: &ObjectId| self.job_of(*pod) != Some(job) || self.context.snapshot.facts.has_finished(*pod);
        self.context.graph.dependents(job.into()).iter().filter(|pod| self.exists(**pod)).all(ended)
    }

    /// The Job that controls a pod.
    fn job_of(&self, pod: ObjectId) -> Option<ObjectId> {
        let snapshot = self.context.snapshot;
        let job = snapshot.controller_of(pod)?;
        (Some(snapshot.object(job).resource) == self.context.built_in.jobs && self.exists(job)).then_some(job)
    }

    /// The same for a pod that was neither counted nor deleted in the snapshot.
    fn job_of_uncounted(&self, pod: ObjectId) -> Option<ObjectId> {
        let snapshot = self.context.snapshot;
        let object = snapshot.object(pod);
        let is_tracked = object.finalizers.iter().any(|finalizer| snapshot.text(*finalizer) == TRACKING);
        let is_finished = snapshot.facts.has_finished(pod);
        self.job_of(pod).filter(|_| is_tracked && !is_finished && !object.terminating())
    }
}
