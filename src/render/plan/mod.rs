//! Plans and sweeps, as text and as documents.

mod because;
mod details;
mod document;
mod forest;
mod gates;
mod keep;
mod kinds;
mod names;
mod obstacles;
mod picture;
mod radius;
mod sections;
mod set_claims;
mod side_effects;
mod sweep;
mod text;
mod unlisted_contents;
mod verdict;

pub use gates::describe as describe_gate;
pub use keep::unkeepable as describe_unkeepable;
pub use radius::{BlastRadius, BlastRadiusDocument};
pub use verdict::VerdictJson;

pub(super) use because::{Because, because};
pub(super) use document::OnceJson;
pub(super) use names::located;
pub(super) use side_effects::{kept_outside, lost};

use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::{
    command_line::{Kubectl, PLAIN},
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    plan::{GateViolation, Kept, Outcome, OutsideEffect, Plan, Summary, UnlistedContents, Verdict},
    render::{
        output::{Format, Output, TextOptions},
        picture::{Picture, PictureOptions},
        words::full_name,
    },
    server::Propagation,
    simulate::{Cut, Start},
};

/// A plan or a sweep with what is needed to print it.
#[derive(Clone, Debug)]
pub struct PlanView<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub plan: &'a Plan,
    /// The results of the other policies.
    pub instead: &'a [(Propagation, Summary)],
    /// The whole plans of the other policies, if a picture shows them.
    others: Vec<PlanView<'a>>,
    /// The namespace in view; objects elsewhere are printed with theirs.
    pub namespace: Option<&'a str>,
    /// How printed commands call kubectl.
    kubectl: &'a Kubectl,
    /// What deleted Namespaces contain in addition to the listed objects.
    unlisted_contents: &'a [UnlistedContents],
    /// The gates that the plan violates.
    gates: &'a [GateViolation],
    /// Whether the plan is shown just before its delete, and needn't say how to run it.
    to_be_done: bool,
    /// What is kept, if requested.
    kept: Option<&'a Kept>,
    cuts: FxHashMap<ObjectId, &'a Cut>,
    by_object: FxHashMap<ObjectId, &'a Outcome>,
    /// What only the second end does to objects.
    later: FxHashMap<ObjectId, &'a Outcome>,
    effects: FxHashMap<ObjectId, Vec<&'a OutsideEffect>>,
}

impl<'a> PlanView<'a> {
    /// A view of a plan. `instead` has the results of the other policies, `namespace` is the one in view.
    pub fn new(
        snapshot: &'a Snapshot,
        graph: &'a OwnerGraph,
        plan: &'a Plan,
        instead: &'a [(Propagation, Summary)],
        namespace: Option<&'a str>,
    ) -> Self {
        let by_object = plan.outcomes.iter().chain(&plan.stays).map(|outcome| (outcome.object, outcome)).collect();
        let cuts = plan.request.cuts.iter().map(|cut| (cut.object, cut)).collect();
        let later = plan.later().map(|outcome| (outcome.object, outcome)).collect();
        let mut effects: FxHashMap<ObjectId, Vec<&OutsideEffect>> = FxHashMap::default();
        for effect in plan.all_effects() {
            effects.entry(effect.object).or_default().push(effect);
        }
        PlanView {
            snapshot,
            graph,
            plan,
            instead,
            others: Vec::new(),
            namespace,
            kubectl: &PLAIN,
            unlisted_contents: &[],
            gates: &[],
            kept: None,
            to_be_done: false,
            cuts,
            by_object,
            later,
            effects,
        }
    }

    /// Adds what deleted Namespaces contain in addition to the listed objects.
    pub fn with_unlisted_contents(self, unlisted_contents: &'a [UnlistedContents]) -> Self {
        PlanView { unlisted_contents, ..self }
    }

    /// Adds the plans of the other policies.
    pub fn with_others(self, others: Vec<PlanView<'a>>) -> Self {
        PlanView { others, ..self }
    }

    /// The verdict on the plan.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.snapshot, self.plan, self.unlisted_contents, self.gates)
    }

    /// Adds the kubectl that printed commands call.
    pub fn with_kubectl(self, kubectl: &'a Kubectl) -> Self {
        PlanView { kubectl, ..self }
    }

    /// Adds the gates that the plan violates.
    pub fn with_gates(self, gates: &'a [GateViolation]) -> Self {
        PlanView { gates, ..self }
    }

    /// Marks the plan as shown just before its delete.
    #[must_use]
    pub fn about_to_be_done(self) -> Self {
        PlanView { to_be_done: true, ..self }
    }

    /// Adds what is kept.
    pub fn with_kept(self, kept: Option<&'a Kept>) -> Self {
        PlanView { kept, ..self }
    }

    /// The outcome of an object, if it has one; also of an object that a sweep begins to handle and cannot finish.
    fn outcome(&self, object: ObjectId) -> Option<&'a Outcome> {
        self.by_object.get(&object).copied()
    }

    /// What the second end alone does to an object.
    fn later(&self, object: ObjectId) -> Option<&'a Outcome> {
        self.later.get(&object).copied()
    }

    /// What a line about an object shows: its outcome, and if only the second end removes it, that.
    fn shown(&self, object: ObjectId) -> Option<&'a Outcome> {
        self.later(object).or_else(|| self.outcome(object))
    }

    /// All objects that lines are about, in plan order.
    fn all_shown(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.plan.outcomes.iter().chain(&self.plan.stays).chain(self.plan.later()).map(|outcome| outcome.object)
    }

    /// Whether this is a sweep, in which only the collector deletes.
    fn is_sweep(&self) -> bool {
        self.plan.request.start != Start::AtRest
    }

    /// Whether the collector may write to an object.
    fn may_touch(&self, object: ObjectId) -> bool {
        self.plan.request.only.as_ref().is_none_or(|only| only.contains(object))
    }

    /// The effects outside the graph that an object causes.
    fn effects_of(&self, object: ObjectId) -> impl Iterator<Item = &'a OutsideEffect> {
        self.effects.get(&object).into_iter().flatten().copied()
    }
}

impl Output for PlanView<'_> {
    fn document(&self) -> impl Serialize {
        document::PlanDocument::of(self)
    }

    fn other(&self, format: Format) -> Option<String> {
        (format == Format::Name).then(|| names_of_deleted(self))
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(picture::of_plan(self, options))
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        text::write(self, options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        verdict::write_line(self, options, out)
    }
}

/// The objects that would be deleted, in order: in the first end, and then in the second. As gates do, it counts those
/// that stay Terminating.
fn names_of_deleted(view: &PlanView<'_>) -> String {
    let gone = view.plan.both_ends().filter(|outcome| outcome.kind.removes());
    let mut seen = FxHashSet::default();
    let gone = gone.map(|outcome| outcome.object).filter(|object| seen.insert(*object));
    gone.map(|object| format!("{}\n", full_name(view.snapshot, object))).collect()
}
