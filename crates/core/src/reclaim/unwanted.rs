//! Pods that their workload no longer wants (R12.18), and Endpoints whose Service doesn't exist (R12.19).

use rustc_hash::FxHashMap;

use crate::model::{ObjectId, Presence, Rule, Symbol, facts::ReclaimFacts};

use super::{Found, Reason, When, claims::is_unwanted, scene::Scene};

pub(super) fn find_pods(scene: &Scene<'_>, found: &mut Found) {
    let mut pods: FxHashMap<Symbol, Vec<ObjectId>> = FxHashMap::default();
    for id in scene.of("", "Pod").iter().filter(|id| scene.pod(**id).is_some()) {
        for owner in scene.object(*id).owners.iter().filter(|owner| owner.is_controller()) {
            pods.entry(owner.uid).or_default().push(*id);
        }
    }
    let workloads = ["StatefulSet", "ReplicaSet"].into_iter().flat_map(|kind| scene.of("apps", kind));
    for id in workloads.filter(|id| !scene.object(**id).terminating()) {
        let Some(own) = pods.get(&scene.object(*id).uid) else { continue };
        match scene.facts(*id) {
            Some(ReclaimFacts::StatefulSet(_)) => of_stateful_set(scene, *id, own, found),
            // Which of them go is certain only if all do.
            Some(ReclaimFacts::ReplicaSet(set)) if set.wanted == 0 => {
                let ended = |id: ObjectId| scene.pod(id).is_some_and(|pod| pod.finished());
                for pod in own.iter().filter(|pod| !scene.object(**pod).terminating() && !ended(**pod)) {
                    goes(scene, *id, *pod, ("replicaset-controller", When::Now), found);
                }
            }
            _ => {}
        }
    }
}

/// The highest ordinal goes first. Unless it is parallel, the next one waits for its end, and all wait until the wanted
/// pods are ready.
fn of_stateful_set(scene: &Scene<'_>, set: ObjectId, own: &[ObjectId], found: &mut Found) {
    let Some(ReclaimFacts::StatefulSet(history)) = scene.facts(set) else { return };
    let ordinal = |pod: &ObjectId| scene.name(*pod).strip_prefix(scene.name(set))?.strip_prefix('-')?.parse().ok();
    let mut unwanted: Vec<(i64, ObjectId)> = own.iter().filter_map(|pod| Some((ordinal(pod)?, *pod))).collect();
    let all = unwanted.len();
    unwanted.retain(|(ordinal, _)| is_unwanted(history, &ordinal.to_string()));
    unwanted.sort_unstable_by_key(|(ordinal, _)| std::cmp::Reverse(*ordinal));
    let is_parallel = scene.snapshot.facts.workload(set).is_some_and(|workload| workload.parallel);
    let is_ready = |pod: &ObjectId| scene.pod(*pod).is_some_and(|pod| pod.is_ready());
    let mut wanted = own.iter().filter(|pod| !unwanted.iter().any(|(_, other)| other == *pod));
    let stands = usize::try_from(history.wanted).is_ok_and(|wanted| all - unwanted.len() == wanted);
    let stands = stands && wanted.all(|pod| is_ready(pod) && !scene.object(*pod).terminating());
    let mut before = None;
    for (_, pod) in unwanted {
        let when = match before.replace(pod).filter(|_| !is_parallel) {
            Some(before) => When::after(scene, vec![before]),
            None if is_parallel || stands => When::Now,
            None => When::once(format!("the other pods of {} are ready", scene.short(set))),
        };
        if !scene.object(pod).terminating() {
            goes(scene, set, pod, ("statefulset-controller", when), found);
        }
    }
}

fn goes(scene: &Scene<'_>, by: ObjectId, pod: ObjectId, (controller, when): (&'static str, When), found: &mut Found) {
    let why = format!("{} no longer wants it", scene.short(by));
    found.goes(pod, Reason::new(Rule::R12_18, controller, when, why));
}

/// The controller looks for them only when it starts (`checkLeftoverEndpoints`).
pub(super) fn find_endpoints(scene: &Scene<'_>, found: &mut Found) {
    for id in scene.of("", "Endpoints").iter().filter(|id| !scene.object(**id).terminating()) {
        let namespace = scene.snapshot.text(scene.object(*id).namespace);
        if scene.look_up("", "Service", namespace, scene.name(*id)) == Presence::Absent {
            let when = When::once("kube-controller-manager starts again");
            let why = format!("Service/{}, which it belongs to, doesn't exist", scene.name(*id));
            let lock =
                "it stays if it is the lock of a leader election (annotation control-plane.alpha.kubernetes.io/leader)";
            let reason = Reason::new(Rule::R12_19, "endpoints-controller", when, why);
            found.goes(*id, reason.doubted(Some(lock.to_owned())));
        }
    }
}
