//! The collector's graph of a live cluster, fed by watches. It uses the same rules as simulations ([`GraphView`]).
//!
//! There is no I/O and no clock here. The caller reports events ([`Live::see`], [`Live::gone`]), takes items from the
//! queues, and executes requests.

mod graph_view;
mod nodes;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::NodeId,
    model::{RawObject, Reference, Resource, Strings, Symbol},
    server::{KindRules, Stored},
};

use super::{
    graph_view::{GraphView, Identity, Known},
    observe::{DeletionState, observe_absence, observe_deletion, observe_first, observe_update_fully},
    queue::Queue,
};

use self::nodes::{Absent, Finalizers, Node};

pub use nodes::KindId;

/// The objects that may be written to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// All of them.
    #[default]
    None,
    /// Objects in this namespace, including new ones.
    Namespace(String),
    /// Those with these uids.
    Uids(FxHashSet<String>),
}

/// An owner reference to another namespace, about which the original records an event (R3.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    pub dependent: Identity,
    /// The reference.
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
    /// How many lists were started. When a list ends, objects last shown by an earlier one are gone.
    lists: u32,
    /// Whether the watch was stopped.
    stopped: bool,
    /// The number of observed objects.
    objects: usize,
}

/// The collector's graph and queues.
#[derive(Debug, Default)]
pub struct Live {
    strings: Strings,
    kinds: Vec<Kind>,
    nodes: Vec<Node>,
    /// How many nodes have left the graph.
    gone: usize,
    /// How many of them the last compaction had to keep because they were still referenced.
    named_still: usize,
    by_uid: FxHashMap<Symbol, NodeId>,
    absent: Absent,
    limit: Limit,
    /// `attemptToDelete`.
    pub to_delete: Queue<NodeId>,
    /// `attemptToOrphan`.
    pub to_orphan: Queue<NodeId>,
    /// Nodes to queue after a back-off, for the caller to take.
    pub to_retry: Vec<NodeId>,
    /// Newly queued nodes of both queues, for the caller to take, who knows the time.
    pub fresh: Vec<NodeId>,
    /// Owners in other namespaces, for the caller to report.
    pub complaints: Vec<Complaint>,
}

impl Live {
    pub fn new(limit: Limit) -> Self {
        Live { limit, ..Live::default() }
    }

    /// The id of a resource version, under which its objects are reported.
    pub fn kind(&mut self, resource: &Resource) -> KindId {
        let same = |kind: &Kind| {
            kind.group == resource.group && kind.version == resource.version && kind.plural == resource.plural
        };
        if let Some(known) = self.kinds.iter().position(same) {
            // A CRD may have been recreated with another kind.
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
            stopped: false,
            objects: 0,
        };
        self.kinds.push(kind);
        KindId(self.kinds.len() as u32 - 1)
    }

    /// Records that a look-up found no object with a node's coordinates (G2).
    pub fn absent(&mut self, node: NodeId, identity: Identity) {
        observe_absence(self, node, identity);
    }

    /// Queues everything that a sweep may have to change (§8.1): terminating objects with a finalizer of the collector,
    /// and live objects unless all owners are observed as referenced and none is waiting. Those others would be kept
    /// (R8.6), and events about their owners queue them.
    pub fn begin_sweep(&mut self) {
        // Nodes queued before because an owner hadn't been observed yet are judged again.
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

    /// Whether all owners of a node are observed as referenced, and none is waiting.
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

    /// Whether an object with these coordinates may be written to. The namespace of a virtual owner may be wrong
    /// (R3.2).
    pub fn may_write_to(&self, identity: &Identity) -> bool {
        match &self.limit {
            Limit::None => true,
            Limit::Namespace(namespace) => self.text(identity.namespace) == namespace,
            Limit::Uids(uids) => uids.contains(self.text(identity.uid)),
        }
    }

    /// The identity of an object that was read: in its own namespace, not its dependents' (R3.2).
    pub fn as_read(&mut self, coordinates: &Identity, raw: &RawObject<'_>) -> Identity {
        Identity { namespace: self.strings.intern(&raw.namespace), ..*coordinates }
    }

    /// Whether the owner of a reference from `namespace` is known to be absent (R3.11).
    pub fn is_known_absent(&self, reference: &Reference, namespace: Symbol) -> bool {
        self.absent.has(&Identity::named_by(reference, Symbol::EMPTY))
            || self.absent.has(&Identity::named_by(reference, namespace))
    }

    /// Forgets all absences: after an event that no collector notices, such as a server restored from older data,
    /// owners must be looked up again.
    pub fn forget_absences(&mut self) {
        self.absent.clear();
    }

    /// An object that was read, in symbols. `version` represents its resourceVersion.
    pub fn stored(&mut self, raw: &RawObject<'_>, version: u32) -> Stored<'static> {
        let finalizers: Vec<Symbol> = raw.finalizers.iter().map(|finalizer| self.strings.intern(finalizer)).collect();
        let owners: Vec<Reference> = raw.owners.iter().map(|reference| reference.intern(&mut self.strings)).collect();
        Stored {
            terminating: raw.deleted.is_some(),
            grace: raw.grace,
            finalizers: finalizers.into(),
            owners: owners.into(),
            version,
        }
    }

    /// The symbol of a text, if known.
    pub fn symbol(&self, text: &str) -> Option<Symbol> {
        self.strings.find(text)
    }

    pub fn text(&self, symbol: Symbol) -> &str {
        self.strings.text(symbol)
    }

    /// The resourceVersion last observed; 0 if it isn't a number, or after [`Live::distrust`].
    pub fn version(&self, node: NodeId) -> u64 {
        self.nodes[node.index()].version
    }

    /// Invalidates what was observed of an object, until it is observed again: a read has shown another state.
    pub fn distrust(&mut self, node: NodeId) {
        self.nodes[node.index()].version = 0;
    }

    /// The kinds of the objects that were distrusted and not observed since.
    pub fn unobserved(&self) -> FxHashSet<KindId> {
        let unobserved = |node: &&Node| node.known == Known::Observed && node.version == 0;
        self.nodes.iter().filter(unobserved).map(|node| node.kind).collect()
    }

    /// The state of an object last observed, with only the collector's finalizers. A conditional write to its version
    /// succeeds exactly if the object is still in this state. `None` if unknown.
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

    /// The number of virtual owners.
    pub fn only_named(&self) -> usize {
        self.nodes.len() - self.gone - self.objects()
    }

    /// The number of observed objects.
    pub fn objects(&self) -> usize {
        self.kinds.iter().map(|kind| kind.objects).sum()
    }

    /// The node of a uid; creates one outside the graph if there is none.
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

/// Events: lists, and objects seen in lists and watches.
impl Live {
    /// Starts a list of a kind: objects not seen before it ends are gone.
    pub fn begin_list(&mut self, kind: KindId) {
        let kind = &mut self.kinds[kind.0 as usize];
        kind.lists += 1;
        kind.stopped = false;
    }

    /// Ends a complete list: objects that it didn't show are gone.
    pub fn end_list(&mut self, kind: KindId) {
        let lists = self.kinds[kind.0 as usize].lists;
        let missing = |node: &&Node| node.known == Known::Observed && node.kind == kind && node.list != lists;
        let missing: Vec<NodeId> =
            self.nodes.iter().filter(missing).map(|node| self.by_uid[&node.identity.uid]).collect();
        for node in missing {
            observe_deletion(self, node);
        }
    }

    /// Records that a kind isn't watched any more. Its objects stay in the graph (R2.8).
    pub fn stopped(&mut self, kind: KindId) {
        self.kinds[kind.0 as usize].stopped = true;
    }

    /// Records the current state of an object.
    pub fn see(&mut self, kind: KindId, raw: &RawObject<'_>) {
        if raw.uid.is_empty() {
            return;
        }
        let stored = self.stored(raw, 0);
        let stored_finalizers = stored.finalizers.clone();
        let seen = &self.kinds[kind.0 as usize];
        let (lists, api_version, name_of_kind) = (seen.lists, seen.api_version, seen.kind);
        let identity = Identity {
            api_version,
            kind: name_of_kind,
            namespace: self.strings.intern(&raw.namespace),
            name: self.strings.intern(&raw.name),
            uid: self.strings.intern(&raw.uid),
        };
        let id = self.node_of(identity.uid);
        let was = self.nodes[id.index()].was;
        let is = DeletionState::of(&stored);
        if self.known(id) == Known::Observed {
            observe_update_fully(self, id, was, stored);
        } else {
            self.nodes[id.index()].kind = kind;
            self.kinds[kind.0 as usize].objects += 1;
            observe_first(self, id, identity, &stored);
        }
        let node = &mut self.nodes[id.index()];
        node.was = is;
        node.version = raw.resource_version.parse().unwrap_or(0);
        node.finalizers = Finalizers::of(&stored_finalizers);
        // If several kinds show the same uid, the first one makes the node (R3.5) while it is watched. After that, the
        // object must be read under a served kind.
        if node.kind != kind && self.kinds[node.kind.0 as usize].stopped {
            self.kinds[node.kind.0 as usize].objects -= 1;
            self.kinds[kind.0 as usize].objects += 1;
            (node.kind, node.identity) = (kind, identity);
        }
        if node.kind == kind {
            node.list = lists;
        }
    }

    /// Records that an object is gone.
    pub fn gone(&mut self, uid: &str) {
        if let Some(id) = self.symbol(uid).and_then(|uid| self.by_uid(uid)) {
            observe_deletion(self, id);
        }
    }
}
