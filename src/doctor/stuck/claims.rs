//! Terminating claims that only a running pod keeps, and whose data goes with them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::json;

use crate::{
    doctor::{
        Code, Finding, Remedy,
        case::{Case, FindingsBuilder},
    },
    model::{ObjectId, effects::EffectKind},
    plan::effects_of,
};

use super::{Concern, since};

/// Claims whose volumes have the same end.
#[derive(Default)]
struct Group {
    claims: Vec<ObjectId>,
    pods: Vec<ObjectId>,
    volumes: Vec<ObjectId>,
}

/// Finds claims that were deleted, and that PVC protection keeps for a pod that nobody has deleted.
pub(super) fn gather(case: &Case<'_>, concern: &Concern, findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let Some(resource) = case.stage.built_in.claims else { return };
    let users = |claim: ObjectId| -> Vec<ObjectId> {
        let waits_for = case.projection.waits_for(claim).iter().copied();
        waits_for.filter(|pod| case.stage.rules(*pod).graceful && !snapshot.object(*pod).terminating()).collect()
    };
    let used: FxHashMap<ObjectId, Vec<ObjectId>> = case
        .stage
        .of_resource(resource)
        .iter()
        .filter(|claim| snapshot.object(**claim).terminating() && concern.includes(**claim))
        .map(|claim| (*claim, users(*claim)))
        .filter(|(_, pods)| !pods.is_empty())
        .collect();
    if used.is_empty() {
        return;
    }
    let mut claims: Vec<ObjectId> = used.keys().copied().collect();
    claims.sort_unstable();
    let (effects, needs) = effects_of(case.stage, &claims);
    findings.wanted.needs.add(&needs);
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for effect in effects.into_iter().filter(|effect| effect.may_be(EffectKind::DataDestroyed)) {
        let Some(pods) = used.get(&effect.object) else { continue };
        let group = groups.entry(effect.message.into_owned()).or_default();
        group.claims.push(effect.object);
        group.pods.extend(pods);
        group.volumes.extend(effect.related);
    }
    findings.findings.extend(groups.into_iter().map(|(end, group)| finding(case, &end, group)));
}

fn finding(case: &Case<'_>, end: &str, Group { claims, mut pods, mut volumes }: Group) -> Finding {
    for objects in [&mut pods, &mut volumes] {
        objects.sort_unstable();
        objects.dedup();
    }
    let beside = claims.first().copied();
    let names = case.names(&pods, beside);
    let (uses, it, that, claim_goes) = match (pods.len(), claims.len()) {
        (1, 1) => ("which uses it, keeps it", "it", "that pod ends", "the claim goes"),
        (1, _) => ("which uses them, keeps them", "them", "that pod ends", "the claims go"),
        (_, 1) => ("which use it, keep it", "it", "those pods end", "the claim goes"),
        _ => ("which use them, keep them", "them", "those pods end", "the claims go"),
    };
    let each = if claims.len() == 1 { "" } else { "for each: " };
    let commands = case.commands();
    let retain = json!({"spec": {"persistentVolumeReclaimPolicy": "Retain"}});
    let keep = volumes.iter().filter_map(|volume| commands.merge(*volume, &retain));
    let (volume, still) =
        if volumes.len() == 1 { ("the volume: set its", "it") } else { ("the volumes: set their", "they") };
    Finding {
        code: Code::ClaimInUse,
        severity: Code::ClaimInUse.severity(),
        cause: end.to_owned(),
        message: format!("Terminating{}. Only {names}, {uses}.", since(case, &claims)),
        consequence: format!(
            "As soon as {that}, even if a controller only replaces it, {claim_goes}: {each}{end}. No new pod starts \
             with {it}."
        ),
        references: Vec::new(),
        remedies: vec![
            Remedy::new(
                format!(
                    "copy the data that you need, or keep {volume} reclaim policy to Retain before {that}; then \
                     {still} can be bound again"
                ),
                keep,
            )
            .deciding(true),
            Remedy::new(
                "see which volume it is, and what happens to it",
                claims.iter().filter_map(|id| commands.get(*id)),
            ),
        ],
        related: [pods, volumes].concat(),
        objects: claims,
    }
}
