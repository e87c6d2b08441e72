//! Why an object was written to.

use crate::{
    collector::Reason,
    model::{ObjectId, Symbol},
};

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
    /// The namespace controller, deleting the contents of a terminating namespace (R9.9).
    Namespace(ObjectId),
    /// The namespace controller, once the namespace is empty (R9.12).
    NamespaceEmpty,
    /// The CRD finalizer controller, deleting the instances of a CRD (R1.26).
    Definition(ObjectId),
    /// The CRD finalizer controller, once no instance is left.
    DefinitionEmpty,
}

impl Cause {
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
