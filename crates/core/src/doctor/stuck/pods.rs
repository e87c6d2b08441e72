//! Terminating pods that no kubelet ends (S13).

use std::collections::BTreeMap;

use crate::{
    doctor::{
        Code, Finding, Step,
        case::{Case, FindingsBuilder},
    },
    model::{ObjectId, effects::Severity},
    server::Stored,
    simulate::{Kubelet, Liveness, World, actors::SLOWEST_KUBELET},
    wording::age,
};

use super::concern::{Concern, sentence, waiting_for, waits};

/// A kubelet that said something within so many seconds lives: it tells an Event that comes again every five minutes.
const LIVES_FOR: i64 = 600;

/// Finds terminating pods past their grace period whose kubelet doesn't exist or doesn't report, or is late.
pub(super) fn gather(case: &Case<'_>, concern: &Concern, findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let Some(pods) = case.stage.built_in.pods else { return };
    let mut groups: BTreeMap<(String, String, Option<Collected>, bool), Vec<ObjectId>> = BTreeMap::new();
    let mut world = World::at_rest(case.stage);
    for id in case.stage.of_resource(pods).iter().copied() {
        let object = snapshot.object(id);
        let in_grace = object.terminating() && object.grace.get().is_some_and(|seconds| seconds != 0);
        // A pod's deletionTimestamp is the end of its grace period.
        if !in_grace || case.fresh.contains(&id) || !case.has_been_terminating(id, 0) || !concern.includes(id) {
            continue;
        }
        let (kubelet, seen) = world.judge_kubelet_of(id);
        let node = snapshot.facts.pod(id).and_then(|facts| facts.node.clone()).unwrap_or_default();
        let words = seen.evidence();
        let is_alive = matches!(seen, Liveness::Alive(_));
        let has_tried = kubelet == Kubelet::Late && has_tried(case, id);
        let why = match kubelet {
            Kubelet::Absent if node.is_empty() => "It was never scheduled to a node.".to_owned(),
            Kubelet::Absent => format!("Its node {node} does not exist."),
            _ if !case.has_been_terminating(id, SLOWEST_KUBELET) => continue,
            Kubelet::OutOfService => format!("Its node {node} is out of service."),
            Kubelet::Silent => format!("The kubelet on node {node} does not respond: {words}."),
            Kubelet::Late if is_alive => {
                format!("The kubelet on node {node} is running ({words}), but has not ended it.")
            }
            Kubelet::Late if has_tried => format!("The kubelet on node {node} is running, and fails to end it."),
            Kubelet::Late => format!("The kubelet on node {node} has not ended it, and {words}."),
            _ => continue,
        };
        let collected = match kubelet {
            Kubelet::Absent if world.is_left_by_pod_gc(id) => Some(Collected::Overdue),
            Kubelet::Absent | Kubelet::OutOfService => Some(Collected::Soon),
            _ => None,
        };
        groups.entry((node, why, collected, is_alive || has_tried)).or_default().push(id);
    }
    for ((node, mut message, collected, runs), objects) in groups {
        let said = objects.iter().find_map(|id| snapshot.facts.why_not_deleted(*id));
        message.extend(said.map(|said| format!(" {}: {}.", sentence(said.source.speaker(), true), said.words)));
        findings.explain(finding(case, &node, message, collected, runs, objects));
    }
}

/// Whether a kubelet has said just now that it could not end a pod: it lives.
fn has_tried(case: &Case<'_>, pod: ObjectId) -> bool {
    let said = case.snapshot().facts.why_not_deleted(pod).filter(|said| said.words.starts_with("FailedKillPod"));
    let since = said.and_then(|said| Some(case.now? - said.at?));
    since.is_some_and(|since| since < LIVES_FOR)
}

/// Whether the pod garbage collector deletes a pod within 80 seconds, or should have (R9.7).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Collected {
    Soon,
    Overdue,
}

fn finding(
    case: &Case<'_>,
    node: &str,
    message: String,
    collected: Option<Collected>,
    runs: bool,
    objects: Vec<ObjectId>,
) -> Finding {
    let mut related = waiting_for(case, &objects);
    // If nobody is stuck, because the pod garbage collector is counted on, owners wait for it meanwhile.
    if collected == Some(Collected::Soon) {
        related.extend(waiting_owners(case, &objects));
        related.sort_unstable();
        related.dedup();
    }
    // R9.10: while a pod is left, its namespace is not emptied, whoever may end that pod.
    for id in &objects {
        let waits = case.stage.leaving_namespace_of(*id).filter(|one| !related.contains(one));
        related.extend(waits);
    }
    let commands = case.commands();
    let missing = objects.iter().find_map(|id| case.stage.said_to_be_missing(*id));
    let missing = missing.map(|missing| commands.make_missing(&missing, "its kubelet may wait for that"));
    let facts = &case.snapshot().facts;
    let hangs_at = |words: &str| {
        let said = objects.iter().find_map(|id| facts.why_not_deleted(*id));
        said.is_some_and(|said| said.words.starts_with(words))
    };
    let attached = Some(case.kubectl.verb("get").arg("volumeattachments.storage.k8s.io"));
    let attached = attached.filter(|_| hangs_at("FailedAttachVolume"));
    let attached = Step::Look.by("see which node its volume is attached to, and why it stays there", attached);
    let ends = commands.end_pods(&objects, collected.map(|collected| collected == Collected::Overdue), runs);
    let remedies = missing.into_iter().chain([attached]).chain(ends).collect();
    let one = objects.len() == 1;
    let longest = objects.iter().filter_map(|id| case.terminating_for(*id)).max();
    let after = longest.map_or_else(|| "after".to_owned(), |seconds| format!("{} after", age(seconds)));
    let they = if one { "It is" } else { "They are" };
    let until = match (collected, one) {
        (Some(Collected::Soon), _) => {
            "The pod garbage collector, if it is running, deletes such pods within 80 seconds"
        }
        (Some(Collected::Overdue), _) => {
            "The pod garbage collector deletes such pods within 80 seconds, if it is running: it has not"
        }
        (None, true) => "Its containers may still be running there",
        (None, false) => "Their containers may still be running there",
    };
    Finding {
        severity: if collected == Some(Collected::Soon) { Severity::Warning } else { Severity::Error },
        consequence: format!(
            "{they} still Terminating {after} the end of the grace period. {until}.{}",
            waits(case, &related, &objects)
        ),
        message,
        related,
        remedies,
        objects,
        ..Finding::of(Code::PodWithoutKubelet, node)
    }
}

/// The owners that wait for these objects now, and theirs: they are being deleted in the foreground.
fn waiting_owners(case: &Case<'_>, objects: &[ObjectId]) -> Vec<ObjectId> {
    let snapshot = case.snapshot();
    let waits = |id: &ObjectId| Stored::of(snapshot.object(*id)).waiting();
    let (mut found, mut open) = (Vec::new(), objects.to_vec());
    while let Some(id) = open.pop() {
        let blocked = snapshot.object(id).owners.iter().filter(|owner| owner.blocks());
        let owners: Vec<ObjectId> = blocked.filter_map(|owner| snapshot.by_uid(owner.uid)).filter(waits).collect();
        let new = owners.into_iter().filter(|owner| !found.contains(owner)).collect::<Vec<_>>();
        open.extend(&new);
        found.extend(new);
    }
    found
}
