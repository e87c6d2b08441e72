//! What the user must type to confirm a delete: the more is at stake, the harder to confirm by mistake.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{ObjectId, Resource, Snapshot, effects::EffectKind};

use super::outcome::Plan;

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
