//! What rows tell of their graphs, as text. `rows.rs` reads them.

use std::cell::LazyCell;

use gc_core::{
    graph::OwnerGraph,
    model::ObjectId,
    plan::{
        Afterwards, ConfirmationReason, Consent, NoteKind, OutcomeKind, Plan, VerdictResult, explore, removed,
        severe_objects,
    },
    simulate::{Assume, Request, SimContext, State},
};

use crate::{gates, keep, order_sensitivity, scene::Scene, verdict};

/// What a row tells: `VIEW: START`, or a start alone, which tells the outcomes, or `explain OBJECT`.
pub fn tell(graph: &str, action: &str) -> String {
    let scene = Scene::new(graph);
    if let Some(object) = action.strip_prefix("explain ") {
        return scene.story(object);
    }
    let (view, start) = action.split_once(": ").unwrap_or(("outcomes", action));
    let request = scene.request(start);
    let graph = OwnerGraph::new(&scene.snapshot);
    let stage = SimContext::new(&scene.snapshot, &graph, Assume::Known);
    let plan = LazyCell::new(|| explore(&stage, &request));
    let names = |objects: &[ObjectId]| objects.iter().map(|id| scene.snapshot.short_name(*id)).collect::<Vec<_>>();
    match view.split_once(' ').unwrap_or((view, "")) {
        ("outcomes", "") => scene.describe(&plan),
        ("remains", "") => remains(&scene, &plan),
        ("removed", "") => names(&removed(&stage, &plan)).join(" "),
        ("effects", "") => effects(&scene, &plan),
        ("afterwards", "") => afterwards(&scene, &plan),
        ("needs", "") => {
            // What is not known of the outside leaves outcomes certain.
            let certain = if plan.certain() { "" } else { "; uncertain" };
            names(&plan.needs.facts.iter().copied().collect::<Vec<_>>()).join(" ") + certain
        }
        ("notes", "") => plan.notes.iter().map(|note| note.kind.name()).collect::<Vec<_>>().join(" "),
        ("assumptions", "") => plan.assumptions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        ("claims", "") => claims(&scene, &plan),
        ("consent", "") => asked(&scene, &plan),
        ("verdict", "") => verdict::tell(&scene, &stage, &plan, verdict::ALL, Some(VerdictResult::Unsure)),
        ("assumed", "") => verdict::assumed(&scene.snapshot, &plan),
        ("doubting", "") => doubting(&scene, &request),
        ("order", "") => order_sensitivity::survey(&scene, &request),
        ("gates", gates) => gates::violated(&scene.snapshot, &stage, &plan, gates),
        ("keep", objects) => keep::tell(&scene, &stage, &request, objects),
        _ => panic!("what is {view}?"),
    }
}

/// What stays terminating, whether it ever goes, and what it waits for: `Shop/a stuck: ConfigMap/b`.
fn remains(scene: &Scene, plan: &Plan) -> String {
    let terminating = plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Terminating);
    let remaining = terminating.chain(&plan.stays).map(|outcome| {
        let waits_for: Vec<String> = outcome.waits_for.iter().map(|id| scene.snapshot.short_name(*id)).collect();
        let state = outcome.state.map_or("no state", State::name);
        format!("{} {state}: {}", scene.snapshot.short_name(outcome.object), waits_for.join(" "))
    });
    let remaining = remaining.collect::<Vec<_>>().join(", ");
    // This decides the exit code.
    assert_eq!(plan.stuck(), remaining.contains(" stuck:"), "{remaining}");
    remaining
}

/// `Kind/name effect-kind (related)`, separated by commas.
fn effects(scene: &Scene, plan: &Plan) -> String {
    let describe = plan.effects.iter().map(|effect| {
        let related: Vec<String> = effect.related.iter().map(|id| scene.snapshot.short_name(*id)).collect();
        let related = if related.is_empty() { String::new() } else { format!(" ({})", related.join(" ")) };
        format!("{} {}{related}", scene.snapshot.short_name(effect.object), effect.kind.name())
    });
    describe.collect::<Vec<_>>().join(", ")
}

/// `Kind/name reaction`, such as `recreated by Kind/name`, in the order of the lines.
fn afterwards(scene: &Scene, plan: &Plan) -> String {
    let mut outcomes: Vec<_> = plan.outcomes.iter().collect();
    outcomes.sort_by_key(|outcome| outcome.object);
    let mut recreated = 0;
    let described = outcomes.iter().flat_map(|outcome| outcome.afterwards.iter().map(move |after| (outcome, after)));
    let described = described.map(|(outcome, after)| {
        let name = |id| scene.snapshot.short_name(id);
        let what = match *after {
            Afterwards::Recreated { by } => format!("recreated by {}", name(by)),
            Afterwards::RecreatedEmpty { by } => format!("recreated empty by {}", name(by)),
            Afterwards::MayBeRecreated { by } => format!("maybe by {}", name(by)),
            Afterwards::NotRecreated { by, because } => {
                format!("refused to {}: {}", by.map(name).unwrap_or_default(), because.name())
            }
            Afterwards::KeptUp { by } => format!("recreated by {by}"),
            Afterwards::MirroredAgain { node } => format!("mirrored on {}", name(node)),
            Afterwards::Adopted { by } => format!("adopted through {}", name(by)),
            Afterwards::AdoptedBy { by } => format!("adopted by {}", name(by)),
            Afterwards::MayBeAdopted => "maybe adopted".to_owned(),
        };
        let again = what.starts_with("recreated") || what.starts_with("mirrored");
        recreated += usize::from(again && outcome.kind != OutcomeKind::Orphaned);
        format!("{} {what}", name(outcome.object))
    });
    let told = described.collect::<Vec<_>>().join(", ");
    assert_eq!(plan.summary.recreated, recreated, "{told}");
    told
}

/// What the user has to type to confirm the delete, if `yes` is enough for up to three objects.
fn asked(scene: &Scene, plan: &Plan) -> String {
    match Consent::to(&scene.snapshot, plan, 3) {
        Consent::Yes => "yes".to_owned(),
        Consent::Number(number) => number.to_string(),
        Consent::Name(object) => {
            let severe = severe_objects(&scene.snapshot, plan);
            let reason = match severe.iter().find(|(_, other)| *other == object) {
                Some((ConfirmationReason::Outside(kind), _)) => kind.name().to_owned(),
                Some((reason, _)) => format!("{reason:?}"),
                None => "no reason".to_owned(),
            };
            format!("{} {reason} +{}", scene.snapshot.short_name(object), severe.len() - 1)
        }
    }
}

/// What becomes of the claims of StatefulSets: `StatefulSet/db Retain: kept a b; deleted c`
fn claims(scene: &Scene, plan: &Plan) -> String {
    let snapshot = &scene.snapshot;
    let names = |claims: &[ObjectId]| -> String {
        claims.iter().map(|id| format!(" {}", snapshot.text(snapshot.object(*id).name))).collect()
    };
    let lines = plan.claims.iter().map(|of| {
        let policy = of.deletes.map_or("unread", |deletes| if deletes { "Delete" } else { "Retain" });
        let parts = [("kept", &of.kept), ("deleted", &of.deleted), ("unsure", &of.unsure)];
        let parts = parts.iter().filter(|(_, claims)| !claims.is_empty());
        let parts: Vec<String> = parts.map(|(word, claims)| format!("{word}{}", names(claims))).collect();
        format!("{} {policy}: {}", snapshot.short_name(of.set), parts.join("; "))
    });
    let told = lines.collect::<Vec<_>>().join(", ");
    // What was not read is read; owner references decide.
    plan.claims.iter().for_each(|of| assert_eq!(plan.needs.facts.contains(&of.set), of.deletes.is_none(), "{told}"));
    assert!(plan.certain(), "{told}");
    told
}

/// The outcomes if a 404 for an API path proves nothing (R3.16), and the objects that are noted to be left alone.
fn doubting(scene: &Scene, request: &Request) -> String {
    let graph = OwnerGraph::new(&scene.snapshot).doubting_missing_apis();
    let plan = explore(&SimContext::new(&scene.snapshot, &graph, Assume::Known), request);
    let doubted = plan.notes.iter().filter(|note| note.kind == NoteKind::DoubtedPath);
    let noted = doubted.map(|note| format!("{} noted", scene.snapshot.short_name(note.object)));
    let told: Vec<String> =
        std::iter::once(scene.describe(&plan)).chain(noted).filter(|part| !part.is_empty()).collect();
    told.join(", ")
}
