//! Whether a component seems to be running: the kubelet of a node.

use crate::{
    model::{Presence, facts::KubeletReport},
    simulate::{
        Liveness, Needs,
        liveness::{lease_named, of_lease},
    },
};

use super::case::Case;

/// The kubelet of a node, by the Node's condition, and by the Lease that the kubelet keeps renewing (kube-node-lease).
pub(super) fn of_kubelet(case: &Case<'_>, wanted: &mut Needs, node: &str) -> Liveness {
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
