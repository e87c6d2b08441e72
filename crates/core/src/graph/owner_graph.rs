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
    /// How many references all objects have together.
    references: u64,
    by_uid: Vec<u32>,
    virtual_uids: Vec<Symbol>,
    first_dependent: Vec<u32>,
    dependents: Vec<ObjectId>,
    /// For each of the dependents, whether a reference of it blocks this owner.
    blocks: Vec<bool>,
    /// For each of the dependents, the place of its first reference to this owner.
    first_references: Vec<u32>,
    /// By object and the place of its first reference to a uid, the places of its others to that uid.
    further_references: FxHashMap<(ObjectId, u32), Vec<u32>>,
    blocking_references: Vec<u32>,
    unwatched_dependents: FxHashMap<NodeId, Vec<ObjectId>>,
    unwatched_first_references: FxHashMap<NodeId, Vec<u32>>,
    mappings: FxHashMap<(Symbol, Symbol), Mapping>,
    doubts_missing_apis: bool,
}

impl OwnerGraph {
    /// Builds the graph in time linear in objects and references.
    pub fn new(snapshot: &Snapshot) -> Self {
        let mut graph = OwnerGraph {
            objects: snapshot.len() as u32,
            references: snapshot.objects().map(|(_, object)| object.owners.len() as u64).sum(),
            by_uid: vec![NO_NODE; snapshot.strings.len()],
            virtual_uids: Vec::new(),
            first_dependent: Vec::new(),
            dependents: Vec::new(),
            blocks: Vec::new(),
            first_references: Vec::new(),
            further_references: FxHashMap::default(),
            blocking_references: Vec::new(),
            unwatched_dependents: FxHashMap::default(),
            unwatched_first_references: FxHashMap::default(),
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
    pub fn doubts_missing_apis(&self) -> bool {
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
        self.first_references = vec![0; self.dependents.len()];
        for (id, object) in snapshot.objects() {
            let watched = self.is_dependent(snapshot, id);
            let first = FirstOfUid::of(&object.owners);
            for (position, reference) in object.owners.iter().enumerate() {
                let first = first.position(reference.uid).unwrap_or(position);
                let is_first = first == position;
                if !is_first {
                    self.further_references.entry((id, first as u32)).or_default().push(position as u32);
                }
                let owner = self.by_uid[reference.uid.index()];
                if watched {
                    let next = &mut next[owner as usize];
                    if is_first {
                        self.dependents[*next as usize] = id;
                        self.first_references[*next as usize] = position as u32;
                        *next += 1;
                    }
                    // The last entry so far is this object's.
                    self.blocks[*next as usize - 1] |= reference.blocks();
                } else if is_first {
                    self.unwatched_dependents.entry(NodeId(owner)).or_default().push(id);
                    self.unwatched_first_references.entry(NodeId(owner)).or_default().push(position as u32);
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

    /// How many references all objects have together.
    pub fn references(&self) -> u64 {
        self.references
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
    pub fn blocks(&self, node: NodeId) -> &[bool] {
        &self.blocks[self.places(node)]
    }

    /// All dependents, of watched kinds first, with the place of the first reference of each to this uid: hostile
    /// objects have so many that nobody should search them once for each owner.
    pub fn all_dependents(&self, node: NodeId) -> impl Iterator<Item = (ObjectId, u32)> {
        let of_unwatched = self.unwatched_first_references.get(&node).map_or(&[][..], Vec::as_slice);
        let firsts = self.first_references[self.places(node)].iter().chain(of_unwatched);
        self.dependents(node).iter().chain(self.unwatched_dependents(node)).copied().zip(firsts.copied())
    }

    /// The places of an object's other references to the uid of its reference at this place, which is the first to it.
    pub(crate) fn further_references(&self, object: ObjectId, first: u32) -> &[u32] {
        self.further_references.get(&(object, first)).map_or(&[], Vec::as_slice)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Origin, RawObject, RawReference, Resource, ResourceId, SnapshotBuilder};

    /// The graph tells where each dependent names an owner, as reading all its references would: also where it names
    /// one several times, and where its kind isn't watched.
    #[test]
    fn places_of_references_are_known() {
        let kind = |kind: &str, verbs: &[&str]| {
            Resource::named("", "v1", &(kind.to_lowercase() + "s"), kind).with_verbs(verbs)
        };
        let kinds = vec![kind("Pod", &["delete", "list", "watch"]), kind("Review", &["list"])];
        let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, Resources::new(kinds, Vec::new()));
        const OBJECTS: usize = 24;
        for number in 0..OBJECTS {
            let owner = |place: usize| {
                RawReference::to(
                    "v1",
                    "Pod",
                    format!("o{place}"),
                    format!("u{}", (number * 5 + place * place) % (OBJECTS + 4)),
                )
            };
            let object = RawObject {
                owners: (0..number).map(owner).collect(),
                ..RawObject::named("shop", format!("o{number}"), format!("u{number}"))
            };
            builder.add(ResourceId((number % 2) as u32), &object);
        }
        let snapshot = builder.build();
        let graph = OwnerGraph::new(&snapshot);
        let mut several = 0;
        for node in (0..graph.len() as u32).map(NodeId) {
            let uid = graph.object(node).map(|id| snapshot.object(id).uid).or(graph.virtual_uid(node)).expect("a uid");
            let places = |id: ObjectId| -> Vec<u32> {
                let owners = snapshot.object(id).owners.iter().enumerate();
                owners.filter(|(_, reference)| reference.uid == uid).map(|(place, _)| place as u32).collect()
            };
            let mut expected: Vec<(ObjectId, Vec<u32>)> = snapshot.objects().map(|(id, _)| (id, places(id))).collect();
            expected.retain(|(_, places)| !places.is_empty());
            several += expected.iter().filter(|(_, places)| places.len() > 1).count();
            let all = |(id, first): (ObjectId, u32)| (id, [&[first], graph.further_references(id, first)].concat());
            let mut found: Vec<(ObjectId, Vec<u32>)> = graph.all_dependents(node).map(all).collect();
            found.sort_by_key(|(id, _)| *id);
            assert_eq!(found, expected);
        }
        assert!(several > 10, "{several}");
    }
}
