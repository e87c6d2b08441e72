//! Objects that stay, and cannot be deleted any more: only a controller that goes in this delete removes their
//! finalizers, or loses in it what lets it. Those that are being deleted already hang then.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Symbol},
    plan::{
        note::{Note, NoteKind},
        outcome::{Outcome, OutcomeKind, Plan},
    },
    simulate::{BlockedBy, FinalizerController, Liveness, SimContext, Start, State, controllers},
};

/// An object, its finalizer, and who removes that.
type Held = (ObjectId, Symbol, Arc<FinalizerController>);

/// Adds a note for each such object, with its controller; and to what stays Terminating what hangs.
pub(super) fn add_abandoned(context: &SimContext<'_>, plan: &mut Plan) {
    // What a sweep deletes has lost its owner already; and the first end says it.
    if plan.request.start != Start::AtRest || plan.request.others_finish {
        return;
    }
    let known = plan.going().into_iter().chain(plan.stays.iter().map(|stays| stays.object));
    let known: FxHashSet<ObjectId> = known.collect();
    let held = [without_controller(context, plan), without_rights(context, plan)].concat();
    for (object, finalizer, controller) in held.into_iter().filter(|(object, ..)| !known.contains(object)) {
        let is_known = !controller.running.is_empty() || controller.idle.is_some();
        let (kind, state) = match () {
            () if !controller.goes => (NoteKind::WithoutRights, State::Unknown),
            () if is_known => (NoteKind::Abandoned, State::Stuck),
            () => (NoteKind::PerhapsAbandoned, State::Unknown),
        };
        plan.controllers.insert(object, finalizer, controller);
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

/// What is held by finalizers whose controllers go.
fn without_controller(context: &SimContext<'_>, plan: &mut Plan) -> Vec<Held> {
    let workloads: Vec<ObjectId> =
        deleted(plan).map(|outcome| outcome.object).filter(|id| controllers::is_workload(context, *id)).collect();
    if workloads.is_empty() {
        return Vec::new();
    }
    let held = controllers::held_by_these(context, &mut plan.needs, &workloads);
    let goes = |controller: &FinalizerController| Arc::new(FinalizerController { goes: true, ..controller.clone() });
    held.into_iter().map(|(object, finalizer, controller)| (object, finalizer, goes(&controller))).collect()
}

/// What is held by finalizers whose controllers run, and lose what lets them change these objects (R9.46). What comes
/// back gives it again. Nothing in a namespace that goes is left behind.
fn without_rights(context: &SimContext<'_>, plan: &mut Plan) -> Vec<Held> {
    let leaving: FxHashSet<ObjectId> = plan.going().into_iter().collect();
    let is_inside = |id: ObjectId| {
        let namespace = context.namespace_named(context.snapshot.object(id).namespace);
        namespace.is_some_and(|namespace| leaving.contains(&namespace))
    };
    let gone = deleted(plan).filter(|outcome| !outcome.recreated()).map(|outcome| outcome.object);
    let gone = gone.filter(|id| !is_inside(*id));
    let rights = controllers::RightsGone::of(context.snapshot, context.built_in, |all| context.of_resource(all), gone);
    if rights.is_empty() {
        return Vec::new();
    }
    let workloads = rights.losers(&mut plan.needs.evidence, controllers::all_workloads(context));
    if workloads.is_empty() {
        return Vec::new();
    }
    let going: FxHashSet<ObjectId> = deleted(plan).map(|outcome| outcome.object).collect();
    let mut all = Vec::new();
    for (object, finalizer, controller) in controllers::held_by_these(context, &mut plan.needs, &workloads) {
        let is_gone = controller.running.iter().all(|workload| going.contains(workload));
        if let Some(taken) = rights.taken(&mut plan.needs.evidence, &controller.running, object).filter(|_| !is_gone) {
            let liveness = Liveness::Unknown(taken.in_words(context.snapshot, &controller.running));
            let controller = FinalizerController { liveness, loses: taken.by, ..(*controller).clone() };
            all.push((object, finalizer, Arc::new(controller)));
        }
    }
    all
}

fn deleted(plan: &Plan) -> impl Iterator<Item = &Outcome> {
    plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted)
}
