//! One node of the live graph.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    collector::{
        graph_view::{Identity, Known},
        observe::DeletionState,
    },
    graph::NodeId,
    model::{Reference, Strings, Symbol},
};

use super::Live;

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

/// The capacity. The original's is 500, but a look-up costs more than the memory.
const CAPACITY: usize = 8192;

/// The latest absent identities. A removed uid never comes back, so entries are dropped only to save memory.
#[derive(Debug, Default)]
pub(super) struct Absent {
    known: FxHashSet<Identity>,
    oldest_first: VecDeque<Identity>,
}

impl Absent {
    pub(super) fn add(&mut self, identity: Identity) {
        if !self.known.insert(identity) {
            return;
        }
        self.oldest_first.push_back(identity);
        if self.oldest_first.len() > CAPACITY
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    pub(super) fn has(&self, identity: &Identity) -> bool {
        self.known.contains(identity)
    }

    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.oldest_first.clear();
    }
}

/// Fewer removed nodes than this are not worth compacting.
const MIN_REMOVED: usize = 10_000;

impl Live {
    /// Whether more nodes were removed than exist, and nothing is queued or in progress.
    pub fn is_worth_compacting(&self) -> bool {
        let gone = self.gone.saturating_sub(self.named_still);
        gone >= MIN_REMOVED && gone > self.nodes.len() / 2 && self.to_delete.is_idle() && self.to_orphan.is_idle()
    }

    /// Drops removed nodes that nothing references. **All ids and symbols change.** Returns the new id of every
    /// remaining node.
    pub fn compact(&mut self) -> FxHashMap<NodeId, NodeId> {
        let old = std::mem::take(&mut self.strings);
        let mut strings = Strings::default();
        let mut own = |symbol: Symbol| strings.intern(old.text(symbol));
        let (mut kept, mut numbers, mut gone) = (Vec::new(), FxHashMap::default(), 0);
        for (index, mut node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            if node.known == Known::Gone && node.dependents.is_empty() {
                continue;
            }
            gone += usize::from(node.known == Known::Gone);
            numbers.insert(NodeId(index as u32), NodeId(kept.len() as u32));
            rename(&mut node.identity, &mut own);
            node.owners.iter_mut().for_each(|reference| rename_reference(reference, &mut own));
            kept.push(node);
        }
        for node in &mut kept {
            node.dependents = node.dependents.iter().filter_map(|dependent| numbers.get(dependent).copied()).collect();
        }
        for kind in &mut self.kinds {
            (kind.api_version, kind.kind) = (own(kind.api_version), own(kind.kind));
        }
        self.by_uid = kept.iter().enumerate().map(|(index, node)| (node.identity.uid, NodeId(index as u32))).collect();
        self.to_retry = self.to_retry.iter().filter_map(|node| numbers.get(node).copied()).collect();
        for complaint in &mut self.complaints {
            rename(&mut complaint.dependent, &mut own);
            rename_reference(&mut complaint.reference, &mut own);
        }
        self.absent.clear();
        (self.strings, self.nodes, self.gone, self.named_still) = (strings, kept, gone, gone);
        numbers
    }
}

fn rename(identity: &mut Identity, own: &mut impl FnMut(Symbol) -> Symbol) {
    let Identity { api_version, kind, namespace, name, uid } = identity;
    for symbol in [api_version, kind, namespace, name, uid] {
        *symbol = own(*symbol);
    }
}

fn rename_reference(reference: &mut Reference, own: &mut impl FnMut(Symbol) -> Symbol) {
    let Reference { api_version, kind, name, uid, .. } = reference;
    for symbol in [api_version, kind, name, uid] {
        *symbol = own(*symbol);
    }
}
