//! The part of an object that deletes and patches change.

use std::borrow::Cow;

use crate::model::{Object, Reference, Symbol};

/// What the API server holds of one object at one moment. Parts that are as they were read are borrowed from the
/// snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// `deletionTimestamp` is set.
    pub terminating: bool,
    /// `deletionGracePeriodSeconds`.
    pub grace: Option<i64>,
    /// `finalizers`, in their order.
    pub finalizers: Cow<'a, [Symbol]>,
    /// `ownerReferences`, in their order.
    pub owners: Cow<'a, [Reference]>,
    /// Stands for `resourceVersion`: every write adds one.
    pub version: u32,
}

impl<'a> Stored<'a> {
    /// The object as it was read.
    pub fn of(object: &'a Object) -> Self {
        Stored {
            terminating: object.terminating(),
            grace: object.grace,
            finalizers: Cow::Borrowed(&object.finalizers),
            owners: Cow::Borrowed(&object.owners),
            version: 0,
        }
    }

    /// Whether it has this finalizer.
    pub fn has_finalizer(&self, finalizer: Symbol) -> bool {
        self.finalizers.contains(&finalizer)
    }

    /// Terminating with the foreground finalizer: dependents see it as a waiting owner (L7).
    pub fn waiting(&self) -> bool {
        self.terminating && self.has_finalizer(Symbol::FOREGROUND)
    }

    /// Terminating with the orphan finalizer: its dependents are to be freed (R6.1).
    pub fn orphaning(&self) -> bool {
        self.terminating && self.has_finalizer(Symbol::ORPHAN)
    }

    /// A pod whose grace period still runs.
    pub fn in_grace(&self) -> bool {
        self.terminating && self.grace.is_some_and(|seconds| seconds != 0)
    }

    /// Whether both look the same from outside, whatever number of writes lies between them.
    pub fn same_state(&self, other: &Stored<'_>) -> bool {
        self.terminating == other.terminating && self.finalizers == other.finalizers && self.owners == other.owners
    }
}
