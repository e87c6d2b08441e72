//! Objects in a namespace that doesn't exist (S8), or with the uid of another object (R3.5).

use std::collections::BTreeMap;

use crate::{
    command_line::{ShellCommand, is_label},
    model::{Coordinate, ListRecord, ObjectId, Presence, Snapshot, Symbol},
    simulate::doubt::Turn,
    tree::{ResolvedReference, known_instead},
};

use super::{
    case::{Case, FindingsBuilder, sorted},
    code::Code,
    finding::{Finding, Remedy, Step},
};

/// Finds objects whose namespace does not exist.
pub(super) fn namespaces(case: &Case<'_>, turns: &[Turn], findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let Some(resource) = case.stage.built_in.namespaces else { return };
    // Files contain only what was requested: even if they contain namespaces, others may exist.
    let describe = |list: &ListRecord| list.resource == resource && !list.resource_version.is_empty();
    if !case.live && !snapshot.lists.iter().any(describe) {
        return;
    }
    let mut by_namespace: BTreeMap<Symbol, Vec<ObjectId>> = BTreeMap::new();
    for (id, object) in
        snapshot.objects().filter(|(id, object)| !object.namespace.is_empty() && !case.fresh.contains(id))
    {
        let coordinate = Coordinate { resource, namespace: Symbol::EMPTY, name: object.namespace };
        if snapshot.look_up(coordinate) == Presence::Absent {
            if !snapshot.was_looked_up(coordinate) {
                case.stage.lacks(|needs| needs.absences.insert(coordinate));
            }
            by_namespace.entry(object.namespace).or_default().push(id);
        }
    }
    for (namespace, objects) in by_namespace {
        let name = snapshot.text(namespace);
        let here = turns.iter().filter(|turn| objects.binary_search(&turn.object).is_ok());
        let related = sorted(here.filter_map(|turn| turn.waiting));
        findings.refused.extend(objects.iter().copied());
        findings.findings.push(Finding {
            message: format!("The namespace {name} does not exist."),
            consequence: match objects.len() {
                1 => {
                    "It can be deleted, but not changed: the API server answers every update with 404. The collector \
                      cannot remove its finalizers or references."
                }
                _ => {
                    "They can be deleted, but not changed: the API server answers every update with 404. The \
                      collector cannot remove their finalizers or references."
                }
            }
            .to_owned(),
            related,
            remedies: vec![Step::Heal.by(
                "create the namespace again: the collector can then do its work in it",
                create_namespace(case, name),
            )],
            objects,
            ..Finding::of(Code::NamespaceMissing, name)
        });
    }
}

fn create_namespace(case: &Case<'_>, name: &str) -> Option<ShellCommand> {
    is_label(name).then(|| case.kubectl.verb("create").args(["namespace", name]))
}

/// Finds objects of watched kinds that share a uid.
pub(super) fn uids(case: &Case<'_>, findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let mut by_uid: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
    for (id, _) in snapshot.objects() {
        if let Some(known) =
            known_instead(snapshot, case.graph(), id).filter(|known| !is_served_twice(snapshot, *known, id))
        {
            by_uid.entry(known).or_default().push(id);
        }
    }
    for (known, objects) in by_uid {
        let uid = snapshot.text(snapshot.object(known).uid);
        findings.findings.push(Finding {
            message: format!(
                "{} the same uid as {}: {uid}.",
                if objects.len() == 1 { "It has" } else { "They have" },
                case.name(known, objects.first().copied())
            ),
            consequence: "The collector knows only one object per uid, and it is random which of them. It may \
                wait for the wrong one, orphan dependents of the wrong one, or never finish a delete."
                .to_owned(),
            related: vec![known],
            remedies: vec![make_again(case, &objects)],
            objects,
            ..Finding::of(Code::SharedUid, uid)
        });
    }
}

/// Whether two objects with one uid are the same object, served by two API groups.
fn is_served_twice(snapshot: &Snapshot, one: ObjectId, other: ObjectId) -> bool {
    let place = |id: ObjectId| (snapshot.object(id).namespace, snapshot.object(id).name);
    let resource = |id: ObjectId| snapshot.resource(id);
    place(one) == place(other) && resource(one).group != resource(other).group
}

/// Recreates objects under new uids. First removes the references of their dependents, which the collector would delete
/// with them.
fn make_again(case: &Case<'_>, objects: &[ObjectId]) -> Remedy {
    let (snapshot, commands) = (case.snapshot(), case.commands());
    let mut lines: Vec<ShellCommand> = Vec::new();
    for id in objects {
        let uid = snapshot.object(*id).uid;
        let dependents = case.graph().by_uid(uid).map_or(&[][..], |node| case.graph().dependents(node));
        for dependent in dependents {
            let holder = snapshot.object(*dependent);
            let leads_here = |place: &usize| {
                let link = ResolvedReference::of(snapshot, case.graph(), holder, &holder.owners[*place]);
                link.standing.valid() && link.found == Some(*id)
            };
            let places: Vec<usize> = (0..holder.owners.len()).filter(leads_here).collect();
            if !places.is_empty() {
                let drop = commands.drop_references(*dependent, &places);
                if drop.is_empty() {
                    // The dependent can't be freed: deleting its owner would delete it.
                    return Step::GiveUp.by("", None);
                }
                lines.extend(drop);
            }
        }
    }
    let what = match (lines.is_empty(), objects.len()) {
        (true, 1) => "recreate it with a new uid",
        (true, _) => "recreate them with new uids",
        (false, 1) => {
            "recreate it with a new uid; its dependents are kept, and their references have to be changed to the new \
             uid"
        }
        (false, _) => {
            "recreate them with new uids; their dependents are kept, and the references of these have to be changed \
             to the new uids"
        }
    };
    lines.extend(objects.iter().filter_map(|id| commands.make_again(*id)));
    Step::GiveUp.by(what, lines)
}
