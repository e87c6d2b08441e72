//! Explanations of objects, as text and as a document.

mod picture;
mod sections;
mod text;
mod words;

use gc_core::{
    command_line::ShellCommand,
    doctor::Explanation,
    graph::OwnerGraph,
    model::{Gap, ObjectId, Snapshot},
    wording::some_of,
};

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
