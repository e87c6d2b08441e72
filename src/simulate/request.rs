//! What a simulation is asked to play: a delete, or the collector's own work.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Reference},
    server::Propagation,
};

/// Targets that the API server refuses to delete, and why.
pub type Refused = Vec<(ObjectId, &'static str)>;

/// What is to be deleted, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What the collector has been doing before.
    pub start: Start,
    /// What is done before the first of them is deleted, so that something survives.
    pub cuts: Vec<Cut>,
    /// In the order in which they are deleted; none where only the collector is at work.
    pub targets: Vec<ObjectId>,
    pub propagation: Propagation,
    /// `gracePeriodSeconds`; unset leaves it to the pods.
    pub grace: Option<i64>,
    /// What the collector may write to; unset: everything. What is named as a target is deleted all the same.
    pub only: Option<Only>,
}

/// References that are taken from an object before anything is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub object: ObjectId,
    /// Those of its references that it loses, as they are written.
    pub loses: Vec<Reference>,
}

impl Cut {
    /// What it has left of these references.
    pub fn leaves(&self, owners: &[Reference]) -> Vec<Reference> {
        owners.iter().filter(|reference| !self.loses.contains(reference)).copied().collect()
    }
}

impl Request {
    /// A delete under a running collector.
    pub fn delete(targets: Vec<ObjectId>, propagation: Propagation) -> Self {
        Request { start: Start::AtRest, cuts: Vec::new(), targets, propagation, grace: None, only: None }
    }

    /// What the collector does without any delete.
    pub fn only_collect(start: Start) -> Self {
        Request { start, ..Request::delete(Vec::new(), Propagation::Background) }
    }

    /// The same by a collector that may write to nothing else.
    pub fn limited_to(self, only: Only) -> Self {
        Request { only: Some(only), ..self }
    }
}

/// What the collector has been doing before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Start {
    /// It has dealt with everything and waits for what happens next (R8.8): a delete under a running collector.
    #[default]
    AtRest,
    /// It has just been started (R8.10): a controller that comes up on this state.
    Restarted,
    /// It looks at all it may have anything to do with: what `sweep` does.
    Sweep,
}

/// The objects that a collector may write to. All others it only reads: whether they are there decides as ever, but
/// nobody examines them, frees their dependents or takes a finalizer from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only(Arc<FxHashSet<ObjectId>>);

impl Only {
    /// These objects.
    pub fn new(objects: impl IntoIterator<Item = ObjectId>) -> Self {
        Only(Arc::new(objects.into_iter().collect()))
    }

    /// Whether an object is one of them.
    pub fn contains(&self, object: ObjectId) -> bool {
        self.0.contains(&object)
    }
}
