//! The collector's own events about owners in other namespaces (R3.7).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    command_line::ShellCommand,
    model::{ObjectId, OwnerEvent},
    tree::ResolvedReference,
    wording::{age, and_more},
};

use super::{
    case::{Case, FindingsBuilder},
    code::Code,
    finding::{Finding, Step},
};

/// The events about one owner: its dependents, and the latest event.
struct Complaints<'a> {
    latest: &'a OwnerEvent,
    /// The dependents that still exist.
    objects: Vec<ObjectId>,
    /// The uids of all dependents.
    uids: BTreeSet<&'a str>,
}

/// Reports events about references that no longer exist: existing ones have findings of their own.
pub(super) fn gather(case: &Case<'_>, findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    // The event's message names the owner and the namespace in which it doesn't exist.
    let mut by_owner: BTreeMap<(&str, bool), Complaints<'_>> = BTreeMap::new();
    for event in case.events {
        let object = snapshot.strings.find(&event.uid).and_then(|uid| snapshot.by_uid(uid));
        let asked = match object {
            Some(object) => case.limit.asks_about(snapshot, object),
            None => case.limit.asks_about_namespace(snapshot, &event.namespace),
        };
        if !asked || object.is_some_and(|object| leads_elsewhere(case, object)) {
            continue;
        }
        let complaints = by_owner.entry((&event.message, object.is_some())).or_insert_with(|| Complaints {
            latest: event,
            objects: Vec::new(),
            uids: BTreeSet::new(),
        });
        if event.last > complaints.latest.last {
            complaints.latest = event;
        }
        if complaints.uids.insert(&event.uid) {
            complaints.objects.extend(object);
        }
    }
    for complaints in by_owner.into_values() {
        findings.findings.push(finding(case, complaints));
    }
}

/// Whether an object still has a reference that leads nowhere or can't be looked up.
fn leads_elsewhere(case: &Case<'_>, id: ObjectId) -> bool {
    let object = case.snapshot().object(id);
    object
        .owners
        .iter()
        .any(|reference| !ResolvedReference::of(case.snapshot(), case.graph(), object, reference).standing.valid())
}

fn finding(case: &Case<'_>, complaints: Complaints<'_>) -> Finding {
    let Complaints { latest, mut objects, uids } = complaints;
    objects.sort_unstable();
    let when =
        case.now.zip(latest.last).map(|(now, last)| format!(" {} ago", age((now - last).max(0)))).unwrap_or_default();
    let place = if latest.namespace.is_empty() { String::new() } else { format!(" in namespace {}", latest.namespace) };
    let more = and_more(uids.len().saturating_sub(1));
    let look: Vec<ShellCommand> = objects.iter().filter_map(|id| case.commands().managed_fields(*id)).collect();
    let consequence = if objects.is_empty() {
        "It no longer exists: owners in another namespace do not count, and the collector deletes objects \
         without other owners. The client that made it may make another; the event expires after an hour."
    } else {
        "It still exists, but the reference does not: another client has fixed it, or the collector has removed \
         it."
    };
    let cause = format!("{} {}", latest.message, objects.is_empty());
    Finding {
        message: format!("{}/{}{more}{place}: the collector said{when}: {}", latest.kind, latest.name, latest.message),
        consequence: consequence.to_owned(),
        objects,
        remedies: vec![
            Step::Look.by("find out which client writes such references: its name is in managedFields", look),
        ],
        ..Finding::of(Code::OwnerNamespaceEvent, cause)
    }
}
