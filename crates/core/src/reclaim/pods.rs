//! What the pod garbage collector removes (R12.6, R12.7, R12.8, R12.9).

use rustc_hash::FxHashSet;

use crate::{
    graph::OwnerGraph,
    model::{
        ObjectId, Presence, Rule,
        facts::{KubeletReport, PodFacts, ReclaimFacts},
    },
};

use super::{
    Found, Reason, When,
    removal::{all_taken, is_held},
    scene::Scene,
};

const CONTROLLER: &str = "pod-garbage-collector-controller";
/// `gc_controller.go`: `gcCheckPeriod`.
const EVERY: i64 = 20;
/// `gc_controller.go`: `quarantineTime`.
const QUARANTINE: i64 = 40;

/// Those for which a number doesn't decide.
pub(super) fn find(scene: &Scene<'_>, found: &mut Found) {
    for id in scene.of("", "Pod") {
        let (object, Some(pod)) = (scene.object(*id), scene.pod(*id)) else { continue };
        let soon = When::Pass { from: scene.now, until: scene.now + EVERY, every: EVERY };
        let Some(node) = pod.node.as_deref() else {
            if object.terminating() {
                let why = "it is Terminating, and was never scheduled";
                found.goes(*id, Reason::new(Rule::R12_8, CONTROLLER, soon, why));
            }
            continue;
        };
        match scene.look_up("", "Node", "", node) {
            Presence::Present(node) => {
                let facts = scene.snapshot.facts.node(node).and_then(|facts| facts.kubelet);
                if object.terminating() && facts == Some(KubeletReport::OutOfService) {
                    let why = format!("it is Terminating on {}, which is out of service", scene.short(node));
                    found.goes(*id, Reason::new(Rule::R12_9, CONTROLLER, soon, why));
                }
            }
            // It sees that the Node is missing at one look, and acts at the first look after the quarantine.
            Presence::Absent => {
                let when = When::Pass { from: scene.now, until: scene.now + QUARANTINE + 2 * EVERY, every: EVERY };
                found.goes(*id, Reason::new(Rule::R12_7, CONTROLLER, when, format!("its Node {node} doesn't exist")));
            }
            Presence::Unknown => {}
        }
    }
}

/// Whether it counts as terminated (`isPodTerminated`).
fn is_terminated(pod: &PodFacts) -> bool {
    !matches!(pod.phase.as_deref(), Some("Pending" | "Running" | "Unknown"))
}

/// Those above the threshold, of the whole cluster.
pub(super) fn find_terminated(scene: &Scene<'_>, graph: &OwnerGraph, found: &mut Found) {
    let Some(threshold) = usize::try_from(scene.settings.threshold()).ok().filter(|threshold| *threshold > 0) else {
        return;
    };
    let ended = |id: &&ObjectId| scene.pod(**id).is_some_and(is_terminated);
    let mut ended: Vec<ObjectId> = scene.of("", "Pod").iter().filter(ended).copied().collect();
    let excess = ended.len().saturating_sub(threshold);
    if excess == 0 {
        return;
    }
    let is_evicted = |id: ObjectId| matches!(scene.facts(id), Some(ReclaimFacts::Pod(pod)) if pod.evicted);
    ended.sort_by_key(|id| (!is_evicted(*id), scene.created(*id), scene.name(*id)));
    let doubt = match scene.is_listed("", "Pod") {
        true => "other Pods may go first, and then it is not too many",
        false => "not all Pods could be read, and it depends on their number",
    };
    let Sooner { may_go, go } = sooner(scene, graph, found);
    let left: Vec<ObjectId> = ended.iter().copied().filter(|id| !may_go.contains(id)).collect();
    let certain = left.len().saturating_sub(threshold);
    let certain: FxHashSet<ObjectId> = match scene.is_listed("", "Pod") {
        true => left[..certain].iter().copied().collect(),
        false => FxHashSet::default(),
    };
    for id in &ended[..excess] {
        let why = format!("{} Pods have ended, and --terminated-pod-gc-threshold={threshold}", ended.len());
        let when = When::Pass { from: scene.now, until: scene.now + EVERY, every: EVERY };
        let doubt = (!certain.contains(id) && !go.contains(id)).then(|| doubt.to_owned());
        found.goes(*id, Reason::new(Rule::R12_6, CONTROLLER, when, why).doubted(doubt));
    }
}

/// What another reason may take, and takes for certain, before the next look.
struct Sooner {
    may_go: FxHashSet<ObjectId>,
    go: FxHashSet<ObjectId>,
}

fn sooner(scene: &Scene<'_>, graph: &OwnerGraph, found: &Found) -> Sooner {
    let is_due = |when: &When| when.earliest(scene.now).is_some_and(|time| time <= scene.now + EVERY);
    let (mut may_go, mut go) = (FxHashSet::default(), FxHashSet::default());
    for (id, reason) in found.removals.iter().filter(|(_, reason)| is_due(&reason.when)) {
        let taken = all_taken(scene, graph, *id);
        if reason.doubt.is_none() {
            go.insert(*id);
            // What is held may keep its dependents.
            if !is_held(scene, *id) {
                go.extend(&taken);
            }
        }
        may_go.insert(*id);
        may_go.extend(taken);
    }
    Sooner { may_go, go }
}
