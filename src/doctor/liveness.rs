//! Whether a component seems to be running: the kubelet of a node.

use crate::{
    model::Presence,
    simulate::{
        Liveness,
        liveness::{lease_named, of_lease},
    },
};

use super::{case::Case, finding::ReadsNeeded};

/// The kubelet of a node, by the Lease that it keeps renewing (kube-node-lease).
pub(super) fn of_kubelet(case: &Case<'_>, wanted: &mut ReadsNeeded, node: &str) -> Liveness {
    match lease_named(case.stage, "kube-node-lease", node, &mut wanted.needs) {
        Presence::Present(id) => of_lease(case.stage, &mut wanted.needs, id, case.now, "the lease of its kubelet"),
        Presence::Absent => Liveness::Away("it has no Lease, so it has never reported".to_owned()),
        Presence::Unknown => Liveness::Unread("the lease of its kubelet could not be read".to_owned()),
    }
}
