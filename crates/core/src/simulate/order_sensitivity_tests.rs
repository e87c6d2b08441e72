use super::{Assume, InitialListOrder, Request, SimContext, begin, order_sensitivity::order_sensitive};
use crate::{
    server::Propagation,
    tree::fixture::{World, terminating},
};

/// An object that the delete can't affect is certain, however odd it is.
#[test]
fn what_is_out_of_reach_is_certain() {
    let mut world = World::empty();
    let target = world.add("shop", "Deployment/web", &[]);
    world.add("shop", "Shop/a", &["Shop/b"]);
    world.add_with("shop", "Shop/b", vec![crate::tree::fixture::owner("Shop/a")], terminating(&["orphan"]));
    let (snapshot, graph) = world.build();
    let context = SimContext::new(&snapshot, &graph, Assume::None);
    let request = Request::delete(vec![target], Propagation::Foreground);
    let (mut world, refused) = begin(&context, &request, InitialListOrder::default());
    assert!(refused.is_empty());
    world.settle();
    assert_eq!(order_sensitive(&world, &request), []);
}
