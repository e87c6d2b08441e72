//! The collector's graph of uid edges (§0). Coordinates play no part in it.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::model::{FirstOfUid, Mapping, ObjectId, Reference, Resources, Snapshot, Symbol};

/// A node of the graph: an object, or a referenced uid without an object.
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

/// Owners and dependents by uid, for one snapshot. Objects of unwatched kinds are owners only: the collector never sees
/// them as dependents (R2.7).
#[derive(Clone, Debug)]
pub struct OwnerGraph {
    objects: u32,
    by_uid: Vec<u32>,
    virtual_uids: Vec<Symbol>,
    first_dependent: Vec<u32>,
    dependents: Vec<ObjectId>,
    /// For each of the dependents, whether a reference of it blocks this owner.
    blocks: Vec<bool>,
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
            blocks: Vec::new(),
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
            for reference in object.owners.iter() {
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

    /// The graph of a stricter collector: the original reads a 404 for a whole API path as "owner gone" (R3.15, R3.16),
    /// this one as "unknown".
    #[must_use]
    pub fn doubting_missing_apis(self) -> Self {
        OwnerGraph { doubts_missing_apis: true, ..self }
    }

    /// Whether a 404 for a whole API path is read as "unknown".
    pub(crate) fn doubts_missing_apis(&self) -> bool {
        self.doubts_missing_apis
    }

    /// Fills in the dependents of all nodes: counts first, so that they fit one array.
    fn connect(&mut self, snapshot: &Snapshot) {
        let mut counts = vec![0u32; self.len() + 1];
        let mut blocking = vec![0u32; self.len()];
        for (id, object) in snapshot.objects() {
            if !self.is_dependent(snapshot, id) {
                continue;
            }
            let first = FirstOfUid::of(&object.owners);
            for (position, reference) in object.owners.iter().enumerate() {
                let owner = self.by_uid[reference.uid.index()] as usize;
                blocking[owner] += u32::from(reference.blocks());
                if first.position(reference.uid) == Some(position) {
                    counts[owner + 1] += 1;
                }
            }
        }
        for index in 1..counts.len() {
            counts[index] += counts[index - 1];
        }
        let mut next = counts.clone();
        self.dependents = vec![ObjectId(0); counts[self.len()] as usize];
        self.blocks = vec![false; self.dependents.len()];
        for (id, object) in snapshot.objects() {
            let watched = self.is_dependent(snapshot, id);
            let first = FirstOfUid::of(&object.owners);
            for (position, reference) in object.owners.iter().enumerate() {
                let is_first = first.position(reference.uid) == Some(position);
                let owner = self.by_uid[reference.uid.index()];
                if watched {
                    let next = &mut next[owner as usize];
                    if is_first {
                        self.dependents[*next as usize] = id;
                        *next += 1;
                    }
                    // The last entry so far is this object's.
                    self.blocks[*next as usize - 1] |= reference.blocks();
                } else if is_first {
                    self.unwatched_dependents.entry(NodeId(owner)).or_default().push(id);
                }
            }
        }
        self.first_dependent = counts;
        self.blocking_references = blocking;
    }

    /// Whether the collector sees an object as a dependent: its kind is watched, and it is the node of its uid (R3.5).
    fn is_dependent(&self, snapshot: &Snapshot, id: ObjectId) -> bool {
        let object = snapshot.object(id);
        snapshot.resources.not_watched(object.resource).is_none() && self.by_uid[object.uid.index()] == id.0
    }

    pub fn len(&self) -> usize {
        self.objects as usize + self.virtual_uids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The node of a uid of an object or a reference.
    pub fn by_uid(&self, uid: Symbol) -> Option<NodeId> {
        self.by_uid.get(uid.index()).copied().filter(|node| *node != NO_NODE).map(NodeId)
    }

    /// The object of a node; `None` for a virtual owner.
    pub fn object(&self, node: NodeId) -> Option<ObjectId> {
        (node.0 < self.objects).then_some(ObjectId(node.0))
    }

    /// The uid of a virtual owner: referenced, but no object that was read has it.
    pub(crate) fn virtual_uid(&self, node: NodeId) -> Option<Symbol> {
        self.virtual_uids.get(node.index().checked_sub(self.objects as usize)?).copied()
    }

    /// Objects of watched kinds that reference this node's uid, each once, in snapshot order.
    pub fn dependents(&self, node: NodeId) -> &[ObjectId] {
        &self.dependents[self.places(node)]
    }

    /// For each of [`dependents`](Self::dependents), whether one of its references to this uid has
    /// `blockOwnerDeletion`.
    pub(crate) fn blocks(&self, node: NodeId) -> &[bool] {
        &self.blocks[self.places(node)]
    }

    fn places(&self, node: NodeId) -> Range<usize> {
        self.first_dependent[node.index()] as usize..self.first_dependent[node.index() + 1] as usize
    }

    /// How many of the dependents' references to this uid have `blockOwnerDeletion`.
    pub(crate) fn blocking_references(&self, node: NodeId) -> u32 {
        self.blocking_references[node.index()]
    }

    /// Objects of unwatched kinds that reference this node's uid (R2.7).
    pub(crate) fn unwatched_dependents(&self, node: NodeId) -> &[ObjectId] {
        self.unwatched_dependents.get(&node).map_or(&[], Vec::as_slice)
    }

    /// What a reference's apiVersion and kind map to (R3.14, R3.15).
    pub fn mapping(&self, reference: &Reference) -> Mapping {
        self.mappings.get(&(reference.api_version, reference.kind)).copied().unwrap_or(Mapping::Unmappable)
    }
}

/// What an owner reference maps to.
fn mapping(snapshot: &Snapshot, reference: &Reference) -> Mapping {
    let undiscovered = |api_version: &str| snapshot.gaps.iter().any(|gap| gap.resource == api_version);
    map(&snapshot.resources, undiscovered, snapshot.text(reference.api_version), snapshot.text(reference.kind))
}

/// What an apiVersion and kind of a reference map to. An undiscovered group version may serve anything.
pub fn map(resources: &Resources, undiscovered: impl Fn(&str) -> bool, api_version: &str, kind: &str) -> Mapping {
    // The apiVersion parser accepts a leading slash for the core group.
    let api_version = api_version.strip_prefix('/').unwrap_or(api_version);
    match resources.map(api_version, kind) {
        Mapping::Unmappable if undiscovered(api_version) => Mapping::Undiscovered,
        mapping => mapping,
    }
}
