//! Objects that their controller adopts if they exist before it. They are created first, without the reference to it:
//! if they came after it, it would make its own in the meantime, under the same names or as many as it wants.

use super::archived::Place;

/// A group and a kind.
type GroupKind = (&'static str, &'static str);

/// The kind of a controller, and a kind that it adopts.
const ADOPTED: &[(GroupKind, GroupKind)] = &[
    // pkg/controller/statefulset/stateful_set_utils.go, updateClaimOwnerRefForSetAndPod: with
    // `persistentVolumeClaimRetentionPolicy`, it sets its reference in the claims of its pods, whoever made them.
    (("apps", "StatefulSet"), ("", "PersistentVolumeClaim")),
    // The following are restored only with `--all`, or by name. pkg/controller/controller_ref_manager.go: they are
    // adopted if their labels match the selector and they have no controller.
    (("apps", "StatefulSet"), ("", "Pod")),
    // pkg/controller/statefulset/stateful_set.go, adoptOrphanRevisions.
    (("apps", "StatefulSet"), ("apps", "ControllerRevision")),
    (("apps", "Deployment"), ("apps", "ReplicaSet")),
    (("apps", "ReplicaSet"), ("", "Pod")),
    (("", "ReplicationController"), ("", "Pod")),
    (("apps", "DaemonSet"), ("", "Pod")),
    (("apps", "DaemonSet"), ("apps", "ControllerRevision")),
];

/// Whether a controller of the first kind adopts an object of the second.
pub(super) fn is_adopted(controller: &Place, dependent: &Place) -> bool {
    ADOPTED
        .iter()
        .any(|((group, kind), (of_group, of_kind))| controller.is(group, kind) && dependent.is(of_group, of_kind))
}
