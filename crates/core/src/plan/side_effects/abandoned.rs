//! What depends on whether a controller runs: objects that stay, and cannot be deleted any more, because theirs goes in
//! this delete or loses its rights in it; and what is lost once somebody starts one.

use std::{collections::BTreeSet, sync::Arc};

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Symbol},
    plan::outcome::{Note, NoteKind, Outcome, OutcomeKind, Plan},
    simulate::{
        BlockedBy, FinalizerController, SimContext, Start, State,
        controllers::{self, Question},
    },
};

/// An object, its finalizer, who removes that, and what is said of it.
type Held = (ObjectId, Symbol, Arc<FinalizerController>, NoteKind);

/// Adds a note for each such object, with its controller; and to what stays Terminating what hangs. What the second end
/// takes away is missing to those, too: once that is known, this is called again.
pub(in crate::plan) fn add_abandoned(context: &SimContext<'_>, plan: &mut Plan) {
    // What a sweep deletes has lost its owner already; and the first end says it.
    if plan.request.start != Start::AtRest || plan.request.others_finish {
        return;
    }
    let known = plan.going().into_iter().chain(plan.stays.iter().map(|stays| stays.object));
    let noted = plan.notes.iter().filter(|note| note.kind.is_abandoned()).map(|note| note.object);
    let known: FxHashSet<ObjectId> = known.chain(noted).collect();
    let left = [without_controller, without_rights, without_needed].map(|left| left(context, plan));
    for (object, finalizer, controller, kind) in left.concat().into_iter().filter(|(id, ..)| !known.contains(id)) {
        let state = if kind == NoteKind::Abandoned { State::Stuck } else { State::Unknown };
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
    let held = controllers::held_by_these(context, &workloads);
    let goes = |controller: &FinalizerController| {
        let is_known = !controller.running.is_empty() || controller.idle.is_some();
        let kind = if is_known { NoteKind::Abandoned } else { NoteKind::PerhapsAbandoned };
        (Arc::new(FinalizerController { goes: true, ..controller.clone() }), kind)
    };
    let left = held.into_iter().map(|(object, finalizer, controller)| (object, finalizer, goes(&controller)));
    left.map(|(object, finalizer, (controller, kind))| (object, finalizer, controller, kind)).collect()
}

/// What is held by finalizers whose controllers run, and lose what lets them change these objects (R9.46).
fn without_rights(context: &SimContext<'_>, plan: &mut Plan) -> Vec<Held> {
    let gone = from_what_stays(context, plan, deleted(plan)).into_iter();
    let rights = controllers::RightsGone::of(context, gone);
    if rights.is_empty() {
        return Vec::new();
    }
    let workloads = rights.losers(controllers::all_workloads(context));
    if workloads.is_empty() {
        return Vec::new();
    }
    let going: FxHashSet<ObjectId> = deleted(plan).map(|outcome| outcome.object).collect();
    let mut all = Vec::new();
    for (object, finalizer, controller) in controllers::held_by_these(context, &workloads) {
        let acting = controller.acting();
        let is_gone = acting.iter().all(|workload| going.contains(workload));
        if let Some(taken) = rights.taken(acting, object).filter(|_| !is_gone) {
            let controller = taken.from(context.snapshot, &controller);
            all.push((object, finalizer, Arc::new(controller), NoteKind::WithoutRights));
        }
    }
    all
}

/// What is held by finalizers whose controllers may need what goes, and what these objects name in their specs (R9.47).
fn without_needed(context: &SimContext<'_>, plan: &mut Plan) -> Vec<Held> {
    let goes = |outcome: &&Outcome| matches!(outcome.kind, OutcomeKind::Deleted | OutcomeKind::Terminating);
    let gone = from_what_stays(context, plan, plan.both_ends().filter(goes));
    let gone: FxHashSet<ObjectId> = gone.into_iter().collect();
    let mut users = BTreeSet::new();
    let may_be_named = controllers::may_be_named(context.snapshot);
    let named = || gone.iter().copied().filter(|id| may_be_named(*id));
    context.read_what_may_name(named());
    for id in named() {
        users.extend(context.named_by(id).iter().copied().filter(|user| !gone.contains(user)));
    }
    let mut all = Vec::new();
    for object in users {
        for finalizer in context.snapshot.object(object).finalizers.iter().copied() {
            let question = Question { object, finalizer, exact: false };
            let controller = controllers::finalizer_controller(context, &question);
            let without = context.without_what_goes(&controller, (object, finalizer), |id| gone.contains(&id));
            let without = without.filter(|_| !controller.is_away());
            all.extend(without.map(|it| (object, finalizer, it, NoteKind::WithoutNeeded)));
        }
    }
    all
}

/// Of what goes, what isn't in a namespace that goes: nothing in that is left behind. What comes back is not gone.
pub(super) fn from_what_stays<'p>(
    context: &SimContext<'_>,
    plan: &'p Plan,
    gone: impl Iterator<Item = &'p Outcome>,
) -> Vec<ObjectId> {
    let leaving: FxHashSet<ObjectId> = plan.going().into_iter().collect();
    let is_inside = |id: ObjectId| {
        let namespace = context.namespace_named(context.snapshot.object(id).namespace);
        namespace.is_some_and(|namespace| leaving.contains(&namespace))
    };
    let gone = gone.filter(|outcome| !outcome.recreated()).map(|outcome| outcome.object);
    gone.filter(|id| !is_inside(*id)).collect()
}

pub(super) fn deleted(plan: &Plan) -> impl Iterator<Item = &Outcome> {
    plan.both_ends().filter(|outcome| outcome.kind == OutcomeKind::Deleted)
}

/// The objects that wait for a controller that is scaled to 0.
pub(super) fn awaited(plan: &Plan) -> impl Iterator<Item = ObjectId> + '_ {
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
