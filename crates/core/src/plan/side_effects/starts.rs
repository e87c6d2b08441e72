//! Workloads and CronJobs that stay, and whose pods name what goes: these run on, and no other can be started. Without
//! their ServiceAccount, pods that run lose the API (R9.50).

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Snapshot, facts::Required},
    plan::{
        note::{Note, NoteKind},
        outcome::Plan,
    },
    simulate::{SimContext, Start, controllers::all_workloads},
};

use super::abandoned::{deleted, from_what_stays};

/// Whether the controller of a pod is a workload, whose template says what the pod names.
fn is_of_a_workload(snapshot: &Snapshot, pod: ObjectId) -> bool {
    let resource = snapshot.controller_of(pod).map(|controller| snapshot.resource(controller));
    resource.is_some_and(|it| it.group == "apps" || it.group.is_empty() && it.kind == "ReplicationController")
}

/// Adds a note for each such workload.
pub(super) fn add_without_named(context: &SimContext<'_>, plan: &mut Plan) {
    if plan.request.start != Start::AtRest || plan.request.others_finish {
        return;
    }
    let snapshot = context.snapshot;
    let may_be_named = |id: &ObjectId| {
        let resource = snapshot.resource(*id);
        Required::KINDS.contains(&(&*resource.group, &*resource.kind))
    };
    let gone = from_what_stays(context, plan, deleted(plan)).into_iter().filter(may_be_named);
    let gone: FxHashSet<ObjectId> = gone.collect();
    if gone.is_empty() {
        return;
    }
    let places: FxHashSet<_> = gone.iter().map(|id| snapshot.namespace(*id)).collect();
    let going: FxHashSet<ObjectId> = plan.going().into_iter().collect();
    let may_name = |id: &ObjectId| {
        let is_near = places.contains("") || places.contains(snapshot.namespace(*id));
        is_near && !going.contains(id) && !snapshot.object(*id).terminating()
    };
    let has_account = gone.iter().any(|id| Some(snapshot.object(*id).resource) == context.built_in.accounts);
    let pods = context.built_in.pods.filter(|_| has_account).map_or(&[][..], |pods| context.of_resource(pods));
    for pod in pods.iter().copied().filter(may_name).filter(|pod| !is_of_a_workload(snapshot, *pod)) {
        let Some(facts) = context.evidence(pod, snapshot.facts.pod(pod)) else { continue };
        let account = facts.account.as_deref().filter(|_| !facts.finished());
        let account = account.and_then(|name| context.account_of(pod, name)?.object());
        if account.is_some_and(|account| gone.contains(&account)) {
            plan.notes.push(Note { object: pod, kind: NoteKind::LosesAccount });
        }
    }
    let cron_jobs = snapshot.resources.by_group_kind("batch", "CronJob");
    let cron_jobs = cron_jobs.map_or(&[][..], |cron_jobs| context.of_resource(cron_jobs));
    for workload in all_workloads(context).into_iter().chain(cron_jobs.iter().copied()).filter(may_name) {
        let Some(facts) = context.evidence(workload, snapshot.facts.workload(workload)) else { continue };
        let is_gone = |required: &Required| {
            let place = context.place_of(required, workload);
            place.and_then(|place| snapshot.look_up(place).object()).is_some_and(|id| gone.contains(&id))
        };
        let mut named = facts.requires.iter().filter(|required| is_gone(required)).peekable();
        if named.peek().is_some() {
            let is_account = named.any(|named| matches!(named, Required::ServiceAccount(_)));
            let kind = if is_account { NoteKind::LosesAccount } else { NoteKind::StartsNoMore };
            plan.notes.push(Note { object: workload, kind });
        }
    }
}
