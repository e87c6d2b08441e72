//! Dependents that a foreground-deleted owner waits for, and that the collector can't delete (S4, S5, S7).

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::{
    doctor::{
        Code, Finding, Step,
        case::{Case, FindingsBuilder},
    },
    graph::{Address, Verdict},
    model::{Object, ObjectId, Symbol},
    server::kinds::protected,
    simulate::State,
};

use super::concern::{Concern, it, waiting_for, waiting_in_the_foreground, waits};

/// Finds live objects that a terminating object waits for, and why they live.
pub(super) fn gather(case: &Case<'_>, concern: &Concern, roots: &[(ObjectId, State)], findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let mut groups: BTreeMap<(Code, String), Vec<ObjectId>> = BTreeMap::new();
    for (id, _) in roots.iter().filter(|(id, state)| *state == State::Stuck && !snapshot.object(*id).terminating()) {
        if case.projection.waited_for_by(*id).next().is_none() || !concern.includes(*id) {
            continue;
        }
        if let Some((code, cause)) = why(case, *id) {
            groups.entry((code, cause)).or_default().push(*id);
        }
    }
    for ((code, cause), objects) in groups {
        findings.explain(finding(case, code, cause, objects));
    }
}

/// Why the collector can't delete an object; the text is the same for objects with the same cause.
fn why(case: &Case<'_>, id: ObjectId) -> Option<(Code, String)> {
    let snapshot = case.snapshot();
    let object = snapshot.object(id);
    if protected(snapshot, id).is_some() {
        return Some((Code::StuckOnProtected, snapshot.text(object.uid).to_owned()));
    }
    // One reference that can't be looked up aborts them all (R3.13).
    let faults = faulty(case, object);
    let first = faults.first()?;
    let reference = &object.owners[*first];
    Some(match address(case, object, *first) {
        Address::InvalidScope => (Code::StuckOnInvalidScope, snapshot.text(reference.uid).to_owned()),
        _ => (
            Code::StuckOnNotServed,
            format!("{} {}", snapshot.text(reference.api_version), snapshot.text(reference.kind)),
        ),
    })
}

fn address(case: &Case<'_>, object: &Object, place: usize) -> Address {
    Address::of(case.snapshot(), case.graph(), &object.owners[place], object.namespace)
}

/// The indexes of the references that can't be looked up.
fn faulty(case: &Case<'_>, object: &Object) -> Vec<usize> {
    let fails = |place: &usize| matches!(address(case, object, *place), Address::Unmappable | Address::InvalidScope);
    (0..object.owners.len()).filter(fails).collect()
}

/// Whether an object has a solid owner: the collector would keep it for that owner (§4.2).
fn has_another_owner(case: &Case<'_>, id: ObjectId) -> bool {
    let object = case.snapshot().object(id);
    let verdict = |reference| Verdict::of(case.snapshot(), case.graph(), reference, object.namespace);
    object.owners.iter().any(|reference| matches!(verdict(reference), Verdict::Solid(_)))
}

/// The indexes of the references that prevent the collector from deleting an object, and of those to owners that wait
/// for it.
fn in_the_way(case: &Case<'_>, id: ObjectId) -> Vec<usize> {
    let object = case.snapshot().object(id);
    let waiting: FxHashSet<Symbol> =
        case.projection.waited_for_by(id).map(|owner| case.snapshot().object(owner).uid).collect();
    let mut places = faulty(case, object);
    places.extend((0..object.owners.len()).filter(|place| waiting.contains(&object.owners[*place].uid)));
    places
}

fn finding(case: &Case<'_>, code: Code, cause: String, objects: Vec<ObjectId>) -> Finding {
    let snapshot = case.snapshot();
    let first = objects[0];
    let object = snapshot.object(first);
    let fault = faulty(case, object).first().copied();
    let related = waiting_for(case, &objects);
    let said = fault.map(|place| case.reference(&object.owners[place])).unwrap_or_default();
    let one = objects.len() == 1;
    let them = it(&objects);
    let message = match code {
        // Each protected object is a finding of its own.
        Code::StuckOnProtected => {
            format!("The API server refuses to delete it: {}.", protected(snapshot, first).unwrap_or("it is protected"))
        }
        Code::StuckOnInvalidScope => {
            let they_are = if one { "It is cluster-scoped, but has" } else { "They are cluster-scoped, but have" };
            format!("{they_are} a reference to the namespaced {said}.")
        }
        _ => {
            let they_have = if one { "It has" } else { "They have" };
            format!("{they_have} a reference to {said}, a kind that is not served.")
        }
    };
    let consequence = match code {
        Code::StuckOnProtected => "It is never deleted, even if other objects wait for it.".to_owned(),
        Code::StuckOnInvalidScope => {
            format!("The collector gives up on {them} without a retry, and never deletes {them}.")
        }
        _ => format!("The collector fails on {them}, retries forever, and never deletes {them}."),
    };
    let waiting = waiting_in_the_foreground(case, &related);
    let owners = if waiting.len() == 1 { "owner" } else { "owners" };
    let release = Step::GiveUp
        .by(
            format!("keep {them}, and unblock the {owners}: delete the {owners} again with --cascade=background"),
            case.commands().delete(&waiting, "background", &[]),
        )
        .deciding(true);
    let mut remedies = vec![release];
    if code != Code::StuckOnProtected {
        // Removing the reference alone helps late or never: the collector retries within 17 minutes (R2.9), but not
        // after an invalid scope (R3.13).
        let (kept, doomed): (Vec<ObjectId>, Vec<ObjectId>) =
            objects.iter().partition(|id| has_another_owner(case, **id));
        remedies.push(
            Step::GiveUp
                .by(
                    format!("delete {}, as the collector would for the waiting owner", it(&doomed)),
                    case.commands().delete(&doomed, "foreground", &[]),
                )
                .deciding(true),
        );
        remedies.push(Step::GiveUp.by(
            if kept.len() == 1 {
                "keep it for its other owner: remove the references that cannot be looked up, and those to the \
                 waiting owner"
            } else {
                "keep them for their other owners: remove the references that cannot be looked up, and those to the \
                 waiting owners"
            },
            kept.iter().flat_map(|id| case.commands().drop_references(*id, &in_the_way(case, *id))),
        ).deciding(true));
    }
    Finding {
        message,
        consequence: format!("{consequence}{}", waits(case, &related, &objects)),
        references: fault.map(|place| object.owners[place]).into_iter().collect(),
        related,
        remedies,
        objects,
        ..Finding::of(code, cause)
    }
}
