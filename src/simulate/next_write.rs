//! What the collector does with one object as it stands: its look at the object is played, up to the first thing that
//! it would write.

use crate::{
    collector::{Answer, Ask, Collector, Examination, Failure, Known, Progress, Reason},
    graph::{NodeId, Verdict},
    model::{ObjectId, Symbol},
    server::{Patch, Propagation, Stored},
};

use super::world::{Needs, SimContext, World};

/// The first thing that the collector's look at an object comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// It deletes it, with this policy (§4.2).
    Delete(Propagation, Reason),
    /// It lets it no longer block its owners, and then deletes it in the foreground (R5.10, R5.11).
    Unblock,
    /// It drops the references with these uids, and leaves the object alone otherwise (R8.5).
    DropReferences(Vec<Symbol>),
    /// It frees these dependents of their references to the object, and then takes the orphan finalizer (6).
    FreeDependents(Vec<ObjectId>),
    /// It takes a finalizer of its own (F3, R6.4).
    TakeFinalizer(Symbol),
    /// It waits for these dependents to go, and looks at those again that it has not begun with (F4).
    WaitForDependents(Vec<ObjectId>),
    /// Nothing.
    Nothing(NoAction),
}

/// Why the collector does nothing with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAction {
    /// Nobody owns it (G4).
    NoOwners,
    /// Every owner is there, and none waits for its dependents (D1).
    OwnersSolid,
    /// It is on its way out, and dealt with when it is gone (G1, R8.3).
    OnItsWayOut,
    /// Its kind isn't watched, and nothing that is watched names it as an owner (R2.7).
    NotWatched,
    /// This other object has its uid, and is the one that the collector knows (R3.5).
    SharedUid(ObjectId),
    /// It fails on the reference at this place, and tries again for ever (R3.13).
    Unmappable(usize),
    /// It fails on the reference at this place, and gives up (L3).
    InvalidScope(usize),
    /// What decides it could not be read: a reference, by its place, or the object itself (R10.2).
    Unread(Option<usize>),
}

impl Next {
    /// What the collector does with an object if it looks at it now, and what would have to be read to be sure.
    pub fn of(stage: &SimContext<'_>, object: ObjectId) -> (Next, Needs) {
        let mut world = World::at_rest(stage);
        let next = first_write(&mut world, object);
        (next, world.needs)
    }

    /// Whether anything is written.
    pub fn writes(&self) -> bool {
        !matches!(self, Next::WaitForDependents(_) | Next::Nothing(_))
    }
}

fn first_write(world: &mut World<'_, '_>, object: ObjectId) -> Next {
    let (snapshot, graph) = (world.stage.snapshot, world.stage.graph);
    let node = NodeId::from(object);
    let known = graph.by_uid(snapshot.object(object).uid).and_then(|node| graph.object(node));
    if let Some(other) = known.filter(|known| *known != object) {
        return Next::Nothing(NoAction::SharedUid(other));
    }
    if world.collector.watches(object) && Stored::of(snapshot.object(object)).orphaning() {
        let mut dependents = world.collector.dependents(node);
        dependents.sort_unstable();
        return if dependents.is_empty() {
            Next::TakeFinalizer(Symbol::ORPHAN)
        } else {
            Next::FreeDependents(dependents)
        };
    }
    if world.collector.node(node).deleting_dependents {
        let blocking = world.collector.blocking_dependents(node);
        if !blocking.is_empty() {
            return Next::WaitForDependents(blocking);
        }
    }
    examine(world, node)
}

/// Plays an examination until it would write something, or is done.
fn examine(world: &mut World<'_, '_>, node: NodeId) -> Next {
    let (mut examination, mut progress) = Examination::begin(&world.collector, node);
    let mut said: Option<Answer<'_>> = None;
    let mut looked_up = 0;
    loop {
        let ask = match progress {
            Progress::Finished(_) => return Next::Nothing(idle(world, node, said.as_ref(), looked_up)),
            Progress::Ask(ask) => ask,
        };
        match &ask {
            Ask::Delete(options, reason) => {
                return Next::Delete(options.propagation.unwrap_or(Propagation::Background), reason.clone());
            }
            Ask::Patch(Patch::StripByUid(uids), _) => return Next::DropReferences(uids.clone()),
            Ask::Patch(Patch::RemoveFinalizer { finalizer, .. }, _) => return Next::TakeFinalizer(*finalizer),
            Ask::Patch(Patch::SetOwners { .. } | Patch::MergeOwners(_), _) => return Next::Unblock,
            Ask::Owner(_) => looked_up += 1,
            Ask::Item(_) => {}
        }
        let answer = world.answer(node, examination.namespace(), &ask);
        said = Some(answer.clone());
        progress = examination.answer(&mut world.collector, answer);
    }
}

/// Why an examination ended without a write, by what it was told last. References are looked up in their order, so that
/// the number of look-ups tells which was the last.
fn idle(world: &World<'_, '_>, node: NodeId, said: Option<&Answer<'_>>, looked_up: usize) -> NoAction {
    match said {
        None if world.collector.node(node).known == Known::Gone => NoAction::NotWatched,
        None => NoAction::OnItsWayOut,
        Some(Answer::Owner(Err(Failure::Unmappable))) => NoAction::Unmappable(looked_up.saturating_sub(1)),
        Some(Answer::Owner(Err(Failure::InvalidScope))) => NoAction::InvalidScope(looked_up.saturating_sub(1)),
        Some(Answer::Owner(Err(Failure::Unknown))) => NoAction::Unread(Some(looked_up.saturating_sub(1))),
        Some(Answer::Owner(_)) => NoAction::OwnersSolid,
        Some(Answer::Found(_)) => NoAction::NoOwners,
        // Not observed, and known under a name where it is not: as if it were not watched.
        Some(Answer::NotFound) => NoAction::NotWatched,
        Some(_) => NoAction::Unread(None),
    }
}

/// Whether a collector that was started on this state may pass an object over for a while: nobody queues what it has
/// seen after the owner that waits for it and that it doesn't block, until that owner goes (R8.10). An owner that isn't
/// there queues it whenever it is seen.
pub fn may_lag_after_restart(stage: &SimContext<'_>, object: ObjectId) -> bool {
    let (snapshot, graph) = (stage.snapshot, stage.graph);
    let holder = snapshot.object(object);
    let mut waiting = false;
    for reference in &holder.owners {
        match Verdict::of(snapshot, graph, reference, holder.namespace) {
            Verdict::Waiting(_) if reference.blocks() => return false,
            Verdict::Waiting(_) => waiting = true,
            Verdict::Solid(_) => {}
            _ => return false,
        }
    }
    let others = snapshot.objects().map(|(id, _)| id).filter(|id| *id != object);
    let queued = || Collector::restarted(snapshot, graph, others.chain([object])).to_delete;
    waiting && !queued().iter().any(|node| node == NodeId::from(object))
}
