//! The identity and state of a node in the collector's graph.

use crate::model::{Reference, Symbol};

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
