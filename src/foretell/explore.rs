//! Whether a plan depends on the order of events (Appendix A): other orders are played, and ends that differ are told.
//!
//! What is called uncertain for this reason has been seen to end in two ways. The search is not exhaustive: it plays so many orders as
//! its budget of steps allows.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::NodeId,
    model::{Object, ObjectId, Reference},
};

use super::{
    beyond::tell_beyond,
    delays::with_one_delay,
    orders::Order,
    plan::{Alternative, JointEnd, Outcome, OutcomeKind, Plan, Request, Uncertainty, begin, play, tell},
    world::{Stage, World},
};

/// So many made-up orders are played where that is cheap.
const MOST_ORDERS: u64 = 48;
/// So many steps are spent on them.
const MOST_STEPS: u64 = 100_000;
/// And so many on orders in which one thing takes longer.
const MOST_STEPS_WITH_DELAYS: u64 = 300_000;
/// Different ends beyond so many are not told apart any more.
const MOST_ENDS: usize = 32;

/// Plays a delete in several orders of events. The outcomes are those of the most likely order, each with what else becomes of it.
pub fn explore(stage: &Stage<'_>, request: &Request) -> Plan {
    let mut main = play(stage, request);
    let mut others: Vec<Plan> = Vec::new();
    let (start, refused) = begin(stage, request);
    let mut also = |main: &mut Plan, world: World<'_, '_>| {
        main.orders += 1;
        // A search that ran out of bounds has shown no end.
        if world.out_of_bounds {
            return true;
        }
        let other = tell(world, request, refused.clone());
        main.needs.look_ups.extend(&other.needs.look_ups);
        main.needs.facts.extend(&other.needs.facts);
        main.assumptions.extend(other.assumptions.iter().cloned());
        if !same_ends(main, &other) && !others.iter().any(|known| same_ends(known, &other)) {
            others.push(other);
        }
        others.len() < MOST_ENDS
    };
    let remembering = start.with_memories();
    for (start, is_main) in std::iter::once((&start, true)).chain(remembering.iter().map(|start| (start, false))) {
        if !is_main {
            let mut world = start.clone();
            world.settle();
            also(&mut main, world);
        }
        if main.steps <= MOST_STEPS_WITH_DELAYS / 2 {
            with_one_delay(start, main.steps, MOST_STEPS_WITH_DELAYS, |end| also(&mut main, end));
        }
        // Another order takes about as long as the first did.
        for number in 0..MOST_ORDERS.min(MOST_STEPS / main.steps.max(1)) {
            let mut world = start.clone();
            let mut order = Order::new(number);
            world.settle_by(|world| order.next_step(world));
            if !also(&mut main, world) {
                break;
            }
        }
    }
    if !others.is_empty() {
        tell_alternatives(stage, &mut main, &others);
    }
    tell_beyond(stage, &mut main);
    main
}

impl World<'_, '_> {
    /// The same world, with a collector that remembers more than a snapshot shows: whoever is held by a finalizer of somebody else's may
    /// have been foreground-deleted and done with that, and the collector never forgets it (G3). It takes the owners of such an
    /// object for members of a cycle, and unblocks theirs (R5.11). None where nobody can be remembered like that.
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
        let remembered: Vec<ObjectId> =
            self.stage.snapshot.objects().filter(|(id, object)| may_be_remembered(*id, object)).map(|(id, _)| id).collect();
        let mut world = (!remembered.is_empty()).then(|| self.clone())?;
        for object in remembered {
            world.collector.node_mut(object.into()).deleting_dependents = true;
        }
        Some(world)
    }
}

fn same_ends(left: &Plan, right: &Plan) -> bool {
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
    Alternative { kind: outcome.kind, because: outcome.because.clone(), state: outcome.state, after: outcome.after.clone() }
}

/// The end an object comes to in a plan, also where the plan doesn't touch it.
fn end_in(stage: &Stage<'_>, plan: &FxHashMap<ObjectId, &Outcome>, object: ObjectId) -> Alternative {
    plan.get(&object).map_or_else(|| end_of(&Outcome::untouched(stage, object)), |outcome| end_of(outcome))
}

fn tell_alternatives(stage: &Stage<'_>, main: &mut Plan, others: &[Plan]) {
    let plans: Vec<FxHashMap<ObjectId, &Outcome>> =
        others.iter().map(|plan| plan.outcomes.iter().map(|outcome| (outcome.object, outcome)).collect()).collect();
    // What only another order touches is told as well, as what it is in the order that was played first.
    let mut known: FxHashSet<ObjectId> = main.outcomes.iter().map(|outcome| outcome.object).collect();
    for outcome in others.iter().flat_map(|plan| &plan.outcomes) {
        if known.insert(outcome.object) {
            main.outcomes.push(Outcome::untouched(stage, outcome.object));
        }
    }
    let mut varying: Vec<ObjectId> = Vec::new();
    for outcome in &mut main.outcomes {
        let own = end_of(outcome);
        let mut alternatives: Vec<Alternative> = Vec::new();
        for plan in &plans {
            let end = end_in(stage, plan, outcome.object);
            let is_new = end.after != own.after && alternatives.iter().all(|known| known.after != end.after);
            if is_new {
                alternatives.push(end);
            }
        }
        if !alternatives.is_empty() {
            outcome.alternatives = alternatives;
            outcome.uncertain = Some(Uncertainty::Order);
            varying.push(outcome.object);
        }
    }
    // An object that only others' orders touched, and that comes to the same end everywhere, was never changed at all.
    main.outcomes.retain(|outcome| outcome.kind != OutcomeKind::Unchanged || outcome.uncertain.is_some());
    main.ends = groups(stage, &varying).into_iter().map(|group| joint_ends(stage, main, &plans, &group)).collect();
}

/// The ends that the objects of one group come to together, each once; the most likely first.
fn joint_ends(stage: &Stage<'_>, main: &Plan, plans: &[FxHashMap<ObjectId, &Outcome>], group: &[ObjectId]) -> Vec<JointEnd> {
    let first: FxHashMap<ObjectId, &Outcome> = main.outcomes.iter().map(|outcome| (outcome.object, outcome)).collect();
    let mut ends: Vec<JointEnd> = Vec::new();
    for plan in std::iter::once(&first).chain(plans) {
        let end: JointEnd = group.iter().map(|object| (*object, end_in(stage, plan, *object))).collect();
        let same = |known: &JointEnd| known.iter().zip(&end).all(|((_, left), (_, right))| left.after == right.after);
        if !ends.iter().any(same) {
            ends.push(end);
        }
    }
    ends
}

/// Objects that are connected by ownership, directly or through others of them or a common owner.
fn groups(stage: &Stage<'_>, objects: &[ObjectId]) -> Vec<Vec<ObjectId>> {
    let mut group_of: FxHashMap<NodeId, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<ObjectId>> = Vec::new();
    for object in objects {
        let mut nodes = vec![NodeId::from(*object)];
        let owners = stage.snapshot.object(*object).owners.iter().filter_map(|reference| stage.graph.by_uid(reference.uid));
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
