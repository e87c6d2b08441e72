//! Why something was written: what a plan's `because` is made from.

use crate::{
    collector::Reason,
    model::{ObjectId, Symbol},
};

/// Who wrote, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The delete that is being planned.
    Requested,
    /// Whoever deletes wants to keep this object, and takes references to what dies from it first.
    Kept,
    /// The collector.
    Collector(Reason),
    /// The kubelet, when a pod's grace period is over (R9.6).
    Kubelet,
    /// A controller that removes its own finalizer (§9.5).
    KnownFinalizer(Symbol),
    /// The namespace controller, for what is in a terminating namespace (R9.9).
    Namespace(ObjectId),
    /// The namespace controller, when nothing is left in it (R9.12).
    NamespaceEmpty,
    /// The API server's clean-up of a definition that is being deleted (R1.26).
    Definition(ObjectId),
    /// The same, when no instance is left.
    DefinitionEmpty,
}

/// One write, in the order they happened.
#[derive(Clone, Debug)]
pub struct Change {
    pub object: ObjectId,
    pub cause: Cause,
    /// The object went with it.
    pub removed: bool,
    /// What the write took the object to: terminating, fewer references, fewer finalizers.
    pub effect: Effect,
}

/// What a write changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Removed,
    /// `deletionTimestamp` or finalizers were set by a DELETE.
    Deleting,
    Owners,
    Finalizers,
}
