//! Everything that is gone after a delete, whether because of it or anyway, and whether at once or once a finalizer is
//! removed.

use kubectl_gc::{
    graph::OwnerGraph,
    model::Gap,
    plan::{explore, removed},
    server::Propagation::{self, Background, Foreground, Orphan},
    simulate::{Assume, Request, SimContext, Start},
};

use crate::scene::Scene;

fn describe(graph: &str, targets: &str, propagation: Propagation) -> String {
    let scene = Scene::new(graph);
    let owners = OwnerGraph::new(&scene.snapshot);
    let stage = SimContext::new(&scene.snapshot, &owners, Assume::Known);
    let targets = targets.split_whitespace().map(|target| scene.id(target)).collect();
    let plan = explore(&stage, &Request::delete(targets, propagation));
    let names: Vec<String> = removed(&stage, &plan).into_iter().map(|id| scene.snapshot.short_name(id)).collect();
    names.join(" ")
}

const CHAIN: &str = "
    Deployment web
    ReplicaSet rs <- Deployment/web!
    Pod a <- ReplicaSet/rs!
    ConfigMap other";

#[test]
fn what_a_plan_removes_is_removed() {
    for propagation in [Background, Foreground] {
        assert_eq!(describe(CHAIN, "Deployment/web", propagation), "Deployment/web ReplicaSet/rs Pod/a");
    }
    assert_eq!(describe(CHAIN, "Deployment/web", Orphan), "Deployment/web", "what is freed stays");
    assert_eq!(describe(CHAIN, "ConfigMap/other Pod/a", Background), "Pod/a ConfigMap/other");
}

/// An object that disappears even without the delete has no outcome in a plan.
#[test]
fn what_was_terminating_before_is_removed_with_all_beneath() {
    let waiting = "
        Shop main T fin=foregroundDeletion
        ConfigMap held T fin=acme.io/x <- Shop/main!
        ConfigMap goes T fin=foregroundDeletion <- Shop/main!
        ConfigMap below fin=acme.io/x T <- ConfigMap/goes!
        ConfigMap free <- Shop/main
        ConfigMap shared <- Shop/main Shop/other
        Shop other";
    let scene = Scene::new(waiting);
    assert_eq!(scene.tell("Shop/main", Foreground), "", "to a plan all of this goes anyway");
    let all = "Shop/main ConfigMap/held ConfigMap/goes ConfigMap/below ConfigMap/free";
    assert_eq!(describe(waiting, "Shop/main", Foreground), all);
    assert_eq!(describe(waiting, "Shop/main", Background), all);
    assert_eq!(
        describe(waiting, "ConfigMap/goes", Background),
        "ConfigMap/goes ConfigMap/below",
        "never what is above"
    );
}

#[test]
fn what_is_held_goes_once_it_is_released() {
    let held = "
        Deployment web
        ReplicaSet rs fin=acme.io/x <- Deployment/web!
        Pod a node=gone fin=acme.io/y <- ReplicaSet/rs!
        ConfigMap a <- Pod/a
        ConfigMap later <- Deployment/web";
    let all = "Deployment/web ReplicaSet/rs Pod/a ConfigMap/a ConfigMap/later";
    assert_eq!(describe(held, "Deployment/web", Foreground), all);
    assert_eq!(describe(held, "Deployment/web", Background), all);
    assert_eq!(describe(held, "Deployment/web", Orphan), "Deployment/web");
}

#[test]
fn circles_that_wait_for_each_other_take_their_dependents_with_them() {
    let circle = "
        ConfigMap a <- ConfigMap/b!
        ConfigMap b <- ConfigMap/a!
        ConfigMap leaf <- ConfigMap/b";
    assert_eq!(describe(circle, "ConfigMap/a", Foreground), "ConfigMap/a ConfigMap/b ConfigMap/leaf");
    let waiting = "
        ConfigMap a T fin=foregroundDeletion <- ConfigMap/b!
        ConfigMap b T fin=foregroundDeletion <- ConfigMap/a!
        ConfigMap leaf <- ConfigMap/b";
    assert_eq!(describe(waiting, "ConfigMap/a", Foreground), "ConfigMap/a ConfigMap/b ConfigMap/leaf");
}

#[test]
fn other_ends_count_too() {
    let scene = Scene::new(
        "
        Shop a T=0 fin=orphan
        ConfigMap b <- Shop/a!",
    );
    let owners = OwnerGraph::new(&scene.snapshot);
    let stage = SimContext::new(&scene.snapshot, &owners, Assume::Known);
    let plan = explore(&stage, &Request::only_collect(Start::Restarted));
    assert_eq!(scene.describe(&plan), "Shop/a Deleted, ConfigMap/b Orphaned/Deleted");
    assert_eq!(removed(&stage, &plan), [scene.id("Shop/a"), scene.id("ConfigMap/b")]);
}

#[test]
fn what_another_owner_holds_stays() {
    let scene = "
        Shop a
        Shop b
        ConfigMap c <- Shop/a! Shop/b!
        ConfigMap d <- ConfigMap/c!";
    assert_eq!(describe(scene, "Shop/a", Background), "Shop/a");
    assert_eq!(describe(scene, "Shop/a Shop/b", Background), "Shop/a Shop/b ConfigMap/c ConfigMap/d");
}

#[test]
fn what_something_unknown_may_remove_is_kept_rather_than_lost() {
    let unread = "
        unread Secret
        Shop a
        ConfigMap c <- Shop/a Secret/s@name=s";
    assert_eq!(describe(unread, "Shop/a", Background), "Shop/a ConfigMap/c");
}

#[test]
fn a_namespace_takes_its_content_and_a_definition_its_instances() {
    let namespace = "
        Namespace ns
        Pod held fin=acme.io/x
        ConfigMap a
        ConfigMap dying T fin=acme.io/x
        ConfigMap elsewhere:b";
    assert_eq!(describe(namespace, "Namespace/ns", Background), "Namespace/ns Pod/held ConfigMap/a ConfigMap/dying");
    let terminating = namespace.replace("Namespace ns", "Namespace ns T");
    assert_eq!(describe(&terminating, "Namespace/ns", Background), "Namespace/ns Pod/held ConfigMap/a ConfigMap/dying");
    let definition = "
        CustomResourceDefinition Shop T fin=customresourcecleanup.apiextensions.k8s.io
        Shop a T fin=acme.io/x
        ConfigMap below <- Shop/a
        ConfigMap other";
    for graph in [definition.to_owned(), definition.replace(" T fin=customresourcecleanup.apiextensions.k8s.io", "")] {
        let all = "CustomResourceDefinition/Shop Shop/a ConfigMap/below";
        assert_eq!(describe(&graph, "CustomResourceDefinition/Shop", Background), all);
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
