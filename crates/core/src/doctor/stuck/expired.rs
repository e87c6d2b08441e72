//! Jobs whose time is up, and that nobody deletes.

use crate::{
    doctor::{
        Code, Finding, Step,
        case::{Case, FindingsBuilder},
    },
    model::effects::Severity,
    wording::age,
};

use super::concern::Concern;

/// The controller needs seconds. It may have been away for this long, and look again once it runs.
const LATE: i64 = 3600;

/// Finds finished Jobs that their `ttlSecondsAfterFinished` should have ended long ago (R12.1).
pub(super) fn gather(case: &Case<'_>, concern: &Concern, findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let Some((jobs, now)) = snapshot.resources.by_group_kind("batch", "Job").zip(case.now) else { return };
    for id in case.stage.of_resource(jobs).iter().copied().filter(|id| concern.includes(*id)) {
        let Some(job) = snapshot.facts.job(id).filter(|_| !snapshot.object(id).terminating()) else { continue };
        let Some((expires, ttl)) = job.expires.zip(job.seconds_after_finished) else { continue };
        let late = now.saturating_sub(expires);
        if late < LATE {
            continue;
        }
        let try_it = case.commands().delete(&[id], "background", &[]);
        let try_it = try_it.into_iter().map(|command| command.arg("--dry-run=server"));
        findings.findings.push(Finding {
            severity: Severity::Warning,
            objects: vec![id],
            message: format!(
                "It should have been deleted {} ago: it has finished, and its ttlSecondsAfterFinished is {ttl}.",
                age(late)
            ),
            consequence: "The TTL controller, a part of kube-controller-manager, does not act, or the API server \
                          refuses that."
                .to_owned(),
            remedies: vec![
                case.commands().see_manager(),
                Step::Look.by("see whether the API server refuses that; nothing is changed", try_it),
            ],
            ..Finding::of(Code::DeletionInProgress, format!("expired {}", snapshot.text(snapshot.object(id).uid)))
        });
    }
}
