//! Explanations of objects, as text and as a document.

mod picture;
mod sections;
mod text;
mod words;

use std::io::{self, Write};

use serde::Serialize;

use crate::render::{
    output::{Output, TextOptions},
    picture::{Picture, PictureOptions},
};
use gc_core::{
    command_line::ShellCommand,
    doctor::Explanation,
    document::{Head, Named},
    graph::OwnerGraph,
    model::{Gap, ObjectId, Snapshot},
    wording::some_of,
};

/// Explanations as JSON or YAML (see `docs/schema`).
#[derive(Debug, Serialize)]
struct ExplanationDocument<'a> {
    #[serde(flatten)]
    head: Head,
    explanations: Named<'a, &'a [Explanation]>,
}

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
        let head = Head::of("Explanation", &self.gaps(), self.snapshot);
        ExplanationDocument { head, explanations: Named(self.snapshot, self.explanations) }
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(picture::picture(self, options))
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        text::write(self, options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.explanations.iter().try_for_each(|explanation| text::write_verdict(self, explanation, options, out))
    }
}

impl ExplainView<'_> {
    /// What could not be read, and may hide dependents of an object that the collector is about to let go.
    pub fn gaps(&self) -> Vec<Gap> {
        let let_go = self.explanations.iter().filter(|explanation| explanation.next.may_wait);
        let let_go: Vec<ObjectId> = let_go.map(|explanation| explanation.object).collect();
        self.snapshot.gaps_and(self.snapshot.may_hide(&let_go))
    }

    /// `Kind/name`, with the namespace if it is not the one in view.
    fn name(&self, object: ObjectId) -> String {
        self.snapshot.located(object, self.namespace)
    }

    /// The first few names, and how many more there are.
    fn names(&self, objects: &[ObjectId], most: usize) -> String {
        some_of(objects.iter().map(|object| self.name(*object)), most)
    }
}
