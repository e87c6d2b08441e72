//! A model of the API server: the effect of one DELETE or PATCH on an object (§1).

pub mod delete;
pub mod kinds;
mod patch;

pub use crate::model::Propagation;
pub use delete::{DeleteAnswer, DeleteOptions, delete};
pub use kinds::{KindRules, OwnDelete};
pub use patch::{Patch, PatchAnswer, patch};

use std::borrow::Cow;

use crate::model::{Object, References, Symbol};

/// The stored state of one object. Unchanged parts are borrowed from the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// `deletionTimestamp` is set.
    pub terminating: bool,
    /// `deletionGracePeriodSeconds`.
    pub grace: Option<i64>,
    /// `finalizers`, in their order.
    pub finalizers: Cow<'a, [Symbol]>,
    /// `ownerReferences`, in their order.
    pub owners: References<'a>,
    /// Stands for `resourceVersion`: incremented by every write.
    pub version: u32,
}

impl<'a> Stored<'a> {
    /// The state in the snapshot.
    pub fn of(object: &'a Object) -> Self {
        Stored {
            terminating: object.terminating(),
            grace: object.grace.get(),
            finalizers: Cow::Borrowed(&object.finalizers),
            owners: References::Read(&object.owners),
            version: 0,
        }
    }

    pub(crate) fn has_finalizer(&self, finalizer: Symbol) -> bool {
        self.finalizers.contains(&finalizer)
    }

    /// Whether it is terminating with the foreground finalizer: a waiting owner (L7).
    pub fn waiting(&self) -> bool {
        self.terminating && self.has_finalizer(Symbol::FOREGROUND)
    }

    /// Whether it is terminating with the orphan finalizer: its dependents must be orphaned (R6.1).
    pub fn orphaning(&self) -> bool {
        self.terminating && self.has_finalizer(Symbol::ORPHAN)
    }

    /// Whether it is a pod in its grace period.
    pub fn in_grace(&self) -> bool {
        self.terminating && self.grace.is_some_and(|seconds| seconds != 0)
    }

    /// Whether both states look the same to clients; versions may differ.
    pub(crate) fn same_state(&self, other: &Stored<'_>) -> bool {
        self.terminating == other.terminating && self.finalizers == other.finalizers && self.owners == other.owners
    }
}
