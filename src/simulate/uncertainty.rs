//! Which outcomes depend on something that could not be read.

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

/// Every object whose outcome depends on something that could not be read: objects whose examination was aborted, their
/// dependents, whatever waits for them, and the Namespace or CRD that they block.
pub(crate) fn uncertain_objects(world: &World<'_, '_>, blockers: &Blockers) -> FxHashSet<ObjectId> {
    let mut open: Vec<ObjectId> = world.doubtful.iter().chain(&world.needs.facts).copied().collect();
    if world.context.snapshot.may_hide_dependents() {
        open.extend(affected_by_hidden_dependents(world));
    }
    with_all_affected(world, blockers, open)
}

/// These objects, and all objects whose outcomes depend on theirs.
pub(crate) fn with_all_affected(
    world: &World<'_, '_>,
    blockers: &Blockers,
    mut open: Vec<ObjectId>,
) -> FxHashSet<ObjectId> {
    let mut found: FxHashSet<ObjectId> = FxHashSet::default();
    if open.is_empty() {
        return found;
    }
    let links = Links::of(world);
    while let Some(object) = open.pop() {
        if found.insert(object) {
            open.extend(blockers.waited_for_by(object));
            links.follow(world, object, &mut open);
        }
    }
    found
}

/// Objects that hidden dependents could affect: a failed list may hide dependents that block owners, turn a delete into
/// a foreground one, or block a Namespace or CRD.
fn affected_by_hidden_dependents(world: &World<'_, '_>) -> Vec<ObjectId> {
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

/// The links along which uncertainty spreads.
struct Links {
    touched: FxHashSet<ObjectId>,
    /// Objects that waited for their dependents at any time.
    waited: FxHashSet<ObjectId>,
    /// The deleted Namespaces, by name.
    namespaces: FxHashMap<Symbol, ObjectId>,
    emptied_by: FxHashMap<ObjectId, ObjectId>,
    /// What controllers delete because an object goes.
    follow_ups: FxHashMap<ObjectId, Vec<ObjectId>>,
}

impl Links {
    fn of(world: &World<'_, '_>) -> Self {
        let mut links = Links {
            touched: world.touched().into_iter().collect(),
            waited: FxHashSet::default(),
            namespaces: FxHashMap::default(),
            emptied_by: FxHashMap::default(),
            follow_ups: FxHashMap::default(),
        };
        for change in &world.log {
            let first = match change.cause {
                Cause::JobFailed { pod, .. } => Some(pod),
                ref cause => cause.gone(),
            };
            if let Some(first) = first {
                links.follow_ups.entry(first).or_default().push(change.object);
            }
            match change.cause {
                Cause::Collector(Reason::DependentsGone) => {
                    links.waited.insert(change.object);
                }
                Cause::Namespace(above) | Cause::Definition(above) => {
                    links.emptied_by.insert(change.object, above);
                    if world.context.rules(above).own_delete == crate::server::OwnDelete::Namespace {
                        links.namespaces.insert(world.context.snapshot.object(above).name, above);
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
        let context = world.context;
        let found = context.snapshot.object(object);
        // Down: its dependents, deleted in the simulation or not.
        open.extend(context.graph.dependents(NodeId::from(object)));
        open.extend(self.follow_ups.get(&object).into_iter().flatten());
        // Up: owners that it blocked.
        let blocked = found
            .owners
            .iter()
            .filter(|reference| reference.blocks())
            .filter_map(|reference| context.graph.by_uid(reference.uid));
        open.extend(
            blocked.filter_map(|owner| context.graph.object(owner)).filter(|owner| self.waited.contains(owner)),
        );
        // Sideways: a namespace's pods are deleted first, so the rest of its contents waits for them (R9.10).
        open.extend(self.emptied_by.get(&object));
        if let Some(namespace) = self.namespaces.get(&found.namespace) {
            open.push(*namespace);
            if context.rules(object).graceful {
                open.extend(context.in_namespace(found.namespace).iter().filter(|other| self.touched.contains(other)));
            }
        }
    }
}
