//! An owner reference of `metadata.ownerReferences`.

use rustc_hash::FxHashMap;

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

/// Where each uid stands first in a list of references. Most objects have one or two owners, hostile ones thousands.
pub(crate) enum FirstOfUid<'a> {
    Few(&'a [Reference]),
    Many(FxHashMap<Symbol, usize>),
}

impl<'a> FirstOfUid<'a> {
    /// Lists that are not searched one by one.
    const MANY: usize = 16;

    pub(crate) fn of(references: &'a [Reference]) -> Self {
        if references.len() < Self::MANY {
            return FirstOfUid::Few(references);
        }
        let mut first = FxHashMap::default();
        for (position, reference) in references.iter().enumerate() {
            first.entry(reference.uid).or_insert(position);
        }
        FirstOfUid::Many(first)
    }

    pub(crate) fn position(&self, uid: Symbol) -> Option<usize> {
        match self {
            FirstOfUid::Few(references) => references.iter().position(|reference| reference.uid == uid),
            FirstOfUid::Many(first) => first.get(&uid).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Strings;

    #[test]
    fn long_lists_are_searched_like_short_ones() {
        let mut strings = Strings::default();
        let uids: Vec<Symbol> = (0..30).map(|number| strings.intern(&format!("uid-{}", number % 20))).collect();
        let name = strings.intern("owner");
        let reference = |uid: &Symbol| Reference {
            api_version: name,
            kind: name,
            name,
            uid: *uid,
            controller: None,
            block_owner_deletion: None,
        };
        let all: Vec<Reference> = uids.iter().map(reference).collect();
        for length in 0..all.len() {
            let first = FirstOfUid::of(&all[..length]);
            assert_eq!(matches!(first, FirstOfUid::Many(_)), length >= FirstOfUid::MANY);
            for uid in &uids {
                assert_eq!(first.position(*uid), all[..length].iter().position(|reference| reference.uid == *uid));
            }
        }
    }
}
