//! What was read, as a forest of owners and dependents.

use gc_core::{
    command_line::Kubectl,
    graph::OwnerGraph,
    model::{Coordinate, Identity, Mapping, ObjectId, Presence, Snapshot, Symbol},
    tree::{Entry, Tree},
};

/// No entry shows this object.
const NOWHERE: u32 = u32::MAX;

/// One state of the cluster or the dump, ready to be walked.
#[derive(Clone, Debug)]
pub struct Scene {
    pub snapshot: Snapshot,
    pub graph: OwnerGraph,
    pub tree: Tree,
    /// Whether it is a cluster, whose changes come as they happen.
    pub live: bool,
    /// What it is of, in a sentence.
    pub header: String,
    /// How many objects it shows.
    pub(super) objects: usize,
    /// How commands call kubectl.
    pub kubectl: Kubectl,
    /// The files that were read, as `--from` names them.
    pub from: Vec<String>,
    /// For each entry, the index behind its last descendant.
    ends: Vec<u32>,
    /// For each entry, its parent; its own index for roots.
    parents: Vec<u32>,
    /// For each object, the entry that shows it.
    places: Vec<u32>,
}

impl Scene {
    /// Takes linear time, whatever the depth.
    pub fn new(snapshot: Snapshot, graph: OwnerGraph, tree: Tree) -> Self {
        let count = tree.entries.len();
        let mut ends = vec![count as u32; count];
        let mut parents: Vec<u32> = (0..count as u32).collect();
        let mut places = vec![NOWHERE; snapshot.len()];
        let mut path: Vec<u32> = Vec::new();
        for (index, entry) in tree.entries.iter().enumerate() {
            let index = index as u32;
            for ended in path.drain((entry.depth as usize).min(path.len())..) {
                ends[ended as usize] = index;
            }
            if let Some(parent) = path.last() {
                parents[index as usize] = *parent;
            }
            path.push(index);
            if let Some(object) = graph.object(entry.node).filter(|_| entry.showing.here()) {
                places[object.index()] = index;
            }
        }
        let objects = places.iter().filter(|place| **place != NOWHERE).count();
        Scene {
            snapshot,
            graph,
            tree,
            live: false,
            header: String::new(),
            objects,
            kubectl: Kubectl::default(),
            from: Vec::new(),
            ends,
            parents,
            places,
        }
    }

    pub fn len(&self) -> usize {
        self.tree.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tree.entries.is_empty()
    }

    pub fn entry(&self, index: u32) -> &Entry {
        &self.tree.entries[index as usize]
    }

    /// The index behind the last descendant of an entry.
    pub(super) fn end(&self, entry: u32) -> u32 {
        self.ends[entry as usize]
    }

    /// How many entries are below this one.
    pub(super) fn below(&self, entry: u32) -> usize {
        (self.end(entry) - entry - 1) as usize
    }

    pub(super) fn parent(&self, entry: u32) -> Option<u32> {
        let parent = self.parents[entry as usize];
        (parent != entry).then_some(parent)
    }

    /// The object of an entry; `None` for an owner that is only named.
    pub(super) fn object(&self, entry: u32) -> Option<ObjectId> {
        self.graph.object(self.entry(entry).node)
    }

    /// The entry that shows an object.
    pub(super) fn place(&self, object: ObjectId) -> Option<u32> {
        self.places.get(object.index()).copied().filter(|place| *place != NOWHERE)
    }

    pub fn identity(&self, object: ObjectId) -> Identity {
        Identity::of(&self.snapshot, object)
    }

    /// The object of this identity, if it still exists.
    pub fn find(&self, identity: &Identity) -> Option<ObjectId> {
        find(&self.snapshot, identity)
    }

    /// The namespace of an object, empty for cluster scope.
    pub(super) fn namespace(&self, object: ObjectId) -> &str {
        self.snapshot.namespace(object)
    }
}

/// The object of an identity in a snapshot. If several have its uid, the one with its name.
pub fn find(snapshot: &Snapshot, identity: &Identity) -> Option<ObjectId> {
    let text = |text: &str| if text.is_empty() { Some(Symbol::EMPTY) } else { snapshot.strings.find(text) };
    let uid = text(&identity.uid)?;
    let by_uid = snapshot.by_uid(uid).filter(|id| Identity::of(snapshot, *id) == *identity);
    by_uid.or_else(|| {
        let Mapping::Served(resource) = snapshot.resources.map(&identity.api_version, &identity.kind) else {
            return None;
        };
        let resource = snapshot.resources.picked(resource);
        let coordinate = Coordinate { resource, namespace: text(&identity.namespace)?, name: text(&identity.name)? };
        match snapshot.look_up(coordinate) {
            Presence::Present(id) if snapshot.object(id).uid == uid => Some(id),
            _ => None,
        }
    })
}

/// The command that tells an object's story; `None` for a name that no API server accepts.
pub(super) fn explain(scene: &Scene, object: ObjectId) -> Option<String> {
    let found = scene.snapshot.object(object);
    let resource = scene.snapshot.resources.get(found.resource);
    let command = scene.kubectl.plugin("explain");
    let command = command.object(&resource.plural, &resource.group, scene.snapshot.text(found.name))?;
    let command = command.in_namespace(scene.namespace(object))?;
    let command = scene.from.iter().fold(command, |command, from| command.option("--from", from));
    Some(command.to_string())
}
