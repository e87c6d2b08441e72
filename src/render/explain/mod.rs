//! Explanations of objects, as text and as a document.

mod document;
mod owners;
mod sections;
mod text;
mod words;

use std::io::{self, Write};

use serde::Serialize;

use crate::{
    command_line::ShellCommand,
    doctor::Explanation,
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    render::{
        output::{Output, TextOptions},
        plan::located,
    },
};

use document::ExplanationDocument;

/// Explanations with what is needed to print them.
#[derive(Clone, Copy, Debug)]
pub struct ExplainView<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub explanations: &'a [Explanation],
    /// The namespace in view; objects elsewhere are printed with theirs.
    pub namespace: Option<&'a str>,
    /// The command that diagnoses the same targets.
    pub doctor: &'a ShellCommand,
}

impl Output for ExplainView<'_> {
    /// One document with a list of explanations, one for each target.
    fn document(&self) -> impl Serialize {
        ExplanationDocument::of(self)
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        text::write(self, options, out)
    }
}

impl ExplainView<'_> {
    /// `Kind/name`, with the namespace if it is not the one in view.
    fn name(&self, object: ObjectId) -> String {
        located(self.snapshot, object, self.namespace)
    }

    /// The first few names, and how many more there are.
    fn names(&self, objects: &[ObjectId], most: usize) -> String {
        let named: Vec<String> = objects.iter().take(most).map(|object| self.name(*object)).collect();
        match objects.len() - named.len() {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    }
}
