//! The next step (§8.2) in the likeliest event order: a fast network and a collector that finishes what it started.
//! Other orders are in [`super::interleaving`] and [`super::delays`].

use crate::{
    collector::{Answer, Ask, Examination, Failure, Finish, GraphView as _, Orphaning, Progress},
    graph::NodeId,
    model::ObjectId,
    progress,
};

use super::{
    cause::Cause,
    obstacles::Operation,
    world::{WorkerTask, World},
};

/// How many steps are told at once.
const STEPS_TOLD: u64 = 256;
/// How many steps may pass without a write, in any graph.
const IDLE_STEPS: u64 = 10_000;
/// How many more for each object and each reference: one write may queue everything, and each examination takes a step
/// per reference.
const IDLE_STEPS_EACH: u64 = 20;

/// The number of the collector's workers (R2.9).
const WORKERS: usize = 20;

/// Something that can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The user's next request reaches the API server.
    Request,
    /// The oldest event reaches the graph.
    Observe,
    /// The API server answers the worker that has waited longest.
    Work,
    /// A worker takes the next owner to orphan from.
    BeginOrphaning,
    /// A worker takes the next object to examine.
    BeginExamination,
    /// An item that failed is queued again.
    Retry,
    /// Other actors do what they are assumed to do.
    Act,
}

impl<'a> World<'_, 'a> {
    /// The next step in the likeliest order: events first, then examinations on all workers side by side, then retries;
    /// other actors, which are slow, come last.
    pub fn next_step(&self) -> Option<Step> {
        // kubectl sends all DELETEs before it waits (R1.40); the collector has hardly begun by then.
        if self.has_requests_left() {
            Some(Step::Request)
        } else if self.next_event().is_some() {
            Some(Step::Observe)
        } else if self.tasks.len() < WORKERS && !self.collector.to_orphan.is_empty() {
            Some(Step::BeginOrphaning)
        } else if self.tasks.len() < WORKERS && !self.collector.to_delete.is_empty() {
            Some(Step::BeginExamination)
        } else if !self.tasks.is_empty() {
            Some(Step::Work)
        } else if !self.collector.retries.due.is_empty() {
            Some(Step::Retry)
        } else if self.actors.has_noticed() || !self.lost_obstacles.is_empty() || self.others_have_work() {
            Some(Step::Act)
        } else {
            None
        }
    }

    /// Simulates until nothing is left to happen. Every write removes something, so there are finitely many; after very
    /// many steps without a write, the simulation stops with [`World::out_of_bounds`] set.
    pub fn settle(&mut self) {
        self.settle_by(|world| world.next_step());
    }

    /// The same, with steps chosen by `next`.
    pub fn settle_by(&mut self, mut next: impl FnMut(&mut Self) -> Option<Step>) {
        let (mut writes, mut idle) = (self.log.len(), 0u64);
        let most_idle =
            IDLE_STEPS + IDLE_STEPS_EACH * (self.context.snapshot.len() as u64 + self.context.graph.references());
        loop {
            let Some(step) = next(self) else {
                if self.late.is_empty() {
                    return;
                }
                self.list_late();
                continue;
            };
            self.play(step);
            idle = if self.log.len() > writes { 0 } else { idle + 1 };
            writes = self.log.len();
            if idle > most_idle {
                self.out_of_bounds = true;
                return;
            }
        }
    }

    /// The position of the oldest event that can reach the graph.
    pub(super) fn next_event(&self) -> Option<usize> {
        (0..self.events.len()).find(|place| !self.is_late(*place))
    }

    /// How many events can reach the graph. There may be a million, and an order of events asks before each step.
    pub(super) fn events_on_time(&self) -> usize {
        if self.late.is_empty() {
            return self.events.len();
        }
        (0..self.events.len()).filter(|place| !self.is_late(*place)).count()
    }

    /// The place of one of them.
    pub(super) fn event_on_time(&self, number: usize) -> Option<usize> {
        if self.late.is_empty() {
            return (number < self.events.len()).then_some(number);
        }
        (0..self.events.len()).filter(|place| !self.is_late(*place)).nth(number)
    }

    /// Whether an event is one of a late informer.
    pub(super) fn is_late(&self, place: usize) -> bool {
        !self.late.is_empty() && self.informer(place).is_some_and(|informer| self.late.contains(&informer))
    }

    pub fn play(&mut self, step: Step) {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS_TOLD) {
            progress::advance(STEPS_TOLD);
        }
        match step {
            Step::Request => self.send_next_request(),
            Step::Observe => {
                if let Some(event) = self.next_event().and_then(|place| self.events.remove(place)) {
                    self.collector.observe(event);
                }
            }
            Step::Work => {
                if let Some(task) = self.tasks.pop_front() {
                    self.work(task);
                }
            }
            Step::BeginOrphaning => {
                if let Some(node) = self.collector.to_orphan.take() {
                    if self.skips(node) {
                        return self.collector.to_orphan.done(node);
                    }
                    let mut orphaning = Orphaning::begin(&self.collector, node);
                    orphaning.limit_to(|dependent| {
                        self.context.graph.object(dependent).is_none_or(|object| self.may_write(object))
                    });
                    self.tasks.push_back(WorkerTask::Orphan(orphaning, None));
                }
            }
            Step::BeginExamination => {
                if let Some(node) = self.collector.to_delete.take() {
                    if self.skips(node) {
                        return self.collector.to_delete.done(node);
                    }
                    self.notice_blockers(node);
                    let (examination, progress) = Examination::begin(&self.collector, node);
                    self.continue_examination(examination, progress);
                }
            }
            Step::Retry => {
                if let Some(node) = self.collector.retries.take() {
                    self.collector.to_delete.add(node);
                }
            }
            Step::Act if self.actors.has_noticed() => self.run_actors(),
            Step::Act if !self.lost_obstacles.is_empty() => self.try_again(),
            Step::Act => self.let_others_finish(),
        }
    }

    fn work(&mut self, task: WorkerTask<'a>) {
        match task {
            WorkerTask::Examine(mut examination, ask) => {
                let answer = self.answer(examination.node, examination.namespace(), &ask);
                let progress = examination.answer(&mut self.collector, answer);
                self.continue_examination(examination, progress);
            }
            WorkerTask::Orphan(orphaning, ask) => self.orphan(orphaning, ask),
        }
    }

    fn continue_examination(&mut self, examination: Examination<'a>, progress: Progress) {
        match progress {
            Progress::Ask(ask) => self.tasks.push_back(WorkerTask::Examine(examination, ask)),
            Progress::Finished(finish) => self.finish_examination(examination.node, finish),
        }
    }

    /// One step of an orphaning: patches a dependent, or removes the finalizer once none is left (§6).
    fn orphan(&mut self, mut orphaning: Orphaning, ask: Option<Ask>) {
        let progress = if let Some(dependent) = orphaning.pending.last().copied() {
            let (patch, reason) = orphaning.free(&self.collector);
            let object = self.context.graph.object(dependent);
            if object.is_some_and(|object| self.exists(object) && self.refuses(object, Operation::Update)) {
                orphaning.freed(dependent, &Answer::Failed(Failure::Refused));
                self.tasks.push_back(WorkerTask::Orphan(orphaning, None));
                return;
            }
            let patched = object.and_then(|object| self.patch(object, &patch, Cause::Collector(reason)));
            let answer = patched.map_or(Answer::NotFound, Answer::Patched);
            orphaning.freed(dependent, &answer);
            self.tasks.push_back(WorkerTask::Orphan(orphaning, None));
            return;
        } else if let Some(ask) = ask {
            let answer = self.answer(orphaning.node, self.collector.namespace(orphaning.node), &ask);
            orphaning.answer(&self.collector, answer)
        } else {
            orphaning.finish(&self.collector)
        };
        match progress {
            Progress::Ask(ask) => self.tasks.push_back(WorkerTask::Orphan(orphaning, Some(ask))),
            Progress::Finished(finish) => {
                self.collector.to_orphan.done(orphaning.node);
                if finish == Finish::RetrySoon && !self.orphans_in_vain(orphaning.node) {
                    self.collector.to_orphan.add(orphaning.node);
                }
            }
        }
    }

    /// Whether an orphaning fails again and again, because a PATCH of the owner or of a dependent is refused (R6.3).
    fn orphans_in_vain(&self, owner: NodeId) -> bool {
        let is_refused = |object: ObjectId| self.is_refused(object, |operation| operation == Operation::Update);
        self.context.graph.object(owner).is_some_and(is_refused)
            || self.collector.dependents(owner).into_iter().any(is_refused)
    }

    /// Marks terminating blockers of a waiting owner, and theirs: their controllers may finish them.
    fn notice_blockers(&mut self, node: NodeId) {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if !self.collector.node(node).deleting_dependents {
                continue;
            }
            for dependent in self.collector.blocking_dependents(node) {
                if self.collector.node(dependent.into()).being_deleted && self.actors.notice_once(dependent) {
                    open.push(dependent.into());
                }
            }
        }
    }
}
