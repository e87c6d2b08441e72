//! Letting go of what is gone. Names and numbers are only ever added while work is under way, because whoever works holds some of them.

use rustc_hash::FxHashMap;

use crate::{
    collector::view::{Identity, Known},
    graph::NodeId,
    model::{Strings, Symbol},
};

use super::Live;

/// Fewer nodes than this are not worth it.
const WORTH_IT: usize = 10_000;

impl Live {
    /// Whether more has gone than is there, and nothing is queued or worked on.
    pub fn is_worth_compacting(&self) -> bool {
        self.gone >= WORTH_IT && self.gone > self.nodes.len() / 2 && self.to_delete.is_idle() && self.to_orphan.is_idle()
    }

    /// Lets go of what is gone. **Every number and symbol changes.** Says which numbers have become which; what it doesn't name is gone.
    pub fn compact(&mut self) -> FxHashMap<NodeId, NodeId> {
        let old = std::mem::take(&mut self.strings);
        let mut strings = Strings::default();
        let mut own = |symbol: Symbol| strings.intern(old.text(symbol));
        let (mut kept, mut numbers) = (Vec::new(), FxHashMap::default());
        for (index, mut node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            if node.known == Known::Gone {
                continue;
            }
            numbers.insert(NodeId(index as u32), NodeId(kept.len() as u32));
            let Identity { api_version, kind, namespace, name, uid } = node.identity;
            node.identity = Identity {
                api_version: own(api_version),
                kind: own(kind),
                namespace: own(namespace),
                name: own(name),
                uid: own(uid),
            };
            for reference in &mut node.owners {
                reference.api_version = own(reference.api_version);
                reference.kind = own(reference.kind);
                reference.name = own(reference.name);
                reference.uid = own(reference.uid);
            }
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
        self.complaints.clear();
        self.absent.clear();
        (self.strings, self.nodes, self.gone) = (strings, kept, 0);
        numbers
    }
}
