//! The blast radius: what deleting each root would do, the worst first.

use serde::Serialize;

use crate::{
    model::{
        ObjectId, ResourceId, Symbol,
        effects::{EffectKind, Severity},
    },
    server::Propagation,
    simulate::{Needs, Request, SimContext, State},
    tree::walk::roots,
};

use super::{OutsideEffect, Plan, Summary, Verdict, VerdictResult, plan};

/// What deleting one root would do.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Radius {
    pub object: ObjectId,
    pub certain: bool,
    pub summary: Summary,
    pub effects: EffectCounts,
    /// The verdict on this delete.
    pub verdict: VerdictResult,
    /// The worst that is in its way or that it takes down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<RadiusObstacle>,
}

/// What is in the way of a delete, or what the delete takes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RadiusObstacle {
    /// The name of its sort.
    pub obstacle: &'static str,
    pub object: ObjectId,
    /// It works now: the delete removes its backend.
    pub taken_down: bool,
}

/// How many effects outside the graph there are in both ends, by severity.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct EffectCounts {
    pub error: usize,
    pub warning: usize,
    pub note: usize,
    /// How many of the errors delete other objects of this cluster, or may.
    #[serde(skip)]
    pub objects: usize,
    /// How many of the warnings could not be read, or are of controllers that are not known.
    #[serde(skip)]
    pub unknown: usize,
}

impl EffectCounts {
    fn of(plan: &Plan) -> Self {
        let count =
            |counts: &dyn Fn(&OutsideEffect) -> bool| plan.all_effects().filter(|effect| counts(effect)).count();
        EffectCounts {
            error: count(&|effect| effect.severity() == Severity::Error),
            warning: count(&|effect| effect.severity() == Severity::Warning),
            note: count(&|effect| effect.severity() == Severity::Note),
            objects: count(&|effect| effect.kind == EffectKind::ObjectsDeleted),
            unknown: count(&|effect| effect.severity() == Severity::Warning && effect.kind == EffectKind::Unknown),
        }
    }
}

/// Plans the delete of every root in scope, the worst first, with everything that is in its way, and says what should
/// be read to be certain. A root that the API server refuses to delete is omitted.
pub fn blast_radius(
    context: &SimContext<'_>,
    namespace: Option<Symbol>,
    propagation: Propagation,
) -> (Vec<Radius>, Needs) {
    let snapshot = context.snapshot;
    let mut needs = Needs::default();
    let mut rows = Vec::new();
    for root in roots(snapshot, context.graph, namespace) {
        let plan = plan(context, &Request::delete(vec![root.object], propagation));
        if plan.refused.is_empty() {
            let verdict = Verdict::of(snapshot, &plan, &[], &[]);
            // Also what was Terminating before and stays so because of this delete.
            let stuck = plan.states().filter(|(_, state)| *state == State::Stuck).count();
            let stuck = plan.summary.stuck.max(stuck.saturating_sub(plan.summary.stuck_later));
            rows.push(Radius {
                object: root.object,
                summary: Summary {
                    stuck,
                    terminating: plan.summary.terminating + stuck - plan.summary.stuck,
                    ..plan.summary
                },
                certain: verdict.certain,
                effects: EffectCounts::of(&plan),
                verdict: verdict.result,
                obstacle: obstacle(&plan),
            });
        }
        needs.look_ups.extend(plan.needs.look_ups);
        needs.evidence.extend(plan.needs.evidence);
        needs.adopters.extend(plan.needs.adopters);
        needs.kubelets.extend(plan.needs.kubelets);
        // Every Pod is a root or has one, and its facts are read anyway: a Node's needn't be.
        let is_node = |resource: ResourceId| Some(resource) == context.built_in.nodes;
        needs.facts.extend(plan.needs.facts.into_iter().filter(|id| !is_node(snapshot.object(*id).resource)));
    }
    rows.sort_by_key(|row: &Radius| {
        let Summary { stuck, deleted, terminating, detached, orphaned, later, .. } = row.summary;
        let obstacle = row.obstacle.map(|obstacle| !obstacle.taken_down);
        let size = (obstacle, stuck, row.effects.error, deleted + terminating + later, detached + orphaned);
        (row.verdict, std::cmp::Reverse(size))
    });
    (rows, needs)
}

/// What hinders a delete comes before what it takes down.
fn obstacle(plan: &Plan) -> Option<RadiusObstacle> {
    let worst = plan.obstacles.iter().min_by_key(|obstacle| (obstacle.prevents.is_empty(), obstacle.kind))?;
    Some(RadiusObstacle { obstacle: worst.kind.name(), object: worst.kind.object(), taken_down: worst.taken_down })
}
