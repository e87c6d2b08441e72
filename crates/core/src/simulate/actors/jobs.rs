//! The Job controller: it lets go of the pods of a terminating Job, and deletes those of a Job that has failed.

use crate::{
    model::{ObjectId, Symbol},
    simulate::{blocked_by::TRACKING, cause::Cause, context::Assume, state::Kubelet, world::World},
};

use super::Assumption;

/// A Job that expires within so many seconds after it has failed is followed to its end (R9.36).
const SOON: i64 = 60;
/// In place of a number of failures: the Job has failed.
const FAILED: i64 = i64::MAX;

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
        let Some(facts) = self.fact(job, context.snapshot.facts.job(job)) else { return };
        let has_no_node = |kubelet| matches!(kubelet, Kubelet::Absent | Kubelet::Deleted(_) | Kubelet::OutOfService);
        let surely = facts.fails_with_node && has_no_node(self.kubelet_of(pod));
        let failures = self.actors.failures.entry(job).or_default();
        // Once it has failed, it deletes nothing more.
        let fails = surely || facts.may_fail_at_once || facts.failures_left == Some(*failures);
        if *failures == FAILED || facts.managed_by.is_some() || !fails {
            *failures = failures.saturating_add(1);
            return;
        }
        *failures = FAILED;
        let orphans = self.stored(job).is_some_and(|job| job.has_finalizer(Symbol::ORPHAN));
        let is_open = orphans || facts.judges_failures && !surely;
        match facts.seconds_after_finished {
            None => {}
            Some(_) if is_open => {
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
            if is_open {
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
