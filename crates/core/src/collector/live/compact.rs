//! Removes data of deleted nodes. While work is in progress, ids and symbols are never reused, because workers may have
//! copies.

use rustc_hash::FxHashMap;

use crate::{
    collector::identity::{Identity, Known},
    graph::NodeId,
    model::{Reference, Strings, Symbol},
};

use super::Live;

/// Fewer removed nodes than this are not worth compacting.
const MIN_REMOVED: usize = 10_000;

impl Live {
    /// Whether more nodes were removed than exist, and nothing is queued or in progress.
    pub fn is_worth_compacting(&self) -> bool {
        let gone = self.gone.saturating_sub(self.named_still);
        gone >= MIN_REMOVED && gone > self.nodes.len() / 2 && self.to_delete.is_idle() && self.to_orphan.is_idle()
    }

    /// Drops removed nodes that nothing references. **All ids and symbols change.** Returns the new id of every
    /// remaining node.
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
