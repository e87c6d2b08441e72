//! The collector's graph as its debug endpoint shows it at rest, restricted to the objects of a tree.
//!
//! The endpoint's output depends on more than the objects: on the order in which the collector observed them, and, for
//! objects with a missing owner and dependents, on the order of a hash map. If several outputs are possible, this shows
//! the graph of a collector that observed all objects when they were created, with the edges of the references:
//!
//! * A uid of no watched object is a *virtual* node, with the coordinates of a reference and the dependent's namespace
//!   (R3.2), unless the collector can confirm that it is absent: its kind isn't watched or served, or could not be
//!   read. Of several references, that of the oldest dependent counts.
//! * A uid that is confirmed absent has no node. Every reference to it has a *missing* vertex of its own. (Objects keep
//!   such a reference if the collector doesn't examine them: they are terminating, or another reference is an error.) A
//!   restarted collector, however, keeps a virtual node if dependents disagree about the coordinates, and changes its
//!   coordinates forever (R3.18).
//! * The endpoint files a missing vertex under the *dependent's* uid, so later edges to the dependent lead to the
//!   missing vertex. Only if no order avoids that, for an object that owns itself, is it shown here.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::{Address, NodeId, OwnerGraph},
    model::{FOREGROUND_FINALIZER, ObjectId, Presence, Reference, Snapshot, Symbol},
};

use super::walk::{Direction, Tree};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vertex<'a> {
    pub uid: &'a str,
    pub group: &'a str,
    pub version: &'a str,
    pub kind: &'a str,
    pub namespace: &'a str,
    pub name: &'a str,
    pub missing: bool,
    pub being_deleted: bool,
    pub deleting_dependents: bool,
    pub is_virtual: bool,
}

/// The graph: vertices sorted by uid, edges (dependent, owner) sorted by both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugGraph<'a> {
    pub vertices: Vec<Vertex<'a>>,
    pub edges: Vec<(&'a str, &'a str)>,
}

/// The state of a uid in the collector's graph.
enum NodeState<'a> {
    Observed(ObjectId),
    /// The coordinates, and the dependent's namespace.
    Virtual(&'a Reference, Symbol),
    Nothing,
}

impl<'a> DebugGraph<'a> {
    /// The graph of a tree, including all owners.
    pub fn of(snapshot: &'a Snapshot, graph: &OwnerGraph, tree: &Tree) -> DebugGraph<'a> {
        let mut result = DebugGraph::default();
        let covered = covered(snapshot, graph, tree);
        // Computed once per node: many dependents may share an owner.
        let node_state: FxHashMap<NodeId, NodeState<'_>> =
            covered.iter().map(|node| (*node, node_state(snapshot, graph, *node))).collect();
        for node in covered {
            match node_state[&node] {
                NodeState::Observed(id) => result.add_observed(snapshot, graph, id, &node_state),
                NodeState::Virtual(reference, namespace) => {
                    let vertex = vertex_of_reference(snapshot, reference);
                    result.vertices.push(Vertex { namespace: snapshot.text(namespace), is_virtual: true, ..vertex });
                }
                NodeState::Nothing => {}
            }
        }
        result.vertices.sort_by(|a, b| a.uid.cmp(b.uid));
        result.edges.sort();
        result
    }

    fn add_observed(
        &mut self,
        snapshot: &'a Snapshot,
        graph: &OwnerGraph,
        id: ObjectId,
        node_state: &FxHashMap<NodeId, NodeState<'_>>,
    ) {
        let object = snapshot.object(id);
        if object.owners.is_empty() && graph.dependents(id.into()).is_empty() {
            return;
        }
        let resource = snapshot.resources.get(object.resource);
        let uid = snapshot.text(object.uid);
        let foreground = object.finalizers.iter().any(|finalizer| snapshot.text(*finalizer) == FOREGROUND_FINALIZER);
        self.vertices.push(Vertex {
            uid,
            group: &resource.group,
            version: &resource.version,
            kind: &resource.kind,
            namespace: snapshot.text(object.namespace),
            name: snapshot.text(object.name),
            missing: false,
            being_deleted: object.terminating(),
            deleting_dependents: object.terminating() && foreground,
            is_virtual: false,
        });
        let mut filed_under_own_uid = uid;
        for reference in object.owners.iter() {
            let Some(owner) = graph.by_uid(reference.uid).and_then(|owner| node_state.get(&owner)) else { continue };
            let to = snapshot.text(reference.uid);
            if matches!(owner, NodeState::Nothing) {
                self.vertices.push(Vertex { missing: true, ..vertex_of_reference(snapshot, reference) });
                filed_under_own_uid = to;
            }
            self.edges.push((uid, if reference.uid == object.uid { filed_under_own_uid } else { to }));
        }
    }
}

/// All nodes of a tree, and for a tree of dependents all their owners.
fn covered(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree) -> Vec<NodeId> {
    let mut covered: Vec<NodeId> = tree.nodes().map(|entry| entry.node).collect();
    let mut seen: FxHashSet<NodeId> = covered.iter().copied().collect();
    let mut next = 0;
    while tree.direction == Direction::Dependents && next < covered.len() {
        // Only watched objects have owners in the collector's graph.
        let id = graph.object(covered[next]).filter(|_| watched(snapshot, graph, covered[next]).is_some());
        next += 1;
        for reference in id.iter().flat_map(|id| snapshot.object(*id).owners.iter()) {
            if let Some(owner) = graph.by_uid(reference.uid).filter(|owner| seen.insert(*owner)) {
                covered.push(owner);
            }
        }
    }
    covered
}

/// The object of a node, if the collector watches it.
fn watched(snapshot: &Snapshot, graph: &OwnerGraph, node: NodeId) -> Option<ObjectId> {
    let id = graph.object(node)?;
    let object = snapshot.object(id);
    let known = snapshot.resources.not_watched(object.resource).is_none() && graph.by_uid(object.uid) == Some(node);
    known.then_some(id)
}

/// The state of a node after the collector has looked it up (R3.2, R3.3, R3.18).
fn node_state<'a>(snapshot: &'a Snapshot, graph: &OwnerGraph, node: NodeId) -> NodeState<'a> {
    if let Some(id) = watched(snapshot, graph, node) {
        return NodeState::Observed(id);
    }
    let uid = graph.object(node).map(|id| snapshot.object(id).uid).or_else(|| graph.virtual_uid(node));
    // If an owner is absent at one dependent's coordinates, the collector tries the next dependent's. Of equal
    // coordinates, the oldest dependent's count; within the same second, the first in the list.
    let dependents = graph.dependents(node).iter().map(|id| snapshot.object(*id));
    dependents
        .flat_map(|object| object.owners.iter().map(move |reference| (object, reference)))
        .filter(|(object, reference)| {
            Some(reference.uid) == uid && !is_confirmed_absent(snapshot, graph, reference, object.namespace)
        })
        .min_by_key(|(object, _)| (object.created, object.resource_version.number()))
        .map_or(NodeState::Nothing, |(object, reference)| NodeState::Virtual(reference, object.namespace))
}

/// Whether a look-up would confirm that no object has this uid.
fn is_confirmed_absent(snapshot: &Snapshot, graph: &OwnerGraph, reference: &Reference, namespace: Symbol) -> bool {
    match Address::of(snapshot, graph, reference, namespace) {
        Address::Unmappable | Address::InvalidScope | Address::DoubtedPath | Address::Undiscovered => false,
        Address::NoSuchPath => true,
        Address::At(coordinate) => match snapshot.look_up(coordinate) {
            Presence::Unknown => false,
            Presence::Absent => true,
            Presence::Present(id) => snapshot.object(id).uid != reference.uid,
        },
    }
}

/// A vertex with the coordinates of a reference.
fn vertex_of_reference<'a>(snapshot: &'a Snapshot, reference: &Reference) -> Vertex<'a> {
    let (group, version) = group_and_version(snapshot.text(reference.api_version));
    Vertex {
        uid: snapshot.text(reference.uid),
        group,
        version,
        kind: snapshot.text(reference.kind),
        namespace: "",
        name: snapshot.text(reference.name),
        missing: false,
        being_deleted: false,
        deleting_dependents: false,
        is_virtual: false,
    }
}

/// The parts of an apiVersion as apimachinery parses it; empty if invalid.
fn group_and_version(api_version: &str) -> (&str, &str) {
    match api_version.split_once('/') {
        None => ("", api_version),
        Some((_, version)) if version.contains('/') => ("", ""),
        Some(parts) => parts,
    }
}
