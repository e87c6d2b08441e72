//! Whether a plan depends on the event order: simulates other orders and adds outcomes that differ.
//!
//! An outcome is called order-dependent only if two different ends were found. If the order can't matter
//! (`order_sensitivity`), nothing is searched. Otherwise the search is not exhaustive: it simulates as many orders as
//! its budget of steps allows, most promising ones first, and reports if the budget was too small to be confident.

use std::{
    cell::OnceCell,
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::NodeId,
    model::{Object, ObjectId, Reference, ResourceId},
    progress,
    server::Stored,
    simulate::{
        Blockers, COLLECTOR_OVERDUE, Cause, InitialListOrder, Parts, Refused, Request, SimContext, Start, Uncertainty,
        World,
        actors::ContentOrder,
        affected_by, begin,
        delays::{for_each_delay, for_each_lateness},
        interleaving::Interleaving,
        order_sensitivity::order_sensitive,
    },
};

use super::{
    build::{add_second_end, build_plan, complete, likeliest},
    outcome::{Alternative, JointEnd, Outcome, OutcomeKind, Plan},
    side_effects::{add_armed, add_side_effects},
};

/// How many random orders are simulated if all end the same.
const MAX_ORDERS: u64 = 48;
/// Once two ends differ, random orders are simulated until so many in a row have shown no new end: this many for each
/// end that is known, because the more there are, the rarer some are. `tests/engine/recorded/once-wrong.txt` has one
/// that one order in 800 leads to, beside 25 others.
const ORDERS_WITHOUT_NEW_END: u64 = 80;
/// The least and the greatest of these numbers.
const LEAST_WITHOUT_NEW_END: u64 = 400;
const MOST_WITHOUT_NEW_END: u64 = 4000;
/// The number of orders in which a Namespace's contents or a CRD's instances are deleted.
const MAX_CONTENT_ORDERS: u64 = 36;
/// No more different ends than this are recorded.
const MAX_ENDS: usize = 256;

/// How many steps may be simulated, so that a search takes some seconds, however large the graph is.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    /// For random orders.
    pub random: u64,
    /// For orders with one delay.
    pub delays: u64,
    /// For first lists that show one object late.
    pub late_lists: u64,
    /// For orders in which a Namespace's contents or a CRD's instances are deleted.
    pub content: u64,
    /// For all parts of a sweep.
    pub parts: u64,
    /// For everything together.
    pub all: u64,
}

pub(super) const BUDGET: Budget = Budget {
    random: 1_000_000,
    delays: 300_000,
    late_lists: 1_000_000,
    content: 300_000,
    parts: 10_000_000,
    all: 5_000_000,
};

/// Plans a delete in several event orders. The outcomes are those of the likeliest order, with the alternatives of
/// others.
pub fn explore(context: &SimContext<'_>, request: &Request) -> Plan {
    complete(context, || {
        let mut plan = search(context, request, BUDGET);
        add_side_effects(context, &mut plan);
        match request.start {
            Start::AtRest => {
                add_second_end(context, &mut plan, |request| search(context, request, BUDGET));
                add_armed(context, &mut plan);
            }
            // What a sweep leaves is searched by the next one; until then, the likeliest order says enough.
            Start::Sweep => add_second_end(context, &mut plan, |request| likeliest(context, request)),
            Start::Restarted => {}
        }
        plan
    })
}

/// The same without side effects.
pub(super) fn search(context: &SimContext<'_>, request: &Request, budget: Budget) -> Plan {
    let (start, refused) = begin(context, request, InitialListOrder::default());
    let mut world = start.clone();
    world.settle();
    let without_overdue = start.without_overdue_work();
    let (start, other_start) = match without_overdue {
        // Of a collector that comes back, or doesn't, the one that deletes more comes first.
        Some(late) if let Some(end) = late.end_that_deletes_more(&world) => {
            world = end;
            (late, Some((start, Uncertainty::ComesBack)))
        }
        other => (start, other.map(|late| (late, Uncertainty::Overdue))),
    };
    let order_sensitive = order_sensitive(&world, request);
    if order_sensitive.is_empty() && other_start.is_none() && request.start != Start::Restarted {
        return build_plan(world, request, refused, &OnceCell::new());
    }
    progress::expect(world.steps + if request.start == Start::Sweep { budget.parts } else { budget.all });
    if request.start == Start::Sweep {
        return search_parts(&start, world, request, &order_sensitive, budget);
    }
    let mut search = Search::new(world, request, refused, order_sensitive, budget);
    search.play_delays(&start);
    search.play_random_orders(|number| match request.start {
        // The order of the first lists varies as well.
        Start::Restarted if number > 0 => begin(context, request, InitialListOrder::new(number)).0,
        _ => start.clone(),
    });
    search.play_content_orders(&start);
    if request.start == Start::AtRest {
        start.with_remembered_deletions().iter().for_each(|start| search.play_from(start));
        if let Some((start, why)) = &other_start {
            search.of_first = (search.others.len(), *why);
            search.play_from(start);
        }
    }
    if request.start == Start::Restarted {
        search.play_delays(&begin(context, request, InitialListOrder::new(1)).0);
        search.play_late_lists();
        search.play_owners_without_dependents();
    }
    search.build_plan()
}

/// Searches the order-sensitive independent parts of a sweep one by one: together, they could have as many ends as the
/// product of their numbers.
fn search_parts(
    start: &World<'_, '_>,
    end: World<'_, '_>,
    request: &Request,
    order_sensitive: &[ObjectId],
    budget: Budget,
) -> Plan {
    let parts = Parts::at_end_of(&end);
    let mut objects_by_part: BTreeMap<u32, Vec<ObjectId>> = BTreeMap::new();
    for object in order_sensitive {
        objects_by_part.entry(parts.of(*object)).or_default().push(*object);
    }
    let mut queued: FxHashMap<u32, (Vec<NodeId>, Vec<NodeId>)> = FxHashMap::default();
    for node in start.collector.to_delete.iter() {
        queued.entry(parts.of(node)).or_default().0.push(node);
    }
    for node in start.collector.to_orphan.iter() {
        queued.entry(parts.of(node)).or_default().1.push(node);
    }
    let mut main = build_plan(end, request, Refused::new(), &OnceCell::new());
    // The objects that a sweep can't finish are already in the main plan.
    let request = &Request { start: Start::AtRest, ..request.clone() };
    let mut spent = 0;
    for (part, order_sensitive) in objects_by_part {
        let Some((to_delete, to_orphan)) = queued.get(&part) else { continue };
        let start = start.with_queued(to_delete, to_orphan);
        let mut end = start.clone();
        end.settle();
        let mut search = Search::new(end, request, Refused::new(), order_sensitive, budget);
        search.set_main_outcomes(main.of_part(&parts, part));
        search.cut_short = spent > budget.parts;
        if !search.cut_short {
            search.play_delays(&start);
            search.play_random_orders(|_| start.clone());
            search.play_content_orders(&start);
        }
        spent += search.spent;
        main.add_part(search.build_plan());
    }
    main
}

impl Plan {
    /// The outcomes and unfinished objects of one part.
    fn of_part(&self, parts: &Parts, part: u32) -> (Vec<Outcome>, Vec<Outcome>) {
        let of_part = |outcomes: &[Outcome]| {
            outcomes.iter().filter(|outcome| parts.of(outcome.object) == part).cloned().collect()
        };
        (of_part(&self.outcomes), of_part(&self.stays))
    }

    /// Adds what others have done in another order, or for another part.
    fn add_finished(&mut self, other: &Plan) {
        let mut known: FxHashSet<ObjectId> = self.finished.iter().map(|finished| finished.object).collect();
        self.finished.extend(other.finished.iter().filter(|finished| known.insert(finished.object)).cloned());
        self.controllers.add(&other.controllers);
    }

    /// Adds what the search of one part found out about its objects.
    fn add_part(&mut self, part: Plan) {
        self.add_finished(&part);
        self.orders += part.orders - 1;
        self.assumptions.extend(part.assumptions);
        self.ends.extend(part.ends);
        let searched = part.outcomes.into_iter().filter(|outcome| outcome.uncertain.is_some());
        let mut searched: FxHashMap<ObjectId, Outcome> = searched.map(|outcome| (outcome.object, outcome)).collect();
        self.stays.retain(|stays| !searched.contains_key(&stays.object));
        for outcome in &mut self.outcomes {
            if let Some(searched) = searched.remove(&outcome.object) {
                outcome.uncertain = searched.uncertain;
                outcome.alternatives = searched.alternatives;
            }
        }
        let mut others: Vec<Outcome> = searched.into_values().collect();
        others.sort_unstable_by_key(|outcome| outcome.object);
        self.outcomes.extend(others);
    }
}

/// The ends found by a search.
struct Search<'q, 's, 'a> {
    context: &'s SimContext<'a>,
    request: &'q Request,
    refused: Refused,
    /// The same delete in a cluster without obstacles, simulated at most once.
    healthy: OnceCell<World<'s, 'a>>,
    main: Plan,
    /// Objects whose outcomes may differ in another order.
    order_sensitive: FxHashSet<ObjectId>,
    /// Ends that differ from the first.
    others: Vec<Plan>,
    /// How many of these begin as the first does, and what is open in the others: whether a collector comes back that
    /// is late.
    of_first: (usize, Uncertainty),
    /// Hashes of the ends that were compared.
    seen: FxHashSet<u64>,
    /// How many new ends were found.
    new_ends: u64,
    budget: Budget,
    /// How many steps were simulated, and how many outcomes compared.
    spent: u64,
    /// The steps of the longest order so far.
    longest: u64,
    /// Whether the budget ran out before enough orders were simulated.
    cut_short: bool,
}

impl<'q, 's, 'a> Search<'q, 's, 'a> {
    /// A search that starts with the end of the likeliest order.
    fn new(
        mut end: World<'s, 'a>,
        request: &'q Request,
        refused: Refused,
        order_sensitive: Vec<ObjectId>,
        budget: Budget,
    ) -> Self {
        let blockers = Blockers::at_end_of(&mut end, &[]);
        let healthy = OnceCell::new();
        let steps = end.steps;
        Search {
            context: end.context,
            request,
            order_sensitive: affected_by(&end, &blockers, &FxHashSet::default(), order_sensitive),
            main: build_plan(end, request, refused.clone(), &healthy),
            refused,
            healthy,
            others: Vec::new(),
            of_first: (usize::MAX, Uncertainty::Overdue),
            seen: FxHashSet::default(),
            new_ends: 0,
            budget,
            spent: steps,
            longest: steps,
            cut_short: false,
        }
    }

    /// What will have been spent when a part of the search has used this much.
    fn until(&self, part: u64) -> u64 {
        (self.spent + part).min(self.budget.all)
    }

    /// Whether another order may be simulated.
    fn goes_on(&self, until: u64) -> bool {
        self.others.len() < MAX_ENDS && self.spent <= until
    }

    /// Makes these the main outcomes, because the likeliest order of the whole sweep led to them. The likeliest order
    /// of this part alone may have another end.
    fn set_main_outcomes(&mut self, (outcomes, stays): (Vec<Outcome>, Vec<Outcome>)) {
        let own = self.main.clone();
        (self.main.outcomes, self.main.stays) = (outcomes, stays);
        if !same_ends(&self.main, &own) {
            self.others.push(own);
            self.new_ends += 1;
        }
    }

    /// Simulates orders from another start.
    fn play_from(&mut self, start: &World<'s, 'a>) {
        let mut world = start.clone();
        world.settle();
        self.record_end(world);
        self.play_delays(start);
        self.play_random_orders(|_| start.clone());
    }

    /// Simulates orders with one delay.
    fn play_delays(&mut self, start: &World<'s, 'a>) {
        let steps = self.main.steps;
        let most = self.budget.delays;
        if steps <= most / 2 {
            // The steps before a delay are simulated once, and counted with each.
            let until = self.until(2 * most);
            for_each_delay(start, steps, most, |end| {
                self.record_end(end);
                self.goes_on(until)
            });
        }
    }

    /// Simulates a collector that starts working before its first lists have shown some objects.
    fn play_late_lists(&mut self) {
        let until = self.until(self.budget.late_lists);
        for late in self.late_lists() {
            for start in World::restarted_before_listing(self.context, &late) {
                for_each_lateness(&start, |end| {
                    self.record_end(end);
                    self.goes_on(until)
                });
                if self.spent > until {
                    self.cut_short = true;
                    return;
                }
            }
        }
    }

    /// The objects that the first lists may show late: those of one or two kinds, or a single one.
    fn late_lists(&self) -> Vec<Vec<ObjectId>> {
        let mut by_kind: BTreeMap<ResourceId, Vec<ObjectId>> = BTreeMap::new();
        for (id, object) in self.context.snapshot.objects() {
            let node = NodeId::from(id);
            let connected = !object.owners.is_empty() || !self.context.graph.dependents(node).is_empty();
            let watched = self.context.snapshot.resources.not_watched(object.resource).is_none();
            if watched && connected && self.context.graph.by_uid(object.uid) == Some(node) {
                by_kind.entry(object.resource).or_default().push(id);
            }
        }
        let kinds: Vec<Vec<ObjectId>> = by_kind.into_values().collect();
        let objects = kinds.iter().flatten().map(|object| vec![*object]);
        let whole = kinds.iter().filter(|objects| objects.len() > 1).cloned();
        let pairs = kinds
            .iter()
            .enumerate()
            .flat_map(|(place, kind)| kinds[..place].iter().map(|other| [other.as_slice(), kind].concat()));
        objects.chain(whole).chain(pairs).collect()
    }

    /// Simulates a collector that examines a waiting or orphaning owner before its graph contains any dependent, in
    /// several orders: the owner's worker may continue before or after anything that the dependents queue.
    fn play_owners_without_dependents(&mut self) {
        let until = self.until(self.budget.late_lists);
        let mut starts: Vec<World<'s, 'a>> = self.owners_without_dependents().collect();
        for start in &mut starts {
            for_each_lateness(start, |end| {
                self.record_end(end);
                self.goes_on(until)
            });
            start.late.clear();
        }
        if !starts.is_empty() {
            self.play_random_orders(|number| starts[number as usize % starts.len()].clone());
        }
    }

    fn owners_without_dependents(&self) -> impl Iterator<Item = World<'s, 'a>> {
        let context = self.context;
        let begins = |stored: Stored<'_>| stored.waiting() || stored.orphaning();
        let owners = context.snapshot.objects().filter(move |(_, object)| begins(Stored::of(object)));
        let dependents = owners.map(|(owner, _)| -> Vec<ObjectId> {
            let dependents = context.graph.dependents(owner.into()).iter();
            dependents.copied().filter(|dependent| *dependent != owner).collect()
        });
        let late = dependents.filter(|late| !late.is_empty());
        late.flat_map(|late| World::restarted_before_listing(context, &late))
    }

    /// Simulates random orders, each from its own start.
    fn play_random_orders(&mut self, start: impl Fn(u64) -> World<'s, 'a>) {
        let until = self.until(self.budget.random);
        let (mut number, mut last_new_end) = (0, 0);
        loop {
            let orders = match self.others.len() as u64 {
                0 => MAX_ORDERS,
                others => {
                    let most = (others + 1) * ORDERS_WITHOUT_NEW_END;
                    last_new_end + most.clamp(LEAST_WITHOUT_NEW_END, MOST_WITHOUT_NEW_END)
                }
            };
            if number >= orders || self.others.len() >= MAX_ENDS {
                return;
            }
            // Another order may take as many steps as the longest.
            if self.spent + self.longest > until {
                self.cut_short = true;
                return;
            }
            let mut world = start(number);
            let mut order = Interleaving::new(number);
            world.settle_by(|world| order.next_step(world));
            number += 1;
            let new_ends = self.new_ends;
            self.record_end(world);
            if self.new_ends > new_ends {
                last_new_end = number;
            }
        }
    }

    /// Simulates orders in which a Namespace's contents or a CRD's instances are deleted; in every other one, the
    /// collector works in the likeliest order.
    fn play_content_orders(&mut self, start: &World<'s, 'a>) {
        let clears = |outcome: &Outcome| matches!(outcome.because, Some(Cause::Namespace(_) | Cause::Definition(_)));
        if !self.main.outcomes.iter().any(clears) {
            return;
        }
        let until = self.until(self.budget.content);
        for number in 1..=MAX_CONTENT_ORDERS {
            if self.spent + self.longest > until {
                self.cut_short = true;
                return;
            }
            let mut world = start.with_content_order(ContentOrder::new(number));
            let mut order = Interleaving::new(number);
            world.settle_by(|world| if number.is_multiple_of(2) { world.next_step() } else { order.next_step(world) });
            self.record_end(world);
        }
    }

    /// Records the end of an order.
    fn record_end(&mut self, world: World<'s, 'a>) {
        self.main.orders += 1;
        self.spent += world.steps;
        self.longest = self.longest.max(world.steps);
        // A simulation that was stopped has shown no end.
        if world.out_of_bounds {
            return;
        }
        self.main.assumptions.extend(world.assumptions.iter().cloned());
        if !self.seen.insert(world.end_hash()) {
            return;
        }
        let other = build_plan(world, self.request, self.refused.clone(), &self.healthy);
        // It is built, kept, and compared with the others.
        self.spent += other.outcomes.len() as u64;
        self.main.assumptions.extend(other.assumptions.iter().cloned());
        self.main.add_finished(&other);
        if !same_ends(&self.main, &other) && !self.others.iter().any(|known| same_ends(known, &other)) {
            self.others.push(other);
            self.new_ends += 1;
        }
    }

    fn build_plan(mut self) -> Plan {
        self.main.steps = self.spent;
        if !self.others.is_empty() {
            add_alternatives(self.context, &mut self.main, &self.others, self.of_first);
        } else if self.cut_short {
            for outcome in &mut self.main.outcomes {
                let says_less = outcome.uncertain.is_none_or(|why| !why.may_remove());
                if says_less && self.order_sensitive.contains(&outcome.object) {
                    outcome.uncertain = Some(Uncertainty::Bound);
                }
            }
        }
        self.main
    }
}

impl World<'_, '_> {
    /// A hash of the final state of all objects. Their hashes are added up, so they must be independent: with FxHasher,
    /// two objects that exchange their states have the same sum.
    fn end_hash(&self) -> u64 {
        let of_object = |object: ObjectId| {
            let mut hasher = DefaultHasher::new();
            let stored = self.stored(object);
            (object, stored.is_some()).hash(&mut hasher);
            if let Some(stored) = stored {
                (stored.terminating, &stored.finalizers, &*stored.owners).hash(&mut hasher);
            }
            hasher.finish()
        };
        self.touched().into_iter().fold(0u64, |sum, object| sum.wrapping_add(of_object(object)))
    }

    /// The same world with a collector that doesn't come back to what it should have done long ago: it isn't running,
    /// or has lost track of that (R3.22). `None` if there is nothing of that kind, or it isn't long ago.
    pub(super) fn without_overdue_work(&self) -> Option<Self> {
        let is_overdue = |object: &ObjectId| {
            let stored = Stored::of(self.context.snapshot.object(*object));
            let begun = stored.waiting() || stored.orphaning();
            begun && self.context.terminating_for(*object).is_none_or(|seconds| seconds >= COLLECTOR_OVERDUE)
        };
        let overdue: Vec<ObjectId> = self.going_on.iter().copied().filter(is_overdue).collect();
        let mut world = (!overdue.is_empty()).then(|| self.clone())?;
        for object in overdue {
            world.collector.to_delete.remove(object.into());
            world.collector.to_orphan.remove(object.into());
        }
        Some(world)
    }

    /// The end of the likeliest order from here, if it leaves fewer objects than the other end.
    pub(super) fn end_that_deletes_more(&self, other: &Self) -> Option<Self> {
        let gone = |end: &Self| end.touched().into_iter().filter(|object| !end.exists(*object)).count();
        let mut end = self.clone();
        end.settle();
        (gone(&end) > gone(other)).then_some(end)
    }

    /// The same world with a collector that remembers more than a snapshot shows: an object with a foreign finalizer
    /// may have completed a foreground deletion, and the collector never forgets that (G3). It considers the owners of
    /// such an object part of a cycle, and unblocks theirs (R5.11). `None` if there is no such object.
    ///
    /// A pod in its grace period might be remembered as well, but that is rare.
    fn with_remembered_deletions(&self) -> Option<Self> {
        let collector = &self.collector;
        let may_be_remembered = |id: ObjectId, object: &Object| {
            let blockers = object.terminating() && object.grace.get().is_none_or(|grace| grace == 0);
            let names_somebody = |reference: &Reference| {
                self.context.graph.by_uid(reference.uid).is_some_and(|owner| self.context.graph.object(owner).is_some())
            };
            blockers
                && !collector.node(id.into()).deleting_dependents
                && object.owners.iter().any(names_somebody)
                && collector.watches(id)
        };
        let remembered: Vec<ObjectId> = self
            .context
            .snapshot
            .objects()
            .filter(|(id, object)| may_be_remembered(*id, object))
            .map(|(id, _)| id)
            .collect();
        let mut world = (!remembered.is_empty()).then(|| self.clone())?;
        for object in remembered {
            world.collector.node_mut(object.into()).deleting_dependents = true;
        }
        Some(world)
    }
}

/// Whether two plans have the same outcome for every object.
pub(super) fn same_ends(left: &Plan, right: &Plan) -> bool {
    let ends = |plan: &Plan| -> FxHashMap<ObjectId, Alternative> {
        plan.outcomes
            .iter()
            .filter(|outcome| outcome.kind != OutcomeKind::Unchanged)
            .map(|outcome| (outcome.object, Alternative { because: None, state: None, ..end_of(outcome) }))
            .collect()
    };
    left.outcomes.len() == right.outcomes.len() && ends(left) == ends(right)
}

fn end_of(outcome: &Outcome) -> Alternative {
    Alternative {
        kind: outcome.kind,
        because: outcome.because.clone(),
        state: outcome.state,
        after: outcome.after.clone(),
    }
}

/// The outcome of an object in a plan, even if the plan doesn't touch it.
fn end_in(context: &SimContext<'_>, plan: &FxHashMap<ObjectId, &Outcome>, object: ObjectId) -> Alternative {
    plan.get(&object).map_or_else(|| end_of(&Outcome::untouched(context, object)), |outcome| end_of(outcome))
}

/// Adds the outcomes of other event orders to the main plan. `of_first`: how many of these begin as the main plan does,
/// and what is open in the others.
pub(super) fn add_alternatives(
    context: &SimContext<'_>,
    main: &mut Plan,
    others: &[Plan],
    (of_first, otherwise): (usize, Uncertainty),
) {
    let plans: Vec<FxHashMap<ObjectId, &Outcome>> = others
        .iter()
        .map(|plan| plan.outcomes.iter().chain(&plan.stays).map(|outcome| (outcome.object, outcome)).collect())
        .collect();
    // Objects that only another order touches are listed, too, as unchanged.
    let mut known: FxHashSet<ObjectId> = main.outcomes.iter().map(|outcome| outcome.object).collect();
    for outcome in others.iter().flat_map(|plan| &plan.outcomes) {
        if known.insert(outcome.object) {
            main.outcomes.push(Outcome::untouched(context, outcome.object));
        }
    }
    let mut varying: Vec<ObjectId> = Vec::new();
    for outcome in &mut main.outcomes {
        let own = end_of(outcome);
        let mut alternatives: Vec<Alternative> = Vec::new();
        let mut why = otherwise;
        for (place, plan) in plans.iter().enumerate() {
            let end = end_in(context, plan, outcome.object);
            let is_new = end.after != own.after && alternatives.iter().all(|known| known.after != end.after);
            if is_new {
                alternatives.push(end);
                why = if place < of_first { Uncertainty::Order } else { why };
            }
        }
        if !alternatives.is_empty() {
            outcome.alternatives = alternatives;
            outcome.uncertain = Some(why);
            varying.push(outcome.object);
        }
    }
    // Objects that stay in one order only are listed with the outcomes.
    main.stays.retain(|stays| !varying.contains(&stays.object));
    // Drop objects that other orders touched without changing them.
    main.outcomes.retain(|outcome| outcome.kind != OutcomeKind::Unchanged || outcome.uncertain.is_some());
    main.ends = groups(context, &varying).into_iter().map(|group| joint_ends(context, main, &plans, &group)).collect();
}

/// The joint outcomes of one group, each once, the most likely first.
fn joint_ends(
    context: &SimContext<'_>,
    main: &Plan,
    plans: &[FxHashMap<ObjectId, &Outcome>],
    group: &[ObjectId],
) -> Vec<JointEnd> {
    let first: FxHashMap<ObjectId, &Outcome> = main.outcomes.iter().map(|outcome| (outcome.object, outcome)).collect();
    let mut ends: Vec<JointEnd> = Vec::new();
    for plan in std::iter::once(&first).chain(plans) {
        let end: JointEnd = group.iter().map(|object| (*object, end_in(context, plan, *object))).collect();
        let same = |known: &JointEnd| known.iter().zip(&end).all(|((_, left), (_, right))| left.after == right.after);
        if !ends.iter().any(same) {
            ends.push(end);
        }
    }
    ends
}

/// Groups of objects that are connected by ownership, directly or through a common owner.
fn groups(context: &SimContext<'_>, objects: &[ObjectId]) -> Vec<Vec<ObjectId>> {
    let mut group_of: FxHashMap<NodeId, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<ObjectId>> = Vec::new();
    for object in objects {
        let mut nodes = vec![NodeId::from(*object)];
        let owners =
            context.snapshot.object(*object).owners.iter().filter_map(|reference| context.graph.by_uid(reference.uid));
        nodes.extend(owners);
        let mut joined: Vec<usize> = nodes.iter().filter_map(|node| group_of.get(node).copied()).collect();
        joined.sort_unstable();
        joined.dedup();
        let target = joined.first().copied().unwrap_or_else(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        for other in joined.into_iter().skip(1) {
            let moved = std::mem::take(&mut groups[other]);
            groups[target].extend(moved);
            group_of.values_mut().filter(|group| **group == other).for_each(|group| *group = target);
        }
        groups[target].push(*object);
        for node in nodes {
            group_of.insert(node, target);
        }
    }
    groups.retain(|group| !group.is_empty());
    groups
}
