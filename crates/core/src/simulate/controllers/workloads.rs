//! Workloads: which of them are a controller's, and whether their pods are ready.

use crate::{
    model::{Coordinate, ObjectId, Presence, ResourceId, Snapshot, effects::AddOn},
    wording::count,
};

use super::{
    super::world::{Needs, SimContext},
    Evidence, Liveness,
};

/// The kinds that controllers run as.
const WORKLOADS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// A pod that became unready within this many seconds may just be restarting.
const STARTS: i64 = 120;

/// At most this many pods of a workload, or components of an add-on, are looked at.
const LOOKED_AT: usize = 8;

/// Labels that name an application or what it is a part of.
const NAME_LABELS: [&str; 5] =
    ["app.kubernetes.io/name", "app.kubernetes.io/part-of", "app.kubernetes.io/instance", "control-plane", "app"];

/// Why a container waits that won't start by itself.
const FAILURES: [&str; 8] = [
    "CrashLoopBackOff",
    "ImagePullBackOff",
    "ErrImagePull",
    "ErrImageNeverPull",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

/// Parts of a domain that identify no controller.
const COMMON: [&str; 16] = [
    "api",
    "app",
    "apps",
    "core",
    "finalizer",
    "finalizers",
    "kubernetes",
    "k8s",
    "x-k8s",
    "example",
    "sigs",
    "controller",
    "operator",
    "cloud",
    "toolkit",
    "cluster",
];

/// What follows the first word of an operator's name, if that is of its finalizer's domain.
const ROLES: [&str; 5] =
    ["-operator", "-controller", "-controller-manager", "-operator-controller-manager", "-manager"];

/// The words of a finalizer's domain that may identify its controller.
fn words_of(domain: &str) -> impl Iterator<Item = &str> {
    domain.rsplit('.').skip(1).filter(|word| !word.is_empty() && !COMMON.contains(word))
}

/// Whether a name is that of an operator of this domain, as most are called: `pg-operator` for `pg.acme.io` and for
/// `pg-operator.acme.io`.
fn is_called_after(name: &str, domain: &str) -> bool {
    let is_its = |word: &str| match name.strip_prefix(word) {
        Some("") => ROLES.iter().any(|role| word.ends_with(role)),
        role => role.is_some_and(|role| ROLES.contains(&role)),
    };
    words_of(domain).any(is_its)
}

/// The kinds of workloads, if they are served.
pub(super) fn kinds(context: &SimContext<'_>) -> [Option<ResourceId>; 3] {
    WORKLOADS.map(|kind| context.snapshot.resources.by_group_kind("apps", kind))
}

/// Every workload that controllers may run as.
pub(super) fn all<'c>(context: &'c SimContext<'_>) -> impl Iterator<Item = ObjectId> + 'c {
    kinds(context).into_iter().flatten().flat_map(|kind| context.of_resource(kind).iter().copied())
}

/// Whether a workload is an add-on's controller, by its name or its label `app.kubernetes.io/name`.
pub(super) fn is_called(snapshot: &Snapshot, workload: ObjectId, add_on: &AddOn) -> bool {
    add_on.is_called(snapshot.text(snapshot.object(workload).name))
        || snapshot.label(workload, NAME_LABELS[0]).is_some_and(|name| add_on.is_called(name))
}

/// Whether a workload may be the controller of this finalizer, on objects of this group, by its name and labels.
pub(super) fn may_control(snapshot: &Snapshot, workload: ObjectId, finalizer: &str, group: &str) -> bool {
    let domain = finalizer.split('/').next().unwrap_or(finalizer);
    let of_kind: Vec<&str> = [domain, group]
        .into_iter()
        .flat_map(|text| text.split(['.', '-']))
        .filter(|word| word.len() > 3 && !COMMON.contains(word))
        .collect();
    let object = snapshot.object(workload);
    let labels = object.labels.iter().filter(|(key, _)| NAME_LABELS.contains(&snapshot.text(*key)));
    let names = labels.map(|(_, value)| snapshot.text(*value)).chain([snapshot.text(object.name)]);
    let is_telling = |word: &str| {
        ["operator", "controller", "controllers", "manager", "provider"].contains(&word) || of_kind.contains(&word)
    };
    names.flat_map(|name| name.split('-')).any(is_telling)
}

/// Whether the pods of a workload are ready, in words.
pub(super) enum Readiness {
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
    format!("{} -n {}", snapshot.short_name(id), snapshot.text(snapshot.object(id).namespace))
}

/// Whether a workload has ready pods.
pub(super) fn readiness(context: &SimContext<'_>, needs: &mut Needs, workload: ObjectId) -> Readiness {
    let snapshot = context.snapshot;
    let called = name(snapshot, workload);
    let Some(facts) = snapshot.facts.workload(workload) else {
        needs.evidence.insert(workload);
        return Readiness::Unread(format!("it could not be read whether {called} is running"));
    };
    let is_daemon = snapshot.resources.get(snapshot.object(workload).resource).kind == "DaemonSet";
    match (facts.wanted, facts.ready) {
        (Some(0), _) if is_daemon => Readiness::Failing(format!("{called} is scheduled to no node")),
        (Some(0), _) => Readiness::Idle(format!("{called} is scaled to 0")),
        (_, 0) if facts.without_status => {
            Readiness::Unread(format!("it could not be read whether {called} is running"))
        }
        (_, 0) => without_ready_pod(context, needs, workload, &called),
        _ => Readiness::Ready(format!("{called} has ready pods")),
    }
}

/// A workload without a ready pod may be starting, or its pods fail.
fn without_ready_pod(context: &SimContext<'_>, needs: &mut Needs, workload: ObjectId, called: &str) -> Readiness {
    let snapshot = context.snapshot;
    let mut pods = pods_of(context, workload);
    pods.retain(|pod| !snapshot.object(*pod).terminating());
    pods.sort_by_key(|pod| std::cmp::Reverse(snapshot.object(*pod).created));
    pods.truncate(LOOKED_AT);
    let mut since = snapshot.object(workload).created.get();
    for pod in &pods {
        let Some(facts) = snapshot.facts.pod(*pod) else {
            needs.evidence.insert(*pod);
            continue;
        };
        let failure = facts.not_ready.as_ref().and_then(|not_ready| not_ready.waiting.as_deref());
        if let Some(failure) = failure.filter(|failure| FAILURES.contains(failure)) {
            return Readiness::Failing(format!(
                "{called} has no ready pod: {} is in {failure}",
                snapshot.short_name(*pod)
            ));
        }
        since = since
            .max(facts.not_ready.as_ref().and_then(|not_ready| not_ready.since))
            .max(snapshot.object(*pod).created.get());
    }
    let starts = context.time.zip(since).is_some_and(|(now, since)| now - since < STARTS);
    match starts {
        true => Readiness::Starting(format!("{called} has no ready pod yet")),
        false => Readiness::Failing(format!("{called} has no ready pod")),
    }
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
pub(super) fn of_holder(context: &SimContext<'_>, lease: ObjectId) -> Option<ObjectId> {
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

/// What follows a program's name in that of its workload.
fn is_suffix(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('-')
}

/// Workloads that may be the controller: components of the add-on, or workloads that are called after the finalizer's
/// domain. `None` if there are none. If the only one has no pods, it is the controller, and perhaps `idle`.
pub(super) fn possible(
    context: &SimContext<'_>,
    needs: &mut Needs,
    add_on: Option<&AddOn>,
    program: Option<&str>,
    finalizer: &str,
    evidence: &mut Evidence,
) -> Option<Liveness> {
    let snapshot = context.snapshot;
    let domain = finalizer.split('/').next().unwrap_or(finalizer);
    let words: Vec<&str> = match add_on {
        Some(add_on) => add_on.labels.to_vec(),
        None => words_of(domain).filter(|word| word.len() > 3).collect(),
    };
    let is_part = |id: &ObjectId| {
        let object = snapshot.object(*id);
        let named_so = |text: &str| match add_on {
            Some(add_on) => words.contains(&text) || add_on.may_be_called(text),
            None => text.split('-').any(|part| words.contains(&part)) || is_called_after(text, domain),
        };
        let labels = object.labels.iter().filter(|(key, _)| NAME_LABELS.contains(&snapshot.text(*key)));
        named_so(snapshot.text(object.name)) || labels.into_iter().any(|(_, value)| named_so(snapshot.text(*value)))
    };
    let is_called_so = |id: &ObjectId| is_called_after(snapshot.text(snapshot.object(*id).name), domain);
    let name_of = |id: &ObjectId| snapshot.text(snapshot.object(*id).name);
    let is_of_another = |id: &ObjectId| add_on.is_some_and(|add_on| add_on.is_of_another(name_of(id)));
    let mut parts: Vec<ObjectId> = all(context).filter(|id| is_part(id) && !is_of_another(id)).collect();
    // Of several, the one that is called like the program that added the finalizer.
    let is_programs =
        |id: &ObjectId| program.is_some_and(|program| name_of(id).strip_prefix(program).is_some_and(is_suffix));
    if parts.iter().any(is_programs) {
        parts.retain(is_programs);
    }
    let first = *parts.first()?;
    let mut away = Vec::new();
    for part in parts.iter().take(LOOKED_AT) {
        let readiness = readiness(context, needs, *part);
        match readiness {
            Readiness::Idle(_) => _ = evidence.idle.get_or_insert(*part),
            Readiness::Failing(_) => evidence.failing.push(*part),
            _ => {}
        }
        if let Readiness::Idle(words) | Readiness::Failing(words) = readiness {
            away.push(words);
        }
    }
    if away.len() == parts.len() && add_on.is_some() && super::are_all_read(context) {
        return Some(Liveness::Away(away.join(", and ")));
    }
    if away.len() == parts.len() {
        let is_it = parts.len() == 1 && is_called_so(&first);
        return is_it.then(|| Liveness::Away(away.join(", and ")));
    }
    if add_on.is_some() || parts.iter().all(is_called_so) {
        evidence.may_be.clone_from(&parts);
    }
    let more = parts.len() - 1;
    let more =
        if more == 0 { String::new() } else { format!(" and {}", count(more, "other workload", "other workloads")) };
    Some(Liveness::Unknown(format!("{}{more} may be its controller", name(snapshot, first))))
}
