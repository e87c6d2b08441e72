//! Compares a real end with the engine's prediction. The same code judges live runs and records.

use std::sync::OnceLock;

use gc_core::{
    graph::OwnerGraph,
    model::{ObjectId, Reference, Snapshot, Symbol},
    plan::{After, JointEnd, Plan, explore, plan},
    simulate::{
        self, Assume, InitialListOrder, Request, SimContext, World, delays::for_each_delay, interleaving::Interleaving,
    },
};

use super::{
    end::{End, State, Written},
    record::{Start, Trial},
    scene,
};

/// How many random orders of events to try before an end is called impossible.
const MOST_ORDERS: u64 = 20_000;
/// How many steps to spend on orders in which one step takes longer than usual.
const MOST_STEPS: u64 = 20_000_000;

/// How a real end compares with the prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The first predicted end.
    Exact,
    /// Another predicted end.
    Told,
    /// Not predicted, but some order of events leads to it.
    Possible,
    /// None of the tried orders of events leads to it.
    Wrong,
}

/// A graph as the engine reads it.
pub struct Read {
    snapshot: Snapshot,
    graph: OwnerGraph,
}

impl Read {
    pub fn new(trial: &Trial) -> Self {
        let snapshot = scene::snapshot(&trial.graph);
        let graph = OwnerGraph::new(&snapshot);
        Read { snapshot, graph }
    }

    /// The context of the simulation. In these tests, no kubelet and no other controllers run beside the collector.
    pub fn stage(&self) -> SimContext<'_> {
        SimContext::new(&self.snapshot, &self.graph, Assume::None)
    }
}

/// The prediction for one graph.
pub struct Prediction<'s> {
    stage: &'s SimContext<'s>,
    /// The graph's objects.
    objects: Vec<ObjectId>,
    request: Request,
    plan: Plan,
    explored: OnceLock<Plan>,
}

impl<'s> Prediction<'s> {
    /// Predicts what a start does, if the cluster contains only this graph.
    pub fn new(stage: &'s SimContext<'s>, start: &Start) -> Self {
        let objects = stage.snapshot.objects().map(|(id, _)| id).collect();
        Self::among_others(stage, objects, start)
    }

    /// Predicts what a start does to these objects, which share a cluster with others.
    pub fn among_others(stage: &'s SimContext<'s>, objects: Vec<ObjectId>, start: &Start) -> Self {
        let request = request(stage.snapshot, &objects, start);
        let plan = plan(stage, &request);
        assert!(plan.needs.is_empty(), "everything was read: {:?}", plan.needs);
        Prediction { stage, objects, request, plan, explored: OnceLock::new() }
    }

    /// The end of the order of events that is simulated first.
    pub fn end(&self) -> End {
        self.end_by(|object| self.plan.outcome(object).map(|outcome| outcome.after.clone()))
    }

    fn end_by(&self, after: impl Fn(ObjectId) -> Option<Option<After>>) -> End {
        self.objects.iter().map(|object| (self.name(*object), self.state_by(*object, after(*object)))).collect()
    }

    fn name(&self, object: ObjectId) -> String {
        self.stage.snapshot.short_name(object)
    }

    /// An object's state after a change, or its present state without one.
    fn state_by(&self, object: ObjectId, after: Option<Option<After>>) -> Option<State> {
        let snapshot = self.stage.snapshot;
        let before = snapshot.object(object);
        match after {
            Some(after) => after.map(|after| state(snapshot, after.terminating, &after.finalizers, &after.owners)),
            None => Some(state(snapshot, before.terminating(), &before.finalizers, &before.owners)),
        }
    }

    fn explored(&self) -> &Plan {
        self.explored.get_or_init(|| explore(self.stage, &self.request))
    }

    /// How many steps the first simulated order takes.
    pub fn steps(&self) -> u64 {
        self.plan.steps
    }

    /// The objects whose real end differs from the first predicted end.
    pub fn differences(&self, real: &End) -> Vec<String> {
        let predicted = self.end();
        let differs = |(name, state): &(&String, &Option<State>)| predicted.get(*name) != Some(state);
        let tell = |state: Option<&Option<State>>| match state {
            Some(Some(state)) => state.to_string(),
            _ => "gone".to_owned(),
        };
        real.iter()
            .filter(differs)
            .map(|(name, state)| {
                format!("{name}: foretold {}, really {}", tell(predicted.get(name)), tell(Some(state)))
            })
            .collect()
    }

    /// Whether several ends are predicted.
    pub fn order_dependent(&self) -> bool {
        !self.explored().ends.is_empty()
    }

    /// Every predicted end except the first: in each, one group of connected objects ends differently.
    pub fn other_ends(&self) -> Vec<End> {
        let first = self.end();
        let other = |end: &JointEnd| -> End {
            let joint = end
                .iter()
                .map(|(object, other)| (self.name(*object), self.state_by(*object, Some(other.after.clone()))));
            first.clone().into_iter().chain(joint).collect()
        };
        let mut others: Vec<End> = self.explored().ends.iter().flatten().map(other).collect();
        others.retain(|end| *end != first);
        others
    }

    /// Compares the real end with the prediction. Other orders of events are simulated only if the first one ends
    /// differently.
    pub fn predicted(&self, real: &End) -> Option<Verdict> {
        if *real == self.end() { Some(Verdict::Exact) } else { self.describe(real).then_some(Verdict::Told) }
    }

    /// Compares the real end with the prediction, and if it isn't predicted, with other orders of events.
    pub fn judge(&self, real: &End) -> Verdict {
        let otherwise = || if self.possible(real) { Verdict::Possible } else { Verdict::Wrong };
        self.predicted(real).unwrap_or_else(otherwise)
    }

    /// Whether each object's end is predicted for it, and each group's joint end is predicted for the group.
    fn describe(&self, real: &End) -> bool {
        let explored = self.explored();
        let is = |object: ObjectId, after: Option<&Option<After>>| {
            real.get(&self.name(object)) == Some(&self.state_by(object, after.cloned()))
        };
        let certain = self.objects.iter().all(|object| match explored.outcome(*object) {
            Some(outcome) => !outcome.alternatives.is_empty() || is(*object, Some(&outcome.after)),
            None => is(*object, None),
        });
        let together = |group: &Vec<JointEnd>| {
            group.iter().any(|end| end.iter().all(|(object, other)| is(*object, Some(&other.after))))
        };
        certain && explored.ends.iter().all(together)
    }

    fn possible(&self, real: &End) -> bool {
        let start = self.begin(InitialListOrder::default());
        let mut found = false;
        for_each_delay(&start, self.plan.steps, MOST_STEPS, |world| {
            found |= self.end_of(&world) == *real;
            !found
        });
        found
            || (0..MOST_ORDERS).any(|number| {
                // A collector's initial lists arrive in random order, too.
                let mut world = if self.request.start == simulate::Start::AtRest {
                    start.clone()
                } else {
                    self.begin(InitialListOrder::new(number))
                };
                let mut order = Interleaving::new(number);
                world.settle_by(|world| order.next_step(world));
                self.end_of(&world) == *real
            })
    }

    /// The world before any event.
    fn begin(&self, lists: InitialListOrder) -> World<'s, 's> {
        simulate::begin(self.stage, &self.request, lists).0
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

/// What sets off the changes, as the engine takes it. Targets are among these objects.
pub fn request(snapshot: &Snapshot, objects: &[ObjectId], start: &Start) -> Request {
    let target = |name: &String| {
        let found = objects.iter().find(|object| snapshot.short_name(**object) == *name);
        *found.unwrap_or_else(|| panic!("the target {name} is not in the graph"))
    };
    match start {
        Start::Delete { targets, propagation } => Request::delete(targets.iter().map(target).collect(), *propagation),
        Start::Finish { targets, propagation } => {
            Request { others_finish: true, ..Request::delete(targets.iter().map(target).collect(), *propagation) }
        }
        Start::Restarted => Request::only_collect(simulate::Start::Restarted),
        Start::Sweep => Request::only_collect(simulate::Start::Sweep),
    }
}

/// The fields that a delete changes, as text.
pub fn state(snapshot: &Snapshot, terminating: bool, finalizers: &[Symbol], owners: &[Reference]) -> State {
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
