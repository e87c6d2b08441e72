//! Owners that wait for dependents which somebody goes on making (S12).

use crate::{
    doctor::{
        Code, Finding, Remedy,
        case::{Case, Gathering},
    },
    model::ObjectId,
    wording::age,
};

use super::{since, waiting_in_the_foreground};

/// A dependent that was on its way when its owner was deleted may come this much later, in seconds.
const ON_ITS_WAY: i64 = 5;

/// Whoever goes on making dependents has made one within this time, in seconds.
const LATELY: i64 = 120;

/// Finds owners that are deleted in the foreground, and dependents that were made long after that.
pub(super) fn gather(case: &Case<'_>, gathering: &mut Gathering) {
    let snapshot = case.snapshot();
    let all: Vec<ObjectId> = snapshot.objects().filter(|(_, object)| object.terminating()).map(|(id, _)| id).collect();
    for owner in waiting_in_the_foreground(case, &all) {
        let object = snapshot.object(owner);
        let Some(deleted) = object.deleted else { continue };
        let blocks = |id: &ObjectId| {
            let dependent = snapshot.object(*id);
            let late = dependent.created.is_some_and(|created| created > deleted.saturating_add(ON_ITS_WAY));
            late && dependent.owners.iter().any(|reference| reference.uid == object.uid && reference.blocks())
        };
        let late: Vec<ObjectId> = case.graph().dependents(owner.into()).iter().copied().filter(blocks).collect();
        let newest = late.iter().filter_map(|id| snapshot.object(*id).created).max();
        let Some(newest) = newest.filter(|newest| case.now.is_none_or(|now| now - newest <= LATELY)) else { continue };
        gathering.findings.push(Finding {
            code: Code::DependentsRecreated,
            severity: Code::DependentsRecreated.severity(),
            cause: snapshot.text(object.uid).to_owned(),
            objects: vec![owner],
            reference: None,
            message: format!(
                "It has been waiting{} for its dependents to go, and yet {} made, the last{}.",
                since(case, &[owner]),
                match late.as_slice() {
                    [one] => format!("{} was", case.name(*one, Some(owner))),
                    many => format!("{} were", case.names(many, Some(owner))),
                },
                case.now.map(|now| format!(" of them {} ago", age(now - newest))).unwrap_or_default(),
            ),
            consequence: "As long as somebody goes on making dependents that block it, it waits.".to_owned(),
            related: late,
            remedies: vec![Remedy::new(
                "stop who makes them; or delete it again in the background: it goes at once, and its dependents after it",
                case.commands().delete(&[owner], "background"),
            )],
        });
    }
}
