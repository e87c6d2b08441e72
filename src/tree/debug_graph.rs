//! The collector's own graph, as its debug endpoint shows it at rest, restricted to what a tree covers.
//!
//! What the endpoint shows depends on more than the objects: on the order in which the collector came to know them,
//! and, of objects with a missing owner that have dependents themselves, on the order of a hash map. Where it can show
//! several things, this shows what a collector does that was there when the objects came, and the edges that fit the
//! references:
//!
//! * A uid of which no object is watched is a *virtual* node with the coordinates of a reference to it and the
//!   namespace of who holds that (R3.2), as long as the collector can't find out that it is absent: its kind isn't
//!   watched or isn't served, or it could not be read. Of several such references it is that of the oldest dependent.
//! * A uid whose absence is confirmed has no node. Each reference to it gets a *missing* vertex of its own. (Objects
//!   that keep such a reference are those that the collector doesn't examine: terminating ones, and ones with another
//!   reference that is an error.) A collector that was restarted since, though, keeps a virtual node where dependents
//!   disagree on where the owner is absent, and changes its coordinates for ever (R3.18).
//! * The endpoint then files that vertex under the uid of the *dependent*, so that edges to the dependent which it
//!   comes to later lead to the missing vertex. Only where no order avoids that, for an object that owns itself, is it
//!   done here.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::{Address, NodeId, OwnerGraph},
    model::{FOREGROUND_FINALIZER, ObjectId, Presence, Reference, Snapshot, Symbol},
};

use super::walk::{Direction, Tree};

/// A node of the debug graph.
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

/// Vertices sorted by uid, edges (dependent, owner) sorted by both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugGraph<'a> {
    pub vertices: Vec<Vertex<'a>>,
    pub edges: Vec<(&'a str, &'a str)>,
}

/// What the collector holds of a uid.
enum NodeState<'a> {
    Observed(ObjectId),
    /// Coordinates, and the namespace of whoever named it.
    Virtual(&'a Reference, Symbol),
    Nothing,
}

impl<'a> DebugGraph<'a> {
    /// The graph of what a tree shows, with all owners of it.
    pub fn of(snapshot: &'a Snapshot, graph: &OwnerGraph, tree: &Tree) -> DebugGraph<'a> {
        let mut result = DebugGraph::default();
        let covered = covered(snapshot, graph, tree);
        // Once for each node, for a thousand dependents may ask for the same owner.
        let held: FxHashMap<NodeId, NodeState<'_>> =
            covered.iter().map(|node| (*node, held(snapshot, graph, *node))).collect();
        for node in covered {
            match held[&node] {
                NodeState::Observed(id) => result.add_observed(snapshot, graph, id, &held),
                NodeState::Virtual(reference, namespace) => {
                    let vertex = named(snapshot, reference);
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
        held: &FxHashMap<NodeId, NodeState<'_>>,
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
        for reference in &object.owners {
            let Some(owner) = graph.by_uid(reference.uid).and_then(|owner| held.get(&owner)) else { continue };
            let to = snapshot.text(reference.uid);
            if matches!(owner, NodeState::Nothing) {
                self.vertices.push(Vertex { missing: true, ..named(snapshot, reference) });
                filed_under_own_uid = to;
            }
            self.edges.push((uid, if reference.uid == object.uid { filed_under_own_uid } else { to }));
        }
    }
}

/// What a tree covers: its nodes, and going down, all their owners too.
fn covered(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree) -> Vec<NodeId> {
    let mut covered: Vec<NodeId> = tree.nodes().map(|entry| entry.node).collect();
    let mut seen: FxHashSet<NodeId> = covered.iter().copied().collect();
    let mut next = 0;
    while tree.direction == Direction::Dependents && next < covered.len() {
        // Only what the collector watches has owners in its graph.
        let id = graph.object(covered[next]).filter(|_| watched(snapshot, graph, covered[next]).is_some());
        next += 1;
        for reference in id.iter().flat_map(|id| &snapshot.object(*id).owners) {
            if let Some(owner) = graph.by_uid(reference.uid).filter(|owner| seen.insert(*owner)) {
                covered.push(owner);
            }
        }
    }
    covered
}

/// The object of a node, if an informer shows it to the collector.
fn watched(snapshot: &Snapshot, graph: &OwnerGraph, node: NodeId) -> Option<ObjectId> {
    let id = graph.object(node)?;
    let object = snapshot.object(id);
    let known = snapshot.resources.not_watched(object.resource).is_none() && graph.by_uid(object.uid) == Some(node);
    known.then_some(id)
}

/// What the collector holds of a node's uid, once it has looked where the dependents say it is (R3.2, R3.3, R3.18).
fn held<'a>(snapshot: &'a Snapshot, graph: &OwnerGraph, node: NodeId) -> NodeState<'a> {
    if let Some(id) = watched(snapshot, graph, node) {
        return NodeState::Observed(id);
    }
    let uid = graph.object(node).map(|id| snapshot.object(id).uid).or_else(|| graph.virtual_uid(node));
    // Absent where one dependent says it is, the owner is looked for where the next says so. Of all that agree, the
    // oldest was the first to be seen; of the same second, the one that was written first.
    let dependents = graph.dependents(node).iter().map(|id| snapshot.object(*id));
    dependents
        .flat_map(|object| object.owners.iter().map(move |reference| (object, reference)))
        .filter(|(object, reference)| {
            Some(reference.uid) == uid && !absent(snapshot, graph, reference, object.namespace)
        })
        .min_by_key(|(object, _)| (object.created, snapshot.text(object.resource_version).parse::<u64>().ok()))
        .map_or(NodeState::Nothing, |(object, reference)| NodeState::Virtual(reference, object.namespace))
}

/// Whether looking there confirms that no object with this uid exists.
fn absent(snapshot: &Snapshot, graph: &OwnerGraph, reference: &Reference, namespace: Symbol) -> bool {
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
fn named<'a>(snapshot: &'a Snapshot, reference: &Reference) -> Vertex<'a> {
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

/// An apiVersion's parts, as apimachinery tells them apart: nothing where it makes no sense.
fn group_and_version(api_version: &str) -> (&str, &str) {
    match api_version.split_once('/') {
        None => ("", api_version),
        Some((_, version)) if version.contains('/') => ("", ""),
        Some(parts) => parts,
    }
}
