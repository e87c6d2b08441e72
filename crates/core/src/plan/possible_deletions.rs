//! Everything that may be gone once the delete is over: what an archive has to contain.
//!
//! A plan lists only what the delete changes, and it ends where something is stuck. But a stuck object is deleted as
//! soon as its finalizers are removed, and its dependents follow.

use std::collections::{BTreeSet, VecDeque};

use crate::{
    model::{ObjectId, Symbol},
    server::DeleteOptions,
};

use crate::simulate::{Cause, InitialListOrder, SimContext, World, begin};

use super::outcome::Plan;

/// Every object that is gone once the delete is over and no finalizer blocks anything any more, in snapshot order: the
/// targets, everything deleted in any outcome of the plan, everything that may be deleted because of gaps, and what is
/// already terminating beneath one of these.
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

/// These objects, everything removed or terminating by now, and everything terminating beneath any of them.
fn with_terminating_descendants(world: &World<'_, '_>, known: &BTreeSet<ObjectId>) -> BTreeSet<ObjectId> {
    let context = world.context;
    let is_going = |object: ObjectId| world.stored(object).is_none_or(|stored| stored.terminating);
    let mut all = known.clone();
    all.extend(world.touched().into_iter().filter(|object| is_going(*object)));
    let mut queue: VecDeque<ObjectId> = all.iter().copied().collect();
    while let Some(object) = queue.pop_front() {
        for descendant in context.graph.dependents(object.into()).iter().chain(context.contents(object)) {
            if is_going(*descendant) && all.insert(*descendant) {
                queue.push_back(*descendant);
            }
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
        for finalizer in finalizers.into_iter().filter(|finalizer| !is_simulated(*finalizer)) {
            world.remove_finalizer(*object, finalizer);
        }
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
