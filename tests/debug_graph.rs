//! Compares the debug graph with a recording: the output of the endpoint of a v1.36.3 collector that was running while
//! the objects were created.

use gc_cluster::dump;
use gc_core::{
    graph::OwnerGraph,
    model::Snapshot,
    tree::{DebugGraph, Tree},
};
use kubectl_gc::render::tree::collector_dot;

fn recorded() -> (Snapshot, OwnerGraph) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/debug-graph/objects.json");
    let snapshot = dump::read(&[path.to_owned()], true).unwrap();
    let graph = OwnerGraph::new(&snapshot);
    (snapshot, graph)
}

/// The recording, with Rust's escapes of odd characters instead of Go's: `\u{a0}` for `\u00a0`.
fn printed() -> String {
    let mut parts = include_str!("debug-graph/graph.dot").split("\\u");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (number, rest) = part.split_at(4);
        format!("{text}\\u{{{}}}{rest}", number.trim_start_matches('0'))
    })
}

fn dot_of(snapshot: &Snapshot, graph: &OwnerGraph, namespace: Option<&str>) -> String {
    let namespace = namespace.map(|namespace| snapshot.strings.find(namespace).unwrap());
    let tree = Tree::of_scope(snapshot, graph, namespace, None);
    collector_dot(&DebugGraph::of(snapshot, graph, &tree))
}

#[test]
fn the_graph_of_everything_is_what_the_endpoint_printed() {
    let (snapshot, graph) = recorded();
    assert_eq!(dot_of(&snapshot, &graph, None), printed());
}

#[test]
fn the_graph_of_a_namespace_is_a_part_of_that() {
    let (snapshot, graph) = recorded();
    let whole = printed();
    // A vertex is a block of lines that ends with `  ];`; an edge is one line.
    let parts = |text: &str| -> Vec<String> {
        let joined = text.replace("[\n    ", "[ ").replace("\"\n    ", "\" ").replace("\n  ];", " ];");
        joined.lines().map(str::to_owned).collect()
    };
    let whole = parts(&whole);
    for namespace in ["shop", "other"] {
        let part = parts(&dot_of(&snapshot, &graph, Some(namespace)));
        assert!(part.len() > 8 && part.len() < whole.len());
        for line in &part {
            assert!(whole.contains(line), "{line}");
        }
        for line in whole.iter().filter(|line| line.contains(&format!("namespace=\"{namespace}\""))) {
            assert!(part.contains(line), "{line}");
        }
    }
}
