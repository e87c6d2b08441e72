//! The predicted end of a simulation: what comes of everything, and what blocks what is left.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    groups::Groups,
    model::{ObjectId, Snapshot},
};

use super::{
    Change,
    actors::Others,
    controllers::Controllers,
    obstacles::Obstacle,
    outcome::OutcomeKind,
    state::{BlockedBy, State},
};

/// Which objects wait for which at the end of a simulation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blockers {
    pub(super) waits_for: FxHashMap<ObjectId, Vec<ObjectId>>,
    pub(super) waited_for_by: FxHashMap<ObjectId, Vec<ObjectId>>,
    pub(super) holders: FxHashMap<ObjectId, Vec<BlockedBy>>,
    /// The state of an object by its own causes; absent if it only waits for others.
    pub(super) own_states: FxHashMap<ObjectId, State>,
    pub(super) states: FxHashMap<ObjectId, State>,
    /// The controllers of the finalizers that block them.
    pub(super) controllers: Controllers,
}

impl Blockers {
    /// All terminating objects, and what they wait for, in snapshot order.
    pub(crate) fn objects(&self) -> Vec<ObjectId> {
        let mut objects: Vec<ObjectId> = self.waits_for.keys().copied().collect();
        objects.sort_unstable();
        objects
    }

    pub(crate) fn waits_for(&self, object: ObjectId) -> &[ObjectId] {
        self.waits_for.get(&object).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn waited_for_by(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        self.waited_for_by.get(&object).into_iter().flatten().copied()
    }

    /// The controllers of the finalizers that block objects.
    pub(crate) fn controllers(&self) -> &Controllers {
        &self.controllers
    }

    /// What else blocks an object.
    pub(crate) fn holders(&self, object: ObjectId) -> &[BlockedBy] {
        self.holders.get(&object).map_or(&[], Vec::as_slice)
    }

    /// The state of an object by its own causes, whatever it waits for; `None` if it only waits for others.
    pub(crate) fn own_state(&self, object: ObjectId) -> Option<State> {
        self.own_states.get(&object).copied()
    }

    /// Whether an object only waits for a cycle that it is part of or depends on (§5.3).
    pub(crate) fn waits_in_cycle(&self, object: ObjectId) -> bool {
        self.waits_for.contains_key(&object) && !self.states.contains_key(&object)
    }

    /// Whether an object will be removed. A waiting cycle without a cause outside of it is stuck (§5.3).
    pub(crate) fn state(&self, object: ObjectId) -> State {
        self.states.get(&object).copied().unwrap_or(State::Stuck)
    }
}

/// The predicted end.
#[derive(Clone, Debug)]
pub struct Projection {
    pub(super) blockers: Blockers,
    /// Of each object that changes, also how many owner references it has left.
    pub(super) outcomes: FxHashMap<ObjectId, (OutcomeKind, usize)>,
    pub(super) uncertain: FxHashSet<ObjectId>,
    /// Objects that are still there because the API server refuses to delete or change them, and what refuses it.
    pub(super) refused: FxHashMap<ObjectId, BlockedBy>,
    /// Those of them that something tries to delete.
    pub(super) undeleted: FxHashSet<ObjectId>,
    /// What controllers delete with objects that list it (R9.38).
    pub(super) inventories: Groups<ObjectId>,
    /// Webhooks and APIs that lose their backend.
    pub taken_down: Vec<Obstacle>,
    /// Every write, in order.
    pub log: Vec<Change>,
    /// What others have done; nothing unless they are played.
    pub others: Others,
}

impl Projection {
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
        self.inventories.of(&object)
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
