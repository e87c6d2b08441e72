//! What the collector complained of itself (R3.7).

use std::collections::BTreeMap;

use crate::{
    model::{ObjectId, OwnerEvent},
    wording::age,
};

use super::{
    case::{Case, Gathering},
    code::Code,
    finding::{Finding, Remedy},
};

/// Tells of complaints about objects that no finding speaks of.
pub(super) fn gather(case: &Case<'_>, gathering: &mut Gathering) {
    let snapshot = case.snapshot();
    let told: Vec<ObjectId> = gathering
        .findings
        .iter()
        .filter(|finding| finding.code == Code::OwnerOtherNamespace)
        .flat_map(|finding| finding.objects.iter().copied())
        .collect();
    let mut latest: BTreeMap<&str, &OwnerEvent> = BTreeMap::new();
    for event in case.events {
        let known = latest.entry(&event.uid).or_insert(event);
        if event.last > known.last {
            *known = event;
        }
    }
    for (uid, event) in latest {
        let object = snapshot.strings.find(uid).and_then(|uid| snapshot.by_uid(uid));
        if object.is_some_and(|object| told.contains(&object)) {
            continue;
        }
        let when = case.now.zip(event.last).map(|(now, last)| format!(" {} ago", age(now - last))).unwrap_or_default();
        let place = if event.namespace.is_empty() { String::new() } else { format!(" in namespace {}", event.namespace) };
        gathering.findings.push(Finding {
            code: Code::OwnerNamespaceEvent,
            severity: Code::OwnerNamespaceEvent.severity(),
            cause: uid.to_owned(),
            message: format!("{}/{}{place}: the collector said{when}: {}", event.kind, event.name, event.message),
            consequence: match object {
                None => {
                    "It is gone by now: an owner in another namespace counts as none, and the collector deletes what has no other."
                        .to_owned()
                }
                Some(_) => "It is still there, and the reference is not: somebody has mended it, or the collector has dropped it."
                    .to_owned(),
            },
            objects: object.into_iter().collect(),
            reference: None,
            related: Vec::new(),
            remedies: vec![Remedy::new(
                "find out who writes such references; then forget the complaint, which goes by itself after an hour",
                vec![forget(event)],
            )],
        });
    }
}

fn forget(event: &OwnerEvent) -> String {
    let namespace = if event.namespace.is_empty() { "default" } else { &event.namespace };
    let fields = format!("reason=OwnerRefInvalidNamespace,involvedObject.uid={}", event.uid);
    format!(
        "kubectl delete events -n {} --field-selector {}",
        crate::wording::shell_word(namespace),
        crate::wording::shell_word(&fields)
    )
}
