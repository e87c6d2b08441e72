//! The tree in every form that `tree -o` knows.

use std::io::{self, Write};

use crate::{
    graph::OwnerGraph,
    model::Snapshot,
    tree::{DebugGraph, Tree, document::Document},
};

use super::{dot, tree};

/// What `tree -o` takes; text without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    /// Text with more columns.
    Wide,
    /// `kind: Tree`, see `docs/schema/tree.json`.
    Json,
    /// The same in YAML.
    Yaml,
    /// `kind.group/name`, one a line.
    Name,
    /// The collector's debug graph.
    Dot,
}

/// Writes a tree in one form. What comes before it (the first line of text) is the caller's.
pub fn write(
    form: Form,
    snapshot: &Snapshot,
    graph: &OwnerGraph,
    shown: &Tree,
    options: &tree::Options<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    match form {
        Form::Text | Form::Wide => {
            let options = tree::Options { wide: form == Form::Wide, ..*options };
            tree::write(snapshot, graph, shown, &options, out)
        }
        Form::Json => {
            serde_json::to_writer_pretty(&mut *out, &Document::of(snapshot, graph, shown))?;
            writeln!(out)
        }
        Form::Yaml => {
            // Not straight to `out`: a closed pipe has to be told from other errors.
            let text = serde_yaml::to_string(&Document::of(snapshot, graph, shown)).map_err(io::Error::other)?;
            out.write_all(text.as_bytes())
        }
        Form::Name => tree::write_names(snapshot, graph, shown, out),
        Form::Dot => dot::write(&DebugGraph::of(snapshot, graph, shown), out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{render::style::Style, tree::fixture::shop};

    #[test]
    fn json_and_yaml_say_the_same() {
        let (snapshot, graph) = shop();
        let shown = Tree::of_scope(&snapshot, &graph, None, None);
        let style = Style::default();
        let options = tree::Options { width: None, fold: true, wide: false, now: None, style: &style };
        let text = |form| {
            let mut out = Vec::new();
            write(form, &snapshot, &graph, &shown, &options, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let json: serde_json::Value = serde_json::from_str(&text(Form::Json)).unwrap();
        let yaml: serde_json::Value = serde_yaml::from_str(&text(Form::Yaml)).unwrap();
        assert_eq!(json, yaml);
        assert!(text(Form::Json).ends_with("}\n"));
        assert!(text(Form::Wide).starts_with("OBJECT "));
        assert!(text(Form::Text).starts_with("Node/n1\n"));
        assert!(text(Form::Name).starts_with("node/n1\n"));
        assert!(text(Form::Dot).starts_with("strict digraph full {\n"));
    }
}
