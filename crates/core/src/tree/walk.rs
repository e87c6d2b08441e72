//! The walk through owners or dependents, from targets or from the roots: objects without an owner in scope, and one
//! object of every pure cycle. With `--sort-by`, siblings are in the order of a field of their metadata.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    graph::{NodeId, OwnerGraph},
    jsonpath::{JsonPath, PathError, SortKey, relaxed},
    model::{ObjectId, Reference, ResourceId, Snapshot, Symbol},
};

/// The place of each object among its siblings. Equal places keep their order.
pub type Places = FxHashMap<ObjectId, u32>;

/// The direction of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Direction {
    /// From owners down to their dependents.
    Dependents,
    /// From dependents up to their owners.
    Owners,
}

/// How an entry shows its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Showing {
    /// Here, with its children.
    Full,
    /// Here, as the representative of a cycle without an owner outside of it.
    CycleStart,
    /// Here, without its children, of which the depth limit omits this many.
    Cut(u32),
    /// Already shown above.
    Above,
    /// Shown further below, less deep.
    Below,
    /// Already shown among the entry's ancestors: a cycle.
    Cycle,
}

impl Showing {
    /// Whether this entry shows the node, rather than pointing to it.
    pub fn here(self) -> bool {
        matches!(self, Showing::Full | Showing::CycleStart | Showing::Cut(_))
    }
}

/// One line of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// An object; in a tree of owners also a uid without an object.
    pub node: NodeId,
    /// The number of ancestors.
    pub depth: u32,
    /// The reference between the entry and its parent: the dependent, and the index in its `ownerReferences`. `None`
    /// for roots.
    pub via: Option<(ObjectId, u32)>,
    pub showing: Showing,
}

impl Entry {
    /// The reference between the entry and its parent.
    pub fn reference<'a>(&self, snapshot: &'a Snapshot) -> Option<&'a Reference> {
        self.via.map(|(holder, position)| &snapshot.object(holder).owners[position as usize])
    }
}

/// Which tree is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q> {
    /// The roots; `None`: all in scope.
    pub targets: Option<&'q [ObjectId]>,
    /// `None`: all.
    pub namespace: Option<Symbol>,
    pub direction: Direction,
    /// The most levels below the roots.
    pub depth: Option<u32>,
    pub types: &'q TypeFilter,
    /// The places of siblings; `None`: by kind and name.
    pub places: Option<&'q Places>,
}

/// The forest as a flat list: every entry comes right before its descendants.
#[derive(Clone, Debug)]
pub struct Tree {
    pub direction: Direction,
    /// The namespace of the tree; `None`: all.
    pub namespace: Option<Symbol>,
    /// Whether the roots are targets of the user, and not all Namespaces.
    pub targeted: bool,
    pub entries: Vec<Entry>,
    shown: Vec<bool>,
}

impl Tree {
    /// The trees of the targets, in this order, each Namespace with what is in it; without targets, the dependents of
    /// all roots in scope ([`roots`]).
    pub fn of(snapshot: &Snapshot, graph: &OwnerGraph, query: &Query<'_>) -> Tree {
        let mut roots: Vec<Root> = match query.targets {
            Some(targets) if query.direction == Direction::Dependents => of_targets(snapshot, graph, targets),
            Some(targets) => targets.iter().map(|object| Root { object: *object, cycle: false }).collect(),
            None => roots(snapshot, graph, query.namespace),
        };
        if let Some(places) = query.places {
            roots.sort_by_key(|root| places.get(&root.object));
        }
        Walk::new(snapshot, graph, query).run(&roots)
    }

    /// The trees of these objects, in this order.
    #[cfg(any(test, feature = "testing"))]
    pub fn of_targets(
        snapshot: &Snapshot,
        graph: &OwnerGraph,
        targets: &[ObjectId],
        namespace: Option<Symbol>,
        direction: Direction,
        depth: Option<u32>,
    ) -> Tree {
        let types = TypeFilter::default();
        Tree::of(
            snapshot,
            graph,
            &Query { targets: Some(targets), namespace, direction, depth, types: &types, places: None },
        )
    }

    /// The dependents of all roots in scope ([`roots`]).
    pub fn of_scope(snapshot: &Snapshot, graph: &OwnerGraph, namespace: Option<Symbol>, depth: Option<u32>) -> Tree {
        let (direction, types) = (Direction::Dependents, TypeFilter::default());
        Tree::of(snapshot, graph, &Query { targets: None, namespace, direction, depth, types: &types, places: None })
    }

    pub fn shows(&self, node: NodeId) -> bool {
        self.shown[node.index()]
    }

    /// The entries that show nodes, each node once, without pointers.
    pub fn nodes(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.showing.here())
    }

    /// The objects of the tree, each once, in order.
    pub fn objects(&self, graph: &OwnerGraph) -> impl Iterator<Item = ObjectId> {
        self.nodes().filter_map(|entry| graph.object(entry.node))
    }

    /// Whether an object has no owners, no dependents and no marks.
    pub fn is_lone(&self, snapshot: &Snapshot, graph: &OwnerGraph, entry: &Entry) -> bool {
        !self.targeted
            && entry.depth == 0
            && graph.object(entry.node).is_some_and(|id| {
                let object = snapshot.object(id);
                object.owners.is_empty()
                    && !object.terminating()
                    && known_instead(snapshot, graph, id).is_none()
                    && graph.dependents(entry.node).is_empty()
                    && graph.unwatched_dependents(entry.node).is_empty()
            })
    }
}

type Child = (NodeId, (ObjectId, u32));

struct Walk<'a> {
    snapshot: &'a Snapshot,
    graph: &'a OwnerGraph,
    query: &'a Query<'a>,
    shown: Vec<bool>,
    on_path: Vec<bool>,
    entries: Vec<Entry>,
}

/// A node whose children are being added.
struct Frame {
    node: NodeId,
    children: std::vec::IntoIter<Child>,
}

impl<'a> Walk<'a> {
    fn new(snapshot: &'a Snapshot, graph: &'a OwnerGraph, query: &'a Query<'a>) -> Self {
        Walk {
            snapshot,
            graph,
            query,
            shown: vec![false; graph.len()],
            on_path: vec![false; graph.len()],
            entries: Vec::new(),
        }
    }

    fn run(mut self, roots: &[Root]) -> Tree {
        let Query { targets, namespace, direction, types, .. } = *self.query;
        // A Namespace stands for what is in it.
        let is_scope = |target: &ObjectId| direction == Direction::Dependents && self.snapshot.is_namespace(*target);
        let targeted = targets.is_some_and(|targets| !targets.iter().all(is_scope));
        // With a depth limit, show a node where it is least deep: elsewhere, its children might be cut off.
        let least_depths_of = self.query.depth.map(|limit| self.least_depths(roots, limit));
        let mut path: Vec<Frame> = Vec::new();
        for root in roots {
            let node = NodeId::from(root.object);
            if !targeted && (self.shown[node.index()] || types.excludes(self.snapshot, self.graph, node)) {
                continue;
            }
            if let Some(children) = self.enter(node, None, 0, root.cycle, least_depths_of.as_ref()) {
                path.push(Frame { node, children: children.into_iter() });
            }
            while let Some(frame) = path.last_mut() {
                let Some((child, via)) = frame.children.next() else {
                    self.on_path[frame.node.index()] = false;
                    path.pop();
                    continue;
                };
                let depth = path.len() as u32;
                if let Some(children) = self.enter(child, Some(via), depth, false, least_depths_of.as_ref()) {
                    path.push(Frame { node: child, children: children.into_iter() });
                }
            }
        }
        let entries = types.keep_included(self.snapshot, self.graph, targeted, self.entries);
        if types.include.is_some() {
            self.shown.fill(false);
            entries.iter().for_each(|entry| self.shown[entry.node.index()] = true);
        }
        Tree { direction, namespace, targeted, entries, shown: self.shown }
    }

    /// Adds the entry of a node. Returns its children if they are to be shown below it.
    fn enter(
        &mut self,
        node: NodeId,
        via: Option<(ObjectId, u32)>,
        depth: u32,
        cycle: bool,
        least_depths_of: Option<&FxHashMap<NodeId, u32>>,
    ) -> Option<Vec<Child>> {
        let mut entry = Entry { node, depth, via, showing: if cycle { Showing::CycleStart } else { Showing::Full } };
        let mut children = None;
        if self.on_path[node.index()] {
            entry.showing = Showing::Cycle;
        } else if self.shown[node.index()] {
            entry.showing = Showing::Above;
        } else if least_depths_of.is_some_and(|least_depths_of| {
            least_depths_of.get(&node).is_some_and(|least_depths_of| *least_depths_of < depth)
        }) {
            entry.showing = Showing::Below;
        } else {
            self.shown[node.index()] = true;
            let below = self.children_of(node);
            if self.query.depth.is_some_and(|limit| depth >= limit) && !below.is_empty() {
                entry.showing = Showing::Cut(below.len() as u32);
            } else {
                self.on_path[node.index()] = true;
                children = Some(below);
            }
        }
        self.entries.push(entry);
        children
    }

    /// The children of a node. Dependents: by kind in discovery order, then by name. Owners: in their order.
    fn children_of(&self, node: NodeId) -> Vec<Child> {
        let (snapshot, graph, query) = (self.snapshot, self.graph, self.query);
        let mut children = match query.direction {
            Direction::Dependents => dependents_of(snapshot, graph, node),
            Direction::Owners => graph.object(node).map_or_else(Vec::new, |id| owners_of(snapshot, graph, id)),
        };
        if !query.types.exclude.is_empty() {
            children.retain(|(child, _)| !query.types.excludes(snapshot, graph, *child));
        }
        if let Some(places) = query.places {
            children.sort_by_key(|(child, _)| graph.object(*child).and_then(|id| places.get(&id)));
        }
        children
    }

    /// The least depth of every node within the limit.
    fn least_depths(&self, roots: &[Root], limit: u32) -> FxHashMap<NodeId, u32> {
        let mut least_depths_of: FxHashMap<NodeId, u32> = FxHashMap::default();
        let mut queue: VecDeque<(NodeId, u32)> = VecDeque::new();
        for root in roots {
            let node = NodeId::from(root.object);
            if least_depths_of.insert(node, 0).is_none() {
                queue.push_back((node, 0));
            }
        }
        while let Some((node, depth)) = queue.pop_front() {
            if depth == limit {
                continue;
            }
            for (child, _) in self.children_of(node) {
                least_depths_of.entry(child).or_insert_with(|| {
                    queue.push_back((child, depth + 1));
                    depth + 1
                });
            }
        }
        least_depths_of
    }
}

fn dependents_of(snapshot: &Snapshot, graph: &OwnerGraph, node: NodeId) -> Vec<Child> {
    if graph.object(node).is_none() {
        return Vec::new();
    }
    let mut dependents: Vec<(ObjectId, u32)> = graph.all_dependents(node).collect();
    dependents.sort_unstable_by_key(|(id, _)| {
        let object = snapshot.object(*id);
        (object.resource, snapshot.text(object.name), snapshot.text(object.namespace), *id)
    });
    dependents.into_iter().map(|via| (via.0.into(), via)).collect()
}

fn owners_of(snapshot: &Snapshot, graph: &OwnerGraph, id: ObjectId) -> Vec<Child> {
    let mut known: FxHashSet<NodeId> = FxHashSet::default();
    let owner = |(position, reference): (usize, &Reference)| {
        let node = graph.by_uid(reference.uid).filter(|node| known.insert(*node))?;
        Some((node, (id, position as u32)))
    };
    snapshot.object(id).owners.iter().enumerate().filter_map(owner).collect()
}

/// The object that the collector knows by the uid of this one (R3.5). Kinds that it doesn't watch are ignored: events
/// are served in two groups.
pub(crate) fn known_instead(snapshot: &Snapshot, graph: &OwnerGraph, id: ObjectId) -> Option<ObjectId> {
    let watched = |id: &ObjectId| snapshot.resources.not_watched(snapshot.object(*id).resource).is_none();
    let other = graph.by_uid(snapshot.object(id).uid).and_then(|other| graph.object(other))?;
    (other != id && watched(&id) && watched(&other)).then_some(other)
}

/// Which types a tree shows. Targets are shown in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeFilter {
    /// Only these, and what leads to them; `None`: all.
    pub include: Option<FxHashSet<ResourceId>>,
    /// Neither these nor what is below them only.
    pub exclude: FxHashSet<ResourceId>,
}

impl TypeFilter {
    pub(super) fn excludes(&self, snapshot: &Snapshot, graph: &OwnerGraph, node: NodeId) -> bool {
        graph.object(node).is_some_and(|id| self.exclude.contains(&snapshot.object(id).resource))
    }

    /// Leaves out what neither is of an included type nor leads to it. An entry that points to another one stays if
    /// that one does.
    pub(super) fn keep_included(
        &self,
        snapshot: &Snapshot,
        graph: &OwnerGraph,
        targeted: bool,
        entries: Vec<Entry>,
    ) -> Vec<Entry> {
        let Some(include) = &self.include else { return entries };
        let is_included = |entry: &Entry| {
            (targeted && entry.depth == 0)
                || graph.object(entry.node).is_some_and(|id| include.contains(&snapshot.object(id).resource))
        };
        let mut kept: Vec<bool> = entries.iter().map(is_included).collect();
        // Backwards, descendants come before their ancestors.
        let mut wanted_above: Option<u32> = None;
        for (entry, kept) in entries.iter().zip(&mut kept).rev() {
            *kept |= wanted_above.is_some_and(|depth| entry.depth < depth);
            if *kept {
                wanted_above = Some(entry.depth);
            }
        }
        let shown: FxHashSet<NodeId> = entries
            .iter()
            .zip(&kept)
            .filter(|(entry, kept)| **kept && entry.showing.here())
            .map(|(e, _)| e.node)
            .collect();
        // The parent of an entry is the last one before it that is less deep.
        let mut path: Vec<bool> = Vec::new();
        let mut left = Vec::new();
        for (entry, mut kept) in entries.into_iter().zip(kept) {
            path.truncate(entry.depth as usize);
            let parent = path.last().copied().unwrap_or(true);
            kept |= parent && !entry.showing.here() && shown.contains(&entry.node);
            path.push(kept);
            if kept {
                left.push(entry);
            }
        }
        left
    }
}

/// An object at the top of the forest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    pub object: ObjectId,
    /// It represents a cycle without an owner outside of it.
    pub cycle: bool,
}

/// The targets, each Namespace followed by the roots in it.
pub(crate) fn of_targets(snapshot: &Snapshot, graph: &OwnerGraph, targets: &[ObjectId]) -> Vec<Root> {
    let mut all = Vec::new();
    for target in targets.iter().copied() {
        all.push(Root { object: target, cycle: false });
        if snapshot.is_namespace(target) {
            all.extend(roots(snapshot, graph, Some(snapshot.object(target).name)));
        }
    }
    all
}

/// The roots of a namespace, or (`None`) of everything, in output order. Linear in the snapshot, except for sorting.
pub(crate) fn roots(snapshot: &Snapshot, graph: &OwnerGraph, namespace: Option<Symbol>) -> Vec<Root> {
    let in_scope = |id: ObjectId| namespace.is_none_or(|namespace| snapshot.object(id).namespace == namespace);
    let mut scope: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).filter(|id| in_scope(*id)).collect();
    sort_roots(snapshot, &mut scope);
    let mut reached = vec![false; snapshot.len()];
    let mut roots = Vec::new();
    for id in &scope {
        let owned = snapshot
            .object(*id)
            .owners
            .iter()
            .filter_map(|reference| graph.by_uid(reference.uid).and_then(|node| graph.object(node)))
            .any(in_scope);
        if !owned {
            roots.push(Root { object: *id, cycle: false });
            reach(graph, *id, &mut reached, |_| {});
        }
    }
    // Every remaining object is in a cycle or below one. The last object to finish in a depth-first search is in a
    // cycle without owners outside; as the search starts in order, it is the first of its cycle.
    let mut finished = Vec::new();
    let mut searched = reached.clone();
    for id in scope.iter().filter(|id| !reached[id.index()]) {
        reach(graph, *id, &mut searched, |done| finished.push(done));
    }
    let ordinary = roots.len();
    for id in finished.into_iter().rev() {
        if !reached[id.index()] && in_scope(id) {
            roots.push(Root { object: id, cycle: true });
            reach(graph, id, &mut reached, |_| {});
        }
    }
    if roots.len() > ordinary {
        roots.sort_by_cached_key(|root| root_key(snapshot, root.object));
    }
    roots
}

/// Visits all unvisited dependents depth-first; calls `finish` for an object after all of its dependents.
fn reach(graph: &OwnerGraph, from: ObjectId, reached: &mut [bool], mut finish: impl FnMut(ObjectId)) {
    if std::mem::replace(&mut reached[from.index()], true) {
        return;
    }
    let mut path = vec![(from, 0)];
    while let Some((id, next)) = path.last_mut() {
        let dependent = nth_dependent(graph, *id, *next);
        *next += 1;
        match dependent {
            Some(dependent) => {
                if !std::mem::replace(&mut reached[dependent.index()], true) {
                    path.push((dependent, 0));
                }
            }
            None => {
                finish(*id);
                path.pop();
            }
        }
    }
}

fn nth_dependent(graph: &OwnerGraph, id: ObjectId, index: usize) -> Option<ObjectId> {
    let node = NodeId::from(id);
    let watched = graph.dependents(node);
    watched.get(index).or_else(|| graph.unwatched_dependents(node).get(index - watched.len())).copied()
}

fn root_key(snapshot: &Snapshot, id: ObjectId) -> (&str, u32, &str, ObjectId) {
    let object = snapshot.object(id);
    (snapshot.text(object.namespace), object.resource.0, snapshot.text(object.name), id)
}

/// Sorts cluster-scoped objects first, then by namespace, kind in discovery order, and name.
fn sort_roots(snapshot: &Snapshot, ids: &mut [ObjectId]) {
    ids.sort_unstable_by(|a, b| root_key(snapshot, *a).cmp(&root_key(snapshot, *b)));
}

/// The fields that lists of metadata contain and a snapshot keeps.
const FIELDS: [&str; 12] = [
    "apiVersion",
    "kind",
    "metadata.creationTimestamp",
    "metadata.deletionGracePeriodSeconds",
    "metadata.deletionTimestamp",
    "metadata.finalizers",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.ownerReferences",
    "metadata.resourceVersion",
    "metadata.uid",
];

/// The field that sorts siblings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortBy {
    path: JsonPath,
    template: String,
}

impl SortBy {
    /// Reads kubectl's `--sort-by`.
    ///
    /// # Errors
    /// It is no path, or leads to what is not read.
    pub fn parse(field: &str) -> Result<Self, PathError> {
        let template = relaxed(field)?;
        let path = JsonPath::parse(&template)?;
        let inner = template.strip_prefix("{.").and_then(|path| path.strip_suffix('}')).unwrap_or_default();
        let begins =
            |known: &str| inner.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        if FIELDS.iter().any(|known| begins(known)) {
            return Ok(SortBy { path, template });
        }
        Err(PathError(format!(
            "{template} is not read: a tree has only metadata; sort by .metadata.name, \
             .metadata.creationTimestamp or a label, such as .metadata.labels.app"
        )))
    }

    /// The places of the objects of a tree. As in kubectl, one object needs no field.
    ///
    /// # Errors
    /// None of the objects has the field, or its values have no order.
    pub fn places(&self, snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree) -> Result<Places, PathError> {
        let objects: Vec<ObjectId> = tree.objects(graph).collect();
        if objects.len() < 2 {
            return Ok(Places::default());
        }
        let mut found = false;
        let mut key = |id: &ObjectId| {
            let value = self.path.first(&document(snapshot, *id))?;
            found |= value.is_some();
            SortKey::of(value.as_ref())
        };
        let keys: Vec<SortKey> = objects.iter().map(&mut key).collect::<Result<_, _>>()?;
        if !found {
            let path = &self.template;
            return Err(PathError(format!("couldn't find any field with path {path:?} in the list of objects")));
        }
        Ok(objects.into_iter().zip(SortKey::ranks(&keys)).collect())
    }
}

/// What is known of an object, as the API server writes it.
fn document(snapshot: &Snapshot, id: ObjectId) -> Value {
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    let text = |symbol: Symbol| (!symbol.is_empty()).then(|| json!(snapshot.text(symbol)));
    let time = |seconds: Option<i64>| Some(json!(jiff::Timestamp::from_second(seconds?).ok()?.to_string()));
    let labels: Map<String, Value> = object
        .labels
        .iter()
        .map(|(key, value)| (snapshot.text(*key).to_owned(), json!(snapshot.text(*value))))
        .collect();
    let finalizers: Vec<&str> = object.finalizers.iter().map(|finalizer| snapshot.text(*finalizer)).collect();
    let owners: Vec<Value> = object
        .owners
        .iter()
        .map(|reference| {
            json!({
                "apiVersion": snapshot.text(reference.api_version),
                "kind": snapshot.text(reference.kind),
                "name": snapshot.text(reference.name),
                "uid": snapshot.text(reference.uid),
            })
        })
        .collect();
    let version = object.resource_version.text(&snapshot.strings);
    let metadata = [
        ("creationTimestamp", time(object.created.get())),
        ("deletionGracePeriodSeconds", object.grace.get().map(|seconds| json!(seconds))),
        ("deletionTimestamp", time(object.deleted.get())),
        ("finalizers", (!finalizers.is_empty()).then(|| json!(finalizers))),
        ("labels", (!labels.is_empty()).then_some(Value::Object(labels))),
        ("name", text(object.name)),
        ("namespace", text(object.namespace)),
        ("ownerReferences", (!owners.is_empty()).then_some(Value::Array(owners))),
        ("resourceVersion", (!version.is_empty()).then(|| json!(version))),
        ("uid", text(object.uid)),
    ];
    let metadata: Map<String, Value> =
        metadata.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    json!({"apiVersion": resource.api_version(), "kind": resource.kind, "metadata": metadata})
}
