//! Terminating claims that only pods keep: one that runs, if the claim's data goes with it or no other pod can start
//! then, or one that has finished.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    doctor::{
        Code, Finding, Remedy, Step,
        case::{Case, FindingsBuilder, sorted},
        commands::one_after_another,
    },
    model::{
        ObjectId,
        effects::{EffectKind, Severity},
    },
    plan::effects_of,
    simulate::{LATE, State, controllers::PROVISIONER},
};

use super::concern::{Concern, since};

/// What starts a pod is at most so many controllers above it.
const DEEPEST: usize = 3;

/// Claims whose volumes have the same end.
#[derive(Default)]
struct Group {
    claims: Vec<ObjectId>,
    pods: Vec<ObjectId>,
    volumes: Vec<ObjectId>,
}

impl Group {
    fn sorted(self) -> Self {
        Group { claims: self.claims, pods: sorted(self.pods), volumes: sorted(self.volumes) }
    }
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
    let effects = effects_of(case.stage, &claims);
    let mut groups: BTreeMap<(bool, bool, String), Group> = BTreeMap::new();
    let stays = |pod: &ObjectId| stays(case, *pod);
    for effect in effects {
        let Some(pods) = used.get(&effect.object) else { continue };
        let finished = pods.iter().all(stays);
        let lost = effect.may_be(EffectKind::DataLost);
        // The pod that replaces one finds no claim.
        let is_replaced = || pods.iter().any(|pod| snapshot.controller_of(*pod).is_some());
        let is_new = || !case.has_been_terminating(effect.object, LATE);
        if !finished && !lost && (!is_replaced() || is_new()) {
            continue;
        }
        let group = groups.entry((finished, lost, effect.message.into_owned())).or_default();
        group.claims.push(effect.object);
        group.pods.extend(pods);
        group.volumes.extend(effect.related);
    }
    // Nothing else happens to a claim without a volume, which a finished pod keeps as well.
    let told: FxHashSet<ObjectId> = groups.values().flat_map(|group| group.claims.iter().copied()).collect();
    for claim in claims.iter().filter(|claim| !told.contains(claim) && used[claim].iter().all(stays)) {
        let group = groups.entry((true, false, String::new())).or_default();
        group.claims.push(*claim);
        group.pods.extend(&used[claim]);
    }
    findings.findings.extend(groups.into_iter().map(|((finished, lost, end), group)| {
        if finished { of_finished(case, lost, &end, group) } else { finding(case, lost, &end, group) }
    }));
}

/// Finds volumes without their claim whose data is being deleted, which fails. They are no longer anybody's, but their
/// data goes as soon as it can.
pub(super) fn gather_volumes(case: &Case<'_>, concern: &Concern, findings: &mut FindingsBuilder) {
    let (snapshot, commands) = (case.snapshot(), case.commands());
    let volumes = case.stage.built_in.volumes.map_or(&[][..], |volumes| case.stage.of_resource(volumes));
    for id in volumes.iter().copied().filter(|id| concern.includes(*id) && !snapshot.object(*id).terminating()) {
        let Some(volume) = snapshot.facts.volume(id).filter(|volume| volume.is_being_deleted()) else { continue };
        let (node, said) = (case.stage.lost_node(id), snapshot.facts.why_not_deleted(id));
        let (said, phase) = (said.map(|said| said.words), volume.phase.as_deref().unwrap_or_default());
        let gone = node.as_ref().map(|node| format!("{node}, which its data is on, is gone"));
        let words = gone.into_iter().chain(said).collect::<Vec<_>>().join("; ");
        if words.is_empty() {
            continue;
        }
        // The provisioner of a CSI driver deletes only what is Released (R9.35).
        let given_up = (phase == "Failed" && volume.csi.is_some()).then_some("its data stays in the storage system");
        let (consequence, remedies) = match node.as_ref().map(|_| "its data was there").or(given_up) {
            Some(data) => {
                let (sure, why) = match &node {
                    Some(node) => (format!("if {node} is gone for good, "), "without that Node"),
                    None => (String::new(), "of a volume that is Failed"),
                };
                let held = snapshot.strings.find(PROVISIONER).map(|held| commands.remove_finalizers(id, &[held]));
                let delete = commands.delete(&[id], "background", &[]);
                let steps = held.into_iter().flatten().chain(delete);
                let delete = Step::GiveUp.by(format!("{sure}delete the volume: {data}"), one_after_another(steps));
                (format!("Nobody deletes the data {why}: the volume stays."), vec![delete.deciding(true)])
            }
            None => (
                "That is tried again and again: once it succeeds, the volume is gone with all its data.".to_owned(),
                commands
                    .keep_volumes([id])
                    .into_iter()
                    .chain([Step::Look.by("see its events", commands.about("describe", id))])
                    .collect(),
            ),
        };
        findings.findings.push(Finding {
            message: format!(
                "{phase}: its claim is gone, and its data can't be deleted (reclaim policy Delete): {words}."
            ),
            consequence,
            remedies,
            objects: vec![id],
            ..Finding::of(Code::DeletionInProgress, format!("volume {words}"))
        });
    }
}

/// Whether a pod has finished, and nobody is known to delete it.
fn stays(case: &Case<'_>, pod: ObjectId) -> bool {
    case.snapshot().facts.has_finished(pod) && case.projection.state(pod) == State::Stuck
}

/// Claims that only pods keep whose containers have ended: the API server has them until somebody deletes them.
fn of_finished(case: &Case<'_>, lost: bool, end: &str, group: Group) -> Finding {
    let Group { claims, pods, volumes } = group.sorted();
    let names = case.names(&pods, claims.first().copied());
    let (pods_have, they_are, those, then) = match pods.len() {
        1 => ("has finished, but keeps", "it is", "that pod", "When it is"),
        _ => ("have finished, but keep", "they are", "those pods", "When they are"),
    };
    let (it, claim_goes) = if claims.len() == 1 { ("it", "the claim goes") } else { ("them", "the claims go") };
    let then = match (end, claims.len()) {
        ("", _) => format!("{then} deleted, {claim_goes}"),
        (_, 1) => format!("{then} deleted, {claim_goes}: {end}"),
        _ => format!("{then} deleted, {claim_goes}: for each: {end}"),
    };
    let commands = case.commands();
    let keep = commands.keep_volumes(volumes.iter().copied().filter(|id| lost && commands.holds_data(*id)));
    let first = if lost && keep.is_none() { "copy what you need of the data first; " } else { "" };
    let delete = if pods.len() == 1 { "delete the finished pod" } else { "delete the finished pods" };
    let young = claims.iter().all(|id| case.stage.is_at_work(*id));
    Finding {
        severity: if young { Severity::Warning } else { Severity::Error },
        message: format!("Terminating{}. {names} {pods_have} {it} until {they_are} deleted.", since(case, &claims)),
        consequence: format!("Nobody is known to delete {those}. {then}."),
        remedies: keep
            .into_iter()
            .chain([
                Step::Heal.by(format!("{first}{delete}"), commands.delete(&pods, "background", &[])).deciding(lost),
                see_volumes(case, &claims),
            ])
            .collect(),
        related: [pods, volumes].concat(),
        objects: claims,
        ..Finding::of(Code::ClaimInUse, format!("finished {end}"))
    }
}

/// Ends the pods that keep claims for good: what starts them is scaled to 0; not if nothing does.
fn end_users(case: &Case<'_>, pods: &[ObjectId], claims: usize) -> Remedy {
    let snapshot = case.snapshot();
    let above = |id: &ObjectId| snapshot.controller_of(*id);
    let is_scaled =
        |id: &ObjectId| matches!(&*snapshot.resource(*id).kind, "Deployment" | "ReplicaSet" | "StatefulSet");
    let starts = |pod: &ObjectId| std::iter::successors(above(pod), above).take(DEEPEST).filter(is_scaled).last();
    let workloads = sorted(pods.iter().filter_map(starts));
    let down = workloads.iter().filter_map(|id| case.commands().scale(*id, "--replicas=0"));
    let (it, them) = if claims == 1 { ("it", "it") } else { ("they", "them") };
    let what = format!(
        "if {it} may go, let nothing use {them} again: scale {} to 0",
        case.names(&workloads, pods.first().copied())
    );
    Step::GiveUp.by(what, down).deciding(true)
}

fn see_volumes(case: &Case<'_>, claims: &[ObjectId]) -> Remedy {
    let look = claims.iter().filter_map(|id| case.commands().get(*id));
    Step::Look.by("see which volume it is, and what happens to it", look)
}

fn finding(case: &Case<'_>, lost: bool, end: &str, group: Group) -> Finding {
    let Group { claims, pods, volumes } = group.sorted();
    let beside = claims.first().copied();
    let names = case.names(&pods, beside);
    let (uses, it, that, claim_goes) = match (pods.len(), claims.len()) {
        (1, 1) => ("which uses it, keeps it", "it", "that pod ends", "the claim goes"),
        (1, _) => ("which uses them, keeps them", "them", "that pod ends", "the claims go"),
        (_, 1) => ("which use it, keep it", "it", "those pods end", "the claim goes"),
        _ => ("which use them, keep them", "them", "those pods end", "the claims go"),
    };
    let each = if claims.len() == 1 { "" } else { "for each: " };
    let finished: Vec<ObjectId> = pods.iter().copied().filter(|pod| stays(case, *pod)).collect();
    let (that, delete) = match finished.len() {
        0 => (that.to_owned(), ""),
        1 => (
            format!("the others end and {}, which has finished, is deleted", case.name(finished[0], beside)),
            "delete the finished pod: it keeps the claim, too",
        ),
        _ => (
            format!("the others end and {}, which have finished, are deleted", case.names(&finished, beside)),
            "delete the finished pods: they keep the claim, too",
        ),
    };
    let when = if finished.is_empty() { that.as_str() } else { "that" };
    let commands = case.commands();
    let keep = volumes.iter().filter(|_| lost).filter_map(|volume| commands.retain(*volume));
    let (volume, still) =
        if volumes.len() == 1 { ("the volume: set its", "it") } else { ("the volumes: set their", "they") };
    Finding {
        message: format!("Terminating{}. Only {names}, {uses}.", since(case, &claims)),
        consequence: format!(
            "As soon as {that}, even if a controller only replaces it, {claim_goes}: {each}{end}. No new pod starts \
             with {it}."
        ),
        remedies: vec![
            Remedy {
                holders: if lost { volumes.clone() } else { Vec::new() },
                ..Step::Heal.by(
                    format!(
                        "copy the data that you need, or keep {volume} reclaim policy to Retain before {when}; then \
                     {still} can be bound again"
                    ),
                    keep,
                )
                .deciding(true)
            },
            Step::GiveUp.by(delete, commands.delete(&finished, "background", &[])).deciding(true),
            end_users(case, &pods, claims.len()),
            see_volumes(case, &claims),
        ],
        related: [pods, volumes].concat(),
        objects: claims,
        ..Finding::of(Code::ClaimInUse, end)
    }
}
