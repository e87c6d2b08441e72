//! Finished Jobs with `ttlSecondsAfterFinished` (R12.1).

use crate::model::{Reference, Rule, facts::ReclaimFacts};

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
