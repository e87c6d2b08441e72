//! The output of `tree`, in each of its formats.

use std::io::{self, Write};

use serde::Serialize;

use crate::{
    graph::OwnerGraph,
    model::Snapshot,
    tree::{DebugGraph, Tree},
};

use super::{
    dot,
    output::{Format, Output, TextOptions},
    tree,
    tree_document::Document,
};

/// A tree with the data for its names and states.
#[derive(Clone, Copy, Debug)]
pub struct TreeView<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub tree: &'a Tree,
}

impl Output for TreeView<'_> {
    /// `kind: Tree`, described in `docs/schema/tree.json`.
    fn document(&self) -> impl Serialize {
        Document::of(self.snapshot, self.graph, self.tree)
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        tree::write(self.snapshot, self.graph, self.tree, options, out)
    }

    /// The objects' names, or the collector's debug graph.
    fn other(&self, format: Format) -> Option<String> {
        match format {
            Format::Name => Some(tree::names(self.snapshot, self.graph, self.tree)),
            Format::Dot => Some(dot::text(&DebugGraph::of(self.snapshot, self.graph, self.tree))),
            _ => None,
        }
    }
}
