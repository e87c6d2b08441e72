//! All that a delete takes in the end: what has to be kept by whoever may want it back.
//!
//! A plan tells what the delete changes. It leaves out what would go without it, too, and it ends where something is
//! stuck. But what is terminating goes as soon as whatever holds it lets it go, and takes its dependents with it.

use std::collections::{BTreeSet, VecDeque};

use crate::{
    model::{Gap, ObjectId, ResourceId, Snapshot, Symbol},
    server::{DeleteOptions, OwnDelete},
};

use crate::simulate::{Cause, Lists, SimContext, World, begin};

use super::outcome::Plan;

/// Every object that is gone once the delete has come to its end and nothing holds anything any more, in the order of
/// the snapshot: the targets, what goes in any of the ends that the plan knows, what something unknown could remove,
/// and what is terminating already beneath one of these.
pub fn removed(stage: &SimContext<'_>, plan: &Plan) -> Vec<ObjectId> {
    let of_plan = plan.outcomes.iter().filter(|outcome| outcome.may_be_removed());
    let known: BTreeSet<ObjectId> =
        plan.request.targets.iter().copied().chain(of_plan.map(|outcome| outcome.object)).collect();
    let (mut world, _) = begin(stage, &plan.request, Lists::default());
    world.settle();
    loop {
        let all = with_what_goes_beneath(&world, &known);
        if world.out_of_bounds || !let_go(&mut world, &all) {
            return all.into_iter().collect();
        }
        world.settle();
    }
}

/// What could not be read and may hold dependents of what goes, or content of it, which would go as well. Dependents of
/// an object in a namespace are in that namespace.
pub fn may_hide(snapshot: &Snapshot, removed: &[ObjectId]) -> Vec<Gap> {
    let namespaces: BTreeSet<Symbol> = removed.iter().map(|object| snapshot.object(*object).namespace).collect();
    let any_of_the_cluster = namespaces.iter().any(|namespace| namespace.is_empty());
    let resources = &snapshot.resources;
    let hides = |id: ResourceId| {
        let elsewhere = any_of_the_cluster && !snapshot.covers(id, None);
        let is_read = |namespace: &Symbol| namespace.is_empty() || snapshot.covers(id, Some(*namespace));
        resources.not_watched(id).is_none()
            && (elsewhere || resources.get(id).namespaced && !namespaces.iter().all(is_read))
    };
    let hiding: BTreeSet<String> =
        resources.deletable().filter(|(id, _)| hides(*id)).map(|(_, resource)| resource.full_name()).collect();
    // A group version that could not be discovered may have anything in it.
    let undiscovered = |gap: &Gap| gap.is_undiscovered() && !measures_only(gap);
    let is_here = |gap: &Gap| {
        let here =
            |namespace: &String| namespaces.iter().any(|of_removed| snapshot.text(*of_removed) == namespace.as_str());
        any_of_the_cluster || gap.namespace.as_ref().is_none_or(here)
    };
    let hides = |gap: &Gap| hiding.contains(&gap.resource) && is_here(gap);
    let gaps = snapshot.gaps.iter().filter(|gap| undiscovered(gap) || hides(gap));
    gaps.filter(|_| !removed.is_empty()).cloned().collect()
}

/// Whether a group that could not be discovered is one of those that only measure: nothing in them can be deleted, and
/// their servers are those that are most often away.
pub fn measures_only(gap: &Gap) -> bool {
    let group = gap.resource.split('/').next().unwrap_or_default();
    ["metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"].contains(&group)
}

/// These, what has gone or is going by now, and what is going beneath any of them.
fn with_what_goes_beneath(world: &World<'_, '_>, known: &BTreeSet<ObjectId>) -> BTreeSet<ObjectId> {
    let stage = world.stage;
    let goes = |object: ObjectId| world.stored(object).is_none_or(|stored| stored.terminating);
    let mut all = known.clone();
    all.extend(world.touched().into_iter().filter(|object| goes(*object)));
    let mut queue: VecDeque<ObjectId> = all.iter().copied().collect();
    while let Some(object) = queue.pop_front() {
        let content = match stage.rules(object).own_delete {
            OwnDelete::Namespace => stage.in_namespace(stage.snapshot.object(object).name),
            OwnDelete::Definition => stage.instances(object).map_or(&[][..], |resource| stage.of_resource(resource)),
            _ => &[],
        };
        for beneath in stage.graph.dependents(object.into()).iter().chain(content) {
            if goes(*beneath) && all.insert(*beneath) {
                queue.push_back(*beneath);
            }
        }
    }
    all
}

/// Has everybody let go of what is terminating among these: controllers take their finalizers away, kubelets report
/// that pods have ended. Only where that frees nothing, what waits for its dependents stops waiting. Says whether
/// anything is otherwise than before.
fn let_go(world: &mut World<'_, '_>, objects: &BTreeSet<ObjectId>) -> bool {
    let before = world.log.len();
    let terminating: Vec<ObjectId> = objects
        .iter()
        .copied()
        .filter(|object| world.stored(*object).is_some_and(|stored| stored.terminating))
        .collect();
    for object in &terminating {
        let finalizers = world.stored(*object).map(|stored| stored.finalizers.into_owned()).unwrap_or_default();
        for finalizer in finalizers.into_iter().filter(|finalizer| !is_worked_off(*finalizer)) {
            world.release(*object, finalizer);
        }
        if world.stage.rules(*object).graceful && world.exists(*object) {
            world.delete(*object, &DeleteOptions { grace: Some(0), ..DeleteOptions::default() }, Cause::Requested);
        }
    }
    if world.log.len() == before {
        for object in terminating {
            world.release(object, Symbol::FOREGROUND);
        }
    }
    world.log.len() != before
}

/// Whether a finalizer stands for work that is played, and that decides what else goes.
fn is_worked_off(finalizer: Symbol) -> bool {
    [Symbol::FOREGROUND, Symbol::ORPHAN, Symbol::DEFINITION].contains(&finalizer)
}
