use super::{Assume, InitialListOrder, Request, SimContext, begin, order_sensitivity::order_sensitive};
use crate::{
    model::ObjectId,
    server::Propagation::{self, Background, Foreground, Orphan},
    tree::fixture::{World, terminating},
};

/// The objects whose outcome may depend on the event order when this one is deleted.
fn sensitive(world: World, target: ObjectId, propagation: Propagation) -> Vec<ObjectId> {
    let (snapshot, graph) = world.build();
    let context = SimContext::new(&snapshot, &graph, Assume::None);
    let request = Request::delete(vec![target], propagation);
    let (mut world, refused) = begin(&context, &request, InitialListOrder::default());
    assert!(refused.is_empty());
    world.settle();
    order_sensitive(&world, &request)
}

#[test]
fn a_chain_ends_in_one_way_under_each_policy() {
    for propagation in [Background, Foreground, Orphan] {
        let mut world = World::empty();
        let target = world.add("shop", "Deployment/web", &[]);
        world.add("shop", "ReplicaSet/web", &["Deployment/web"]);
        world.add("shop", "Pod/web", &["ReplicaSet/web"]);
        assert_eq!(sensitive(world, target, propagation), [], "{propagation:?}");
    }
}

/// R5.10: in a cycle, the outcome depends on which member is examined first.
#[test]
fn a_circle_that_waits_for_itself_depends_on_the_order() {
    let mut world = World::empty();
    let target = world.add("shop", "Shop/a", &["ConfigMap/b"]);
    let other = world.add("shop", "ConfigMap/b", &["Shop/a"]);
    let sensitive = sensitive(world, target, Foreground);
    assert!(sensitive.contains(&other), "{sensitive:?}");
}

/// M2: a dependent that orphans its own dependents can be examined before or after they are orphaned.
#[test]
fn what_is_below_an_orphaning_dependent_depends_on_the_order() {
    let mut world = World::empty();
    let target = world.add("shop", "Shop/a", &[]);
    let orphans = |raw: &mut crate::model::RawObject<'_>| raw.finalizers = vec!["orphan".into()];
    world.add_with("shop", "ConfigMap/b", vec![crate::tree::fixture::owner("Shop/a")], orphans);
    let below = world.add("shop", "Secret/c", &["ConfigMap/b"]);
    assert!(sensitive(world, target, Background).contains(&below));
}

/// An object that the delete can't affect is certain, however odd it is.
#[test]
fn what_is_out_of_reach_is_certain() {
    let mut world = World::empty();
    let target = world.add("shop", "Deployment/web", &[]);
    world.add("shop", "Shop/a", &["Shop/b"]);
    world.add_with("shop", "Shop/b", vec![crate::tree::fixture::owner("Shop/a")], terminating(&["orphan"]));
    assert_eq!(sensitive(world, target, Foreground), []);
}
