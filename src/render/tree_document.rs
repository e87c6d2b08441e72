//! The tree as data: nodes by uid, references and marks. Schema: `docs/schema/tree.json`.

use rustc_hash::FxHashSet;
use serde::Serialize;

use gc_core::{
    document::{Head, Named, ObjectJson},
    graph::{NodeId, OwnerGraph},
    model::{Gap, ObjectId, Reference, Snapshot, Symbol},
    tree::{
        Direction, Entry, Mark, ReferenceStatus, ResolvedReference, Showing, State, StatusOf,
        debug_graph::{DebugGraph, Vertex},
    },
};

use super::tree::TreeView;

/// `kind: Tree`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Document<'a> {
    #[serde(flatten)]
    pub head: Head,
    /// `Dependents` or `Owners`.
    pub direction: Direction,
    /// The uids of the roots, in tree order.
    pub roots: Vec<&'a str>,
    /// The nodes of the tree, in order; then owners outside the tree.
    pub nodes: Vec<Node<'a>>,
    /// All owner references of the nodes.
    pub edges: Named<'a, Vec<Edge>>,
    /// What kept the server's tables from being read.
    #[serde(skip_serializing_if = "<[Gap]>::is_empty")]
    pub status_gaps: &'a [Gap],
}

/// An object, or a uid without an object.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node<'a> {
    #[serde(flatten)]
    pub object: ObjectJson<'a>,
    /// `metadata.creationTimestamp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<&'a str>,
    /// READY and STATUS could not be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub status_unread: bool,
    pub terminating: bool,
    pub finalizers: Vec<&'a str>,
    pub marks: Vec<&'static str>,
    /// No object that was read has this uid; the other fields are from the first reference to it.
    #[serde(rename = "virtual", skip_serializing_if = "std::ops::Not::not")]
    pub is_virtual: bool,
    /// An owner of a node, but not part of the tree.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// How many dependents (in a tree of owners: owners) the requested depth omits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<u32>,
}

/// One owner reference.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    pub dependent: Symbol,
    pub owner: Symbol,
    /// The coordinates as written in the reference.
    pub api_version: Symbol,
    pub kind: Symbol,
    pub name: Symbol,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
    pub verdict: ReferenceStatus,
    /// For `OtherUid`: the uid of the object at the coordinates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Symbol>,
    /// The edge closes a cycle.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closes_cycle: bool,
}

impl<'a> Document<'a> {
    /// The document of a tree.
    pub fn of(view: &TreeView<'a>) -> Document<'a> {
        let TreeView { snapshot, graph, tree, statuses, .. } = *view;
        let mut document = Document {
            head: Head::of("Tree", &snapshot.gaps, snapshot),
            direction: tree.direction,
            roots: Vec::new(),
            nodes: Vec::new(),
            edges: Named(snapshot, Vec::new()),
            status_gaps: statuses.map_or(&[], |statuses| &statuses.gaps),
        };
        let mut cycles: FxHashSet<(ObjectId, u32)> = FxHashSet::default();
        let mut roots: FxHashSet<NodeId> = FxHashSet::default();
        for entry in &tree.entries {
            if let (Showing::Cycle, Some(via)) = (entry.showing, entry.via) {
                cycles.insert(via);
            }
            if let Some(id) = graph.object(entry.node).filter(|_| entry.depth == 0 && roots.insert(entry.node)) {
                document.roots.push(snapshot.text(snapshot.object(id).uid));
            }
        }
        let mut outside = Outside { seen: FxHashSet::default(), nodes: Vec::new() };
        for entry in tree.nodes() {
            let Some(id) = graph.object(entry.node) else {
                if let Some(reference) = entry.reference(snapshot) {
                    let mut node = virtual_node(snapshot, reference, false);
                    node.marks = codes(Mark::of(snapshot, graph, tree, entry));
                    document.nodes.push(node);
                }
                continue;
            };
            document.nodes.push(tree_node(view, entry, id));
            let object = snapshot.object(id);
            for (position, reference) in object.owners.iter().enumerate() {
                let link = ResolvedReference::of(snapshot, graph, object, reference);
                let other = link.found.filter(|_| link.standing == ReferenceStatus::OtherUid);
                document.edges.1.push(Edge {
                    dependent: object.uid,
                    owner: reference.uid,
                    api_version: reference.api_version,
                    kind: reference.kind,
                    name: reference.name,
                    controller: reference.controller,
                    block_owner_deletion: reference.block_owner_deletion,
                    verdict: link.standing,
                    found: other.map(|found| snapshot.object(found).uid),
                    closes_cycle: cycles.contains(&(id, position as u32)),
                });
                if let Some(owner) = graph.by_uid(reference.uid).filter(|owner| !tree.shows(*owner)) {
                    outside.add(snapshot, graph, owner, reference);
                }
            }
        }
        document.nodes.append(&mut outside.nodes);
        document
    }
}

/// Owners of nodes that the tree doesn't show.
struct Outside<'a> {
    seen: FxHashSet<NodeId>,
    nodes: Vec<Node<'a>>,
}

impl<'a> Outside<'a> {
    fn add(&mut self, snapshot: &'a Snapshot, graph: &OwnerGraph, owner: NodeId, reference: &'a Reference) {
        if self.seen.insert(owner) {
            self.nodes.push(match graph.object(owner) {
                Some(id) => Node { outside: true, ..object_node(snapshot, id) },
                None => virtual_node(snapshot, reference, true),
            });
        }
    }
}

fn tree_node<'a>(view: &TreeView<'a>, entry: &Entry, id: ObjectId) -> Node<'a> {
    let TreeView { snapshot, graph, tree, statuses, .. } = *view;
    let mut node = object_node(snapshot, id);
    let given = |text: &'a String| Some(text.as_str()).filter(|text| !text.is_empty());
    match statuses.and_then(|statuses| statuses.of(snapshot.object(id).uid)) {
        Some(StatusOf::Known(status)) => {
            node.ready = given(&status.ready);
            node.status = given(&status.status);
            node.restarts = given(&status.restarts);
        }
        Some(StatusOf::Unread) => node.status_unread = true,
        None => {}
    }
    node.marks.append(&mut codes(Mark::of(snapshot, graph, tree, entry)));
    if let Showing::Cut(more) = entry.showing {
        node.more = Some(more);
    }
    node
}

/// The codes of the marks, each once.
fn codes(marks: Vec<Mark>) -> Vec<&'static str> {
    let mut codes: Vec<&'static str> = Vec::new();
    for code in marks.iter().filter_map(Mark::code) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
}

fn object_node(snapshot: &Snapshot, id: ObjectId) -> Node<'_> {
    let object = snapshot.object(id);
    let mut marks = Vec::new();
    if let Some(state) = State::of(snapshot, object) {
        marks.extend(state.foreground.then_some("foreground"));
        marks.extend(state.orphaning.then_some("orphaning"));
    }
    Node {
        object: ObjectJson::of(snapshot, id),
        created: object.created.get().and_then(|created| Some(jiff::Timestamp::from_second(created).ok()?.to_string())),
        terminating: object.terminating(),
        finalizers: object.finalizers.iter().map(|finalizer| snapshot.text(*finalizer)).collect(),
        marks,
        ..Node::default()
    }
}

fn virtual_node<'a>(snapshot: &'a Snapshot, reference: &'a Reference, outside: bool) -> Node<'a> {
    let object = ObjectJson {
        api_version: snapshot.text(reference.api_version).to_owned(),
        kind: snapshot.text(reference.kind),
        namespace: None,
        name: snapshot.text(reference.name),
        uid: snapshot.text(reference.uid),
    };
    Node { object, is_virtual: true, outside, ..Node::default() }
}

/// The graph in the DOT language.
pub fn collector_dot(graph: &DebugGraph<'_>) -> String {
    let mut out = "strict digraph full {\n".to_owned();
    if !graph.vertices.is_empty() {
        out += "  // Node definitions.\n";
    }
    for vertex in &graph.vertices {
        out += &format!("  {:?} [\n", vertex.uid);
        for (key, value) in attributes(vertex) {
            out += &format!("    {key}={value:?}\n");
        }
        out += "  ];\n";
    }
    if !graph.edges.is_empty() {
        out += "  // Edge definitions.\n";
    }
    for (dependent, owner) in &graph.edges {
        out += &format!("  {dependent:?} -> {owner:?};\n");
    }
    out + "}\n"
}

fn attributes(vertex: &Vertex<'_>) -> [(&'static str, String); 11] {
    [
        ("label", label(vertex)),
        ("group", vertex.group.to_owned()),
        ("version", vertex.version.to_owned()),
        ("kind", vertex.kind.to_owned()),
        ("namespace", vertex.namespace.to_owned()),
        ("name", vertex.name.to_owned()),
        ("uid", vertex.uid.to_owned()),
        ("missing", vertex.missing.to_string()),
        ("beingDeleted", vertex.being_deleted.to_string()),
        ("deletingDependents", vertex.deleting_dependents.to_string()),
        ("virtual", vertex.is_virtual.to_string()),
    ]
}

fn label(vertex: &Vertex<'_>) -> String {
    let group = if vertex.group.is_empty() { String::new() } else { format!(".{}", vertex.group) };
    let object = format!("{}.{}{group}/{}", vertex.kind, vertex.version, vertex.name);
    let mut label = format!("uid={}\nnamespace={}\n{object}\n", vertex.uid, vertex.namespace);
    let conditions = [
        ("beingDeleted", vertex.being_deleted),
        ("deletingDependents", vertex.deleting_dependents),
        ("virtual", vertex.is_virtual),
        ("missingFromGraph", vertex.missing),
    ];
    let conditions: Vec<&str> = conditions.iter().filter(|(_, holds)| *holds).map(|(name, _)| *name).collect();
    if !conditions.is_empty() {
        label.push_str(&conditions.join(","));
        label.push('\n');
    }
    label
}
