//! `-o mermaid`: a picture that GitHub and GitLab draw in a comment.

use crate::wording::count;

use super::{
    Fate, Picture, Row, View,
    fold::{Folds, folded},
    graph::{Edge, Graph},
    legend::{look, occurring},
    lines::cut,
};

/// Mermaid refuses a longer text (its `maxTextSize`, in UTF-16 units), and more edges (its `maxEdges`).
const LONGEST: usize = 50_000;
const MOST_EDGES: usize = 500;
/// More rows never fit.
const MOST_ROWS: usize = 2_000;
/// Without it, labels are broken after 200 pixels.
const HEAD: &str = "---\nconfig:\n  flowchart:\n    wrappingWidth: 600\n---\nflowchart LR\n";
/// Longer texts on a node are cut.
const WIDTH: usize = 120;

/// The picture as a flowchart. One that is too large is folded further, and says so.
pub(super) fn write(picture: &Picture, view: &View) -> String {
    let mut smallest = String::new();
    for folds in Folds::harder() {
        let (folded, left_out) = folded(picture, view, folds);
        if folded.rows.len() > MOST_ROWS {
            continue;
        }
        let (text, edges) = flowchart(picture, &folded, left_out);
        if edges <= MOST_EDGES && text.encode_utf16().count() <= LONGEST {
            return text;
        }
        smallest = text;
    }
    smallest
}

/// The flowchart, and how many edges it has.
fn flowchart(picture: &Picture, view: &View, left_out: usize) -> (String, usize) {
    let graph = Graph::of(picture, view);
    let mut out = String::from(HEAD);
    out += &format!("  accTitle: {}\n", plain(&picture.title));
    let mut heading = vec![format!("<b>{}</b>", escaped(&cut(&picture.title, WIDTH)))];
    heading
        .extend(Some(&picture.source).filter(|source| !source.is_empty()).map(|source| escaped(&cut(source, WIDTH))));
    if let Some(verdict) = &view.verdict {
        heading.push(format!("<b>{}</b> {}", escaped(&verdict.word), escaped(&cut(&verdict.sentence, 4 * WIDTH))));
    }
    for section in &view.sections {
        heading.push(escaped(&cut(&format!("{}: {}", section.label, section.lines.join("; ")), 2 * WIDTH)));
    }
    if left_out > 0 {
        let lines = count(left_out, "line is", "lines are");
        heading.push(format!("{} left out or folded, to fit: see {}", escaped(&lines), escaped("-o html")));
    }
    out += &format!("  about[\"{}\"]:::about\n", heading.join("<br>"));
    for (index, row) in &graph.nodes {
        out += &format!("  n{index}{}\n", node(row.fate, &label(row)));
    }
    for edge in &graph.edges {
        out += &format!("  n{} {} n{}\n", edge.from, arrow(edge), edge.to);
    }
    let fates = occurring(view);
    if !fates.is_empty() {
        out += "  subgraph Legend\n";
        for fate in &fates {
            let look = look(*fate);
            out += &format!("    legend_{}{}\n", look.class, node(*fate, look.meaning));
        }
        out += "  end\n";
    }
    for fate in &fates {
        let look = look(*fate);
        let dashes = if *fate == Fate::Absent { ",stroke-dasharray:4 3" } else { "" };
        out += &format!("  classDef {} fill:{},stroke:{},color:#1f2328{dashes}\n", look.class, look.fill, look.light);
    }
    out += "  classDef about fill:none,stroke:none,text-align:left\n";
    (out, graph.edges.len())
}

fn label(row: &Row) -> String {
    let mut label = escaped(&row.title);
    let rest = [row.word.as_str(), row.detail.as_str()].into_iter().filter(|text| !text.is_empty());
    let rest = rest.collect::<Vec<_>>().join(": ");
    if !rest.is_empty() {
        label += &format!("<br>{}", escaped(&cut(&rest, WIDTH)));
    }
    label
}

/// A node's shape around its label.
fn node(fate: Fate, label: &str) -> String {
    let (begin, end) = match fate {
        Fate::Stays => ("[", "]"),
        Fate::Deleted => (">", "]"),
        Fate::Kept => ("(", ")"),
        Fate::Waits => ("{{", "}}"),
        Fate::Stuck => ("[[", "]]"),
        Fate::Unsure => ("[/", "/]"),
        Fate::Absent => ("([", "])"),
        Fate::Error => ("[/", "\\]"),
        Fate::Warning => ("[\\", "/]"),
        Fate::Note => ("[(", ")]"),
    };
    format!("{begin}\"{label}\"{end}:::{}", look(fate).class)
}

fn arrow(edge: &Edge<'_>) -> String {
    match edge.link {
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
