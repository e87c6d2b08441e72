//! ControllerRevisions above the `revisionHistoryLimit` of their StatefulSets (R12.4) and DaemonSets (R12.5).

use rustc_hash::FxHashSet;

use crate::{
    groups::Groups,
    model::{
        ObjectId, Rule, Symbol,
        facts::{ReclaimFacts, RevisionFacts, SetHistory, Template},
    },
    wording::count,
};

use super::{Found, Reason, When, scene::Scene};

/// The label of pods with their revision: a StatefulSet's name of it, a DaemonSet's hash.
const HASH: &str = "controller-revision-hash";

type Revision<'a> = (ObjectId, &'a RevisionFacts);

pub(super) fn find(scene: &Scene<'_>, found: &mut Found) {
    let revisions = scene.by_namespace("apps", "ControllerRevision");
    let controllers = scene.of("", "Pod").iter().flat_map(|id| {
        let references = scene.object(*id).owners.iter().filter(|reference| reference.is_controller());
        references.map(move |reference| (reference.uid, *id))
    });
    let pods: Groups<Symbol> = controllers.collect();
    let own = |workload: ObjectId| -> Option<Vec<Revision<'_>>> {
        let selector = scene.selector(workload)?;
        let in_namespace = revisions.of(&scene.object(workload).namespace).iter().copied();
        let is_own = |id: &ObjectId| scene.claims(workload, selector, *id);
        Some(in_namespace.filter(is_own).filter_map(|id| Some((id, revision(scene, id)?))).collect())
    };
    let pods_of = |workload: ObjectId| pods.of(&scene.object(workload).uid);
    for id in scene.of("apps", "StatefulSet").iter().filter(|id| !scene.object(**id).terminating()) {
        if let (Some(ReclaimFacts::StatefulSet(history)), Some(own)) = (scene.facts(*id), own(*id)) {
            of_stateful_set(scene, *id, history, own, pods_of(*id), found);
        }
    }
    for id in scene.of("apps", "DaemonSet").iter().filter(|id| !scene.object(**id).terminating()) {
        if let (Some(ReclaimFacts::DaemonSet(template)), Some(own)) = (scene.facts(*id), own(*id)) {
            of_daemon_set(scene, *id, template, own, pods_of(*id), found);
        }
    }
}

fn revision<'a>(scene: &Scene<'a>, id: ObjectId) -> Option<&'a RevisionFacts> {
    match scene.facts(id) {
        Some(ReclaimFacts::Revision(facts)) => Some(facts),
        _ => None,
    }
}

/// The current revision, the one that it is updated to, and those of its pods are live. Of the others, it keeps the
/// newest (`truncateHistory`).
fn of_stateful_set(
    scene: &Scene<'_>,
    set: ObjectId,
    history: &SetHistory,
    mut own: Vec<Revision<'_>>,
    pods: &[ObjectId],
    found: &mut Found,
) {
    let Some(limit) = history.template.limit.and_then(|limit| usize::try_from(limit).ok()) else { return };
    own.sort_by_key(|(id, facts)| (facts.revision, scene.created(*id), scene.name(*id)));
    let equal = |(_, facts): &&Revision<'_>| facts.template.as_ref() == Some(&history.template.template);
    let update = own.iter().rev().find(equal).map(|(id, _)| *id);
    let mut live: FxHashSet<&str> = pods.iter().filter_map(|pod| scene.snapshot.label(*pod, HASH)).collect();
    // Once all pods are updated, the current revision is the new one.
    let is_updated = update.is_some_and(|update| live.iter().all(|name| *name == scene.name(update)));
    let is_over = history.rolling && is_updated && history.replicas == [history.wanted; 3];
    live.extend(update.map(|update| scene.name(update)));
    if !is_over {
        live.extend(history.current.as_deref());
    }
    own.retain(|(id, _)| !live.contains(scene.name(*id)));
    let excess = own.len().saturating_sub(limit);
    for (id, _) in own[..excess].iter().filter(|(id, _)| !scene.object(*id).terminating()) {
        let old = count(own.len(), "revision that no pod has", "revisions that no pod has");
        let why = format!("{} has {old}, and revisionHistoryLimit: {limit}", scene.short(set));
        found.goes(*id, Reason::new(Rule::R12_4, "statefulset-controller", When::Now, why));
    }
}

/// It keeps the newest old ones and those that pods have (`cleanupHistory`), and one copy of the current one
/// (`dedupCurHistories`).
fn of_daemon_set(
    scene: &Scene<'_>,
    set: ObjectId,
    template: &Template,
    own: Vec<Revision<'_>>,
    pods: &[ObjectId],
    found: &mut Found,
) {
    const CONTROLLER: &str = "daemonset-controller";
    let Some(limit) = template.limit.and_then(|limit| usize::try_from(limit).ok()) else { return };
    let (mut current, mut old): (Vec<Revision<'_>>, Vec<_>) =
        own.into_iter().partition(|(_, facts)| facts.template.as_ref() == Some(&template.template));
    current.sort_by_key(|(_, facts)| facts.revision);
    current.pop();
    for (id, _) in current.into_iter().filter(|(id, _)| !scene.object(*id).terminating()) {
        let why = format!("a copy of the current revision of {}", scene.short(set));
        found.goes(id, Reason::new(Rule::R12_5, CONTROLLER, When::Now, why));
    }
    let live: FxHashSet<&str> = pods.iter().filter_map(|pod| scene.snapshot.label(*pod, HASH)).collect();
    old.sort_by_key(|(_, facts)| facts.revision);
    let excess = old.len().saturating_sub(limit);
    // A revision without the label gets its name as the label.
    let hash = |id: ObjectId| scene.snapshot.label(id, HASH).unwrap_or_else(|| scene.name(id));
    let unused = old.iter().filter(|(id, _)| !live.contains(hash(*id))).take(excess);
    for (id, _) in unused.filter(|(id, _)| !scene.object(*id).terminating()) {
        let has = count(old.len(), "old revision", "old revisions");
        let why = format!("{} has {has}, and revisionHistoryLimit: {limit}", scene.short(set));
        found.goes(*id, Reason::new(Rule::R12_5, CONTROLLER, When::Now, why));
    }
}
