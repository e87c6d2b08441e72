//! What goes and has no outcome: contents of a deleted Namespace that are never listed, or that stay only as long as a
//! pod does (R9.9, R9.10); and everything that may be gone once the delete is over, which an archive has to contain.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, ResourceId, Resources, Symbol},
    server::{DeleteOptions, OwnDelete},
    simulate::{Cause, InitialListOrder, SimContext, World, begin},
};

use super::outcome::{OutcomeKind, Plan};

/// Contents of one deleted Namespace without an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedContents {
    pub namespace: ObjectId,
    /// Resources that are deleted although they are never listed.
    pub unlisted: Vec<Unlisted>,
    /// The pods that must be gone before anything else is deleted.
    pub pods: Vec<ObjectId>,
    /// How many objects of which resources stay until then.
    pub spared: Vec<(ResourceId, usize)>,
}

/// Objects of one resource that the collector doesn't watch: it knows neither owners nor dependents of them, but the
/// namespace controller deletes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlisted {
    pub resource: ResourceId,
    /// How many, if counted.
    pub count: Option<u64>,
}

/// The unlisted contents of the Namespaces that a plan deletes.
pub fn unlisted_contents(context: &SimContext<'_>, plan: &Plan) -> Vec<UnlistedContents> {
    let deleted = deleted(plan);
    namespaces(context, plan).map(|namespace| of_namespace(context, namespace, &deleted)).collect()
}

/// Contents of these Namespaces that stay only as long as a pod does, and that the plan doesn't touch otherwise.
pub(super) fn spared_objects(context: &SimContext<'_>, plan: &Plan) -> Vec<ObjectId> {
    let deleted = deleted(plan);
    let spared = namespaces(context, plan).flat_map(|namespace| left_in(context, namespace, &deleted).1);
    let may_be_removed: FxHashSet<ObjectId> =
        plan.outcomes.iter().filter(|outcome| outcome.may_be_removed()).map(|outcome| outcome.object).collect();
    spared.filter(|object| !may_be_removed.contains(object)).collect()
}

fn namespaces<'p>(context: &'p SimContext<'_>, plan: &'p Plan) -> impl Iterator<Item = ObjectId> + 'p {
    let removed = plan.outcomes.iter().filter(|outcome| outcome.may_be_removed()).map(|outcome| outcome.object);
    removed.filter(|id| context.rules(*id).own_delete == OwnDelete::Namespace)
}

fn deleted(plan: &Plan) -> FxHashSet<ObjectId> {
    let deleted = plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
    deleted.map(|outcome| outcome.object).collect()
}

/// The pods that a Namespace still has, and the objects that stay only because of them.
fn left_in(
    context: &SimContext<'_>,
    namespace: ObjectId,
    deleted: &FxHashSet<ObjectId>,
) -> (Vec<ObjectId>, Vec<ObjectId>) {
    let snapshot = context.snapshot;
    let left = context.in_namespace(snapshot.object(namespace).name).iter().copied().filter(|id| !deleted.contains(id));
    let (pods, mut others): (Vec<ObjectId>, Vec<ObjectId>) = left.partition(|id| context.rules(*id).graceful);
    // Without pods everything is deleted, and what is left has an outcome of its own.
    others.retain(|id| !pods.is_empty() && !snapshot.object(*id).terminating());
    (pods, others)
}

fn of_namespace(context: &SimContext<'_>, namespace: ObjectId, deleted: &FxHashSet<ObjectId>) -> UnlistedContents {
    let snapshot = context.snapshot;
    let (pods, others) = left_in(context, namespace, deleted);
    let mut spared: BTreeMap<ResourceId, usize> = BTreeMap::new();
    for object in others {
        *spared.entry(snapshot.object(object).resource).or_default() += 1;
    }
    let unlisted = unlisted(&snapshot.resources).map(|resource| Unlisted { resource, count: None });
    UnlistedContents { namespace, unlisted: unlisted.collect(), pods, spared: spared.into_iter().collect() }
}

/// Resources that the namespace controller deletes and the collector doesn't watch (R2.2, R2.3, R9.9): they support
/// deletecollection, or delete and list.
pub fn unlisted(resources: &Resources) -> impl Iterator<Item = ResourceId> {
    let events = |group: &str| resources.by_group_plural(group, "events");
    // Both groups of events share their storage.
    let duplicate = events("").and_then(|_| events("events.k8s.io"));
    let is_deleted = move |id: ResourceId| {
        let resource = resources.get(id);
        let deleted =
            resource.has_verb("delete") && (resource.has_verb("deletecollection") || resource.has_verb("list"));
        resource.namespaced
            && deleted
            && resources.picked(id) == id
            && resources.not_watched(id).is_some()
            && duplicate != Some(id)
    };
    resources.iter().map(|(id, _)| id).filter(move |id| is_deleted(*id))
}

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
