//! Gates: what a delete must not do. A gate that can't tell is shut: what may go in some order of events goes as far as
//! it is concerned, and so does what nobody could read or count.

use crate::model::{ObjectId, ResourceId, Resources, Snapshot};

use super::{
    outcome::{OutcomeKind, Plan},
    unlisted_contents::UnlistedContents,
};

/// What a delete must not do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// No object of these resources may go.
    pub deny: Vec<ResourceId>,
    /// No more objects than this may go.
    pub max: Option<usize>,
}

/// One gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// No object of this resource may go.
    Deny(ResourceId),
    /// No more objects than this may go.
    Max(usize),
}

/// A gate that a plan runs into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateViolation {
    pub gate: Gate,
    /// What goes, or may go, in the order of the plan; for [`Gate::Deny`] only what is of its resource.
    pub objects: Vec<ObjectId>,
    /// How many more go with a Namespace, of which only the number is known.
    pub unnamed: u64,
    /// What else goes with a Namespace in numbers that nobody knows.
    pub uncounted: Vec<ResourceId>,
}

impl GateViolation {
    /// How many objects go at least.
    pub fn removed(&self) -> u64 {
        self.objects.len() as u64 + self.unnamed
    }
}

/// The gates that a plan runs into, in the order in which they were set up, `max` last. `unlisted_contents` is what the
/// Namespaces that it deletes reach besides what has an outcome; where something of that was not counted, it could be
/// anything.
pub fn gate_violations(
    snapshot: &Snapshot,
    plan: &Plan,
    unlisted_contents: &[UnlistedContents],
    gates: &Gates,
) -> Vec<GateViolation> {
    let going: Vec<ObjectId> =
        plan.outcomes.iter().filter(|outcome| outcome.may_be_removed()).map(|outcome| outcome.object).collect();
    let unnamed = unnamed(snapshot, plan, unlisted_contents);
    let deny = gates.deny.iter().map(|denied| {
        let is_denied = |resource: ResourceId| same_storage(&snapshot.resources, *denied, resource);
        of(
            Gate::Deny(*denied),
            going.iter().copied().filter(|id| is_denied(snapshot.object(*id).resource)),
            &unnamed,
            is_denied,
        )
    });
    let max = gates.max.map(|max| of(Gate::Max(max), going.iter().copied(), &unnamed, |_| true));
    deny.chain(max).filter(is_shut).collect()
}

fn of(
    gate: Gate,
    objects: impl Iterator<Item = ObjectId>,
    unnamed: &[(ResourceId, Option<u64>)],
    concerned: impl Fn(ResourceId) -> bool,
) -> GateViolation {
    let unnamed: Vec<_> = unnamed.iter().filter(|(resource, _)| concerned(*resource)).collect();
    let mut uncounted: Vec<ResourceId> =
        unnamed.iter().filter(|(_, number)| number.is_none()).map(|(resource, _)| *resource).collect();
    uncounted.sort_unstable();
    uncounted.dedup();
    GateViolation {
        gate,
        objects: objects.collect(),
        unnamed: unnamed.iter().filter_map(|(_, number)| *number).sum(),
        uncounted,
    }
}

fn is_shut(gate_violations: &GateViolation) -> bool {
    let allowed = match gate_violations.gate {
        Gate::Deny(_) => 0,
        Gate::Max(max) => max as u64,
    };
    gate_violations.removed() > allowed || !gate_violations.uncounted.is_empty()
}

/// What goes with Namespaces and has no outcome that says so: what is never listed, and what is spared only until the
/// last pod is gone.
fn unnamed(snapshot: &Snapshot, plan: &Plan, unlisted_contents: &[UnlistedContents]) -> Vec<(ResourceId, Option<u64>)> {
    let mut unnamed = Vec::new();
    for of_namespace in unlisted_contents {
        let namespace = snapshot.object(of_namespace.namespace).name;
        unnamed.extend(of_namespace.unlisted.iter().map(|unlisted| (unlisted.resource, unlisted.count)));
        for (resource, spared) in &of_namespace.spared {
            // Of what is spared, something may go for another reason.
            let describe = plan.outcomes.iter().filter(|outcome| {
                let object = snapshot.object(outcome.object);
                let is_spared = outcome.kind != OutcomeKind::Deleted && !object.terminating();
                object.resource == *resource && object.namespace == namespace && is_spared && outcome.may_be_removed()
            });
            unnamed.push((*resource, Some(spared.saturating_sub(describe.count()) as u64)));
        }
    }
    unnamed
}

/// Whether two resources are one in storage: the versions of one, and the events of both groups.
fn same_storage(resources: &Resources, one: ResourceId, other: ResourceId) -> bool {
    let is_events = |id: ResourceId| {
        let resource = resources.get(id);
        resource.plural == "events" && matches!(resource.group.as_str(), "" | "events.k8s.io")
    };
    resources.picked(one) == resources.picked(other) || is_events(one) && is_events(other)
}
