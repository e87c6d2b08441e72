//! What rests on something that could not be read.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    collector::Reason,
    graph::NodeId,
    model::{ObjectId, Symbol},
};

use super::{
    blockers::Blockers,
    cause::{Cause, Effect},
    world::World,
};

/// Every object whose end rests on something that could not be read: what an examination broke off at, what depends on
/// that, what waited or waits for it, and the namespace or definition that it held.
pub(crate) fn uncertain_objects(world: &World<'_, '_>, held: &Blockers) -> FxHashSet<ObjectId> {
    let mut open: Vec<ObjectId> = world.doubtful.iter().chain(&world.needs.facts).copied().collect();
    if world.stage.snapshot.may_hide_dependents() {
        open.extend(what_hidden_objects_decide(world));
    }
    all_that_rests_on(world, held, open)
}

/// These objects, and all whose ends rest on theirs.
pub(crate) fn all_that_rests_on(
    world: &World<'_, '_>,
    held: &Blockers,
    mut open: Vec<ObjectId>,
) -> FxHashSet<ObjectId> {
    let mut found: FxHashSet<ObjectId> = FxHashSet::default();
    if open.is_empty() {
        return found;
    }
    let links = Links::of(world);
    while let Some(object) = open.pop() {
        if found.insert(object) {
            open.extend(held.waited_for_by(object));
            links.follow(world, object, &mut open);
        }
    }
    found
}

/// Where a list failed, dependents may be hidden in it: they block owners, they turn a delete into a foreground one,
/// and they hold namespaces and definitions.
fn what_hidden_objects_decide(world: &World<'_, '_>) -> Vec<ObjectId> {
    let decided = world.log.iter().filter(|change| {
        matches!(
            change.cause,
            Cause::Collector(Reason::DependentsGone | Reason::OwnerWaits)
                | Cause::NamespaceEmpty
                | Cause::DefinitionEmpty
        )
    });
    let mut decided: Vec<ObjectId> = decided.map(|change| change.object).collect();
    decided.extend(
        world.touched().into_iter().filter(|object| {
            world.stored(*object).is_some_and(|stored| stored.waiting() || world.held_by_spec(*object))
        }),
    );
    decided
}

/// Along which doubt travels.
struct Links {
    touched: FxHashSet<ObjectId>,
    /// Objects that were waiting for their dependents at some time.
    waited: FxHashSet<ObjectId>,
    /// The Namespace of each name, and the definitions, that were deleted.
    namespaces: FxHashMap<Symbol, ObjectId>,
    emptied_by: FxHashMap<ObjectId, ObjectId>,
}

impl Links {
    fn of(world: &World<'_, '_>) -> Self {
        let mut links = Links {
            touched: world.touched().into_iter().collect(),
            waited: FxHashSet::default(),
            namespaces: FxHashMap::default(),
            emptied_by: FxHashMap::default(),
        };
        for change in &world.log {
            match change.cause {
                Cause::Collector(Reason::DependentsGone) => {
                    links.waited.insert(change.object);
                }
                Cause::Namespace(above) | Cause::Definition(above) => {
                    links.emptied_by.insert(change.object, above);
                    if world.stage.rules(above).own_delete == crate::server::OwnDelete::Namespace {
                        links.namespaces.insert(world.stage.snapshot.object(above).name, above);
                    }
                }
                _ if change.effect == Effect::Deleting
                    && world.stored(change.object).is_some_and(|stored| stored.waiting()) =>
                {
                    links.waited.insert(change.object);
                }
                _ => {}
            }
        }
        links
    }

    fn follow(&self, world: &World<'_, '_>, object: ObjectId, open: &mut Vec<ObjectId>) {
        let stage = world.stage;
        let found = stage.snapshot.object(object);
        // Down: what depends on it, whether it went in what was played or not.
        open.extend(stage.graph.dependents(NodeId::from(object)));
        // Up: owners that it blocked.
        let blocked = found
            .owners
            .iter()
            .filter(|reference| reference.blocks())
            .filter_map(|reference| stage.graph.by_uid(reference.uid));
        open.extend(blocked.filter_map(|owner| stage.graph.object(owner)).filter(|owner| self.waited.contains(owner)));
        // Around: a namespace's pods go first, so that all the rest of it waits for them (R9.10).
        open.extend(self.emptied_by.get(&object));
        if let Some(namespace) = self.namespaces.get(&found.namespace) {
            open.push(*namespace);
            if stage.rules(object).graceful {
                open.extend(stage.in_namespace(found.namespace).iter().filter(|other| self.touched.contains(other)));
            }
        }
    }
}
