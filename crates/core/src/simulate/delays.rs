//! Event orders in which one process is delayed while all others continue.
//!
//! One delay is enough for nearly every outcome that depends on the order: an owner's deletion between two look-ups
//! (R4.11), an examination before or after an orphaning (M14, M15), a foreground and a background deletion at the same
//! time (M7).

use crate::{collector::EventKind, graph::NodeId, model::ResourceId};

use super::{
    schedule::Step,
    world::{WorkerTask, World},
};

/// Something that progresses on its own and may be slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    /// The user's requests.
    Requests,
    /// An informer; `None` for the collector's own virtual deletes.
    Informer(Option<ResourceId>),
    /// A worker that examines this node.
    Examining(NodeId),
    Orphaning(NodeId),
    /// A worker that hasn't started yet.
    ToExamine(NodeId),
    ToOrphan(NodeId),
    /// A back-off.
    BackOff(NodeId),
}

/// Calls `visit` with the end of every order in which one process is delayed from one step to another, evenly spread so
/// that about `max_steps` are simulated. `start` is a world without events. Stops when `visit` returns `false`.
pub fn for_each_delay<'s, 'a>(
    start: &World<'s, 'a>,
    length: u64,
    max_steps: u64,
    mut with: impl FnMut(World<'s, 'a>) -> bool,
) {
    let stride = stride(length, max_steps);
    let mut world = start.clone();
    let mut place = 0;
    while let Some(process) = world.next_process() {
        if place % stride == 0 {
            let mut held_back = world.clone();
            let mut delay = 0;
            while held_back.play_without(process) {
                delay += 1;
                if delay % stride == 0 {
                    let mut end = held_back.clone();
                    end.settle();
                    if !with(end) {
                        return;
                    }
                }
            }
            if delay % stride != 0 {
                held_back.settle();
                if !with(held_back) {
                    return;
                }
            }
        }
        match world.next_step() {
            Some(step) => world.play(step),
            None => return,
        }
        place += 1;
        // A world that never settles has a limit of its own; stop where the first order did.
        if place > length {
            return;
        }
    }
}

/// The distance between delays that takes about `max_steps`: there are `length²/2` delays, each simulating half the
/// length.
fn stride(length: u64, max_steps: u64) -> u64 {
    let mut stride = 1;
    while (length / stride).pow(2) / 2 * (length / 2).max(1) > max_steps && stride < length {
        stride += 1;
    }
    stride
}

/// Calls `visit` with the end of every order in which the late informers are late by this many steps.
pub(crate) fn for_each_lateness<'s, 'a>(start: &World<'s, 'a>, mut with: impl FnMut(World<'s, 'a>) -> bool) {
    let mut held_back = start.clone();
    while let Some(step) = held_back.next_step() {
        held_back.play(step);
        // Either the lists are complete and only the graph is behind, or the lists themselves are late.
        for lists_are_late in [false, true] {
            let mut end = held_back.clone();
            match lists_are_late {
                true => end.list_late(),
                false => end.late.clear(),
            }
            end.settle();
            if !with(end) {
                return;
            }
        }
    }
}

impl World<'_, '_> {
    /// The process of the next step; `None` if only other actors are left.
    fn next_process(&self) -> Option<Process> {
        Some(match self.next_step()? {
            Step::Request => Process::Requests,
            Step::Observe => Process::Informer(self.informer(self.next_event()?)),
            Step::Work => process_of(self.tasks.front()?),
            Step::BeginOrphaning => Process::ToOrphan(self.collector.to_orphan.get(0)?),
            Step::BeginExamination => Process::ToExamine(self.collector.to_delete.get(0)?),
            Step::Retry => Process::BackOff(self.collector.retries.due.get(0)?),
            Step::Act => return None,
        })
    }

    /// Runs the next step of any other process. Returns whether there was one.
    fn play_without(&mut self, held_back: Process) -> bool {
        if self.has_requests_left() && held_back != Process::Requests {
            self.play(Step::Request);
        } else if let Some(place) = (0..self.events.len())
            .find(|place| !self.is_late(*place) && Process::Informer(self.informer(*place)) != held_back)
        {
            // The first event of any other informer is the oldest of that informer.
            if let Some(event) = self.events.remove(place) {
                self.events.push_front(event);
            }
            self.play(Step::Observe);
        } else if let Some(place) = (0..self.tasks.len()).find(|place| process_of(&self.tasks[*place]) != held_back) {
            self.tasks.swap(0, place);
            self.play(Step::Work);
        } else if let Some(place) = self.collector.to_orphan.position(|node| Process::ToOrphan(node) != held_back) {
            self.collector.to_orphan.bring_forward(place);
            self.play(Step::BeginOrphaning);
        } else if let Some(place) = self.collector.to_delete.position(|node| Process::ToExamine(node) != held_back) {
            self.collector.to_delete.bring_forward(place);
            self.play(Step::BeginExamination);
        } else if let Some(place) = self.collector.retries.due.position(|node| Process::BackOff(node) != held_back) {
            self.collector.retries.due.bring_forward(place);
            self.play(Step::Retry);
        } else {
            return false;
        }
        true
    }

    /// The informer that an event comes from. Events of one informer keep their order (§8.2); the collector's own
    /// virtual deletes are one more channel.
    pub(crate) fn informer(&self, place: usize) -> Option<ResourceId> {
        let event = self.events.get(place)?;
        match event.kind {
            EventKind::VirtualDeleted(_) => None,
            _ => self.context.graph.object(event.node).map(|object| self.context.snapshot.object(object).resource),
        }
    }
}

fn process_of(task: &WorkerTask<'_>) -> Process {
    match task {
        WorkerTask::Examine(examination, _) => Process::Examining(examination.node),
        WorkerTask::Orphan(orphaning, _) => Process::Orphaning(orphaning.node),
    }
}
