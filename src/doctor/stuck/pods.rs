//! Pods that are terminating while nobody ends them (S13).

use std::collections::BTreeMap;

use crate::{
    doctor::{
        Code, Finding, Remedy,
        case::{Case, FindingsBuilder},
        liveness::{Liveness, of_kubelet},
    },
    model::{Coordinate, ObjectId, Presence, Symbol, effects::Severity},
};

use super::{Concern, since, waiting_for, waits};

/// The pod garbage collector removes the pods of nodes that are gone within this time, in seconds (R9.7).
const POD_COLLECTOR: i64 = 60;
/// A kubelet that is there takes a while to confirm that containers have ended.
const KUBELET: i64 = 30;

/// One that reports, and still hasn't done so after this long, is in trouble with it.
const SLOW_KUBELET: i64 = 600;

/// Finds terminating pods in their grace period whose kubelet doesn't exist, or doesn't report.
pub(super) fn gather(case: &Case<'_>, concern: &Concern, findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let Some(pods) = case.stage.built_in.pods else { return };
    let mut groups: BTreeMap<(String, String), Vec<ObjectId>> = BTreeMap::new();
    for id in case.stage.of_resource(pods).iter().copied() {
        let object = snapshot.object(id);
        let in_grace = object.terminating() && object.grace.is_some_and(|seconds| seconds != 0);
        // deletionTimestamp is when the grace period is over.
        if !in_grace || case.fresh.contains(&id) || !case.has_been_terminating(id, 0) || !concern.includes(id) {
            continue;
        }
        let Some(facts) = snapshot.facts.pod(id) else {
            findings.wanted.needs.facts.insert(id);
            continue;
        };
        let node = facts.node.clone().unwrap_or_default();
        let why = match node_exists(case, findings, &node) {
            _ if node.is_empty() => "It was never scheduled to a node.".to_owned(),
            Presence::Unknown => continue,
            Presence::Absent => format!("Its node {node} does not exist."),
            Presence::Present(_) if !case.has_been_terminating(id, KUBELET) => continue,
            Presence::Present(_) => match of_kubelet(case, &mut findings.wanted, &node) {
                Liveness::Away(words) => format!("The kubelet on node {node} is away: {words}."),
                Liveness::Alive(words) if case.now.is_some() && case.has_been_terminating(id, SLOW_KUBELET) => {
                    format!("The kubelet on node {node} is there ({words}), and has not ended it.")
                }
                Liveness::Alive(_) | Liveness::Unknown(_) | Liveness::Unread(_) => continue,
            },
        };
        groups.entry((node, why)).or_default().push(id);
    }
    for ((node, message), objects) in groups {
        let finding = finding(case, &node, message, objects);
        findings.explained.extend(finding.objects.iter().chain(&finding.related).copied());
        findings.findings.push(finding);
    }
}

fn node_exists(case: &Case<'_>, findings: &mut FindingsBuilder, node: &str) -> Presence {
    let snapshot = case.snapshot();
    let Some(resource) = case.stage.built_in.nodes else { return Presence::Unknown };
    let Some(name) = snapshot.strings.find(node) else {
        return if snapshot.covers(resource, None) { Presence::Absent } else { Presence::Unknown };
    };
    let coordinate = Coordinate { resource, namespace: Symbol::EMPTY, name };
    if !snapshot.was_looked_up(coordinate) {
        findings.wanted.needs.absences.insert(coordinate);
    }
    snapshot.look_up(coordinate)
}

fn finding(case: &Case<'_>, node: &str, message: String, objects: Vec<ObjectId>) -> Finding {
    let related = waiting_for(case, &objects);
    let lasts = objects.iter().any(|id| case.has_been_terminating(*id, POD_COLLECTOR));
    let gone = message.contains("does not exist");
    let force = case.commands().delete(&objects, "background", &["--grace-period=0", "--force"]);
    let they = if objects.len() == 1 { "It stays" } else { "They stay" };
    let until = if gone {
        "the pod garbage collector, where it runs, removes such pods within a minute"
    } else {
        "its containers may still be running there"
    };
    Finding {
        code: Code::PodWithoutKubelet,
        severity: if lasts || !gone { Severity::Error } else { Severity::Warning },
        cause: node.to_owned(),
        consequence: format!(
            "{they} Terminating{} after the grace period; {until}.{}",
            since(case, &objects),
            waits(case, &related, &objects)
        ),
        message,
        references: Vec::new(),
        related,
        remedies: vec![Remedy::new(
            "remove the pod without a kubelet's word: only if it is certain that nothing of it runs any more",
            force,
        )],
        objects,
    }
}
