//! References with a list kind, whose API path doesn't exist: the collector takes the 404 for the owner's absence
//! (R3.15). By default, a sweep leaves objects with such references alone (R3.16).

use kubectl_gc::{
    graph::OwnerGraph,
    plan::{NoteKind, explore},
    simulate::{Assume, Request, SimContext, Start, WriteScope},
};

use crate::scene::Scene;

/// A rule, a graph, its outcomes if a 404 for the path is trusted, its outcomes if not, and the objects noted if not.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    (
        "R3.15 nothing but a list kind",
        "ConfigMap b <- Shop/a@kind=ShopList
        Secret c <- ConfigMap/b",
        "ConfigMap/b Deleted, Secret/c Deleted",
        "",
        "ConfigMap/b",
    ),
    (
        "R8.5 a list kind beside an owner that is there, and one that is gone",
        "Shop a
        ConfigMap b <- Shop/a Shop/a@kind=ShopList@uid=x Shop/gone",
        "ConfigMap/b Detached",
        "",
        "ConfigMap/b",
    ),
    (
        "R3.13 what nobody can follow is left alone by everybody, and is nothing to be noted",
        "ConfigMap b <- Shop/a@kind=ShopList Shop/a@kind=SHOP@uid=x",
        "",
        "",
        "",
    ),
    (
        "L3 comes before the path: a cluster-scoped holder of a list of what is namespaced",
        "Region b <- Shop/a@kind=ShopList",
        "",
        "",
        "",
    ),
    (
        "S4 it is in the way of an owner that waits for it",
        "Shop a T=0 fin=foregroundDeletion
        ConfigMap b <- Shop/a! Shop/a@kind=ShopList@uid=x",
        "Shop/a Deleted, ConfigMap/b Deleted",
        "",
        "ConfigMap/b",
    ),
    (
        "R6.1 it is freed from an owner that orphans, which is nothing that the path decides",
        "Shop a T=0 fin=orphan
        ConfigMap b <- Shop/a! Shop/x@kind=ShopList",
        "Shop/a Deleted, ConfigMap/b Deleted/Orphaned",
        "Shop/a Deleted, ConfigMap/b Detached",
        "ConfigMap/b",
    ),
    (
        "R8.3 a terminating object, whatever its references",
        "ConfigMap b T=0 fin=acme.io/x <- Shop/a@kind=ShopList",
        "",
        "",
        "",
    ),
    (
        "R3.3 a node that nobody has seen: where one dependent calls it by a list kind, the other is looked at by \
            itself",
        "ConfigMap b <- Shop/a@kind=ShopList@uid=x
        ConfigMap c <- Shop/a@uid=x",
        "ConfigMap/b Deleted, ConfigMap/c Deleted",
        "ConfigMap/c Deleted",
        "ConfigMap/b",
    ),
];

/// The predicted outcomes of a sweep, and the objects that it notes it leaves alone.
fn sweep(scene: &Scene, graph: &OwnerGraph, only: Option<WriteScope>) -> (String, String) {
    let stage = SimContext::new(&scene.snapshot, graph, Assume::Known);
    let plan = explore(&stage, &Request { only, ..Request::only_collect(Start::Sweep) });
    let doubted = plan.notes.iter().filter(|note| note.kind == NoteKind::DoubtedPath);
    let noted: Vec<String> = doubted.map(|note| scene.snapshot.short_name(note.object)).collect();
    (scene.describe(&plan), noted.join(" "))
}

#[test]
fn a_path_that_does_not_exist_proves_nothing_to_a_sweep() {
    let mut wrong: Vec<String> = Vec::new();
    for (rule, text, trusting, doubting, noted) in ROWS {
        let scene = Scene::new(text);
        let graph = OwnerGraph::new(&scene.snapshot);
        let mut check = |how: &str, describe: (String, String), expected: (&str, &str)| {
            if (describe.0.as_str(), describe.1.as_str()) != expected {
                wrong.push(format!("{rule}, {how}\n  expected {expected:?}\n  but got  {describe:?}"));
            }
        };
        check("trusting", sweep(&scene, &graph, None), (trusting, ""));
        check("doubting", sweep(&scene, &graph.doubting_missing_apis(), None), (doubting, noted));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A sweep never changes objects outside its scope, so it doesn't note them.
#[test]
fn only_what_a_sweep_may_write_to_is_noted() {
    let scene = Scene::new("ConfigMap b <- Shop/a@kind=ShopList\nConfigMap c <- Shop/a@kind=ShopList");
    let graph = OwnerGraph::new(&scene.snapshot).doubting_missing_apis();
    let only = WriteScope::new([scene.id("ConfigMap/c")]);
    assert_eq!(sweep(&scene, &graph, Some(only)).1, "ConfigMap/c");
}

/// If every path exists, not trusting a 404 makes no difference.
#[test]
fn doubt_changes_nothing_else() {
    let scene = Scene::new(
        "Shop a T=0 fin=foregroundDeletion
        ConfigMap b <- Shop/a!
        ConfigMap c <- Shop/gone
        ConfigMap d <- Shop/a@version=acme.io/v9
        Shop e T=0 fin=orphan
        Secret f <- Shop/e",
    );
    let graph = OwnerGraph::new(&scene.snapshot);
    let trusting = sweep(&scene, &graph, None);
    assert_eq!(sweep(&scene, &graph.doubting_missing_apis(), None), trusting);
}
