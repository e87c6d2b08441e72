//! Predicts the outcome of everything in progress, without another delete: a working collector and all known
//! controllers finish their work. What is still terminating then is stuck; the rest only takes time.

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Snapshot, Symbol},
    server::{Patch, Stored},
};

use super::{
    Cause,
    actors::Others,
    affected::affected_by_hidden_dependents,
    context::SimContext,
    open::unread_objects,
    outcome::OutcomeKind,
    projection::{Blockers, Projection},
    request::{Start, WriteScope},
    start::InitialListOrder,
    world::World,
};

impl Projection {
    /// Simulates the likeliest event order.
    pub fn of(context: &SimContext<'_>) -> Self {
        Self::after(context, |_| ())
    }

    /// The same if the collector may write only to these objects; `None`: to all.
    pub fn limited(context: &SimContext<'_>, only: Option<WriteScope>) -> Self {
        Self::after(context, |world| {
            if !context.lacks_collector() {
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
        let mut taken_down = world.obstacles(None, &FxHashSet::default());
        taken_down.retain(|obstacle| obstacle.taken_down);
        let others = world.others.take().unwrap_or_default();
        let inventories = world.log.iter().filter_map(|change| match change.cause {
            Cause::Inventory(above) => Some((above, change.object)),
            _ => None,
        });
        let inventories = inventories.collect();
        Projection {
            blockers,
            outcomes,
            uncertain,
            refused,
            undeleted,
            inventories,
            taken_down,
            log: world.log,
            others,
        }
    }
}

impl SimContext<'_> {
    /// What comes of everything in this cluster if nothing is deleted, and nobody mends what is in the way. Simulated
    /// once.
    pub(crate) fn present(&self) -> &Projection {
        self.once(&self.present, || Projection::of(self))
    }

    /// What comes of everything in this cluster if nothing is deleted, once all others have done their part: finalizers
    /// of operators, kubelets (R9.37). Simulated once.
    pub fn later(&self) -> &Projection {
        self.once(&self.later, || Projection::once_others_finish(self, true))
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
