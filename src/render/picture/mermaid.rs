//! `-o mermaid`: a picture that GitHub and GitLab draw in a comment.

use crate::render::{states::Border, words::cut};

use super::{
    Fate, Picture, Row, View,
    fold::{Edge, Graph, fitting},
};

/// A larger picture can't be read, and takes seconds to draw. Mermaid refuses more edges (its `maxEdges`), and texts of
/// 50,000 UTF-16 units (its `maxTextSize`).
const MOST_ROWS: usize = 80;
const LONGEST: usize = 20_000;
const MOST_EDGES: usize = 500;
const HEAD: &str = "---\nconfig:\n  flowchart:\n    wrappingWidth: 420\n    nodeSpacing: 14\n---\nflowchart LR\n";
/// Longer texts on a node are cut.
const WIDTH: usize = 120;

/// The picture as a flowchart. One that is too large is folded further, and says so.
pub(in crate::render) fn write(picture: &Picture, view: &View) -> String {
    let mut smallest = String::new();
    for folded in fitting(picture, view, MOST_ROWS) {
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
        let ([colour, behind], stroke) = (fate.look().colours, stroke(fate.border()));
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

fn stroke(border: Border) -> &'static str {
    match border {
        Border::Plain => "",
        Border::Thick => ",stroke-width:3px",
        Border::Dashed => ",stroke-dasharray:6 3",
        Border::Dotted => ",stroke-dasharray:2 2",
    }
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
