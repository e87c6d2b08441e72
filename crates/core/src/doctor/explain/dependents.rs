//! The dependents of an object that matter to it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    collector::Collector,
    graph::NodeId,
    model::{ObjectId, ResourceId},
    server::Stored,
};

use super::Case;

/// The dependents of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dependents {
    /// How many the collector sees.
    pub count: usize,
    pub kinds: Vec<DependentKind>,
    /// The blocking dependents: a foreground delete waits for them.
    pub blocking: Vec<ObjectId>,
    /// Whether it waits for them now.
    pub waits: bool,
    /// Dependents that the collector doesn't see, because their kind isn't watched (R2.7).
    pub unseen: Vec<ObjectId>,
}

/// The number of dependents of a kind, and how many of those block it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DependentKind {
    pub resource: ResourceId,
    pub count: usize,
    pub blocking: usize,
}

impl Dependents {
    pub(super) fn of(case: &Case<'_>, object: ObjectId) -> Self {
        let node = NodeId::from(object);
        let snapshot = case.snapshot();
        let blocking = Collector::at_rest(snapshot, case.graph()).blocking_dependents(node);
        let mut kinds: BTreeMap<ResourceId, (usize, usize)> = BTreeMap::new();
        for id in case.graph().dependents(node) {
            kinds.entry(snapshot.object(*id).resource).or_default().0 += 1;
        }
        for id in &blocking {
            kinds.entry(snapshot.object(*id).resource).or_default().1 += 1;
        }
        let unseen = case.graph().unwatched_dependents(node).to_vec();
        let kind = |(resource, (count, blocking))| DependentKind { resource, count, blocking };
        let kinds: Vec<DependentKind> = kinds.into_iter().map(kind).collect();
        let count = kinds.iter().map(|kind| kind.count).sum();
        Dependents { count, kinds, blocking, waits: Stored::of(snapshot.object(object)).waiting(), unseen }
    }
}
