//! What may be gone after a delete without being known: it is in a list that could not be read. What is known is in
//! `rows/removed.txt`.

use gc_core::{
    graph::OwnerGraph,
    model::Gap,
    plan::{explore, removed},
    server::Propagation,
    simulate::{Assume, Request, SimContext},
};

use crate::{
    scene::Scene,
    verdict::{dumped, id},
};

/// Once a pod goes, the claims of all namespaces are looked at again. One that was terminating before, and that nothing
/// keeps, isn't this delete's.
#[test]
fn what_was_terminating_elsewhere_is_not_removed_by_this_delete() {
    let claim =
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nspec: {}\nstatus: {}\nmetadata: {name: gpu, uid: gpu";
    let owner = "[{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, name: gpu, uid: gpu}]";
    let leaving = "deletionTimestamp: '2026-03-01T10:00:00Z', finalizers: [resource.kubernetes.io/delete-protection]";
    let objects = [
        "apiVersion: v1\nkind: Pod\nspec: {}\nmetadata: {name: train, uid: train, namespace: here}\n".to_owned(),
        format!("{claim}, namespace: elsewhere, {leaving}}}\n"),
        format!(
            "apiVersion: v1\nkind: ConfigMap\n\
             metadata: {{name: a, uid: a, namespace: elsewhere, ownerReferences: {owner}}}\n"
        ),
    ];
    let snapshot = dumped("elsewhere", &objects);
    let graph = OwnerGraph::new(&snapshot);
    let context = SimContext::new(&snapshot, &graph, Assume::Known);
    for (target, expected) in [("Pod/train", 1), ("ResourceClaim/gpu", 2)] {
        let plan = explore(&context, &Request::delete(vec![id(&snapshot, target)], Propagation::Background));
        assert_eq!(removed(&context, &plan).len(), expected, "{target}");
    }
}

#[test]
fn only_what_may_hold_dependents_may_hide_something() {
    let hides = |graph: &str, targets: &str| {
        let scene = Scene::new(graph);
        let targets: Vec<_> = targets.split_whitespace().map(|target| scene.id(target)).collect();
        let gaps = scene.snapshot.may_hide(&targets);
        gaps.iter().map(|gap| gap.resource.clone()).collect::<Vec<_>>().join(" ")
    };
    let unread = "
        unread Secret
        unread Region
        Shop a
        Bucket b
        Namespace ns";
    assert_eq!(hides(unread, "Shop/a"), "secrets", "what is in a namespace owns nothing outside");
    for owner in ["Bucket/b", "Namespace/ns", "Shop/a Bucket/b"] {
        assert_eq!(hides(unread, owner), "regions.acme.io secrets");
    }
    assert_eq!(hides(unread, ""), "");
    assert_eq!(hides("Shop a\nBucket b", "Shop/a Bucket/b"), "", "what the collector doesn't watch hides nothing");
    let mut scene = Scene::new("Shop a");
    let undiscovered = Gap { resource: "acme.io/v1".to_owned(), namespace: None, reason: "503".into() };
    let look_up =
        Gap { resource: "secrets".to_owned(), namespace: Some("ns".to_owned()), reason: "s: forbidden".into() };
    scene.snapshot.gaps = vec![undiscovered.clone(), look_up];
    assert_eq!(
        scene.snapshot.may_hide(&[scene.id("Shop/a")]),
        [undiscovered],
        "one object that can't be looked up hides none"
    );
}
