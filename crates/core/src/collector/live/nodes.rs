//! One node of the live graph.

use rustc_hash::FxHashSet;

use crate::{
    collector::{
        identity::{Identity, Known},
        observe::DeletionState,
    },
    graph::NodeId,
    model::{Reference, Symbol},
};

/// A resource in one version, under which objects are observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KindId(pub u32);

/// Which finalizers of the collector an object has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Finalizers {
    foreground: bool,
    orphan: bool,
}

impl Finalizers {
    pub(super) fn of(finalizers: &[Symbol]) -> Self {
        Finalizers {
            foreground: finalizers.contains(&Symbol::FOREGROUND),
            orphan: finalizers.contains(&Symbol::ORPHAN),
        }
    }

    pub(crate) fn symbols(self) -> Vec<Symbol> {
        let has = [(self.foreground, Symbol::FOREGROUND), (self.orphan, Symbol::ORPHAN)];
        has.into_iter().filter(|(has, _)| *has).map(|(_, finalizer)| finalizer).collect()
    }
}

/// An observed object, a virtual owner, or a removed node whose id may still be in use.
#[derive(Debug)]
pub(super) struct Node {
    pub known: Known,
    pub being_deleted: bool,
    pub deleting_dependents: bool,
    /// The state of its deletion last observed.
    pub was: DeletionState,
    /// Only for an observed node.
    pub kind: KindId,
    /// The number of the list that showed it last.
    pub list: u32,
    pub identity: Identity,
    /// The resourceVersion last observed, if it is a number.
    pub version: u64,
    /// The collector's finalizers that it has.
    pub finalizers: Finalizers,
    pub owners: Box<[Reference]>,
    pub dependents: FxHashSet<NodeId>,
}

impl Node {
    /// A node outside the graph.
    pub(super) fn gone(uid: Symbol) -> Self {
        let nothing = Symbol::EMPTY;
        Node {
            known: Known::Gone,
            being_deleted: false,
            deleting_dependents: false,
            was: DeletionState::default(),
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
