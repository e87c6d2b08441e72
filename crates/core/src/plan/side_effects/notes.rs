//! Finds policies and deletes without effect, and what a sweep leaves alone although the original collector would not.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::{
    graph::{Address, NodeId},
    model::ObjectId,
    plan::{
        note::{Note, NoteKind},
        outcome::{OutcomeKind, Plan},
    },
    server::{DeleteOptions, OwnDelete, Propagation, Stored, kinds::protected},
    simulate::{Cause, Request, SimContext, Start, World, obstacles::BoundPolicy},
};

/// The notes on a request, in the order of its targets, or of the snapshot.
pub(super) fn notes(context: &SimContext<'_>, plan: &Plan) -> Vec<Note> {
    let request = &plan.request;
    let mut notes: Vec<Note> =
        left_alone_by_sweep(context, plan).map(|object| Note { object, kind: NoteKind::DoubtedPath }).collect();
    for target in &request.targets {
        if let Some(kind) = note_for(context, request, *target)
            && notes.iter().all(|note_for| note_for.object != *target)
        {
            notes.push(Note { object: *target, kind });
        }
        if context.is_applied_unseen(*target) {
            notes.push(Note { object: *target, kind: NoteKind::AppliedUnseen });
        }
    }
    notes.extend(left_behind(context, plan).into_iter().map(|object| Note { object, kind: NoteKind::LeftBehind }));
    let staying = staying(context, plan).into_iter();
    notes.extend(staying.map(|object| Note { object, kind: NoteKind::StaysTerminating }));
    notes.extend(lapsing(context, plan).into_iter().map(|object| Note { object, kind: NoteKind::PolicyLapses }));
    notes
}

/// The policies that lose their last parameters, and let everything pass without them (R9.45).
fn lapsing(context: &SimContext<'_>, plan: &Plan) -> BTreeSet<ObjectId> {
    let gone = plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
    let gone: FxHashSet<ObjectId> = gone.map(|outcome| outcome.object).collect();
    let policies = context.obstacles.iter().flat_map(|obstacles| &obstacles.admission.policies);
    let lapses = |bound: &&BoundPolicy<'_>| {
        let lasts = ![bound.policy, bound.binding].iter().any(|id| gone.contains(id));
        lasts && gone.iter().any(|id| bound.refuses_without(context, *id, |id| !gone.contains(&id)) == Some(false))
    };
    policies.filter(lapses).map(|bound| bound.policy).collect()
}

/// Dependents of what goes, which the plan leaves alone because the collector can't resolve one of their references
/// (R3.13, L3). Nothing deletes them afterwards.
fn left_behind(context: &SimContext<'_>, plan: &Plan) -> Vec<ObjectId> {
    let snapshot = context.snapshot;
    let changed: FxHashSet<ObjectId> = plan.both_ends().map(|outcome| outcome.object).collect();
    let stays = |id: &ObjectId| {
        let object = snapshot.object(*id);
        let addresses =
            object.owners.iter().map(|reference| Address::of(snapshot, context.graph, reference, object.namespace));
        let fails = |address: Address| matches!(address, Address::Unmappable | Address::InvalidScope);
        !changed.contains(id) && !object.terminating() && addresses.into_iter().any(fails)
    };
    let mut left: Vec<ObjectId> =
        plan.going().into_iter().flat_map(|id| context.graph.dependents(id.into())).copied().filter(stays).collect();
    left.sort_unstable();
    left.dedup();
    left
}

/// Dependents of what goes that are Terminating, and stay so whether it goes or not.
fn staying(context: &SimContext<'_>, plan: &Plan) -> BTreeSet<ObjectId> {
    if plan.request.start != Start::AtRest {
        return BTreeSet::new();
    }
    let told: FxHashSet<ObjectId> = plan.outcomes.iter().chain(&plan.stays).map(|outcome| outcome.object).collect();
    let below = plan.outcomes.iter().filter(|outcome| outcome.kind.removes());
    let below = below.flat_map(|outcome| context.graph.dependents(outcome.object.into())).copied();
    // Nothing else needs the present, which is a simulation of everything.
    let stays = |id: &ObjectId| {
        context.snapshot.object(*id).terminating() && !told.contains(id) && !context.present().goes(*id)
    };
    let spared = plan.outcomes.iter().filter(|outcome| outcome.is_spared()).map(|outcome| outcome.object);
    below.filter(stays).chain(spared).collect()
}

/// Objects that a sweep would delete or change if it read a 404 for a whole API path as "owner gone" (R3.16). Objects
/// with a reference that can't be resolved at all are left alone in any case (R3.13).
fn left_alone_by_sweep<'a>(context: &'a SimContext<'_>, plan: &'a Plan) -> impl Iterator<Item = ObjectId> + 'a {
    let sweeps = context.graph.doubts_missing_apis() && plan.request.start == Start::Sweep;
    let gone = plan.outcomes.iter().filter(|outcome| outcome.after.is_none()).map(|outcome| outcome.object);
    let removed: FxHashSet<ObjectId> = gone.filter(|_| sweeps).collect();
    let objects = context.snapshot.objects().filter(move |_| sweeps);
    let held = objects.filter(move |(id, object)| {
        let mut addresses = object
            .owners
            .iter()
            .map(|reference| Address::of(context.snapshot, context.graph, reference, object.namespace));
        let is_examined = !object.terminating()
            && context.graph.by_uid(object.uid) == Some(NodeId::from(*id))
            && context.snapshot.resources.not_watched(object.resource).is_none()
            && plan.request.only.as_ref().is_none_or(|only| only.contains(*id));
        let is_resolvable = |address: &Address| matches!(address, Address::At(_) | Address::DoubtedPath);
        is_examined
            && !removed.contains(id)
            && addresses.clone().all(|address| is_resolvable(&address))
            && addresses.any(|address| address == Address::DoubtedPath)
    });
    held.map(|(id, _)| id)
}

fn note_for(context: &SimContext<'_>, request: &Request, target: ObjectId) -> Option<NoteKind> {
    if protected(context.snapshot, target).is_some() {
        return None;
    }
    let rules = context.rules(target);
    if context.snapshot.object(target).terminating() {
        return note_for_terminating(context, request, target);
    }
    match (rules.own_delete, request.propagation) {
        (_, Propagation::Background) => None,
        (OwnDelete::Definition, _) => Some(NoteKind::DefinitionIgnoresPolicy),
        (OwnDelete::Namespace, Propagation::Orphan) => Some(NoteKind::NamespaceContentGoes),
        (OwnDelete::Namespace, _) => None,
        // A failed list may hide dependents.
        _ if !context.graph.dependents(target.into()).is_empty() || context.snapshot.may_hide_dependents_of(target) => {
            None
        }
        _ => Some(NoteKind::NoDependents),
    }
}

/// What one more DELETE does to a target that is already terminating.
fn note_for_terminating(context: &SimContext<'_>, request: &Request, target: ObjectId) -> Option<NoteKind> {
    let rules = context.rules(target);
    if rules.graceful && context.snapshot.facts.pod(target).is_none()
        || rules.own_delete == OwnDelete::Namespace && context.snapshot.facts.namespace(target).is_none()
    {
        return None;
    }
    let options =
        DeleteOptions { propagation: Some(request.propagation), grace: request.grace, ..DeleteOptions::default() };
    let mut world = World::at_rest(context);
    let before = world.stored(target)?;
    let in_grace = rules.graceful && before.in_grace();
    world.delete(target, &options, Cause::Requested);
    let as_before =
        |after: Stored<'_>| after.same_state(&before) && after.grace.unwrap_or(0) == before.grace.unwrap_or(0);
    if !world.stored(target).is_some_and(as_before) {
        return None;
    }
    Some(match rules.own_delete {
        _ if in_grace => NoteKind::PodAlreadyEnding,
        OwnDelete::Namespace => NoteKind::NamespaceAlreadyEnding,
        _ => NoteKind::AlreadyTerminating,
    })
}
