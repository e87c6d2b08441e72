//! Old ReplicaSets above the `revisionHistoryLimit` of their Deployments (R12.3).

use crate::{
    groups::Groups,
    model::{
        ObjectId, Rule, Symbol,
        facts::{OldTemplate, ReclaimFacts, Rollout},
    },
    wording::count,
};

use super::{Found, Reason, When, scene::Scene};

/// This limit is none (`HasRevisionHistoryLimit`).
const UNLIMITED: i64 = i32::MAX as i64;

pub(super) fn find(scene: &Scene<'_>, found: &mut Found) {
    let sets = scene.by_namespace("apps", "ReplicaSet");
    for id in scene.of("apps", "Deployment") {
        if let (Some(ReclaimFacts::Deployment(rollout)), false) = (scene.facts(*id), scene.object(*id).terminating()) {
            of_deployment(scene, *id, rollout, &sets, found);
        }
    }
}

fn of_deployment(scene: &Scene<'_>, deployment: ObjectId, rollout: &Rollout, sets: &Groups<Symbol>, found: &mut Found) {
    // A Deployment that selects everything does nothing.
    let Some(selector) = scene.selector(deployment) else { return };
    let in_namespace = sets.of(&scene.object(deployment).namespace).iter().copied();
    let mut own: Vec<(ObjectId, &OldTemplate)> = in_namespace
        .filter(|id| scene.claims(deployment, selector, *id))
        .filter_map(|id| match scene.facts(id) {
            Some(ReclaimFacts::ReplicaSet(set)) => Some((id, set)),
            _ => None,
        })
        .collect();
    let age = |id: ObjectId| (scene.created(id), scene.name(id));
    own.sort_by_key(|(id, _)| age(*id));
    let new = own.iter().position(|(_, set)| set.template == rollout.template.template);
    let has_new = new.is_some();
    if let Some(new) = new {
        own.remove(new);
    }
    own.retain(|(id, _)| !scene.object(*id).terminating());
    let Some(limit) = rollout.template.limit.filter(|limit| *limit != UNLIMITED) else {
        for (id, _) in own {
            let why = format!("{} has no revisionHistoryLimit: it keeps all", scene.short(deployment));
            found.stays(id, Rule::R12_3, why);
        }
        return;
    };
    // Without a number, the age counts (`ReplicaSetsByRevision`).
    if own.iter().all(|(_, set)| set.revision.is_some()) {
        own.sort_by_key(|(id, set)| (set.revision, age(*id)));
    }
    let excess = own.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
    let is_paused = scene.snapshot.facts.workload(deployment).is_some_and(|facts| facts.paused);
    let empty = |set: &OldTemplate| set.wanted == 0 && set.replicas == 0;
    // A rollout to no pods ends at once.
    let can_end = has_new || (rollout.wanted == 0 && own.iter().all(|(_, set)| empty(set)));
    let is_over = is_paused || (can_end && rollout.replicas == [rollout.wanted; 3]);
    for (id, set) in &own[..excess] {
        let old = count(own.len(), "old ReplicaSet", "old ReplicaSets");
        let why = format!("{} has {old}, and revisionHistoryLimit: {limit}", scene.short(deployment));
        let when = match is_over {
            true if !empty(set) => {
                found.stays(*id, Rule::R12_3, format!("{why}, but this one has pods"));
                continue;
            }
            true => When::Now,
            false => When::once(format!("the rollout of {} is complete", scene.short(deployment))),
        };
        found.goes(*id, Reason::new(Rule::R12_3, "deployment-controller", when, why));
    }
}
