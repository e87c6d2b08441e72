//! Predicts the outcome of everything in progress, without another delete: a working collector and all known
//! controllers finish their work. What is still terminating then is stuck; the rest only takes time.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{ObjectId, Snapshot, Symbol},
    server::{Patch, Stored},
};

use super::{
    Cause, Change,
    actors::Others,
    affected::affected_by_hidden_dependents,
    blockers::Blockers,
    context::SimContext,
    controllers::Controllers,
    needs::Needs,
    obstacles::Obstacle,
    open::unread_objects,
    outcome::OutcomeKind,
    request::{Start, WriteScope},
    start::InitialListOrder,
    state::{BlockedBy, State},
    world::World,
};

/// The predicted end.
#[derive(Clone, Debug)]
pub struct Projection {
    blockers: Blockers,
    /// Of each object that changes, also how many owner references it has left.
    outcomes: FxHashMap<ObjectId, (OutcomeKind, usize)>,
    uncertain: FxHashSet<ObjectId>,
    /// Objects that are still there because the API server refuses to delete or change them, and what refuses it.
    refused: FxHashMap<ObjectId, BlockedBy>,
    /// Those of them that something tries to delete.
    undeleted: FxHashSet<ObjectId>,
    /// What controllers delete with objects that list it (R9.38).
    inventories: FxHashMap<ObjectId, Vec<ObjectId>>,
    /// Webhooks and APIs that lose their backend.
    pub taken_down: Vec<Obstacle>,
    /// Every write, in order.
    pub log: Vec<Change>,
    /// What should be read to be certain.
    pub needs: Needs,
    /// What others have done; nothing unless they are played.
    pub others: Others,
}

impl Projection {
    /// Simulates the likeliest event order.
    pub fn of(context: &SimContext<'_>) -> Self {
        Self::after(context, |_| ())
    }

    /// The same if the collector may write only to these objects; `None`: to all.
    pub fn limited(context: &SimContext<'_>, only: Option<WriteScope>) -> Self {
        Self::after(context, |world| {
            if !world.manager_away() {
                world.only = only;
            }
        })
    }

    /// The same once all others have done their part: finalizers of operators, kubelets (R9.37). With `mended`, so has
    /// whoever mends what is in the way (R9.39).
    pub(crate) fn once_others_finish(context: &SimContext<'_>, mended: bool) -> Self {
        Self::after(context, |world| {
            if mended {
                world.mend();
            }
            world.others = Some(Others::of(terminating(context.snapshot)));
        })
    }

    /// The same after these finalizers are removed from these objects.
    pub fn released(context: &SimContext<'_>, finalizers: &[(ObjectId, Symbol)]) -> Self {
        Self::after(context, |world| {
            for of_one in finalizers.chunk_by(|(one, _), (other, _)| one == other) {
                let finalizers: Vec<Symbol> = of_one.iter().map(|(_, finalizer)| *finalizer).collect();
                world.remove_finalizers(of_one[0].0, &finalizers);
            }
        })
    }

    /// The same after each of these objects loses all references with these uids, whoever might refuse that.
    pub(crate) fn without_references(context: &SimContext<'_>, references: &[(ObjectId, Vec<Symbol>)]) -> Self {
        Self::after(context, |world| {
            let heeds = std::mem::replace(&mut world.heeds, false);
            for (object, uids) in references {
                world.patch(*object, &Patch::StripByUid(uids.clone()), Cause::Requested);
            }
            world.heeds = heeds;
        })
    }

    fn after(context: &SimContext<'_>, prepare: impl FnOnce(&mut World<'_, '_>)) -> Self {
        let mut world = World::started(context, Start::Sweep, InitialListOrder::default());
        let terminating = terminating(context.snapshot);
        for object in &terminating {
            world.actors.notice(*object);
        }
        prepare(&mut world);
        world.settle();
        let blockers = Blockers::at_end_of(&mut world, &terminating);
        let (valid, invalid) = affected_by_hidden_dependents(&world);
        let uncertain = unread_objects(&world, &blockers, [valid, invalid].concat());
        let outcomes = world.touched().into_iter().filter_map(|id| Some((id, outcome_of(&world, id)?))).collect();
        let still_there = || world.refused.iter().filter(|(id, _)| world.exists(**id));
        let refused = still_there().filter_map(|(id, _)| Some((*id, world.refused_by(*id)?))).collect();
        let undeleted = still_there().filter(|(_, refused)| refused.operation.deletes()).map(|(id, _)| *id).collect();
        let mut taken_down = world.obstacles(None);
        taken_down.retain(|obstacle| obstacle.taken_down);
        let mut needs = world.needs;
        needs.add(&world.obstacle_needs);
        let others = world.others.take().unwrap_or_default();
        let mut inventories: FxHashMap<ObjectId, Vec<ObjectId>> = FxHashMap::default();
        for change in &world.log {
            if let Cause::Inventory(above) = change.cause {
                inventories.entry(above).or_default().push(change.object);
            }
        }
        Projection {
            blockers,
            outcomes,
            uncertain,
            refused,
            undeleted,
            inventories,
            taken_down,
            log: world.log,
            needs,
            others,
        }
    }

    /// What happens to an object; `None` if it doesn't change.
    pub(crate) fn outcome_of(&self, object: ObjectId) -> Option<OutcomeKind> {
        self.outcomes.get(&object).map(|(kind, _)| *kind)
    }

    /// How many owner references an object has left that changes.
    pub(crate) fn references_left(&self, object: ObjectId) -> usize {
        self.outcomes.get(&object).map_or(0, |(_, references)| *references)
    }

    /// What the controller of an object deletes with it, because the object lists it.
    pub(crate) fn inventory_of(&self, object: ObjectId) -> &[ObjectId] {
        self.inventories.get(&object).map_or(&[], Vec::as_slice)
    }

    pub fn goes(&self, object: ObjectId) -> bool {
        self.outcome_of(object) == Some(OutcomeKind::Deleted)
    }

    /// Whether an object is deleted, though it may stay Terminating.
    pub(crate) fn leaves(&self, object: ObjectId) -> bool {
        self.outcome_of(object).is_some_and(OutcomeKind::removes)
    }

    /// Every such object, in no particular order.
    pub(crate) fn all_leaving(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.outcomes.iter().filter(|(_, (kind, _))| kind.removes()).map(|(id, _)| *id)
    }

    /// Whether something that could not be read decides the outcome of an object.
    pub fn uncertain(&self, object: ObjectId) -> bool {
        self.uncertain.contains(&object)
    }

    /// What makes the API server refuse to delete or change an object that is still there in the end.
    pub fn refused(&self, object: ObjectId) -> Option<BlockedBy> {
        self.refused.get(&object).copied()
    }

    /// Whether something tries to delete an object, again and again, and the API server refuses that.
    pub(crate) fn refuses_delete(&self, object: ObjectId) -> bool {
        self.undeleted.contains(&object)
    }

    /// The same in words: a clause.
    pub(crate) fn why_refused(&self, snapshot: &Snapshot, object: ObjectId) -> Option<String> {
        Some(self.refused(object)?.describe(snapshot, object, State::Stuck, self.controllers()))
    }

    /// The objects that are still there in the end because of this, in snapshot order.
    pub(crate) fn refused_by(&self, by: BlockedBy) -> Vec<ObjectId> {
        let refused = self.refused.iter().filter(|(_, refused_by)| **refused_by == by);
        let mut objects: Vec<ObjectId> = refused.map(|(id, _)| *id).collect();
        objects.sort_unstable();
        objects
    }

    /// The objects that something keeps in the end, or refuses to delete or change, in snapshot order.
    pub(crate) fn kept_by(&self, is_it: impl Fn(BlockedBy) -> bool) -> Vec<ObjectId> {
        let mut kept = self.left();
        kept.retain(|object| self.holders(*object).iter().any(|holder| is_it(*holder)));
        kept.extend(self.refused.iter().filter(|(_, by)| is_it(**by)).map(|(object, _)| *object));
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    /// Objects that are still terminating, and what they wait for, in snapshot order.
    pub fn left(&self) -> Vec<ObjectId> {
        self.blockers.objects()
    }

    /// What a terminating object waits for in the end.
    pub fn waits_for(&self, object: ObjectId) -> &[ObjectId] {
        self.blockers.waits_for(object)
    }

    /// Which objects wait for this one in the end.
    pub fn waited_for_by(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        self.blockers.waited_for_by(object)
    }

    /// What else blocks an object in the end.
    pub fn holders(&self, object: ObjectId) -> &[BlockedBy] {
        self.blockers.holders(object)
    }

    /// Whether a terminating object will ever be removed.
    pub fn state(&self, object: ObjectId) -> State {
        self.blockers.state(object)
    }

    /// The controllers of the finalizers that block objects in the end.
    pub fn controllers(&self) -> &Controllers {
        self.blockers.controllers()
    }

    /// The state of an object by its own causes, without what it waits for; `None` if it only waits for others.
    pub(crate) fn own_state(&self, object: ObjectId) -> Option<State> {
        self.blockers.own_state(object)
    }

    /// Whether an object only waits for a cycle that it is part of or depends on (§5.3).
    pub(crate) fn waits_in_cycle(&self, object: ObjectId) -> bool {
        self.blockers.waits_in_cycle(object)
    }

    /// All objects that wait for this one, directly or not, the nearest first.
    pub(crate) fn chain_above(&self, object: ObjectId) -> Vec<ObjectId> {
        self.chain_above_all(&[object])
    }

    /// All objects that wait for one of these, directly or not, without themselves. The nearest come first, and each
    /// object after those it waits for, unless they wait in a cycle.
    pub(crate) fn chain_above_all(&self, roots: &[ObjectId]) -> Vec<ObjectId> {
        let mut seen: FxHashSet<ObjectId> = roots.iter().copied().collect();
        let mut found: Vec<ObjectId> = Vec::new();
        let mut next = roots.to_vec();
        while !next.is_empty() {
            let mut above: Vec<ObjectId> = next.iter().flat_map(|id| self.waited_for_by(*id)).collect();
            above.sort_unstable();
            above.retain(|id| seen.insert(*id));
            found.extend(&above);
            next = above;
        }
        // How many of the others each waits for; a namespace waits for all of its contents, near and far.
        let members: FxHashSet<ObjectId> = found.iter().copied().collect();
        let mut open: FxHashMap<ObjectId, usize> = FxHashMap::default();
        for id in &found {
            open.insert(*id, self.waits_for(*id).iter().filter(|other| members.contains(other)).count());
        }
        let mut ready: VecDeque<ObjectId> = found.iter().copied().filter(|id| open[id] == 0).collect();
        let mut chain = Vec::with_capacity(found.len());
        let mut placed: FxHashSet<ObjectId> = FxHashSet::default();
        let mut by_distance = found.iter().copied();
        while let Some(id) = ready.pop_front().or_else(|| by_distance.next()) {
            if !placed.insert(id) {
                continue;
            }
            chain.push(id);
            for above in self.waited_for_by(id) {
                if let Some(left) = open.get_mut(&above) {
                    *left = left.saturating_sub(1);
                    if *left == 0 {
                        ready.push_back(above);
                    }
                }
            }
        }
        chain
    }
}

impl SimContext<'_> {
    /// What comes of everything in this cluster if nothing is deleted, and nobody mends what is in the way. Simulated
    /// once.
    pub(crate) fn present(&self) -> &Projection {
        self.present.get_or_init(|| Projection::of(self))
    }

    /// What comes of everything in this cluster if nothing is deleted, once all others have done their part: finalizers
    /// of operators, kubelets (R9.37). Simulated once.
    pub fn later(&self) -> &Projection {
        self.later.get_or_init(|| Projection::once_others_finish(self, true))
    }
}

fn terminating(snapshot: &Snapshot) -> Vec<ObjectId> {
    snapshot.objects().filter(|(_, object)| object.terminating()).map(|(id, _)| id).collect()
}

fn outcome_of(world: &World<'_, '_>, id: ObjectId) -> Option<(OutcomeKind, usize)> {
    let (before, after) = (Stored::of(world.context.snapshot.object(id)), world.stored(id));
    let kind = OutcomeKind::of(&before, after.as_ref())?;
    Some((kind, after.map_or(0, |after| after.owners.len())))
}
