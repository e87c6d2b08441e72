//! What the collector would do once a file is applied, as text and as a document.

mod document;
mod text;
mod words;

pub use words::{mended, refused};

use gc_core::{
    apply::{ApplyPlan, Fate, ManifestObject, Mending},
    command_line::ShellCommand,
    graph::OwnerGraph,
};

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
