//! Policies and deletes that do nothing, or not what one might think: said to do nothing. And what a sweep leaves alone
//! that the original collector would not.

use rustc_hash::FxHashSet;

use crate::{
    graph::{Address, NodeId},
    model::ObjectId,
    plan::outcome::Plan,
    server::{DeleteOptions, OwnDelete, Propagation, Stored, kinds::protected},
    simulate::{Cause, Request, SimContext, Start, World},
};

/// Something that the request asks for and doesn't get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The target that it is about; of a sweep, what it leaves alone.
    pub object: ObjectId,
    pub kind: NoteKind,
}

/// What is to be noted. The words never change meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// The first DELETE of a definition ignores the policy: its instances go anyway (R1.26).
    DefinitionIgnoresPolicy,
    /// Orphaning a Namespace doesn't save what is in it (R1.25).
    NamespaceContentGoes,
    /// Nothing depends on the target: the policy makes no difference.
    NoDependents,
    /// The pod is in its grace period already, and only a shorter one would change anything (R1.17).
    PodAlreadyEnding,
    /// While its spec.finalizers hold a Namespace, further DELETEs change nothing (R1.25).
    NamespaceAlreadyEnding,
    /// The target is terminating under this policy already.
    AlreadyTerminating,
    /// An owner reference leads to an API path that doesn't exist, which is no proof that the owner is gone: a sweep
    /// leaves its holder alone (R3.16).
    DoubtedPath,
}

impl NoteKind {
    /// As JSON says it.
    pub fn name(self) -> &'static str {
        match self {
            NoteKind::DefinitionIgnoresPolicy | NoteKind::NamespaceContentGoes => "policy-ignored",
            NoteKind::NoDependents => "policy-without-effect",
            NoteKind::PodAlreadyEnding | NoteKind::NamespaceAlreadyEnding | NoteKind::AlreadyTerminating => {
                "delete-without-effect"
            }
            NoteKind::DoubtedPath => "missing-api",
        }
    }

    /// Whether the policy that was asked for saves nothing, although it is there to save something.
    pub fn saves_nothing(self, propagation: Propagation) -> bool {
        propagation == Propagation::Orphan
            && matches!(self, NoteKind::DefinitionIgnoresPolicy | NoteKind::NamespaceContentGoes)
    }

    /// In a sentence about the object.
    pub fn message(self, propagation: Propagation) -> String {
        let policy = propagation.name().to_lowercase();
        match self {
            NoteKind::DefinitionIgnoresPolicy => {
                format!("the first delete of a definition ignores --cascade={policy}: every instance of it is deleted anyway")
            }
            NoteKind::NamespaceContentGoes => {
                "--cascade=orphan doesn't save what is in a namespace: only references to the Namespace itself are taken off"
                    .to_owned()
            }
            NoteKind::NoDependents => format!("nothing depends on it: --cascade={policy} is as background here"),
            NoteKind::PodAlreadyEnding => {
                "this delete is ignored, its policy included: the pod is in its grace period, and only a shorter one would count"
                    .to_owned()
            }
            NoteKind::NamespaceAlreadyEnding => {
                "this delete is ignored: a terminating namespace takes no other policy while its content is being deleted"
                    .to_owned()
            }
            NoteKind::DoubtedPath => {
                "an owner reference leads to an API path that doesn't exist, which proves nothing: it is left alone \
                 (--trust-missing-apis takes that for absence, as the collector does)"
                    .to_owned()
            }
            NoteKind::AlreadyTerminating => "this delete changes nothing: it is terminating in this way already".to_owned(),
        }
    }
}

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
