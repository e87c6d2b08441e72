//! Ends that differ from order to order: what else may become of each object, and what becomes of several together.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{graph::NodeId, model::ObjectId, simulate::SimContext};

use super::outcome::{Alternative, JointEnd, Outcome, OutcomeKind, Plan, Uncertainty};

/// Whether two plans end alike for every object.
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

/// The end an object comes to in a plan, also where the plan doesn't touch it.
fn end_in(stage: &SimContext<'_>, plan: &FxHashMap<ObjectId, &Outcome>, object: ObjectId) -> Alternative {
    plan.get(&object).map_or_else(|| end_of(&Outcome::untouched(stage, object)), |outcome| end_of(outcome))
}

/// Tells what else becomes of objects, in plans of other orders.
pub(super) fn tell_alternatives(stage: &SimContext<'_>, main: &mut Plan, others: &[Plan]) {
    let plans: Vec<FxHashMap<ObjectId, &Outcome>> = others
        .iter()
        .map(|plan| plan.outcomes.iter().chain(&plan.stays).map(|outcome| (outcome.object, outcome)).collect())
        .collect();
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
    // What stays in one order, and does not in another, is told with the outcomes.
    main.stays.retain(|stays| !varying.contains(&stays.object));
    // An object that only others' orders touched, and that comes to the same end everywhere, was never changed at all.
    main.outcomes.retain(|outcome| outcome.kind != OutcomeKind::Unchanged || outcome.uncertain.is_some());
    main.ends = groups(stage, &varying).into_iter().map(|group| joint_ends(stage, main, &plans, &group)).collect();
}

/// The ends that the objects of one group come to together, each once; the most likely first.
fn joint_ends(
    stage: &SimContext<'_>,
    main: &Plan,
    plans: &[FxHashMap<ObjectId, &Outcome>],
    group: &[ObjectId],
) -> Vec<JointEnd> {
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
fn groups(stage: &SimContext<'_>, objects: &[ObjectId]) -> Vec<Vec<ObjectId>> {
    let mut group_of: FxHashMap<NodeId, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<ObjectId>> = Vec::new();
    for object in objects {
        let mut nodes = vec![NodeId::from(*object)];
        let owners =
            stage.snapshot.object(*object).owners.iter().filter_map(|reference| stage.graph.by_uid(reference.uid));
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
