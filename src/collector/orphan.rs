//! Freeing the dependents of an owner that is deleted with Orphan (§6).

use crate::{
    graph::NodeId,
    model::Symbol,
    server::{Patch, PatchAnswer},
};

use super::{
    examine::{Answer, Ask, Finish, Progress, Reason},
    graph_view::GraphView,
};

/// An orphaning under way: its dependents are patched side by side, then the finalizer goes.
#[derive(Clone, Debug)]
pub struct Orphaning {
    /// The owner.
    pub node: NodeId,
    /// Dependents that are still to be patched; the graph's when the work began (R6.6).
    pub pending: Vec<NodeId>,
    failed: bool,
    /// Some dependents may not be patched by this collector, so that it cannot finish.
    incomplete: bool,
    awaiting_item: bool,
}

impl Orphaning {
    /// Starts on an owner taken from the queue.
    pub fn begin<'a>(collector: &impl GraphView<'a>, node: NodeId) -> Self {
        let mut pending = collector.dependents(node);
        pending.reverse();
        Orphaning { node, pending, failed: false, incomplete: false, awaiting_item: true }
    }

    /// Patches only these dependents. If that leaves any out, the owner keeps its finalizer: without it they would be
    /// collected.
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

    /// A dependent was patched: 404 is fine, any other failure makes the whole come again (R6.3).
    pub fn freed(&mut self, dependent: NodeId, answer: &Answer<'_>) {
        // Nearly always the last one, which costs nothing to take.
        if self.pending.last() == Some(&dependent) {
            self.pending.pop();
        } else {
            self.pending.retain(|pending| *pending != dependent);
        }
        self.failed |= matches!(answer, Answer::Failed(_) | Answer::Patched(PatchAnswer::Conflict));
    }

    /// What comes once no dependent is pending.
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

    /// Takes the answer to what [`Orphaning::finish`] or this asked last.
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
