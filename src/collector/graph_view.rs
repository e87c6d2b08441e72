//! What the collector's rules need to know of its graph, and do to it (§3), whoever keeps it: an overlay on a
//! snapshot where a course of events is only played ([`Collector`](super::Collector)), and a graph that grows with what
//! watches tell where it is not ([`Live`](super::live::Live)). The rules themselves ([`super::observe`],
//! [`super::examine`], [`super::orphan`]) are the same.

use std::borrow::Cow;

use crate::{
    graph::NodeId,
    model::{Reference, Symbol},
    server::Stored,
};

use super::identity::{Identity, Known};

/// The collector's graph with its queues. `'a` is how long what it borrows lives.
pub trait GraphView<'a> {
    /// How a node is known (§3.1).
    fn known(&self, node: NodeId) -> Known;
    /// Whether it was seen terminating. Never taken back.
    fn being_deleted(&self, node: NodeId) -> bool;
    /// Whether it was seen terminating with the foreground finalizer. Never taken back (G3).
    fn deleting_dependents(&self, node: NodeId) -> bool;
    /// The references that were observed last.
    fn owners(&self, node: NodeId) -> Cow<'a, [Reference]>;
    /// The coordinates under which a node is known; none where nothing is known of it any more.
    fn identity(&self, node: NodeId) -> Option<Identity>;
    /// The uid of a node.
    fn uid(&self, node: NodeId) -> Symbol;
    /// The namespace of a node that was observed; empty for cluster scope.
    fn namespace(&self, node: NodeId) -> Symbol;
    /// The nodes that depend on a node, as far as was seen.
    fn dependents(&self, node: NodeId) -> Vec<NodeId>;
    /// Whether any node depends on this one.
    fn has_dependents(&self, node: NodeId) -> bool;
    /// The dependents whose references block a node (§5.1).
    fn blocking_dependents(&self, node: NodeId) -> Vec<NodeId>;
    /// The node of a uid, if the graph has or had one.
    fn by_uid(&self, uid: Symbol) -> Option<NodeId>;
    /// The node of a uid that somebody names as its owner.
    fn named(&mut self, uid: Symbol) -> Option<NodeId>;
    /// Whether the API server merges references of the node's kind by uid (§4.3).
    fn merges_strategically(&self, node: NodeId) -> bool;
    /// The references of an item that a patch is to switch to non-blocking. The original takes the graph's copy (§4.3),
    /// which may lag behind the item that was just read, so that its patch can take back what somebody wrote meanwhile.
    fn references_to_unblock(&self, node: NodeId, item: &Stored<'a>) -> Cow<'a, [Reference]>;
    /// What a symbol stands for.
    fn text(&self, symbol: Symbol) -> &str;

    /// A node was observed with these coordinates, in this state.
    fn set_observed(&mut self, node: NodeId, identity: Identity, stored: &Stored<'a>);
    /// A node comes back into the graph as a virtual one: what is known of it is what this holder calls it (R3.2).
    fn set_virtual(&mut self, node: NodeId, identity: Identity, holder: NodeId);
    /// A virtual node is looked for under other coordinates from now on (R3.18).
    fn set_identity(&mut self, node: NodeId, identity: Identity);
    /// A node leaves the graph. Its references are dropped before.
    fn set_gone(&mut self, node: NodeId);
    /// See [`GraphView::being_deleted`].
    fn set_being_deleted(&mut self, node: NodeId);
    /// See [`GraphView::deleting_dependents`].
    fn set_deleting_dependents(&mut self, node: NodeId);
    /// Takes over observed references. Whoever is not named any more has one dependent less; new ones are told by
    /// [`GraphView::add_dependent`].
    fn replace_owners(&mut self, node: NodeId, old: &[Reference], new: Cow<'a, [Reference]>);
    /// A node in the graph has one dependent more.
    fn add_dependent(&mut self, owner: NodeId, dependent: NodeId);

    /// `attemptToDelete`: to be examined.
    fn queue(&mut self, node: NodeId);
    /// It doesn't have to be examined any more.
    fn unqueue(&mut self, node: NodeId);
    /// `attemptToOrphan`: its dependents are to be freed.
    fn queue_orphaning(&mut self, node: NodeId);
    /// To be examined after a back-off.
    fn retry_soon(&mut self, node: NodeId);
    /// To be examined when something about it changes; until then it would come out in the same way.
    fn retry_after_change(&mut self, node: NodeId);
    /// Coordinates at which there is nothing (R3.12).
    fn set_absent(&mut self, identity: Identity);
    /// Whether nothing is known to be there.
    fn is_absent(&self, identity: &Identity) -> bool;
    /// A dependent names an owner that was observed in another namespace (R3.7).
    fn complain(&mut self, _dependent: NodeId, _owner: Symbol) {}

    /// Whether a reference of a holder in `namespace` names an observed node as it is.
    fn agrees(&self, reference: &Reference, namespace: Symbol, owner: &Identity) -> bool {
        (owner.namespace.is_empty() || owner.namespace == namespace) && owner.is_named_by(reference)
    }
}
