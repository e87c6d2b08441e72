//! What to simulate: a delete, or only the collector's own work.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Reference, Symbol},
    server::Propagation,
};

pub type Refused = Vec<(ObjectId, &'static str)>;

/// A delete, or only the collector's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What the collector has done before.
    pub start: Start,
    /// Objects that the API server has just created or changed: the collector has yet to learn of that.
    pub appearing: Vec<Appearing>,
    /// References that are removed before the first DELETE, to keep objects.
    pub cuts: Vec<Cut>,
    /// The objects to delete, in this order; empty if only the collector works.
    pub targets: Vec<ObjectId>,
    pub propagation: Propagation,
    /// `gracePeriodSeconds`; unset: each pod's own.
    pub grace: Option<i64>,
    /// The objects that the collector may write to; `None`: all. Targets are deleted in any case.
    pub only: Option<WriteScope>,
    /// Whether all others do their part, once nothing else is left to do (R9.37).
    pub others_finish: bool,
    /// Whether nothing refuses what follows, and all that must answer does: obstacles are mended.
    pub mended: bool,
}

/// An object that was just created, or whose owner references were just changed. The snapshot has its new state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appearing {
    pub object: ObjectId,
    /// The references that it had before; `None` if it is new. If they are those that it has now, the collector tries
    /// again what it could not look up before.
    pub before: Option<Vec<Reference>>,
    /// The finalizers that the same change removes from a terminating object. The snapshot still has them.
    pub loses: Vec<Symbol>,
}

/// References that are removed from an object before anything is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub object: ObjectId,
    /// The references to remove, exactly as written.
    pub loses: Vec<Reference>,
}

impl Cut {
    /// The references that remain.
    pub fn leaves(&self, owners: &[Reference]) -> Vec<Reference> {
        owners.iter().filter(|reference| !self.loses.contains(reference)).copied().collect()
    }
}

impl Request {
    pub fn delete(targets: Vec<ObjectId>, propagation: Propagation) -> Self {
        Request {
            start: Start::AtRest,
            appearing: Vec::new(),
            cuts: Vec::new(),
            targets,
            propagation,
            grace: None,
            only: None,
            others_finish: false,
            mended: false,
        }
    }

    /// Only the collector's work, without a delete.
    pub fn only_collect(start: Start) -> Self {
        Request { start, ..Request::delete(Vec::new(), Propagation::Background) }
    }

    /// Only what the collector does about these objects, which the snapshot already contains as they are now.
    pub fn appear(appearing: Vec<Appearing>) -> Self {
        Request { appearing, ..Request::only_collect(Start::AtRest) }
    }

    /// Limits the collector to these objects.
    pub fn limited_to(self, only: WriteScope) -> Self {
        Request { only: Some(only), ..self }
    }
}

/// What the collector has done before the simulation starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Start {
    /// Everything that was queued (R8.8): a delete under a running collector.
    #[default]
    AtRest,
    /// Nothing: it was just started on this state (R8.10).
    Restarted,
    /// Nothing, and it examines everything that it might write to: `sweep`.
    Sweep,
}

/// The objects that the collector may write to. It only reads all others: whether they exist still matters, but they
/// are neither examined nor changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteScope(Arc<FxHashSet<ObjectId>>);

impl WriteScope {
    pub fn new(objects: impl IntoIterator<Item = ObjectId>) -> Self {
        WriteScope(Arc::new(objects.into_iter().collect()))
    }

    pub fn contains(&self, object: ObjectId) -> bool {
        self.0.contains(&object)
    }

    /// All of them, in no order.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.0.iter().copied()
    }
}
