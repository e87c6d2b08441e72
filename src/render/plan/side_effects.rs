//! What goes on beyond the graph, in words: effects outside, what living controllers do afterwards, and what does
//! nothing.

use rustc_hash::FxHashMap;

use crate::{
    model::{ObjectId, ResourceId, Snapshot, effects::EffectKind},
    plan::{Afterwards, Note, NoteKind, Outcome, OutsideEffect},
    render::words::plural,
    simulate::BlockedBy,
    wording::count,
};

use super::{PlanView, details::name};

/// So many objects of one effect are named.
const NAMED: usize = 3;
/// So many different effects are told, if the rest is to be folded.
const MOST_EFFECTS: usize = 8;

/// What is lost with an object, in capitals: it stands before everything else on its line.
pub fn losses(view: &PlanView<'_>, outcome: &Outcome) -> Vec<&'static str> {
    let losses = view.effects_of(outcome.object).filter_map(|effect| match effect.kind {
        EffectKind::DataDestroyed => Some("DATA LOST"),
        EffectKind::ExternalDeleted => Some("DELETED OUTSIDE, TOO"),
        EffectKind::ObjectsDeleted => Some("TAKES OTHERS ALONG"),
        _ => None,
    });
    each_once(losses)
}

/// What else is said on an object's line, after everything else.
pub fn remarks(view: &PlanView<'_>, outcome: &Outcome) -> Vec<&'static str> {
    // Its finalizers are named already.
    let held = outcome.held_by.iter().any(|holder| matches!(holder, BlockedBy::Finalizer(_)));
    let effects = view.effects_of(outcome.object).filter_map(|effect| match effect.kind {
        EffectKind::PodsDeleted => Some("its pods follow"),
        EffectKind::LoadBalancerReleased => Some("releases its load balancer"),
        EffectKind::Unknown if !held => Some("effect unknown"),
        EffectKind::DataKept => Some("its data stays"),
        EffectKind::ExternalKept => Some("stays outside"),
        EffectKind::ObjectsKept => Some("what it manages stays"),
        _ => None,
    });
    let afterwards = outcome.afterwards.iter().filter_map(|after| match after {
        Afterwards::Recreated { .. } | Afterwards::KeptUp { .. } | Afterwards::MirroredAgain { .. } => {
            Some("made anew")
        }
        Afterwards::Adopted { .. } => Some("adopted again"),
        // What is not sure is told once for all, below the lines.
        Afterwards::MayBeRecreated { .. } | Afterwards::MayBeAdopted | Afterwards::Removes { .. } => None,
    });
    each_once(effects.chain(afterwards))
}

fn each_once(remarks: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut describe: Vec<&str> = Vec::new();
    for remark in remarks {
        if !describe.contains(&remark) {
            describe.push(remark);
        }
    }
    describe
}

/// What somebody in a hurry has to know: how many are made anew, and what is lost for good. Sentences, each after a
/// space.
pub fn verdict(view: &PlanView<'_>) -> String {
    let mut describe = String::new();
    match view.plan.summary.recreated {
        0 => {}
        1 => describe += " Of what is deleted, 1 is made anew by a controller that lives on.",
        number => describe += &format!(" Of what is deleted, {number} are made anew by controllers that live on."),
    }
    let number = |kind: EffectKind| view.plan.effects.iter().filter(|effect| effect.kind == kind).count();
    let mut lost: Vec<String> = Vec::new();
    for (kind, one, many) in [
        (EffectKind::DataDestroyed, "loses its data", "lose their data"),
        (EffectKind::ExternalDeleted, "deletes something outside the cluster", "delete something outside the cluster"),
        (EffectKind::ObjectsDeleted, "takes other objects along", "take other objects along"),
    ] {
        match number(kind) {
            0 => {}
            number => lost.push(count(number, one, many)),
        }
    }
    if !lost.is_empty() {
        describe += &format!(" FOR GOOD: {}.", lost.join(", "));
    }
    describe
}

/// Everything that happens outside, the worst first; the same of many objects in one line.
pub fn outside(view: &PlanView<'_>, fold: bool) -> Vec<String> {
    let mut groups: Vec<(ResourceId, Vec<&OutsideEffect>)> = Vec::new();
    let mut known: FxHashMap<(ResourceId, EffectKind, &str), usize> = FxHashMap::default();
    for effect in &view.plan.effects {
        let resource = view.snapshot.object(effect.object).resource;
        let group = *known.entry((resource, effect.kind, &effect.message)).or_insert_with(|| {
            groups.push((resource, Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push(effect);
    }
    let shown = if fold { MOST_EFFECTS } else { usize::MAX };
    let rest: usize = groups.iter().skip(shown).map(|(_, group)| group.len()).sum();
    let describe = groups.iter().take(shown).map(|(resource, group)| match group.as_slice() {
        [one] => format!("{}: {}{}", name(view, one.object, None), one.message, related(view, one)),
        many => {
            let resource = view.snapshot.resources.get(*resource);
            let message = many.first().map_or("", |first| &first.message);
            format!("{} {}, each: {message}", many.len(), plural(resource, many.len()))
        }
    });
    let mut describe: Vec<String> = describe.collect();
    if rest > 0 {
        describe.push(format!("… and {} more (--all, or -o json)", count(rest, "effect", "effects")));
    }
    describe
}

fn related(view: &PlanView<'_>, effect: &OutsideEffect) -> String {
    let named: Vec<String> = effect.related.iter().take(NAMED).map(|object| name(view, *object, None)).collect();
    match effect.related.len().saturating_sub(named.len()) {
        _ if named.is_empty() => String::new(),
        0 => format!(": {}", named.join(", ")),
        more => format!(": {} and {more} more", named.join(", ")),
    }
}

/// What the request asks for and doesn't get.
pub fn notes(view: &PlanView<'_>) -> Vec<String> {
    let several = view.plan.request.targets.len() > 1;
    let (doubted, others): (Vec<&Note>, Vec<&Note>) =
        view.plan.notes.iter().partition(|note| note.kind == NoteKind::DoubtedPath);
    let describe = others.into_iter().map(|note| {
        let message = note.kind.message(view.plan.request.propagation);
        if several { format!("{}: {message}", name(view, note.object, None)) } else { message }
    });
    describe.chain(left_alone(view, &doubted)).collect()
}

/// What a sweep leaves alone because of an API path that doesn't exist (R3.16); more than a few are only counted.
fn left_alone(view: &PlanView<'_>, notes: &[&Note]) -> Option<String> {
    let message = notes.first()?.kind.message(view.plan.request.propagation);
    let named: Vec<String> = notes.iter().take(NAMED).map(|note| name(view, note.object, None)).collect();
    Some(match notes.len() {
        1 => format!("{}: {message}", named.join(", ")),
        number if number > NAMED => format!("{}, each: {message}", count(number, "object", "objects")),
        _ => format!("{}, each: {message}", named.join(", ")),
    })
}

/// What living controllers do afterwards; the same of many objects in one line.
pub fn afterwards(view: &PlanView<'_>) -> Vec<String> {
    let mut groups: Vec<(Afterwards, usize)> = Vec::new();
    let mut known: FxHashMap<Afterwards, usize> = FxHashMap::default();
    for after in view.plan.outcomes.iter().flat_map(|outcome| &outcome.afterwards) {
        let group = *known.entry(*after).or_insert_with(|| {
            groups.push((*after, 0));
            groups.len() - 1
        });
        groups[group].1 += 1;
    }
    let controllers = |wanted: fn(&Afterwards) -> bool| groups.iter().filter(move |(after, _)| wanted(after)).count();
    let sure = controllers(|after| matches!(after, Afterwards::Recreated { .. }));
    let unsure = controllers(|after| matches!(after, Afterwards::MayBeRecreated { .. }));
    let (many, many_unsure) = (sure > NAMED, unsure > NAMED);
    let mut describe: Vec<String> = Vec::new();
    if many {
        describe.push(format!("{sure} controllers live on, and make anew what is marked so"));
    }
    if many_unsure {
        describe.push(format!("{unsure} controllers live on, and may replace what they control"));
    }
    for (after, number) in &groups {
        match after {
            Afterwards::Recreated { .. } if many => {}
            Afterwards::MayBeRecreated { .. } if many_unsure => {}
            Afterwards::MayBeAdopted => describe.push(match number {
                1 => "a living controller whose selector matches, if there is one, adopts what is left without an owner".to_owned(),
                number => format!(
                    "living controllers whose selectors match, if there are any, adopt the {number} that are left without an owner"
                ),
            }),
            after => describe.push(in_words(view.snapshot, *after, *number, &|object| name(view, object, None))),
        }
    }
    describe
}

/// What comes afterwards, for so many objects.
fn in_words(snapshot: &Snapshot, after: Afterwards, number: usize, name: &dyn Fn(ObjectId) -> String) -> String {
    let many = number > 1;
    match after {
        Afterwards::Recreated { by } if many => format!("{} lives on, and makes {number} of these anew", name(by)),
        Afterwards::Recreated { by } => format!("{} lives on, and makes another", name(by)),
        Afterwards::MayBeRecreated { by } => format!("{} lives on, and may replace what it controls", name(by)),
        Afterwards::KeptUp { by } if many => format!("{by} makes {number} of these anew"),
        Afterwards::KeptUp { by } => format!("{by} makes another"),
        Afterwards::MirroredAgain { node } => {
            let node = snapshot.text(snapshot.object(node).name);
            format!(
                "the kubelet on node {node} shows {} again",
                if many { "its static pods" } else { "the static pod" }
            )
        }
        Afterwards::Adopted { by } => {
            let them = if many { format!("these {number}") } else { "it".to_owned() };
            format!("{} makes a new ReplicaSet, which adopts {them}", name(by))
        }
        Afterwards::MayBeAdopted => "a living controller whose selector matches may adopt it".to_owned(),
        Afterwards::Removes { object } => format!("the endpoints controller removes {}", name(object)),
    }
}

/// What comes afterwards, for one object, as JSON says it: a word that never changes meaning, and a sentence.
pub fn describe(snapshot: &Snapshot, after: Afterwards) -> (&'static str, String) {
    let what = match after {
        Afterwards::Recreated { .. } | Afterwards::KeptUp { .. } => "recreated",
        Afterwards::MayBeRecreated { .. } => "may-be-recreated",
        Afterwards::MirroredAgain { .. } => "mirrored-again",
        Afterwards::Adopted { .. } => "adopted",
        Afterwards::MayBeAdopted => "may-be-adopted",
        Afterwards::Removes { .. } => "removes",
    };
    (what, in_words(snapshot, after, 1, &|object| snapshot.short_name(object)))
}
