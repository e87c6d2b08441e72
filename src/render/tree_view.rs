//! The output of `tree`, in each of its formats.

use std::io::{self, Write};

use serde::Serialize;

use crate::{
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    tree::{DebugGraph, Entry, Statuses, Tree},
};

use super::{
    dot,
    output::{Format, Output, TextOptions},
    picture::{Picture, PictureOptions},
    tree,
    tree_document::Document,
    tree_labels::LabelColumns,
    tree_picture,
};

/// A tree with the data for its names and states.
#[derive(Clone, Copy, Debug)]
pub struct TreeView<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub tree: &'a Tree,
    /// What the server prints of the objects; `None` if the source has nothing of it.
    pub statuses: Option<&'a Statuses>,
    /// The columns of labels; `None`: there are none.
    pub labels: Option<&'a LabelColumns>,
}

impl<'a> TreeView<'a> {
    /// Without what the server prints.
    pub fn new(snapshot: &'a Snapshot, graph: &'a OwnerGraph, tree: &'a Tree) -> Self {
        TreeView { snapshot, graph, tree, statuses: None, labels: None }
    }

    /// The objects whose READY and STATUS this format shows.
    pub fn needs_statuses(&self, format: Format, fold: bool) -> Vec<ObjectId> {
        let is_folded = fold && (format.is_text() || format.folds());
        let shown = |entry: &&Entry| !(is_folded && self.tree.is_lone(self.snapshot, self.graph, entry));
        match format {
            Format::Name | Format::CollectorDot => Vec::new(),
            _ => self.tree.nodes().filter(shown).filter_map(|entry| self.graph.object(entry.node)).collect(),
        }
    }
}

impl Output for TreeView<'_> {
    /// `kind: Tree`, described in `docs/schema/tree.json`.
    fn document(&self) -> impl Serialize {
        Document::of(self)
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        tree::write(self, options, out)
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(tree_picture::picture(self, options))
    }

    /// The objects' names, or the collector's debug graph.
    fn other(&self, format: Format) -> Option<String> {
        match format {
            Format::Name => Some(tree::names(self.snapshot, self.graph, self.tree)),
            Format::CollectorDot => Some(dot::text(&DebugGraph::of(self.snapshot, self.graph, self.tree))),
            _ => None,
        }
    }
}
