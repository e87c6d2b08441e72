//! The graph as the collector's rules see and change it.

use crate::{
    collector::{
        graph_view::{GraphView, Identity, Known},
        observe::DeletionState,
    },
    graph::NodeId,
    model::{FirstOfUid, Reference, References, Symbol},
    server::Stored,
};

use super::{Complaint, Live};

impl GraphView<'static> for Live {
    fn known(&self, node: NodeId) -> Known {
        self.nodes[node.index()].known
    }

    fn being_deleted(&self, node: NodeId) -> bool {
        self.nodes[node.index()].being_deleted
    }

    fn deleting_dependents(&self, node: NodeId) -> bool {
        self.nodes[node.index()].deleting_dependents
    }

    fn owners(&self, node: NodeId) -> References<'static> {
        self.nodes[node.index()].owners.to_vec().into()
    }

    fn identity(&self, node: NodeId) -> Option<Identity> {
        let node = &self.nodes[node.index()];
        (node.known != Known::Gone).then_some(node.identity)
    }

    fn uid(&self, node: NodeId) -> Symbol {
        self.nodes[node.index()].identity.uid
    }

    fn namespace(&self, node: NodeId) -> Symbol {
        self.nodes[node.index()].identity.namespace
    }

    fn dependents(&self, node: NodeId) -> Vec<NodeId> {
        self.nodes[node.index()].dependents.iter().copied().collect()
    }

    fn has_dependents(&self, node: NodeId) -> bool {
        !self.nodes[node.index()].dependents.is_empty()
    }

    fn blocking_dependents(&self, node: NodeId) -> Vec<NodeId> {
        let uid = self.uid(node);
        let blocks = |dependent: &NodeId| {
            self.nodes[dependent.index()].owners.iter().any(|reference| reference.uid == uid && reference.blocks())
        };
        self.nodes[node.index()].dependents.iter().copied().filter(blocks).collect()
    }

    fn by_uid(&self, uid: Symbol) -> Option<NodeId> {
        self.by_uid.get(&uid).copied()
    }

    fn named(&mut self, uid: Symbol) -> Option<NodeId> {
        Some(self.node_of(uid))
    }

    fn merges_strategically(&self, node: NodeId) -> bool {
        self.kinds.get(self.nodes[node.index()].kind.0 as usize).is_some_and(|kind| kind.strategic_merge)
    }

    fn references_to_unblock(&self, _node: NodeId, item: &Stored<'static>) -> References<'static> {
        item.owners.clone()
    }

    fn text(&self, symbol: Symbol) -> &str {
        self.strings.text(symbol)
    }

    fn set_observed(&mut self, node: NodeId, identity: Identity, stored: &Stored<'static>) {
        let node = &mut self.nodes[node.index()];
        self.gone -= usize::from(node.known == Known::Gone);
        node.known = Known::Observed;
        node.identity = identity;
        node.owners = stored.owners.to_vec().into();
        node.being_deleted = stored.terminating;
        node.deleting_dependents = stored.waiting();
    }

    fn set_virtual(&mut self, node: NodeId, identity: Identity, dependent: NodeId) {
        self.gone -= 1;
        let node = &mut self.nodes[node.index()];
        node.known = Known::Virtual;
        node.identity = identity;
        // Former dependents that still reference the node are already in the set: which dependents are orphaned or
        // waited for must not depend on when they were observed.
        node.dependents.insert(dependent);
        // A new node, unrelated to the removed one.
        (node.being_deleted, node.deleting_dependents, node.was) = (false, false, DeletionState::default());
    }

    fn set_identity(&mut self, node: NodeId, identity: Identity) {
        self.nodes[node.index()].identity = identity;
    }

    fn set_gone(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        let observed = node.known == Known::Observed;
        node.known = Known::Gone;
        node.owners = Box::default();
        // Keep its dependents while they reference it: an outdated list can remove an object that still exists and
        // comes back, and dependents must then be waited for or orphaned.
        (node.being_deleted, node.deleting_dependents, node.was) = (false, false, DeletionState::default());
        if observed && let Some(kind) = self.kinds.get_mut(node.kind.0 as usize) {
            kind.objects -= 1;
        }
        self.gone += 1;
    }

    fn set_being_deleted(&mut self, node: NodeId) {
        self.nodes[node.index()].being_deleted = true;
    }

    fn set_deleting_dependents(&mut self, node: NodeId) {
        self.nodes[node.index()].deleting_dependents = true;
    }

    fn replace_owners(&mut self, id: NodeId, old: &[Reference], new: References<'static>) {
        let kept = FirstOfUid::of(&new);
        for reference in old {
            if kept.position(reference.uid).is_none()
                && let Some(owner) = self.by_uid.get(&reference.uid)
            {
                self.nodes[owner.index()].dependents.remove(&id);
            }
        }
        drop(kept);
        self.nodes[id.index()].owners = new.to_vec().into();
    }

    fn add_dependent(&mut self, owner: NodeId, dependent: NodeId) {
        self.nodes[owner.index()].dependents.insert(dependent);
    }

    fn queue(&mut self, node: NodeId) {
        if self.to_delete.add(node) {
            self.fresh.push(node);
        }
    }

    fn unqueue(&mut self, node: NodeId) {
        self.to_delete.remove(node);
    }

    fn queue_orphaning(&mut self, node: NodeId) {
        if self.to_orphan.add(node) {
            self.fresh.push(node);
        }
    }

    fn retry_soon(&mut self, node: NodeId) {
        self.to_retry.push(node);
    }

    fn retry_after_change(&mut self, node: NodeId) {
        self.to_retry.push(node);
    }

    fn set_absent(&mut self, identity: Identity) {
        self.absent.add(identity);
    }

    fn is_absent(&self, identity: &Identity) -> bool {
        self.absent.has(identity)
    }

    fn complain(&mut self, dependent: NodeId, owner: Symbol) {
        let node = &self.nodes[dependent.index()];
        if !self.may_write(dependent) {
            return;
        }
        if let Some(reference) = node.owners.iter().find(|reference| reference.uid == owner) {
            self.complaints.push(Complaint { dependent: node.identity, reference: *reference });
        }
    }
}
