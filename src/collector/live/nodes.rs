//! One node of the graph.

use rustc_hash::FxHashSet;

use crate::{
    collector::{
        identity::{Identity, Known},
        observe::Was,
    },
    graph::NodeId,
    model::{Reference, Symbol},
};

use super::KindId;

/// Which of the collector's own finalizers an object has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Finalizers {
    foreground: bool,
    orphan: bool,
}

impl Finalizers {
    pub fn of(finalizers: &[Symbol]) -> Self {
        Finalizers {
            foreground: finalizers.contains(&Symbol::FOREGROUND),
            orphan: finalizers.contains(&Symbol::ORPHAN),
        }
    }

    pub fn symbols(self) -> Vec<Symbol> {
        let has = [(self.foreground, Symbol::FOREGROUND), (self.orphan, Symbol::ORPHAN)];
        has.into_iter().filter(|(has, _)| *has).map(|(_, finalizer)| finalizer).collect()
    }
}

/// An object that was observed, an owner that is only named, or what is left of either for as long as somebody may
/// still hold its number.
#[derive(Debug)]
pub(super) struct Node {
    pub known: Known,
    pub being_deleted: bool,
    pub deleting_dependents: bool,
    /// What its deletion was doing when it was seen last.
    pub was: Was,
    /// Of an observed node.
    pub kind: KindId,
    /// Which list of its kind has shown it last.
    pub list: u32,
    pub identity: Identity,
    /// The resourceVersion that was seen last, where it is a number.
    pub version: u64,
    /// Which of the collector's finalizers it had.
    pub finalizers: Finalizers,
    pub owners: Box<[Reference]>,
    pub dependents: FxHashSet<NodeId>,
}

impl Node {
    /// A node that is not in the graph.
    pub fn gone(uid: Symbol) -> Self {
        let nothing = Symbol::EMPTY;
        Node {
            known: Known::Gone,
            being_deleted: false,
            deleting_dependents: false,
            was: Was::default(),
            kind: KindId(u32::MAX),
            list: 0,
            identity: Identity { api_version: nothing, kind: nothing, namespace: nothing, name: nothing, uid },
            version: 0,
            finalizers: Finalizers::default(),
            owners: Box::default(),
            dependents: FxHashSet::default(),
        }
    }
}
