use super::{Assume, InitialListOrder, Parts, Request, SimContext, Start, begin};
use crate::{
    model::{ObjectId, RawReference},
    tree::fixture::{World, owner},
};

/// Whether the two objects of each pair are in one part.
fn together(world: World, pairs: &[(ObjectId, ObjectId)]) -> Vec<bool> {
    let (snapshot, graph) = world.build();
    let context = SimContext::new(&snapshot, &graph, Assume::None);
    let (world, _) = begin(&context, &Request::only_collect(Start::Sweep), InitialListOrder::default());
    let parts = Parts::at_end_of(&world);
    pairs.iter().map(|(one, other)| parts.of(*one) == parts.of(*other)).collect()
}

#[test]
fn families_are_parts_of_their_own() {
    let mut world = World::empty();
    let web = world.add("shop", "Deployment/web", &[]);
    let set = world.add("shop", "ReplicaSet/web", &["Deployment/web"]);
    let pod = world.add("shop", "Pod/web", &["ReplicaSet/web"]);
    let api = world.add("shop", "Deployment/api", &[]);
    let lost = world.add("shop", "Pod/lost", &["ReplicaSet/gone"]);
    let same = world.add("shop", "Pod/lost-too", &["ReplicaSet/gone"]);
    let pairs = [(web, pod), (set, pod), (web, api), (api, lost), (lost, same)];
    // Dependents of the same missing owner are connected: the collector has one node for it.
    assert_eq!(together(world, &pairs), [true, true, false, false, true]);
}

/// References are looked up by coordinates: the object with that name decides what happens to the dependent.
#[test]
fn a_namesake_belongs_to_the_part() {
    let mut world = World::empty();
    let namesake = world.add("shop", "Shop/a", &[]);
    let stale = RawReference { uid: "older".into(), ..owner("Shop/a") };
    let holder = world.add_with("shop", "ConfigMap/stale", vec![stale], |_| {});
    assert_eq!(together(world, &[(namesake, holder)]), [true]);
}
