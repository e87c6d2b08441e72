//! An owner reference, as it is written in `metadata.ownerReferences`.

use super::strings::Symbol;

/// One entry of `metadata.ownerReferences`. Nothing about it need be true: the API server checks none of it (R1.31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// `group/version`, or `version` for the core group.
    pub api_version: Symbol,
    /// The owner's kind, spelled as the reference spells it (R3.15).
    pub kind: Symbol,
    /// The owner's name.
    pub name: Symbol,
    /// The owner's uid: all that the collector's graph looks at (§0).
    pub uid: Symbol,
    /// `controller`; unset is kept apart from `false`, because patches do (R4.9).
    pub controller: Option<bool>,
    /// `blockOwnerDeletion`; unset and `false` do not block (R5.2).
    pub block_owner_deletion: Option<bool>,
}

impl Reference {
    /// Whether a foreground-deleted owner waits for the holder of this reference (R5.2).
    pub fn blocks(&self) -> bool {
        self.block_owner_deletion == Some(true)
    }

    /// Whether both name the owner in the same way; flags are not part of that (R3.6, R3.8).
    pub fn same_coordinates(&self, other: &Reference) -> bool {
        self.uid == other.uid
            && self.name == other.name
            && self.kind == other.kind
            && self.api_version == other.api_version
    }
}
