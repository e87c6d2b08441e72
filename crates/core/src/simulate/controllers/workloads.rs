//! Workloads: those that controllers may run as, and whether their pods are ready.

use crate::model::{Coordinate, ObjectId, Presence, ResourceId, Snapshot, facts::NotReady};

use super::super::context::SimContext;

/// The kinds that controllers run as.
const WORKLOADS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// A pod that became unready within this many seconds may just be restarting.
const STARTS: i64 = 120;

/// At most this many pods of a workload, or components of an add-on, are looked at.
pub(super) const LOOKED_AT: usize = 8;

/// Why a container waits that won't start by itself.
const FAILURES: [&str; 8] = [
    NotReady::CRASHES,
    "ImagePullBackOff",
    "ErrImagePull",
    "ErrImageNeverPull",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

/// The kinds of workloads, if they are served.
pub(super) fn kinds(context: &SimContext<'_>) -> [Option<ResourceId>; 3] {
    WORKLOADS.map(|kind| context.snapshot.resources.by_group_kind("apps", kind))
}

/// Every workload that controllers may run as.
pub(super) fn all<'c>(context: &'c SimContext<'_>) -> impl Iterator<Item = ObjectId> + 'c {
    kinds(context).into_iter().flatten().flat_map(|kind| context.of_resource(kind).iter().copied())
}

/// Whether the pods of a workload are ready, in words.
pub(crate) enum Readiness {
    Ready(String),
    /// None is ready yet.
    Starting(String),
    /// It is scaled to 0.
    Idle(String),
    Failing(String),
    Unread(String),
}

/// `Kind/name -n NAMESPACE`
pub(super) fn name(snapshot: &Snapshot, id: ObjectId) -> String {
    format!("{} -n {}", snapshot.short_name(id), snapshot.namespace(id))
}

/// Whether a workload has ready pods.
pub(super) fn readiness(context: &SimContext<'_>, workload: ObjectId) -> Readiness {
    let snapshot = context.snapshot;
    let called = name(snapshot, workload);
    let Some(facts) = context.evidence(workload, snapshot.facts.workload(workload)) else {
        return Readiness::Unread(format!("it could not be read whether {called} is running"));
    };
    let is_daemon = snapshot.resource(workload).kind == "DaemonSet";
    match (facts.wanted, facts.ready) {
        (Some(0), _) if is_daemon => Readiness::Failing(format!("{called} is scheduled to no node")),
        (Some(0), _) => Readiness::Idle(format!("{called} is scaled to 0")),
        (_, 0) if facts.without_status => {
            Readiness::Unread(format!("it could not be read whether {called} is running"))
        }
        (_, 0) => without_ready_pod(context, workload, &called),
        _ => Readiness::Ready(format!("{called} has ready pods")),
    }
}

/// The workloads whose pods a Service selects, as far as their own selectors say so.
pub(crate) fn behind(context: &SimContext<'_>, service: ObjectId) -> Vec<(ObjectId, Readiness)> {
    let snapshot = context.snapshot;
    let Some(selector) = snapshot.facts.service(service).and_then(|facts| facts.selector.as_ref()) else {
        return Vec::new();
    };
    let namespace = snapshot.object(service).namespace;
    let here: Vec<ObjectId> = all(context).filter(|id| snapshot.object(*id).namespace == namespace).collect();
    let unread = here.iter().filter(|id| snapshot.facts.workload(**id).is_none());
    context.lacks(|needs| needs.evidence.extend(unread));
    let is_selected = |id: &ObjectId| {
        let own = snapshot.facts.workload(*id).and_then(|facts| facts.selector.as_ref());
        own.is_some_and(|own| selector.0.iter().all(|label| own.0.contains(label)))
    };
    here.into_iter().filter(is_selected).map(|id| (id, readiness(context, id))).collect()
}

/// The workloads of a name in a namespace.
pub(crate) fn called(context: &SimContext<'_>, namespace: &str, name: &str) -> Vec<(ObjectId, Readiness)> {
    let snapshot = context.snapshot;
    let called = all(context).filter(|id| snapshot.namespace(*id) == namespace && snapshot.name(*id) == name);
    called.map(|id| (id, readiness(context, id))).collect()
}

/// A workload without a ready pod may be starting, or its pods fail.
fn without_ready_pod(context: &SimContext<'_>, workload: ObjectId, called: &str) -> Readiness {
    let snapshot = context.snapshot;
    let mut pods = pods_of(context, workload);
    pods.retain(|pod| !snapshot.object(*pod).terminating());
    pods.sort_by_key(|pod| std::cmp::Reverse(snapshot.object(*pod).created));
    pods.truncate(LOOKED_AT);
    let mut since = snapshot.object(workload).created.get();
    let mut reason = None;
    for pod in &pods {
        let Some(facts) = context.evidence(*pod, snapshot.facts.pod(*pod)) else { continue };
        since = since.max(snapshot.object(*pod).created.get());
        let Some(NotReady { waiting, because, since: begun }) = facts.not_ready.as_deref() else { continue };
        let name = snapshot.short_name(*pod);
        if let Some(failure) = waiting.as_deref().filter(|failure| FAILURES.contains(failure)) {
            let because = because.as_deref().map(|because| format!(" ({because})")).unwrap_or_default();
            return Readiness::Failing(format!("{called} has no ready pod: {name} is in {failure}{because}"));
        }
        let told = match facts.node {
            None => because.as_deref().map(|because| format!("{name} is not scheduled: {because}")),
            Some(_) => because.as_deref().map(|because| format!("a container of {name} ended last with {because}")),
        };
        reason = reason.or(told);
        since = since.max(*begun);
    }
    let starts = context.time.zip(since).is_some_and(|(now, since)| now - since < STARTS);
    if starts {
        return Readiness::Starting(format!("{called} has no ready pod yet"));
    }
    let is_refused = snapshot.facts.workload(workload).is_some_and(|facts| facts.fails_to_create) && pods.is_empty();
    let refused = is_refused.then(|| "the API server refuses to create its pods".to_owned());
    let reason = reason.or(refused).map(|reason| format!(": {reason}")).unwrap_or_default();
    Readiness::Failing(format!("{called} has no ready pod{reason}"))
}

/// The pods of a workload: its dependents, or those of its ReplicaSets.
fn pods_of(context: &SimContext<'_>, workload: ObjectId) -> Vec<ObjectId> {
    let dependents = |id: ObjectId| context.graph.dependents(id.into()).iter().copied();
    let is_pod = |id: &ObjectId| Some(context.snapshot.object(*id).resource) == context.built_in.pods;
    let (mut pods, others): (Vec<ObjectId>, Vec<ObjectId>) = dependents(workload).partition(is_pod);
    pods.extend(others.into_iter().flat_map(dependents).filter(is_pod));
    pods
}

/// The workload of the pod that holds a Lease: a holder is called after its pod.
pub(crate) fn of_holder(context: &SimContext<'_>, lease: ObjectId) -> Option<ObjectId> {
    let snapshot = context.snapshot;
    let holder = snapshot.facts.lease(lease)?.holder.as_deref()?;
    let pod = snapshot.strings.find(holder.split('_').next().unwrap_or(holder))?;
    let namespace = snapshot.object(lease).namespace;
    let coordinate = Coordinate { resource: context.built_in.pods?, namespace, name: pod };
    let Presence::Present(mut found) = snapshot.look_up(coordinate) else { return None };
    // A pod, its ReplicaSet, its Deployment.
    for _ in 0..2 {
        found = snapshot.controller_of(found).unwrap_or(found);
    }
    kinds(context).contains(&Some(snapshot.object(found).resource)).then_some(found)
}
