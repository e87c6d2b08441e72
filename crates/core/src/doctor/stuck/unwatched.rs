//! Deletes that wait for the collector, which doesn't watch their kind (S10).

use std::collections::BTreeMap;

use crate::{
    doctor::{
        Code, Finding, Step,
        case::{Case, FindingsBuilder},
    },
    model::{ObjectId, ResourceId},
    simulate::State,
};

use super::concern::{Concern, waiting_for, waits};

/// Finds terminating objects with one of the collector's finalizers, of kinds that it doesn't watch.
pub(super) fn gather(case: &Case<'_>, concern: &Concern, roots: &[(ObjectId, State)], findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let mut by_kind: BTreeMap<ResourceId, Vec<ObjectId>> = BTreeMap::new();
    for (id, _) in roots {
        let resource = snapshot.object(*id).resource;
        let collected = snapshot.waits_for_dependents(*id);
        if collected && concern.includes(*id) && snapshot.resources.not_watched(resource).is_some() {
            by_kind.entry(resource).or_default().push(*id);
        }
    }
    for (resource, objects) in by_kind {
        let kind = snapshot.resources.get(resource);
        let why = snapshot.resources.not_watched(resource).map(ToString::to_string).unwrap_or_default();
        let related = waiting_for(case, &objects);
        findings.explain(Finding {
            message: format!(
                "The collector does not watch {} ({why}), so it never sees this delete.",
                kind.full_name()
            ),
            consequence: format!("The collector's finalizer is never removed.{}", waits(case, &related, &objects)),
            remedies: vec![Step::Heal.by(
                "delete it again with --cascade=background, which removes the collector's finalizers; the \
                 collector deletes the dependents",
                case.commands().delete(&objects, "background", &[]),
            )],
            related,
            objects,
            ..Finding::of(Code::StuckUnwatched, kind.full_name())
        });
    }
}
