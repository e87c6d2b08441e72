//! Whether somebody who should act seems to be there: what set a finalizer, the kubelet of a node, the controller manager.

use crate::{
    model::{Coordinate, ObjectId, Presence, ResourceId, Symbol, facts::LeaseFacts},
    wording::age,
};

use super::{case::Case, finding::Wanted};

/// A Lease that was not renewed for this long after it ended belongs to nobody who is alive: clocks differ, and renewals are retried.
const SLACK: i64 = 30;
/// How long a Lease is good for that doesn't say.
const USUAL_LEASE: i64 = 40;

/// Whether somebody seems to be there, and what tells.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Liveness {
    Away(String),
    Alive(String),
    Unknown(String),
}

impl Liveness {
    /// What tells.
    pub fn evidence(&self) -> &str {
        match self {
            Liveness::Away(words) | Liveness::Alive(words) | Liveness::Unknown(words) => words,
        }
    }
}

/// Who set a finalizer, and whether they seem to be there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Keeper {
    /// As managed fields name them.
    pub manager: Option<String>,
    pub liveness: Liveness,
    /// The workload that is scaled to nothing, or has no pod that is ready.
    pub workload: Option<ObjectId>,
}

/// Names that programs have for managers by default, or that people's tools have: they tell nobody.
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

/// Whoever is to remove a finalizer from an object, as far as it can be told.
pub(super) fn keeper(case: &Case<'_>, wanted: &mut Wanted, id: ObjectId, finalizer: Symbol) -> Keeper {
    let text = case.snapshot().text(finalizer);
    let unknown = |words: String| Keeper { manager: None, liveness: Liveness::Unknown(words), workload: None };
    let Some(setters) = case.snapshot().facts.setters(id) else {
        wanted.setters.insert(id);
        return unknown("who set it could not be read".to_owned());
    };
    let mut managers: Vec<&str> =
        setters.iter().filter(|setter| setter.finalizer == text).map(|setter| setter.manager.as_str()).collect();
    managers.dedup();
    let Some(manager) = managers.iter().find(|manager| !tells_nobody(manager)).or(managers.first()).copied() else {
        return unknown("who set it is not recorded".to_owned());
    };
    let (liveness, workload) = if tells_nobody(manager) {
        (Liveness::Unknown(format!("it was set by {manager:?}, which tells nothing of a controller")), None)
    } else {
        of_manager(case, wanted, manager)
    };
    Keeper { manager: Some(manager.to_owned()), liveness, workload }
}

/// Whether a program of this name seems to run: by its Lease, and by its workload.
fn of_manager(case: &Case<'_>, wanted: &mut Wanted, manager: &str) -> (Liveness, Option<ObjectId>) {
    let snapshot = case.snapshot();
    let said = |words: &str| format!("it was set by {manager:?}; {words}");
    let Some(name) = snapshot.strings.find(manager) else {
        return (Liveness::Unknown(said("nothing here is called that")), None);
    };
    let called = |resource: Option<ResourceId>| -> Vec<ObjectId> {
        let all = resource.map_or(&[][..], |resource| case.stage.of_resource(resource)).iter().copied();
        all.filter(|id| snapshot.object(*id).name == name).collect()
    };
    let mut workloads = Vec::new();
    for kind in ["Deployment", "StatefulSet", "DaemonSet"] {
        workloads.extend(called(snapshot.resources.by_group_kind("apps", kind)));
    }
    let leases = called(case.stage.built_in.leases);
    let mut seen: Vec<Liveness> = Vec::new();
    for lease in &leases {
        seen.push(of_lease(case, wanted, *lease, "its lease"));
    }
    let mut idle = None;
    for workload in &workloads {
        let name = case.name(*workload, None);
        match snapshot.facts.workload(*workload) {
            None => {
                wanted.needs.facts.insert(*workload);
            }
            Some(facts) if facts.wanted == Some(0) => {
                idle = Some(*workload);
                seen.push(Liveness::Away(format!("{name} is scaled to 0")));
            }
            Some(facts) if facts.ready == 0 => {
                idle = Some(*workload);
                seen.push(Liveness::Away(format!("{name} has no pod that is ready")));
            }
            Some(_) => seen.push(Liveness::Alive(format!("{name} has pods that are ready"))),
        }
    }
    // A lease that is renewed outweighs a workload that looks idle, and one that ended one that looks busy: only who holds it acts.
    let found = seen.iter().find(|seen| !matches!(seen, Liveness::Unknown(_))).or(seen.first());
    match found {
        Some(Liveness::Away(words)) => (Liveness::Away(said(words)), idle),
        Some(Liveness::Alive(words)) => (Liveness::Alive(said(words)), None),
        Some(Liveness::Unknown(words)) => (Liveness::Unknown(said(words)), None),
        None if workloads.is_empty() => (Liveness::Unknown(said("no workload or Lease here is called that")), None),
        None => (Liveness::Unknown(said("whether that runs could not be read")), None),
    }
}

/// Whether the holder of a Lease is alive.
pub(super) fn of_lease(case: &Case<'_>, wanted: &mut Wanted, lease: ObjectId, what: &str) -> Liveness {
    let Some(facts) = case.snapshot().facts.lease(lease) else {
        wanted.needs.facts.insert(lease);
        return Liveness::Unknown(format!("{what} could not be read"));
    };
    lease_says(facts, case.now, what)
}

fn lease_says(facts: &LeaseFacts, now: Option<i64>, what: &str) -> Liveness {
    let (Some(renewed), Some(now)) = (facts.renewed, now) else {
        return Liveness::Unknown(format!("{what} doesn't say when it was renewed"));
    };
    let ended = renewed.saturating_add(facts.seconds.unwrap_or(USUAL_LEASE));
    if now > ended.saturating_add(SLACK) {
        Liveness::Away(format!("{what} ended {} ago", age(now - ended)))
    } else {
        Liveness::Alive(format!("{what} was renewed {} ago", age((now - renewed).max(0))))
    }
}

/// The kubelet of a node, by the Lease that it renews all the time (kube-node-lease).
pub(super) fn of_kubelet(case: &Case<'_>, wanted: &mut Wanted, node: &str) -> Liveness {
    match lease(case, "kube-node-lease", node) {
        Presence::Present(id) => of_lease(case, wanted, id, "the lease of its kubelet"),
        Presence::Absent => Liveness::Away(format!("no kubelet has ever reported from node {node}")),
        Presence::Unknown => Liveness::Unknown(format!("the lease of node {node} could not be read")),
    }
}

/// The controller manager, by the Lease of its leader.
pub(super) fn of_controller_manager(case: &Case<'_>, wanted: &mut Wanted) -> Liveness {
    match lease(case, "kube-system", "kube-controller-manager") {
        Presence::Present(id) => of_lease(case, wanted, id, "kube-controller-manager's lease"),
        _ => Liveness::Unknown("kube-controller-manager has no lease that can be seen".to_owned()),
    }
}

fn lease(case: &Case<'_>, namespace: &str, name: &str) -> Presence {
    let snapshot = case.snapshot();
    let Some(resource) = case.stage.built_in.leases else { return Presence::Unknown };
    let find = |text: &str| snapshot.strings.find(text);
    match (find(namespace), find(name)) {
        (Some(namespace), Some(name)) => snapshot.look_up(Coordinate { resource, namespace, name }),
        // No object that was read has such a name.
        _ if snapshot.covers(resource, None) => Presence::Absent,
        _ => Presence::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_good_for_a_while() {
        let facts = |renewed| LeaseFacts { holder: None, seconds: Some(15), renewed };
        let says = |renewed, now| lease_says(&facts(renewed), now, "its lease");
        assert_eq!(says(Some(100), Some(145)), Liveness::Alive("its lease was renewed 45s ago".to_owned()));
        assert_eq!(says(Some(100), Some(146)), Liveness::Away("its lease ended 31s ago".to_owned()));
        assert_eq!(says(Some(100), Some(90)), Liveness::Alive("its lease was renewed 0s ago".to_owned()), "clocks differ");
        assert!(matches!(says(None, Some(1)), Liveness::Unknown(_)));
        assert!(matches!(says(Some(1), None), Liveness::Unknown(_)));
    }
}
