//! `-o collector-dot`: the output of the collector's debug endpoint, except where that is random. Odd characters in
//! names have Rust's escapes instead of Go's.

use gc_core::tree::debug_graph::{DebugGraph, Vertex};

/// The graph in the DOT language.
pub fn text(graph: &DebugGraph<'_>) -> String {
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
