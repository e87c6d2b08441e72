//! The collector's graph in a simulation. It lags behind the store by the events not observed yet.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::{NodeId, OwnerGraph},
    model::{FirstOfUid, ObjectId, Reference, References, Snapshot, Symbol},
    server::{KindRules, Stored},
};

use super::{
    graph_view::{GraphView, Identity, Known},
    queue::Queue,
};

/// The minor version of Kubernetes 1 since which the collector's DELETE names the resourceVersion that it read (R4.1).
const NAMES_VERSION_SINCE: u32 = 34;

/// A node of the graph.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    pub known: Known,
    /// The references last observed.
    pub owners: References<'a>,
    /// Whether it was observed terminating. Never reset.
    pub being_deleted: bool,
    /// Whether it was observed terminating with the foreground finalizer. Never reset (G3).
    pub deleting_dependents: bool,
    /// How many nodes depend on it, and how many of their references block it; unused if `members` is set.
    pub dependents: u32,
    pub blocking: u32,
    /// The dependents of a node added again as a virtual one: only those observed since (R3.2).
    pub members: Option<Vec<ObjectId>>,
}

/// The collector's graph, as an overlay on a snapshot, and its queues.
#[derive(Clone, Debug)]
pub struct Collector<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) graph: &'a OwnerGraph,
    pub(super) changed: FxHashMap<NodeId, Node<'a>>,
    /// Whether this is a sweep, which doesn't do all as the original does: it looks up owners from an object's actual
    /// namespace, although no informer has shown the object yet (R3.2), and takes all of several references with one
    /// uid into account (R3.10).
    pub sweeps: bool,
    /// Whether the informers' first lists are in progress: objects not shown yet are not in the graph.
    pub(super) listing: bool,
    /// Identities of virtual nodes that differ from their first dependent's reference (R3.18).
    pub(super) replaced_identities: FxHashMap<NodeId, Identity>,
    /// Identities of virtual nodes that look-ups found absent (R3.12, R3.18).
    pub(super) confirmed_absent: FxHashSet<Identity>,
    /// `attemptToDelete`.
    pub to_delete: Queue<NodeId>,
    /// `attemptToOrphan`.
    pub to_orphan: Queue<NodeId>,
    /// Failed items to retry after a back-off.
    pub retries: Retries,
    /// Whether the collector looks up an absent owner under one name after the other, for ever (R3.18).
    pub(super) goes_round: FxHashMap<NodeId, bool>,
}

/// Failed items: some are retried when nothing else is left to do, others after a change.
#[derive(Clone, Debug, Default)]
pub struct Retries {
    pub due: Queue<NodeId>,
    waiting: FxHashSet<NodeId>,
}

impl Retries {
    /// Retries a node when nothing else is left to do.
    pub fn soon(&mut self, node: NodeId) {
        self.waiting.remove(&node);
        self.due.add(node);
    }

    /// Retries a node after a change: until then it would fail again.
    pub(crate) fn after_change(&mut self, node: NodeId) {
        self.waiting.insert(node);
    }

    /// Makes a node due after a change.
    pub fn changed(&mut self, node: NodeId) {
        if self.waiting.contains(&node) {
            self.soon(node);
        }
    }

    /// Takes the next due item. Its retry goes through another queue, so it may become due again at once.
    pub fn take(&mut self) -> Option<NodeId> {
        let node = self.due.take()?;
        self.due.done(node);
        Some(node)
    }
}

impl<'a> Collector<'a> {
    /// A collector at rest: it has observed everything, and its queues are empty (§8.1, R8.8).
    pub fn at_rest(snapshot: &'a Snapshot, graph: &'a OwnerGraph) -> Self {
        Collector {
            snapshot,
            graph,
            changed: FxHashMap::default(),
            sweeps: false,
            listing: false,
            replaced_identities: FxHashMap::default(),
            confirmed_absent: FxHashSet::default(),
            to_delete: Queue::default(),
            to_orphan: Queue::default(),
            retries: Retries::default(),
            goes_round: FxHashMap::default(),
        }
    }

    /// A node of the graph.
    pub fn node(&self, id: NodeId) -> Cow<'_, Node<'a>> {
        match self.changed.get(&id) {
            Some(node) => Cow::Borrowed(node),
            None => Cow::Owned(self.node_at_rest(id)),
        }
    }

    /// A mutable node of the graph.
    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut Node<'a> {
        if !self.changed.contains_key(&id) {
            let node = self.node_at_rest(id);
            self.changed.insert(id, node);
        }
        self.changed.get_mut(&id).expect("it was inserted")
    }

    fn node_at_rest(&self, id: NodeId) -> Node<'a> {
        let node = Node {
            known: Known::Gone,
            owners: References::Read(&[]),
            being_deleted: false,
            deleting_dependents: false,
            dependents: self.graph.dependents(id).len() as u32,
            blocking: self.graph.blocking_references(id),
            members: None,
        };
        if self.listing {
            // No list has shown it yet. Its dependents are those that referenced it so far, in the end those of the
            // snapshot.
            return Node { members: Some(Vec::new()), ..node };
        }
        let Some(object) = self.graph.object(id) else {
            // An absent owner's node is removed once its absence is confirmed (R3.18).
            let known = if self.stays_virtual(id) { Known::Virtual } else { Known::Gone };
            return Node { known, ..node };
        };
        if !self.watches(object) {
            let known = if node.dependents == 0 { Known::Gone } else { Known::Virtual };
            return Node { known, ..node };
        }
        let object = self.snapshot.object(object);
        Node {
            known: Known::Observed,
            owners: References::Read(&object.owners),
            being_deleted: object.terminating(),
            deleting_dependents: Stored::of(object).waiting(),
            ..node
        }
    }

    /// Whether the virtual node of a uid stays in the graph because its absence can't be confirmed (R3.3).
    fn stays_virtual(&self, id: NodeId) -> bool {
        use crate::graph::Verdict;
        let Some(identity) = self.identity(id) else { return false };
        let verdict = Verdict::of(self.snapshot, self.graph, &identity.as_reference(), identity.namespace);
        !matches!(verdict, Verdict::Dangling(_))
    }

    /// The identity of a node: the object's once an informer has shown it, before that the one in its first dependent's
    /// reference (R3.1, R3.2, R3.4).
    pub fn identity(&self, id: NodeId) -> Option<Identity> {
        if let Some(identity) = self.replaced_identities.get(&id) {
            return Some(*identity);
        }
        if let Some(object) = self.graph.object(id)
            && self.watches(object)
        {
            return Some(self.identity_of(object));
        }
        let (holder, place) = self.graph.all_dependents(id).next()?;
        let holder = self.snapshot.object(holder);
        Some(Identity::named_by(holder.owners.get(place as usize)?, holder.namespace))
    }

    /// The actual identity of an object.
    pub(crate) fn identity_of(&self, object: ObjectId) -> Identity {
        let object = self.snapshot.object(object);
        let (api_version, kind) = self.snapshot.written_as(object.resource);
        Identity { api_version, kind, namespace: object.namespace, name: object.name, uid: object.uid }
    }

    /// The observed dependents of a node.
    pub fn dependents(&self, id: NodeId) -> Vec<ObjectId> {
        self.members(id, |_| true)
    }

    /// The dependents whose references block a node (§5.1).
    pub fn blocking_dependents(&self, id: NodeId) -> Vec<ObjectId> {
        let node = self.node(id);
        if node.members.is_none() && node.blocking == 0 {
            return Vec::new();
        }
        self.members(id, |blocks| blocks)
    }

    /// Whether a node has dependents.
    pub fn has_dependents(&self, id: NodeId) -> bool {
        let node = self.node(id);
        node.members.as_ref().map_or(node.dependents > 0, |members| !members.is_empty())
    }

    /// The dependents that have a reference to a node, and of which `counts` says so by whether one blocks. The graph
    /// knows that of those whose references have not changed: reading them all for each owner takes long where each has
    /// many.
    fn members(&self, id: NodeId, counts: impl Fn(bool) -> bool) -> Vec<ObjectId> {
        let (owner, uid) = (self.node(id), self.uid(id));
        let depends = |dependent: ObjectId, blocks: Option<bool>| {
            let node = self.node(dependent.into());
            let unchanged =
                || std::ptr::eq(&raw const *node.owners, &raw const *self.snapshot.object(dependent).owners);
            node.known == Known::Observed
                && blocks.filter(|_| unchanged()).or_else(|| node.owners.block(uid)).is_some_and(&counts)
        };
        match &owner.members {
            Some(members) => members.iter().copied().filter(|dependent| depends(*dependent, None)).collect(),
            None => {
                let dependents = self.graph.dependents(id).iter().zip(self.graph.blocks(id));
                let found = dependents.filter(|(dependent, blocks)| depends(**dependent, Some(**blocks)));
                found.map(|(dependent, _)| *dependent).collect()
            }
        }
    }

    pub fn uid(&self, id: NodeId) -> Symbol {
        match self.graph.object(id) {
            Some(object) => self.snapshot.object(object).uid,
            None => self.graph.virtual_uid(id).expect("a node without an object is a virtual owner"),
        }
    }

    /// Whether the collector runs an informer for an object's kind (§2).
    pub fn watches(&self, object: ObjectId) -> bool {
        self.snapshot.resources.not_watched(self.snapshot.object(object).resource).is_none()
    }

    /// The store has changed an object: items that failed because of its former state are due.
    pub(crate) fn store_changed(&mut self, object: ObjectId) {
        let node = NodeId::from(object);
        self.retries.changed(node);
        if !self.watches(object) {
            // R2.7, R3.3: it exists but is not observed, so it is polled while it has dependents.
            if self.node(node).known == Known::Virtual {
                self.retries.soon(node);
            }
        } else if self.retried_at_rest(object) || self.is_looked_at_for_ever(object) {
            self.retries.soon(node);
        }
        // During the first lists, dependents that no list has shown yet are polled, too.
        let unlisted = if self.listing { self.graph.dependents(node) } else { &[] };
        for dependent in self.graph.unwatched_dependents(node).iter().chain(unlisted) {
            let dependent = NodeId::from(*dependent);
            if self.node(dependent).known == Known::Virtual {
                self.retries.soon(dependent);
            }
        }
    }

    /// Whether an object is examined again and again, because it names an owner that is looked up for ever (R3.18).
    fn is_looked_at_for_ever(&mut self, object: ObjectId) -> bool {
        let (snapshot, graph) = (self.snapshot, self.graph);
        let object = snapshot.object(object);
        let absent = |reference: &Reference| graph.by_uid(reference.uid).filter(|owner| graph.object(*owner).is_none());
        let mut owners = object.owners.iter().filter_map(absent);
        !object.terminating()
            && owners.any(|owner| *self.goes_round.entry(owner).or_insert_with(|| goes_round(snapshot, graph, owner)))
    }

    /// Whether an object was already being retried before the delete (R8.9): the first reference that can't be examined
    /// is unmappable, and another contradicts the observed owner with its uid, so that the object was queued.
    pub(crate) fn retried_at_rest(&self, object: ObjectId) -> bool {
        use crate::graph::Address;
        let object = self.snapshot.object(object);
        if object.terminating() {
            return false;
        }
        let mut errors = object.owners.iter().filter_map(|reference| {
            match Address::of(self.snapshot, self.graph, reference, object.namespace) {
                error @ (Address::Unmappable | Address::InvalidScope) => Some(error),
                _ => None,
            }
        });
        errors.next() == Some(Address::Unmappable)
            && object.owners.iter().any(|reference| self.disagrees_with_observed(reference, object.namespace))
    }

    /// Whether a reference has the uid, but not the coordinates, of an observed owner (R3.7, R3.8).
    fn disagrees_with_observed(&self, reference: &Reference, namespace: Symbol) -> bool {
        let Some(owner) = self.graph.by_uid(reference.uid).and_then(|node| self.graph.object(node)) else {
            return false;
        };
        self.watches(owner) && !self.agrees(reference, namespace, &self.identity_of(owner))
    }
}

/// Whether dependents disagree about an absent owner, and it is found under none of their names (R3.18, R3.19).
fn goes_round(snapshot: &Snapshot, graph: &OwnerGraph, owner: NodeId) -> bool {
    use crate::graph::{Address, Verdict};
    let mut names: FxHashSet<Identity> = FxHashSet::default();
    let mut is_absent = |reference: &Reference, namespace: Symbol| {
        let place = match Address::of(snapshot, graph, reference, namespace) {
            Address::At(coordinate) => coordinate.namespace,
            _ => namespace,
        };
        names.insert(Identity::named_by(reference, place));
        matches!(Verdict::of(snapshot, graph, reference, namespace), Verdict::Dangling(_))
    };
    let all_are_absent = graph.all_dependents(owner).all(|(id, first)| {
        let dependent = snapshot.object(id);
        let mut places = std::iter::once(&first).chain(graph.further_references(id, first));
        places.all(|place| is_absent(&dependent.owners[*place as usize], dependent.namespace))
    });
    all_are_absent && names.len() > 1
}

impl<'a> GraphView<'a> for Collector<'a> {
    fn known(&self, node: NodeId) -> Known {
        self.node(node).known
    }

    fn being_deleted(&self, node: NodeId) -> bool {
        self.node(node).being_deleted
    }

    fn deleting_dependents(&self, node: NodeId) -> bool {
        self.node(node).deleting_dependents
    }

    fn owners(&self, node: NodeId) -> References<'a> {
        self.node(node).owners.clone()
    }

    fn identity(&self, node: NodeId) -> Option<Identity> {
        Collector::identity(self, node)
    }

    fn uid(&self, node: NodeId) -> Symbol {
        Collector::uid(self, node)
    }

    fn namespace(&self, node: NodeId) -> Symbol {
        self.graph.object(node).map_or(Symbol::EMPTY, |object| self.snapshot.object(object).namespace)
    }

    fn dependents(&self, node: NodeId) -> Vec<NodeId> {
        Collector::dependents(self, node).into_iter().map(NodeId::from).collect()
    }

    fn has_dependents(&self, node: NodeId) -> bool {
        Collector::has_dependents(self, node)
    }

    fn blocking_dependents(&self, node: NodeId) -> Vec<NodeId> {
        Collector::blocking_dependents(self, node).into_iter().map(NodeId::from).collect()
    }

    fn by_uid(&self, uid: Symbol) -> Option<NodeId> {
        self.graph.by_uid(uid)
    }

    fn named(&mut self, uid: Symbol) -> Option<NodeId> {
        self.graph.by_uid(uid)
    }

    fn merges_strategically(&self, node: NodeId) -> bool {
        self.graph.object(node).is_some_and(|object| KindRules::of(self.snapshot.resource(object)).strategic_merge)
    }

    fn references_to_unblock(&self, node: NodeId, item: &Stored<'a>) -> References<'a> {
        if self.sweeps { item.owners.clone() } else { self.node(node).owners.clone() }
    }

    fn deletes_by_uid_alone(&self) -> bool {
        !self.sweeps && self.snapshot.resources.server().is_some_and(|server| server.is_before(NAMES_VERSION_SINCE))
    }

    fn text(&self, symbol: Symbol) -> &str {
        self.snapshot.text(symbol)
    }

    fn set_observed(&mut self, node: NodeId, _identity: Identity, stored: &Stored<'a>) {
        self.replaced_identities.remove(&node);
        let node = self.node_mut(node);
        if node.known == Known::Gone {
            // A new node: the collector has forgotten the dependents of the removed one (R3.23).
            node.members = Some(Vec::new());
        }
        node.known = Known::Observed;
        node.owners = stored.owners.clone();
        node.being_deleted = stored.terminating;
        node.deleting_dependents = stored.waiting();
    }

    fn set_virtual(&mut self, node: NodeId, identity: Identity, holder: NodeId) {
        self.replaced_identities.insert(node, identity);
        let members = self.graph.object(holder).into_iter().collect();
        let node = self.node_mut(node);
        node.known = Known::Virtual;
        node.members = Some(members);
        // A new node, unrelated to the removed one.
        (node.being_deleted, node.deleting_dependents) = (false, false);
    }

    fn set_identity(&mut self, node: NodeId, identity: Identity) {
        self.replaced_identities.insert(node, identity);
    }

    fn set_gone(&mut self, node: NodeId) {
        self.node_mut(node).known = Known::Gone;
    }

    fn set_being_deleted(&mut self, node: NodeId) {
        self.node_mut(node).being_deleted = true;
    }

    fn set_deleting_dependents(&mut self, node: NodeId) {
        self.node_mut(node).deleting_dependents = true;
    }

    /// Keeps the dependent counts of all owners correct, including new owners.
    fn replace_owners(&mut self, id: NodeId, old: &[Reference], new: References<'a>) {
        let holder = self.graph.object(id);
        let (before, after) = (FirstOfUid::of(old), FirstOfUid::of(&new));
        for (position, reference) in old.iter().enumerate() {
            let Some(owner) = self.graph.by_uid(reference.uid) else { continue };
            let gone = after.position(reference.uid).is_none();
            let owner = self.node_mut(owner);
            owner.blocking -= u32::from(reference.blocks());
            if gone && before.position(reference.uid) == Some(position) {
                owner.dependents -= 1;
            }
            if let (true, Some(members), Some(object)) = (gone, &mut owner.members, holder) {
                members.retain(|member| *member != object);
            }
        }
        for (position, reference) in new.iter().enumerate() {
            let Some(owner) = self.graph.by_uid(reference.uid) else { continue };
            let owner = self.node_mut(owner);
            owner.blocking += u32::from(reference.blocks());
            if after.position(reference.uid) == Some(position) && before.position(reference.uid).is_none() {
                owner.dependents += 1;
            }
        }
        drop((before, after));
        self.node_mut(id).owners = new;
    }

    fn add_dependent(&mut self, owner: NodeId, dependent: NodeId) {
        let Some(dependent) = self.graph.object(dependent) else { return };
        if let Some(members) = &mut self.node_mut(owner).members
            && !members.contains(&dependent)
        {
            members.push(dependent);
        }
    }

    fn queue(&mut self, node: NodeId) {
        self.to_delete.add(node);
    }

    fn unqueue(&mut self, node: NodeId) {
        self.to_delete.remove(node);
    }

    fn queue_orphaning(&mut self, node: NodeId) {
        self.to_orphan.add(node);
    }

    fn retry_soon(&mut self, node: NodeId) {
        self.retries.soon(node);
    }

    fn retry_after_change(&mut self, node: NodeId) {
        self.retries.after_change(node);
    }

    fn set_absent(&mut self, identity: Identity) {
        self.confirmed_absent.insert(identity);
    }

    fn is_absent(&self, identity: &Identity) -> bool {
        self.confirmed_absent.contains(identity)
    }
}
