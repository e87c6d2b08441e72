//! The graph of uid edges that the collector keeps (§0): coordinates play no part in it.

use rustc_hash::FxHashMap;

use crate::model::{Mapping, ObjectId, Reference, Resources, Snapshot, Symbol};

/// A node of the graph: an object, or a uid that is referenced and belongs to no object that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The id as an index into per-node tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<ObjectId> for NodeId {
    fn from(object: ObjectId) -> Self {
        NodeId(object.0)
    }
}

const NO_NODE: u32 = u32::MAX;

/// Who depends on whom, by uid, for one snapshot. Objects of kinds that the collector doesn't watch are there as owners
/// only: it never sees them as dependents (R2.7).
#[derive(Clone, Debug)]
pub struct OwnerGraph {
    objects: u32,
    by_uid: Vec<u32>,
    virtual_uids: Vec<Symbol>,
    first_dependent: Vec<u32>,
    dependents: Vec<ObjectId>,
    blocking_references: Vec<u32>,
    unwatched_dependents: FxHashMap<NodeId, Vec<ObjectId>>,
    mappings: FxHashMap<(Symbol, Symbol), Mapping>,
    doubts_missing_apis: bool,
}

impl OwnerGraph {
    /// Builds the graph in time linear in objects and references.
    pub fn new(snapshot: &Snapshot) -> Self {
        let mut graph = OwnerGraph {
            objects: snapshot.len() as u32,
            by_uid: vec![NO_NODE; snapshot.strings.len()],
            virtual_uids: Vec::new(),
            first_dependent: Vec::new(),
            dependents: Vec::new(),
            blocking_references: Vec::new(),
            unwatched_dependents: FxHashMap::default(),
            mappings: FxHashMap::default(),
            doubts_missing_apis: false,
        };
        for (id, object) in snapshot.objects() {
            let node = &mut graph.by_uid[object.uid.index()];
            if *node == NO_NODE {
                *node = id.0;
            }
        }
        for (_, object) in snapshot.objects() {
            for reference in &object.owners {
                graph
                    .mappings
                    .entry((reference.api_version, reference.kind))
                    .or_insert_with(|| mapping(snapshot, reference));
                let node = &mut graph.by_uid[reference.uid.index()];
                if *node == NO_NODE {
                    *node = graph.objects + graph.virtual_uids.len() as u32;
                    graph.virtual_uids.push(reference.uid);
                }
            }
        }
        graph.connect(snapshot);
        graph
    }

    /// The graph to a collector that is stricter than the original: to that one, an API path that doesn't exist is the
    /// absence of the object (R3.15, R3.16), and to this one it proves nothing.
    #[must_use]
    pub fn doubting_missing_apis(self) -> Self {
        OwnerGraph { doubts_missing_apis: true, ..self }
    }

    /// Whether an API path that doesn't exist proves nothing.
    pub fn doubts_missing_apis(&self) -> bool {
        self.doubts_missing_apis
    }

    /// Fills the dependents of every node: counted first, so that they lie in one array.
    fn connect(&mut self, snapshot: &Snapshot) {
        let mut counts = vec![0u32; self.len() + 1];
        let mut blocking = vec![0u32; self.len()];
        for (id, object) in snapshot.objects() {
            if !self.is_dependent(snapshot, id) {
                continue;
            }
            for (position, reference) in object.owners.iter().enumerate() {
                let owner = self.by_uid[reference.uid.index()] as usize;
                blocking[owner] += u32::from(reference.blocks());
                if first_of_its_uid(&object.owners, position) {
                    counts[owner + 1] += 1;
                }
            }
        }
        for index in 1..counts.len() {
            counts[index] += counts[index - 1];
        }
        let mut next = counts.clone();
        self.dependents = vec![ObjectId(0); counts[self.len()] as usize];
        for (id, object) in snapshot.objects() {
            let watched = self.is_dependent(snapshot, id);
            for (position, reference) in object.owners.iter().enumerate() {
                if !first_of_its_uid(&object.owners, position) {
                    continue;
                }
                let owner = self.by_uid[reference.uid.index()];
                if watched {
                    self.dependents[next[owner as usize] as usize] = id;
                    next[owner as usize] += 1;
                } else {
                    self.unwatched_dependents.entry(NodeId(owner)).or_default().push(id);
                }
            }
        }
        self.first_dependent = counts;
        self.blocking_references = blocking;
    }

    /// Whether the collector sees an object as a dependent: its kind is watched, and it is the one node of its uid
    /// (R3.5).
    fn is_dependent(&self, snapshot: &Snapshot, id: ObjectId) -> bool {
        let object = snapshot.object(id);
        snapshot.resources.not_watched(object.resource).is_none() && self.by_uid[object.uid.index()] == id.0
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.objects as usize + self.virtual_uids.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The node of a uid that some object has or some reference names.
    pub fn by_uid(&self, uid: Symbol) -> Option<NodeId> {
        self.by_uid.get(uid.index()).copied().filter(|node| *node != NO_NODE).map(NodeId)
    }

    /// The object of a node; none for a virtual owner.
    pub fn object(&self, node: NodeId) -> Option<ObjectId> {
        (node.0 < self.objects).then_some(ObjectId(node.0))
    }

    /// The uid of a virtual owner: one that is referenced, but that no object which was read has.
    pub fn virtual_uid(&self, node: NodeId) -> Option<Symbol> {
        self.virtual_uids.get(node.index().checked_sub(self.objects as usize)?).copied()
    }

    /// The objects of watched kinds that reference this node's uid, each once, in the order of the snapshot.
    pub fn dependents(&self, node: NodeId) -> &[ObjectId] {
        &self.dependents[self.first_dependent[node.index()] as usize..self.first_dependent[node.index() + 1] as usize]
    }

    /// How many references with `blockOwnerDeletion` the dependents hold to this node's uid.
    pub fn blocking_references(&self, node: NodeId) -> u32 {
        self.blocking_references[node.index()]
    }

    /// Objects that reference this node's uid and that the collector doesn't see, for want of an informer (R2.7).
    pub fn unwatched_dependents(&self, node: NodeId) -> &[ObjectId] {
        self.unwatched_dependents.get(&node).map_or(&[], Vec::as_slice)
    }

    /// What a reference's apiVersion and kind map to (R3.14, R3.15).
    pub fn mapping(&self, reference: &Reference) -> Mapping {
        self.mappings.get(&(reference.api_version, reference.kind)).copied().unwrap_or(Mapping::Unmappable)
    }
}

/// What a reference of a snapshot maps to.
fn mapping(snapshot: &Snapshot, reference: &Reference) -> Mapping {
    let undiscovered = |api_version: &str| snapshot.gaps.iter().any(|gap| gap.resource == api_version);
    map(&snapshot.resources, undiscovered, snapshot.text(reference.api_version), snapshot.text(reference.kind))
}

/// What an apiVersion and kind map to, as references spell them. A group version that could not be discovered may serve
/// anything.
pub fn map(resources: &Resources, undiscovered: impl Fn(&str) -> bool, api_version: &str, kind: &str) -> Mapping {
    // To the parser of apiVersions, the core group may be there with nothing as its name.
    let api_version = api_version.strip_prefix('/').unwrap_or(api_version);
    match resources.map(api_version, kind) {
        Mapping::Unmappable if undiscovered(api_version) => Mapping::Undiscovered,
        mapping => mapping,
    }
}

/// Whether no earlier reference of the list has the uid of the one at `position`.
fn first_of_its_uid(owners: &[Reference], position: usize) -> bool {
    owners[..position].iter().all(|earlier| earlier.uid != owners[position].uid)
}
