//! What is lost once somebody starts a controller that is scaled to 0: it finishes a delete of before, and then the
//! collector deletes the dependents.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, effects::EffectKind},
    plan::outcome::Plan,
    simulate::{BlockedBy, SimContext},
};

use super::effects_of;

/// Adds to a plan the data that is lost then beside what the plan itself deletes.
pub(in crate::plan) fn add_armed(context: &SimContext<'_>, plan: &mut Plan) {
    let snapshot = context.snapshot;
    let awaited = awaited(plan).filter(|object| snapshot.object(*object).terminating());
    let awaited: BTreeSet<ObjectId> = awaited.collect();
    // Nothing else needs the second end, which is a simulation of everything.
    if awaited.is_empty() {
        return;
    }
    let mut seen: FxHashSet<ObjectId> = plan.going().into_iter().chain(awaited.iter().copied()).collect();
    let (mut open, mut below): (Vec<ObjectId>, Vec<ObjectId>) = (awaited.into_iter().collect(), Vec::new());
    while let Some(owner) = open.pop() {
        let dependents = context.graph.dependents(owner.into()).iter().copied();
        let leaving: Vec<ObjectId> = dependents.filter(|id| context.later().leaves(*id) && seen.insert(*id)).collect();
        below.extend(&leaving);
        open.extend(leaving);
    }
    below.sort_unstable();
    let mut effects = effects_of(context, &below);
    effects.retain(|effect| effect.may_be(EffectKind::DataLost));
    plan.lost_once_started = effects;
}

/// The objects that wait for a controller that is scaled to 0.
fn awaited(plan: &Plan) -> impl Iterator<Item = ObjectId> + '_ {
    let first = plan.outcomes.iter().chain(&plan.stays).map(|it| (it.object, it.held_by.as_slice()));
    let then = plan.then.as_deref();
    let later = then.into_iter().flat_map(|then| &then.once).map(|it| (it.object, it.blockers.as_slice()));
    let is_idle = move |object: ObjectId, blocker: BlockedBy| {
        let of_then = then.and_then(|then| then.controllers.get(object, blocker));
        let mut known = plan.controllers.get(object, blocker).into_iter().chain(of_then);
        known.any(|controller| controller.idle.is_some())
    };
    let all = first.chain(later);
    all.filter(move |(object, by)| by.iter().any(|it| is_idle(*object, *it))).map(|(object, _)| object)
}
