//! What a delete does beyond the listed objects, in JSON and in words: outside the cluster, by controllers that keep
//! running, and in a Namespace; and parts of the request without effect.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::render::{
    states::{BACK, LOSS, OUTSIDE},
    words::{kinds_of, plural},
};
use gc_core::{
    doctor::explain::KindCount,
    model::{
        ObjectId, Reference, ResourceId, Snapshot,
        effects::{EffectKind, Severity},
    },
    plan::{Afterwards, ClaimsOfSet, Kept, Note, NoteKind, Outcome, OutsideEffect, Unlisted, UnlistedContents},
    server::Propagation,
    simulate::{BlockedBy, Cause},
    wording::{all_of, count, each_once, grouped, some_of},
};

use super::{NAMED, NAMED_KINDS, PlanView, because::owners_named};

/// At most this many different effects are shown if the rest is folded.
const MOST_EFFECTS: usize = 8;
/// At most this many pods are named.
const NAMED_PODS: usize = 2;

/// A part of the request that has no effect.
#[derive(Debug, Serialize)]
pub(super) struct NoteJson {
    object: ObjectId,
    kind: &'static str,
    message: String,
}

/// What a controller does after the delete.
#[derive(Debug, Serialize)]
pub(super) struct AfterwardsJson {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<ObjectId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'static str>,
    message: String,
}

impl NoteJson {
    /// A note as JSON shows it.
    pub(super) fn of(note: &Note, propagation: Propagation) -> Self {
        NoteJson { object: note.object, kind: note.kind.name(), message: note.kind.message(propagation) }
    }
}

impl AfterwardsJson {
    /// A controller's reaction as JSON shows it.
    pub(super) fn of(snapshot: &Snapshot, after: Afterwards) -> Self {
        let what = match after {
            Afterwards::Recreated { .. } | Afterwards::RecreatedEmpty { .. } | Afterwards::KeptUp { .. } => "recreated",
            Afterwards::MayBeRecreated { .. } => "may-be-recreated",
            Afterwards::NotRecreated { .. } => "not-recreated",
            Afterwards::MirroredAgain { .. } => "mirrored-again",
            Afterwards::Adopted { .. } | Afterwards::AdoptedBy { .. } => "adopted",
            Afterwards::MayBeAdopted => "may-be-adopted",
        };
        let by = match after {
            Afterwards::Recreated { by }
            | Afterwards::RecreatedEmpty { by }
            | Afterwards::MayBeRecreated { by }
            | Afterwards::Adopted { by }
            | Afterwards::AdoptedBy { by } => Some(by),
            Afterwards::MirroredAgain { node } => Some(node),
            Afterwards::NotRecreated { by, .. } => by,
            Afterwards::KeptUp { .. } | Afterwards::MayBeAdopted => None,
        };
        let because = match after {
            Afterwards::NotRecreated { because, .. } => Some(because.name()),
            _ => None,
        };
        AfterwardsJson { what, by, because, message: describe_reaction(snapshot, after) }
    }
}

/// What is lost with an object, each with its mark: the start of its remarks.
pub(super) fn losses(view: &PlanView<'_>, outcome: &Outcome) -> Vec<String> {
    let losses = view.effects_of(outcome.object).filter_map(|effect| match effect.kind {
        EffectKind::DataLost => Some((LOSS, "DATA LOSS")),
        EffectKind::ExternalDeleted => Some((OUTSIDE, "external resource deleted")),
        EffectKind::ObjectsDeleted => Some((OUTSIDE, "also deletes other objects")),
        _ => None,
    });
    each_once(losses.map(|(mark, loss)| format!("{mark} {loss}"))).collect()
}

/// The last remarks on an object's line.
pub(super) fn remarks(view: &PlanView<'_>, outcome: &Outcome) -> Vec<String> {
    let held = names_its_finalizers(outcome);
    let effects = view.effects_of(outcome.object).filter_map(|effect| match effect.kind {
        EffectKind::PodsDeleted => Some("its pods are deleted, too"),
        EffectKind::LoadBalancerReleased => Some("releases its load balancer"),
        EffectKind::DataUnreachable => Some("data on it can't be reached"),
        EffectKind::MayStillRun => Some("containers may still run"),
        EffectKind::Unknown if !held => Some("effect not known"),
        EffectKind::DataKept => Some("its data is kept"),
        EffectKind::ExternalKept => Some("external resource is kept"),
        EffectKind::ObjectsKept => Some("its managed objects are kept"),
        _ => None,
    });
    let afterwards = outcome.afterwards.iter().filter_map(|after| match after {
        Afterwards::Recreated { .. } | Afterwards::KeptUp { .. } | Afterwards::MirroredAgain { .. } => {
            Some(format!("{BACK} comes back"))
        }
        Afterwards::RecreatedEmpty { .. } => Some(format!("{BACK} comes back empty")),
        Afterwards::NotRecreated { .. } => Some("does not come back".to_owned()),
        Afterwards::Adopted { .. } => Some("adopted again".to_owned()),
        Afterwards::AdoptedBy { .. } => Some("adopted".to_owned()),
        // Possible reactions are described once, below the lines.
        Afterwards::MayBeRecreated { .. } | Afterwards::MayBeAdopted => None,
    });
    each_once(effects.map(str::to_owned).chain(afterwards)).collect()
}

/// Whether the line of an object says which finalizers block it.
fn names_its_finalizers(outcome: &Outcome) -> bool {
    outcome.held_by.iter().any(|holder| matches!(holder, BlockedBy::Finalizer(_)))
}

/// What is lost outside the graph, the worst first; objects with the same effect share a line.
pub(in crate::render) fn lost(view: &PlanView<'_>, fold: bool) -> Vec<String> {
    outside(view, fold, |effect| effect.severity() != Severity::Note && !is_doubtful(effect))
}

/// What may be lost there, in the same words. What is not known of a finalizer that a line names needs no name.
pub(in crate::render) fn perhaps_lost(view: &PlanView<'_>, fold: bool) -> Vec<String> {
    let unknown = || view.plan.all_effects().filter(|effect| is_doubtful(effect));
    let is_named = |effect: &OutsideEffect| {
        effect.kind == EffectKind::Unknown
            && effect.at_worst.is_none()
            && view.outcome(effect.object).is_some_and(names_its_finalizers)
    };
    let of_finalizers = each_once(unknown().filter(|effect| is_named(effect)).map(|effect| effect.message.to_string()));
    let others = outside(view, fold, |effect| is_doubtful(effect) && !is_named(effect));
    of_finalizers.chain(others).collect()
}

/// Whether nobody knows what comes of it.
fn is_doubtful(effect: &OutsideEffect) -> bool {
    matches!(effect.kind, EffectKind::Unknown | EffectKind::MayStillRun)
}

/// What is kept there, in the same words.
pub(in crate::render) fn kept_outside(view: &PlanView<'_>, fold: bool) -> Vec<String> {
    outside(view, fold, |effect| effect.severity() == Severity::Note)
}

fn outside(view: &PlanView<'_>, fold: bool, is_told: impl Fn(&OutsideEffect) -> bool) -> Vec<String> {
    let later = view.plan.effects_later.iter().map(|effect| (effect, ", later"));
    let effects = view.plan.effects.iter().map(|effect| (effect, "")).chain(later);
    let effects = effects.filter(|(effect, _)| is_told(effect)).map(|(effect, when)| {
        let resource = view.snapshot.object(effect.object).resource;
        ((resource, effect.kind, effect.message.as_ref(), when), effect)
    });
    let mut groups = grouped(effects);
    groups.sort_by_key(|(_, group)| group[0].severity());
    let shown = if fold { MOST_EFFECTS } else { usize::MAX };
    let rest: usize = groups.iter().skip(shown).map(|(_, group)| group.len()).sum();
    let describe = groups.iter().take(shown).map(|((resource, _, message, when), group)| match group.as_slice() {
        [one] => {
            let related = if one.related.is_empty() { "" } else { ": " };
            format!("{}{when}: {message}{related}{}", view.name_in_plan(one.object), view.some(&one.related))
        }
        many => {
            let kinds = plural(view.snapshot.resources.get(*resource), many.len());
            let mut names: Vec<String> = many.iter().map(|effect| bare(view, effect.object)).collect();
            names.sort_unstable();
            let named = some_of(names, NAMED);
            format!("{} {kinds} ({named}), each{when}: {message}", many.len())
        }
    });
    let more = (rest > 0).then(|| format!("… and {} more (--all, or -o json)", count(rest, "effect", "effects")));
    describe.chain(more).collect()
}

/// The name without the kind.
fn bare(view: &PlanView<'_>, object: ObjectId) -> String {
    let name = view.name_in_plan(object);
    name.split_once('/').map_or(name.clone(), |(_, rest)| rest.to_owned())
}

/// Parts of the request that have no effect.
pub(super) fn notes(view: &PlanView<'_>) -> Vec<String> {
    let several = view.plan.request.targets.len() > 1;
    let (of_targets, others): (Vec<&Note>, Vec<&Note>) =
        view.plan.notes.iter().partition(|note| note.kind.is_of_targets());
    let mut of_others: BTreeMap<NoteKind, Vec<ObjectId>> = BTreeMap::new();
    for note in others {
        of_others.entry(note.kind).or_default().push(note.object);
    }
    let of_others = of_others.iter().map(|(kind, objects)| left_alone(view, *kind, objects));
    let describe = of_targets.into_iter().map(|note| {
        let message = note.kind.message(view.plan.request.propagation);
        if several { format!("{}: {message}", view.name(note.object)) } else { message }
    });
    describe.chain(of_others).collect()
}

/// Objects that a sweep doesn't touch because an API path doesn't exist (R3.16), or that a delete leaves
/// behind; the first few are named.
fn left_alone(view: &PlanView<'_>, kind: NoteKind, objects: &[ObjectId]) -> String {
    let each = if objects.len() == 1 { "" } else { ", each" };
    let message = kind.message(view.plan.request.propagation);
    format!("{}{each}: {message}", view.some(objects))
}

/// What controllers do after the delete; objects with the same reaction share a line.
pub(super) fn afterwards(view: &PlanView<'_>) -> Vec<String> {
    let all = view.plan.both_ends().flat_map(|outcome| outcome.afterwards.iter().map(|after| (*after, outcome.object)));
    let groups = grouped(each_once(all));
    let controllers = |wanted: fn(&Afterwards) -> bool| groups.iter().filter(move |(after, _)| wanted(after)).count();
    let sure = controllers(|after| matches!(after, Afterwards::Recreated { .. }));
    let unsure = controllers(|after| matches!(after, Afterwards::MayBeRecreated { .. }));
    let (many, many_unsure) = (sure > NAMED, unsure > NAMED);
    let mut describe: Vec<String> = Vec::new();
    if many {
        describe.push(format!("{sure} controllers stay, and create the objects marked {BACK} again"));
    }
    if many_unsure {
        describe.push(format!("{unsure} controllers stay, and may create again what they control"));
    }
    for (after, objects) in &groups {
        match after {
            Afterwards::Recreated { .. } if many => {}
            Afterwards::MayBeRecreated { .. } if many_unsure => {}
            Afterwards::MayBeAdopted => describe.push(match objects.len() {
                1 => "a controller whose selector matches may adopt the object that has no owner any more".to_owned(),
                number => format!(
                    "controllers whose selectors match may adopt the {number} objects that have no owner any \
                     more"
                ),
            }),
            after => {
                let these = match objects.as_slice() {
                    few if few.len() <= NAMED => {
                        all_of(&few.iter().map(|object| view.name(*object)).collect::<Vec<_>>(), "and")
                    }
                    many => view.by_some_kinds(many.iter().copied(), NAMED_KINDS),
                };
                describe.push(reaction(view.snapshot, *after, objects.len(), &these, &|object| view.name(object)));
            }
        }
    }
    describe
}

/// What a controller does afterwards to `number` objects, whose names are `these`.
fn reaction(
    snapshot: &Snapshot,
    after: Afterwards,
    number: usize,
    these: &str,
    name: &dyn Fn(ObjectId) -> String,
) -> String {
    match after {
        Afterwards::Recreated { by } => format!("{} stays, and creates {these} again", name(by)),
        Afterwards::RecreatedEmpty { by } => format!("{} stays, and creates {these} again, empty", name(by)),
        Afterwards::MayBeRecreated { by } => format!("{} stays, and may create {these} again", name(by)),
        Afterwards::NotRecreated { by, because } => {
            let by = by.map_or_else(|| "nobody can".to_owned(), |by| format!("{} stays, but can't", name(by)));
            format!("{by} create {these} again: {}", because.describe(snapshot))
        }
        Afterwards::KeptUp { by } => format!("{by} creates {these} again"),
        Afterwards::MirroredAgain { node } => {
            let pods = if number > 1 { "its static pods" } else { "its static pod" };
            format!("the kubelet on node {} recreates the mirror of {pods}", snapshot.name(node))
        }
        Afterwards::Adopted { by } => {
            format!("{} creates a new ReplicaSet, which adopts {these}", name(by))
        }
        Afterwards::AdoptedBy { by } => {
            format!("{} has a selector that matches, and adopts {these}", name(by))
        }
        Afterwards::MayBeAdopted => "a controller whose selector matches may adopt it".to_owned(),
    }
}

/// A reaction to the deletion of one object.
pub(super) fn describe_reaction(snapshot: &Snapshot, after: Afterwards) -> String {
    reaction(snapshot, after, 1, "it", &|object| snapshot.short_name(object))
}

/// Objects that are deleted with a Namespace although the plan doesn't list them.
#[derive(Debug, Serialize)]
pub(super) struct AlsoDeletesJson<'a> {
    namespace: &'a str,
    resource: ResourceId,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

/// What a Namespace keeps for now, and the pods that must be gone first.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeletedLaterJson<'a> {
    namespace: &'a str,
    after_pods: &'a [ObjectId],
    resources: Vec<KindCount>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    effects: Vec<&'a OutsideEffect>,
}

/// What a plan deletes in addition, for JSON. Resources that are known to have no objects are omitted.
pub(super) fn also_deletes<'a>(view: &PlanView<'a>) -> Vec<AlsoDeletesJson<'a>> {
    let of_namespace = |contents: &'a UnlistedContents| {
        taken(contents).map(|unlisted| AlsoDeletesJson {
            namespace: view.snapshot.name(contents.namespace),
            resource: unlisted.resource,
            count: unlisted.count,
        })
    };
    view.unlisted_contents.iter().flat_map(of_namespace).collect()
}

fn taken(contents: &UnlistedContents) -> impl Iterator<Item = &Unlisted> {
    contents.unlisted.iter().filter(|unlisted| unlisted.count != Some(0))
}

/// The Namespaces that keep something until some pods are gone.
fn sparing<'a>(view: &PlanView<'a>) -> impl Iterator<Item = &'a UnlistedContents> {
    view.unlisted_contents.iter().filter(|contents| !contents.spared.is_empty())
}

/// What a plan leaves until some pods are gone, for JSON.
pub(super) fn deleted_later<'a>(view: &PlanView<'a>) -> Vec<DeletedLaterJson<'a>> {
    let snapshot = view.snapshot;
    let of_namespace = |contents: &'a UnlistedContents| {
        let namespace = snapshot.name(contents.namespace);
        let resources = contents.spared.iter();
        let resources = resources.map(|(resource, count)| KindCount { resource: *resource, count: *count });
        let effects = view.plan.effects_later.iter().filter(|effect| snapshot.namespace(effect.object) == namespace);
        DeletedLaterJson {
            namespace,
            after_pods: &contents.pods,
            resources: resources.collect(),
            effects: effects.collect(),
        }
    };
    sparing(view).map(of_namespace).collect()
}

/// What is deleted in addition, in words.
pub(super) fn also(view: &PlanView<'_>) -> Vec<String> {
    // `12 events`, or `any events` if they can't be counted.
    let words = |unlisted: &Unlisted| {
        let resource = view.snapshot.resources.get(unlisted.resource);
        match unlisted.count {
            Some(1) if resource.plural == "events" => "1 event".to_owned(),
            Some(count) => format!("{count} {}", resource.full_name()),
            None => format!("any {}", resource.full_name()),
        }
    };
    let of_namespace = |contents: &UnlistedContents| {
        let all: Vec<String> = taken(contents).map(words).collect();
        let last = if contents.pods.is_empty() { "" } else { ", once its pods are deleted" };
        let namespace = view.snapshot.name(contents.namespace);
        (!all.is_empty()).then(|| format!("deletes {} in namespace {namespace}{last}", all.join(", ")))
    };
    view.unlisted_contents.iter().filter_map(of_namespace).collect()
}

/// What is deleted later, in words.
pub(super) fn spared(view: &PlanView<'_>) -> Vec<String> {
    let of_namespace = |contents: &UnlistedContents| {
        let mut spared = contents.spared.clone();
        spared.sort_by_key(|(resource, count)| (std::cmp::Reverse(*count), *resource));
        let total: usize = spared.iter().map(|(_, count)| count).sum();
        format!(
            "{} in namespace {} ({}) {} deleted only after {}",
            count(total, "object", "objects"),
            view.snapshot.name(contents.namespace),
            kinds_of(view.snapshot, spared, NAMED),
            if total == 1 { "is" } else { "are" },
            some_of(contents.pods.iter().map(|pod| view.name_below(*pod, contents.namespace)), NAMED_PODS),
        )
    };
    sparing(view).map(of_namespace).collect()
}

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
pub(super) fn kept_remark(view: &PlanView<'_>, object: ObjectId) -> Option<String> {
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
