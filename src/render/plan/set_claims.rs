//! What becomes of the claims of deleted StatefulSets, in words and in JSON.

use serde::Serialize;

use crate::{
    document::ObjectJson,
    model::{ObjectId, Snapshot},
    plan::ClaimsOfSet,
    simulate::Cause,
    wording::{count, grouped, some_of},
};

use super::{PlanView, names::name};

/// At most this many StatefulSets with the same result have lines of their own, and at most this many claims are named.
const NAMED: usize = 3;

/// The claims of a deleted StatefulSet in JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaimsJson<'a> {
    stateful_set: ObjectJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when_deleted: Option<&'static str>,
    kept: Vec<ObjectJson<'a>>,
    deleted: Vec<ObjectJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uncertain: Vec<ObjectJson<'a>>,
}

impl<'a> ClaimsJson<'a> {
    pub(super) fn of(snapshot: &'a Snapshot, of: &ClaimsOfSet) -> Self {
        let objects = |claims: &[ObjectId]| claims.iter().map(|id| ObjectJson::of(snapshot, *id)).collect();
        ClaimsJson {
            stateful_set: ObjectJson::of(snapshot, of.set),
            when_deleted: of.deletes.map(policy),
            kept: objects(&of.kept),
            deleted: objects(&of.deleted),
            uncertain: objects(&of.unsure),
        }
    }
}

fn policy(deletes: bool) -> &'static str {
    if deletes { "Delete" } else { "Retain" }
}

/// One line for each StatefulSet; many with the same result share a line. Without `wide`, nothing of one all of whose
/// claims are deleted, as it says: the lines above show that.
pub(super) fn describe(view: &PlanView<'_>, wide: bool) -> Vec<String> {
    let reasons = |of| results(view, of).into_iter().map(|result| result.reason).collect::<Vec<String>>();
    let is_shown = |of: &&ClaimsOfSet| of.deletes == Some(true) && of.kept.is_empty() && of.unsure.is_empty();
    let told = view.plan.claims.iter().filter(|of| wide || !is_shown(of));
    let groups = grouped(told.map(|of| (reasons(of), of)));
    let lines = groups.iter().flat_map(|(reasons, sets)| match sets.len() {
        0..=NAMED => sets.iter().map(|of| line(view, of)).collect(),
        _ => vec![together(reasons, sets)],
    });
    lines.collect()
}

/// What becomes of some claims of a StatefulSet.
struct ClaimsResult<'c> {
    claims: &'c [ObjectId],
    /// ` deleted, too (whenDeleted Delete)`
    reason: String,
}

fn results<'c>(view: &PlanView<'_>, of: &'c ClaimsOfSet) -> Vec<ClaimsResult<'c>> {
    let mut results = Vec::new();
    let policy = of.deletes.map_or(String::new(), |deletes| format!(" (whenDeleted {})", policy(deletes)));
    if !of.deleted.is_empty() {
        let in_namespace = |claim: &ObjectId| {
            let because = view.outcome(*claim).and_then(|outcome| outcome.because.as_ref());
            matches!(because, Some(Cause::Namespace(_)))
        };
        let reason = match of.deletes {
            Some(false) if of.deleted.iter().all(in_namespace) => {
                "deleted with the namespace, although whenDeleted is Retain".to_owned()
            }
            Some(false) => "deleted, too, although whenDeleted is Retain".to_owned(),
            _ => format!("deleted, too{policy}"),
        };
        results.push(ClaimsResult { claims: &of.deleted, reason });
    }
    if !of.unsure.is_empty() {
        results.push(ClaimsResult { claims: &of.unsure, reason: format!("deleted or kept: not certain{policy}") });
    }
    if !of.kept.is_empty() {
        let set = view.snapshot.object(of.set).uid;
        let is_owned = |claim: &ObjectId| view.snapshot.object(*claim).owners.iter().any(|owner| owner.uid == set);
        let reason = match of.deletes {
            Some(true) if of.kept.iter().all(is_owned) => {
                "kept, although whenDeleted is Delete: this delete removes the owner reference".to_owned()
            }
            Some(true) => "kept, although whenDeleted is Delete: no owner reference to the StatefulSet".to_owned(),
            _ => format!("kept{policy}"),
        };
        results.push(ClaimsResult { claims: &of.kept, reason });
    }
    results
}

fn line(view: &PlanView<'_>, of: &ClaimsOfSet) -> String {
    let mut parts: Vec<String> = Vec::new();
    if of.deletes.is_none() {
        parts.push("which claims it keeps could not be read (its persistentVolumeClaimRetentionPolicy)".to_owned());
    }
    for ClaimsResult { claims, reason } in results(view, of) {
        let named = some_of(claims.iter().map(|id| view.snapshot.text(view.snapshot.object(*id).name)), NAMED);
        parts.push(format!("{} {reason}: {named}", count(claims.len(), "claim is", "claims are")));
    }
    format!("{}: {}", name(view, of.set, None), parts.join("; "))
}

/// Many StatefulSets with the same results.
fn together(reasons: &[String], sets: &[&ClaimsOfSet]) -> String {
    let total = |of: &dyn Fn(&ClaimsOfSet) -> usize| sets.iter().map(|set| of(set)).sum::<usize>();
    let numbers = [total(&|of| of.deleted.len()), total(&|of| of.unsure.len()), total(&|of| of.kept.len())];
    let numbers = numbers.into_iter().filter(|number| *number > 0);
    let parts: Vec<String> = numbers
        .zip(reasons)
        .map(|(number, reason)| format!("{} {reason}", count(number, "claim is", "claims are")))
        .collect();
    let parts = if parts.is_empty() { "which claims they keep could not be read".to_owned() } else { parts.join("; ") };
    format!("{} StatefulSets: {parts}", sets.len())
}
