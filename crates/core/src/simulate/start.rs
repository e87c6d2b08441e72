//! The initial states of a simulation (§8.1).

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::{
    collector::{Collector, Event, EventKind, Known},
    graph::NodeId,
    model::{ObjectId, ResourceId, Symbol},
    server::{DeleteOptions, kinds::protected},
};

use super::{
    actors::Others,
    context::SimContext,
    projection::Blockers,
    request::{Refused, Request, Start},
    rng::Rng,
    world::World,
};

/// The order in which the first lists of a restarted collector reach its graph, and how much has arrived when its
/// workers start. Both the kinds and the objects of one kind may come in any order (since 1.35, the informers' first
/// lists pass through a map).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InitialListOrder(u64);

impl InitialListOrder {
    /// The order with this number. Number 0 is sorted by discovered kind and name.
    pub fn new(number: u64) -> Self {
        InitialListOrder(number)
    }

    /// How many objects the graph contains when the workers start; `None`: all. Workers wait for the lists, but not for
    /// the graph.
    fn seen_before_work(self, objects: usize) -> Option<usize> {
        (self.0 % 4 == 3).then(|| Rng::new(!self.0).below(objects))
    }

    /// The resources whose lists arrive only when nothing else is left to do; `None`: none.
    fn late(self, context: &SimContext<'_>) -> Option<Vec<ResourceId>> {
        let mut rng = Rng::new(!self.0);
        let mut resources: Vec<ResourceId> = context.snapshot.objects().map(|(_, object)| object.resource).collect();
        resources.sort_unstable();
        resources.dedup();
        (self.0 % 4 == 1 && self.0 > 1).then(|| resources.into_iter().filter(|_| rng.below(2) == 0).collect())
    }

    fn order(self, context: &SimContext<'_>) -> Vec<ObjectId> {
        let snapshot = context.snapshot;
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
        let mut rng = Rng::new(self.0);
        match self.0 {
            0 => lists.concat(),
            1 => lists.into_iter().rev().flatten().collect(),
            number => {
                for list in &mut lists {
                    rng.shuffle(list);
                }
                rng.shuffle(&mut lists);
                if number % 2 == 0 { lists.concat() } else { interleave(lists, &mut rng) }
            }
        }
    }
}

/// Lists that arrive concurrently, in pieces.
fn interleave(lists: Vec<Vec<ObjectId>>, rng: &mut Rng) -> Vec<ObjectId> {
    let mut all = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    let mut lists: Vec<_> = lists.into_iter().map(|list| list.into_iter().peekable()).collect();
    while !lists.is_empty() {
        let index = rng.below(lists.len());
        let count = 1 + rng.below(4);
        all.extend(lists[index].by_ref().take(count));
        if lists[index].peek().is_none() {
            drop(lists.swap_remove(index));
        }
    }
    all
}

/// The world before anything happens, and the targets that the API server refuses.
pub fn begin<'s, 'a>(
    context: &'s SimContext<'a>,
    request: &Request,
    lists: InitialListOrder,
) -> (World<'s, 'a>, Refused) {
    let mut world = World::started(context, request.start, lists);
    if request.mended {
        world.mend();
    }
    if request.only.is_some() {
        world.only.clone_from(&request.only);
    }
    world.others = request.others_finish.then(|| Others::of(request.targets.clone()));
    // A collector that starts only afterwards finds what the requests have left.
    let obstacles = context.obstacles.as_ref().filter(|_| request.mended);
    let begins_later = obstacles.is_some_and(|obstacles| obstacles.manager_away.is_some());
    if request.start == Start::AtRest {
        world.tries_again = true;
        if !begins_later {
            world.go_on(&request.targets);
        }
    }
    world.cuts.extend(request.cuts.iter().cloned());
    world.appear(&request.appearing);
    let mut refused = Vec::new();
    for target in &request.targets {
        match protected(context.snapshot, *target) {
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
    if request.start == Start::AtRest && begins_later {
        while world.has_requests_left() {
            world.send_next_request();
        }
        world.go_on(&request.targets);
    }
    (world, refused)
}

impl<'s, 'a> World<'s, 'a> {
    /// The initial world; `lists` only matters after a restart.
    pub fn started(context: &'s SimContext<'a>, start: Start, lists: InitialListOrder) -> Self {
        let collector = match start {
            Start::AtRest => Collector::at_rest(context.snapshot, context.graph),
            Start::Restarted => return World::restarted(context, lists),
            Start::Sweep => Collector::sweeping(context.snapshot, context.graph),
        };
        World::with_collector(context, collector)
    }

    /// Lets nothing be in the way.
    pub fn mend(&mut self) {
        self.heeds = false;
        self.only = None;
    }

    /// Lets the earlier delete of targets that are Terminating already go on, of what they wait for, and of the
    /// namespaces and CRDs of targets. The API server ignores another DELETE, or nearly so: what comes of these doesn't
    /// begin with it.
    fn go_on(&mut self, targets: &[ObjectId]) {
        let context = self.context;
        let is_leaving = |object: &ObjectId| context.snapshot.object(*object).terminating();
        for object in targets.iter().flat_map(|target| context.above(*target)).filter(is_leaving) {
            self.actors.notice(object);
        }
        let mut leaving: Vec<ObjectId> = targets.iter().copied().filter(is_leaving).collect();
        if leaving.is_empty() {
            return;
        }
        // A namespace waits for its pods first, and then for everything else.
        let contents: Vec<ObjectId> =
            leaving.iter().flat_map(|object| context.contents(*object)).copied().filter(is_leaving).collect();
        leaving.extend(contents);
        let (beneath, _) = context.aside(|| Blockers::beneath(&mut World::at_rest(context), leaving).objects());
        self.going_on = beneath.into_iter().filter(is_leaving).collect();
        let mut going_on: Vec<ObjectId> = self.going_on.iter().copied().collect();
        going_on.sort_unstable();
        for object in going_on {
            if let Some(stored) = self.stored(object) {
                self.queue_unfinished(object, &stored);
            }
        }
    }

    /// A world at rest, except for these queued nodes.
    pub(crate) fn with_queued(&self, to_delete: &[NodeId], to_orphan: &[NodeId]) -> Self {
        let mut world = World::at_rest(self.context);
        world.collector.sweeps = self.collector.sweeps;
        world.only.clone_from(&self.only);
        world.others.clone_from(&self.others);
        for node in to_delete {
            world.collector.to_delete.add(*node);
        }
        for node in to_orphan {
            world.collector.to_orphan.add(*node);
        }
        world
    }

    /// Completes the lists of late informers: these show current states, not earlier events.
    pub(super) fn list_late(&mut self) {
        let is_pending = |event: &Event<'_>| matches!(event.kind, EventKind::Listed(_));
        let places = (0..self.events.len()).filter(|place| self.is_late(*place) && is_pending(&self.events[*place]));
        let pending: FxHashSet<NodeId> = places.map(|place| self.events[place].node).collect();
        self.late.clear();
        for event in std::mem::take(&mut self.events) {
            match event.kind {
                EventKind::Listed(_) if pending.contains(&event.node) => {
                    let object = self.context.graph.object(event.node);
                    match object.and_then(|object| self.stored(object)) {
                        Some(now) => {
                            self.events.push_back(Event { kind: EventKind::Listed(Some(Box::new(now))), ..event });
                        }
                        // No list will ever show it: a virtual node is looked up again (R3.3).
                        None if self.collector.node(event.node).known == Known::Virtual => {
                            self.collector.retries.soon(event.node);
                        }
                        None => {}
                    }
                }
                EventKind::Updated { .. } | EventKind::Deleted if pending.contains(&event.node) => {}
                _ => self.events.push_back(event),
            }
        }
    }

    fn restarted(context: &'s SimContext<'a>, lists: InitialListOrder) -> Self {
        let order = lists.order(context);
        if let Some(late) = lists.late(context) {
            let is_late = |object: &ObjectId| late.contains(&context.snapshot.object(*object).resource);
            let (last, first): (Vec<ObjectId>, Vec<ObjectId>) = order.into_iter().partition(is_late);
            let seen = first.len();
            let mut world = World::listing(context, [first, last].concat(), seen);
            world.late = late;
            return world;
        }
        let Some(seen) = lists.seen_before_work(order.len()) else {
            return World::with_collector(context, Collector::restarted(context.snapshot, context.graph, order));
        };
        World::listing(context, order, seen)
    }

    /// A world after a restart whose workers start after this many events of the first lists.
    fn listing(context: &'s SimContext<'a>, order: Vec<ObjectId>, seen: usize) -> Self {
        let mut world = World::with_collector(context, Collector::starting(context.snapshot, context.graph));
        let mut listed = order.into_iter().map(|object| Event { node: object.into(), kind: EventKind::Listed(None) });
        for event in listed.by_ref().take(seen) {
            world.collector.observe(event);
        }
        world.events.extend(listed);
        world
    }

    /// Worlds after a restart in which the workers start before the first lists have shown these objects: one for each
    /// namespace in which the collector may assume them, which is that of the dependent observed first (R3.2).
    pub(crate) fn restarted_before_listing(context: &'s SimContext<'a>, late: &[ObjectId]) -> Vec<Self> {
        let namespace = |object: ObjectId| context.snapshot.object(object).namespace;
        let order = InitialListOrder::default().order(context).into_iter().filter(|object| !late.contains(object));
        let order: Vec<ObjectId> = order.collect();
        let dependents = late.iter().flat_map(|late| context.graph.dependents((*late).into()));
        let mut namespaces: Vec<Symbol> = dependents.map(|dependent| namespace(*dependent)).collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        let starting_in = |first: Option<Symbol>| {
            let (first, others): (Vec<ObjectId>, Vec<ObjectId>) =
                order.iter().partition(|object| Some(namespace(**object)) == first);
            let order: Vec<ObjectId> = [&first, &others, late].into_iter().flatten().copied().collect();
            let mut world = World::listing(context, order, first.len() + others.len());
            world.late.extend(late.iter().map(|object| context.snapshot.object(*object).resource));
            world
        };
        match namespaces.as_slice() {
            [] => vec![starting_in(None)],
            each => each.iter().map(|first| starting_in(Some(*first))).collect(),
        }
    }
}
