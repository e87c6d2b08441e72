//! Properties of the tree of any graph.

use std::{borrow::Cow, collections::BTreeSet};

use proptest::prelude::*;

use super::tree::{Document, TreeView};
use gc_core::{
    graph::OwnerGraph,
    model::{ObjectId, RawReference, Snapshot},
    tree::{
        DebugGraph, Entry, Tree,
        fixture::{World, owner},
        fold,
    },
};

#[derive(Clone, Debug)]
struct ArbitraryObject {
    namespace: usize,
    kind: usize,
    /// The index of the owner, and how the reference is wrong.
    owners: Vec<(usize, u8)>,
}

const NAMESPACES: [&str; 2] = ["shop", "other"];
const KINDS: [&str; 4] = ["Shop", "Pod", "Node", "Reading"];

fn graphs() -> impl Strategy<Value = Vec<ArbitraryObject>> {
    let object = (0..2usize, 0..4usize, prop::collection::vec((0..14usize, 0..12u8), 0..3))
        .prop_map(|(namespace, kind, owners)| ArbitraryObject { namespace, kind, owners });
    prop::collection::vec(object, 0..12)
}

/// Objects are named by their index; owners beyond the last don't exist.
fn build(objects: &[ArbitraryObject]) -> (Snapshot, OwnerGraph) {
    let mut world = World::empty();
    let kind_of = |index: usize| objects.get(index).map_or("Shop", |object| KINDS[object.kind]);
    for (index, object) in objects.iter().enumerate() {
        let owners = object.owners.iter().map(|(target, bend)| {
            let mut reference = owner(&format!("{}/{target}", kind_of(*target)));
            match bend {
                0 => reference.name = Cow::Borrowed("bent"),
                1 => reference.kind = Cow::Borrowed("Widget"),
                2 => reference.uid = Cow::Borrowed("unknown"),
                _ => {}
            }
            reference
        });
        let namespace = if KINDS[object.kind] == "Node" { "" } else { NAMESPACES[object.namespace] };
        let owners: Vec<RawReference<'static>> = owners.collect();
        world.add_with(namespace, &format!("{}/{index}", KINDS[object.kind]), owners, |_| {});
    }
    world.build()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_object_in_scope_and_every_reference_is_shown_once(objects in graphs(), all in any::<bool>()) {
        let (snapshot, graph) = build(&objects);
        let namespace = if all { None } else { snapshot.strings.find("shop") };
        prop_assume!(all || namespace.is_some());
        let tree = Tree::of_scope(&snapshot, &graph, namespace, None);
        let shown: Vec<ObjectId> = tree.objects(&graph).collect();
        let distinct: BTreeSet<ObjectId> = shown.iter().copied().collect();
        prop_assert_eq!(shown.len(), distinct.len());
        for (id, object) in snapshot.objects() {
            prop_assert!(namespace.is_some_and(|namespace| object.namespace != namespace) || distinct.contains(&id));
        }
        let document = Document::of(&TreeView::new(&snapshot, &graph, &tree));
        let references: usize = shown.iter().map(|id| snapshot.object(*id).owners.len()).sum();
        let edges = &document.edges.1;
        prop_assert_eq!(edges.len(), references);
        let uids: BTreeSet<&str> = document.nodes.iter().map(|node| node.object.uid).collect();
        prop_assert_eq!(uids.len(), document.nodes.len());
        let is_node = |uid| uids.contains(snapshot.text(uid));
        prop_assert!(edges.iter().all(|edge| is_node(edge.dependent) && is_node(edge.owner)));
    }

    #[test]
    fn every_line_is_connected_to_its_parent(objects in graphs(), depth in prop::option::of(0..4u32)) {
        let (snapshot, graph) = build(&objects);
        let tree = Tree::of_scope(&snapshot, &graph, None, depth);
        let mut path: Vec<&Entry> = Vec::new();
        let mut edges = BTreeSet::new();
        for entry in &tree.entries {
            prop_assert!(entry.depth as usize <= path.len());
            prop_assert!(depth.is_none_or(|depth| entry.depth <= depth));
            path.truncate(entry.depth as usize);
            if let Some(reference) = entry.reference(&snapshot) {
                prop_assert_eq!(graph.by_uid(reference.uid), path.last().map(|parent| parent.node));
                prop_assert!(edges.insert(entry.via));
            }
            path.push(entry);
        }
    }

    #[test]
    fn folding_loses_nothing(objects in graphs()) {
        let (snapshot, graph) = build(&objects);
        let tree = Tree::of_scope(&snapshot, &graph, None, None);
        let shown: usize = fold::folded(&snapshot, &graph, &tree, None, |_| Vec::new())
            .into_iter()
            .map(|row| match row {
                fold::Row::Entry(index) | fold::Row::Lone(index) => usize::from(tree.entries[index].showing.here()),
                fold::Row::More { like, count, below } => below + if tree.entries[like].showing.here() { count } else {
                    0 },
            })
            .sum();
        prop_assert_eq!(shown, tree.nodes().count());
    }

    #[test]
    fn the_debug_graph_has_a_vertex_at_both_ends_of_every_edge(objects in graphs()) {
        let (snapshot, graph) = build(&objects);
        let tree = Tree::of_scope(&snapshot, &graph, None, None);
        let debug = DebugGraph::of(&snapshot, &graph, &tree);
        let uids: BTreeSet<&str> = debug.vertices.iter().map(|vertex| vertex.uid).collect();
        prop_assert!(debug.edges.iter().all(|(dependent, owner)| uids.contains(dependent) && uids.contains(owner)));
    }
}
