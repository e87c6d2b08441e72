//! Keeping dependents: which references are removed, what that costs, and what can't be kept. Most rows are in
//! `rows/keep.txt`.

use gc_core::{
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    plan::{KeepPlan, OutcomeKind, Plan, Unkeepable, explore, keep},
    server::Propagation::{self, Background, Foreground, Orphan},
    simulate::{Assume, Request, SimContext, Uncertainty},
};
use kubectl_gc::operations::predict::refuse_orphaning_in_vain;

use crate::{
    graphs::{
        generate::{Mix, case},
        scene as graph_scene,
    },
    scene::Scene,
};

/// The plan of a delete without keeping anything, and the plan that keeps these objects.
fn keeping(snapshot: &Snapshot, targets: &[ObjectId], policy: Propagation, wanted: &[ObjectId]) -> (Plan, KeepPlan) {
    let graph = OwnerGraph::new(snapshot);
    let stage = SimContext::new(snapshot, &graph, Assume::Known);
    let request = Request::delete(targets.to_vec(), policy);
    (explore(&stage, &request), keep(&stage, &request, wanted, explore))
}

/// `cut OBJECT: OWNERS; …`, `kept …`, `safe …`, `stays …`, `lost OBJECT (why)`, without empty parts, then the outcome
/// of every object.
pub fn tell(scene: &Scene, stage: &SimContext<'_>, request: &Request, wanted: &str) -> String {
    let snapshot = &scene.snapshot;
    let wanted: Vec<ObjectId> = wanted.split(' ').map(|name| scene.id(name)).collect();
    let keeping = keep(stage, request, &wanted, explore);
    let names = |objects: &[ObjectId]| objects.iter().map(|id| snapshot.short_name(*id)).collect::<Vec<_>>().join(" ");
    let mut describe: Vec<String> = Vec::new();
    for cut in &keeping.plan.request.cuts {
        let owners: Vec<&str> = cut.loses.iter().map(|reference| snapshot.text(reference.name)).collect();
        describe.push(format!("cut {}: {}", snapshot.short_name(cut.object), owners.join(" ")));
    }
    for (word, objects) in [("kept", &keeping.kept), ("safe", &keeping.safe), ("stays", &keeping.stays)] {
        if !objects.is_empty() {
            describe.push(format!("{word} {}", names(objects)));
        }
    }
    for (object, why) in &keeping.lost {
        describe.push(format!("lost {} ({})", snapshot.short_name(*object), why_of(snapshot, why)));
    }
    describe.push(scene.describe(&keeping.plan));
    describe.join("; ")
}

fn why_of(snapshot: &Snapshot, why: &Unkeepable) -> String {
    match why {
        Unkeepable::Namespace(by) | Unkeepable::Definition(by) | Unkeepable::WithContents(by) => {
            snapshot.short_name(*by)
        }
        Unkeepable::Open(Uncertainty::Gap) => "unread".to_owned(),
        Unkeepable::OtherReason(_) => "otherwise".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// A user who orphans wants to keep something, so an orphaning delete that keeps nothing is refused.
#[test]
fn orphaning_that_keeps_nothing_is_no_delete() {
    let refused = |graph: &str, target: &str, policy: Propagation| {
        let scene = Scene::new(graph);
        let plan = scene.plan(&format!("delete {} {target}", policy.name()));
        refuse_orphaning_in_vain(&scene.snapshot, &plan).map_err(|error| error.to_string()).err().unwrap_or_default()
    };
    let (namespace, definition) = ("Namespace ns\nConfigMap c", "CustomResourceDefinition Shop\nShop a");
    let then = "; move the objects to keep elsewhere first, or use --cascade=background to delete everything";
    assert_eq!(
        refused(namespace, "Namespace/ns", Orphan),
        format!(
            "Namespace/ns: --cascade=orphan does not keep the content of a namespace: it only removes \
             references to the Namespace object itself{then}"
        )
    );
    let describe = refused(definition, "CustomResourceDefinition/Shop", Orphan);
    assert!(describe.starts_with("CustomResourceDefinition/Shop: ") && describe.ends_with(then), "{describe}");
    for policy in [Background, Foreground] {
        assert_eq!(refused(namespace, "Namespace/ns", policy), "");
        assert_eq!(refused(definition, "CustomResourceDefinition/Shop", policy), "");
    }
    assert_eq!(refused("Shop a\nConfigMap c <- Shop/a", "Shop/a", Orphan), "");
    assert_eq!(refused("Shop a", "Shop/a", Orphan), "", "where there is nothing to save, nothing is lost");
}

/// The possible outcomes of an object, over all ends.
fn ends(plan: &Plan, object: ObjectId) -> Vec<OutcomeKind> {
    let of_object = plan.both_ends().filter(|outcome| outcome.object == object);
    let ends: Vec<OutcomeKind> = of_object
        .flat_map(|outcome| std::iter::once(outcome.kind).chain(outcome.alternatives.iter().map(|other| other.kind)))
        .collect();
    if ends.is_empty() { vec![OutcomeKind::Unchanged] } else { ends }
}

fn goes(kind: OutcomeKind) -> bool {
    matches!(kind, OutcomeKind::Deleted | OutcomeKind::Terminating)
}

fn cut_short(plan: &Plan) -> bool {
    plan.outcomes.iter().any(|outcome| outcome.uncertain == Some(Uncertainty::Bound))
}

/// On all kinds of graphs: the kept objects survive in every end, and keeping them deletes no object that would
/// otherwise survive in every end. The test keeps either all objects except the targets, or half of them, or one.
#[test]
#[ignore = "long: 360 graphs"]
fn whatever_is_kept_survives_and_nobody_pays_with_their_life() {
    let (mut kept, mut stays, mut lost) = (0, 0, 0);
    for mix in Mix::ALL {
        for seed in 0..120 {
            let case = case(seed, mix);
            let snapshot = graph_scene::snapshot(&case.graph);
            let round = &case.rounds[0];
            let named =
                |name: &String| snapshot.objects().find(|(id, _)| snapshot.short_name(*id) == *name).map(|(id, _)| id);
            let targets: Vec<ObjectId> = round.wanted.iter().filter_map(named).take(round.most_targets).collect();
            let others: Vec<ObjectId> =
                snapshot.objects().map(|(id, _)| id).filter(|id| !targets.contains(id)).collect();
            let some = |every: usize| {
                others.iter().copied().skip(seed as usize % every.max(1)).step_by(every).collect::<Vec<_>>()
            };
            let wanted = match seed % 3 {
                0 => others.clone(),
                1 => some(2),
                _ => some(others.len().max(1)),
            };
            let (without, keeping) = keeping(&snapshot, &targets, round.propagation, &wanted);
            let describe = || {
                format!("{} {seed}\n{}\n{targets:?} {:?}\nwanted {wanted:?}", mix.name(), case.graph, round.propagation)
            };
            assert!(!cut_short(&keeping.plan), "{}", describe());
            for object in keeping.kept.iter().chain(&keeping.safe).chain(&keeping.stays) {
                let ends = ends(&keeping.plan, *object);
                assert!(!ends.iter().copied().any(goes), "{object:?} is kept: {ends:?}\n{}", describe());
            }
            for object in &keeping.stays {
                assert!(!snapshot.object(*object).terminating(), "{object:?} is saved from nothing\n{}", describe());
            }
            for (object, _) in snapshot.objects() {
                let safe_before = !ends(&without, object).into_iter().any(goes);
                let safe_now = !ends(&keeping.plan, object).into_iter().any(goes);
                assert!(!safe_before || safe_now, "{object:?} would not go without keeping anything\n{}", describe());
            }
            for cut in &keeping.plan.request.cuts {
                assert!(
                    keeping.kept.contains(&cut.object) || keeping.lost.iter().any(|(id, _)| *id == cut.object),
                    "{}",
                    describe()
                );
            }
            kept += keeping.kept.len();
            stays += keeping.stays.len();
            lost += keeping.lost.len();
        }
    }
    let enough = kept > 150 && stays > 20 && lost > 5;
    assert!(enough, "nothing was put to the test: {kept} kept, {stays} stay, {lost} lost");
}
