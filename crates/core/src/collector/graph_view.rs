//! The collector's graph as its rules see and change it (§3). There are two implementations: an overlay on a
//! snapshot for simulations ([`Collector`](super::Collector)), and a graph fed by watches for sweeps
//! ([`Live`](super::live::Live)). Both use the same rules ([`super::observe`], [`super::examine`], [`super::orphan`]).

use crate::{
    graph::NodeId,
    model::{Reference, References, Symbol},
    server::Stored,
};

/// The state of a node (§3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Shown by an informer.
    Observed,
    /// Only referenced (R3.2, R3.3).
    Virtual,
    /// Not in the graph.
    Gone,
}

/// The identity of a node (R3.1, R3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    pub api_version: Symbol,
    pub kind: Symbol,
    /// Empty for cluster scope; for a virtual node its dependent's namespace.
    pub namespace: Symbol,
    pub name: Symbol,
    pub uid: Symbol,
}

impl Identity {
    /// The owner's identity in a reference of a dependent in `namespace`.
    pub fn named_by(reference: &Reference, namespace: Symbol) -> Self {
        Identity {
            api_version: reference.api_version,
            kind: reference.kind,
            namespace,
            name: reference.name,
            uid: reference.uid,
        }
    }

    /// Whether a reference has this identity, apart from the namespace.
    pub(crate) fn is_named_by(&self, reference: &Reference) -> bool {
        self.uid == reference.uid
            && self.name == reference.name
            && self.kind == reference.kind
            && self.api_version == reference.api_version
    }

    /// A reference without flags, for a look-up.
    pub(crate) fn as_reference(&self) -> Reference {
        Reference {
            api_version: self.api_version,
            kind: self.kind,
            name: self.name,
            uid: self.uid,
            controller: None,
            block_owner_deletion: None,
        }
    }
}

/// The collector's graph and queues; `'a` is the lifetime of borrowed data.
pub trait GraphView<'a> {
    /// The state of a node (§3.1).
    fn known(&self, node: NodeId) -> Known;
    /// Whether it was observed terminating. Never reset.
    fn being_deleted(&self, node: NodeId) -> bool;
    /// Whether it was observed terminating with the foreground finalizer. Never reset (G3).
    fn deleting_dependents(&self, node: NodeId) -> bool;
    /// The references last observed.
    fn owners(&self, node: NodeId) -> References<'a>;
    /// The coordinates of a node; `None` if it has left the graph.
    fn identity(&self, node: NodeId) -> Option<Identity>;
    fn uid(&self, node: NodeId) -> Symbol;
    /// The namespace of an observed node; empty for cluster scope.
    fn namespace(&self, node: NodeId) -> Symbol;
    /// The observed dependents of a node.
    fn dependents(&self, node: NodeId) -> Vec<NodeId>;
    /// Whether a node has dependents.
    fn has_dependents(&self, node: NodeId) -> bool;
    /// The dependents whose references block a node (§5.1).
    fn blocking_dependents(&self, node: NodeId) -> Vec<NodeId>;
    /// The node of a uid, if the graph contains or contained one.
    fn by_uid(&self, uid: Symbol) -> Option<NodeId>;
    /// The node of a referenced uid.
    fn named(&mut self, uid: Symbol) -> Option<NodeId>;
    /// Whether the API server merges references of this kind by uid (§4.3).
    fn merges_strategically(&self, node: NodeId) -> bool;
    /// The references that a patch makes non-blocking. The original uses the graph's copy (§4.3), which may be older
    /// than the item just read, so its patch can revert other changes.
    fn references_to_unblock(&self, node: NodeId, item: &Stored<'a>) -> References<'a>;
    /// Whether the collector's DELETE names no resourceVersion (R4.1).
    fn deletes_by_uid_alone(&self) -> bool {
        false
    }
    /// The text of a symbol.
    fn text(&self, symbol: Symbol) -> &str;

    /// Marks a node as observed, with these coordinates and this state.
    fn set_observed(&mut self, node: NodeId, identity: Identity, stored: &Stored<'a>);
    /// Adds a node to the graph as a virtual one, with the identity in this dependent's reference (R3.2).
    fn set_virtual(&mut self, node: NodeId, identity: Identity, dependent: NodeId);
    /// Sets other coordinates for a virtual node (R3.18).
    fn set_identity(&mut self, node: NodeId, identity: Identity);
    /// Removes a node, whose references were removed before, from the graph.
    fn set_gone(&mut self, node: NodeId);
    /// See [`GraphView::being_deleted`].
    fn set_being_deleted(&mut self, node: NodeId);
    /// See [`GraphView::deleting_dependents`].
    fn set_deleting_dependents(&mut self, node: NodeId);
    /// Replaces the observed references of a node. Owners not referenced any more lose a dependent; new owners are
    /// reported with [`GraphView::add_dependent`].
    fn replace_owners(&mut self, node: NodeId, old: &[Reference], new: References<'a>);
    /// Adds a dependent to a node in the graph.
    fn add_dependent(&mut self, owner: NodeId, dependent: NodeId);

    /// Adds a node to `attemptToDelete`.
    fn queue(&mut self, node: NodeId);
    /// Removes a node from `attemptToDelete`.
    fn unqueue(&mut self, node: NodeId);
    /// Adds an owner to `attemptToOrphan`.
    fn queue_orphaning(&mut self, node: NodeId);
    /// Queues a node again after a back-off.
    fn retry_soon(&mut self, node: NodeId);
    /// Queues a node again when something about it changes; until then it would fail again.
    fn retry_after_change(&mut self, node: NodeId);
    /// Records that no object has these coordinates (R3.12).
    fn set_absent(&mut self, identity: Identity);
    /// Whether these coordinates are recorded as absent.
    fn is_absent(&self, identity: &Identity) -> bool;
    /// Reports a dependent with an owner observed in another namespace (R3.7).
    fn complain(&mut self, _dependent: NodeId, _owner: Symbol) {}

    /// Whether a dependent's reference matches an observed node.
    fn agrees(&self, reference: &Reference, namespace: Symbol, owner: &Identity) -> bool {
        (owner.namespace.is_empty() || owner.namespace == namespace) && owner.is_named_by(reference)
    }
}
