//! Where a course of events begins: what the collector has queued tells its uses apart (§8.1).

use std::collections::BTreeMap;

use crate::{
    collector::{Collector, Event, EventKind},
    graph::NodeId,
    model::{ObjectId, ResourceId},
    server::{DeleteOptions, kinds::protected},
};

use super::{
    request::{Refused, Request, Start},
    rng::Rng,
    world::{SimContext, World},
};

/// The order in which the first lists of a collector that was restarted reach its graph, and how much of them has when
/// its workers begin. Objects of one kind come in any order (the informers' first lists pass through a map since 1.35),
/// and so do the kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lists(u64);

impl Lists {
    /// One order of many; the same number makes the same. Number 0 goes by kinds as they are discovered, and by names.
    pub fn new(number: u64) -> Self {
        Lists(number)
    }

    /// How many objects the graph knows when the workers begin, if that isn't all: they wait for the lists, but not for
    /// the graph.
    fn seen_before_work(self, objects: usize) -> Option<usize> {
        (self.0 % 4 == 3).then(|| Rng::new(!self.0).below(objects))
    }

    fn order(self, stage: &SimContext<'_>) -> Vec<ObjectId> {
        let snapshot = stage.snapshot;
        let mut by_resource: BTreeMap<ResourceId, Vec<ObjectId>> = BTreeMap::new();
        for (id, object) in snapshot.objects() {
            by_resource.entry(object.resource).or_default().push(id);
        }
        let mut lists: Vec<Vec<ObjectId>> = by_resource.into_values().collect();
        for list in &mut lists {
            list.sort_by_cached_key(|id| {
                let object = snapshot.object(*id);
                (snapshot.text(object.namespace), snapshot.text(object.name))
            });
        }
        let mut dice = Rng::new(self.0);
        match self.0 {
            0 => lists.concat(),
            1 => lists.into_iter().rev().flatten().collect(),
            number => {
                for list in &mut lists {
                    dice.shuffle(list);
                }
                dice.shuffle(&mut lists);
                if number % 2 == 0 { lists.concat() } else { interleaved(lists, &mut dice) }
            }
        }
    }
}

/// Lists that arrive at the same time, bit by bit.
fn interleaved(lists: Vec<Vec<ObjectId>>, dice: &mut Rng) -> Vec<ObjectId> {
    let mut all = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    let mut lists: Vec<_> = lists.into_iter().map(|list| list.into_iter().peekable()).collect();
    while !lists.is_empty() {
        let place = dice.below(lists.len());
        let some = 1 + dice.below(4);
        all.extend(lists[place].by_ref().take(some));
        if lists[place].peek().is_none() {
            drop(lists.swap_remove(place));
        }
    }
    all
}

/// The world before anything happens, and the targets that the API server refuses.
pub fn begin<'s, 'a>(stage: &'s SimContext<'a>, request: &Request, lists: Lists) -> (World<'s, 'a>, Refused) {
    let mut world = World::started(stage, request.start, lists);
    world.only.clone_from(&request.only);
    world.cuts.extend(request.cuts.iter().cloned());
    let mut refused = Vec::new();
    for target in &request.targets {
        match protected(stage.snapshot, *target) {
            Some(why) => refused.push((*target, why)),
            None => {
                let options = DeleteOptions {
                    propagation: Some(request.propagation),
                    grace: request.grace,
                    ..DeleteOptions::default()
                };
                world.requests.push_back((*target, options));
            }
        }
    }
    (world, refused)
}

impl<'s, 'a> World<'s, 'a> {
    /// The world as a collector finds it that has been doing this; `lists` matters to one that was restarted.
    pub fn started(stage: &'s SimContext<'a>, start: Start, lists: Lists) -> Self {
        let collector = match start {
            Start::AtRest => Collector::at_rest(stage.snapshot, stage.graph),
            Start::Restarted => return World::restarted(stage, lists),
            Start::Sweep => Collector::sweeping(stage.snapshot, stage.graph),
        };
        let mut world = World::with_collector(stage, collector);
        world.knows_scopes = start == Start::Sweep;
        world
    }

    /// A world at rest, but for these nodes, which the collector has queued.
    pub(crate) fn with_queued(&self, to_delete: &[NodeId], to_orphan: &[NodeId]) -> Self {
        let mut world = World::at_rest(self.stage);
        world.knows_scopes = self.knows_scopes;
        world.only.clone_from(&self.only);
        for node in to_delete {
            world.collector.to_delete.add(*node);
        }
        for node in to_orphan {
            world.collector.to_orphan.add(*node);
        }
        world
    }

    fn restarted(stage: &'s SimContext<'a>, lists: Lists) -> Self {
        let order = lists.order(stage);
        let Some(seen) = lists.seen_before_work(order.len()) else {
            return World::with_collector(stage, Collector::restarted(stage.snapshot, stage.graph, order));
        };
        World::listing(stage, order, seen)
    }

    /// The world as a restarted collector finds it that begins to work when so many objects of its first lists are in
    /// its graph.
    fn listing(stage: &'s SimContext<'a>, order: Vec<ObjectId>, seen: usize) -> Self {
        let mut world = World::with_collector(stage, Collector::starting(stage.snapshot, stage.graph));
        let mut listed = order.into_iter().map(|object| Event { node: object.into(), kind: EventKind::Listed });
        for event in listed.by_ref().take(seen) {
            world.collector.observe(event);
        }
        world.events.extend(listed);
        world
    }

    /// The same for a collector whose first lists show one object last, when it has already begun to work: one world
    /// for each of the namespaces in which it may take that object to be, by the dependent that it has seen first
    /// (R3.2).
    pub(crate) fn restarted_before_seeing(stage: &'s SimContext<'a>, late: ObjectId) -> Vec<Self> {
        let snapshot = stage.snapshot;
        let order: Vec<ObjectId> = Lists::default().order(stage).into_iter().filter(|object| *object != late).collect();
        let mut first_of_each: Vec<ObjectId> = Vec::new();
        for dependent in stage.graph.dependents(late.into()) {
            let namespace = |object: ObjectId| snapshot.object(object).namespace;
            if *dependent != late && first_of_each.iter().all(|first| namespace(*first) != namespace(*dependent)) {
                first_of_each.push(*dependent);
            }
        }
        let beginning_with = |first: Option<ObjectId>| {
            let others = order.iter().copied().filter(|object| Some(*object) != first);
            World::listing(stage, first.into_iter().chain(others).chain([late]).collect(), order.len())
        };
        match first_of_each.as_slice() {
            [] => vec![beginning_with(None)],
            each => each.iter().map(|first| beginning_with(Some(*first))).collect(),
        }
    }
}
