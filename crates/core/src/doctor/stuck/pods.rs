//! Terminating pods that no kubelet ends (S13).

use std::collections::BTreeMap;

use crate::{
    doctor::{
        Code, Finding, Remedy,
        case::{Case, FindingsBuilder},
    },
    model::{ObjectId, Presence, effects::Severity, facts::KubeletReport},
    simulate::{
        Liveness, Needs, SLOWEST_CONTROLLER,
        liveness::{lease_named, of_lease},
        world::LATE,
    },
    wording::age,
};

use super::{Concern, waiting_for, waits};

/// The pod garbage collector removes the pods of missing nodes within this time, in seconds (R9.7).
const POD_COLLECTOR: i64 = SLOWEST_CONTROLLER;
/// A running kubelet needs this many seconds to confirm that containers have ended.
const KUBELET: i64 = 30;

/// Finds terminating pods past their grace period whose kubelet doesn't exist or doesn't report, or is late.
pub(super) fn gather(case: &Case<'_>, concern: &Concern, findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let Some(pods) = case.stage.built_in.pods else { return };
    let mut groups: BTreeMap<(String, String), Vec<ObjectId>> = BTreeMap::new();
    for id in case.stage.of_resource(pods).iter().copied() {
        let object = snapshot.object(id);
        let in_grace = object.terminating() && object.grace.get().is_some_and(|seconds| seconds != 0);
        // A pod's deletionTimestamp is the end of its grace period.
        if !in_grace || case.fresh.contains(&id) || !case.has_been_terminating(id, 0) || !concern.includes(id) {
            continue;
        }
        let Some(facts) = snapshot.facts.pod(id) else {
            findings.wanted.facts.insert(id);
            continue;
        };
        let node = facts.node.clone().unwrap_or_default();
        let is_late = case.now.is_some() && case.has_been_terminating(id, LATE);
        let why = match node_exists(case, findings, &node) {
            _ if node.is_empty() => "It was never scheduled to a node.".to_owned(),
            Presence::Unknown if is_late => format!("No kubelet has ended it, and its node {node} could not be read."),
            Presence::Unknown => continue,
            Presence::Absent => format!("Its node {node} does not exist."),
            Presence::Present(_) if !case.has_been_terminating(id, KUBELET) => continue,
            Presence::Present(_) => match of_kubelet(case, &mut findings.wanted, &node) {
                Liveness::Away(words) => format!("The kubelet on node {node} does not respond: {words}."),
                Liveness::Alive(words) if is_late => {
                    format!("The kubelet on node {node} is running ({words}), but has not ended it.")
                }
                Liveness::Unread(words) if is_late => {
                    format!("The kubelet on node {node} has not ended it, and {words}.")
                }
                _ => continue,
            },
        };
        groups.entry((node, why)).or_default().push(id);
    }
    for ((node, message), objects) in groups {
        findings.explain(finding(case, &node, message, objects));
    }
}

fn node_exists(case: &Case<'_>, findings: &mut FindingsBuilder, node: &str) -> Presence {
    let snapshot = case.snapshot();
    let Some(resource) = case.stage.built_in.nodes else { return Presence::Unknown };
    let coordinate = match snapshot.locate(resource, "", node) {
        Ok(coordinate) => coordinate,
        Err(presence) => return presence,
    };
    if !snapshot.was_looked_up(coordinate) {
        findings.wanted.absences.insert(coordinate);
    }
    snapshot.look_up(coordinate)
}

/// The kubelet of a node, by the Node's condition, and by the Lease that the kubelet keeps renewing (kube-node-lease).
fn of_kubelet(case: &Case<'_>, wanted: &mut Needs, node: &str) -> Liveness {
    let snapshot = case.snapshot();
    let found = case.stage.built_in.nodes.and_then(|nodes| snapshot.look_up_named(nodes, "", node).object());
    let report = found.and_then(|node| snapshot.facts.node(node)?.kubelet);
    if let (Some(node), None) = (found, report) {
        wanted.kubelets.insert(node);
    }
    if report == Some(KubeletReport::Silent) {
        return Liveness::Away("its Node is no longer Ready: the condition is Unknown".to_owned());
    }
    match lease_named(case.stage, "kube-node-lease", node, wanted) {
        Presence::Present(id) => of_lease(case.stage, wanted, id, case.now, "the lease of its kubelet"),
        // A controller that gets no sign of life makes the condition Unknown.
        Presence::Absent if report == Some(KubeletReport::Ready) => Liveness::Alive("its Node is Ready".to_owned()),
        Presence::Absent => Liveness::Away("it has no Lease, so it has never reported".to_owned()),
        Presence::Unknown => Liveness::Unread("the lease of its kubelet could not be read".to_owned()),
    }
}

fn finding(case: &Case<'_>, node: &str, message: String, objects: Vec<ObjectId>) -> Finding {
    let mut related = waiting_for(case, &objects);
    // R9.10: while a pod is left, its namespace is not emptied, whoever may end that pod.
    for id in &objects {
        let namespace = case.stage.namespace_named(case.snapshot().object(*id).namespace);
        let waits = namespace.filter(|one| case.snapshot().object(*one).terminating() && !related.contains(one));
        related.extend(waits);
    }
    let lasts = objects.iter().any(|id| case.has_been_terminating(*id, POD_COLLECTOR));
    let gone = message.contains("does not exist");
    let force = force(case, &objects);
    let one = objects.len() == 1;
    let longest = objects.iter().filter_map(|id| case.terminating_for(*id)).max();
    let after = longest.map_or_else(|| "after".to_owned(), |seconds| format!("{} after", age(seconds)));
    let they = if one { "It is" } else { "They are" };
    let until = match (gone, one) {
        (true, _) => "The pod garbage collector, if it is running, deletes such pods within 80 seconds",
        (_, true) => "Its containers may still be running there",
        _ => "Their containers may still be running there",
    };
    Finding {
        severity: if lasts || !gone { Severity::Error } else { Severity::Warning },
        consequence: format!(
            "{they} still Terminating {after} the end of the grace period. {until}.{}",
            waits(case, &related, &objects)
        ),
        message,
        related,
        remedies: [force].into_iter().chain(look(case, node, gone)).collect(),
        objects,
        ..Finding::of(Code::PodWithoutKubelet, node)
    }
}

/// Force-deletes these pods.
pub(super) fn force(case: &Case<'_>, pods: &[ObjectId]) -> Remedy {
    let what = match pods {
        [_] => "force-delete the pod: only if you are certain that its containers no longer run",
        _ => "force-delete the pods: only if you are certain that their containers no longer run",
    };
    let delete = case.commands().delete(pods, "background", &["--grace-period=0", "--force"]);
    Remedy::new(what, delete).deciding(true)
}

/// Shows the Node: whether it can come back, or what hinders its kubelet.
fn look(case: &Case<'_>, node: &str, gone: bool) -> Option<Remedy> {
    let describe = case.kubectl.verb("describe").object("nodes", "", node).filter(|_| !gone && !node.is_empty())?;
    Some(Remedy::new("bring the node back, or see what hinders its kubelet", [describe]))
}
