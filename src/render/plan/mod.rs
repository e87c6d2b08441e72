//! A plan as people read it, and as documents.

mod because;
mod details;
mod document;
mod forest;
mod radius;
mod text;

pub use document::{PlanDocument, SummaryJson};
pub use radius::{BlastRadius, BlastRadiusDocument, Radius};
pub use text::write;

use crate::{
    foretell::{OutcomeKind, Plan, Summary},
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    server::Propagation,
};

/// A plan with what is needed to tell it.
#[derive(Clone, Copy, Debug)]
pub struct PlanView<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub plan: &'a Plan,
    /// What the other policies would do.
    pub instead: &'a [(Propagation, Summary)],
    /// The namespace that is looked at; objects elsewhere are named with theirs.
    pub namespace: Option<&'a str>,
}

impl PlanView<'_> {
    /// The objects that would be gone, in order, as `kind.group/name`.
    pub fn names(&self) -> String {
        let gone = self.plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
        gone.map(|outcome| format!("{}\n", full_name(self.snapshot, outcome.object))).collect()
    }
}

/// `kind.group/name`, as kubectl's `-o name`.
pub fn full_name(snapshot: &Snapshot, id: ObjectId) -> String {
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    let kind = resource.kind.to_lowercase();
    let dot = if resource.group.is_empty() { "" } else { "." };
    format!("{kind}{dot}{}/{}", resource.group, snapshot.text(object.name))
}
