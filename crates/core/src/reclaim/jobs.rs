//! Finished Jobs with `ttlSecondsAfterFinished` (R12.1), and those above the history limits of their CronJobs (R12.2).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{
        ObjectId, Reference, Rule, Symbol,
        facts::{JobHistory, JobTimes, ReclaimFacts},
    },
    wording::count,
};

use super::{Found, Reason, When, scene::Scene};

pub(super) fn find(scene: &Scene<'_>, found: &mut Found) {
    for id in scene.of("batch", "Job") {
        let (Some(job), Some(ReclaimFacts::Job(times))) = (scene.snapshot.facts.job(*id), scene.facts(*id)) else {
            continue;
        };
        let (false, Some(end)) = (scene.object(*id).terminating(), times.end) else { continue };
        let how = if end.complete { "complete" } else { "failed" };
        match (job.seconds_after_finished, end.at) {
            (Some(seconds), Some(at)) => {
                let why = format!("{how}, with ttlSecondsAfterFinished: {seconds}");
                let when = When::At { time: at.saturating_add(seconds) };
                found.goes(*id, Reason::new(Rule::R12_1, "ttl-after-finished-controller", when, why).in_foreground());
            }
            (Some(_), None) => {
                found.stays(*id, Rule::R12_1, format!("{how}, but its condition doesn't say since when"));
            }
            (None, _) => {
                let controller = Reference::controller_of(&scene.object(*id).owners);
                let of_cron_job =
                    controller.is_some_and(|controller| scene.snapshot.text(controller.kind) == "CronJob");
                let stays = if of_cron_job { "its CronJob keeps it" } else { "nothing removes it" };
                found.stays(*id, Rule::R12_1, format!("{how}, without ttlSecondsAfterFinished: {stays}"));
            }
        }
    }
}

const CONTROLLER: &str = "cronjob-controller";

/// Jobs above the history limits of their CronJobs.
pub(super) fn find_above_limits(scene: &Scene<'_>, found: &mut Found) {
    // A CronJob takes Jobs for its own by the name of their controller, whatever its kind and uid are.
    let mut jobs: FxHashMap<(Symbol, Symbol), Vec<(ObjectId, &JobTimes)>> = FxHashMap::default();
    for id in scene.of("batch", "Job") {
        let object = scene.object(*id);
        if let (Some(ReclaimFacts::Job(times)), Some(controller)) =
            (scene.facts(*id), Reference::controller_of(&object.owners))
        {
            jobs.entry((object.namespace, controller.name)).or_default().push((*id, times));
        }
    }
    let others = sooner(scene, found);
    for id in scene.of("batch", "CronJob") {
        let object = scene.object(*id);
        let (Some(ReclaimFacts::CronJob(history)), Some(jobs)) =
            (scene.facts(*id), jobs.get(&(object.namespace, object.name)))
        else {
            continue;
        };
        for complete in [true, false] {
            history_of(scene, *id, history, complete, jobs, &others, found);
        }
    }
}

/// Jobs that another controller may remove before a CronJob's controller looks.
fn sooner(scene: &Scene<'_>, found: &Found) -> FxHashSet<ObjectId> {
    let is_due = |when: &When| when.earliest(scene.now).is_some_and(|time| time <= scene.now + SLACK);
    found.removals.iter().filter(|(_, reason)| is_due(&reason.when)).map(|(id, _)| *id).collect()
}

/// How soon a CronJob's controller looks: what goes within these seconds may go before.
const SLACK: i64 = 60;

fn history_of(
    scene: &Scene<'_>,
    cron_job: ObjectId,
    history: &JobHistory,
    complete: bool,
    jobs: &[(ObjectId, &JobTimes)],
    others: &FxHashSet<ObjectId>,
    found: &mut Found,
) {
    let (limit, field, how) = match complete {
        true => (history.complete, "successfulJobsHistoryLimit", "complete"),
        false => (history.failed, "failedJobsHistoryLimit", "failed"),
    };
    let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok()) else { return };
    let ended = jobs.iter().filter(|(_, times)| times.end.is_some_and(|end| end.complete == complete));
    let mut ended: Vec<(ObjectId, Option<i64>)> = ended.map(|(id, times)| (*id, times.started)).collect();
    // By the start; those that never began come last (`byJobStartTime`).
    ended.sort_by_key(|(id, started)| (started.is_none(), *started, scene.name(*id)));
    let ended: Vec<ObjectId> = ended.into_iter().map(|(id, _)| id).collect();
    let excess = ended.len().saturating_sub(limit);
    // If others go first, fewer are too many.
    let left = ended.iter().filter(|id| !others.contains(id)).count();
    let mut before = 0;
    for id in &ended[..excess] {
        let is_other = usize::from(others.contains(id));
        let is_certain = before + limit < left + is_other;
        before += 1 - is_other;
        if scene.object(*id).terminating() {
            continue;
        }
        let jobs = count(ended.len(), "such Job", "such Jobs");
        let why = format!("{how}: {} has {jobs}, and {field}: {limit}", scene.short(cron_job));
        let doubt =
            (!is_certain).then(|| "another of these Jobs may expire first, and then it is not too many".to_owned());
        found.goes(*id, Reason::new(Rule::R12_2, CONTROLLER, When::Now, why).doubted(doubt));
    }
    let next = ended.get(excess).filter(|_| ended.len() >= limit && !history.suspended);
    let next = next.filter(|id| !scene.object(**id).terminating() && !scene.object(cron_job).terminating());
    if let Some(id) = next {
        let once = format!("another run of {} is {how}", scene.short(cron_job));
        let why = format!("{how}, and the oldest that {field}: {limit} keeps");
        found.goes(*id, Reason::new(Rule::R12_2, CONTROLLER, When::once(once), why));
    }
}
