//! Trees of some types only.

use rustc_hash::FxHashSet;

use crate::{
    graph::{NodeId, OwnerGraph},
    model::{ResourceId, Snapshot},
};

use super::walk::Entry;

/// Which types a tree shows. Targets are shown in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeFilter {
    /// Only these, and what leads to them; `None`: all.
    pub include: Option<FxHashSet<ResourceId>>,
    /// Neither these nor what is below them only.
    pub exclude: FxHashSet<ResourceId>,
}

impl TypeFilter {
    pub(super) fn excludes(&self, snapshot: &Snapshot, graph: &OwnerGraph, node: NodeId) -> bool {
        graph.object(node).is_some_and(|id| self.exclude.contains(&snapshot.object(id).resource))
    }

    /// Leaves out what neither is of an included type nor leads to it. An entry that points to another one stays if
    /// that one does.
    pub(super) fn keep_included(
        &self,
        snapshot: &Snapshot,
        graph: &OwnerGraph,
        targeted: bool,
        entries: Vec<Entry>,
    ) -> Vec<Entry> {
        let Some(include) = &self.include else { return entries };
        let is_included = |entry: &Entry| {
            (targeted && entry.depth == 0)
                || graph.object(entry.node).is_some_and(|id| include.contains(&snapshot.object(id).resource))
        };
        let mut kept: Vec<bool> = entries.iter().map(is_included).collect();
        // Backwards, descendants come before their ancestors.
        let mut wanted_above: Option<u32> = None;
        for (entry, kept) in entries.iter().zip(&mut kept).rev() {
            *kept |= wanted_above.is_some_and(|depth| entry.depth < depth);
            if *kept {
                wanted_above = Some(entry.depth);
            }
        }
        let shown: FxHashSet<NodeId> = entries
            .iter()
            .zip(&kept)
            .filter(|(entry, kept)| **kept && entry.showing.here())
            .map(|(e, _)| e.node)
            .collect();
        // The parent of an entry is the last one before it that is less deep.
        let mut path: Vec<bool> = Vec::new();
        let mut left = Vec::new();
        for (entry, mut kept) in entries.into_iter().zip(kept) {
            path.truncate(entry.depth as usize);
            let parent = path.last().copied().unwrap_or(true);
            kept |= parent && !entry.showing.here() && shown.contains(&entry.node);
            path.push(kept);
            if kept {
                left.push(entry);
            }
        }
        left
    }
}
