//! Effects beyond the graph, in words: outside the cluster, by controllers that keep running, and parts of the request
//! without effect.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{
        ObjectId, ResourceId, Snapshot,
        effects::{EffectKind, Severity},
    },
    plan::{Afterwards, Note, NoteKind, Outcome, OutsideEffect},
    render::{
        states::{BACK, LOSS, OUTSIDE},
        words::plural,
    },
    simulate::BlockedBy,
    wording::{count, some_of},
};

use super::{
    PlanView,
    names::{by_some_kinds, name},
};

/// At most this many objects of one effect are named.
const NAMED: usize = 3;
/// At most this many different effects are shown if the rest is folded.
const MOST_EFFECTS: usize = 8;

/// What is lost with an object, each with its mark: the start of its remarks.
pub(super) fn losses(view: &PlanView<'_>, outcome: &Outcome) -> Vec<String> {
    let losses = view.effects_of(outcome.object).filter_map(|effect| match effect.kind {
        EffectKind::DataLost => Some((LOSS, "DATA LOSS")),
        EffectKind::ExternalDeleted => Some((OUTSIDE, "external resource deleted")),
        EffectKind::ObjectsDeleted => Some((OUTSIDE, "also deletes other objects")),
        _ => None,
    });
    each_once(losses.map(|(mark, loss)| format!("{mark} {loss}")))
}

/// The last remarks on an object's line.
pub(super) fn remarks(view: &PlanView<'_>, outcome: &Outcome) -> Vec<String> {
    // Its finalizers are already named.
    let held = outcome.held_by.iter().any(|holder| matches!(holder, BlockedBy::Finalizer(_)));
    let effects = view.effects_of(outcome.object).filter_map(|effect| match effect.kind {
        EffectKind::PodsDeleted => Some("its pods are deleted, too"),
        EffectKind::LoadBalancerReleased => Some("releases its load balancer"),
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
        Afterwards::Adopted { .. } => Some("adopted again".to_owned()),
        Afterwards::AdoptedBy { .. } => Some("adopted".to_owned()),
        // Possible reactions are described once, below the lines.
        Afterwards::MayBeRecreated { .. } | Afterwards::MayBeAdopted => None,
    });
    each_once(effects.map(str::to_owned).chain(afterwards))
}

fn each_once(remarks: impl Iterator<Item = String>) -> Vec<String> {
    let mut describe: Vec<String> = Vec::new();
    for remark in remarks {
        if !describe.contains(&remark) {
            describe.push(remark);
        }
    }
    describe
}

/// What is lost outside the graph, the worst first; objects with the same effect share a line.
pub(in crate::render) fn lost(view: &PlanView<'_>, fold: bool) -> Vec<String> {
    outside(view, fold, |severity| severity != Severity::Note)
}

/// What is kept there, in the same words.
pub(in crate::render) fn kept_outside(view: &PlanView<'_>, fold: bool) -> Vec<String> {
    outside(view, fold, |severity| severity == Severity::Note)
}

fn outside(view: &PlanView<'_>, fold: bool, told: impl Fn(Severity) -> bool) -> Vec<String> {
    let mut groups: Vec<(ResourceId, &str, Vec<&OutsideEffect>)> = Vec::new();
    let mut known: FxHashMap<(ResourceId, EffectKind, &str, &str), usize> = FxHashMap::default();
    let later = view.plan.effects_later.iter().map(|effect| (effect, "; later"));
    let effects = view.plan.effects.iter().map(|effect| (effect, "")).chain(later);
    for (effect, when) in effects.filter(|(effect, _)| told(effect.severity())) {
        let resource = view.snapshot.object(effect.object).resource;
        let group = *known.entry((resource, effect.kind, &effect.message, when)).or_insert_with(|| {
            groups.push((resource, when, Vec::new()));
            groups.len() - 1
        });
        groups[group].2.push(effect);
    }
    groups.sort_by_key(|(.., group)| group.first().map(|effect| effect.severity()));
    let shown = if fold { MOST_EFFECTS } else { usize::MAX };
    let rest: usize = groups.iter().skip(shown).map(|(.., group)| group.len()).sum();
    let describe = groups.iter().take(shown).map(|(resource, when, group)| match group.as_slice() {
        [one] => format!("{}: {}{when}{}", name(view, one.object, None), one.message, related(view, one)),
        many => {
            let resource = view.snapshot.resources.get(*resource);
            let message = many.first().map_or("", |first| &first.message);
            let named = some_of(many.iter().map(|effect| bare(view, effect.object)), NAMED);
            format!("{} {} ({named}), each: {message}{when}", many.len(), plural(resource, many.len()))
        }
    });
    let mut describe: Vec<String> = describe.collect();
    if rest > 0 {
        describe.push(format!("… and {} more (--all, or -o json)", count(rest, "effect", "effects")));
    }
    describe
}

/// The name without the kind.
fn bare(view: &PlanView<'_>, object: ObjectId) -> String {
    let name = name(view, object, None);
    name.split_once('/').map_or(name.clone(), |(_, rest)| rest.to_owned())
}

fn related(view: &PlanView<'_>, effect: &OutsideEffect) -> String {
    let related = &effect.related;
    let named = || some_of(related.iter().map(|object| name(view, *object, None)), NAMED);
    if related.is_empty() { String::new() } else { format!(": {}", named()) }
}

/// Parts of the request that have no effect.
pub(super) fn notes(view: &PlanView<'_>) -> Vec<String> {
    let several = view.plan.request.targets.len() > 1;
    // Notes on what is no target, often many of a kind.
    const OF_OTHERS: [NoteKind; 4] =
        [NoteKind::DoubtedPath, NoteKind::LeftBehind, NoteKind::Abandoned, NoteKind::PerhapsAbandoned];
    let notes = &view.plan.notes;
    let of_others = OF_OTHERS
        .iter()
        .filter_map(|kind| left_alone(view, &notes.iter().filter(|note| note.kind == *kind).collect::<Vec<&Note>>()));
    let describe = notes.iter().filter(|note| !OF_OTHERS.contains(&note.kind)).map(|note| {
        let message = note.kind.message(view.plan.request.propagation);
        if several { format!("{}: {message}", name(view, note.object, None)) } else { message }
    });
    describe.chain(of_others).collect()
}

/// Objects that a sweep doesn't touch because an API path doesn't exist (R3.16), or that a delete leaves
/// behind; the first few are named.
fn left_alone(view: &PlanView<'_>, notes: &[&Note]) -> Option<String> {
    let message = notes.first()?.kind.message(view.plan.request.propagation);
    let named = some_of(notes.iter().map(|note| name(view, note.object, None)), NAMED);
    let each = if notes.len() == 1 { "" } else { ", each" };
    Some(format!("{named}{each}: {message}"))
}

/// What controllers do after the delete; objects with the same reaction share a line.
pub(super) fn afterwards(view: &PlanView<'_>) -> Vec<String> {
    let mut groups: Vec<(Afterwards, Vec<ObjectId>)> = Vec::new();
    let mut known: FxHashMap<Afterwards, usize> = FxHashMap::default();
    let mut seen: FxHashSet<(ObjectId, Afterwards)> = FxHashSet::default();
    let both = view.plan.both_ends();
    let all = both.flat_map(|outcome| outcome.afterwards.iter().map(|after| (outcome.object, *after)));
    for (object, after) in all.filter(|one| seen.insert(*one)) {
        let group = *known.entry(after).or_insert_with(|| {
            groups.push((after, Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push(object);
    }
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
                        few.iter().map(|object| name(view, *object, None)).collect::<Vec<_>>().join(" and ")
                    }
                    many => by_some_kinds(view, many.iter().copied()),
                };
                let of = |object| name(view, object, None);
                describe.push(in_words(view.snapshot, *after, objects.len(), &these, &of));
            }
        }
    }
    describe
}

/// What a controller does afterwards to `number` objects, whose names are `these`.
fn in_words(
    snapshot: &Snapshot,
    after: Afterwards,
    number: usize,
    these: &str,
    name: &dyn Fn(ObjectId) -> String,
) -> String {
    let many = number > 1;
    match after {
        Afterwards::Recreated { by } => format!("{} stays, and creates {these} again", name(by)),
        Afterwards::RecreatedEmpty { by } => format!("{} stays, and creates {these} again, empty", name(by)),
        Afterwards::MayBeRecreated { by } => format!("{} stays, and may create {these} again", name(by)),
        Afterwards::KeptUp { by } => format!("{by} creates {these} again"),
        Afterwards::MirroredAgain { node } => {
            let node = snapshot.text(snapshot.object(node).name);
            format!(
                "the kubelet on node {node} recreates the mirror of {}",
                if many { "its static pods" } else { "its static pod" }
            )
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

/// A reaction to one object's deletion, for JSON: a word whose meaning never changes, and a sentence.
pub(super) fn describe(snapshot: &Snapshot, after: Afterwards) -> (&'static str, String) {
    let what = match after {
        Afterwards::Recreated { .. } | Afterwards::RecreatedEmpty { .. } | Afterwards::KeptUp { .. } => "recreated",
        Afterwards::MayBeRecreated { .. } => "may-be-recreated",
        Afterwards::MirroredAgain { .. } => "mirrored-again",
        Afterwards::Adopted { .. } | Afterwards::AdoptedBy { .. } => "adopted",
        Afterwards::MayBeAdopted => "may-be-adopted",
    };
    (what, in_words(snapshot, after, 1, "it", &|object| snapshot.short_name(object)))
}
