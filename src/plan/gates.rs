//! Gates: limits that a delete must not exceed. Gates err on the side of safety: they count whatever is deleted in any
//! event order, and whatever could not be read or counted.

use crate::model::{ObjectId, ResourceId, Resources, Snapshot};

use super::{
    outcome::{OutcomeKind, Plan},
    unlisted_contents::UnlistedContents,
};

/// Limits that the user sets on a delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// No object of these resources may be deleted.
    pub deny: Vec<ResourceId>,
    /// At most this many objects may be deleted.
    pub max: Option<usize>,
}

/// One gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// No object of this resource may be deleted.
    Deny(ResourceId),
    /// At most this many objects may be deleted.
    Max(usize),
}

/// A gate that a plan violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateViolation {
    pub gate: Gate,
    /// Objects that are or may be deleted, in plan order; for [`Gate::Deny`] only those of its resource.
    pub objects: Vec<ObjectId>,
    /// How many more objects are deleted with a Namespace, of which only the number is known.
    pub unnamed: u64,
    /// Resources of which an unknown number is deleted with a Namespace.
    pub uncounted: Vec<ResourceId>,
}

impl GateViolation {
    /// How many objects are deleted at least.
    pub fn removed(&self) -> u64 {
        self.objects.len() as u64 + self.unnamed
    }
}

/// The gates that a plan violates, in the order given, `max` last. `unlisted_contents` is what the deleted Namespaces
/// contain that has no outcome; an uncounted resource in it violates every gate that concerns it.
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
        violation(
            Gate::Deny(*denied),
            going.iter().copied().filter(|id| is_denied(snapshot.object(*id).resource)),
            &unnamed,
            is_denied,
        )
    });
    let max = gates.max.map(|max| violation(Gate::Max(max), going.iter().copied(), &unnamed, |_| true));
    deny.chain(max).filter(is_violated).collect()
}

fn violation(
    gate: Gate,
    objects: impl Iterator<Item = ObjectId>,
    unnamed: &[(ResourceId, Option<u64>)],
    applies: impl Fn(ResourceId) -> bool,
) -> GateViolation {
    let unnamed: Vec<_> = unnamed.iter().filter(|(resource, _)| applies(*resource)).collect();
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

fn is_violated(gate_violations: &GateViolation) -> bool {
    let allowed = match gate_violations.gate {
        Gate::Deny(_) => 0,
        Gate::Max(max) => max as u64,
    };
    gate_violations.removed() > allowed || !gate_violations.uncounted.is_empty()
}

/// Namespace contents that are deleted without an outcome of their own: resources that are never listed, and those that
/// stay only until the last pod is gone.
fn unnamed(snapshot: &Snapshot, plan: &Plan, unlisted_contents: &[UnlistedContents]) -> Vec<(ResourceId, Option<u64>)> {
    let mut unnamed = Vec::new();
    for of_namespace in unlisted_contents {
        let namespace = snapshot.object(of_namespace.namespace).name;
        unnamed.extend(of_namespace.unlisted.iter().map(|unlisted| (unlisted.resource, unlisted.count)));
        for (resource, spared) in &of_namespace.spared {
            // A spared object may still be deleted for another reason.
            let removed = plan.outcomes.iter().filter(|outcome| {
                let object = snapshot.object(outcome.object);
                let is_spared = outcome.kind != OutcomeKind::Deleted && !object.terminating();
                object.resource == *resource && object.namespace == namespace && is_spared && outcome.may_be_removed()
            });
            unnamed.push((*resource, Some(spared.saturating_sub(removed.count()) as u64)));
        }
    }
    unnamed
}

/// Whether two resources share their storage: versions of one resource, or the events of both API groups.
fn same_storage(resources: &Resources, one: ResourceId, other: ResourceId) -> bool {
    let is_events = |id: ResourceId| {
        let resource = resources.get(id);
        resource.plural == "events" && matches!(resource.group.as_str(), "" | "events.k8s.io")
    };
    resources.picked(one) == resources.picked(other) || is_events(one) && is_events(other)
}
