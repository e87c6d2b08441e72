//! The collector's own picture of a live cluster: a graph that grows and shrinks with what watches tell, and whose
//! rules are those that plans are played by ([`GraphView`]).
//!
//! Nothing here talks to anything, nor knows the time. Whoever drives it tells what was seen ([`Live::see`],
//! [`Live::gone`]), takes what is queued, and does the asking for it.

mod absent;
mod compact;
mod graph_view;
mod nodes;
mod seeing;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::NodeId,
    model::{RawObject, RawReference, Reference, Resource, Strings, Symbol},
    server::{KindRules, Stored},
};

use super::{
    graph_view::GraphView,
    identity::{Identity, Known},
    observe::observe_absence,
    queue::Queue,
};

use self::{absent::Absent, nodes::Node};

/// A resource in one version, as objects are seen under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KindId(pub u32);

/// What objects are written to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// All of them.
    #[default]
    None,
    /// Those of this namespace, new ones as well.
    Namespace(String),
    /// Those with these uids.
    Uids(FxHashSet<String>),
}

/// An owner reference that leads into another namespace, of which the original complains in an event (R3.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The dependent.
    pub dependent: Identity,
    /// Its reference.
    pub reference: Reference,
}

#[derive(Debug)]
struct Kind {
    group: String,
    version: String,
    plural: String,
    api_version: Symbol,
    kind: Symbol,
    strategic_merge: bool,
    /// How many lists of it have begun. What was told last before the present one began is gone when that ends.
    lists: u32,
    /// Whether a list was ever complete.
    synced: bool,
    /// Whether it was watched, and isn't any more.
    stopped: bool,
    /// How many observed objects there are.
    objects: usize,
}

/// The collector's graph and queues.
#[derive(Debug, Default)]
pub struct Live {
    strings: Strings,
    kinds: Vec<Kind>,
    nodes: Vec<Node>,
    /// How many of the nodes have left the graph.
    gone: usize,
    /// And how many of these had to be kept when that was last let go of, because others still named them.
    named_still: usize,
    by_uid: FxHashMap<Symbol, NodeId>,
    absent: Absent,
    limit: Limit,
    /// `attemptToDelete`.
    pub to_delete: Queue<NodeId>,
    /// `attemptToOrphan`.
    pub to_orphan: Queue<NodeId>,
    /// What is to come again after a back-off, as the graph found. To be taken by whoever drives it.
    pub to_retry: Vec<NodeId>,
    /// What was queued newly, in either queue. To be taken by whoever drives it, who knows the time.
    pub fresh: Vec<NodeId>,
    /// What is to be complained of. To be taken by whoever drives it.
    pub complaints: Vec<Complaint>,
}

impl Live {
    /// An empty graph.
    pub fn new(limit: Limit) -> Self {
        Live { limit, ..Live::default() }
    }

    /// The number of a resource in this version, under which what is seen of it is told.
    pub fn kind(&mut self, resource: &Resource) -> KindId {
        let same = |kind: &Kind| {
            kind.group == resource.group && kind.version == resource.version && kind.plural == resource.plural
        };
        if let Some(known) = self.kinds.iter().position(same) {
            // A definition may have come back as something else.
            self.kinds[known].kind = self.strings.intern(&resource.kind);
            return KindId(known as u32);
        }
        let kind = Kind {
            group: resource.group.clone(),
            version: resource.version.clone(),
            plural: resource.plural.clone(),
            api_version: self.strings.intern(&resource.api_version()),
            kind: self.strings.intern(&resource.kind),
            strategic_merge: KindRules::of(resource).strategic_merge,
            lists: 0,
            synced: false,
            stopped: false,
            objects: 0,
        };
        self.kinds.push(kind);
        KindId(self.kinds.len() as u32 - 1)
    }

    /// A look-up found nothing under the coordinates of a node (G2).
    pub fn absent(&mut self, node: NodeId, identity: Identity) {
        observe_absence(self, node, identity);
    }

    /// Queues all that a sweep may have to do with (§8.1): what is terminating with one of the collector's finalizers,
    /// and every live object but those whose owners are all seen to be there as they are named, waiting for nobody.
    /// Those would be kept (R8.6), and whatever happens to one of their owners queues them.
    pub fn begin_sweep(&mut self) {
        // What was queued on the way, because an owner was not seen yet, is judged by what is known now.
        self.to_delete.clear();
        for index in 0..self.nodes.len() {
            let id = NodeId(index as u32);
            let node = &self.nodes[index];
            match node.known {
                Known::Gone => {}
                Known::Virtual => self.queue(id),
                Known::Observed if node.was.orphaning => self.queue_orphaning(id),
                Known::Observed if node.was.waiting => self.queue(id),
                Known::Observed if node.being_deleted => {}
                Known::Observed if !self.all_solid(node) => self.queue(id),
                Known::Observed => {}
            }
        }
    }

    /// Whether every owner of a node was observed under the name it is called by, and waits for nobody.
    fn all_solid(&self, node: &Node) -> bool {
        node.owners.iter().all(|reference| {
            let owner = self.by_uid.get(&reference.uid).map(|owner| &self.nodes[owner.index()]);
            owner.is_some_and(|owner| {
                owner.known == Known::Observed
                    && !owner.deleting_dependents
                    && self.agrees(reference, node.identity.namespace, &owner.identity)
            })
        })
    }

    /// Whether an object may be written to.
    pub fn may_write(&self, node: NodeId) -> bool {
        self.may_write_to(&self.nodes[node.index()].identity)
    }

    /// The same for an object with these coordinates. Those of an owner that is only named may be wrong about its
    /// namespace (R3.2).
    pub fn may_write_to(&self, identity: &Identity) -> bool {
        match &self.limit {
            Limit::None => true,
            Limit::Namespace(namespace) => self.text(identity.namespace) == namespace,
            Limit::Uids(uids) => uids.contains(self.text(identity.uid)),
        }
    }

    /// The coordinates of an object that was read: where it is, and not where its dependents are (R3.2).
    pub fn as_read(&mut self, coordinates: &Identity, raw: &RawObject<'_>) -> Identity {
        Identity { namespace: self.strings.intern(&raw.namespace), ..*coordinates }
    }

    /// What is known to be absent, as far as references of a holder in `namespace` go (R3.11).
    pub fn is_known_absent(&self, reference: &Reference, namespace: Symbol) -> bool {
        self.absent.has(&Identity::named_by(reference, Symbol::EMPTY))
            || self.absent.has(&Identity::named_by(reference, namespace))
    }

    /// Forgets what was found absent: after something that no collector can know of (a server that came back, perhaps
    /// with older data), it is asked for anew.
    pub fn forget_absences(&mut self) {
        self.absent.clear();
    }

    /// An object as it was read, in symbols. `version` stands for its resourceVersion.
    pub fn stored(&mut self, raw: &RawObject<'_>, version: u32) -> Stored<'static> {
        let finalizers: Vec<Symbol> = raw.finalizers.iter().map(|finalizer| self.strings.intern(finalizer)).collect();
        let owners: Vec<Reference> = raw.owners.iter().map(|reference| self.reference(reference)).collect();
        Stored {
            terminating: raw.deleted.is_some(),
            grace: raw.grace,
            finalizers: finalizers.into(),
            owners: owners.into(),
            version,
        }
    }

    fn reference(&mut self, raw: &RawReference<'_>) -> Reference {
        Reference {
            api_version: self.strings.intern(&raw.api_version),
            kind: self.strings.intern(&raw.kind),
            name: self.strings.intern(&raw.name),
            uid: self.strings.intern(&raw.uid),
            controller: raw.controller,
            block_owner_deletion: raw.block_owner_deletion,
        }
    }

    /// The symbol of a text, if anything that was told has it.
    pub fn symbol(&self, text: &str) -> Option<Symbol> {
        self.strings.find(text)
    }

    /// The text of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        self.strings.text(symbol)
    }

    /// The resourceVersion that was seen last of an object, where it is a number; otherwise 0, and after
    /// [`Live::distrust`].
    pub fn version(&self, node: NodeId) -> u64 {
        self.nodes[node.index()].version
    }

    /// An object has turned out to be another than was seen last: what is known of it is worth nothing until it is seen
    /// again.
    pub fn distrust(&mut self, node: NodeId) {
        self.nodes[node.index()].version = 0;
    }

    /// An observed object as it was seen last, as far as the collector's decisions go: of its finalizers only the
    /// collector's own are kept. A write that names its version is right exactly if the object is still like this. None
    /// where that isn't known.
    pub fn as_seen(&self, node: NodeId, version: u32) -> Option<Stored<'static>> {
        let node = &self.nodes[node.index()];
        (node.known == Known::Observed && node.version != 0).then(|| Stored {
            terminating: node.being_deleted,
            grace: None,
            finalizers: node.finalizers.symbols().into(),
            owners: node.owners.to_vec().into(),
            version,
        })
    }

    /// How many owners are only named.
    pub fn only_named(&self) -> usize {
        self.nodes.len() - self.gone - self.objects()
    }

    /// How many objects are observed.
    pub fn objects(&self) -> usize {
        self.kinds.iter().map(|kind| kind.objects).sum()
    }

    /// The node of a uid, in the graph or not.
    fn node_of(&mut self, uid: Symbol) -> NodeId {
        if let Some(known) = self.by_uid.get(&uid) {
            return *known;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node::gone(uid));
        self.gone += 1;
        self.by_uid.insert(uid, id);
        id
    }
}
