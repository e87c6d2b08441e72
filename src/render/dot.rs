//! `-o dot`: what the collector's debug endpoint prints, byte for byte where that is not left to chance.

use std::io::{self, Write};

use crate::tree::debug_graph::{DebugGraph, Vertex};

use super::go_quote::quoted;

/// Writes the graph in the DOT language.
pub fn write(graph: &DebugGraph<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"strict digraph full {\n")?;
    if !graph.vertices.is_empty() {
        out.write_all(b"  // Node definitions.\n")?;
    }
    for vertex in &graph.vertices {
        writeln!(out, "  {} [", quoted(vertex.uid))?;
        for (key, value) in attributes(vertex) {
            writeln!(out, "    {key}={}", quoted(&value))?;
        }
        out.write_all(b"  ];\n")?;
    }
    if !graph.edges.is_empty() {
        out.write_all(b"  // Edge definitions.\n")?;
    }
    for (dependent, owner) in &graph.edges {
        writeln!(out, "  {} -> {};", quoted(dependent), quoted(owner))?;
    }
    out.write_all(b"}\n")
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
