//! PersistentVolumeClaims that are deleted and protected (R12.11), those of pods that a StatefulSet no longer wants
//! (R12.12), and those that no pod uses.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{
    ObjectId, Rule, Symbol,
    facts::{ReclaimFacts, SetHistory},
};

use super::{Found, Reason, When, scene::Scene};

/// The finalizer of claims that pods use.
const PROTECTION: &str = "kubernetes.io/pvc-protection";

pub(super) fn find(scene: &Scene<'_>, found: &mut Found) {
    let scaled = scaled_down(scene);
    let mentioned = mentioned(scene);
    let is_mentioned = |id: ObjectId| mentioned.contains(&(scene.object(id).namespace, scene.name(id)));
    for id in scene.of("", "PersistentVolumeClaim") {
        let object = scene.object(*id);
        if object.terminating() {
            if object.finalizers.iter().any(|finalizer| scene.snapshot.text(*finalizer) == PROTECTION) {
                protected(scene, *id, found);
            }
            continue;
        }
        match scaled.get(&(object.namespace, scene.name(*id))) {
            Some((set, true, Some(pod))) => {
                let why =
                    format!("{} no longer wants {}, and whenScaled is Delete", scene.short(*set), scene.short(*pod));
                found.goes(
                    *id,
                    Reason::new(Rule::R12_12, "garbage-collector-controller", When::after(scene, vec![*pod]), why),
                );
            }
            Some((set, deletes, None)) if !is_mentioned(*id) => {
                let why = format!("{} no longer wants its pod, which is gone: the claim stays", scene.short(*set));
                let policy = if *deletes { "" } else { " (whenScaled is Retain)" };
                found.stays(*id, Rule::R12_12, format!("{why}{policy}"));
            }
            _ if !is_mentioned(*id) && scene.is_listed("", "Pod") => {
                found.stays(*id, Rule::R12_11, "no pod uses it: nothing removes it");
            }
            _ => {}
        }
    }
}

fn protected(scene: &Scene<'_>, id: ObjectId, found: &mut Found) {
    let users = scene.pods_with_claim(id);
    let when = if users.is_empty() { When::Now } else { When::after(scene, users.to_vec()) };
    let why = format!("it is Terminating, and {PROTECTION} holds it while a pod uses it");
    found.goes(id, Reason::new(Rule::R12_11, "persistentvolumeclaim-protection-controller", when, why));
}

/// The claims that any pod mentions, scheduled or not, by namespace and name.
fn mentioned<'a>(scene: &Scene<'a>) -> FxHashSet<(Symbol, &'a str)> {
    let pods = scene.of("", "Pod").iter().filter_map(|id| Some((scene.object(*id).namespace, scene.pod(*id)?)));
    pods.flat_map(|(namespace, pod)| pod.claims.iter().map(move |claim| (namespace, claim.as_str()))).collect()
}

/// The claims of pods that StatefulSets no longer want, by namespace and name: the StatefulSet, whether it deletes
/// them, and the pod if it is still there.
type ScaledDown<'a> = FxHashMap<(Symbol, &'a str), (ObjectId, bool, Option<ObjectId>)>;

fn scaled_down<'a>(scene: &Scene<'a>) -> ScaledDown<'a> {
    let claims = scene.by_namespace("", "PersistentVolumeClaim");
    let mut pods: FxHashMap<(Symbol, &str), ObjectId> = FxHashMap::default();
    for id in scene.of("", "Pod") {
        pods.insert((scene.object(*id).namespace, scene.name(*id)), *id);
    }
    let mut found = ScaledDown::default();
    for id in scene.of("apps", "StatefulSet").iter().filter(|id| !scene.object(**id).terminating()) {
        let (Some(ReclaimFacts::StatefulSet(history)), Some(workload)) =
            (scene.facts(*id), scene.snapshot.facts.workload(*id))
        else {
            continue;
        };
        let namespace = scene.object(*id).namespace;
        let templates = workload.claims.iter().flat_map(|claims| &claims.names);
        for template in templates {
            let prefix = format!("{template}-{}-", scene.name(*id));
            for claim in claims.of(&namespace) {
                let Some(ordinal) = scene.name(*claim).strip_prefix(&prefix) else { continue };
                if !is_unwanted(history, ordinal) {
                    continue;
                }
                let pod = pods.get(&(namespace, format!("{}-{ordinal}", scene.name(*id)).as_str())).copied();
                let uid = scene.object(*id).uid;
                let pod = pod.filter(|pod| scene.object(*pod).is_controlled_by(uid));
                found.insert((namespace, scene.name(*claim)), (*id, history.deletes_scaled, pod));
            }
        }
    }
    found
}

/// Whether a StatefulSet of this history no longer wants the pod with this ordinal.
pub(super) fn is_unwanted(history: &SetHistory, ordinal: &str) -> bool {
    let wanted = history.first..history.first.saturating_add(history.wanted);
    ordinal.parse::<i64>().is_ok_and(|ordinal| !wanted.contains(&ordinal))
}
