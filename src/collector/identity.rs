//! Under which coordinates the collector knows a node, and whether an informer has seen it.

use crate::model::{Reference, Symbol};

/// How the collector knows a node (§3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Seen by an informer.
    Observed,
    /// Only named by a reference (R3.2, R3.3).
    Virtual,
    /// Not in the graph (any more).
    Gone,
}

/// The coordinates under which the collector knows a node (R3.1, R3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    pub api_version: Symbol,
    pub kind: Symbol,
    /// Empty for cluster scope; of a virtual node: its dependent's namespace.
    pub namespace: Symbol,
    pub name: Symbol,
    pub uid: Symbol,
}

impl Identity {
    /// What a reference of a holder in `namespace` calls its owner.
    pub fn named_by(reference: &Reference, namespace: Symbol) -> Self {
        Identity {
            api_version: reference.api_version,
            kind: reference.kind,
            namespace,
            name: reference.name,
            uid: reference.uid,
        }
    }

    /// Whether a reference names exactly these coordinates, the namespace aside.
    pub fn is_named_by(&self, reference: &Reference) -> bool {
        self.uid == reference.uid
            && self.name == reference.name
            && self.kind == reference.kind
            && self.api_version == reference.api_version
    }

    /// As a reference without flags, for looking it up.
    pub fn as_reference(&self) -> Reference {
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
