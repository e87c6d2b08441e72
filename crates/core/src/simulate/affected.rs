//! Which outcomes depend on those of other objects: what is open at one is open at all that depend on it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    collector::Reason,
    graph::NodeId,
    model::{ObjectId, ResourceId, Symbol},
};

use super::{
    cause::{Cause, Effect},
    projection::Blockers,
    world::World,
};

/// These objects, and all objects whose outcomes depend on theirs, or on whether the last update of one of the
/// `updated` is refused: then it stays as it is, and whatever waits for it stays, too.
pub(crate) fn affected_by(
    world: &World<'_, '_>,
    blockers: &Blockers,
    updated: &FxHashSet<ObjectId>,
    mut open: Vec<ObjectId>,
) -> FxHashSet<ObjectId> {
    let (mut stays, mut found) = (FxHashSet::default(), FxHashSet::default());
    if open.is_empty() && updated.is_empty() {
        return found;
    }
    let links = Links::of(world);
    let mut staying: Vec<ObjectId> = updated.iter().copied().collect();
    while let Some(object) = staying.pop() {
        if stays.insert(object) {
            staying.extend(blockers.waited_for_by(object));
            staying.extend(links.orphaned_by.get(&object).into_iter().flatten());
            links.follow_up(world, object, &mut staying);
            links.follow_removal(world, object, &mut open);
        }
    }
    while let Some(object) = open.pop() {
        if found.insert(object) {
            open.extend(blockers.waited_for_by(object));
            links.follow(world, object, &mut open);
        }
    }
    found.extend(stays);
    found
}

/// Objects that hidden dependents could affect: those that dependents with a valid reference could, and those that only
/// others could. A failed list may hide dependents that block owners, turn a delete into a foreground one, or block a
/// Namespace or CRD.
pub(crate) fn affected_by_hidden_dependents(world: &World<'_, '_>) -> (Vec<ObjectId>, Vec<ObjectId>) {
    let snapshot = world.context.snapshot;
    let lists_hide = snapshot.lists_hide_dependents();
    if !lists_hide && !snapshot.is_dump() {
        return (Vec::new(), Vec::new());
    }
    // Whatever a dump lacks, it makes a Namespace or a definition stay longer, if anything does; that an owner may have
    // more dependents is told of the whole plan ([`Snapshot::may_hide`]).
    let decided = world.log.iter().filter(|change| match change.cause {
        Cause::Collector(Reason::DependentsGone | Reason::OwnerWaits) => lists_hide,
        Cause::NamespaceEmpty | Cause::DefinitionEmpty => true,
        _ => false,
    });
    let mut decided: Vec<ObjectId> = decided.map(|change| change.object).collect();
    // What stays because of objects in a dump stays whatever the dump lacks.
    if lists_hide {
        decided.extend(world.touched().into_iter().filter(|object| {
            world.stored(*object).is_some_and(|stored| stored.waiting() || world.held_by_spec(*object))
        }));
    }
    // What may be hidden depends on the namespace, and in a dump also on the kind.
    let mut hides: FxHashMap<(ResourceId, Symbol), bool> = FxHashMap::default();
    let (hidden_from, others): (Vec<ObjectId>, Vec<ObjectId>) = decided.into_iter().partition(|object| {
        let found = snapshot.object(*object);
        // Each Namespace has contents of its own.
        let place = if found.namespace.is_empty() { found.name } else { found.namespace };
        *hides.entry((found.resource, place)).or_insert_with(|| !snapshot.may_hide(&[*object]).is_empty())
    });
    // What a dump lacks is not everywhere.
    let others = if lists_hide { others } else { Vec::new() };
    (hidden_from, others)
}

/// The links along which uncertainty spreads.
struct Links {
    touched: FxHashSet<ObjectId>,
    /// Objects that waited for their dependents at any time.
    waited: FxHashSet<ObjectId>,
    /// The deleted Namespaces, by name.
    namespaces: FxHashMap<Symbol, ObjectId>,
    emptied_by: FxHashMap<ObjectId, ObjectId>,
    /// The owners that the collector freed an object from, and that wait until this is done.
    orphaned_by: FxHashMap<ObjectId, Vec<ObjectId>>,
    /// When an object was removed, and when it last changed: positions in the log.
    removed: FxHashMap<ObjectId, usize>,
    changed: FxHashMap<ObjectId, usize>,
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
            orphaned_by: FxHashMap::default(),
            removed: FxHashMap::default(),
            changed: FxHashMap::default(),
            follow_ups: FxHashMap::default(),
        };
        for (position, change) in world.log.iter().enumerate() {
            links.changed.insert(change.object, position);
            if change.removed {
                links.removed.insert(change.object, position);
            }
            if let Some(first) = change.cause.above().filter(|_| change.cause.follows()) {
                links.follow_ups.entry(first).or_default().push(change.object);
            }
            match change.cause {
                Cause::Collector(Reason::DependentsGone) => {
                    links.waited.insert(change.object);
                }
                Cause::Collector(Reason::OwnerOrphans(owner)) => {
                    let owner = world.context.graph.by_uid(owner).and_then(|node| world.context.graph.object(node));
                    links.orphaned_by.entry(change.object).or_default().extend(owner);
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
        // Down: its dependents, deleted in the simulation or not. What a Namespace or a CRD takes along goes anyway.
        let dependents = world.context.graph.dependents(NodeId::from(object));
        open.extend(dependents.iter().filter(|dependent| !self.emptied_by.contains_key(dependent)));
        open.extend(self.follow_ups.get(&object).into_iter().flatten());
        self.follow_up(world, object, open);
    }

    /// Down: what changed because an object was removed.
    fn follow_removal(&self, world: &World<'_, '_>, object: ObjectId, open: &mut Vec<ObjectId>) {
        let Some(removed) = self.removed.get(&object) else { return };
        let dependents = world.context.graph.dependents(NodeId::from(object));
        open.extend(dependents.iter().filter(|one| self.changed.get(one).is_some_and(|changed| changed > removed)));
        open.extend(self.follow_ups.get(&object).into_iter().flatten());
    }

    fn follow_up(&self, world: &World<'_, '_>, object: ObjectId, open: &mut Vec<ObjectId>) {
        let context = world.context;
        let found = context.snapshot.object(object);
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
