//! Deletes that wait (`delete --hold`), and what is left of them.

use crate::{
    hold::{Held, LABEL, is_recorded},
    model::{HOLD, Object, ObjectId, Symbol, UNCANCELLED},
    wording::count,
};

use super::{
    Code, Finding, Remedy, Step,
    case::{Case, FindingsBuilder},
    stuck::concern::since,
};

/// Finds held objects, and Secrets of holds without a held object.
pub(super) fn gather(case: &Case<'_>, findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let in_scope = |id: ObjectId| !case.fresh.contains(&id) && case.limit.asks_about(snapshot, id);
    for (id, object) in snapshot.objects() {
        if let Some(held) = Held::of_object(snapshot, id).filter(|_| in_scope(id)) {
            let guards = match held {
                Held::Waits => Vec::new(),
                Held::BeingTakenBack => guards(case, object.namespace),
            };
            findings.explained.extend(guards.iter().copied().chain([id]));
            findings.findings.push(finding(case, id, held, guards));
        }
    }
    let Some(secrets) = snapshot.resources.by_group_kind("", "Secret") else { return };
    for (id, object) in snapshot.objects().filter(|(_, object)| object.resource == secrets) {
        let Some(uid) = snapshot.label(id, LABEL) else { continue };
        let of = snapshot.strings.find(uid).and_then(|uid| snapshot.by_uid(uid));
        let is_held = of.is_some_and(|of| Held::of_object(snapshot, of).is_some());
        if !is_held && in_scope(id) && !object.terminating() {
            let guards = if of.is_none() { guards(case, object.namespace) } else { Vec::new() };
            findings.explained.extend(guards.iter().copied());
            findings.findings.push(left_over(case, id, of, guards));
        }
    }
}

/// The objects of a namespace, or of all, that look like dependents with a guard: they are their own owners, without
/// blocking.
fn guards(case: &Case<'_>, namespace: Symbol) -> Vec<ObjectId> {
    let is_here = |object: &Object| namespace.is_empty() || object.namespace == namespace;
    let is_guard = |object: &Object| {
        object.owners.iter().any(|owner| owner.uid == object.uid && owner.block_owner_deletion != Some(true))
    };
    let objects = case.snapshot().objects().filter(|(_, object)| is_here(object) && is_guard(object));
    objects.map(|(id, _)| id).collect()
}

fn finding(case: &Case<'_>, id: ObjectId, held: Held, guards: Vec<ObjectId>) -> Finding {
    let snapshot = case.snapshot();
    let below = case.graph().dependents(id.into()).len();
    let stays = match below {
        0 => "it stays".to_owned(),
        below => format!("it and its {} stay", count(below, "dependent", "dependents")),
    };
    let since = since(case, &[id]);
    let finalizers: Vec<Symbol> =
        [HOLD, UNCANCELLED].into_iter().filter_map(|finalizer| snapshot.strings.find(finalizer)).collect();
    let is_recorded = is_recorded(snapshot, id, |secrets| case.stage.of_resource(secrets).iter().copied());
    let (message, consequence, remedies) = match held {
        Held::Waits => (
            format!("Terminating{since}, held by kubectl gc delete --hold."),
            match is_recorded {
                true => format!("Nothing is deleted until somebody lets it go: {stays}, and it can be taken back."),
                false => format!(
                    "Nothing is deleted until somebody lets it go: {stays}. It can't be taken back: the Secret of the \
                     hold is gone."
                ),
            },
            {
                let by_hand = case.commands().remove_finalizers(id, &finalizers);
                let force = Step::Force.by("delete it now, without this plugin; its Secret stays", by_hand);
                case.commands().end_hold(id, is_recorded).into_iter().chain([force]).collect()
            },
        ),
        Held::BeingTakenBack => (
            format!("Terminating{since}. Its delete is being taken back, and that is not done."),
            "It can't be deleted, and its dependents may be their own owners, until the rest is done.".to_owned(),
            vec![Step::Heal.by("take the rest back", case.commands().plugin("cancel", id))],
        ),
    };
    about(case, id, guards, [message, consequence], remedies)
}

/// The Secret of a hold whose object isn't held: a run was interrupted.
fn left_over(case: &Case<'_>, id: ObjectId, of: Option<ObjectId>, guards: Vec<ObjectId>) -> Finding {
    let again = Step::Heal.by(
        "if another object has its name by now: make that the owner of its dependents",
        case.commands().plugin("cancel", id).map(|cancel| cancel.arg("--use-existing")),
    );
    let (message, consequence, what) = match of {
        Some(of) => (
            format!("The record of a hold of {}, which is not held.", case.name(of, Some(id))),
            "It was not deleted, or its delete went on: nothing waits.".to_owned(),
            "remove what is left of the hold",
        ),
        None => (
            "The record of a hold whose object was not found.".to_owned(),
            "Either its delete has ended, or taking it back stopped halfway: then its dependents own themselves for \
             now."
                .to_owned(),
            "take the rest back, or remove the Secret if nothing can be taken back",
        ),
    };
    let mut remedies = vec![Step::Heal.by(what, case.commands().plugin("cancel", id))];
    remedies.extend(of.is_none().then(|| again.deciding(true)));
    about(case, id, of.into_iter().chain(guards).collect(), [message, consequence], remedies)
}

/// A finding about one object, or its Secret.
fn about(
    case: &Case<'_>,
    id: ObjectId,
    related: Vec<ObjectId>,
    [message, consequence]: [String; 2],
    remedies: Vec<Remedy>,
) -> Finding {
    let snapshot = case.snapshot();
    Finding {
        objects: vec![id],
        related,
        message,
        consequence,
        remedies,
        ..Finding::of(Code::HeldDeletion, snapshot.text(snapshot.object(id).uid))
    }
}
