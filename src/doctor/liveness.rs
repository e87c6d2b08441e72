//! Whether a component seems to be running: the kubelet of a node.

use crate::{
    model::Presence,
    simulate::{
        Liveness, Needs,
        liveness::{lease_named, of_lease},
    },
};

use super::case::Case;

/// The kubelet of a node, by the Lease that it keeps renewing (kube-node-lease).
pub(super) fn of_kubelet(case: &Case<'_>, wanted: &mut Needs, node: &str) -> Liveness {
    match lease_named(case.stage, "kube-node-lease", node, wanted) {
        Presence::Present(id) => of_lease(case.stage, wanted, id, case.now, "the lease of its kubelet"),
        Presence::Absent => Liveness::Away("it has no Lease, so it has never reported".to_owned()),
        Presence::Unknown => Liveness::Unread("the lease of its kubelet could not be read".to_owned()),
    }
}
