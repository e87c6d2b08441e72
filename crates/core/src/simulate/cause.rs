//! Why an object was written to.

use crate::{
    collector::Reason,
    model::{ObjectId, Snapshot, Symbol},
};

use super::blocked_by::is_removed_by_controller_manager;

/// Who wrote, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The planned delete.
    Requested,
    /// The user: references to deleted owners are removed to keep the object.
    Kept,
    /// The collector.
    Collector(Reason),
    /// The kubelet, when a pod's grace period is over (R9.6).
    Kubelet,
    /// A controller that removes its own finalizer (§9.5).
    KnownFinalizer(Symbol),
    /// Whoever should remove this finalizer, and is not simulated (R9.37).
    Finisher(Symbol),
    /// The namespace controller, deleting the contents of a terminating namespace (R9.9).
    Namespace(ObjectId),
    /// The namespace controller, once the namespace is empty (R9.12).
    NamespaceEmpty,
    /// The CRD finalizer controller, deleting the instances of a CRD (R1.26).
    Definition(ObjectId),
    /// The CRD finalizer controller, once no instance is left.
    DefinitionEmpty,
    /// The pod garbage collector, because a pod's Node doesn't exist (R9.7); the Node, if it was there before.
    NodeGone(Option<ObjectId>),
    /// The controller of tokens, because the ServiceAccount of a token Secret is gone (R9.19).
    AccountGone(ObjectId),
    /// The endpoints controller, because this Service is gone: its Endpoints (R9.20).
    ServiceGone(ObjectId),
    /// The mirroring controller, because these Endpoints are gone: their EndpointSlices (R9.26).
    EndpointsGone(ObjectId),
    /// Whoever reclaims volumes, because the claim of this one is gone (R9.35); the claim, if it was there before.
    ClaimGone(Option<ObjectId>),
    /// The attach-detach controller, because this pod was the last on its Node that used the volume (R9.49).
    Detached(ObjectId),
    /// The Job controller, because the Job has failed with the deletion of this pod (R9.22).
    JobFailed { job: ObjectId, pod: ObjectId },
    /// The TTL controller, because the Job has failed with the deletion of this pod (R9.36).
    JobExpired { pod: ObjectId },
    /// A controller that has more pods than it wants, because it has adopted some (R9.24).
    ScaledDown(ObjectId),
    /// The API server, because no definition serves an APIService's version any more since this one is gone (R9.21).
    DefinitionGone(ObjectId),
    /// The API server, because this Service is gone: its IPAddresses (R9.20).
    AddressReleased(ObjectId),
    /// The controller of this object, which lists it or names its labels (R9.38).
    Inventory(ObjectId),
}

/// When a write follows another object to which no owner reference leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follows {
    /// It is in the other one, a Namespace or a CRD, which waits for it.
    Inside,
    /// As soon as the other one is deleted or marked for deletion.
    AtOnce,
    /// The other one has to be gone first.
    OnceGone,
}

impl Cause {
    /// All that follows another object without an owner reference (§9.7): when; that object, unless it was gone before
    /// or only adopts; and who deletes what follows, as a remark on it while it still exists.
    fn follow_up(&self) -> Option<(Follows, Option<ObjectId>, Option<&'static str>)> {
        let once_gone = |gone: ObjectId, who| (Follows::OnceGone, Some(gone), who);
        Some(match *self {
            Cause::Namespace(above) | Cause::Definition(above) => (Follows::Inside, Some(above), None),
            Cause::Inventory(above) => (Follows::AtOnce, Some(above), None),
            Cause::JobFailed { pod, .. } => (Follows::AtOnce, Some(pod), None),
            Cause::ScaledDown(_) => (Follows::AtOnce, None, None),
            Cause::NodeGone(node) => {
                (Follows::OnceGone, node, Some("the pod garbage collector deletes it 40 to 80 s after its Node"))
            }
            Cause::AccountGone(gone) => once_gone(gone, Some("the controller of tokens deletes it")),
            Cause::ServiceGone(gone) => once_gone(gone, Some("the endpoints controller deletes it")),
            Cause::EndpointsGone(gone) => once_gone(gone, Some("the mirroring controller deletes it")),
            Cause::ClaimGone(claim) => (Follows::OnceGone, claim, Some("its provisioner deletes it with its data")),
            Cause::Detached(pod) => once_gone(pod, Some("the attach-detach controller deletes it")),
            Cause::DefinitionGone(gone) => once_gone(gone, Some("the API server deletes it")),
            Cause::JobExpired { pod } => {
                once_gone(pod, Some("the TTL controller deletes it once it has failed and its time is over"))
            }
            Cause::AddressReleased(gone) => once_gone(gone, None),
            _ => return None,
        })
    }

    /// The object whose deletion leads to the write without an owner reference.
    pub fn above(&self) -> Option<ObjectId> {
        self.follow_up()?.1
    }

    /// Whether a controller deletes the object because another one, to which no reference leads, goes, and is not in
    /// that one.
    pub fn follows(&self) -> bool {
        self.follow_up().is_some_and(|(when, ..)| when != Follows::Inside)
    }

    /// Who deletes the object, as a remark on an object that still exists.
    pub fn awaited(&self) -> Option<&'static str> {
        self.follow_up()?.2
    }

    /// The object that has to be gone first.
    pub fn gone(&self) -> Option<ObjectId> {
        self.follow_up().filter(|(when, ..)| *when == Follows::OnceGone)?.1
    }

    /// Whether a controller of kube-controller-manager other than the collector makes the write.
    pub(super) fn is_of_manager(&self, snapshot: &Snapshot) -> bool {
        match self {
            Cause::KnownFinalizer(finalizer) => is_removed_by_controller_manager(snapshot.text(*finalizer)),
            Cause::Namespace(_)
            | Cause::NamespaceEmpty
            | Cause::NodeGone(_)
            | Cause::AccountGone(_)
            | Cause::ServiceGone(_)
            | Cause::EndpointsGone(_)
            | Cause::Detached(_)
            | Cause::JobFailed { .. }
            | Cause::JobExpired { .. }
            | Cause::ScaledDown(_) => true,
            _ => false,
        }
    }

    /// Whether the write passes admission. The CRD finalizer controller writes to storage, and to a CRD's status
    /// (apiextensions-apiserver `crd_finalizer.go: deleteInstances`).
    pub(super) fn is_admitted(&self) -> bool {
        !matches!(self, Cause::Definition(_) | Cause::DefinitionEmpty)
    }
}

/// One write.
#[derive(Clone, Debug)]
pub struct Change {
    pub object: ObjectId,
    pub cause: Cause,
    /// Whether it removed the object.
    pub removed: bool,
    pub effect: Effect,
}

/// What a write changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Removed,
    /// A DELETE set `deletionTimestamp` or finalizers.
    Deleting,
    Owners,
    Finalizers,
}
