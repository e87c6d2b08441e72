//! Orphans the dependents of an owner deleted with Orphan (§6).

use crate::{
    graph::NodeId,
    model::Symbol,
    server::{Patch, PatchAnswer},
};

use super::{
    examine::{Answer, Ask, Finish, Progress, Reason},
    graph_view::GraphView,
};

/// An orphaning in progress: patches dependents concurrently, then removes the finalizer.
#[derive(Clone, Debug)]
pub struct Orphaning {
    pub node: NodeId,
    /// Dependents yet to patch; initially the graph's dependents (R6.6).
    pub pending: Vec<NodeId>,
    failed: bool,
    /// Whether this collector may not patch some dependents, so that it can't finish.
    incomplete: bool,
    awaiting_item: bool,
}

impl Orphaning {
    /// Starts with an owner from the queue.
    pub fn begin<'a>(collector: &impl GraphView<'a>, node: NodeId) -> Self {
        let mut pending = collector.dependents(node);
        pending.reverse();
        Orphaning { node, pending, failed: false, incomplete: false, awaiting_item: true }
    }

    /// Patches only these dependents. If any other is left, the owner keeps its finalizer; otherwise the collector
    /// would delete that dependent.
    pub fn limit_to(&mut self, may_be_patched: impl Fn(NodeId) -> bool) {
        let all = self.pending.len();
        self.pending.retain(|dependent| may_be_patched(*dependent));
        self.incomplete = self.pending.len() < all;
    }

    /// The patch for one dependent. Dependents are patched in any order.
    pub fn free<'a>(&self, collector: &impl GraphView<'a>) -> (Patch, Reason) {
        let uid = collector.uid(self.node);
        (Patch::StripByUid(vec![uid]), Reason::OwnerOrphans(uid))
    }

    /// Processes the answer to a dependent's patch: 404 is fine; after any other failure the orphaning is retried
    /// (R6.3).
    pub fn freed(&mut self, dependent: NodeId, answer: &Answer<'_>) {
        // Usually the last one, which is cheap to remove.
        if self.pending.last() == Some(&dependent) {
            self.pending.pop();
        } else {
            self.pending.retain(|pending| *pending != dependent);
        }
        self.failed |= matches!(answer, Answer::Failed(_) | Answer::Patched(PatchAnswer::Conflict));
    }

    /// The next step once no dependent is pending.
    pub fn finish<'a>(&self, collector: &impl GraphView<'a>) -> Progress {
        if self.failed {
            return Progress::Finished(Finish::RetrySoon);
        }
        if self.incomplete {
            return Progress::Finished(Finish::Forget);
        }
        match collector.identity(self.node) {
            Some(identity) => Progress::Ask(Ask::Item(identity)),
            None => Progress::Finished(Finish::Forget),
        }
    }

    /// Processes the answer to the last request of [`Orphaning::finish`] or of this function.
    pub fn answer<'a>(&mut self, collector: &impl GraphView<'a>, answer: Answer<'a>) -> Progress {
        match answer {
            Answer::Found(item) if self.awaiting_item && item.has_finalizer(Symbol::ORPHAN) => {
                self.awaiting_item = false;
                let patch = Patch::RemoveFinalizer { finalizer: Symbol::ORPHAN, version: item.version };
                Progress::Ask(Ask::Patch(patch, Reason::DependentsFreed))
            }
            Answer::Patched(PatchAnswer::Conflict) => {
                self.awaiting_item = true;
                self.finish(collector)
            }
            Answer::Failed(_) => Progress::Finished(Finish::RetrySoon),
            _ => Progress::Finished(Finish::Forget),
        }
    }
}
