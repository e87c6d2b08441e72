//! What `--keep` preserves, which references it removes for that, and what it can't keep; and what becomes of the
//! claims of deleted StatefulSets. In JSON and in words.

use serde::Serialize;

use gc_core::{
    model::{ObjectId, Reference},
    plan::{Afterwards, ClaimsOfSet, Kept},
    simulate::Cause,
    wording::{count, grouped, some_of},
};

use super::{NAMED, PlanView, because::owners_named};

/// One kept object.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeptJson<'a> {
    object: ObjectId,
    removed_references: Vec<&'a Reference>,
}

/// The kept objects, for JSON; `None` without `--keep`.
pub(super) fn kept<'a>(view: &PlanView<'a>) -> Option<Vec<KeptJson<'a>>> {
    let of = |object: &ObjectId| {
        let loses = view.cuts.get(object).into_iter().flat_map(|cut| &cut.loses);
        KeptJson { object: *object, removed_references: loses.collect() }
    };
    Some(view.kept?.kept.iter().map(of).collect())
}

/// The references that are removed from a kept object, in a few words; `None` if it isn't kept.
pub(super) fn remark(view: &PlanView<'_>, object: ObjectId) -> Option<String> {
    let cut = view.cuts.get(&object)?;
    Some(format!(
        "by --keep: references to {} are removed before anything is deleted",
        owners_named(view.snapshot, &cut.loses)
    ))
}

/// What is kept, and what survives because of it, in words.
pub(super) fn describe_kept(view: &PlanView<'_>) -> Vec<String> {
    let Some(Kept { kept, stays, .. }) = view.kept else { return Vec::new() };
    let mut describe = Vec::new();
    if !kept.is_empty() {
        describe.push(format!("keeps {} ({})", count(kept.len(), "object", "objects"), view.some(kept)));
    }
    if !stays.is_empty() {
        let kinds = view.by_kind(stays.iter().copied());
        let verb = if stays.len() == 1 { "is kept" } else { "are kept" };
        describe.push(format!("therefore {kinds} {verb}, too ({})", view.some(stays)));
    }
    describe.extend(adopted(view, kept));
    describe
}

/// Warns of new owners that may delete kept objects: a controller that adopts more objects than it wants deletes the
/// surplus.
fn adopted(view: &PlanView<'_>, kept: &[ObjectId]) -> Option<String> {
    let adopter = |object: &ObjectId| {
        view.outcome(*object)?.afterwards.iter().find_map(|after| match after {
            Afterwards::Adopted { by } => Some((*object, *by)),
            _ => None,
        })
    };
    let adopted: Vec<(ObjectId, ObjectId)> = kept.iter().filter_map(adopter).collect();
    let (_, by) = adopted.first()?;
    let objects: Vec<ObjectId> = adopted.iter().map(|(object, _)| *object).collect();
    Some(format!(
        "but {} is not deleted: its new dependents may adopt the kept objects ({}) and delete them as surplus",
        view.name(*by),
        view.some(&objects)
    ))
}

/// One line for each StatefulSet; many with the same result share a line. Without `wide`, nothing of one all of whose
/// claims are deleted, as it says: the lines above show that.
pub(super) fn describe_claims(view: &PlanView<'_>, wide: bool) -> Vec<String> {
    let reasons = |of| results(view, of).into_iter().map(|(_, reason)| reason).collect::<Vec<String>>();
    let is_shown = |of: &&ClaimsOfSet| {
        of.deletes == Some(true) && [&of.kept, &of.going, &of.unsure].iter().all(|claims| claims.is_empty())
    };
    let told = view.plan.claims.iter().filter(|of| wide || !is_shown(of));
    let groups = grouped(told.map(|of| (reasons(of), of)));
    let lines = groups.iter().flat_map(|(reasons, sets)| match sets.len() {
        0..=NAMED => sets.iter().map(|of| line(view, of)).collect(),
        _ => vec![together(reasons, sets)],
    });
    lines.collect()
}

/// Claims of a StatefulSet, and what becomes of them: `deleted, too (whenDeleted Delete)`.
fn results<'c>(view: &PlanView<'_>, of: &'c ClaimsOfSet) -> Vec<(&'c [ObjectId], String)> {
    let mut results = Vec::new();
    let policy = of.deletes.map_or(String::new(), |deletes| format!(" (whenDeleted {})", ClaimsOfSet::policy(deletes)));
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
        results.push((of.deleted.as_slice(), reason));
    }
    if !of.unsure.is_empty() {
        results.push((&of.unsure, format!("deleted or kept: not certain{policy}")));
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
        results.push((&of.kept, reason));
    }
    if !of.going.is_empty() {
        results.push((&of.going, "deleted with or without this delete".to_owned()));
    }
    results
}

fn line(view: &PlanView<'_>, of: &ClaimsOfSet) -> String {
    let mut parts: Vec<String> = Vec::new();
    if of.deletes.is_none() {
        parts.push("which claims it keeps could not be read (its persistentVolumeClaimRetentionPolicy)".to_owned());
    }
    for (claims, reason) in results(view, of) {
        let named = some_of(claims.iter().map(|id| view.snapshot.name(*id)), NAMED);
        parts.push(format!("{} {reason}: {named}", count(claims.len(), "claim is", "claims are")));
    }
    format!("{}: {}", view.name(of.set), parts.join("; "))
}

/// Many StatefulSets with the same results.
fn together(reasons: &[String], sets: &[&ClaimsOfSet]) -> String {
    let total = |of: &dyn Fn(&ClaimsOfSet) -> usize| sets.iter().map(|set| of(set)).sum::<usize>();
    let numbers = [
        total(&|of| of.deleted.len()),
        total(&|of| of.unsure.len()),
        total(&|of| of.kept.len()),
        total(&|of| of.going.len()),
    ];
    let numbers = numbers.into_iter().filter(|number| *number > 0);
    let parts: Vec<String> = numbers
        .zip(reasons)
        .map(|(number, reason)| format!("{} {reason}", count(number, "claim is", "claims are")))
        .collect();
    let parts = if parts.is_empty() { "which claims they keep could not be read".to_owned() } else { parts.join("; ") };
    format!("{} StatefulSets: {parts}", sets.len())
}
