//! The blast radius: what deleting each root would do, the worst first.

use serde::Serialize;

use crate::{
    model::{ObjectId, ResourceId, Symbol, effects::Severity},
    server::Propagation,
    simulate::{Needs, Request, SimContext},
    tree::roots::roots,
};

use super::{OutsideEffect, Summary, plan};

/// What deleting one root would do.
#[derive(Clone, Copy, Debug)]
pub struct Radius {
    pub object: ObjectId,
    pub summary: Summary,
    pub certain: bool,
    pub effects: EffectCounts,
}

/// How many effects outside the graph there are, by severity.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct EffectCounts {
    pub error: usize,
    pub warning: usize,
    pub info: usize,
}

impl EffectCounts {
    fn of(effects: &[OutsideEffect]) -> Self {
        let count = |severity| effects.iter().filter(|effect| effect.severity() == severity).count();
        EffectCounts { error: count(Severity::Error), warning: count(Severity::Warning), info: count(Severity::Info) }
    }
}

/// Plans the delete of every root in scope, the worst first, and says what should be read to be certain. A root that
/// the API server refuses to delete is omitted.
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
            let effects = EffectCounts::of(&plan.effects);
            rows.push(Radius { object: root.object, summary: plan.summary, certain: plan.certain(), effects });
        }
        needs.look_ups.extend(plan.needs.look_ups);
        // Every Pod is a root or has one, and its facts are read anyway: a Node's needn't be.
        let is_node = |resource: ResourceId| Some(resource) == context.built_in.nodes;
        needs.facts.extend(plan.needs.facts.into_iter().filter(|id| !is_node(snapshot.object(*id).resource)));
    }
    rows.sort_by_key(|row: &Radius| {
        let Summary { stuck, deleted, terminating, detached, orphaned, .. } = row.summary;
        std::cmp::Reverse((stuck, row.effects.error, deleted + terminating, detached + orphaned))
    });
    (rows, needs)
}
