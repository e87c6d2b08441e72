//! The dependents of an object, as far as they matter to it.

use std::collections::BTreeMap;

use crate::{
    collector::Collector,
    graph::NodeId,
    model::{ObjectId, ResourceId},
    server::Stored,
};

use super::Case;

/// Who depends on an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependents {
    /// How many there are of each kind, and how many of those block it.
    pub kinds: BTreeMap<ResourceId, (usize, usize)>,
    /// Those that block it: a foreground delete waits for them.
    pub blocking: Vec<ObjectId>,
    /// Whether it waits for those now.
    pub waits: bool,
    /// Those that the collector doesn't see, because their kind isn't watched (R2.7).
    pub unseen: Vec<ObjectId>,
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
        Dependents { kinds, blocking, waits: Stored::of(snapshot.object(object)).waiting(), unseen }
    }

    /// How many there are that the collector sees.
    pub fn count(&self) -> usize {
        self.kinds.values().map(|(count, _)| count).sum()
    }
}
