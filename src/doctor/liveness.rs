//! Whether a component seems to be running: the controller that set a finalizer, the kubelet of a node.

use crate::{
    model::{ObjectId, Presence, ResourceId, Symbol, facts::Setter},
    simulate::obstacles::{lease_named, lease_says},
};

pub(super) use crate::simulate::obstacles::Liveness;

use super::{case::Case, finding::ReadsNeeded};

/// A controller without a ready pod may be starting: it has this many seconds after the delete.
const STARTS: i64 = 120;

/// Who set a finalizer, and whether that component seems to be running.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FinalizerOwner {
    /// The name in managed fields.
    pub manager: Option<String>,
    pub liveness: Liveness,
    /// The workload that is scaled to 0, and that would start it.
    pub workload: Option<ObjectId>,
}

impl FinalizerOwner {
    /// Whether there is evidence that the component is not running.
    pub(super) fn is_away(&self) -> bool {
        matches!(self.liveness, Liveness::Away(_))
    }
}

/// Default manager names of programs and names of people's tools, which identify no controller.
fn tells_nobody(manager: &str) -> bool {
    manager.starts_with("kubectl")
        || matches!(
            manager,
            "" | "manager"
                | "controller"
                | "operator"
                | "main"
                | "Go-http-client"
                | "unknown"
                | "curl"
                | "helm"
                | "before-first-apply"
        )
}

/// The setters of this finalizer. `setters` are sorted by finalizer.
fn of_finalizer<'a>(setters: &'a [Setter], finalizer: &'a str) -> impl Iterator<Item = &'a Setter> {
    let first = setters.partition_point(|setter| *setter.finalizer < *finalizer);
    setters[first..].iter().take_while(move |setter| setter.finalizer == finalizer)
}

/// The controller that should remove a finalizer from an object, as far as that can be found out.
pub(super) fn keeper(case: &Case<'_>, wanted: &mut ReadsNeeded, id: ObjectId, finalizer: Symbol) -> FinalizerOwner {
    let text = case.snapshot().text(finalizer);
    let nobody = |liveness| FinalizerOwner { manager: None, liveness, workload: None };
    let Some(setters) = case.snapshot().facts.setters(id) else {
        wanted.setters.insert(id);
        return nobody(Liveness::Unread("who added it could not be read".to_owned()));
    };
    let mut managers: Vec<&str> = of_finalizer(setters, text).map(|setter| setter.manager.as_str()).collect();
    managers.dedup();
    let Some(manager) = managers.iter().find(|manager| !tells_nobody(manager)).or(managers.first()).copied() else {
        return nobody(Liveness::Unknown("who added it is not recorded".to_owned()));
    };
    let (liveness, workload) = if tells_nobody(manager) {
        (Liveness::Unknown(format!("added by hand with {manager:?}; owning controller unknown")), None)
    } else {
        of_manager(case, wanted, manager, !case.has_been_terminating(id, STARTS))
    };
    FinalizerOwner { manager: Some(manager.to_owned()), liveness, workload }
}

/// The kinds that controllers run as.
const WORKLOADS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// Whether a program with this name seems to run, by its Lease and its workload. It counts as away only if there is
/// evidence for that and none against it.
fn of_manager(
    case: &Case<'_>,
    wanted: &mut ReadsNeeded,
    manager: &str,
    patience: bool,
) -> (Liveness, Option<ObjectId>) {
    let snapshot = case.snapshot();
    let said = |words: String| format!("added by {manager:?}; {words}");
    let kinds: Vec<ResourceId> =
        WORKLOADS.into_iter().filter_map(|kind| snapshot.resources.by_group_kind("apps", kind)).collect();
    let name = snapshot.strings.find(manager);
    let called = |resource: ResourceId| -> Vec<ObjectId> {
        let all = case.stage.of_resource(resource).iter().copied();
        all.filter(|id| Some(snapshot.object(*id).name) == name).collect()
    };
    let (mut alive, mut away, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    let mut lease_ended = false;
    for lease in case.stage.built_in.leases.into_iter().flat_map(called) {
        match of_lease(case, wanted, lease, "its lease") {
            Liveness::Alive(words) => alive.push(words),
            Liveness::Away(words) => {
                lease_ended = true;
                away.push(words);
            }
            Liveness::Unknown(words) | Liveness::Unread(words) => unknown.push(words),
        }
    }
    let mut idle = None;
    for workload in kinds.iter().copied().flat_map(called) {
        let name = case.name(workload, None);
        match snapshot.facts.workload(workload) {
            None => {
                wanted.needs.facts.insert(workload);
                unknown.push(format!("it could not be read whether {name} is running"));
            }
            Some(facts) if facts.wanted == Some(0) => {
                idle = idle.or(Some(workload));
                away.push(format!("{name} is scaled to 0"));
            }
            // It may have been started a moment ago.
            Some(facts) if facts.ready == 0 && patience => alive.push(format!("{name} has no ready pod yet")),
            Some(facts) if facts.ready == 0 => away.push(format!("{name} has no ready pod")),
            Some(_) => alive.push(format!("{name} has ready pods")),
        }
    }
    let all_read =
        kinds.iter().copied().chain(case.stage.built_in.leases).all(|resource| snapshot.covers(resource, None));
    let liveness = match (alive.is_empty(), away.is_empty()) {
        // Ready pods may not be the leader, or lead under another name.
        (false, false) if lease_ended => {
            Liveness::Unknown(said(format!("{}, but {}", away.join(", "), alive.join(", "))))
        }
        (false, _) => Liveness::Alive(said(alive.join(", "))),
        (true, false) if unknown.is_empty() => Liveness::Away(said(away.join(", and "))),
        _ if !unknown.is_empty() => Liveness::Unread(said(unknown.join(", "))),
        _ if all_read => Liveness::Unknown(said("no workload or Lease has that name".to_owned())),
        _ => Liveness::Unread(said("not all workloads and Leases could be read".to_owned())),
    };
    let idle = idle.filter(|_| matches!(liveness, Liveness::Away(_)));
    (liveness, idle)
}

/// Whether the holder of a Lease is alive.
pub(super) fn of_lease(case: &Case<'_>, wanted: &mut ReadsNeeded, lease: ObjectId, what: &str) -> Liveness {
    let Some(facts) = case.snapshot().facts.lease(lease) else {
        wanted.needs.facts.insert(lease);
        return Liveness::Unread(format!("{what} could not be read"));
    };
    lease_says(facts, case.now, what)
}

/// The kubelet of a node, by the Lease that it keeps renewing (kube-node-lease).
pub(super) fn of_kubelet(case: &Case<'_>, wanted: &mut ReadsNeeded, node: &str) -> Liveness {
    match lease_named(case.stage, "kube-node-lease", node, &mut wanted.needs) {
        Presence::Present(id) => of_lease(case, wanted, id, "the lease of its kubelet"),
        Presence::Absent => Liveness::Away("it has no Lease, so it has never reported".to_owned()),
        Presence::Unknown => Liveness::Unread("the lease of its kubelet could not be read".to_owned()),
    }
}
