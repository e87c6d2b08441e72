//! Pictures as graphs: `-o dot`, for Graphviz, and `-o mermaid`, which GitHub and GitLab draw in a comment.

use crate::render::words::{broken, cut};

use super::{
    Fate, Picture, Row, Section, View,
    fold::{Edge, Graph, fitting},
};

/// A larger picture can't be read: it is folded.
const MOST_IN_DOT: usize = 200;
/// The width of labels, in columns.
const LABEL: usize = 44;
/// Longer texts are cut: Graphviz reads labels of up to 16,384 bytes.
const LONGEST_LABEL: usize = 600;

/// The picture in the DOT language.
pub(in crate::render) fn dot(picture: &Picture, view: &View) -> String {
    let view = &fitting(picture, view, MOST_IN_DOT).next().unwrap_or_default();
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
    lines.flat_map(|line| broken(&cut(line, LONGEST_LABEL), 3 * LABEL)).collect()
}

fn lines_of(row: &Row) -> Vec<String> {
    let mut lines = broken(&format!("{} {}", row.state(), row.title), LABEL);
    lines.extend(broken(&cut(&row.detail, LONGEST_LABEL), LABEL));
    lines
}

/// Lines that start at the left, quoted: Graphviz reads backslashes and HTML entities in labels.
fn label(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("{line:?}").replace('&', "&amp;")).collect();
    let inner = lines.iter().map(|line| line[1..line.len() - 1].to_owned() + "\\l");
    format!("\"{}\"", inner.collect::<String>())
}

fn attributes(fate: Fate) -> String {
    let [colour, behind] = fate.look().colours;
    format!("shape=box style={:?} color={colour:?} fillcolor={behind:?}", fate.border().dot)
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
            attributes.push(format!("label={}", label(&broken(&cut(&link.invalid, LONGEST_LABEL), LABEL))));
        }
        Some(link) if link.closes_cycle => attributes.push("style=bold label=\"cycle\"".to_owned()),
        Some(_) => {}
    }
    if !edge.places {
        attributes.push("constraint=false".to_owned());
    }
    if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(" ")) }
}

/// A larger picture can't be read, and takes seconds to draw. Mermaid refuses more edges (its `maxEdges`), and texts of
/// 50,000 UTF-16 units (its `maxTextSize`).
const MOST_IN_MERMAID: usize = 80;
const LONGEST: usize = 20_000;
const MOST_EDGES: usize = 500;
const HEAD: &str = "---\nconfig:\n  flowchart:\n    wrappingWidth: 420\n    nodeSpacing: 14\n---\nflowchart LR\n";
/// Longer texts on a node are cut.
const WIDTH: usize = 120;

/// The picture as a flowchart. One that is too large is folded further, and says so.
pub(in crate::render) fn mermaid(picture: &Picture, view: &View) -> String {
    let mut smallest = String::new();
    for folded in fitting(picture, view, MOST_IN_MERMAID) {
        let (text, edges) = flowchart(picture, &folded);
        if edges <= MOST_EDGES && text.encode_utf16().count() <= LONGEST {
            return text;
        }
        smallest = text;
    }
    smallest
}

/// The flowchart, and how many edges it has.
fn flowchart(picture: &Picture, view: &View) -> (String, usize) {
    let graph = Graph::of(picture, view);
    let mut out = String::from(HEAD);
    out += &format!("  accTitle: {}\n", plain(&picture.title));
    let mut heading = vec![format!("<b>{}</b>", escaped(&cut(&picture.title, WIDTH)))];
    heading
        .extend(Some(&picture.source).filter(|source| !source.is_empty()).map(|source| escaped(&cut(source, WIDTH))));
    if let Some(verdict) = &view.verdict {
        heading.push(format!("<b>{}</b> {}", escaped(&verdict.word), escaped(&cut(&verdict.sentence, 4 * WIDTH))));
    }
    out += &format!("  about[\"{}\"]:::about\n", heading.join("<br>"));
    for (index, row) in &graph.nodes {
        out += &format!("  o{index}{}\n", node(row));
    }
    for edge in &graph.edges {
        out += &format!("  o{} {} o{}\n", edge.from, arrow(edge), edge.to);
    }
    for fate in view.fates() {
        let ([colour, behind], stroke) = (fate.look().colours, fate.border().mermaid);
        out += &format!("  classDef {} fill:{behind},stroke:{colour},color:#1f2328{stroke}\n", fate.class());
    }
    out += "  classDef about fill:none,stroke:none,text-align:left\n";
    (out, graph.edges.len())
}

/// A node with its label: a state shows by its symbol, its word and its shape.
fn node(row: &Row) -> String {
    let mut label = format!("<b>{}</b> {}", escaped(&row.state()), escaped(&row.title));
    if !row.detail.is_empty() {
        label += &format!("<br>{}", escaped(&cut(&row.detail, WIDTH)));
    }
    let (begin, end) = match row.fate {
        Fate::Stuck | Fate::Error => ("[[", "]]"),
        Fate::Depends | Fate::Unsure | Fate::Warning => ("{{", "}}"),
        Fate::Waits => ("([", "])"),
        Fate::Kept => ("(", ")"),
        Fate::Later | Fate::Deleted | Fate::Missing | Fate::Note | Fate::Untouched => ("[", "]"),
    };
    format!("{begin}\"{label}\"{end}:::{}", row.fate.class())
}

fn arrow(edge: &Edge<'_>) -> String {
    match edge.link {
        None if edge.waits => "-. waits for .->".to_owned(),
        None => "-.-".to_owned(),
        Some(link) if !link.invalid.is_empty() => format!("-.->|\"{}\"|", escaped(&cut(&link.invalid, WIDTH))),
        Some(link) if link.closes_cycle => "==>|\"cycle\"|".to_owned(),
        Some(_) if !edge.places => "-.->".to_owned(),
        Some(_) => "-->".to_owned(),
    }
}

/// A text in a label: whatever Mermaid or Markdown could read is written as the number of its character.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (index, c) in text.chars().enumerate() {
        // Mermaid hides entities behind these letters while it parses.
        let own = "ﬂ°¶ß".contains(c);
        let harmless = c.is_ascii_alphabetic() || (!c.is_ascii() && !own);
        // At the beginning, digits and dashes could begin a list.
        if harmless || index > 0 && (c.is_ascii_digit() || " -/,.".contains(c)) {
            escaped.push(c);
        } else {
            escaped.push_str(&format!("#{};", u32::from(c)));
        }
    }
    escaped
}

/// A text outside of quotes: letters, digits and spaces.
fn plain(text: &str) -> String {
    let text = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' });
    text.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}
