//! Orders in which one thing takes longer: whatever would come next is held back for a while, and goes on later.
//!
//! One delay is enough for nearly every outcome that depends on the order: two looks at an owner with its deletion in
//! between (R4.11), an examination before or after an orphaning (M14, M15), a foreground and a background deletion that
//! meet (M7).

use crate::{collector::EventKind, graph::NodeId, model::ResourceId};

use super::{
    schedule::Step,
    world::{Task, World},
};

/// Something that goes on by itself, and can take its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    /// The user's requests.
    Requests,
    /// An informer; none for what the collector tells itself.
    Informer(Option<ResourceId>),
    /// A worker with this node.
    Examining(NodeId),
    Orphaning(NodeId),
    /// A worker that has not begun.
    ToExamine(NodeId),
    ToOrphan(NodeId),
    /// A back-off.
    BackOff(NodeId),
}

/// Calls `with` with the end of every order in which one process is held back from one step to another, evenly spread
/// so that no more than about `most_steps` are played. The start is a world in which nothing has happened yet. Stops
/// when `with` says so.
pub fn with_one_delay<'s, 'a>(
    start: &World<'s, 'a>,
    length: u64,
    most_steps: u64,
    mut with: impl FnMut(World<'s, 'a>) -> bool,
) {
    let stride = stride(length, most_steps);
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
        // A world that never comes to rest has a bound of its own; this one ends where the first order did.
        if place > length {
            return;
        }
    }
}

/// How far apart delays have to be so that about `most_steps` suffice: there are `length²/2` of them, each half as long
/// as the whole.
fn stride(length: u64, most_steps: u64) -> u64 {
    let mut stride = 1;
    while (length / stride).pow(2) / 2 * (length / 2).max(1) > most_steps && stride < length {
        stride += 1;
    }
    stride
}

/// Calls `with` with the end of every order in which what would come first is held back. The same `with`, the same
/// start.
pub fn with_the_first_delayed<'s, 'a>(start: &World<'s, 'a>, with: impl FnMut(World<'s, 'a>) -> bool) {
    with_one_delay(start, 0, u64::MAX, with);
}

impl World<'_, '_> {
    /// What the next step belongs to; none when everything rests but other actors.
    fn next_process(&self) -> Option<Process> {
        Some(match self.next_step()? {
            Step::Request => Process::Requests,
            Step::Observe => Process::Informer(self.informer(0)),
            Step::Work => process_of(self.tasks.front()?),
            Step::BeginOrphaning => Process::ToOrphan(self.collector.to_orphan.get(0)?),
            Step::BeginExamination => Process::ToExamine(self.collector.to_delete.get(0)?),
            Step::Retry => Process::BackOff(self.collector.retries.get(0)?),
            Step::Act => return None,
        })
    }

    /// Plays the next step that belongs to another process; says whether there was one.
    fn play_without(&mut self, held_back: Process) -> bool {
        if self.is_asked() && held_back != Process::Requests {
            self.play(Step::Request);
        } else if let Some(place) =
            (0..self.events.len()).find(|place| Process::Informer(self.informer(*place)) != held_back)
        {
            // The first event that is not the informer's that is held back is the oldest of its own.
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
        } else if let Some(place) = self.collector.retries.position(|node| Process::BackOff(node) != held_back) {
            self.collector.retries.bring_forward(place);
            self.play(Step::Retry);
        } else {
            return false;
        }
        true
    }

    /// Which informer an event comes from: events of one keep their order (§8.2), and what the collector tells itself is
    /// one more.
    pub(crate) fn informer(&self, place: usize) -> Option<ResourceId> {
        let event = self.events.get(place)?;
        match event.kind {
            EventKind::VirtualDeleted(_) => None,
            _ => self.stage.graph.object(event.node).map(|object| self.stage.snapshot.object(object).resource),
        }
    }
}

fn process_of(task: &Task<'_>) -> Process {
    match task {
        Task::Examine(examination, _) => Process::Examining(examination.node),
        Task::Orphan(orphaning, _) => Process::Orphaning(orphaning.node),
    }
}
