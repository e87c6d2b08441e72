//! Everything that may be gone once the delete is over: what an archive has to contain.
//!
//! A plan lists only what the delete changes, and it ends where something is stuck. But a stuck object is deleted as
//! soon as its finalizers are removed, and its dependents follow.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Symbol},
    server::DeleteOptions,
};

use crate::simulate::{Cause, InitialListOrder, SimContext, World, begin};

use super::outcome::Plan;

/// Every object that is gone once the delete is over and no finalizer blocks anything any more, in snapshot order: the
/// targets, everything deleted in any outcome of the plan, everything that may be deleted because of gaps, and what is
/// already terminating beneath one of these. What is terminating elsewhere isn't deleted by this delete, even
/// if it goes on meanwhile.
pub fn removed(context: &SimContext<'_>, plan: &Plan) -> Vec<ObjectId> {
    let known: BTreeSet<ObjectId> = plan.request.targets.iter().copied().chain(plan.going()).collect();
    let (mut world, _) = begin(context, &plan.request, InitialListOrder::default());
    world.settle();
    loop {
        let all = with_terminating_descendants(&world, &known);
        if world.out_of_bounds || !release_all(&mut world, &all) {
            return all.into_iter().collect();
        }
        world.settle();
    }
}

/// These objects, everything that they have removed or made terminating by now, and everything terminating beneath any
/// of them.
fn with_terminating_descendants(world: &World<'_, '_>, known: &BTreeSet<ObjectId>) -> BTreeSet<ObjectId> {
    let context = world.context;
    let is_going = |object: ObjectId| world.stored(object).is_none_or(|stored| stored.terminating);
    let was_terminating = |object: ObjectId| context.snapshot.object(object).terminating();
    let mut all: BTreeSet<ObjectId> = BTreeSet::new();
    let add_beneath = |all: &mut BTreeSet<ObjectId>, mut open: Vec<ObjectId>| {
        while let Some(object) = open.pop() {
            if all.insert(object) {
                let beneath = context.graph.dependents(object.into()).iter().chain(context.contents(object));
                open.extend(beneath.copied().filter(|descendant| is_going(*descendant)));
            }
        }
    };
    add_beneath(&mut all, known.iter().copied().collect());
    let mut elsewhere: FxHashSet<ObjectId> = FxHashSet::default();
    for change in &world.log {
        let object = change.object;
        let owners = context.snapshot.object(object).owners.iter().map(|reference| reference.uid);
        let owners = owners.filter_map(|uid| context.snapshot.by_uid(uid));
        let mut above = change.cause.above().into_iter().chain(owners);
        if was_terminating(object) && !all.contains(&object) || above.any(|above| elsewhere.contains(&above)) {
            elsewhere.insert(object);
        } else if is_going(object) {
            add_beneath(&mut all, vec![object]);
        }
    }
    all
}

/// Lets every controller remove its finalizer from the terminating objects, and every kubelet confirm that its pods
/// have ended. Only if that changes nothing, objects stop waiting for their dependents. Returns whether anything
/// changed.
fn release_all(world: &mut World<'_, '_>, objects: &BTreeSet<ObjectId>) -> bool {
    let before = world.log.len();
    let terminating: Vec<ObjectId> = objects
        .iter()
        .copied()
        .filter(|object| world.stored(*object).is_some_and(|stored| stored.terminating))
        .collect();
    for object in &terminating {
        let finalizers = world.stored(*object).map(|stored| stored.finalizers.into_owned()).unwrap_or_default();
        let of_others: Vec<Symbol> = finalizers.into_iter().filter(|finalizer| !is_simulated(*finalizer)).collect();
        world.remove_finalizers(*object, &of_others);
        if world.context.rules(*object).graceful && world.exists(*object) {
            world.delete(*object, &DeleteOptions { grace: Some(0), ..DeleteOptions::default() }, Cause::Requested);
        }
    }
    if world.log.len() == before {
        for object in terminating {
            world.remove_finalizer(object, Symbol::FOREGROUND);
        }
    }
    world.log.len() != before
}

/// Whether the simulation itself removes this finalizer, once its work is done.
fn is_simulated(finalizer: Symbol) -> bool {
    [Symbol::FOREGROUND, Symbol::ORPHAN, Symbol::DEFINITION].contains(&finalizer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        server::Propagation::Background,
        simulate::{Assume, Request},
        tree::fixture,
    };

    /// All but the last go in one write, however many they are.
    #[test]
    fn many_finalizers_take_two_writes() {
        let mut objects = fixture::World::empty();
        let target = objects.add_with("shop", "ConfigMap/a", Vec::new(), |raw| {
            raw.finalizers = (0..5_000).map(|number| format!("acme.io/f{number}").into()).collect();
        });
        let (snapshot, graph) = objects.build();
        let context = SimContext::new(&snapshot, &graph, Assume::Known);
        let (mut world, _) = begin(&context, &Request::delete(vec![target], Background), InitialListOrder::default());
        world.settle();
        let before = world.log.len();
        assert!(release_all(&mut world, &BTreeSet::from([target])));
        assert_eq!(world.log.len() - before, 2, "writes");
        assert!(!world.exists(target));
    }
}
