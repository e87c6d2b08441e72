//! The verdict on a plan: its result, which is the worst of what applies, and every reason for it.

use rustc_hash::FxHashSet;
use serde::Serialize;
use strum::IntoStaticStr;

use crate::{
    model::{
        ObjectId, Snapshot,
        effects::EffectKind,
        gaps::{each_once, in_words},
    },
    simulate::{ObstacleKind, Start, State, Uncertainty},
};

use super::{
    gates::{EffectClass, GateViolation},
    incomplete::Incomplete,
    outcome::{Outcome, OutsideEffect, Plan},
    unlisted::UnlistedContents,
};

/// What it means that lists could not be read: a clause.
pub const MORE_OBJECTS: &str = "there may be more objects, in lists that could not be read";

/// What a plan comes to, the worst first: what can't be taken back, what won't end by itself, then the rest. Its JSON
/// name never changes meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum VerdictResult {
    /// A gate forbids the delete, or the cluster refuses it.
    Refused,
    /// A webhook or an API loses its backend: the API server can't serve others any more.
    TakesDown,
    /// Stored data is lost, in the first end or in the second.
    DataLoss,
    /// Something stays Terminating, and no controller is known to finish it.
    Stuck,
    /// Something stays Terminating until a controller finishes it that is not known to run.
    Depends,
    /// Something stays Terminating until a controller finishes it that is known to run.
    Waits,
    /// Something is not certain.
    Unsure,
    /// Something outside the owner graph is deleted: a cloud's resource, a load balancer, what an add-on manages.
    External,
    /// Objects are deleted, or lose owner references.
    Deletes,
    /// Nothing changes.
    Nothing,
}

named!(VerdictResult);

/// What a reason is about; reasons with the same result are in this order. Its JSON name never changes meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum ReasonKind {
    /// A gate that the plan violates.
    Gate,
    /// An admission policy, or the schema of a CRD, refuses a request that the delete leads to.
    Admission,
    /// A webhook that must be asked and can't be.
    Webhook,
    /// An API that doesn't answer, or whose backend is deleted.
    Api,
    /// No collector is running, or it doesn't work.
    Collector,
    /// Objects that stay Terminating: stuck.
    Stuck,
    /// Objects that stay Terminating: their controllers are not known to run.
    Depends,
    /// Objects that stay Terminating: living controllers finish them.
    Waits,
    /// What is not certain, and why.
    Open(Uncertainty),
    /// Objects that are deleted with such an effect.
    Effect(EffectKind),
}

impl ReasonKind {
    /// What is open, if that is the reason.
    pub fn open(self) -> Option<Uncertainty> {
        if let ReasonKind::Open(why) = self { Some(why) } else { None }
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ReasonKind::Open(why) => why.name(),
            ReasonKind::Effect(effect) => effect.name(),
            other => other.into(),
        }
    }

    /// The reason that an obstacle is.
    pub fn of_obstacle(kind: ObstacleKind) -> Self {
        match kind {
            ObstacleKind::ControllersAway { .. } => ReasonKind::Collector,
            ObstacleKind::WebhookUnreachable { .. } | ObstacleKind::ConversionBroken { .. } => ReasonKind::Webhook,
            ObstacleKind::PolicyRefuses { .. }
            | ObstacleKind::SchemaRefuses { .. }
            | ObstacleKind::DeleteProtected { .. } => ReasonKind::Admission,
            ObstacleKind::ApiUnavailable { .. } => ReasonKind::Api,
        }
    }

    /// The reason that an effect is; `None` if it deletes nothing.
    fn of_effect(effect: &OutsideEffect) -> Option<(Self, VerdictResult)> {
        let result = match effect.kind {
            EffectKind::DataLost => VerdictResult::DataLoss,
            EffectKind::ExternalDeleted | EffectKind::ObjectsDeleted | EffectKind::LoadBalancerReleased => {
                VerdictResult::External
            }
            EffectKind::PodsDeleted => VerdictResult::Deletes,
            EffectKind::MayStillRun => VerdictResult::Unsure,
            EffectKind::Unknown if effect.at_worst.is_some() => {
                return Some((ReasonKind::Open(Uncertainty::Effect), VerdictResult::Unsure));
            }
            // The object stays Terminating until an unknown controller acts.
            EffectKind::Unknown
            | EffectKind::DataUnreachable
            | EffectKind::CleanedUp
            | EffectKind::DataKept
            | EffectKind::ExternalKept
            | EffectKind::ObjectsKept => return None,
        };
        Some((ReasonKind::Effect(effect.kind), result))
    }
}

/// One reason for a verdict: what applies to some objects, or to the whole delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictReason {
    pub kind: ReasonKind,
    /// The verdict is at least as bad as this.
    pub result: VerdictResult,
    /// The objects concerned, each once; empty if it concerns the whole delete.
    pub objects: Vec<ObjectId>,
    /// A sentence without a full stop; `None` if the kind and the objects say it all.
    pub message: Option<String>,
}

/// How many objects of a plan are what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictCounts {
    pub deleted: usize,
    pub terminating: usize,
    /// In either end.
    pub stuck: usize,
    /// What is not Terminating in the first end, and is deleted once others have done their part: what the second end
    /// alone removes, and contents of a Namespace after its pods.
    #[serde(rename = "deletedLater")]
    pub later: usize,
    /// Objects with an outcome that is not certain, in either end.
    pub uncertain: usize,
    /// Objects whose stored data is lost.
    pub data_lost: usize,
    /// Objects with an effect outside the owner graph that deletes something else.
    pub external: usize,
}

/// The verdict on a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The worst result of all reasons; without reasons [`VerdictResult::Deletes`] or [`VerdictResult::Nothing`].
    pub result: VerdictResult,
    /// Whether no reason is that something is not certain: more than that a volume goes only if its provisioner runs.
    pub certain: bool,
    pub counts: VerdictCounts,
    /// All reasons, the worst first.
    pub reasons: Vec<VerdictReason>,
}

impl Verdict {
    /// The verdict on a plan.
    pub fn of(
        snapshot: &Snapshot,
        plan: &Plan,
        unlisted_contents: &[UnlistedContents],
        gate_violations: &[GateViolation],
    ) -> Self {
        let mut reasons = Vec::new();
        if !gate_violations.is_empty() {
            reason_of(&mut reasons, ReasonKind::Gate, VerdictResult::Refused);
        }
        reasons.extend(of_obstacles(plan));
        reasons.extend(of_states(plan));
        reasons.extend(of_uncertainty(snapshot, plan));
        reasons.extend(of_effects(plan));
        reasons.sort_by_key(|reason| (reason.result, reason.kind));
        let nothing = if plan.outcomes.is_empty() { VerdictResult::Nothing } else { VerdictResult::Deletes };
        let count = |kinds: &[EffectKind]| {
            let is_it = |reason: &&VerdictReason| kinds.iter().any(|kind| reason.kind == ReasonKind::Effect(*kind));
            reasons.iter().filter(is_it).map(|reason| reason.objects.len()).sum()
        };
        let is_open = |outcome: &&Outcome| outcome.uncertain.is_some();
        let counts = VerdictCounts {
            deleted: plan.summary.deleted,
            terminating: plan.summary.terminating,
            stuck: plan.summary.stuck + plan.summary.stuck_later,
            later: {
                let spared = unlisted_contents.iter().flat_map(|of| &of.spared).map(|(_, count)| *count).sum();
                // What is spared is removed in the second end, unless something else keeps the pods.
                plan.summary.later.max(spared)
            },
            uncertain: plan.both_ends().filter(is_open).map(|it| it.object).collect::<FxHashSet<ObjectId>>().len(),
            data_lost: count(&[EffectKind::DataLost]),
            external: count(EffectClass::External.kinds()),
        };
        Verdict {
            result: reasons.first().map_or(nothing, |worst| worst.result.min(nothing)),
            certain: !reasons.iter().any(|reason| reason.result == VerdictResult::Unsure),
            counts,
            reasons,
        }
    }

    /// Whether a reason has this result, or a worse one.
    pub fn is_at_least(&self, result: VerdictResult) -> bool {
        self.result <= result
    }

    /// The reasons of this kind.
    pub fn reasons_of(&self, kind: ReasonKind) -> impl Iterator<Item = &VerdictReason> {
        self.reasons.iter().filter(move |reason| reason.kind == kind)
    }
}

/// The reason of this kind, which is at least as bad as this result.
fn reason_of(reasons: &mut Vec<VerdictReason>, kind: ReasonKind, result: VerdictResult) -> &mut VerdictReason {
    let place = reasons.iter().position(|reason| reason.kind == kind).unwrap_or_else(|| {
        reasons.push(VerdictReason { kind, result, objects: Vec::new(), message: None });
        reasons.len() - 1
    });
    let reason = &mut reasons[place];
    reason.result = reason.result.min(result);
    reason
}

/// What is in the way, or what the delete takes down, by sort.
fn of_obstacles(plan: &Plan) -> Vec<VerdictReason> {
    let mut reasons: Vec<VerdictReason> = Vec::new();
    for obstacle in &plan.obstacles {
        let kind = ReasonKind::of_obstacle(obstacle.kind);
        let is_told = |target: &ObjectId| plan.outcomes.iter().chain(&plan.stays).any(|it| it.object == *target);
        let is_refused = |target: &ObjectId| obstacle.prevents.contains(target) && !is_told(target);
        let result = match () {
            () if plan.request.targets.iter().any(is_refused) => VerdictResult::Refused,
            () if obstacle.taken_down => VerdictResult::TakesDown,
            // It is in nobody's way.
            () if obstacle.prevents.is_empty() => VerdictResult::External,
            () => VerdictResult::Stuck,
        };
        let reason = reason_of(&mut reasons, kind, result);
        // Several may be in the way of one object.
        reason.objects.extend(&obstacle.prevents);
        reason.objects.sort_unstable();
        reason.objects.dedup();
    }
    reasons
}

/// What stays Terminating.
fn of_states(plan: &Plan) -> Vec<VerdictReason> {
    let mut reasons: Vec<VerdictReason> = Vec::new();
    for (object, state) in plan.states() {
        let (kind, result) = match state {
            State::Stuck => (ReasonKind::Stuck, VerdictResult::Stuck),
            State::Unknown => (ReasonKind::Depends, VerdictResult::Depends),
            State::Waiting => (ReasonKind::Waits, VerdictResult::Waits),
        };
        reason_of(&mut reasons, kind, result).objects.push(object);
    }
    reasons
}

/// The outcomes that are not certain in either end, and why. That a volume's data is lost counts already: it is nothing
/// worse if its provisioner doesn't work, unless something shows that it doesn't.
fn uncertain(plan: &Plan) -> impl Iterator<Item = (ObjectId, Uncertainty)> {
    let counts = plan.both_ends().filter(|outcome| {
        outcome.uncertain == Some(Uncertainty::Provisioner) || !outcome.is_assumed() || !outcome.goes_with_claim()
    });
    counts.filter_map(|outcome| Some((outcome.object, outcome.uncertain?.told_as())))
}

/// What is not certain: each outcome once for each sort of doubt, and lists that may hide objects.
fn of_uncertainty(snapshot: &Snapshot, plan: &Plan) -> Vec<VerdictReason> {
    let mut reasons: Vec<VerdictReason> = Vec::new();
    let mut seen: FxHashSet<(ObjectId, Uncertainty)> = FxHashSet::default();
    for (object, why) in uncertain(plan).filter(|doubt| seen.insert(*doubt)) {
        reason_of(&mut reasons, ReasonKind::Open(why), VerdictResult::Unsure).objects.push(object);
    }
    // Whatever was not read may be left over.
    let finds_nothing = plan.request.start == Start::Sweep && plan.outcomes.is_empty();
    let unseen = match finds_nothing {
        true => snapshot.gaps.iter().filter(|gap| !gap.serves_only_metrics()).cloned().collect(),
        false => Incomplete::of(snapshot, plan).unseen,
    };
    if !unseen.is_empty() {
        reason_of(&mut reasons, ReasonKind::Open(Uncertainty::Hidden), VerdictResult::Unsure).message =
            Some(format!("{MORE_OBJECTS}: {}", in_words(&each_once(&unseen))));
    }
    reasons
}

/// What happens outside the owner graph, the objects of each kind of effect together.
fn of_effects(plan: &Plan) -> Vec<VerdictReason> {
    let mut reasons: Vec<VerdictReason> = Vec::new();
    let destroyed = || plan.all_effects().filter(|effect| effect.kind == EffectKind::DataLost);
    let told: FxHashSet<ObjectId> = destroyed().flat_map(|effect| effect.related.iter().copied()).collect();
    for effect in plan.all_effects() {
        let Some((kind, result)) = ReasonKind::of_effect(effect) else { continue };
        // The data of a volume is lost once, also where its claim goes, too.
        if effect.kind == EffectKind::DataLost && told.contains(&effect.object) {
            continue;
        }
        let reason = reason_of(&mut reasons, kind, result);
        // The effects of one object follow each other, unless another severity lies between.
        if reason.objects.last() != Some(&effect.object) {
            reason.objects.push(effect.object);
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_result_comes_first() {
        let from_the_worst = [
            VerdictResult::Refused,
            VerdictResult::TakesDown,
            VerdictResult::DataLoss,
            VerdictResult::Stuck,
            VerdictResult::Depends,
            VerdictResult::Waits,
            VerdictResult::Unsure,
            VerdictResult::External,
            VerdictResult::Deletes,
            VerdictResult::Nothing,
        ];
        assert!(from_the_worst.is_sorted());
    }
}
