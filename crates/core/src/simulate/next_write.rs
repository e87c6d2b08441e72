//! What the collector would write first, if it examined one object in its current state.

use serde::Serialize;

use crate::{
    collector::{Answer, Ask, Collector, Examination, Failure, Known, Progress, Reason},
    graph::{NodeId, Verdict},
    model::{ObjectId, Symbol},
    server::{Patch, Propagation, Stored},
};

use super::{context::SimContext, world::World};

/// The first write of an examination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A DELETE with this policy (§4.2).
    Delete(Propagation, Reason),
    /// A PATCH that stops the object from blocking its owners, then a foreground DELETE (R5.10, R5.11).
    Unblock,
    /// A PATCH that drops the references with these uids and keeps the object (R8.5).
    DropReferences(Vec<Symbol>),
    /// PATCHes that drop these dependents' references to the object, then one that removes the orphan finalizer (§6).
    FreeDependents(Vec<ObjectId>),
    /// A PATCH that removes one of the collector's finalizers (F3, R6.4).
    TakeFinalizer(Symbol),
    /// No write: it waits until these dependents are gone and examines those it hasn't started with (F4).
    WaitForDependents(Vec<ObjectId>),
    /// No write.
    Nothing(NoAction),
}

/// Why the collector doesn't write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum NoAction {
    /// The object has no owners (G4).
    NoOwners,
    /// All owners exist, and none waits for its dependents (§4.2, first row).
    OwnersSolid,
    /// The object is terminating; the collector handles its removal (G1, R8.3).
    #[serde(rename = "AlreadyTerminating")]
    OnItsWayOut,
    /// Its kind isn't watched, and no watched object names it as an owner (R2.7).
    NotWatched,
    /// This other object has the same uid, and the collector knows that one (R3.5).
    SharedUid(#[serde(skip)] ObjectId),
    /// The reference at this index can't be resolved; the collector retries forever (R3.13).
    #[serde(rename = "NotServed")]
    Unmappable(#[serde(skip)] usize),
    /// The reference at this index is invalid; the collector gives up (L3).
    InvalidScope(#[serde(skip)] usize),
    /// Not read: the reference at this index, or the object itself (R10.2).
    Unread(#[serde(skip)] Option<usize>),
}

impl Next {
    /// The collector's next write to an object.
    pub fn of(context: &SimContext<'_>, object: ObjectId) -> Next {
        let mut world = World::at_rest(context);
        first_write(&mut world, object)
    }

    /// Whether the collector writes anything.
    pub fn writes(&self) -> bool {
        !matches!(self, Next::WaitForDependents(_) | Next::Nothing(_))
    }
}

fn first_write(world: &mut World<'_, '_>, object: ObjectId) -> Next {
    let (snapshot, graph) = (world.context.snapshot, world.context.graph);
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

/// Simulates an examination up to its first write, or to its end.
fn examine(world: &mut World<'_, '_>, node: NodeId) -> Next {
    let (mut examination, mut progress) = Examination::begin(&world.collector, node);
    let mut last_answer: Option<Answer<'_>> = None;
    let mut look_ups = 0;
    loop {
        let ask = match progress {
            Progress::Finished(_) => return Next::Nothing(why_no_write(world, node, last_answer.as_ref(), look_ups)),
            Progress::Ask(ask) => ask,
        };
        match &ask {
            Ask::Delete(options, reason) => {
                return Next::Delete(options.propagation.unwrap_or(Propagation::Background), reason.clone());
            }
            Ask::Patch(Patch::StripByUid(uids), _) => return Next::DropReferences(uids.clone()),
            Ask::Patch(Patch::RemoveFinalizer { finalizer, .. }, _) => return Next::TakeFinalizer(*finalizer),
            Ask::Patch(Patch::SetOwners { .. } | Patch::MergeOwners(_), _) => return Next::Unblock,
            Ask::Owner(_) => look_ups += 1,
            Ask::Item(_) => {}
        }
        let answer = world.answer(node, examination.namespace(), &ask);
        last_answer = Some(answer.clone());
        progress = examination.answer(&mut world.collector, answer);
    }
}

/// Why an examination ended without a write, from its last answer. References are looked up in order, so their number
/// identifies the last one.
fn why_no_write(world: &World<'_, '_>, node: NodeId, last_answer: Option<&Answer<'_>>, look_ups: usize) -> NoAction {
    match last_answer {
        None if world.collector.node(node).known == Known::Gone => NoAction::NotWatched,
        None => NoAction::OnItsWayOut,
        Some(Answer::Owner(Err(Failure::Unmappable))) => NoAction::Unmappable(look_ups.saturating_sub(1)),
        Some(Answer::Owner(Err(Failure::InvalidScope))) => NoAction::InvalidScope(look_ups.saturating_sub(1)),
        Some(Answer::Owner(Err(Failure::Unknown))) => NoAction::Unread(Some(look_ups.saturating_sub(1))),
        Some(Answer::Owner(_)) => NoAction::OwnersSolid,
        Some(Answer::Found(_)) => NoAction::NoOwners,
        // Not observed, and absent under the name the collector knows: as if unwatched.
        Some(Answer::NotFound) => NoAction::NotWatched,
        Some(_) => NoAction::Unread(None),
    }
}

/// Whether a collector that was just started may ignore an object for a while: nothing queues an object that it
/// observes after a waiting owner that the object doesn't block, until that owner is gone (R8.10). An absent owner
/// always queues it.
pub(crate) fn may_lag_after_restart(context: &SimContext<'_>, object: ObjectId) -> bool {
    let (snapshot, graph) = (context.snapshot, context.graph);
    let dependent = snapshot.object(object);
    let mut waiting = false;
    for reference in dependent.owners.iter() {
        match Verdict::of(snapshot, graph, reference, dependent.namespace) {
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
