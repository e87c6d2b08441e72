//! Outcomes that depend on the order of events (§11), and some that only seem to.

use std::collections::BTreeSet;

use kubectl_gc::{
    graph::OwnerGraph,
    plan::{OutcomeKind, explore},
    server::Propagation::{self, Background, Foreground, Orphan},
    simulate::{Assume, Request, SimContext},
};

use crate::scene::Scene;

/// A rule, a graph, a delete, and the outcome of every object; `A/B` if either is possible.
type Row = (&'static str, &'static str, &'static str, Propagation, &'static str);

const ROWS: &[Row] = &[
    (
        "a chain ends one way",
        "
        Shop a
        ConfigMap b <- Shop/a!
        Secret c <- ConfigMap/b!",
        "Shop/a",
        Foreground,
        "Shop/a Deleted, ConfigMap/b Deleted, Secret/c Deleted",
    ),
    (
        "M7, F6 a child with an orphan finalizer, reached over a reference that doesn't block",
        "
        Shop r
        Shop c fin=orphan <- Shop/r
        ConfigMap g <- Shop/c!",
        "Shop/r",
        Foreground,
        "Shop/r Deleted, Shop/c Deleted, ConfigMap/g Deleted/Orphaned",
    ),
    (
        "M15 two dying owners, one of which orphans",
        "
        Shop r
        Shop a fin=orphan <- Shop/r!
        Shop b <- Shop/r!
        ConfigMap c <- Shop/a! Shop/b!",
        "Shop/r",
        Background,
        "Shop/r Deleted, Shop/a Deleted, Shop/b Deleted, ConfigMap/c Deleted/Orphaned",
    ),
    (
        "two owners deleted at once are no such case",
        "
        Shop a
        Shop b
        ConfigMap c <- Shop/a! Shop/b!",
        "Shop/a Shop/b",
        Background,
        "Shop/a Deleted, Shop/b Deleted, ConfigMap/c Deleted",
    ),
    (
        "two owners orphaned at once are none either",
        "
        Shop a
        Shop b
        ConfigMap c <- Shop/a! Shop/b!",
        "Shop/a Shop/b",
        Orphan,
        "Shop/a Deleted, Shop/b Deleted, ConfigMap/c Orphaned",
    ),
    (
        "R4.11 two references of one uid, looked up one after the other",
        "
        Shop a
        Secret k
        ConfigMap c <- Shop/a Shop/a@version=acme.io/v1alpha1 Secret/k",
        "Secret/k Shop/a",
        Background,
        "Shop/a Deleted, Secret/k Deleted, ConfigMap/c Deleted/Orphaned",
    ),
    (
        "R3.22 a forgotten owner: its examination is over before the strip",
        "
        Shop root
        Shop other
        ConfigMap stays <- Shop/root! Shop/root Shop/other",
        "Shop/root",
        Foreground,
        "Shop/root Terminating(foregroundDeletion)/Deleted, ConfigMap/stays Detached",
    ),
    (
        "R3.22 and another blocker, whose going may come late enough",
        "
        Shop root
        Shop other
        ConfigMap goes <- Shop/root! Shop/root
        ConfigMap stays <- Shop/root! Shop/root Shop/other",
        "Shop/root",
        Foreground,
        "Shop/root Terminating(foregroundDeletion)/Deleted, ConfigMap/goes Deleted, ConfigMap/stays Detached",
    ),
    (
        "R3.10, R4.9 an unblock that the collector doesn't see, because the last of two references of one uid is as \
            before",
        "
        Shop root
        ConfigMap b <- Shop/root! Shop/root~
        Secret c T=0 fin=foregroundDeletion <- ConfigMap/b!
        Pod d <- Secret/c! Shop/gone@version=acme.io/v9",
        "Shop/root",
        Foreground,
        "Shop/root Terminating(foregroundDeletion), ConfigMap/b Terminating(foregroundDeletion)",
    ),
    (
        "R5.11, G3 a collector may remember that a terminating object was once foreground-deleted, and suspect a cycle",
        "
        Shop a
        ConfigMap b <- Shop/a!
        Secret c T=0 fin=acme.io/x <- ConfigMap/b!",
        "Shop/a",
        Foreground,
        "Shop/a Terminating(foregroundDeletion)/Deleted, ConfigMap/b \
            Terminating(foregroundDeletion)/Deleted/Terminating",
    ),
    (
        "R4.3, R4.12, R8.13, R11.1 a member of a cycle is unblocked, and then deleted: two steps",
        "
        Shop a <- Secret/c!
        ConfigMap b <- Shop/a!
        Secret c fin=orphan <- ConfigMap/b!
        ConfigMap d <- Secret/c",
        "Shop/a",
        Foreground,
        "Shop/a Deleted, ConfigMap/b Deleted, Secret/c Deleted, ConfigMap/d Orphaned/Deleted",
    ),
    (
        "R9.9 a namespace's resources are deleted in any order: what stays may lose a reference before it is its own \
            turn",
        "
        Namespace ns
        Secret s
        ConfigMap c
        Shop h fin=acme.io/x <- Secret/s ConfigMap/c",
        "Namespace/ns",
        Background,
        "Namespace/ns Terminating(), Secret/s Deleted, ConfigMap/c Deleted, Shop/h \
            Terminating(acme.io/x)/Terminating/Terminating",
    ),
    (
        "R9.9 what goes in any order goes",
        "
        Namespace ns
        Secret s
        ConfigMap c fin=orphan <- Secret/s!
        Shop h fin=foregroundDeletion <- Secret/s ConfigMap/c!",
        "Namespace/ns",
        Background,
        "Namespace/ns Deleted, Secret/s Deleted, ConfigMap/c Deleted, Shop/h Deleted",
    ),
    (
        "R1.26 instances are deleted one after the other, by name; the collector may be quick or slow",
        "
        CustomResourceDefinition Shop
        Shop a
        Shop b
        Shop h fin=acme.io/x <- Shop/a Shop/b",
        "CustomResourceDefinition/Shop",
        Background,
        "CustomResourceDefinition/Shop Terminating(customresourcecleanup.apiextensions.k8s.io), Shop/a Deleted, Shop/b \
            Deleted, \
         Shop/h Terminating(acme.io/x)/Terminating",
    ),
];

#[test]
fn every_order_has_its_end() {
    let wrong: Vec<String> = ROWS
        .iter()
        .filter_map(|(rule, graph, targets, propagation, expected)| {
            let describe = Scene::new(graph).tell_orders(targets, *propagation);
            (describe != *expected).then(|| format!("{rule}\n  expected {expected}\n  but got  {describe}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}

/// Each of four objects keeps a reference or loses it, whatever the others do: all sixteen ends are found, and no two
/// are taken for the same because they differ in equally many objects.
#[test]
fn objects_that_end_independently_end_in_every_combination() {
    // Other objects before them change their numbers in the snapshot.
    for others in 0..12 {
        let mut graph: String = (0..others).map(|number| format!("Secret s{number}\n")).collect();
        graph += "Shop root T fin=acme.io/hold\nShop other\n";
        for number in 0..4 {
            graph += &format!("ConfigMap c{number} <- Shop/other Shop/root\n");
        }
        let scene = Scene::new(&graph);
        let owners = OwnerGraph::new(&scene.snapshot);
        let context = SimContext::new(&scene.snapshot, &owners, Assume::Known);
        let plan = explore(&context, &Request::delete(vec![scene.id("Shop/root")], Foreground));
        let ends: BTreeSet<Vec<OutcomeKind>> =
            plan.ends[0].iter().map(|end| end.iter().map(|(_, outcome)| outcome.kind).collect()).collect();
        assert_eq!((plan.ends.len(), ends.len()), (1, 16), "{others} others: {ends:?}");
    }
}

/// Several thousand dependents that each name their owner in two references (R4.11): there are too many orders to try,
/// and none of the tried ones ends differently.
#[test]
fn what_could_not_be_searched_is_not_called_certain() {
    let mut graph = String::from("Shop a\nSecret tame <- Shop/a!\n");
    for number in 0..6_000 {
        graph += &format!("ConfigMap c{number} <- Shop/a! Shop/a\n");
    }
    let describe = Scene::new(&graph).tell_orders("Shop/a", Background);
    assert!(
        describe.starts_with("Shop/a Deleted, Secret/tame Deleted, ConfigMap/c0 Deleted?, ConfigMap/c1 Deleted?"),
        "{}",
        &describe[..200]
    );
    assert_eq!(describe.matches("Deleted?").count(), 6_000);
    assert_eq!(describe.matches("Deleted").count(), 6_002, "what is not in question is certain");
}
