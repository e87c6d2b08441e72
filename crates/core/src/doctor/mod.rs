//! Problems, their consequences and remedies. Findings rest on the simulation: what a working collector does to every
//! object ([`crate::simulate::Projection`]) shows which deletions are stuck, and which only take time.

mod apis;
mod case;
mod causes;
pub mod code;
mod collector;
pub mod commands;
mod cycles;
mod events;
mod evidence;
pub mod explain;
pub mod finding;
mod held;
mod identity;
mod limit;
mod losses;
mod needed;
mod policies;
mod references;
mod refusers;
mod remedies;
mod schema;
mod stuck;
mod sweep;
mod vanished;
mod webhooks;

#[cfg(test)]
mod commands_tests;
#[cfg(test)]
mod diagnose_tests;
#[cfg(test)]
mod limit_tests;

use std::cmp::Reverse;

use crate::{
    model::{ObjectId, effects::Severity},
    simulate::obstacles::webhook_calls,
};

pub use case::{Case, Probed};
pub use code::Code;
pub use evidence::{Evidence, RecordedDelete, RecordedName};
pub use explain::{Explained, Explanation, explain, foresee};
pub use finding::{Diagnosis, Finding, RecreatedDependent, Remedy, Step};
pub use limit::Limit;
pub use vanished::{Vanished, vanished};

use case::FindingsBuilder;

/// Finds problems in what was read: [`Diagnosis::wanted`] is what must still be read to be sure.
pub fn diagnose(case: &Case<'_>) -> Diagnosis {
    let mut findings = FindingsBuilder::default();
    cycles::gather_deadlocks(case, &mut findings);
    apis::gather(case, &mut findings);
    held::gather(case, &mut findings);
    stuck::gather(case, &mut findings);
    references::gather(case, &mut findings);
    cycles::gather(case, &mut findings);
    identity::uids(case, &mut findings);
    // What the collector should write, and what prevents that; what nothing explains is a problem of the collector
    // itself.
    let turns = collector::turns(case);
    let overdue = collector::overdue(case, &turns);
    identity::namespaces(case, &overdue, &mut findings);
    let calls = webhook_calls(case.stage);
    let to_come = [&turns[..], &collector::follow(case, &turns)].concat();
    webhooks::gather(case, &calls, &to_come, &mut findings);
    policies::gather(case, &to_come, &mut findings);
    schema::gather(case, &turns, &mut findings);
    collector::gather(case, &calls, &overdue, &mut findings);
    events::gather(case, &mut findings);
    stuck::progress::gather(case, &mut findings);
    let FindingsBuilder { mut findings, made, .. } = findings;
    for finding in &mut findings {
        finding.put_in_order();
        finding.since = finding.objects.iter().filter_map(|id| case.snapshot().object(*id).deletion_requested()).min();
    }
    causes::connect(case, &calls, &mut findings);
    policies::judge_remedies(case, &mut findings);
    refusers::name_asked(case, &calls, &mut findings);
    losses::tell(case, &mut findings);
    let unreachable = causes::unreachable(&findings);
    causes::keep_past_webhooks(case, &unreachable, &mut findings);
    webhooks::tell_taken_down(case, &mut findings);
    findings.sort_by_cached_key(|finding| order(case, finding));
    let mut wanted = case.stage.needs();
    if *case.limit != Limit::Everything {
        let snapshot = case.snapshot();
        let asked = snapshot.objects().map(|(id, _)| id).filter(|id| case.limit.asks_about(snapshot, *id));
        let told = findings.iter().filter(|finding| case.limit.takes(snapshot, finding)).flat_map(Finding::named);
        needed::narrow(case, &mut wanted, asked.chain(told));
    }
    Diagnosis { findings, wanted, made }
}

/// The deletions in scope that go on, and that these findings are not about.
pub fn in_progress(case: &Case<'_>, findings: &[Finding]) -> Vec<Finding> {
    let mut going_on = stuck::progress::untold(case, findings);
    going_on.iter_mut().for_each(Finding::put_in_order);
    losses::tell(case, &mut going_on);
    causes::keep_past_webhooks(case, &causes::unreachable(findings), &mut going_on);
    webhooks::tell_taken_down(case, &mut going_on);
    going_on
}

/// The worst first, and first of these that no collector runs, then the causes of others; then those with more affected
/// objects; then by name.
fn order<'f>(case: &Case<'f>, finding: &Finding) -> (Severity, [bool; 2], Reverse<usize>, Code, [&'f str; 3], String) {
    let snapshot = case.snapshot();
    let name = |id: &ObjectId| {
        let object = snapshot.object(*id);
        let kind = snapshot.resources.get(object.resource).kind.as_str();
        [kind, snapshot.text(object.namespace), snapshot.text(object.name)]
    };
    (
        finding.severity,
        [finding.code != Code::CollectorStopped, !finding.is_cause],
        Reverse(finding.objects.len()),
        finding.code,
        finding.objects.first().map(name).unwrap_or_default(),
        finding.cause.clone(),
    )
}
