//! An owner reference of `metadata.ownerReferences`.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::strings::Symbol;

/// One entry of `metadata.ownerReferences`. The API server validates none of it (R1.31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// `blockOwnerDeletion`; unset means `false` (R5.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

impl Reference {
    /// Whether a foreground-deleted owner waits for this dependent (R5.2).
    pub fn blocks(&self) -> bool {
        self.block_owner_deletion == Some(true)
    }

    /// Whether it names the object's controller.
    pub fn is_controller(&self) -> bool {
        self.controller == Some(true)
    }

    /// The one of these that names the controller. The API server allows only one.
    pub(crate) fn controller_of(owners: &[Reference]) -> Option<&Reference> {
        owners.iter().find(|reference| reference.is_controller())
    }

    /// What two references to the same owner share; flags don't count (R3.6, R3.8).
    pub fn coordinates(&self) -> [Symbol; 4] {
        [self.uid, self.name, self.kind, self.api_version]
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

/// The references of an object: those of a snapshot, or others that a simulation made. Copies share them, because each
/// look-up of an owner and each other order of events begins with one.
#[derive(Clone, Debug)]
pub enum References<'a> {
    Read(&'a [Reference]),
    Made(Arc<Made>),
}

/// References that no snapshot has.
#[derive(Debug)]
pub struct Made {
    all: Box<[Reference]>,
    /// Of each uid, whether one of its references blocks. Made once it is asked for.
    blocking: OnceLock<FxHashMap<Symbol, bool>>,
}

impl References<'_> {
    /// Whether a reference to this uid blocks its owner; `None` if there is no reference to it. Fast if these were made
    /// by a simulation; of those of a snapshot, its graph knows it.
    pub fn block(&self, uid: Symbol) -> Option<bool> {
        match self {
            References::Made(made) if made.all.len() >= FirstOfUid::MANY => {
                made.blocking.get_or_init(|| made.by_uid()).get(&uid).copied()
            }
            _ => {
                let mut named = self.iter().filter(|reference| reference.uid == uid).peekable();
                named.peek().is_some().then(|| named.any(Reference::blocks))
            }
        }
    }
}

impl Made {
    fn by_uid(&self) -> FxHashMap<Symbol, bool> {
        let mut by_uid = FxHashMap::default();
        for reference in &self.all {
            *by_uid.entry(reference.uid).or_default() |= reference.blocks();
        }
        by_uid
    }
}

impl Deref for References<'_> {
    type Target = [Reference];

    fn deref(&self) -> &[Reference] {
        match self {
            References::Read(all) => all,
            References::Made(made) => &made.all,
        }
    }
}

impl PartialEq for References<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (one, other): (&[Reference], &[Reference]) = (self, other);
        std::ptr::eq(one, other) || one == other
    }
}

impl Eq for References<'_> {}

impl From<Vec<Reference>> for References<'_> {
    fn from(all: Vec<Reference>) -> Self {
        References::Made(Arc::new(Made { all: all.into(), blocking: OnceLock::new() }))
    }
}

impl FromIterator<Reference> for References<'_> {
    fn from_iter<I: IntoIterator<Item = Reference>>(all: I) -> Self {
        all.into_iter().collect::<Vec<Reference>>().into()
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

    /// References that were made are searched by an index that is made once, however often their owners ask.
    #[test]
    fn made_references_answer_like_read_ones() {
        let mut strings = Strings::default();
        let uids: Vec<Symbol> = (0..30).map(|number| strings.intern(&format!("uid-{number}"))).collect();
        let name = strings.intern("owner");
        let reference = |(place, uid): (usize, &Symbol)| Reference {
            api_version: name,
            kind: name,
            name,
            uid: *uid,
            controller: None,
            block_owner_deletion: [None, Some(false), Some(true)][place % 3],
        };
        let all: Vec<Reference> = uids[..20].iter().cycle().take(50).enumerate().map(reference).collect();
        for length in 0..all.len() {
            let (read, made) = (References::Read(&all[..length]), References::from(all[..length].to_vec()));
            assert_eq!(read, made);
            let copy = made.clone();
            assert!(uids.iter().all(|uid| read.block(*uid) == copy.block(*uid)), "{length}");
            let References::Made(made) = made else { panic!("it was made") };
            assert_eq!(made.blocking.get().is_some(), length >= FirstOfUid::MANY, "copies share the index");
        }
    }
}
