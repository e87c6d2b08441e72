//! Keeping dependents: which references are removed, what that costs, and what can't be kept.

use std::ops::Range;

use kubectl_gc::{
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    operations::predict::refuse_orphaning_in_vain,
    plan::{KeepPlan, OutcomeKind, Plan, Uncertainty, Unkeepable, explore, keep},
    server::Propagation::{self, Background, Foreground, Orphan},
    simulate::{Assume, Request, SimContext},
};

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
fn tell(scene: &Scene, keeping: &KeepPlan) -> String {
    let snapshot = &scene.snapshot;
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
        Unkeepable::OtherReason(_) => "otherwise".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }
}

type Row = (&'static str, &'static str, &'static str, Propagation, &'static str, &'static str);

const ROWS: &[Row] = &[
    (
        "a leaf",
        "
        Shop r
        Shop a <- Shop/r!
        ConfigMap c <- Shop/a!
        ConfigMap d <- Shop/a!",
        "Shop/r",
        Background,
        "ConfigMap/c",
        "cut ConfigMap/c: a; kept ConfigMap/c; Shop/r Deleted, Shop/a Deleted, ConfigMap/c Orphaned, ConfigMap/d \
            Deleted",
    ),
    (
        "it blocks nobody any more",
        "
        Shop r
        Shop a <- Shop/r!
        ConfigMap c fin=acme.io/x <- Shop/a!",
        "Shop/r",
        Foreground,
        "ConfigMap/c",
        "cut ConfigMap/c: a; kept ConfigMap/c; Shop/r Deleted, Shop/a Deleted, ConfigMap/c Orphaned",
    ),
    (
        "what it owns stays with it",
        "
        Shop r
        Shop a <- Shop/r!
        ConfigMap c <- Shop/a!
        ConfigMap d <- Shop/r!",
        "Shop/r",
        Background,
        "Shop/a",
        "cut Shop/a: r; kept Shop/a; stays ConfigMap/c; Shop/r Deleted, Shop/a Orphaned, ConfigMap/d Deleted",
    ),
    (
        "who is below what is kept needs no cut of its own",
        "
        Shop r
        Shop a <- Shop/r!
        ConfigMap c <- Shop/a!",
        "Shop/r",
        Foreground,
        "ConfigMap/c Shop/a",
        "cut Shop/a: r; kept ConfigMap/c Shop/a; Shop/r Deleted, Shop/a Orphaned",
    ),
    (
        "but for what else it depends on that dies; a kept owner is no such thing",
        "
        Shop r
        Shop a <- Shop/r!
        Shop b <- Shop/r!
        ConfigMap c <- Shop/a! Shop/b!",
        "Shop/r",
        Foreground,
        "Shop/a ConfigMap/c",
        "cut Shop/a: r; kept Shop/a ConfigMap/c; Shop/r Deleted, Shop/a Orphaned, Shop/b Deleted, ConfigMap/c Detached",
    ),
    (
        "an owner that lives keeps it anyway",
        "
        Shop r
        Shop p
        ConfigMap c <- Shop/r! Shop/p!",
        "Shop/r",
        Background,
        "ConfigMap/c",
        "safe ConfigMap/c; Shop/r Deleted, ConfigMap/c Detached",
    ),
    (
        "orphaning keeps it anyway",
        "
        Shop r
        ConfigMap c <- Shop/r!",
        "Shop/r",
        Orphan,
        "ConfigMap/c",
        "safe ConfigMap/c; Shop/r Deleted, ConfigMap/c Orphaned",
    ),
    (
        "an owner that only stays for now dies all the same",
        "
        Shop r
        Shop a fin=acme.io/x <- Shop/r
        ConfigMap c <- Shop/a!",
        "Shop/r",
        Foreground,
        "ConfigMap/c",
        "cut ConfigMap/c: a; kept ConfigMap/c; Shop/r Deleted, Shop/a Terminating(acme.io/x), ConfigMap/c Orphaned",
    ),
    (
        "a reference that leads nowhere would be its end at the collector's next look",
        "
        Shop r
        ConfigMap c <- Shop/r! Shop/gone Shop/r@uid=other",
        "Shop/r",
        Background,
        "ConfigMap/c",
        "cut ConfigMap/c: r gone r; kept ConfigMap/c; Shop/r Deleted, ConfigMap/c Orphaned",
    ),
    (
        "whatever the order of events",
        "
        Shop r
        Shop a fin=orphan <- Shop/r!
        Shop b <- Shop/r!
        ConfigMap c <- Shop/a! Shop/b!",
        "Shop/r",
        Background,
        "ConfigMap/c",
        "cut ConfigMap/c: a b; kept ConfigMap/c; Shop/r Deleted, Shop/a Deleted, Shop/b Deleted, ConfigMap/c Orphaned",
    ),
    (
        "a circle is cut where it hangs on what dies",
        "
        Shop a <- Shop/c!
        Shop b <- Shop/a!
        Shop c <- Shop/b!",
        "Shop/a",
        Background,
        "Shop/b Shop/c",
        "cut Shop/b: a; kept Shop/b Shop/c; Shop/a Deleted, Shop/b Orphaned",
    ),
    (
        "several references of one uid, which let the owner be forgotten (R3.22)",
        "
        Shop r
        ConfigMap c <- Shop/r! Shop/r",
        "Shop/r",
        Foreground,
        "ConfigMap/c",
        "cut ConfigMap/c: r r; kept ConfigMap/c; Shop/r Deleted/Terminating, ConfigMap/c Orphaned",
    ),
    (
        "the collector may see the cut before the deletes, or after: how the one in between goes depends on that, what \
            becomes of it does not",
        "
        Shop r
        Shop a <- Shop/r!
        ConfigMap c <- Shop/a!",
        "Shop/r",
        Foreground,
        "ConfigMap/c",
        "cut ConfigMap/c: a; kept ConfigMap/c; Shop/r Deleted, Shop/a Deleted, ConfigMap/c Orphaned",
    ),
    (
        "a target",
        "
        Shop r
        ConfigMap c <- Shop/r!",
        "Shop/r ConfigMap/c",
        Background,
        "ConfigMap/c",
        "lost ConfigMap/c (target); Shop/r Deleted, ConfigMap/c Deleted",
    ),
    (
        "what is in a namespace that goes",
        "
        Namespace ns
        Shop r
        ConfigMap c <- Shop/r!
        ConfigMap elsewhere:d <- Namespace/ns",
        "Namespace/ns",
        Foreground,
        "ConfigMap/c ConfigMap/d",
        "cut ConfigMap/d: ns; kept ConfigMap/d; lost ConfigMap/c (Namespace/ns); \
         Namespace/ns Deleted, Shop/r Deleted, ConfigMap/c Deleted, ConfigMap/d Orphaned",
    ),
    (
        "what is in it and spared only for now",
        "
        Namespace ns
        Pod p fin=acme.io/x
        ConfigMap c",
        "Namespace/ns",
        Background,
        "ConfigMap/c",
        "lost ConfigMap/c (Namespace/ns); Namespace/ns Terminating(), Pod/p Terminating(acme.io/x)",
    ),
    (
        "an instance of a definition that goes",
        "
        CustomResourceDefinition Shop
        Shop a
        Shop b <- Shop/a!
        ConfigMap c <- Shop/b!",
        "CustomResourceDefinition/Shop",
        Background,
        "Shop/b ConfigMap/c",
        "cut ConfigMap/c: b; kept ConfigMap/c; lost Shop/b (CustomResourceDefinition/Shop); \
         CustomResourceDefinition/Shop Deleted, Shop/a Deleted, Shop/b Deleted, ConfigMap/c Orphaned",
    ),
    (
        "an owner that is terminating already, and waits for it",
        "
        Shop r
        Shop b T=0 fin=foregroundDeletion <- Shop/r!
        ConfigMap c <- Shop/b!",
        "Shop/r",
        Background,
        "ConfigMap/c",
        "cut ConfigMap/c: b; kept ConfigMap/c; Shop/r Deleted, Shop/b Deleted, ConfigMap/c Orphaned",
    ),
    (
        "what rests on a list that could not be read",
        "
        unread Secret
        Shop r
        ConfigMap c <- Shop/r! Secret/s",
        "Shop/r",
        Background,
        "ConfigMap/c",
        "cut ConfigMap/c: r; lost ConfigMap/c (unread); Shop/r Deleted, ConfigMap/c Detached",
    ),
    (
        "what is terminating already",
        "
        Shop r
        Shop b T=0 fin=foregroundDeletion,acme.io/x <- Shop/r!
        ConfigMap c T=0 fin=acme.io/x <- Shop/r",
        "Shop/r",
        Orphan,
        "ConfigMap/c",
        "lost ConfigMap/c (terminating); Shop/r Deleted, Shop/b Terminating(foregroundDeletion acme.io/x), ConfigMap/c \
            Terminating(acme.io/x)",
    ),
    (
        "what is terminating already is saved by nothing; it only takes longer",
        "
        Shop r
        ConfigMap c <- Shop/r!
        Shop b T=0 fin=foregroundDeletion <- ConfigMap/c!
        Secret d <- Shop/b! ConfigMap/c!",
        "Shop/r",
        Background,
        "ConfigMap/c",
        "cut ConfigMap/c: r; kept ConfigMap/c; stays Secret/d; Shop/r Deleted, ConfigMap/c Orphaned",
    ),
    (
        "a pod of a Node that goes",
        "
        Node n
        Pod p node=n <- Node/n",
        "Node/n",
        Background,
        "Pod/p",
        "cut Pod/p: n; lost Pod/p (Node/n); Node/n Deleted, Pod/p Deleted",
    ),
];

#[test]
fn what_is_kept_and_what_that_costs() {
    let mut wrong = Vec::new();
    for (rule, graph, targets, policy, wanted, expected) in ROWS {
        let scene = Scene::new(graph);
        let ids = |names: &str| -> Vec<ObjectId> { names.split_whitespace().map(|name| scene.id(name)).collect() };
        let (_, keeping) = keeping(&scene.snapshot, &ids(targets), *policy, &ids(wanted));
        let describe = tell(&scene, &keeping);
        if describe != *expected {
            wrong.push(format!("{rule}\n  expected {expected}\n  told     {describe}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A user who orphans wants to keep something, so an orphaning delete that keeps nothing is refused.
#[test]
fn orphaning_that_keeps_nothing_is_no_delete() {
    let refused = |graph: &str, target: &str, policy: Propagation| {
        let scene = Scene::new(graph);
        let plan = scene.plan_with(target, policy, Assume::Known);
        refuse_orphaning_in_vain(&scene.snapshot, &plan).map_err(|error| error.to_string()).err().unwrap_or_default()
    };
    let (namespace, definition) = ("Namespace ns\nConfigMap c", "CustomResourceDefinition Shop\nShop a");
    let then = "; move the objects to keep elsewhere first, or use --propagation=background to delete everything";
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
    let of = plan.outcome(object);
    of.map_or(vec![OutcomeKind::Unchanged], |outcome| {
        std::iter::once(outcome.kind).chain(outcome.alternatives.iter().map(|other| other.kind)).collect()
    })
}

fn goes(kind: OutcomeKind) -> bool {
    matches!(kind, OutcomeKind::Deleted | OutcomeKind::Terminating)
}

fn cut_short(plan: &Plan) -> bool {
    plan.outcomes.iter().any(|outcome| outcome.uncertain == Some(Uncertainty::Bound))
}

/// On all kinds of graphs: the kept objects survive in every end, and keeping them deletes no object that would
/// otherwise survive in every end. The test keeps either all objects except the targets, or half of them, or one.
fn whatever_is_kept_survives(seeds: Range<u64>, [least_kept, least_stays, least_lost]: [usize; 3]) {
    let (mut kept, mut stays, mut lost) = (0, 0, 0);
    for mix in Mix::ALL {
        for seed in seeds.clone() {
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
    let enough = kept > least_kept && stays > least_stays && lost > least_lost;
    assert!(enough, "nothing was put to the test: {kept} kept, {stays} stay, {lost} lost");
}

#[test]
fn whatever_is_kept_survives_and_nobody_pays_with_their_life() {
    whatever_is_kept_survives(0..50, [50, 7, 2]);
}

#[test]
#[ignore = "long: 360 graphs"]
fn whatever_is_kept_survives_and_nobody_pays_with_their_life_in_many_graphs() {
    whatever_is_kept_survives(0..120, [150, 20, 5]);
}
