//! Plans and sweeps, as text, as documents and as pictures.

mod document;
mod effects;
mod forbidden;
mod keep;
mod next;
mod radius;
mod rows;
mod text;
mod then;
mod verdict;

pub(super) use effects::{kept_outside, lost, perhaps_lost};
pub use forbidden::describe_gate;
pub(super) use forbidden::obstacles;
pub(super) use gc_core::plan::because;
pub use radius::BlastRadius;
pub use verdict::VerdictJson;

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::render::words::{count_kinds, kinds_of};
use gc_core::{
    command_line::{Kubectl, ShellCommand},
    doctor::commands::Commands,
    graph::OwnerGraph,
    model::{ObjectId, Snapshot, effects::EffectKind},
    plan::{
        Because, GateViolation, Kept, Outcome, OutcomeKind, OutsideEffect, Plan, Summary, UnlistedContents, Verdict,
    },
    server::Propagation,
    simulate::{Cause, Cut, Start, State},
    wording::some_of,
};

/// At most this many objects of one sort are named.
const NAMED: usize = 3;
/// At most this many kinds are named, or one more if that is all.
const NAMED_KINDS: usize = 3;

/// A plan or a sweep with what is needed to print it.
#[derive(Clone, Debug)]
pub struct PlanView<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub plan: &'a Plan,
    /// The results of the other policies.
    pub instead: &'a [(Propagation, Summary)],
    /// The whole plans of the other policies, if a picture shows them.
    pub others: Vec<PlanView<'a>>,
    /// The namespace in view; objects elsewhere are printed with theirs.
    pub namespace: Option<&'a str>,
    /// How printed commands call kubectl.
    pub kubectl: &'a Kubectl,
    /// What deleted Namespaces contain in addition to the listed objects.
    pub unlisted_contents: &'a [UnlistedContents],
    /// The gates that the plan violates.
    pub gates: &'a [GateViolation],
    /// What is kept, if requested.
    pub kept: Option<&'a Kept>,
    /// The gates that were asked for, as flags.
    pub limits: Vec<String>,
    /// How to do the sweep that was only predicted.
    pub sweep: Option<ShellCommand>,
    /// Whether the plan is shown just before its delete, and needn't say how to run it.
    pub to_be_done: bool,
    cuts: FxHashMap<ObjectId, &'a Cut>,
    by_object: FxHashMap<ObjectId, &'a Outcome>,
    /// What only the second end does to objects.
    later: FxHashMap<ObjectId, &'a Outcome>,
    /// What the second end deletes.
    deleted_later: FxHashSet<ObjectId>,
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
        let mut effects: FxHashMap<ObjectId, Vec<&OutsideEffect>> = FxHashMap::default();
        for effect in plan.all_effects() {
            effects.entry(effect.object).or_default().push(effect);
        }
        let second = plan.then.iter().flat_map(|then| &then.outcomes);
        let deleted_later = second.filter(|outcome| outcome.kind == OutcomeKind::Deleted);
        PlanView {
            snapshot,
            graph,
            plan,
            instead,
            others: Vec::new(),
            namespace,
            kubectl: <&Kubectl>::default(),
            unlisted_contents: &[],
            gates: &[],
            kept: None,
            limits: Vec::new(),
            sweep: None,
            to_be_done: false,
            cuts: plan.request.cuts.iter().map(|cut| (cut.object, cut)).collect(),
            by_object: plan.outcomes.iter().chain(&plan.stays).map(|outcome| (outcome.object, outcome)).collect(),
            later: plan.later().map(|outcome| (outcome.object, outcome)).collect(),
            deleted_later: deleted_later.map(|outcome| outcome.object).collect(),
            effects,
        }
    }

    /// The verdict on the plan.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.snapshot, self.plan, self.unlisted_contents, self.gates)
    }

    /// Marks the plan as shown just before its delete.
    #[must_use]
    pub fn about_to_be_done(self) -> Self {
        PlanView { to_be_done: true, ..self }
    }

    /// The outcome of an object, if it has one; also of an object that a sweep begins to handle and cannot finish.
    fn outcome(&self, object: ObjectId) -> Option<&'a Outcome> {
        self.by_object.get(&object).copied()
    }

    /// What the second end alone does to an object.
    fn later(&self, object: ObjectId) -> Option<&'a Outcome> {
        self.later.get(&object).copied()
    }

    /// Whether the second end deletes an object.
    fn goes_later(&self, object: ObjectId) -> bool {
        self.deleted_later.contains(&object)
    }

    /// What a line about an object shows: its outcome, and if only the second end removes it, that.
    fn shown(&self, object: ObjectId) -> Option<&'a Outcome> {
        self.later(object).or_else(|| self.outcome(object))
    }

    /// All outcomes of the first end, and what stays as it is.
    fn first_end(&self) -> impl Iterator<Item = &'a Outcome> + use<'a> {
        self.plan.outcomes.iter().chain(&self.plan.stays)
    }

    /// All objects that lines are about, in plan order.
    fn all_shown(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.first_end().chain(self.plan.later()).map(|outcome| outcome.object)
    }

    /// The outcomes of objects that get stuck.
    fn stuck(&self) -> impl Iterator<Item = &'a Outcome> + use<'a> {
        self.first_end().filter(|outcome| outcome.state == Some(State::Stuck))
    }

    /// Whether this is a sweep, in which only the collector deletes.
    fn is_sweep(&self) -> bool {
        self.plan.request.start != Start::AtRest
    }

    fn is_target(&self, object: ObjectId) -> bool {
        self.plan.request.targets.contains(&object)
    }

    /// Whether the collector may write to an object.
    fn may_touch(&self, object: ObjectId) -> bool {
        self.plan.request.only.as_ref().is_none_or(|only| only.contains(object))
    }

    /// The effects outside the graph that an object causes.
    fn effects_of(&self, object: ObjectId) -> impl Iterator<Item = &'a OutsideEffect> {
        self.effects.get(&object).into_iter().flatten().copied()
    }

    /// Whether an object's stored data is lost.
    fn loses_data(&self, object: ObjectId) -> bool {
        self.effects_of(object).any(|effect| effect.kind == EffectKind::DataLost)
    }

    /// Whether it is not known whether stored data is lost with an object.
    fn may_lose_data(&self, object: ObjectId) -> bool {
        self.effects_of(object).any(|effect| effect.at_worst == Some(EffectKind::DataLost))
    }

    /// Makes the commands that mend something.
    fn commands(&self) -> Commands<'a> {
        Commands { snapshot: self.snapshot, kubectl: self.kubectl, guarded: false }
    }

    /// Why something happens to an object.
    fn because(&self, object: ObjectId, cause: Option<&Cause>) -> Option<Because> {
        Some(because(self.snapshot, object, cause?, self.plan.request.propagation))
    }

    /// The pods that have finished and that nothing deletes, for which this object waits.
    fn finished_pods(&self, outcome: &Outcome) -> Vec<ObjectId> {
        let lasts = |pod: &ObjectId| {
            let goes = self.snapshot.object(*pod).terminating() || self.outcome(*pod).is_some();
            !goes && self.snapshot.facts.has_finished(*pod)
        };
        outcome.waits_for.iter().copied().filter(lasts).collect()
    }
}

/// How a plan names objects, one or many.
impl PlanView<'_> {
    /// `Kind/name`, with the namespace unless it is the one in view.
    fn name(&self, object: ObjectId) -> String {
        self.snapshot.located(object, self.namespace)
    }

    /// The same on or below the line of the object `above`: without the namespace if that is its own.
    fn name_below(&self, object: ObjectId, above: ObjectId) -> String {
        let expected = match self.snapshot.namespace(above) {
            // Everything below a Namespace is in it.
            "" if self.snapshot.is_namespace(above) => Some(self.snapshot.name(above)),
            "" => self.namespace,
            namespace => Some(namespace),
        };
        self.snapshot.located(object, expected)
    }

    /// The same in a plan for one target: without the namespace if that is the target's own, or the target.
    fn name_in_plan(&self, object: ObjectId) -> String {
        match self.plan.request.targets.as_slice() {
            [target] => self.name_below(object, *target),
            _ => self.name(object),
        }
    }

    /// The first few of these objects.
    fn some(&self, objects: &[ObjectId]) -> String {
        some_of(objects.iter().map(|object| self.name(*object)), NAMED)
    }

    /// `2 Pods, 1 ConfigMap`
    fn by_kind(&self, objects: impl Iterator<Item = ObjectId>) -> String {
        kinds_of(self.snapshot, count_kinds(self.snapshot, objects), usize::MAX)
    }

    /// The same with a few kinds only, the most frequent first: `12 Pods, 3 Services, 2 ConfigMaps and 9 more kinds`.
    fn by_some_kinds(&self, objects: impl Iterator<Item = ObjectId>, most: usize) -> String {
        let mut counts: Vec<_> = count_kinds(self.snapshot, objects).into_iter().collect();
        counts.sort_by_key(|(resource, number)| (Reverse(*number), *resource));
        kinds_of(self.snapshot, counts, most)
    }
}
