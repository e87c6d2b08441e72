//! Stories of objects: as text, and as a document.

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

/// Stories with what is needed to tell them.
#[derive(Clone, Copy, Debug)]
pub struct ExplainView<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub explanations: &'a [Explanation],
    /// The namespace that is looked at; objects elsewhere are named with theirs.
    pub namespace: Option<&'a str>,
    /// The command that finds what is wrong with the same targets.
    pub doctor: &'a ShellCommand,
}

impl Output for ExplainView<'_> {
    /// One document with a list of stories, one for each target.
    fn document(&self) -> impl Serialize {
        ExplanationDocument::of(self)
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        text::write(self, options, out)
    }
}

impl ExplainView<'_> {
    /// `Kind/name`, with the namespace where that is another one.
    fn name(&self, object: ObjectId) -> String {
        located(self.snapshot, object, self.namespace)
    }

    /// The same of several: the first few of them, and how many more.
    fn names(&self, objects: &[ObjectId], most: usize) -> String {
        let named: Vec<String> = objects.iter().take(most).map(|object| self.name(*object)).collect();
        match objects.len() - named.len() {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    }
}
