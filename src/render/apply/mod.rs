//! What the collector would do once a file is applied, as text and as a document.

mod document;
mod text;
mod words;

pub use words::{mended, refused};

use std::io::{self, Write};

use serde::Serialize;

use crate::render::{
    escape::visible,
    output::{Format, Output, TextOptions},
};
use gc_core::{
    apply::{ApplyPlan, Fate, ManifestObject, Mending},
    command_line::ShellCommand,
    document::Named,
    graph::OwnerGraph,
};

use document::ApplyDocument;

/// A prediction with what is needed to print it.
#[derive(Clone, Copy, Debug)]
pub struct ApplyView<'a> {
    pub apply: &'a ApplyPlan,
    /// The objects of the file, in its order.
    pub objects: &'a [&'a ManifestObject],
    /// What would mend each of them.
    pub mendings: &'a [Mending],
    /// Of the scene.
    pub graph: &'a OwnerGraph,
    /// Where objects without a namespace go.
    pub namespace: &'a str,
    /// The command that prints the mended file.
    pub fix: &'a ShellCommand,
}

impl Output for ApplyView<'_> {
    fn document(&self) -> impl Serialize {
        Named(&self.apply.scene.snapshot, ApplyDocument::of(self))
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        text::write(self, options, out)
    }

    /// TYPE/NAME of the objects that are lost.
    fn other(&self, format: Format) -> Option<String> {
        let lost = || self.apply.objects.iter().zip(self.objects).filter(|(object, _)| object.fate.is_loss());
        let name = |found: &ManifestObject| {
            let group = found.group();
            let dot = if group.is_empty() { "" } else { "." };
            let short = found.short_name();
            let (kind, name) = short.split_once('/').unwrap_or((&short, ""));
            format!("{}{dot}{group}/{}\n", kind.to_lowercase(), visible(name))
        };
        (format == Format::Name).then(|| lost().map(|(_, found)| name(found)).collect())
    }
}

impl ApplyView<'_> {
    /// `Kind/name` of an object of the file, with its namespace unless that is the expected one.
    fn name(&self, index: usize) -> String {
        let short = self.objects[index].short_name();
        let namespace = &self.apply.objects[index].placed.namespace;
        if namespace.is_empty() || namespace == self.namespace { short } else { format!("{short} -n {namespace}") }
    }

    /// Whether the mended file differs.
    fn mends_anything(&self) -> bool {
        self.mendings.iter().any(|mending| !mending.is_nothing())
    }

    /// The verdict in a sentence.
    pub fn verdict(&self) -> String {
        words::verdict(self)
    }

    fn fate(&self, index: usize) -> Fate {
        self.apply.objects[index].fate
    }
}
