//! Outcomes that differ between event orders, for each object and for connected objects together.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::NodeId,
    model::ObjectId,
    simulate::{SimContext, Uncertainty},
};

use super::outcome::{Alternative, JointEnd, Outcome, OutcomeKind, Plan};

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
