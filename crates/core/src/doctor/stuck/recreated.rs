//! Owners that wait for dependents that a client keeps creating (S12).

use std::collections::BTreeSet;

use crate::{
    doctor::{
        Code, Finding, RecreatedDependent, Step,
        case::{Case, FindingsBuilder},
    },
    model::ObjectId,
    wording::{age, some_of},
};

use super::concern::{since, waiting_in_the_foreground};

/// A dependent that was being created when its owner was deleted may appear this many seconds later.
const ON_ITS_WAY: i64 = 5;

/// At most this many of them are named.
const NAMED: usize = 3;
/// A client that keeps creating dependents has created one within this many seconds.
const LATELY: i64 = 120;

/// Finds foreground-deleted owners with dependents that were created long after the delete.
pub(super) fn gather(case: &Case<'_>, findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let all: Vec<ObjectId> = snapshot.objects().filter(|(_, object)| object.terminating()).map(|(id, _)| id).collect();
    for owner in waiting_in_the_foreground(case, &all) {
        let object = snapshot.object(owner);
        let Some(deleted) = object.deleted.get() else { continue };
        let blocks = |id: &ObjectId| {
            let owners = &snapshot.object(*id).owners;
            owners.iter().any(|reference| reference.uid == object.uid && reference.blocks())
        };
        let late = |id: ObjectId| {
            let dependent = snapshot.object(id);
            let created = dependent.created.get().filter(|created| *created > deleted.saturating_add(ON_ITS_WAY))?;
            let made =
                RecreatedDependent { owner: object.uid, uid: dependent.uid, name: case.name(id, Some(owner)), created };
            Some((id, made))
        };
        let dependents = case.graph().dependents(owner.into()).iter().copied();
        let (there, mut made): (Vec<ObjectId>, Vec<RecreatedDependent>) =
            dependents.filter(blocks).filter_map(late).unzip();
        findings.made.extend(made.iter().cloned());
        let earlier = case.made.iter().filter(|earlier| earlier.owner == object.uid);
        let gone: Vec<RecreatedDependent> =
            earlier.filter(|earlier| made.iter().all(|made| made.uid != earlier.uid)).cloned().collect();
        made.extend(gone);
        let newest = made.iter().map(|made| made.created).max();
        let Some(newest) = newest.filter(|newest| case.now.is_none_or(|now| now - newest <= LATELY)) else { continue };
        let last = case.now.map(|now| format!(", the last {} ago", age(now - newest))).unwrap_or_default();
        findings.findings.push(Finding {
            objects: vec![owner],
            message: format!(
                "It has been waiting{} for its dependents to be deleted, but new ones were created{last}: {}.",
                since(case, &[owner]),
                named(&made)
            ),
            consequence: "It waits as long as another client keeps creating dependents that block it.".to_owned(),
            related: there,
            remedies: vec![Step::Heal.by(
                "stop the client that creates them; or delete it again with --cascade=background: it is deleted \
                 at once, and its dependents after it",
                case.commands().delete(&[owner], "background", &[]),
            )],
            ..Finding::of(Code::DependentsRecreated, snapshot.text(object.uid))
        });
    }
}

/// The first few names of the created dependents, without duplicates.
fn named(made: &[RecreatedDependent]) -> String {
    let names: BTreeSet<&str> = made.iter().map(|made| made.name.as_str()).collect();
    some_of(names, NAMED)
}
