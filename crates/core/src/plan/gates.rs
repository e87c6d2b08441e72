//! What a delete needs: gates, which are limits that it must not exceed, and the user's consent.
//!
//! Gates err on the side of safety: they count whatever is deleted in any event order, and whatever could not be read
//! or counted. The more is at stake, the harder it is to consent by mistake.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use strum::IntoStaticStr;

use crate::model::{
    ANY_RESOURCE, Gap, Object, ObjectId, Resource, ResourceId, Resources, Snapshot, effects::EffectKind,
};

use super::{
    incomplete::Incomplete,
    outcome::{OutcomeKind, Plan},
    unlisted::UnlistedContents,
    verdict::{Verdict, VerdictResult},
};

/// Limits that the user sets on a delete: with types as typed, and then with resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates<Type = ResourceId> {
    /// No object of these resources may be deleted.
    pub deny: Vec<Type>,
    /// No such effect may happen.
    pub deny_effects: Vec<EffectClass>,
    /// At most this many objects may be deleted, not counting a Namespace's events.
    pub max: Option<usize>,
    /// The verdict must be better than this.
    pub fail_on: Option<VerdictResult>,
}

/// One gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "gate", rename_all = "kebab-case")]
pub enum Gate {
    /// No object of this resource may be deleted.
    Deny { resource: ResourceId },
    /// No such effect may happen.
    DenyEffect { effect: EffectClass },
    /// At most this many objects may be deleted, not counting a Namespace's events.
    Max { max: usize },
    /// The verdict must be better than this.
    FailOn { result: VerdictResult },
}

/// Effects that a gate forbids together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum EffectClass {
    /// Data is lost.
    DataLoss,
    /// Something outside the owner graph is deleted: an external resource, a load balancer, other objects.
    External,
    /// The effect is not known.
    Unknown,
}

named!(EffectClass);

impl EffectClass {
    /// What it forbids.
    pub(super) fn kinds(self) -> &'static [EffectKind] {
        match self {
            EffectClass::DataLoss => &[EffectKind::DataLost],
            EffectClass::External => {
                &[EffectKind::ExternalDeleted, EffectKind::ObjectsDeleted, EffectKind::LoadBalancerReleased]
            }
            EffectClass::Unknown => &[EffectKind::Unknown],
        }
    }

    /// Whether objects that could not be read may have such an effect.
    fn counts_unread(self) -> bool {
        self != EffectClass::External
    }
}

/// A gate that a plan violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateViolation {
    pub gate: Gate,
    /// Objects that are or may be deleted, in plan order; for [`Gate::Deny`] only those of its resource, for
    /// [`Gate::DenyEffect`] those with such an effect, for [`Gate::FailOn`] none.
    pub objects: Vec<ObjectId>,
    /// How many more objects are deleted with a Namespace, of which only the number is known.
    pub unnamed: u64,
    /// Resources of which an unknown number is deleted with a Namespace.
    pub uncounted: Vec<ResourceId>,
    /// Lists that could not be read and may contain objects that the gate counts.
    pub unread: Vec<Gap>,
    /// For [`Gate::FailOn`], the verdict that violates it.
    pub verdict: Option<VerdictResult>,
}

impl GateViolation {
    /// How many objects are deleted at least.
    pub fn removed(&self) -> u64 {
        self.objects.len() as u64 + self.unnamed
    }
}

/// The gates that a plan violates, in the order of [`Gates`]. `unlisted_contents` is what the deleted Namespaces
/// contain that has no outcome; an uncounted resource in it violates every gate that concerns it. So does a list that
/// could not be read and may hide what is deleted, unless the user has `allowed` just that; not [`Gate::FailOn`].
pub fn gate_violations(
    snapshot: &Snapshot,
    plan: &Plan,
    unlisted_contents: &[UnlistedContents],
    gates: &Gates,
    allowed: impl Fn(&Gap) -> bool,
) -> Vec<GateViolation> {
    let mut unseen = Incomplete::of(snapshot, plan).unseen;
    unseen.retain(|gap| !allowed(gap));
    let unread = |concerns: &dyn Fn(&Gap) -> bool| unseen.iter().filter(|gap| concerns(gap)).cloned().collect();
    let mut going = plan.going();
    let unnamed = unnamed(snapshot, plan, unlisted_contents, &going);
    // The DELETE of a target that the plan says is refused is sent nevertheless.
    let has_outcome: FxHashSet<ObjectId> = plan.outcomes.iter().map(|outcome| outcome.object).collect();
    let sent = |target: &ObjectId| !has_outcome.contains(target) && !snapshot.object(*target).terminating();
    going.extend(plan.request.targets.iter().copied().filter(sent));
    let deny = gates.deny.iter().map(|denied| {
        let is_denied = |resource: ResourceId| same_storage(&snapshot.resources, *denied, resource);
        let denied_going = going.iter().copied().filter(|id| is_denied(snapshot.object(*id).resource));
        GateViolation {
            unread: unread(&|gap| may_contain(&snapshot.resources, gap, *denied)),
            ..violation(Gate::Deny { resource: *denied }, denied_going, &unnamed, is_denied)
        }
    });
    let deny_effects = gates.deny_effects.iter().map(|class| GateViolation {
        unread: unread(&|_| class.counts_unread()),
        ..denied_effects(snapshot, plan, unlisted_contents, *class)
    });
    // Events only tell about other objects, and expire.
    let counts = |resource: ResourceId| !snapshot.resources.get(resource).is_events();
    let counted = going.iter().copied().filter(|id| counts(snapshot.object(*id).resource));
    let max = gates.max.map(|max| GateViolation {
        unread: unread(&|_| true),
        ..violation(Gate::Max { max }, counted, &unnamed, counts)
    });
    let found: Vec<GateViolation> = deny.chain(deny_effects).chain(max).filter(is_violated).collect();
    // The verdict alone decides, as without the gate: what was not read makes it UNSURE at most.
    let verdict = |result| (result, Verdict::of(snapshot, plan, unlisted_contents, &[]));
    let fail_on = gates.fail_on.map(verdict).filter(|(result, verdict)| verdict.is_at_least(*result));
    let fail_on = fail_on.map(|(result, verdict)| GateViolation {
        verdict: Some(verdict.result),
        unread: if result >= VerdictResult::Unsure { unread(&|_| true) } else { Vec::new() },
        ..violation(Gate::FailOn { result }, std::iter::empty(), &[], |_| false)
    });
    found.into_iter().chain(fail_on).collect()
}

/// Objects that have such an effect, or may have one.
fn denied_effects(
    snapshot: &Snapshot,
    plan: &Plan,
    unlisted_contents: &[UnlistedContents],
    class: EffectClass,
) -> GateViolation {
    let denied = plan.all_effects().filter(|effect| class.kinds().iter().any(|kind| effect.may_be(*kind)));
    let mut seen: FxHashSet<ObjectId> = FxHashSet::default();
    let objects = denied.map(|effect| effect.object).filter(|object| seen.insert(*object));
    let mut unlisted = Vec::new();
    if class.counts_unread() {
        // Resources that can't be listed may be anything, except events.
        let resources = unlisted_contents.iter().flat_map(|of| &of.unlisted);
        unlisted.extend(resources.map(|unlisted| (unlisted.resource, unlisted.count)));
    }
    let applies = |resource: ResourceId| !snapshot.resources.get(resource).is_events();
    violation(Gate::DenyEffect { effect: class }, objects, &unlisted, applies)
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
        unread: Vec::new(),
        verdict: None,
    }
}

fn is_violated(violation: &GateViolation) -> bool {
    let allowed = match violation.gate {
        Gate::Max { max } => max as u64,
        Gate::Deny { .. } | Gate::DenyEffect { .. } | Gate::FailOn { .. } => 0,
    };
    violation.removed() > allowed || !violation.uncounted.is_empty() || !violation.unread.is_empty()
}

/// Namespace contents that are deleted without an outcome of their own: resources that are never listed, and those that
/// stay only until the last pod is gone.
fn unnamed(
    snapshot: &Snapshot,
    plan: &Plan,
    unlisted_contents: &[UnlistedContents],
    going: &[ObjectId],
) -> Vec<(ResourceId, Option<u64>)> {
    // Most of what is spared goes in the second end, and some may be deleted for another reason.
    let deleted = plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
    let deleted: FxHashSet<ObjectId> = deleted.map(|outcome| outcome.object).collect();
    let named: Vec<&Object> = going
        .iter()
        .filter(|id| !deleted.contains(id))
        .map(|id| snapshot.object(*id))
        .filter(|object| !object.terminating())
        .collect();
    let mut unnamed = Vec::new();
    for of_namespace in unlisted_contents {
        let namespace = snapshot.object(of_namespace.namespace).name;
        unnamed.extend(of_namespace.unlisted.iter().map(|unlisted| (unlisted.resource, unlisted.count)));
        for (resource, spared) in &of_namespace.spared {
            let is_spared = |object: &&&Object| object.resource == *resource && object.namespace == namespace;
            let named = named.iter().filter(is_spared).count();
            unnamed.push((*resource, Some(spared.saturating_sub(named) as u64)));
        }
    }
    unnamed
}

/// Whether objects of a resource may be in a gap: in its list, or in a group that discovery could not describe.
fn may_contain(resources: &Resources, gap: &Gap, resource: ResourceId) -> bool {
    let shares = |(other, found): (ResourceId, &Resource)| {
        found.full_name() == gap.resource && same_storage(resources, resource, other)
    };
    let group = gap.resource.split('/').next().filter(|_| gap.is_undiscovered());
    gap.resource == ANY_RESOURCE
        || group.is_some_and(|group| group == resources.get(resource).group)
        || resources.iter().any(shares)
}

/// Whether two resources share their storage: versions of one resource, or the events of both API groups.
fn same_storage(resources: &Resources, one: ResourceId, other: ResourceId) -> bool {
    resources.picked(one) == resources.picked(other)
        || resources.get(one).is_events() && resources.get(other).is_events()
}

/// Why a name must be typed, the most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfirmationReason {
    /// A Namespace is deleted with all its contents.
    Namespace,
    /// A CustomResourceDefinition is deleted with all its instances.
    Definition,
    /// A PersistentVolume.
    Volume,
    /// A PersistentVolumeClaim.
    Claim,
    /// An effect outside the cluster, or outside the owner graph.
    Outside(EffectKind),
}

/// What must be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Yes.
    Yes,
    /// The number of deleted objects.
    Number(usize),
    /// The name of this object.
    Name(ObjectId),
}

impl Consent {
    /// The confirmation that a plan requires. Up to `above` objects, a yes is enough. One name is enough for all: that
    /// of the most severe object, and among equals that of a target.
    pub fn to(snapshot: &Snapshot, plan: &Plan, above: usize) -> Self {
        let going = plan.going().len();
        let place =
            |object: ObjectId| plan.request.targets.iter().position(|target| *target == object).unwrap_or(usize::MAX);
        let severe = severe_objects(snapshot, plan);
        match severe.iter().min_by_key(|(reason, object)| (*reason, place(*object))) {
            Some((_, object)) => Consent::Name(*object),
            None if going > above => Consent::Number(going),
            None => Consent::Yes,
        }
    }
}

/// The objects that require a name to be typed, and why.
pub fn severe_objects(snapshot: &Snapshot, plan: &Plan) -> Vec<(ConfirmationReason, ObjectId)> {
    let outside = reasons_by_effect(plan);
    let severe = |object: ObjectId| {
        let resource = snapshot.resource(object);
        Some((reason_by_kind(resource).or_else(|| outside.get(&object).copied())?, object))
    };
    let with_claims: FxHashSet<ObjectId> =
        plan.both_ends().filter(|outcome| outcome.goes_with_claim()).map(|outcome| outcome.object).collect();
    plan.going().into_iter().filter(|object| !with_claims.contains(object)).filter_map(severe).collect()
}

fn reason_by_kind(resource: &Resource) -> Option<ConfirmationReason> {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Namespace") => Some(ConfirmationReason::Namespace),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Some(ConfirmationReason::Definition),
        ("", "PersistentVolume") => Some(ConfirmationReason::Volume),
        ("", "PersistentVolumeClaim") => Some(ConfirmationReason::Claim),
        _ => None,
    }
}

/// The most severe external effect of each object, except effects that keep data or only clean up.
fn reasons_by_effect(plan: &Plan) -> FxHashMap<ObjectId, ConfirmationReason> {
    let mut reasons: FxHashMap<ObjectId, ConfirmationReason> = FxHashMap::default();
    for effect in plan.all_effects().filter(|effect| is_severe(effect.kind)) {
        let reason = ConfirmationReason::Outside(effect.kind);
        reasons.entry(effect.object).and_modify(|known| *known = reason.min(*known)).or_insert(reason);
    }
    reasons
}

fn is_severe(kind: EffectKind) -> bool {
    match kind {
        EffectKind::DataLost
        | EffectKind::ExternalDeleted
        | EffectKind::ObjectsDeleted
        | EffectKind::LoadBalancerReleased
        // An unknown controller may do anything before it removes its finalizer.
        | EffectKind::Unknown => true,
        // Listed in the plan, or harmless.
        EffectKind::PodsDeleted
        | EffectKind::DataUnreachable
        | EffectKind::MayStillRun
        | EffectKind::CleanedUp
        | EffectKind::DataKept
        | EffectKind::ExternalKept
        | EffectKind::ObjectsKept => false,
    }
}
