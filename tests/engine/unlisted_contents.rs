//! What deleting a Namespace removes in addition to the objects that the plan names (R9.9, R9.10).

use gc_core::{
    graph::OwnerGraph,
    plan::unlisted_contents,
    simulate::{Assume, SimContext},
};

use crate::scene::Scene;

/// `Namespace: unlisted; untilGone: resource×count`, for each Namespace.
fn describe(graph: &str, targets: &str) -> Vec<String> {
    let scene = Scene::new(graph);
    let snapshot = &scene.snapshot;
    let plan = scene.plan(&format!("delete Background {targets}"));
    let graph = OwnerGraph::new(snapshot);
    let unlisted_contents = unlisted_contents(&SimContext::new(snapshot, &graph, Assume::Known), &plan);
    let name = |resource| snapshot.resources.get(resource).full_name();
    let tell = |of: &gc_core::plan::UnlistedContents| {
        let unlisted: Vec<String> = of.unlisted.iter().map(|unlisted| name(unlisted.resource)).collect();
        let pods: Vec<String> = of.pods.iter().map(|pod| snapshot.short_name(*pod)).collect();
        let spared: Vec<String> =
            of.spared.iter().map(|(resource, count)| format!("{}×{count}", name(*resource))).collect();
        format!(
            "{}: {}; {}: {}",
            snapshot.short_name(of.namespace),
            unlisted.join(" "),
            pods.join(" "),
            spared.join(" ")
        )
    };
    unlisted_contents.iter().map(tell).collect()
}

#[test]
fn events_go_and_what_can_be_neither_listed_nor_deleted_at_once_does_not() {
    // The scene serves both groups of events, which share one storage, and `Hidden`, which can only be deleted by name.
    assert_eq!(describe("Namespace ns", "Namespace/ns"), ["Namespace/ns: sealed.odd.io events; : "]);
    assert!(describe("Shop a", "Shop/a").is_empty(), "nothing else reaches that far");
}

#[test]
fn a_pod_that_stays_spares_what_is_not_a_pod() {
    let graph = "
        Namespace ns
        Namespace elsewhere
        Pod held fin=acme.io/x
        Pod goes
        ConfigMap a
        ConfigMap b
        ConfigMap dying T=0 fin=acme.io/x
        Secret s
        Secret elsewhere:t";
    assert_eq!(
        describe(graph, "Namespace/ns"),
        ["Namespace/ns: sealed.odd.io events; Pod/held: configmaps×2 secrets×1"]
    );
    assert_eq!(describe(graph, "Namespace/elsewhere"), ["Namespace/elsewhere: sealed.odd.io events; : "]);
}
