//! `-o dot`: a picture for Graphviz.

use crate::render::{
    states::Border,
    words::{broken, cut},
};

use super::{
    Fate, Picture, Row, Section, View,
    fold::{Edge, Graph, fitting},
};

/// A larger picture can't be read: it is folded.
const MOST_ROWS: usize = 200;
/// The width of labels, in columns.
const WIDTH: usize = 44;
/// Longer texts are cut: Graphviz reads labels of up to 16,384 bytes.
const LONGEST: usize = 600;

/// The picture in the DOT language.
pub(in crate::render) fn write(picture: &Picture, view: &View) -> String {
    let view = &fitting(picture, view, MOST_ROWS).next().unwrap_or_default();
    let graph = Graph::of(picture, view);
    let mut out = String::from("digraph {\n");
    out += &format!("  label={};\n", label(&heading(picture, view)));
    out += "  labelloc=t; labeljust=l; rankdir=LR; newrank=true; fontname=\"Helvetica\";\n";
    out += "  node [fontname=\"Helvetica\" fontsize=11 style=filled fontcolor=\"#1f2328\"];\n";
    out += "  edge [fontname=\"Helvetica\" fontsize=9 color=\"#6e7781\" fontcolor=\"#6e7781\"];\n";
    for (index, row) in &graph.nodes {
        out += &format!("  n{index} [label={} {}];\n", label(&lines_of(row)), attributes(row.fate));
    }
    for edge in &graph.edges {
        out += &format!("  n{} -> n{}{};\n", edge.from, edge.to, attributes_of_edge(edge));
    }
    out += "  subgraph cluster_legend {\n    label=\"Legend\"; color=\"#6e7781\";\n";
    for fate in view.fates() {
        out += &format!("    legend_{} [label={} {}];\n", fate.class(), label(&[fate.legend()]), attributes(fate));
    }
    out += "  }\n";
    out + "}\n"
}

/// What stands above the picture.
fn heading(picture: &Picture, view: &View) -> Vec<String> {
    let mut lines = vec![picture.title.clone(), picture.source.clone()];
    lines.extend(view.verdict.iter().map(|verdict| format!("{}: {}", verdict.word, verdict.sentence)));
    let said = |section: &Section| format!("{}: {}", section.label, section.lines.join("; "));
    lines.extend(view.sections.iter().map(said));
    let lines = lines.iter().filter(|line| !line.is_empty());
    lines.flat_map(|line| broken(&cut(line, LONGEST), 3 * WIDTH)).collect()
}

fn lines_of(row: &Row) -> Vec<String> {
    let mut lines = broken(&format!("{} {}", row.state(), row.title), WIDTH);
    lines.extend(broken(&cut(&row.detail, LONGEST), WIDTH));
    lines
}

/// Lines that start at the left, quoted: Graphviz reads backslashes and HTML entities in labels.
fn label(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("{line:?}").replace('&', "&amp;")).collect();
    let inner = lines.iter().map(|line| line[1..line.len() - 1].to_owned() + "\\l");
    format!("\"{}\"", inner.collect::<String>())
}

fn attributes(fate: Fate) -> String {
    let style = match fate.border() {
        Border::Plain if fate == Fate::Kept => "filled,rounded",
        Border::Plain => "filled",
        Border::Thick => "filled,bold",
        Border::Dashed => "filled,dashed",
        Border::Dotted => "filled,dotted",
    };
    let [colour, behind] = fate.look().colours;
    format!("shape=box style={style:?} color={colour:?} fillcolor={behind:?}")
}

fn attributes_of_edge(edge: &Edge<'_>) -> String {
    let mut attributes: Vec<String> = Vec::new();
    let red = Fate::Error.look().colours[0];
    match edge.link {
        None if edge.waits => {
            attributes.push(format!("style=dashed color={red:?} fontcolor={red:?} label=\"waits for\""));
        }
        None => attributes.push("style=dotted".to_owned()),
        Some(link) if !link.invalid.is_empty() => {
            attributes.push(format!("style=dashed color={red:?} fontcolor={red:?}"));
            attributes.push(format!("label={}", label(&broken(&cut(&link.invalid, LONGEST), WIDTH))));
        }
        Some(link) if link.closes_cycle => attributes.push("style=bold label=\"cycle\"".to_owned()),
        Some(_) => {}
    }
    if !edge.places {
        attributes.push("constraint=false".to_owned());
    }
    if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(" ")) }
}
