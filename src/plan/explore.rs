//! Whether a plan depends on the order of events (§11): other orders are played, and ends that differ are told.
//!
//! What is called uncertain for this reason has been seen to end in two ways. Where the order can't matter
//! (`confluence`), nothing is searched. Where it may, the search is not exhaustive: it plays as many orders as its
//! budget of steps allows, those that are most likely to differ first, and says so where that was not enough to be
//! confident.

use std::{
    collections::BTreeMap,
    hash::{Hash, Hasher},
};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::{
    graph::NodeId,
    model::{Object, ObjectId, Reference},
};

use crate::simulate::{
    Blockers, Cause, Lists, Parts, Refused, Request, SimContext, Start, World,
    actors::ContentOrder,
    all_that_rests_on, begin,
    delays::{with_one_delay, with_the_first_delayed},
    interleaving::Interleaving,
    order_sensitivity::order_sensitive,
};

use super::{
    alternatives::{same_ends, tell_alternatives},
    build::build_plan,
    outcome::{Outcome, Plan, Uncertainty},
    side_effects::add_side_effects,
};

/// So many made-up orders are played where all end in the same way.
const MOST_ORDERS: u64 = 48;
/// So many steps are spent on them.
const MOST_STEPS: u64 = 1_000_000;
/// Once two ends differ, made-up orders are played until so many in a row have shown no other.
const ORDERS_WITHOUT_NEWS: u64 = 400;
/// So many steps are spent on looking for more than two ends.
const MOST_STEPS_FOR_MORE_ENDS: u64 = 1_000_000;
/// And so many on orders in which one thing takes longer.
const MOST_STEPS_WITH_DELAYS: u64 = 300_000;
/// And so many on first lists that show one object late.
const MOST_STEPS_ON_LATE_LISTS: u64 = 1_000_000;
/// So many orders in which a namespace's content, or a definition's instances, are deleted; and the steps that are
/// spent on them.
const MOST_CONTENT_ORDERS: u64 = 36;
const MOST_STEPS_ON_CONTENT: u64 = 300_000;
/// So many steps are spent on all parts of a sweep together.
const MOST_STEPS_ON_PARTS: u64 = 10_000_000;
/// Different ends beyond so many are not told apart any more.
const MOST_ENDS: usize = 256;

/// Plays a delete in several orders of events. The outcomes are those of the most likely order, each with what else
/// becomes of it.
pub fn explore(stage: &SimContext<'_>, request: &Request) -> Plan {
    let mut plan = search(stage, request);
    add_side_effects(stage, &mut plan);
    plan
}

/// The same, without what it means beyond the graph.
fn search(stage: &SimContext<'_>, request: &Request) -> Plan {
    let (start, refused) = begin(stage, request, Lists::default());
    let mut world = start.clone();
    world.settle();
    let order_sensitive = order_sensitive(&world, request);
    if order_sensitive.is_empty() && request.start != Start::Restarted {
        return build_plan(world, request, refused);
    }
    if request.start == Start::Sweep {
        return search_parts(&start, world, request, &order_sensitive);
    }
    let mut search = Search::new(world, request, refused, order_sensitive);
    search.delay(&start);
    search.make_up_orders(|number| match request.start {
        // The first lists come in another order each time, too.
        Start::Restarted if number > 0 => begin(stage, request, Lists::new(number)).0,
        _ => start.clone(),
    });
    search.clear_in_other_orders(&start);
    if request.start == Start::AtRest
        && let Some(remembering) = start.with_memories()
    {
        let mut world = remembering.clone();
        world.settle();
        search.meet(world);
        search.delay(&remembering);
        search.make_up_orders(|_| remembering.clone());
    }
    if request.start == Start::Restarted {
        search.delay(&begin(stage, request, Lists::new(1)).0);
        search.list_late();
    }
    search.build_plan()
}

/// A sweep is many courses of events that have nothing to do with each other. Each that is in question is searched
/// alone: together they could end in as many ways as their numbers multiplied.
fn search_parts(start: &World<'_, '_>, end: World<'_, '_>, request: &Request, order_sensitive: &[ObjectId]) -> Plan {
    let parts = Parts::at_end_of(&end);
    let mut of_parts: BTreeMap<u32, Vec<ObjectId>> = BTreeMap::new();
    for object in order_sensitive {
        of_parts.entry(parts.of(*object)).or_default().push(*object);
    }
    let mut queued: FxHashMap<u32, (Vec<NodeId>, Vec<NodeId>)> = FxHashMap::default();
    for node in start.collector.to_delete.iter() {
        queued.entry(parts.of(node)).or_default().0.push(node);
    }
    for node in start.collector.to_orphan.iter() {
        queued.entry(parts.of(node)).or_default().1.push(node);
    }
    let mut main = build_plan(end, request, Refused::new());
    // What a sweep takes up and leaves as it is was told for all of it.
    let request = &Request { start: Start::AtRest, ..request.clone() };
    let mut spent = 0;
    for (part, order_sensitive) in of_parts {
        let Some((to_delete, to_orphan)) = queued.get(&part) else { continue };
        let start = start.with_queued(to_delete, to_orphan);
        let mut end = start.clone();
        end.settle();
        let mut search = Search::new(end, request, Refused::new(), order_sensitive);
        search.comes_first_with(main.of_part(&parts, part));
        search.cut_short = spent > MOST_STEPS_ON_PARTS;
        if !search.cut_short {
            search.delay(&start);
            search.make_up_orders(|_| start.clone());
            search.clear_in_other_orders(&start);
        }
        spent += search.spent;
        main.take_over(search.build_plan());
    }
    main
}

impl Plan {
    /// What was told of one part.
    fn of_part(&self, parts: &Parts, part: u32) -> (Vec<Outcome>, Vec<Outcome>) {
        let of_part = |outcomes: &[Outcome]| {
            outcomes.iter().filter(|outcome| parts.of(outcome.object) == part).cloned().collect()
        };
        (of_part(&self.outcomes), of_part(&self.stays))
    }

    /// Takes over what the search of one part found out about its objects.
    fn take_over(&mut self, part: Plan) {
        self.orders += part.orders - 1;
        self.needs.add(&part.needs);
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

/// Ends that were seen.
struct Search<'q, 's, 'a> {
    stage: &'s SimContext<'a>,
    request: &'q Request,
    refused: Refused,
    main: Plan,
    /// What may come out differently in another order.
    order_sensitive: FxHashSet<ObjectId>,
    /// Those that differ from the first.
    others: Vec<Plan>,
    /// What tells ends apart that were looked at.
    seen: FxHashSet<u64>,
    /// In how many orders another end was seen than before.
    news: u64,
    /// How many steps were played.
    spent: u64,
    /// The steps were used up before as many orders were played as it takes to be confident.
    cut_short: bool,
}

impl<'q, 's, 'a> Search<'q, 's, 'a> {
    /// A search that has seen the end of the likeliest order, in which some objects are in question.
    fn new(mut end: World<'s, 'a>, request: &'q Request, refused: Refused, order_sensitive: Vec<ObjectId>) -> Self {
        let held = Blockers::at_end_of(&mut end, &[]);
        Search {
            stage: end.stage,
            request,
            order_sensitive: all_that_rests_on(&end, &held, order_sensitive),
            main: build_plan(end, request, refused.clone()),
            refused,
            others: Vec::new(),
            seen: FxHashSet::default(),
            news: 0,
            spent: 0,
            cut_short: false,
        }
    }

    /// The end that is told first is this one, to which the likeliest order of all led. Where there is nothing but this
    /// part, the order is another one, and may lead to another end.
    fn comes_first_with(&mut self, (outcomes, stays): (Vec<Outcome>, Vec<Outcome>)) {
        let own = self.main.clone();
        (self.main.outcomes, self.main.stays) = (outcomes, stays);
        if !same_ends(&self.main, &own) {
            self.others.push(own);
            self.news += 1;
        }
    }

    /// Orders in which one thing takes longer.
    fn delay(&mut self, start: &World<'s, 'a>) {
        let steps = self.main.steps;
        if steps <= MOST_STEPS_WITH_DELAYS / 2 {
            with_one_delay(start, steps, MOST_STEPS_WITH_DELAYS, |end| {
                self.meet(end);
                self.others.len() < MOST_ENDS
            });
        }
    }

    /// A collector that works while its first lists have not shown it one of the objects yet.
    fn list_late(&mut self) {
        let before = self.spent;
        for (late, object) in self.stage.snapshot.objects() {
            let node = NodeId::from(late);
            let depended_on = !self.stage.graph.dependents(node).is_empty();
            let is_listed = self.stage.snapshot.resources.not_watched(object.resource).is_none();
            if !is_listed
                || (object.owners.is_empty() && !depended_on)
                || self.stage.graph.by_uid(object.uid) != Some(node)
            {
                continue;
            }
            for start in World::restarted_before_seeing(self.stage, late) {
                if self.spent - before > MOST_STEPS_ON_LATE_LISTS {
                    self.cut_short = true;
                    return;
                }
                with_the_first_delayed(&start, |end| {
                    self.meet(end);
                    self.others.len() < MOST_ENDS
                });
            }
        }
    }

    /// Made-up orders, each from its own start.
    fn make_up_orders(&mut self, start: impl Fn(u64) -> World<'s, 'a>) {
        let (mut spent, mut number, mut last_news) = (0, 0, 0);
        loop {
            let several = !self.others.is_empty();
            let (orders, steps) = match several {
                true => (last_news + ORDERS_WITHOUT_NEWS, MOST_STEPS_FOR_MORE_ENDS),
                false => (MOST_ORDERS, MOST_STEPS),
            };
            // Another order takes about as long as the first did.
            if number >= orders || self.others.len() >= MOST_ENDS {
                return;
            }
            if spent + self.main.steps > steps {
                self.cut_short = true;
                return;
            }
            let mut world = start(number);
            let mut order = Interleaving::new(number);
            world.settle_by(|world| order.next_step(world));
            spent += world.steps;
            number += 1;
            let news = self.news;
            self.meet(world);
            if self.news > news {
                last_news = number;
            }
        }
    }

    /// Orders in which a namespace's content, or a definition's instances, are deleted; every other one with a
    /// collector that does things in the likeliest order.
    fn clear_in_other_orders(&mut self, start: &World<'s, 'a>) {
        let clears = |outcome: &Outcome| matches!(outcome.because, Some(Cause::Namespace(_) | Cause::Definition(_)));
        if !self.main.outcomes.iter().any(clears) {
            return;
        }
        let affordable = MOST_STEPS_ON_CONTENT / self.main.steps.max(1);
        self.cut_short |= affordable < MOST_CONTENT_ORDERS;
        for number in 1..=MOST_CONTENT_ORDERS.min(affordable) {
            let mut world = start.with_content_order(ContentOrder::new(number));
            let mut order = Interleaving::new(number);
            world.settle_by(|world| if number.is_multiple_of(2) { world.next_step() } else { order.next_step(world) });
            self.meet(world);
        }
    }

    /// Takes note of where an order led.
    fn meet(&mut self, world: World<'s, 'a>) {
        self.main.orders += 1;
        self.spent += world.steps;
        // A search that ran out of bounds has shown no end.
        if world.out_of_bounds {
            return;
        }
        self.main.needs.add(&world.needs);
        self.main.assumptions.extend(world.assumptions.iter().cloned());
        if !self.seen.insert(world.end_as_number()) {
            return;
        }
        let other = build_plan(world, self.request, self.refused.clone());
        self.main.needs.add(&other.needs);
        self.main.assumptions.extend(other.assumptions.iter().cloned());
        if !same_ends(&self.main, &other) && !self.others.iter().any(|known| same_ends(known, &other)) {
            self.others.push(other);
            self.news += 1;
        }
    }

    fn build_plan(mut self) -> Plan {
        if !self.others.is_empty() {
            tell_alternatives(self.stage, &mut self.main, &self.others);
        } else if self.cut_short {
            for outcome in &mut self.main.outcomes {
                if outcome.uncertain.is_none() && self.order_sensitive.contains(&outcome.object) {
                    outcome.uncertain = Some(Uncertainty::Bound);
                }
            }
        }
        self.main
    }
}

impl World<'_, '_> {
    /// The same for worlds in which every object is in the same state.
    fn end_as_number(&self) -> u64 {
        let of_object = |object: ObjectId| {
            let mut hasher = FxHasher::default();
            let stored = self.stored(object);
            // To this hasher, noughts at the beginning are nothing: the first object, gone or with nothing left to it,
            // would be the same.
            (1u8, object, stored.is_some()).hash(&mut hasher);
            if let Some(stored) = stored {
                (stored.terminating, &stored.finalizers, &stored.owners).hash(&mut hasher);
            }
            hasher.finish()
        };
        self.touched().into_iter().fold(0u64, |sum, object| sum.wrapping_add(of_object(object)))
    }

    /// The same world, with a collector that remembers more than a snapshot shows: whoever is held by a finalizer of
    /// somebody else's may have been foreground-deleted and done with that, and the collector never forgets it (G3). It
    /// takes the owners of such an object for members of a cycle, and unblocks theirs (R5.11). None where nobody can be
    /// remembered like that.
    ///
    /// A pod in its grace period may be remembered, too; but that is rare, and stuck pods are not.
    fn with_memories(&self) -> Option<Self> {
        let collector = &self.collector;
        let may_be_remembered = |id: ObjectId, object: &Object| {
            let held = object.terminating() && object.grace.is_none_or(|grace| grace == 0);
            let names_somebody = |reference: &Reference| {
                self.stage.graph.by_uid(reference.uid).is_some_and(|owner| self.stage.graph.object(owner).is_some())
            };
            held && !collector.node(id.into()).deleting_dependents
                && object.owners.iter().any(names_somebody)
                && collector.watches(id)
        };
        let remembered: Vec<ObjectId> = self
            .stage
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
