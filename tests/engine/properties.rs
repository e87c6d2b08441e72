//! Properties of every graph and every delete.

use std::collections::{BTreeMap, BTreeSet};

use gc_core::{
    graph::{OwnerGraph, Verdict},
    model::{ObjectId, Reference, Snapshot},
    plan::{OutcomeKind, Plan, explore, plan},
    server::Propagation,
    simulate::{Assume, Cause, Request, SimContext, Start, WriteScope},
};
use proptest::prelude::*;

use crate::scene::Scene;

const KINDS: [&str; 5] = ["Shop", "ConfigMap", "Pod", "Region", "ClusterRole"];

/// One line of a scene: an object that may own, or be owned by, any object, itself included.
#[derive(Clone, Debug)]
struct Line {
    kind: usize,
    elsewhere: bool,
    finalizers: Vec<&'static str>,
    terminating: Option<u8>,
    node: bool,
    references: Vec<(usize, &'static str, &'static str)>,
}

fn line() -> impl Strategy<Value = Line> {
    let finalizers =
        prop::collection::vec(prop::sample::select(vec!["acme.io/x", "orphan", "foregroundDeletion"]), 0..2);
    let bend = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        "",
        "",
        "@name=other",
        "@uid=other",
        "@kind=Secret",
        "@kind=SHOP",
        "@kind=ShopList",
        "@version=acme.io/v1alpha1",
        "@version=acme.io/v9",
    ]);
    let reference = (0..12usize, bend, prop::sample::select(vec!["!", "!", "~", ""]));
    (
        0..KINDS.len(),
        prop::bool::weighted(0.15),
        finalizers,
        prop::option::weighted(0.15, 0..2u8),
        any::<bool>(),
        prop::collection::vec(reference, 0..4),
    )
        .prop_map(|(kind, elsewhere, finalizers, terminating, node, references)| Line {
            kind,
            elsewhere,
            finalizers,
            terminating,
            node,
            references,
        })
}

/// The text of a scene. A terminating object without a grace period always has a finalizer, as on any server (R1.11).
fn text(lines: &[Line]) -> String {
    let mut text = String::from("Node n1\n");
    for (index, line) in lines.iter().enumerate() {
        let kind = KINDS[line.kind];
        let cluster_scoped = matches!(kind, "Region" | "ClusterRole");
        text += &format!("{kind} {}o{index}", if line.elsewhere && !cluster_scoped { "other:" } else { "" });
        let in_grace = line.terminating == Some(1) && kind == "Pod" && line.node;
        let mut finalizers = line.finalizers.clone();
        if line.terminating.is_some() && !in_grace {
            text += " T=0";
            if finalizers.is_empty() {
                finalizers.push("acme.io/x");
            }
        } else if in_grace {
            text += " T=30";
        }
        if !finalizers.is_empty() {
            text += &format!(" fin={}", finalizers.join(","));
        }
        if kind == "Pod" && line.node {
            text += " node=n1";
        }
        if !line.references.is_empty() {
            text += " <-";
        }
        for (owner, bend, block) in &line.references {
            // A number beyond the last line is an absent owner.
            let kind = lines.get(*owner).map_or("ConfigMap", |owner| KINDS[owner.kind]);
            text += &format!(" {kind}/o{owner}{bend}{block}");
        }
        text.push('\n');
    }
    text
}

fn scenes() -> impl Strategy<Value = (String, Vec<usize>, Propagation, Assume)> {
    let policy = prop::sample::select(vec![Propagation::Background, Propagation::Foreground, Propagation::Orphan]);
    let assume = prop::sample::select(vec![Assume::Known, Assume::None]);
    (prop::collection::vec(line(), 1..10), prop::collection::vec(0..10usize, 1..3), policy, assume).prop_map(
        |(lines, targets, policy, assume)| {
            let targets: BTreeSet<usize> = targets.into_iter().map(|target| target % lines.len()).collect();
            (text(&lines), targets.into_iter().collect(), policy, assume)
        },
    )
}

/// Graphs of live objects without finalizers in one namespace, with correct references only. They may contain cycles
/// and self-owners.
fn healthy_scenes() -> impl Strategy<Value = (String, Vec<usize>)> {
    let reference = (0..10usize, prop::sample::select(vec!["!", "~", ""]));
    let line = (prop::sample::select(vec!["Shop", "ConfigMap", "Secret"]), prop::collection::vec(reference, 0..3));
    (prop::collection::vec(line, 1..10), prop::collection::vec(0..10usize, 1..3)).prop_map(|(lines, targets)| {
        let mut text = String::from("Node n1\n");
        for (index, (kind, references)) in lines.iter().enumerate() {
            let mut owners: BTreeMap<usize, &str> = BTreeMap::new();
            for (owner, block) in references {
                owners.insert(owner % lines.len(), block);
            }
            let owners =
                owners.iter().map(|(owner, block)| format!(" {}/o{owner}{block}", lines[*owner].0)).collect::<String>();
            text += &format!("{kind} o{index}{}{owners}\n", if owners.is_empty() { "" } else { " <-" });
        }
        let targets: BTreeSet<usize> = targets.into_iter().map(|target| target % lines.len()).collect();
        (text, targets.into_iter().collect())
    })
}

fn predict(snapshot: &Snapshot, targets: &[usize], propagation: Propagation, assume: Assume) -> Plan {
    let graph = OwnerGraph::new(snapshot);
    let stage = SimContext::new(snapshot, &graph, assume);
    // The Node comes first in every scene.
    let targets = targets.iter().map(|target| ObjectId(*target as u32 + 1)).collect();
    plan(&stage, &Request::delete(targets, propagation))
}

/// References of an object after the plan; `None` if the object is gone.
fn references_after<'a>(snapshot: &'a Snapshot, plan: &'a Plan, object: ObjectId) -> Option<&'a [Reference]> {
    match plan.outcome(object) {
        Some(outcome) => outcome.after.as_ref().map(|after| after.owners.as_slice()),
        None => Some(&snapshot.object(object).owners),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A sweep never writes to an object outside its scope, in any graph; and a scope of all objects doesn't limit it.
    #[test]
    fn a_sweep_stays_within_its_limits((text, inside, _, assume) in scenes()) {
        let scene = Scene::new(&text);
        let graph = OwnerGraph::new(&scene.snapshot);
        let stage = SimContext::new(&scene.snapshot, &graph, assume);
        let sweep = Request::only_collect(Start::Sweep);
        let inside: Vec<ObjectId> = inside.iter().map(|object| ObjectId(*object as u32 + 1)).collect();
        let limited = plan(&stage, &sweep.clone().limited_to(WriteScope::new(inside.clone())));
        for outcome in limited.outcomes.iter().filter(|outcome| !inside.contains(&outcome.object)) {
            let object = scene.snapshot.short_name(outcome.object);
            prop_assert!(!matches!(outcome.because, Some(Cause::Collector(_))), "{object} in\n{text}");
        }
        prop_assert!(limited.stays.iter().all(|stays| inside.contains(&stays.object)), "{text}");
        let all = WriteScope::new(scene.snapshot.objects().map(|(id, _)| id));
        let describe = |plan: &Plan| (scene.describe(plan), plan.stays.len(), plan.steps);
        prop_assert_eq!(describe(&plan(&stage, &sweep.clone().limited_to(all))), describe(&plan(&stage, &sweep)), "{}",
            text);
    }

    /// An object that a sweep examines and leaves unchanged waits for another object or is held by something, and isn't
    /// also listed among the outcomes.
    #[test]
    fn whatever_a_sweep_leaves_waits_for_somebody((text, _, _, assume) in scenes()) {
        let scene = Scene::new(&text);
        let graph = OwnerGraph::new(&scene.snapshot);
        let stage = SimContext::new(&scene.snapshot, &graph, assume);
        let sweep = plan(&stage, &Request::only_collect(Start::Sweep));
        for stays in &sweep.stays {
            let object = scene.snapshot.short_name(stays.object);
            prop_assert!(stays.state.is_some() && !(stays.waits_for.is_empty() && stays.held_by.is_empty()),
                "{object} in\n{text}");
            prop_assert!(sweep.outcome(stays.object).is_none(), "{object} in\n{text}");
        }
    }

    /// If a plan touches a live object, it never leaves it with only verifiably dangling references; the collector
    /// doesn't either. Objects with references that dangled before the delete are excluded: nothing queues them (R6.7,
    /// R8.8).
    #[test]
    fn no_touched_object_is_left_dangling((text, targets, propagation, assume) in scenes()) {
        let scene = Scene::new(&text);
        let graph = OwnerGraph::new(&scene.snapshot);
        let plan = predict(&scene.snapshot, &targets, propagation, assume);
        for outcome in plan.outcomes.iter().filter(|outcome| outcome.kind != OutcomeKind::Deleted) {
            let after = outcome.after.as_ref().expect("what is not deleted has a state");
            if after.terminating || after.owners.is_empty() {
                continue;
            }
            let namespace = scene.snapshot.object(outcome.object).namespace;
            let before = &scene.snapshot.object(outcome.object).owners;
            let dangled = |reference: &Reference| {
                matches!(Verdict::of(&scene.snapshot, &graph, reference, namespace), Verdict::Dangling(_))
            };
            if before.iter().any(dangled) {
                continue;
            }
            let dangles = |reference: &Reference| match Verdict::of(&scene.snapshot, &graph, reference, namespace) {
                Verdict::Dangling(_) => true,
                Verdict::Solid(owner) | Verdict::Waiting(owner) => {
                    plan.outcome(owner).is_some_and(|outcome| outcome.kind == OutcomeKind::Deleted)
                }
                _ => false,
            };
            prop_assert!(!after.owners.iter().all(dangles), "{} in\n{text}", scene.snapshot.short_name(outcome.object));
        }
    }

    /// A plan changes nothing that its targets can't reach over uid edges, down or up (§8.1).
    #[test]
    fn nothing_out_of_reach_changes((text, targets, propagation, assume) in scenes()) {
        let scene = Scene::new(&text);
        let graph = OwnerGraph::new(&scene.snapshot);
        let plan = predict(&scene.snapshot, &targets, propagation, assume);
        let mut reach: BTreeSet<ObjectId> = BTreeSet::new();
        let mut open: Vec<ObjectId> = plan.request.targets.clone();
        while let Some(object) = open.pop() {
            if reach.insert(object) {
                open.extend(graph.dependents(object.into()));
                let owners = scene.snapshot.object(object).owners.iter().filter_map(|reference|
                    graph.by_uid(reference.uid));
                open.extend(owners.filter_map(|owner| graph.object(owner)));
            }
        }
        for outcome in &plan.outcomes {
            prop_assert!(reach.contains(&outcome.object), "{} in\n{text}", scene.snapshot.short_name(outcome.object));
        }
    }

    /// An object that stays terminating waits for another object or is held by something, no object waits for a deleted
    /// one, and a finalizer without a known controller is never removed.
    #[test]
    fn what_stays_has_a_reason((text, targets, propagation, assume) in scenes()) {
        let scene = Scene::new(&text);
        let plan = predict(&scene.snapshot, &targets, propagation, assume);
        let gone: BTreeSet<ObjectId> =
            plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted).map(|outcome|
                outcome.object).collect();
        for outcome in &plan.outcomes {
            let name = scene.snapshot.short_name(outcome.object);
            if outcome.kind == OutcomeKind::Terminating {
                prop_assert!(!outcome.waits_for.is_empty() || !outcome.held_by.is_empty(), "{name} in\n{text}");
            }
            prop_assert!(outcome.waits_for.iter().all(|other| !gone.contains(other)), "{name} in\n{text}");
            let foreign = |finalizer: &&str| *finalizer == "acme.io/x";
            let before = scene.snapshot.object(outcome.object).finalizers.iter().map(|finalizer|
                scene.snapshot.text(*finalizer));
            if before.clone().any(|finalizer| foreign(&finalizer)) {
                prop_assert!(outcome.kind != OutcomeKind::Deleted, "{name} in\n{text}");
            }
        }
    }

    /// Orphaning only removes references of direct dependents, and deletes only the targets.
    #[test]
    fn orphaning_a_healthy_graph_deletes_only_its_targets((text, targets) in healthy_scenes()) {
        let scene = Scene::new(&text);
        let plan = predict(&scene.snapshot, &targets, Propagation::Orphan, Assume::Known);
        let graph = OwnerGraph::new(&scene.snapshot);
        for outcome in &plan.outcomes {
            let is_target = plan.request.targets.contains(&outcome.object);
            let is_dependent =
                plan.request.targets.iter().any(|target| graph.dependents((*target).into()).contains(&outcome.object));
            let expected = if is_target {
                outcome.kind == OutcomeKind::Deleted
            } else {
                is_dependent && matches!(outcome.kind, OutcomeKind::Orphaned | OutcomeKind::Detached)
            };
            prop_assert!(expected, "{} in\n{text}", scene.snapshot.short_name(outcome.object));
        }
    }

    /// Without finalizers and with correct references only, foreground and background deletion remove the same objects
    /// (R7.1), unless the foreground deletion gets stuck on a cycle (§5.3).
    #[test]
    fn foreground_and_background_agree_on_a_healthy_graph((text, targets) in healthy_scenes()) {
        let scene = Scene::new(&text);
        let removed = |propagation: Propagation| {
            let plan = predict(&scene.snapshot, &targets, propagation, Assume::Known);
            let stuck = plan.stuck();
            let gone: BTreeSet<ObjectId> =
                plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted).map(|outcome|
                    outcome.object).collect();
            (gone, stuck)
        };
        let ((foreground, stuck), (background, _)) = (removed(Propagation::Foreground),
            removed(Propagation::Background));
        prop_assert!(stuck || foreground == background, "{foreground:?} and {background:?} in\n{text}");
    }

    /// Without finalizers and with correct references only, no outcome depends on the order of events (R7.1).
    #[test]
    fn a_healthy_graph_ends_one_way((text, targets) in healthy_scenes(), foreground in any::<bool>()) {
        let scene = Scene::new(&text);
        let graph = OwnerGraph::new(&scene.snapshot);
        let stage = SimContext::new(&scene.snapshot, &graph, Assume::Known);
        let propagation = if foreground { Propagation::Foreground } else { Propagation::Background };
        let targets = targets.iter().map(|target| ObjectId(*target as u32 + 1)).collect();
        let plan = explore(&stage, &Request::delete(targets, propagation));
        let gone_otherwise = plan.outcomes.iter().find(|outcome| {
            outcome.alternatives.iter().any(|other| other.after.is_none() != outcome.after.is_none())
        });
        let stuck = plan.stuck();
        prop_assert!(stuck || gone_otherwise.is_none(), "{} in\n{text}", scene.describe(&plan));
    }

    /// The same request always gives the same plan, and survivors keep a subset of their references.
    #[test]
    fn plans_repeat_and_only_take_away((text, targets, propagation, assume) in scenes()) {
        let scene = Scene::new(&text);
        let first = predict(&scene.snapshot, &targets, propagation, assume);
        let second = predict(&scene.snapshot, &targets, propagation, assume);
        prop_assert_eq!(scene.describe(&first), scene.describe(&second));
        for (id, object) in scene.snapshot.objects() {
            let mut counts: BTreeMap<_, i32> = BTreeMap::new();
            for reference in object.owners.iter() {
                *counts.entry(reference.uid).or_default() += 1;
            }
            for reference in references_after(&scene.snapshot, &first, id).unwrap_or_default() {
                *counts.entry(reference.uid).or_default() -= 1;
            }
            prop_assert!(counts.values().all(|count| *count >= 0), "{} in\n{}", scene.snapshot.short_name(id), text);
        }
    }
}
