//! Objects that stay, and cannot be deleted any more: only a controller that goes in this delete removes their
//! finalizers.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::{
    model::ObjectId,
    plan::{
        note::{Note, NoteKind},
        outcome::{OutcomeKind, Plan},
    },
    simulate::{FinalizerController, SimContext, Start, controllers},
};

/// Adds a note for each such object, with its controller.
pub(super) fn add_abandoned(context: &SimContext<'_>, plan: &mut Plan) {
    let deleted = plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
    let deleted = deleted.map(|outcome| outcome.object);
    let workloads: Vec<ObjectId> = deleted.filter(|object| controllers::is_workload(context, *object)).collect();
    // What a sweep deletes has lost its owner already; and the first end says it.
    if plan.request.start != Start::AtRest || plan.request.others_finish || workloads.is_empty() {
        return;
    }
    let going: FxHashSet<ObjectId> = plan.going().into_iter().collect();
    let held = controllers::held_by_these(context, &mut plan.needs, &workloads);
    for (object, finalizer, controller) in held.into_iter().filter(|(object, ..)| !going.contains(object)) {
        let is_known = !controller.running.is_empty() || controller.idle.is_some();
        let kind = if is_known { NoteKind::Abandoned } else { NoteKind::PerhapsAbandoned };
        let controller = FinalizerController { goes: true, ..(*controller).clone() };
        plan.controllers.insert(object, finalizer, Arc::new(controller));
        if plan.notes.last().is_none_or(|note| note.object != object) {
            plan.notes.push(Note { object, kind });
        }
    }
}
