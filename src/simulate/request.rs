//! What a simulation is asked to play: a delete, or the collector's own work.

use crate::{
    model::{ObjectId, Reference},
    server::{DeleteOptions, Propagation, kinds::protected},
};

use super::{
    start::{Lists, Only, Start},
    world::{SimContext, World},
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

/// The world before anything happens, and the targets that the API server refuses.
pub fn begin<'s, 'a>(stage: &'s SimContext<'a>, request: &Request, lists: Lists) -> (World<'s, 'a>, Refused) {
    let mut world = World::started(stage, request.start, lists);
    world.only.clone_from(&request.only);
    world.cuts.extend(request.cuts.iter().cloned());
    let mut refused = Vec::new();
    for target in &request.targets {
        match protected(stage.snapshot, *target) {
            Some(why) => refused.push((*target, why)),
            None => {
                let options = DeleteOptions {
                    propagation: Some(request.propagation),
                    grace: request.grace,
                    ..DeleteOptions::default()
                };
                world.requests.push_back((*target, options));
            }
        }
    }
    (world, refused)
}
