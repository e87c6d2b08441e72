//! A plan as people read it, and as documents.

mod because;
mod beyond;
mod beyond_document;
mod details;
mod document;
mod forest;
mod radius;
mod sections;
mod text;

pub use document::{PlanDocument, SummaryJson};
pub use radius::{BlastRadius, BlastRadiusDocument, EffectCounts, Radius};

use std::io::{self, Write};

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::{
    foretell::{Outcome, OutcomeKind, OutsideEffect, Plan, Summary},
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    render::{tree::Options, words::full_name},
    server::Propagation,
};

/// A plan with what is needed to tell it.
#[derive(Clone, Debug)]
pub struct PlanView<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub plan: &'a Plan,
    /// What the other policies would do.
    pub instead: &'a [(Propagation, Summary)],
    /// The namespace that is looked at; objects elsewhere are named with theirs.
    pub namespace: Option<&'a str>,
    by_object: FxHashMap<ObjectId, usize>,
    effects: FxHashMap<ObjectId, Vec<usize>>,
}

impl<'a> PlanView<'a> {
    /// A plan as it is to be told. `instead` says what the other policies would do, `namespace` which one is looked at.
    pub fn new(
        snapshot: &'a Snapshot,
        graph: &'a OwnerGraph,
        plan: &'a Plan,
        instead: &'a [(Propagation, Summary)],
        namespace: Option<&'a str>,
    ) -> Self {
        let by_object = plan.outcomes.iter().enumerate().map(|(index, outcome)| (outcome.object, index)).collect();
        let mut effects: FxHashMap<ObjectId, Vec<usize>> = FxHashMap::default();
        for (index, effect) in plan.effects.iter().enumerate() {
            effects.entry(effect.object).or_default().push(index);
        }
        PlanView { snapshot, graph, plan, instead, namespace, by_object, effects }
    }

    /// What becomes of an object, if anything does.
    fn outcome(&self, object: ObjectId) -> Option<&'a Outcome> {
        self.plan.outcomes.get(*self.by_object.get(&object)?)
    }

    /// What happens outside because of an object.
    fn effects_of(&self, object: ObjectId) -> impl Iterator<Item = &'a OutsideEffect> {
        let plan = self.plan;
        self.effects.get(&object).into_iter().flatten().filter_map(move |index| plan.effects.get(*index))
    }
}

/// What `plan` tells, in every form.
pub trait Told {
    /// For JSON and YAML.
    fn document(&self) -> impl Serialize;
    /// `kind.group/name`, one a line.
    fn names(&self) -> String;
    /// For people, below the first line.
    fn write(&self, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()>;
}

impl Told for PlanView<'_> {
    fn document(&self) -> impl Serialize {
        PlanDocument::of(self)
    }

    /// The objects that would be gone, in order.
    fn names(&self) -> String {
        let gone = self.plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
        gone.map(|outcome| format!("{}\n", full_name(self.snapshot, outcome.object))).collect()
    }

    fn write(&self, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
        text::write(self, options, out)
    }
}
