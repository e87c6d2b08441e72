//! Workloads and CronJobs that stay, and whose pods name what goes: these run on, and no other can be started (R9.50).

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, facts::Required},
    plan::{
        note::{Note, NoteKind},
        outcome::Plan,
    },
    simulate::{SimContext, Start, controllers::all_workloads},
};

use super::abandoned::{deleted, from_what_stays};

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
    let cron_jobs = snapshot.resources.by_group_kind("batch", "CronJob");
    let cron_jobs = cron_jobs.map_or(&[][..], |cron_jobs| context.of_resource(cron_jobs));
    for workload in all_workloads(context).into_iter().chain(cron_jobs.iter().copied()).filter(may_name) {
        let Some(facts) = context.evidence(workload, snapshot.facts.workload(workload)) else { continue };
        let is_gone = |required: &Required| {
            let place = context.place_of(required, workload);
            place.and_then(|place| snapshot.look_up(place).object()).is_some_and(|id| gone.contains(&id))
        };
        if facts.requires.iter().any(is_gone) {
            plan.notes.push(Note { object: workload, kind: NoteKind::StartsNoMore });
        }
    }
}
