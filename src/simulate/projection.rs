//! What becomes of everything that is there, with nothing more deleted: a collector that works, and all known
//! controllers, take what they find to its end. What is still terminating then is stuck; what is not has only to be
//! waited for.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{ObjectId, Symbol},
    server::{Patch, Stored},
};

use super::{
    Cause, Change,
    blockers::{BlockedBy, Blockers, State},
    request::{Only, Start},
    start::Lists,
    uncertainty::uncertain_objects,
    world::{Needs, SimContext, World},
};

/// What becomes of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectedOutcome {
    /// Nothing.
    Stays,
    /// It goes.
    Goes,
    /// It stays in another state.
    Changes {
        /// Whether it is terminating then.
        terminating: bool,
        /// How many of its owner references are left.
        references: usize,
    },
}

/// The end that everything comes to.
#[derive(Clone, Debug)]
pub struct Projection {
    held: Blockers,
    fates: FxHashMap<ObjectId, ProjectedOutcome>,
    uncertain: FxHashSet<ObjectId>,
    /// Every write, in order.
    pub log: Vec<Change>,
    /// What would have to be read to be sure.
    pub needs: Needs,
}

impl Projection {
    /// Plays the likeliest course of events to its end.
    pub fn of(stage: &SimContext<'_>) -> Self {
        Self::after(stage, |_| ())
    }

    /// The same where the collector may write to these objects only; unset: to all.
    pub fn limited(stage: &SimContext<'_>, only: Option<Only>) -> Self {
        Self::after(stage, |world| world.only = only)
    }

    /// The same after somebody took these finalizers from these objects.
    pub fn released(stage: &SimContext<'_>, finalizers: &[(ObjectId, Symbol)]) -> Self {
        Self::after(stage, |world| {
            for (object, finalizer) in finalizers {
                world.release(*object, *finalizer);
            }
        })
    }

    /// The same after somebody dropped, from each of these objects, every reference with one of these uids.
    pub fn without_references(stage: &SimContext<'_>, references: &[(ObjectId, Vec<Symbol>)]) -> Self {
        Self::after(stage, |world| {
            for (object, uids) in references {
                world.patch(*object, &Patch::StripByUid(uids.clone()), Cause::Requested);
            }
        })
    }

    fn after(stage: &SimContext<'_>, begin: impl FnOnce(&mut World<'_, '_>)) -> Self {
        let mut world = World::started(stage, Start::Sweep, Lists::default());
        let terminating: Vec<ObjectId> =
            stage.snapshot.objects().filter(|(_, object)| object.terminating()).map(|(id, _)| id).collect();
        for object in &terminating {
            world.actors.notice(*object);
        }
        begin(&mut world);
        world.settle();
        let held = Blockers::at_end_of(&mut world, &terminating);
        let uncertain = uncertain_objects(&world, &held);
        let fates = world.touched().into_iter().map(|id| (id, outcome_of(&world, id))).collect();
        Projection { held, fates, uncertain, log: world.log, needs: world.needs }
    }

    /// What becomes of an object.
    pub fn outcome_of(&self, object: ObjectId) -> &ProjectedOutcome {
        self.fates.get(&object).unwrap_or(&ProjectedOutcome::Stays)
    }

    /// Whether an object goes in the end.
    pub fn goes(&self, object: ObjectId) -> bool {
        *self.outcome_of(object) == ProjectedOutcome::Goes
    }

    /// Every object that goes, in no particular order.
    pub fn all_that_goes(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.fates.iter().filter(|(_, outcome_of)| **outcome_of == ProjectedOutcome::Goes).map(|(id, _)| *id)
    }

    /// Whether something that could not be read decides what becomes of an object.
    pub fn uncertain(&self, object: ObjectId) -> bool {
        self.uncertain.contains(&object)
    }

    /// What is terminating in the end, and what that waits for, in the order of the snapshot.
    pub fn left(&self) -> Vec<ObjectId> {
        self.held.objects()
    }

    /// What an object that stays terminating waits for in the end.
    pub fn waits_for(&self, object: ObjectId) -> &[ObjectId] {
        self.held.waits_for(object)
    }

    /// What waits for an object in the end.
    pub fn waited_for_by(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        self.held.waited_for_by(object)
    }

    /// What holds an object itself in the end.
    pub fn holders(&self, object: ObjectId) -> &[BlockedBy] {
        self.held.holders(object)
    }

    /// Whether anybody finishes an object that is terminating in the end.
    pub fn state(&self, object: ObjectId) -> State {
        self.held.state(object)
    }

    /// What an object that is there in the end makes of it alone: a cause, unless it is waiting. None where it only
    /// waits for others.
    pub fn own_state(&self, object: ObjectId) -> Option<State> {
        self.held.own_state(object)
    }

    /// Whether an object only waits for what waits for it in turn, or for such a circle (§5.3).
    pub fn waits_in_a_circle(&self, object: ObjectId) -> bool {
        self.held.waits_in_a_circle(object)
    }

    /// Everything that waits for an object, whatever stands between them, nearest first.
    pub fn chain_above(&self, object: ObjectId) -> Vec<ObjectId> {
        self.chain_above_all(&[object])
    }

    /// Everything that waits for one of these objects, whatever stands between them, without themselves. The nearest
    /// come first, and nobody before those that they wait for, unless they wait in a circle.
    pub fn chain_above_all(&self, roots: &[ObjectId]) -> Vec<ObjectId> {
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
        // For how many of the others each has to wait; a namespace waits for all of its content, near and far.
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

fn outcome_of(world: &World<'_, '_>, id: ObjectId) -> ProjectedOutcome {
    let before = Stored::of(world.stage.snapshot.object(id));
    match world.stored(id) {
        None => ProjectedOutcome::Goes,
        Some(after) if after.same_state(&before) => ProjectedOutcome::Stays,
        Some(after) => ProjectedOutcome::Changes { terminating: after.terminating, references: after.owners.len() },
    }
}
