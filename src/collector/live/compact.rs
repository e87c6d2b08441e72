//! Letting go of what is gone. Names and numbers are only ever added while work is under way, because whoever works
//! holds some of them.

use rustc_hash::FxHashMap;

use crate::{
    collector::identity::{Identity, Known},
    graph::NodeId,
    model::{Reference, Strings, Symbol},
};

use super::Live;

/// Fewer nodes than this are not worth it.
const WORTH_IT: usize = 10_000;

impl Live {
    /// Whether more has gone than is there, and nothing is queued or worked on.
    pub fn is_worth_compacting(&self) -> bool {
        let gone = self.gone.saturating_sub(self.named_still);
        gone >= WORTH_IT && gone > self.nodes.len() / 2 && self.to_delete.is_idle() && self.to_orphan.is_idle()
    }

    /// Lets go of what is gone and named by nobody any more. **Every number and symbol changes.** Says which numbers
    /// have become which; what it doesn't name is gone.
    pub fn compact(&mut self) -> FxHashMap<NodeId, NodeId> {
        let old = std::mem::take(&mut self.strings);
        let mut strings = Strings::default();
        let mut own = |symbol: Symbol| strings.intern(old.text(symbol));
        let (mut kept, mut numbers, mut gone) = (Vec::new(), FxHashMap::default(), 0);
        for (index, mut node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            if node.known == Known::Gone && node.dependents.is_empty() {
                continue;
            }
            gone += usize::from(node.known == Known::Gone);
            numbers.insert(NodeId(index as u32), NodeId(kept.len() as u32));
            rename(&mut node.identity, &mut own);
            node.owners.iter_mut().for_each(|reference| rename_reference(reference, &mut own));
            kept.push(node);
        }
        for node in &mut kept {
            node.dependents = node.dependents.iter().filter_map(|dependent| numbers.get(dependent).copied()).collect();
        }
        for kind in &mut self.kinds {
            (kind.api_version, kind.kind) = (own(kind.api_version), own(kind.kind));
        }
        self.by_uid = kept.iter().enumerate().map(|(index, node)| (node.identity.uid, NodeId(index as u32))).collect();
        self.to_retry = self.to_retry.iter().filter_map(|node| numbers.get(node).copied()).collect();
        for complaint in &mut self.complaints {
            rename(&mut complaint.dependent, &mut own);
            rename_reference(&mut complaint.reference, &mut own);
        }
        self.absent.clear();
        (self.strings, self.nodes, self.gone, self.named_still) = (strings, kept, gone, gone);
        numbers
    }
}

fn rename(identity: &mut Identity, own: &mut impl FnMut(Symbol) -> Symbol) {
    let Identity { api_version, kind, namespace, name, uid } = identity;
    for symbol in [api_version, kind, namespace, name, uid] {
        *symbol = own(*symbol);
    }
}

fn rename_reference(reference: &mut Reference, own: &mut impl FnMut(Symbol) -> Symbol) {
    let Reference { api_version, kind, name, uid, .. } = reference;
    for symbol in [api_version, kind, name, uid] {
        *symbol = own(*symbol);
    }
}
