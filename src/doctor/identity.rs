//! Objects that are not where or what they should be: in a namespace that isn't there (S8), or with the uid of another (R3.5).

use std::collections::BTreeMap;

use crate::{
    model::{Coordinate, ObjectId, Origin, Presence, Symbol},
    tree::known_instead,
};

use super::{
    case::{Case, Gathering},
    code::Code,
    collector::Turn,
    finding::{Finding, Remedy},
};

/// Finds objects whose namespace does not exist.
pub(super) fn namespaces(case: &Case<'_>, turns: &[Turn], gathering: &mut Gathering) {
    let snapshot = case.snapshot();
    let Some(resource) = case.stage.built_in.namespaces else { return };
    // A dump that holds some namespaces may lack others, and nobody would miss them.
    if !matches!(snapshot.origin, Origin::Cluster { .. }) {
        return;
    }
    let mut by_namespace: BTreeMap<Symbol, Vec<ObjectId>> = BTreeMap::new();
    for (id, object) in snapshot.objects().filter(|(id, object)| !object.namespace.is_empty() && !case.fresh.contains(id)) {
        let coordinate = Coordinate { resource, namespace: Symbol::EMPTY, name: object.namespace };
        if snapshot.look_up(coordinate) == Presence::Absent {
            if !snapshot.was_looked_up(coordinate) {
                gathering.wanted.needs.absences.insert(coordinate);
            }
            by_namespace.entry(object.namespace).or_default().push(id);
        }
    }
    for (namespace, objects) in by_namespace {
        let name = snapshot.text(namespace);
        let mut related: Vec<ObjectId> =
            turns.iter().filter(|turn| objects.contains(&turn.object)).filter_map(|turn| turn.waiting).collect();
        related.sort_unstable();
        related.dedup();
        gathering.refused.extend(objects.iter().copied());
        gathering.findings.push(Finding {
            code: Code::NamespaceMissing,
            severity: Code::NamespaceMissing.severity(),
            cause: name.to_owned(),
            message: format!("The namespace {name} does not exist."),
            consequence: "They can be deleted, but not changed: the API server answers 404 to every update. The collector can take no finalizer \
                          off them, and drop no reference."
                .to_owned(),
            reference: None,
            related,
            remedies: vec![Remedy::new(
                "make the namespace again: they can then be dealt with, and what the collector has to do with them, it does",
                vec![format!("kubectl create namespace {}", crate::wording::shell_word(name))],
            )],
            objects,
        });
    }
}

/// Finds objects of watched kinds that have the uid of another.
pub(super) fn uids(case: &Case<'_>, gathering: &mut Gathering) {
    let snapshot = case.snapshot();
    let mut by_uid: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
    for (id, _) in snapshot.objects() {
        if let Some(known) = known_instead(snapshot, case.graph(), id) {
            by_uid.entry(known).or_default().push(id);
        }
    }
    for (known, objects) in by_uid {
        let uid = snapshot.text(snapshot.object(known).uid);
        gathering.findings.push(Finding {
            code: Code::SharedUid,
            severity: Code::SharedUid.severity(),
            cause: uid.to_owned(),
            message: format!("It has the uid {uid}, which {} has, too.", case.name(known, objects.first().copied())),
            consequence:
                "The collector knows objects by their uids, and only one by each: which of them it takes for the other is chance."
                    .to_owned(),
            reference: None,
            related: vec![known],
            remedies: vec![Remedy::new(
                "make it again, which gives it a uid of its own; its dependents have to be told",
                objects.iter().map(|id| case.commands().make_again(*id)).collect(),
            )],
            objects,
        });
    }
}
