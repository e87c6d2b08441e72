//! Policies and deletes that do nothing, or not what one might think: said to do nothing. And what a sweep leaves alone
//! that the original collector would not.

use rustc_hash::FxHashSet;

use crate::{
    graph::{Address, NodeId},
    model::ObjectId,
    plan::{
        note::{Note, NoteKind},
        outcome::Plan,
    },
    server::{DeleteOptions, OwnDelete, Propagation, Stored, kinds::protected},
    simulate::{Cause, Request, SimContext, Start, World},
};

/// What is to be noted about a request, in the order of its targets, or of the snapshot.
pub(super) fn notes(stage: &SimContext<'_>, plan: &Plan) -> Vec<Note> {
    let request = &plan.request;
    let mut notes: Vec<Note> =
        doubted(stage, plan).map(|object| Note { object, kind: NoteKind::DoubtedPath }).collect();
    for target in &request.targets {
        if let Some(kind) = note(stage, request, *target)
            && notes.iter().all(|note| note.object != *target)
        {
            notes.push(Note { object: *target, kind });
        }
    }
    notes
}

/// What a sweep would delete, or take references from, if an API path that doesn't exist proved an absence. Whoever has
/// a reference that nobody can follow at all is left alone by everybody (R3.13).
fn doubted<'a>(stage: &'a SimContext<'_>, plan: &'a Plan) -> impl Iterator<Item = ObjectId> + 'a {
    let sweeps = stage.graph.doubts_missing_apis() && plan.request.start == Start::Sweep;
    let gone = plan.outcomes.iter().filter(|outcome| outcome.after.is_none()).map(|outcome| outcome.object);
    let goes: FxHashSet<ObjectId> = gone.filter(|_| sweeps).collect();
    let objects = stage.snapshot.objects().filter(move |_| sweeps);
    let held = objects.filter(move |(id, object)| {
        let mut addresses =
            object.owners.iter().map(|reference| Address::of(stage.snapshot, stage.graph, reference, object.namespace));
        let is_looked_at = !object.terminating()
            && stage.graph.by_uid(object.uid) == Some(NodeId::from(*id))
            && stage.snapshot.resources.not_watched(object.resource).is_none()
            && plan.request.only.as_ref().is_none_or(|only| only.contains(*id));
        let could_be_followed = |address: &Address| matches!(address, Address::At(_) | Address::DoubtedPath);
        is_looked_at
            && !goes.contains(id)
            && addresses.clone().all(|address| could_be_followed(&address))
            && addresses.any(|address| address == Address::DoubtedPath)
    });
    held.map(|(id, _)| id)
}

fn note(stage: &SimContext<'_>, request: &Request, target: ObjectId) -> Option<NoteKind> {
    if protected(stage.snapshot, target).is_some() {
        return None;
    }
    let rules = stage.rules(target);
    if stage.snapshot.object(target).terminating() {
        return repeated(stage, request, target);
    }
    match (rules.own_delete, request.propagation) {
        (_, Propagation::Background) => None,
        (OwnDelete::Definition, _) => Some(NoteKind::DefinitionIgnoresPolicy),
        (OwnDelete::Namespace, Propagation::Orphan) => Some(NoteKind::NamespaceContentGoes),
        (OwnDelete::Namespace, _) => None,
        // What could not be listed may depend on it.
        _ if stage.snapshot.may_hide_dependents() || !stage.graph.dependents(target.into()).is_empty() => None,
        _ => Some(NoteKind::NoDependents),
    }
}

/// What becomes of one more delete of what is terminating already.
fn repeated(stage: &SimContext<'_>, request: &Request, target: ObjectId) -> Option<NoteKind> {
    let rules = stage.rules(target);
    if rules.graceful && stage.snapshot.facts.pod(target).is_none()
        || rules.own_delete == OwnDelete::Namespace && stage.snapshot.facts.namespace(target).is_none()
    {
        return None;
    }
    let options =
        DeleteOptions { propagation: Some(request.propagation), grace: request.grace, ..DeleteOptions::default() };
    let mut world = World::at_rest(stage);
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
