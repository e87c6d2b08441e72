//! What a delete does beyond the listed objects, in JSON and in words: outside the cluster, by controllers that keep
//! running, and in a Namespace; and parts of the request without effect.

use serde::Serialize;

use crate::render::{
    states::{BACK, LOSS, OUTSIDE},
    words::{kinds_of, plural},
};
use gc_core::{
    model::{
        ObjectId, ResourceId, Snapshot,
        effects::{EffectKind, Severity},
    },
    plan::{Afterwards, Note, NoteKind, Outcome, OutsideEffect, Unlisted, UnlistedContents},
    server::Propagation,
    simulate::BlockedBy,
    wording::{count, each_once, grouped, some_of},
};

use super::{NAMED, NAMED_KINDS, PlanView};

/// At most this many different effects are shown if the rest is folded.
const MOST_EFFECTS: usize = 8;
/// At most this many pods are named.
const NAMED_PODS: usize = 2;

/// An effect outside the graph.
#[derive(Debug, Serialize)]
pub(super) struct EffectJson<'a> {
    object: ObjectId,
    kind: &'static str,
    severity: Severity,
    message: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    related: &'a [ObjectId],
}

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

impl<'a> EffectJson<'a> {
    /// An effect as JSON shows it.
    pub(super) fn of(effect: &'a OutsideEffect) -> Self {
        EffectJson {
            object: effect.object,
            kind: effect.kind.name(),
            severity: effect.severity(),
            message: &effect.message,
            related: &effect.related,
        }
    }
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
        EffectKind::Unknown if !held => Some("effect unknown"),
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
    outside(view, fold, |effect| effect.severity() != Severity::Note && effect.kind != EffectKind::Unknown)
}

/// What may be lost there, in the same words. What is not known of a finalizer that a line names needs no name.
pub(in crate::render) fn perhaps_lost(view: &PlanView<'_>, fold: bool) -> Vec<String> {
    let unknown = || view.plan.all_effects().filter(|effect| effect.kind == EffectKind::Unknown);
    let is_named = |effect: &OutsideEffect| {
        effect.at_worst.is_none() && view.outcome(effect.object).is_some_and(names_its_finalizers)
    };
    let of_finalizers = each_once(unknown().filter(|effect| is_named(effect)).map(|effect| effect.message.to_string()));
    let others = outside(view, fold, |effect| effect.kind == EffectKind::Unknown && !is_named(effect));
    of_finalizers.chain(others).collect()
}

/// What is kept there, in the same words.
pub(in crate::render) fn kept_outside(view: &PlanView<'_>, fold: bool) -> Vec<String> {
    outside(view, fold, |effect| effect.severity() == Severity::Note)
}

fn outside(view: &PlanView<'_>, fold: bool, is_told: impl Fn(&OutsideEffect) -> bool) -> Vec<String> {
    let later = view.plan.effects_later.iter().map(|effect| (effect, "; later"));
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
            format!("{}: {message}{when}{related}{}", view.name_in_plan(one.object), view.some(&one.related))
        }
        many => {
            let kinds = plural(view.snapshot.resources.get(*resource), many.len());
            let named = some_of(many.iter().map(|effect| bare(view, effect.object)), NAMED);
            format!("{} {kinds} ({named}), each: {message}{when}", many.len())
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
    // Notes on what is no target, often many of a kind.
    const OF_OTHERS: [NoteKind; 5] = [
        NoteKind::DoubtedPath,
        NoteKind::LeftBehind,
        NoteKind::Abandoned,
        NoteKind::PerhapsAbandoned,
        NoteKind::PolicyLapses,
    ];
    let notes = &view.plan.notes;
    let of_others = OF_OTHERS.iter().filter_map(|kind| {
        let objects = notes.iter().filter(|note| note.kind == *kind).map(|note| note.object);
        left_alone(view, *kind, &objects.collect::<Vec<_>>())
    });
    let describe = notes.iter().filter(|note| !OF_OTHERS.contains(&note.kind)).map(|note| {
        let message = note.kind.message(view.plan.request.propagation);
        if several { format!("{}: {message}", view.name(note.object)) } else { message }
    });
    describe.chain(of_others).collect()
}

/// Objects that a sweep doesn't touch because an API path doesn't exist (R3.16), or that a delete leaves
/// behind; the first few are named.
fn left_alone(view: &PlanView<'_>, kind: NoteKind, objects: &[ObjectId]) -> Option<String> {
    let each = if objects.len() == 1 { "" } else { ", each" };
    let message = kind.message(view.plan.request.propagation);
    (!objects.is_empty()).then(|| format!("{}{each}: {message}", view.some(objects)))
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
                        few.iter().map(|object| view.name(*object)).collect::<Vec<_>>().join(" and ")
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
    resources: Vec<ResourceCountJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    effects: Vec<EffectJson<'a>>,
}

#[derive(Debug, Serialize)]
struct ResourceCountJson {
    resource: ResourceId,
    count: usize,
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
        let resources = resources.map(|(resource, count)| ResourceCountJson { resource: *resource, count: *count });
        let effects = view.plan.effects_later.iter().filter(|effect| snapshot.namespace(effect.object) == namespace);
        DeletedLaterJson {
            namespace,
            after_pods: &contents.pods,
            resources: resources.collect(),
            effects: effects.map(EffectJson::of).collect(),
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
