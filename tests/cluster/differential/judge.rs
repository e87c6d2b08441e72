//! What the engine foretells for a graph, and how the real end compares with it.

use std::collections::BTreeMap;

use kubectl_gc::{
    foretell::{After, Plan, Request, Stage, World, delays::with_one_delay, explore, orders::Order, plan},
    model::{ObjectId, Reference, Snapshot, Symbol},
    server::{DeleteOptions, Propagation},
};

use super::state::{Objects, State, Written};

/// So many made-up orders are tried before an end is called impossible.
const MOST_ORDERS: u64 = 20_000;
/// So many steps are spent on orders in which one thing takes longer.
const MOST_STEPS: u64 = 20_000_000;

/// What becomes of every object of a graph; none when it is gone.
pub type End = BTreeMap<String, Option<State>>;

/// How the real end compares with the foretold one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The first end that was told.
    Exact,
    /// Another one that was told.
    Told,
    /// One that was not told, but that some order of events leads to.
    Possible,
    /// No order of events that was tried leads to it.
    Wrong,
}

/// A delete of some objects of one graph, with all that is foretold of it.
pub struct Foretold<'s> {
    stage: &'s Stage<'s>,
    /// The graph's objects.
    objects: Vec<ObjectId>,
    request: Request,
    plan: Plan,
    explored: Plan,
}

impl<'s> Foretold<'s> {
    /// Foretells a delete of objects by their names on the cluster.
    pub fn new(stage: &'s Stage<'s>, objects: Vec<ObjectId>, targets: Vec<ObjectId>, propagation: Propagation) -> Self {
        let request = Request::delete(targets, propagation);
        let (plan, explored) = (plan(stage, &request), explore(stage, &request));
        assert!(plan.needs.is_empty() && explored.needs.is_empty(), "everything was read: {:?}", plan.needs);
        Foretold { stage, objects, request, plan, explored }
    }

    /// The end of the order that is played first.
    pub fn end(&self) -> End {
        self.end_by(|object| self.plan.outcome(object).map(|outcome| outcome.after.clone()))
    }

    fn end_by(&self, after: impl Fn(ObjectId) -> Option<Option<After>>) -> End {
        let snapshot = self.stage.snapshot;
        let end = |object: &ObjectId| {
            let before = snapshot.object(*object);
            let state = match after(*object) {
                Some(after) => after.map(|after| state(snapshot, after.terminating, &after.finalizers, &after.owners)),
                None => Some(state(snapshot, before.terminating(), &before.finalizers, &before.owners)),
            };
            (snapshot.text(before.name).to_owned(), state)
        };
        self.objects.iter().map(end).collect()
    }

    /// What really became of the graph's objects.
    pub fn real_end(&self, objects: &Objects) -> End {
        let snapshot = self.stage.snapshot;
        let end = |object: &ObjectId| {
            let (name, uid) = (snapshot.object(*object).name, snapshot.object(*object).uid);
            let found = objects.get(snapshot.text(name)).filter(|found| found.uid == snapshot.text(uid));
            (snapshot.text(name).to_owned(), found.map(|found| found.state.clone()))
        };
        self.objects.iter().map(end).collect()
    }

    /// What is deleted.
    pub fn targets(&self) -> &[ObjectId] {
        &self.request.targets
    }

    /// How many objects are not as they were.
    pub fn changed(&self, real: &End) -> usize {
        let before = self.end_by(|_| None);
        real.iter().filter(|(name, state)| before.get(*name) != Some(state)).count()
    }

    /// Where the real end is not the first that was told.
    pub fn differences(&self, real: &End) -> Vec<String> {
        let foretold = self.end();
        let differs = |(name, state): &(&String, &Option<State>)| foretold.get(*name) != Some(state);
        let tell = |state: Option<&Option<State>>| match state {
            Some(Some(state)) => state.to_string(),
            _ => "gone".to_owned(),
        };
        real.iter()
            .filter(differs)
            .map(|(name, state)| format!("{name}: foretold {}, really {}", tell(foretold.get(name)), tell(Some(state))))
            .collect()
    }

    /// Whether it is foretold that there are several ends.
    pub fn order_dependent(&self) -> bool {
        !self.explored.ends.is_empty()
    }

    /// Compares the real end with what was foretold, and with what could have been.
    pub fn judge(&self, real: &End) -> Verdict {
        if *real == self.end() {
            Verdict::Exact
        } else if self.told(real) {
            Verdict::Told
        } else if self.possible(real) {
            Verdict::Possible
        } else {
            Verdict::Wrong
        }
    }

    /// Whether every object came to an end that was told of it, and groups to one that was told of them together.
    fn told(&self, real: &End) -> bool {
        let of = |object: ObjectId| real.get(self.stage.snapshot.text(self.stage.snapshot.object(object).name));
        let is = |object: ObjectId, after: &Option<After>| {
            let end = self.end_by(|other| (other == object).then(|| after.clone()));
            of(object) == end.get(self.stage.snapshot.text(self.stage.snapshot.object(object).name))
        };
        let certain = self.objects.iter().all(|object| match self.explored.outcome(*object) {
            Some(outcome) => !outcome.alternatives.is_empty() || is(*object, &outcome.after),
            None => of(*object) == self.end_by(|_| None).get(self.stage.snapshot.text(self.stage.snapshot.object(*object).name)),
        });
        let together = |group: &Vec<kubectl_gc::foretell::JointEnd>| {
            group.iter().any(|end| end.iter().all(|(object, other)| is(*object, &other.after)))
        };
        certain && self.explored.ends.iter().all(together)
    }

    fn possible(&self, real: &End) -> bool {
        let mut start = World::at_rest(self.stage);
        let options = DeleteOptions { propagation: Some(self.request.propagation), ..DeleteOptions::default() };
        start.requests.extend(self.request.targets.iter().map(|target| (*target, options)));
        let mut found = false;
        with_one_delay(&start, self.plan.steps, MOST_STEPS, |world| {
            found |= self.end_of(&world) == *real;
            !found
        });
        found
            || (0..MOST_ORDERS).any(|number| {
                let (mut world, mut order) = (start.clone(), Order::new(number));
                world.settle_by(|world| order.next_step(world));
                self.end_of(&world) == *real
            })
    }

    fn end_of(&self, world: &World<'_, '_>) -> End {
        self.end_by(|object| {
            Some(world.stored(object).map(|stored| After {
                terminating: stored.terminating,
                finalizers: stored.finalizers.to_vec(),
                owners: stored.owners.to_vec(),
            }))
        })
    }
}

fn state(snapshot: &Snapshot, terminating: bool, finalizers: &[Symbol], owners: &[Reference]) -> State {
    let text = |symbol: Symbol| snapshot.text(symbol).to_owned();
    State {
        terminating,
        finalizers: finalizers.iter().map(|finalizer| text(*finalizer)).collect(),
        owners: owners
            .iter()
            .map(|reference| Written {
                api_version: text(reference.api_version),
                kind: text(reference.kind),
                name: text(reference.name),
                uid: text(reference.uid),
                controller: reference.controller,
                block: reference.block_owner_deletion,
            })
            .collect(),
    }
}
