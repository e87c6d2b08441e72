//! What has to be said before a delete is done: the heavier what follows, the harder it is to agree by mistake.

use rustc_hash::FxHashMap;

use crate::model::{ObjectId, Resource, Snapshot, effects::EffectKind};

use super::outcome::Plan;

/// Why a name has to be typed, the heaviest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfirmationReason {
    /// A Namespace goes with everything in it.
    Namespace,
    /// A CustomResourceDefinition goes with all of its instances.
    Definition,
    /// A PersistentVolume.
    Volume,
    /// A PersistentVolumeClaim.
    Claim,
    /// Something outside of the cluster, or that no reference leads to, goes with it or may go.
    Outside(EffectKind),
}

/// What is to be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Yes.
    Yes,
    /// The number of objects that go.
    Number(usize),
    /// The name of this object.
    Name {
        object: ObjectId,
        weight: ConfirmationReason,
        /// How many more there are for which a name would have to be typed.
        more: usize,
    },
}

impl Consent {
    /// What a plan takes, where `above` is the number of objects up to which a yes is enough. One name stands for all:
    /// that of the heaviest object, and among those alike that of a target before others.
    pub fn to(snapshot: &Snapshot, plan: &Plan, above: usize) -> Self {
        let going: Vec<ObjectId> =
            plan.outcomes.iter().filter(|outcome| outcome.may_be_removed()).map(|outcome| outcome.object).collect();
        let outside = weights_outside(plan);
        let heavy = |object: &ObjectId| {
            let resource = snapshot.resources.get(snapshot.object(*object).resource);
            Some((weight_of_kind(resource).or_else(|| outside.get(object).copied())?, *object))
        };
        let heavy: Vec<(ConfirmationReason, ObjectId)> = going.iter().filter_map(heavy).collect();
        let place =
            |object: ObjectId| plan.request.targets.iter().position(|target| *target == object).unwrap_or(usize::MAX);
        let heaviest = heavy.iter().min_by_key(|(weight, object)| (*weight, place(*object)));
        match heaviest {
            Some((weight, object)) => Consent::Name { object: *object, weight: *weight, more: heavy.len() - 1 },
            None if going.len() > above => Consent::Number(going.len()),
            None => Consent::Yes,
        }
    }
}

fn weight_of_kind(resource: &Resource) -> Option<ConfirmationReason> {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Namespace") => Some(ConfirmationReason::Namespace),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Some(ConfirmationReason::Definition),
        ("", "PersistentVolume") => Some(ConfirmationReason::Volume),
        ("", "PersistentVolumeClaim") => Some(ConfirmationReason::Claim),
        _ => None,
    }
}

/// The heaviest thing that happens outside because of each object; not that something stays there, or is only tidied
/// up.
fn weights_outside(plan: &Plan) -> FxHashMap<ObjectId, ConfirmationReason> {
    let mut weights: FxHashMap<ObjectId, ConfirmationReason> = FxHashMap::default();
    for effect in plan.effects.iter().filter(|effect| is_heavy(effect.kind)) {
        let weight = ConfirmationReason::Outside(effect.kind);
        weights.entry(effect.object).and_modify(|known| *known = weight.min(*known)).or_insert(weight);
    }
    weights
}

fn is_heavy(kind: EffectKind) -> bool {
    match kind {
        EffectKind::DataDestroyed
        | EffectKind::ExternalDeleted
        | EffectKind::ObjectsDeleted
        | EffectKind::LoadBalancerReleased
        // Whoever removes a finalizer that nobody knows may do anything.
        | EffectKind::Unknown => true,
        // Those are in the plan, or nothing is lost.
        EffectKind::PodsDeleted
        | EffectKind::CleanedUp
        | EffectKind::DataKept
        | EffectKind::ExternalKept
        | EffectKind::ObjectsKept => false,
    }
}
