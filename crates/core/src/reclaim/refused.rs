//! What the API server refuses to delete, whoever asks: a webhook must allow it and can't be called, or a policy
//! forbids it.

use crate::{
    graph::OwnerGraph,
    simulate::{Assume, Controllers, Operation, SimContext, State, World},
};

use super::{removal::Removal, scene::Scene};

/// Doubts all reasons for a removal that are certain so far, if the API server refuses its DELETE now: their
/// controllers try again and again.
pub(super) fn doubt(scene: &Scene<'_>, graph: &OwnerGraph, removals: &mut [Removal]) {
    let snapshot = scene.snapshot;
    if removals.is_empty() {
        return;
    }
    let context = SimContext::new(snapshot, graph, Assume::Known).with_refused_writes();
    let mut world = World::at_rest(&context);
    for removal in removals {
        if !world.surely_refuses(removal.object, Operation::Delete) {
            continue;
        }
        let Some(by) = world.refused_by(removal.object) else { continue };
        let why = by.describe(snapshot, removal.object, State::Stuck, &Controllers::default());
        for reason in &mut removal.reasons {
            reason.doubt.get_or_insert_with(|| why.clone());
        }
    }
}
