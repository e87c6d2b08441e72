//! Chooses who should remove a finalizer from an object, and judges whether that controller runs.

use std::collections::BTreeSet;

use crate::{
    model::{
        ObjectId, Origin, ResourceId, Symbol,
        effects::{AddOn, add_on, is_within, known_finalizer},
    },
    wording::{count, maker},
};

use super::{
    super::{context::SimContext, liveness::of_lease, state::Liveness},
    FinalizerController,
    candidates::{self, Asked, is_called},
    driver::{Driver, has_role},
    index::Scope,
    lacks::Lack,
    managers::{is_applier, is_default_name},
    recorded::{AddedBy, added_by, adds_it_to_others, in_kebab_case},
    scope::scope,
    workloads::{self, LOOKED_AT, Readiness},
};

/// What shows whether a controller runs.
#[derive(Debug, Default)]
struct Evidence {
    alive: Vec<String>,
    away: Vec<String>,
    unread: Vec<String>,
    /// Of what runs, and doesn't handle the object, or perhaps not.
    out_of_scope: Vec<String>,
    idle: Option<ObjectId>,
    failing: Vec<ObjectId>,
    running: Vec<ObjectId>,
    may_be: Vec<ObjectId>,
    /// All was read, and nothing is it.
    unseen: bool,
    /// What it needs, and can't create where it runs.
    refused: Option<&'static str>,
    lacks: Vec<Lack>,
}

impl Evidence {
    fn is_empty(&self) -> bool {
        [&self.alive, &self.away, &self.unread, &self.out_of_scope].iter().all(|words| words.is_empty())
    }
}

/// Workloads by whether they handle an object.
#[derive(Debug, Default)]
struct Scoped {
    handling: Vec<ObjectId>,
    /// With the reason for the doubt.
    perhaps: Vec<(ObjectId, String)>,
    others: Vec<(ObjectId, String)>,
}

impl Scoped {
    fn of(context: &SimContext<'_>, asked: &Asked<'_>, all: Vec<ObjectId>) -> Scoped {
        let mut scoped = Scoped::default();
        for workload in all {
            context.evidence(workload, context.snapshot.facts.workload(workload));
            match scope(context.snapshot, workload, asked.add_on, asked.object) {
                Scope::Handles => scoped.handling.push(workload),
                Scope::Perhaps(why) => scoped.perhaps.push((workload, why)),
                Scope::LeavesOut(why) => scoped.others.push((workload, why)),
            }
        }
        scoped
    }

    fn doubtful(&self) -> impl Iterator<Item = ObjectId> {
        self.perhaps.iter().chain(&self.others).map(|(id, _)| *id)
    }
}

/// The controller that should remove a finalizer from an object. Who added the finalizer is read of `sample`, which may
/// stand for it. The first of these that finds a workload counts:
///
/// 1. the program that is recorded as having added the finalizer, and the workload that the table knows for finalizer,
///    group and kind;
/// 2. the only workload that the owner of the kind's CRD owns;
/// 3. those that the object or its CRD names;
/// 4. those that are called after the finalizer's domain or the object's group.
///
/// Only the first two can show that it runs: the others may be it. What is known not to handle this object shows
/// nothing, wherever it was found.
pub(super) fn judge(
    context: &SimContext<'_>,
    sample: ObjectId,
    object: ObjectId,
    (finalizer, text): (Symbol, &str),
    driver: Option<&Driver>,
) -> FinalizerController {
    let snapshot = context.snapshot;
    let id = snapshot.object(object).resource;
    let resource = snapshot.resources.get(id);
    let add_on = add_on(text, &resource.group, &resource.kind);
    let asked = Asked { object, resource: id, finalizer: text, group: &resource.group, add_on, driver };
    let provisioner = driver.filter(|driver| driver.provisions());
    // Every provisioner has the same name there.
    let added_by = match provisioner {
        Some(_) => AddedBy::NotRecorded,
        None => added_by(context, sample, text),
    };
    let own = match added_by {
        AddedBy::Program(program) => Some(program),
        _ => None,
    };
    let copied = add_on.is_none() && matches!(added_by, AddedBy::Anyone(_) | AddedBy::NotRecorded);
    let of_others = if copied { adds_it_to_others(context, sample, finalizer) } else { None };
    // If the controller's own name is known, other components of the add-on that set the finalizer show nothing.
    let is_its =
        |program: &&str| add_on.is_none_or(|add_on| !add_on.has_names() || add_on.is_called(program, asked.group));
    let program = own.filter(is_its).or(of_others);
    // Each controller of a CSI driver has a leader.
    let of_driver = driver.filter(|driver| driver.itself().is_none()).map(Driver::leases);
    let of_driver = of_driver.unwrap_or_else(|| program.map(str::to_owned).into_iter().collect());

    let mut evidence = Evidence::default();
    let scoped = Scoped::of(context, &asked, by_name(context, &asked, program));
    gather_leases(context, &asked, of_driver, &scoped, &mut evidence);
    gather_workloads(context, &scoped, &mut evidence);
    if let Some(program) = of_others {
        for words in evidence.alive.first_mut().into_iter().chain(evidence.away.first_mut()) {
            *words = format!("{program:?} adds it to others: {words}");
        }
    }
    if evidence.is_empty()
        && add_on.is_none_or(|add_on| !add_on.has_names())
        && let [only] = candidates::of_definitions_owner(context, id)[..]
    {
        let scoped = Scoped::of(context, &asked, vec![only]);
        gather_workloads(context, &scoped, &mut evidence);
    }
    let Evidence { alive, away, unread, out_of_scope, .. } = &evidence;
    let liveness = match (alive.is_empty(), away.is_empty()) {
        // Ready pods may not be the leader, or lead under another name; and one of several controllers of the same name
        // may be the one that handles this object.
        (false, false) => Liveness::Unknown(format!("{}, but {}", away.join(", "), alive.join(", "))),
        (false, _) => Liveness::Alive(alive.join(", ")),
        _ if !unread.is_empty() => Liveness::Unread(unread.join(", ")),
        _ if !out_of_scope.is_empty() => Liveness::Unknown(out_of_scope.join(", ")),
        (true, false) => Liveness::Away(away.join(", and ")),
        _ => without_evidence(context, &asked, &added_by, &mut evidence),
    };
    if matches!(liveness, Liveness::Alive(_) | Liveness::Away(_)) {
        evidence.lacks.clear();
    }
    let given_up = add_on.map(|add_on| add_on.given_up).filter(|since| !since.is_empty());
    let liveness = match (liveness, given_up) {
        (Liveness::Alive(alive), Some(since)) => {
            Liveness::Unknown(format!("{alive}, but {since} it leaves this finalizer"))
        }
        (liveness, _) => liveness,
    };
    let manager = match added_by {
        AddedBy::Program(name) => Some(name.to_owned()),
        AddedBy::Anyone(name) => add_on.is_some().then(|| name.to_owned()),
        AddedBy::NotRecorded | AddedBy::Unread => None,
    };
    let known = known_finalizer(text, &resource.group, &resource.kind).map(|known| known.by);
    let away = matches!(liveness, Liveness::Away(_));
    // Nobody is asked to install again what was removed without its finalizers.
    let is_gone = matches!(liveness, Liveness::Unread(_)) || away && evidence.idle.is_none();
    let is_told = |add_on: &&AddOn| !add_on.often_left || !is_gone;
    let is_seen = [&evidence.running, &evidence.may_be, &evidence.failing].iter().any(|all| !all.is_empty());
    FinalizerController {
        is_left: false,
        outside: !is_seen && evidence.idle.is_none() && add_on.is_some_and(|add_on| add_on.may_run_outside),
        name: known.or(add_on.filter(is_told).map(|add_on| add_on.name)),
        manager,
        liveness,
        idle: evidence.idle.filter(|_| away),
        failing: if away { evidence.failing } else { Vec::new() },
        running: evidence.running,
        may_be: evidence.may_be,
        unseen: evidence.unseen,
        refused: evidence.refused,
        in_vain: false,
        goes: false,
        loses: Vec::new(),
        lacks: evidence.lacks,
        paused: None,
        undrained: Vec::new(),
    }
}

/// The workloads that are called like the program, or as the table knows the add-on's.
fn by_name(context: &SimContext<'_>, asked: &Asked<'_>, program: Option<&str>) -> Vec<ObjectId> {
    let snapshot = context.snapshot;
    // A program may be called `AcmeOperator` where its workload is `acme-operator`.
    let names = program.map(|program| [program.to_owned(), in_kebab_case(program)]);
    let names: Vec<Symbol> = names.iter().flatten().filter_map(|name| snapshot.strings.find(name)).collect();
    let is_known = |id: ObjectId, add_on: &AddOn| is_called(snapshot, id, add_on, asked.group);
    let is_its = |id: &ObjectId| {
        names.contains(&snapshot.object(*id).name)
            || asked.add_on.is_some_and(|add_on| is_known(*id, add_on))
            || asked.driver.is_some_and(|driver| driver.provisions() && driver.is_run_by(snapshot, *id))
    };
    workloads::all(context).filter(is_its).collect()
}

/// The Leases of these names and the add-on's, except those of workloads that may not handle the object.
fn gather_leases(
    context: &SimContext<'_>,
    asked: &Asked<'_>,
    names: Vec<String>,
    scoped: &Scoped,
    evidence: &mut Evidence,
) {
    let Some(leases) = context.built_in.leases else { return };
    let snapshot = context.snapshot;
    let of_add_on = asked.add_on.into_iter().flat_map(|add_on| add_on.leases(asked.group));
    let names = of_add_on.chain(names);
    let names: BTreeSet<Symbol> = names.filter_map(|name| snapshot.strings.find(&name)).collect();
    let namespace = |id: ObjectId| snapshot.object(id).namespace;
    let is_doubtful = |lease: ObjectId| match workloads::of_holder(context, lease) {
        Some(holder) => scoped.doubtful().any(|id| id == holder),
        None => {
            scoped.doubtful().any(|id| namespace(id) == namespace(lease))
                && !scoped.handling.iter().any(|id| namespace(*id) == namespace(lease))
        }
    };
    let called = context.of_resource(leases).iter().filter(|id| names.contains(&snapshot.object(**id).name));
    for lease in called.copied() {
        let liveness = of_lease(context, lease, context.time, "its lease");
        if is_doubtful(lease) {
            continue;
        }
        match liveness {
            Liveness::Alive(words) => {
                evidence.running.extend(workloads::of_holder(context, lease));
                evidence.alive.push(words);
            }
            Liveness::Away(words) => evidence.away.push(words),
            Liveness::Nobody(words) | Liveness::Unknown(words) | Liveness::Unread(words) => evidence.unread.push(words),
        }
    }
}

/// What the workloads that handle the object show; if there are none, those that perhaps do: they can only be seen not
/// to run.
fn gather_workloads(context: &SimContext<'_>, scoped: &Scoped, evidence: &mut Evidence) {
    let handling = scoped.handling.iter().map(|id| (*id, None));
    let perhaps = scoped.perhaps.iter().map(|(id, why)| (*id, Some(why)));
    let is_handled = !scoped.handling.is_empty();
    for (workload, doubt) in handling.chain(perhaps.filter(|_| !is_handled)) {
        match (workloads::readiness(context, workload), doubt) {
            (Readiness::Ready(_) | Readiness::Starting(_), Some(why)) => {
                evidence.may_be.push(workload);
                evidence.out_of_scope.push(why.clone());
            }
            (Readiness::Ready(words) | Readiness::Starting(words), None) => {
                evidence.running.push(workload);
                evidence.alive.push(words);
            }
            (Readiness::Idle(words), _) => {
                evidence.idle = evidence.idle.filter(|idle| !context.is_leaving(*idle)).or(Some(workload));
                evidence.away.push(words);
            }
            (Readiness::Failing(words), _) => {
                evidence.failing.push(workload);
                evidence.away.push(words);
            }
            (Readiness::Unread(words), _) => evidence.unread.push(words),
        }
    }
    if !is_handled {
        evidence.out_of_scope.extend(scoped.others.iter().map(|(_, why)| why.clone()));
        let others = scoped.others.iter().filter(|_| scoped.perhaps.is_empty());
        evidence.lacks.extend(others.map(|(id, _)| Lack::Scope(*id)));
    }
}

/// The liveness if no workload and no Lease is known as the controller's.
fn without_evidence(
    context: &SimContext<'_>,
    asked: &Asked<'_>,
    added_by: &AddedBy<'_>,
    evidence: &mut Evidence,
) -> Liveness {
    let (snapshot, all_read) = (context.snapshot, are_all_read(context));
    let unread = || {
        let why = if snapshot.is_dump() { "are in the dump" } else { "could be read" };
        Liveness::Unread(format!("not all workloads and Leases {why}"))
    };
    let program = if let AddedBy::Program(program) = added_by { Some(*program) } else { None };
    if let Some(driver) = asked.driver.filter(|driver| driver.provisions()) {
        let may_be = workloads::all(context).filter(|id| driver.may_be_run_by(snapshot, *id));
        evidence.may_be = may_be.take(LOOKED_AT).collect();
        evidence.unseen = evidence.may_be.is_empty() && all_read;
        return match evidence.may_be.first() {
            Some(first) => Liveness::Unknown(format!("{} may be its controller", workloads::name(snapshot, *first))),
            None if !all_read => unread(),
            None => Liveness::Unknown(driver.unseen(driver.is_installed(snapshot))),
        };
    }
    if asked.add_on.is_some_and(|add_on| add_on.runs_beside) && is_without_pods(context, asked.object) {
        evidence.refused = Some("its pods");
        let namespace = snapshot.namespace(asked.object);
        return Liveness::Away(format!(
            "it runs in namespace {namespace}, which has no pods left and takes no new ones"
        ));
    }
    if let Some(possible) = possible(context, asked, program, evidence) {
        return possible;
    }
    let is_framework = candidates::framework(asked.finalizer).is_some();
    let elsewhere = all_read && runs_nothing(context);
    let is_outside = asked.add_on.map_or(is_framework, |add_on| add_on.may_run_outside);
    evidence.unseen = all_read && (is_outside || elsewhere);
    match (asked.add_on, added_by) {
        (Some(add_on), _) if !all_read && snapshot.is_dump() && add_on.has_names() && evidence.lacks.is_empty() => {
            Liveness::Unread(format!("no workload of {} is in the dump", add_on.name))
        }
        (Some(_), _) if !all_read => unread(),
        _ if elsewhere => Liveness::Unknown(
            "no evidence: there is no Node and no pod: controllers of this control plane run elsewhere".to_owned(),
        ),
        (Some(add_on), _) if add_on.may_run_outside => Liveness::Unknown(format!(
            "no evidence: the cluster has no workload of {}, which may run outside of it",
            asked.driver.and_then(Driver::itself).unwrap_or(add_on.name)
        )),
        (None, AddedBy::Unread | AddedBy::NotRecorded | AddedBy::Anyone(_))
            if let Some(framework) = candidates::framework(asked.finalizer) =>
        {
            Liveness::Unknown(format!("no evidence: any operator may have it, as {framework} is a framework's"))
        }
        (Some(add_on), _) => {
            let usually = add_on.usual_name(asked.group).map(|name| format!(" (usually {name})")).unwrap_or_default();
            Liveness::Away(format!("the cluster has no workload of {}{usually}", add_on.name))
        }
        (None, AddedBy::Unread | AddedBy::NotRecorded) if !all_read => unread(),
        (None, AddedBy::Unread) if snapshot.is_dump() => {
            Liveness::Unread("who added it is not in the dump: kubectl get --show-managed-fields tells it".to_owned())
        }
        (None, AddedBy::Unread) => Liveness::Unread("who added it could not be read".to_owned()),
        (None, AddedBy::NotRecorded) => Liveness::Nobody("who added it is not recorded".to_owned()),
        (None, AddedBy::Anyone(manager)) if is_applier(manager) => {
            Liveness::Nobody(format!("applied by {manager:?}; its controller is not known"))
        }
        (None, AddedBy::Anyone(manager)) if is_default_name(manager) => {
            let added = format!("added by {manager:?}, as many programs are called");
            match unread() {
                Liveness::Unread(why) if !all_read => Liveness::Unread(format!("{added}; {why}")),
                _ => Liveness::Nobody(format!("{added}; its controller is not known")),
            }
        }
        (None, AddedBy::Anyone(manager)) => {
            Liveness::Nobody(format!("added by hand with {:?}; its controller is not known", maker(manager)))
        }
        (None, AddedBy::Program(_)) if all_read => Liveness::Nobody("no workload or Lease has that name".to_owned()),
        (None, AddedBy::Program(_)) => unread(),
    }
}

/// What is said of workloads that may be the controller; `None` if there are none. If the only one has no pods, and is
/// called as its controller would be, it is the controller, and perhaps `idle`.
fn possible(
    context: &SimContext<'_>,
    asked: &Asked<'_>,
    program: Option<&str>,
    evidence: &mut Evidence,
) -> Option<Liveness> {
    let snapshot = context.snapshot;
    let mut parts = candidates::possible(context, asked, &workloads::all(context).collect::<Vec<_>>());
    // Of several, the one that is called like the program that added the finalizer.
    let is_programs = |id: ObjectId| {
        let rest = program.and_then(|program| snapshot.name(id).strip_prefix(program));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    // Of those of one maker, the operators.
    let is_operator = |id: ObjectId| asked.driver.is_some() && has_role(snapshot, id);
    for is_best in [&is_programs as &dyn Fn(ObjectId) -> bool, &is_operator] {
        if parts.iter().any(|(id, _)| is_best(*id)) {
            parts.retain(|(id, _)| is_best(*id));
        }
    }
    let is_known = asked.add_on.is_some_and(|add_on| !add_on.is_only_a_name());
    let is_called = parts.iter().all(|(_, called)| *called);
    let looked_at = parts.iter().take(LOOKED_AT).map(|(id, _)| *id).collect();
    let scoped = Scoped::of(context, asked, looked_at);
    let left_out = scoped.others.first().map(|(_, why)| why.clone());
    parts.retain(|(id, _)| !scoped.others.iter().any(|(other, _)| other == id));
    let Some((first, _)) = parts.first().copied() else {
        evidence.lacks.extend(scoped.others.first().map(|(id, _)| Lack::Scope(*id)));
        return left_out.map(Liveness::Unknown);
    };
    let mut away = Vec::new();
    for (part, _) in parts.iter().take(LOOKED_AT) {
        let readiness = workloads::readiness(context, *part);
        match readiness {
            Readiness::Idle(_) => _ = evidence.idle.get_or_insert(*part),
            Readiness::Failing(_) => evidence.failing.push(*part),
            _ => {}
        }
        if let Readiness::Idle(words) | Readiness::Failing(words) = readiness {
            away.push(words);
        }
    }
    if away.len() == parts.len() {
        let is_it = is_known && are_all_read(context) || parts.len() == 1 && is_called;
        let called = workloads::name(snapshot, first);
        let why = away[0].strip_prefix(&called).filter(|_| !is_it && candidates::is_telling(snapshot, first));
        let pods = |why: &str| {
            let (why, idle) = (why.trim_start().to_owned(), evidence.idle == Some(first));
            Lack::Pods { workload: first, why, idle }
        };
        evidence.lacks = why.map(pods).into_iter().collect();
        let away = is_it.then(|| Liveness::Away(away.join(", and ")));
        return left_out.map(Liveness::Unknown).or(away);
    }
    evidence.may_be = parts.iter().map(|(id, _)| *id).collect();
    let more = parts.len() - 1;
    let more =
        if more == 0 { String::new() } else { format!(" and {}", count(more, "other workload", "other workloads")) };
    Some(Liveness::Unknown(format!("{}{more} may be its controller", workloads::name(snapshot, first))))
}

/// Whether the namespace of an object is being deleted, and its conditions, which name all that is left in it, name no
/// pods.
fn is_without_pods(context: &SimContext<'_>, object: ObjectId) -> bool {
    let namespace = context.leaving_namespace_of(object);
    let said = namespace.map(|namespace| context.snapshot.facts.said_to_keep(namespace)).unwrap_or_default();
    let left: Vec<String> = said.iter().flat_map(|condition| condition.remaining_resources()).collect();
    !left.is_empty() && !left.iter().any(|name| name == "pods") && !said.iter().any(|condition| condition.fails())
}

/// Whether this is a control plane in which nothing runs: it has no Node and no pod, and an API that such have.
fn runs_nothing(context: &SimContext<'_>) -> bool {
    const APIS: [&str; 3] = ["karmada.io", "kcp.io", "core.gardener.cloud"];
    let has_none = |kind: ResourceId| context.of_resource(kind).is_empty() && context.snapshot.covers(kind, None);
    [context.built_in.nodes, context.built_in.pods].into_iter().flatten().all(has_none)
        && context.snapshot.resources.iter().any(|(_, kind)| APIS.iter().any(|api| is_within(&kind.group, api)))
}

impl FinalizerController {
    /// Whether it is known not to run, or all that could show it was read and shows nothing.
    pub(super) fn is_unseen(&self, context: &SimContext<'_>) -> bool {
        let is_read = || workloads::all(context).next().is_some() && are_all_read(context);
        self.is_away() || self.shows_nothing() && is_read()
    }
}

/// Whether all workloads and Leases were listed. A dump proves nothing about kinds that it doesn't contain.
pub(crate) fn are_all_read(context: &SimContext<'_>) -> bool {
    let snapshot = context.snapshot;
    let is_live = matches!(snapshot.origin, Origin::Cluster { .. });
    let kinds = workloads::kinds(context).into_iter().chain([context.built_in.leases]);
    kinds.into_iter().all(|kind| kind.map_or(is_live, |kind| snapshot.covers(kind, None)))
}
