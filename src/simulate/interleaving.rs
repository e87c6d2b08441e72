//! Other orders in which the same atoms could happen (§8.2). An outcome that comes out differently in one of them
//! depends on the order.
//!
//! Every order that is tried here could be the real one: events of different kinds overtake each other, workers and
//! retries take their time. Only other actors (kubelets, controllers) stay last, for they are slower than the collector
//! by far.

use super::{
    rng::Rng,
    schedule::Step,
    world::{Task, World},
};

/// How likely each kind of step is to come next, as weights.
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

/// Temperaments of a control plane: what is slow in them leads to the ends that an even mixture hardly ever meets.
const TEMPERAMENTS: &[Weights] = &[
    EVEN,
    Weights { observe: 1, ..EVEN },
    Weights { orphan: 1, ..EVEN },
    Weights { examine: 1, orphan: 64, ..EVEN },
    Weights { work: 1, ..EVEN },
    Weights { work: 64, retry: 1, ..EVEN },
    Weights { retry: 64, observe: 2, ..EVEN },
    Weights { request: 1, ..EVEN },
];

/// One order, made up as it goes; the same number makes the same order.
#[derive(Clone, Debug)]
pub struct Interleaving {
    weights: Weights,
    dice: Rng,
}

impl Interleaving {
    /// The order with this number.
    pub fn new(number: u64) -> Self {
        let weights = TEMPERAMENTS[(number % TEMPERAMENTS.len() as u64) as usize];
        Interleaving { weights, dice: Rng::new(number) }
    }

    /// Picks what comes next, and brings it to the front of where it waits.
    pub fn next_step(&mut self, world: &mut World<'_, '_>) -> Option<Step> {
        let weights = self.weights;
        let enabled = [
            (Step::Request, weights.request, usize::from(world.is_asked())),
            (Step::Observe, weights.observe, world.events.len()),
            (Step::Work, weights.work, world.tasks.len()),
            (Step::BeginOrphaning, weights.orphan, world.collector.to_orphan.len()),
            (Step::BeginExamination, weights.examine, world.collector.to_delete.len()),
            (Step::Retry, weights.retry, world.collector.retries.due()),
        ];
        let total: u64 = enabled.iter().filter(|(_, _, waiting)| *waiting > 0).map(|(_, weight, _)| weight).sum();
        if total == 0 {
            return world.next_step();
        }
        let mut left = self.dice.below(total as usize) as u64;
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
        let place = self.dice.below(waiting);
        match step {
            Step::Observe => {
                // Events of one informer keep their order (§8.2); what the collector tells itself is one more channel.
                let informer = world.informer(place);
                let oldest = (0..=place).find(|earlier| world.informer(*earlier) == informer).unwrap_or(place);
                if let Some(event) = world.events.remove(oldest) {
                    world.events.push_front(event);
                }
            }
            Step::Work => {
                world.tasks.swap(0, place);
                if let Some(Task::Orphan(orphaning, _)) = world.tasks.front_mut() {
                    let pending = orphaning.pending.len();
                    if pending > 1 {
                        orphaning.pending.swap(pending - 1, self.dice.below(pending));
                    }
                }
            }
            Step::BeginOrphaning => world.collector.to_orphan.bring_forward(place),
            Step::BeginExamination => world.collector.to_delete.bring_forward(place),
            Step::Retry => world.collector.retries.bring_forward(place),
            Step::Request | Step::Act => {}
        }
    }
}
