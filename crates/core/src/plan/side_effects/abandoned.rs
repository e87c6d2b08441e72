//! Objects that stay, and cannot be deleted any more: only a controller that goes in this delete removes their
//! finalizers. Those that are being deleted already hang then.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::{
    model::ObjectId,
    plan::{
        note::{Note, NoteKind},
        outcome::{Outcome, OutcomeKind, Plan},
    },
    simulate::{BlockedBy, FinalizerController, SimContext, Start, State, controllers},
};

/// Adds a note for each such object, with its controller; and to what stays Terminating what hangs.
pub(super) fn add_abandoned(context: &SimContext<'_>, plan: &mut Plan) {
    let deleted = plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
    let deleted = deleted.map(|outcome| outcome.object);
    let workloads: Vec<ObjectId> = deleted.filter(|object| controllers::is_workload(context, *object)).collect();
    // What a sweep deletes has lost its owner already; and the first end says it.
    if plan.request.start != Start::AtRest || plan.request.others_finish || workloads.is_empty() {
        return;
    }
    let known = plan.going().into_iter().chain(plan.stays.iter().map(|stays| stays.object));
    let known: FxHashSet<ObjectId> = known.collect();
    let held = controllers::held_by_these(context, &mut plan.needs, &workloads);
    for (object, finalizer, controller) in held.into_iter().filter(|(object, ..)| !known.contains(object)) {
        let is_known = !controller.running.is_empty() || controller.idle.is_some();
        let (kind, state) = match is_known {
            true => (NoteKind::Abandoned, State::Stuck),
            false => (NoteKind::PerhapsAbandoned, State::Unknown),
        };
        let controller = FinalizerController { goes: true, ..(*controller).clone() };
        plan.controllers.insert(object, finalizer, Arc::new(controller));
        if context.snapshot.object(object).terminating() {
            if plan.stays.last().is_none_or(|stays| stays.object != object) {
                plan.stays.push(Outcome { state: Some(state), ..Outcome::untouched(context, object) });
            }
            plan.stays.last_mut().into_iter().for_each(|stays| stays.held_by.push(BlockedBy::Finalizer(finalizer)));
        } else if plan.notes.last().is_none_or(|note| note.object != object) {
            plan.notes.push(Note { object, kind });
        }
    }
}
