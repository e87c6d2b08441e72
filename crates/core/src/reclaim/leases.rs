//! Leases of Nodes that are gone (R12.16) and of API servers that are (R12.17).

use crate::{
    graph::{OwnerGraph, Verdict},
    model::{ObjectId, Presence, Rule},
};

use super::{Found, Reason, When, scene::Scene};

/// The label that an API server's Lease has, with this value.
const IDENTITY: (&str, &str) = ("apiserver.kubernetes.io/identity", "kube-apiserver");
/// `K/pkg/controlplane/apiserver/server.go`: `IdentityLeaseGCPeriod`.
const EVERY: i64 = 3_600;

pub(super) fn find(scene: &Scene<'_>, graph: &OwnerGraph, found: &mut Found) {
    for id in scene.of("coordination.k8s.io", "Lease") {
        let object = scene.object(*id);
        if object.terminating() {
            continue;
        }
        match scene.snapshot.text(object.namespace) {
            "kube-node-lease" => of_node(scene, graph, *id, found),
            "kube-system" if scene.snapshot.label(*id, IDENTITY.0) == Some(IDENTITY.1) => {
                of_api_server(scene, *id, found);
            }
            _ => {}
        }
    }
}

/// The kubelet makes it with its Node as the owner; the collector removes it with the Node.
fn of_node(scene: &Scene<'_>, graph: &OwnerGraph, id: ObjectId, found: &mut Found) {
    let object = scene.object(id);
    if object.owners.is_empty() {
        if scene.look_up("", "Node", "", scene.name(id)) == Presence::Absent {
            found.stays(id, Rule::R12_16, "its Node is gone, and it has no owner: nothing removes it");
        }
        return;
    }
    let verdict = |reference| Verdict::of(scene.snapshot, graph, reference, object.namespace);
    if object.owners.iter().all(|reference| matches!(verdict(reference), Verdict::Dangling(_))) {
        let why = "its Node, which owns it, is gone";
        found.goes(id, Reason::new(Rule::R12_16, "garbage-collector-controller", When::Now, why));
    }
}

/// Without a time or a duration, it counts as expired (`isLeaseExpired`).
fn of_api_server(scene: &Scene<'_>, id: ObjectId, found: &mut Found) {
    let Some(lease) = scene.snapshot.facts.lease(id) else { return };
    let expired = match lease.renewed.zip(lease.seconds) {
        Some((renewed, seconds)) => renewed.saturating_add(seconds).saturating_add(1),
        None => scene.now,
    };
    // Others are renewed.
    if expired <= scene.now {
        let when = When::Pass { from: scene.now, until: scene.now + EVERY, every: EVERY };
        let why = "the Lease of an API server that no longer renews it";
        found.goes(id, Reason::new(Rule::R12_17, "kube-apiserver", when, why));
    }
}
