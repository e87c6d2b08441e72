//! What was read, as a forest of owners and dependents; and which of its entries are rows: what is open, and what the
//! filter lets through.

use rustc_hash::FxHashSet;

use crate::render::outline::{draw, last_of_siblings, levels};
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

/// A forest with at most this many entries is open from the start.
const OPEN: usize = 200;

/// The rows of a scene, in reading order.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// The entries, ascending.
    shown: Vec<u32>,
    /// Whether what is not in `turned` is open.
    open: bool,
    /// The objects that differ from that.
    turned: FxHashSet<ObjectId>,
    /// The words of the filter, in lower case.
    words: Vec<String>,
    /// The first entry that matches the filter.
    pub first: Option<u32>,
    /// How many entries match the filter.
    pub matching: usize,
    /// Whether each entry (with a filter: each row) is the last of its siblings.
    last: Vec<bool>,
}

impl Rows {
    pub(super) fn of(scene: &Scene) -> Self {
        let mut rows = Rows { open: scene.len() <= OPEN, ..Rows::default() };
        rows.build(scene);
        rows
    }

    /// The rows of the next state of the same source: what was open stays open.
    pub(super) fn carried(self, before: &Scene, scene: &Scene) -> Self {
        let turned = self.turned.iter().filter_map(|object| scene.find(&before.identity(*object))).collect();
        let mut rows = Rows { turned, ..self };
        rows.build(scene);
        rows
    }

    pub(super) fn len(&self) -> usize {
        self.shown.len()
    }

    pub(super) fn get(&self, row: usize) -> Option<u32> {
        self.shown.get(row).copied()
    }

    /// The row of an entry, if it has one.
    pub(super) fn row_of(&self, entry: u32) -> Option<usize> {
        self.shown.binary_search(&entry).ok()
    }

    /// The row of an entry, or the one where it would be.
    pub(super) fn nearest(&self, entry: u32) -> usize {
        self.shown.partition_point(|shown| *shown < entry).min(self.len().saturating_sub(1))
    }

    pub(super) fn is_filtered(&self) -> bool {
        !self.words.is_empty()
    }

    /// Whether the dependents of an entry are rows, too; `None` if it has none.
    pub(super) fn is_open(&self, scene: &Scene, entry: u32) -> Option<bool> {
        if scene.below(entry) == 0 {
            return None;
        }
        if self.is_filtered() {
            return Some(true);
        }
        let turned = scene.object(entry).is_some_and(|object| self.turned.contains(&object));
        Some(self.open != turned)
    }

    /// Opens or closes an entry. Touches only the rows below it.
    pub(super) fn turn(&mut self, scene: &Scene, entry: u32) {
        let (Some(object), Some(open), Some(row)) =
            (scene.object(entry), self.is_open(scene, entry), self.row_of(entry))
        else {
            return;
        };
        if self.is_filtered() {
            return;
        }
        if !self.turned.remove(&object) {
            self.turned.insert(object);
        }
        let end = self.shown.partition_point(|shown| *shown < scene.end(entry));
        let below = if open { Vec::new() } else { self.below(scene, entry + 1, scene.end(entry)) };
        self.shown.splice(row + 1..end, below);
    }

    /// Opens or closes everything.
    pub(super) fn turn_all(&mut self, scene: &Scene, open: bool) {
        self.open = open;
        self.turned.clear();
        self.build(scene);
    }

    /// Opens everything above an entry, so that it has a row, and drops the filter if it hides it.
    pub(super) fn reveal(&mut self, scene: &Scene, entry: u32) {
        if self.row_of(entry).is_some() {
            return;
        }
        self.words.clear();
        let mut above = scene.parent(entry);
        while let Some(parent) = above {
            if self.is_open(scene, parent) == Some(false)
                && let Some(object) = scene.object(parent)
                && !self.turned.remove(&object)
            {
                self.turned.insert(object);
            }
            above = scene.parent(parent);
        }
        self.build(scene);
    }

    /// Shows only entries in which every word of a text occurs, and what leads to them.
    pub(super) fn filter(&mut self, scene: &Scene, text: &str) {
        self.words = text.split_whitespace().map(str::to_lowercase).collect();
        self.build(scene);
    }

    fn build(&mut self, scene: &Scene) {
        if self.is_filtered() {
            self.shown = self.filtered(scene);
            let depths: Vec<usize> = self.shown.iter().map(|entry| scene.entry(*entry).depth as usize).collect();
            self.last = last_of_siblings(&depths);
        } else {
            self.matching = scene.len();
            self.shown = self.below(scene, 0, scene.len() as u32);
            let depths: Vec<usize> = scene.tree.entries.iter().map(|entry| entry.depth as usize).collect();
            self.last = last_of_siblings(&depths);
        }
    }

    /// The rows among the entries of a range, which begins with a sibling of all that are not below others in it.
    fn below(&self, scene: &Scene, begin: u32, end: u32) -> Vec<u32> {
        let mut shown = Vec::new();
        let mut entry = begin;
        while entry < end {
            shown.push(entry);
            entry = match self.is_open(scene, entry) {
                Some(false) => scene.end(entry),
                _ => entry + 1,
            };
        }
        shown
    }

    fn filtered(&mut self, scene: &Scene) -> Vec<u32> {
        let mut shown = vec![false; scene.len()];
        let mut text = String::new();
        (self.matching, self.first) = (0, None);
        for entry in 0..scene.len() as u32 {
            let Some(object) = scene.object(entry).filter(|_| scene.entry(entry).showing.here()) else { continue };
            searchable(scene, object, &mut text);
            if !self.words.iter().all(|word| text.contains(word.as_str())) {
                continue;
            }
            self.matching += 1;
            self.first = self.first.or(Some(entry));
            let mut above = Some(entry);
            while let Some(one) = above.filter(|one| !shown[*one as usize]) {
                shown[one as usize] = true;
                above = scene.parent(one);
            }
        }
        (0..scene.len() as u32).filter(|entry| shown[*entry as usize]).collect()
    }

    /// The guide before the name in a row. Looks at a few ancestors only.
    pub(super) fn guide(&self, scene: &Scene, row: usize) -> String {
        let Some(entry) = self.get(row) else { return String::new() };
        let depth = scene.entry(entry).depth as usize;
        let mut ends = Vec::new();
        let mut at = Some(entry);
        while let Some(one) = at.filter(|_| ends.len() < levels(depth)) {
            let place = if self.is_filtered() { self.row_of(one) } else { Some(one as usize) };
            ends.push(place.and_then(|place| self.last.get(place)).copied().unwrap_or(true));
            at = scene.parent(one);
        }
        ends.reverse();
        draw(depth, &ends)
    }
}

/// What the filter looks at: `kind/name namespace`, in lower case, and the word terminating.
fn searchable(scene: &Scene, id: ObjectId, text: &mut String) {
    let object = scene.snapshot.object(id);
    text.clear();
    text.push_str(&scene.snapshot.resources.get(object.resource).kind);
    text.push('/');
    text.push_str(scene.snapshot.text(object.name));
    text.push(' ');
    text.push_str(scene.snapshot.text(object.namespace));
    if object.terminating() {
        text.push_str(" terminating");
    }
    if text.is_ascii() {
        text.make_ascii_lowercase();
    } else {
        *text = text.to_lowercase();
    }
}
