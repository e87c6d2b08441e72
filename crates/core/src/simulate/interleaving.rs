//! Other orders of the same steps (§8.2). An outcome that differs in one of them depends on the order.
//!
//! Every order tried here can happen: events of different kinds overtake each other, workers and retries take their
//! time. Only other actors (kubelets, controllers) always come last, because they are much slower than the collector.

use super::{
    rng::Rng,
    schedule::Step,
    world::{WorkerTask, World},
};

/// Relative probabilities of the next step.
#[derive(Clone, Copy, Debug)]
struct Weights {
    request: u64,
    observe: u64,
    work: u64,
    orphan: u64,
    examine: u64,
    retry: u64,
}

const EVEN: Weights = Weights { request: 8, observe: 8, work: 8, orphan: 8, examine: 8, retry: 8 };

/// Weights of control planes with one slow part: they lead to outcomes that even weights almost never reach.
const WEIGHT_PROFILES: &[Weights] = &[
    EVEN,
    Weights { observe: 1, ..EVEN },
    Weights { orphan: 1, ..EVEN },
    Weights { examine: 1, orphan: 64, ..EVEN },
    Weights { work: 1, ..EVEN },
    Weights { work: 64, retry: 1, ..EVEN },
    Weights { retry: 64, observe: 2, ..EVEN },
    Weights { request: 1, ..EVEN },
];

/// A random order; the same number gives the same order.
#[derive(Clone, Debug)]
pub struct Interleaving {
    weights: Weights,
    rng: Rng,
}

impl Interleaving {
    /// The order with this number.
    pub fn new(number: u64) -> Self {
        let weights = WEIGHT_PROFILES[(number % WEIGHT_PROFILES.len() as u64) as usize];
        Interleaving { weights, rng: Rng::new(number) }
    }

    /// Picks the next step, and moves its item to the front of its queue.
    pub fn next_step(&mut self, world: &mut World<'_, '_>) -> Option<Step> {
        let weights = self.weights;
        let enabled = [
            (Step::Request, weights.request, usize::from(world.has_requests_left())),
            (Step::Observe, weights.observe, world.events_on_time()),
            (Step::Work, weights.work, world.tasks.len()),
            (Step::BeginOrphaning, weights.orphan, world.collector.to_orphan.len()),
            (Step::BeginExamination, weights.examine, world.collector.to_delete.len()),
            (Step::Retry, weights.retry, world.collector.retries.due.len()),
        ];
        let total: u64 = enabled.iter().filter(|(_, _, waiting)| *waiting > 0).map(|(_, weight, _)| weight).sum();
        if total == 0 {
            return world.next_step();
        }
        let mut left = self.rng.below(total as usize) as u64;
        for (step, weight, waiting) in enabled.into_iter().filter(|(_, _, waiting)| *waiting > 0) {
            if left < weight {
                self.bring_forward(world, step, waiting);
                return Some(step);
            }
            left -= weight;
        }
        world.next_step()
    }

    fn bring_forward(&mut self, world: &mut World<'_, '_>, step: Step, waiting: usize) {
        let index = self.rng.below(waiting);
        match step {
            Step::Observe => {
                // Events of one informer keep their order (§8.2); the collector's own virtual deletes are one more
                // channel.
                let Some(index) = world.event_on_time(index) else { return };
                let informer = world.informer(index);
                let oldest = (0..=index).find(|earlier| world.informer(*earlier) == informer).unwrap_or(index);
                if let Some(event) = world.events.remove(oldest) {
                    world.events.push_front(event);
                }
            }
            Step::Work => {
                world.tasks.swap(0, index);
                if let Some(WorkerTask::Orphan(orphaning, _)) = world.tasks.front_mut() {
                    let pending = orphaning.pending.len();
                    if pending > 1 {
                        orphaning.pending.swap(pending - 1, self.rng.below(pending));
                    }
                }
            }
            Step::BeginOrphaning => world.collector.to_orphan.bring_forward(index),
            Step::BeginExamination => world.collector.to_delete.bring_forward(index),
            Step::Retry => world.collector.retries.due.bring_forward(index),
            Step::Request | Step::Act => {}
        }
    }
}
