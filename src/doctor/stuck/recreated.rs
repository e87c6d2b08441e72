//! Owners that wait for dependents which somebody goes on making (S12).

use crate::{
    doctor::{
        Code, Finding, Remedy,
        case::{Case, Gathering},
    },
    model::ObjectId,
};

use super::{since, waiting_in_the_foreground};

/// A dependent that was on its way when its owner was deleted may come this much later, in seconds.
const ON_ITS_WAY: i64 = 5;

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
        if late.is_empty() {
            continue;
        }
        gathering.findings.push(Finding {
            code: Code::DependentsRecreated,
            severity: Code::DependentsRecreated.severity(),
            cause: snapshot.text(object.uid).to_owned(),
            objects: vec![owner],
            reference: None,
            message: format!(
                "It has been waiting{} for its dependents to go, and {} was made long after that.",
                since(case, &[owner]),
                case.names(&late, Some(owner))
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
