//! An owner reference of `metadata.ownerReferences`.

use super::strings::Symbol;

/// One entry of `metadata.ownerReferences`. The API server validates none of it (R1.31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// `group/version`, or `version` for the core group.
    pub api_version: Symbol,
    /// The owner's kind, as written (R3.15).
    pub kind: Symbol,
    /// The owner's name.
    pub name: Symbol,
    /// The owner's uid: the collector's graph uses nothing else (§0).
    pub uid: Symbol,
    /// `controller`; patches distinguish unset from `false` (R4.9).
    pub controller: Option<bool>,
    /// `blockOwnerDeletion`; unset means `false` (R5.2).
    pub block_owner_deletion: Option<bool>,
}

impl Reference {
    /// Whether a foreground-deleted owner waits for this dependent (R5.2).
    pub fn blocks(&self) -> bool {
        self.block_owner_deletion == Some(true)
    }

    /// Whether it names the object's controller.
    pub(crate) fn is_controller(&self) -> bool {
        self.controller == Some(true)
    }

    /// The one of these that names the controller. The API server allows only one.
    pub(crate) fn controller_of(owners: &[Reference]) -> Option<&Reference> {
        owners.iter().find(|reference| reference.is_controller())
    }

    /// Whether both references name the same owner; flags don't count (R3.6, R3.8).
    pub(crate) fn same_coordinates(&self, other: &Reference) -> bool {
        self.uid == other.uid
            && self.name == other.name
            && self.kind == other.kind
            && self.api_version == other.api_version
    }
}
