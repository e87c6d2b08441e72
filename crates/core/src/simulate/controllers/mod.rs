//! Whether the controller that removes a finalizer runs: judged by its workload, its pods and its Lease, not by its
//! name. One judge for plans and for the doctor.

mod workloads;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use rustc_hash::FxHashMap;

use crate::model::{
    ObjectId, Origin, ResourceId, Snapshot, Symbol,
    effects::{AddOn, Pause, add_on, known_finalizer, pauses_with_its_cluster},
    facts::Setter,
};

use super::{
    BlockedBy,
    actors::{left_by_job_controller, managed_by_another},
    liveness::{Liveness, of_lease},
    world::{Needs, SimContext},
};

use workloads::Readiness;

/// The label by which Cluster API's objects name their Cluster.
const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";

/// The controller that should remove a finalizer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FinalizerController {
    /// Its name, if it is known: of an add-on, or of a built-in controller.
    pub name: Option<&'static str>,
    /// Who added the finalizer: the name in managed fields.
    pub manager: Option<String>,
    pub liveness: Liveness,
    /// Its workload, if that is scaled to 0.
    pub idle: Option<ObjectId>,
    /// Its workloads that should run, and have no ready pod.
    pub failing: Vec<ObjectId>,
    /// The workloads whose pods show that it runs.
    pub running: Vec<ObjectId>,
    /// The workloads that are called as its controller would be, if nothing else points to one.
    pub may_be: Vec<ObjectId>,
    /// Whether all of these go in the simulated delete.
    pub goes: bool,
    /// What makes it leave the object alone, though it may run.
    pub paused: Option<Paused>,
}

/// What makes a controller leave an object alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Paused {
    pub pause: Pause,
    /// The Cluster of Cluster API that is paused; `None`: the object itself is.
    pub with: Option<ObjectId>,
}

impl Paused {
    /// What has to happen first, as a clause after "until".
    pub fn until(&self) -> &'static str {
        match self.pause {
            Pause::Annotation(_) | Pause::Field(_) => "somebody resumes it",
            Pause::Condition(_) => "what its condition names is gone",
        }
    }
}

impl FinalizerController {
    /// One without a known workload or manager.
    pub fn of(name: Option<&'static str>, liveness: Liveness) -> Self {
        let (failing, running, may_be) = (Vec::new(), Vec::new(), Vec::new());
        let (goes, paused) = (false, None);
        FinalizerController { name, manager: None, liveness, idle: None, failing, running, may_be, goes, paused }
    }

    /// Whether there is evidence that it is not running.
    pub fn is_away(&self) -> bool {
        matches!(self.liveness, Liveness::Away(_))
    }

    /// Whether it is known to run, and stays.
    pub fn runs(&self) -> bool {
        matches!(self.liveness, Liveness::Alive(_)) && !self.goes
    }

    /// Whether it is known to run, in JSON.
    pub fn seen(&self) -> &'static str {
        match self.liveness {
            _ if self.goes => "goes",
            Liveness::Alive(_) => "running",
            Liveness::Away(_) => "not-running",
            Liveness::Nobody(_) | Liveness::Unknown(_) | Liveness::Unread(_) => "unknown",
        }
    }

    /// Its workload, its own name, or who added the finalizer, if any of these is known.
    pub fn told(&self, snapshot: &Snapshot) -> Option<String> {
        let workload = self.running.first().or(self.idle.as_ref()).or(self.may_be.first());
        let workload = workload.map(|workload| snapshot.short_name(*workload));
        workload.or_else(|| self.name.map(str::to_owned)).or_else(|| self.manager.clone())
    }

    /// Who added the finalizer, and the evidence.
    pub fn story(&self) -> String {
        let evidence = self.liveness.evidence();
        match &self.manager {
            Some(manager) => format!("added by {manager:?}; {evidence}"),
            None => evidence.to_owned(),
        }
    }
}

/// The controllers of the finalizers that block objects.
#[derive(Clone, Debug, Default)]
pub struct Controllers(FxHashMap<(ObjectId, Symbol), Arc<FinalizerController>>);

impl Controllers {
    pub fn insert(&mut self, object: ObjectId, finalizer: Symbol, controller: Arc<FinalizerController>) {
        self.0.insert((object, finalizer), controller);
    }

    /// Adds those of other objects, and of other finalizers.
    pub fn add(&mut self, others: &Controllers) {
        self.0.extend(others.0.iter().map(|(finalizer, controller)| (*finalizer, Arc::clone(controller))));
    }

    /// Those that leave their objects alone.
    pub fn paused(&self) -> Controllers {
        let paused = self.0.iter().filter(|(_, controller)| controller.paused.is_some());
        Controllers(paused.map(|(finalizer, controller)| (*finalizer, Arc::clone(controller))).collect())
    }

    /// The controller that should remove what blocks an object.
    pub fn get(&self, object: ObjectId, blocker: BlockedBy) -> Option<&FinalizerController> {
        let BlockedBy::Finalizer(finalizer) = blocker else { return None };
        self.0.get(&(object, finalizer)).map(|controller| &**controller)
    }
}

/// The finalizer of an object, and of whom its field managers are read.
pub struct Question {
    pub object: ObjectId,
    pub finalizer: Symbol,
    /// Read the managers of this very object. Otherwise those of a few objects with the same finalizer stand for all.
    pub exact: bool,
}

/// Relations between objects that show whether controllers run, computed once for a snapshot.
#[derive(Debug, Default)]
pub(crate) struct ControllerIndex {
    by_finalizer: OnceLock<FxHashMap<(ResourceId, Symbol), Vec<ObjectId>>>,
    judged: Mutex<FxHashMap<(ObjectId, Symbol), Judged>>,
    runs_in_a_cloud: OnceLock<bool>,
    /// Stands for all that are not judged.
    too_many: OnceLock<Arc<FinalizerController>>,
}

/// A controller, and what should be read to know more of it.
type Judged = (Arc<FinalizerController>, Needs);

/// The managers of this many objects with the same finalizer are read; those of the first stand for the others.
const SAMPLES: usize = 8;
/// At most this many finalizers of objects are judged, far more than a cluster has of different ones.
const MOST_JUDGED: usize = 20_000;

impl ControllerIndex {
    /// Some objects of each kind with each finalizer.
    fn by_finalizer(&self, snapshot: &Snapshot) -> &FxHashMap<(ResourceId, Symbol), Vec<ObjectId>> {
        self.by_finalizer.get_or_init(|| {
            let mut index: FxHashMap<(ResourceId, Symbol), Vec<ObjectId>> = FxHashMap::default();
            for (id, object) in snapshot.objects() {
                for finalizer in object.finalizers.iter() {
                    let some = index.entry((object.resource, *finalizer)).or_default();
                    if some.len() < SAMPLES {
                        some.push(id);
                    }
                }
            }
            index
        })
    }

    /// The object whose managers stand for this one's.
    fn representative(&self, snapshot: &Snapshot, object: ObjectId, finalizer: Symbol) -> ObjectId {
        let some = self
            .by_finalizer(snapshot)
            .get(&(snapshot.object(object).resource, finalizer))
            .map_or(&[][..], Vec::as_slice);
        if some.contains(&object) { object } else { some.first().copied().unwrap_or(object) }
    }
}

/// The controller that should remove a finalizer from an object, and whether it seems to run.
pub(crate) fn finalizer_controller(
    context: &SimContext<'_>,
    needs: &mut Needs,
    question: &Question,
) -> Arc<FinalizerController> {
    let (object, finalizer) = (question.object, question.finalizer);
    // This depends on the very object.
    if let Some(why) = left_by_job_controller(context.snapshot, object, finalizer) {
        return Arc::new(FinalizerController::of(None, Liveness::Nobody(why)));
    }
    if let Some((_, why)) = managed_by_another(context.snapshot, object, finalizer) {
        return Arc::new(FinalizerController::of(None, Liveness::Unknown(why)));
    }
    let index = &context.controllers;
    let of = if question.exact { object } else { index.representative(context.snapshot, object, finalizer) };
    let mut judged = index.judged.lock().unwrap_or_else(PoisonError::into_inner);
    if judged.len() >= MOST_JUDGED && !judged.contains_key(&(of, finalizer)) {
        let why = "there are too many finalizers to look at each";
        let too_many = || Arc::new(FinalizerController::of(None, Liveness::Unread(why.to_owned())));
        return Arc::clone(index.too_many.get_or_init(too_many));
    }
    let (controller, wanted) = judged.entry((of, finalizer)).or_insert_with(|| {
        let mut wanted = Needs::default();
        let controller = judge(context, &mut wanted, of, finalizer);
        (Arc::new(controller), wanted)
    });
    needs.add(wanted);
    let controller = Arc::clone(controller);
    match paused(context, needs, object, finalizer).filter(|_| !controller.is_away()) {
        Some(paused) => {
            let with = paused.with.map(|cluster| format!(", as {}", context.snapshot.short_name(cluster)));
            let liveness = Liveness::Unknown(paused.pause.in_words() + &with.unwrap_or_default());
            Arc::new(FinalizerController { liveness, paused: Some(paused), ..(*controller).clone() })
        }
        None => controller,
    }
}

/// What makes the controller of a finalizer leave this object alone, as far as was read.
fn paused(context: &SimContext<'_>, needs: &mut Needs, object: ObjectId, finalizer: Symbol) -> Option<Paused> {
    let snapshot = context.snapshot;
    let text = snapshot.text(finalizer);
    if !Pause::is_possible(text) {
        return None;
    }
    let mut pause_of = |object: ObjectId| match snapshot.facts.policy(object) {
        Some(facts) => facts.pause.clone(),
        None => {
            needs.evidence.insert(object);
            None
        }
    };
    if let Some(pause) = pause_of(object) {
        return Some(Paused { pause, with: None });
    }
    // All that belongs to a paused Cluster is.
    let name = snapshot.label(object, CLUSTER_NAME).filter(|_| pauses_with_its_cluster(text))?;
    let clusters = snapshot.resources.by_group_kind("cluster.x-k8s.io", "Cluster")?;
    let cluster = snapshot.look_up_named(clusters, snapshot.text(snapshot.object(object).namespace), name).object()?;
    let is_known = |finalizer: &Symbol| Pause::is_possible(snapshot.text(*finalizer));
    snapshot.object(cluster).finalizers.iter().find(|finalizer| is_known(finalizer))?;
    Some(Paused { pause: pause_of(cluster)?, with: Some(cluster) })
}

/// Whether a finalizer's controller may be taken to run where nothing shows it: a cloud's, in its control plane. Not if
/// the cluster shows it, and so whether it runs; nor if its Nodes are no cloud's. Those have a label that only the
/// controller of a cloud sets (kubernetes/cloud-provider controllers/node/node_controller.go).
pub(crate) fn runs_in_a_cloud(context: &SimContext<'_>, object: ObjectId, finalizer: Symbol) -> bool {
    let snapshot = context.snapshot;
    let resource = snapshot.resources.get(snapshot.object(object).resource);
    let add_on = add_on(snapshot.text(finalizer), &resource.group, &resource.kind);
    let Some(add_on) = add_on.filter(|add_on| add_on.has_names()) else { return true };
    // There is only one such controller.
    *context.controllers.runs_in_a_cloud.get_or_init(|| is_taken_to_run(context, add_on))
}

fn is_taken_to_run(context: &SimContext<'_>, add_on: &AddOn) -> bool {
    let snapshot = context.snapshot;
    let leases = context.built_in.leases.map_or(&[][..], |leases| context.of_resource(leases));
    let is_its = |lease: &ObjectId| add_on.leases.contains(&snapshot.text(snapshot.object(*lease).name));
    let nodes = context.built_in.nodes.map_or(&[][..], |nodes| context.of_resource(nodes));
    let is_of_cloud = |node: &ObjectId| snapshot.label(*node, "node.kubernetes.io/instance-type").is_some();
    (nodes.is_empty() || nodes.iter().any(is_of_cloud))
        && !leases.iter().any(is_its)
        && !workloads::all(context).any(|workload| workloads::is_called(snapshot, workload, add_on))
}

/// Whether controllers may run as such an object.
pub(crate) fn is_workload(context: &SimContext<'_>, object: ObjectId) -> bool {
    workloads::kinds(context).contains(&Some(context.snapshot.object(object).resource))
}

/// The objects with a finalizer that these workloads alone are known to remove, or may remove by their names, with
/// their controller, in snapshot order.
pub(crate) fn held_by_these(
    context: &SimContext<'_>,
    needs: &mut Needs,
    workloads: &[ObjectId],
) -> Vec<(ObjectId, Symbol, Arc<FinalizerController>)> {
    let snapshot = context.snapshot;
    let mut controllers: FxHashMap<(ResourceId, Symbol), Arc<FinalizerController>> = FxHashMap::default();
    for ((resource, finalizer), samples) in context.controllers.by_finalizer(snapshot) {
        let kind = snapshot.resources.get(*resource);
        let text = snapshot.text(*finalizer);
        let add_on = add_on(text, &kind.group, &kind.kind);
        // Who is judged is read: only what may be the controller by its name.
        let may_be = |workload: &ObjectId| match add_on {
            Some(add_on) if add_on.has_names() => workloads::is_called(snapshot, *workload, add_on),
            _ => workloads::may_control(snapshot, *workload, text, &kind.group),
        };
        // Who added the finalizer is not read for this: every delete of a workload would read it of all finalizers.
        let setters = snapshot.facts.setters(samples[0]).map(|setters| of_finalizer(setters, text));
        let programs: Vec<&str> = setters.into_iter().flatten().map(|setter| setter.manager.as_str()).collect();
        let is_called = |workload: &ObjectId| {
            let name = snapshot.text(snapshot.object(*workload).name);
            programs.iter().any(|program| !tells_nobody(program) && (name.contains(program) || program.contains(name)))
        };
        let is_kubernetes =
            known_finalizer(text, &kind.group, &kind.kind).is_some_and(|known| known.is_kubernetes_own());
        if finalizer.is_collectors_finalizer()
            || *finalizer == Symbol::DEFINITION
            || is_kubernetes
            || !workloads.iter().any(|workload| may_be(workload) || is_called(workload))
        {
            continue;
        }
        let question = Question { object: samples[0], finalizer: *finalizer, exact: false };
        let controller = finalizer_controller(context, needs, &question);
        let of_these = |all: &[ObjectId]| !all.is_empty() && all.iter().all(|one| workloads.contains(one));
        let goes = match controller.liveness {
            Liveness::Alive(_) => of_these(&controller.running),
            Liveness::Unknown(_) => of_these(&controller.may_be) || of_these(&controller.running),
            // Scaled to 0, it could be started; once it is gone, it can't.
            Liveness::Away(_) => controller.idle.is_some_and(|idle| workloads.contains(&idle)),
            Liveness::Nobody(_) | Liveness::Unread(_) => false,
        };
        if goes {
            controllers.insert((*resource, *finalizer), controller);
        }
    }
    if controllers.is_empty() {
        return Vec::new();
    }
    let held = snapshot.objects().flat_map(|(id, object)| object.finalizers.iter().map(move |of| (id, object, *of)));
    held.filter_map(|(id, object, finalizer)| {
        Some((id, finalizer, Arc::clone(controllers.get(&(object.resource, finalizer))?)))
    })
    .collect()
}

/// Who added a finalizer.
enum AddedBy<'a> {
    /// A program of this name.
    Program(&'a str),
    /// A person's tool, or a program with a default name.
    Anyone(&'a str),
    NotRecorded,
    Unread,
}

/// Names of programs that apply manifests of others, or set them to what a repository says.
fn is_applier(manager: &str) -> bool {
    manager.starts_with("pulumi-")
        || matches!(
            manager,
            "argocd-controller"
                | "argocd-application-controller"
                | "kustomize-controller"
                | "helm-controller"
                | "flux"
                | "fleetagent"
                | "kapp-server"
                | "Terraform"
                | "HashiCorp"
                | "OpenAPI-Generator"
                | "crossplane-kubernetes-provider"
                | "helm"
        )
}

/// Names of many programs, which nobody has chosen.
fn is_default_name(manager: &str) -> bool {
    matches!(manager, "manager" | "controller" | "operator" | "provider" | "main" | "Go-http-client")
}

/// Default manager names of programs and names of people's tools, which identify no controller.
fn tells_nobody(manager: &str) -> bool {
    manager.starts_with("kubectl")
        || is_applier(manager)
        || is_default_name(manager)
        || matches!(
            manager,
            "" | "unknown"
                | "curl"
                | "Mozilla"
                | "dashboard"
                | "k9s"
                | "node-fetch"
                | "python-requests"
                | "okhttp"
                | "before-first-apply"
        )
}

/// The setters of this finalizer. `setters` are sorted by finalizer.
fn of_finalizer<'a>(setters: &'a [Setter], finalizer: &'a str) -> impl Iterator<Item = &'a Setter> {
    let first = setters.partition_point(|setter| *setter.finalizer < *finalizer);
    setters[first..].iter().take_while(move |setter| setter.finalizer == finalizer)
}

fn added_by<'a>(snapshot: &'a Snapshot, needs: &mut Needs, object: ObjectId, finalizer: &'a str) -> AddedBy<'a> {
    let Some(setters) = snapshot.facts.setters(object) else {
        needs.setters.insert(object);
        return AddedBy::Unread;
    };
    let mut managers: Vec<&str> = of_finalizer(setters, finalizer).map(|setter| setter.manager.as_str()).collect();
    managers.dedup();
    match managers.iter().find(|manager| !tells_nobody(manager)).or(managers.first()) {
        None => AddedBy::NotRecorded,
        Some(manager) if tells_nobody(manager) => AddedBy::Anyone(manager),
        Some(manager) => AddedBy::Program(manager),
    }
}

/// What shows whether a controller runs.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    alive: Vec<String>,
    away: Vec<String>,
    unread: Vec<String>,
    idle: Option<ObjectId>,
    failing: Vec<ObjectId>,
    running: Vec<ObjectId>,
    may_be: Vec<ObjectId>,
}

/// The program that has added this finalizer to other objects of the kind: somebody may have copied it by hand.
fn adds_it_to_others<'a>(
    context: &SimContext<'a>,
    needs: &mut Needs,
    object: ObjectId,
    finalizer: Symbol,
) -> Option<&'a str> {
    let snapshot = context.snapshot;
    let samples = context.controllers.by_finalizer(snapshot);
    let samples = samples.get(&(snapshot.object(object).resource, finalizer)).into_iter().flatten();
    let mut others = samples.copied().filter(|other| *other != object);
    others.find_map(|other| match added_by(snapshot, needs, other, snapshot.text(finalizer)) {
        AddedBy::Program(program) => Some(program),
        _ => None,
    })
}

fn judge(context: &SimContext<'_>, needs: &mut Needs, object: ObjectId, finalizer: Symbol) -> FinalizerController {
    let snapshot = context.snapshot;
    let text = snapshot.text(finalizer);
    let resource = snapshot.resources.get(snapshot.object(object).resource);
    let add_on = add_on(text, &resource.group, &resource.kind);
    let known = known_finalizer(text, &resource.group, &resource.kind).map(|known| known.by);
    let added_by = added_by(snapshot, needs, object, text);
    let program = match added_by {
        AddedBy::Program(program) => Some(program),
        _ => None,
    };
    let mut evidence = Evidence::default();
    // If the controller's own name is known, other components of the add-on that set the finalizer show nothing.
    let by_program =
        program.filter(|program| add_on.is_none_or(|add_on| !add_on.has_names() || add_on.is_called(program)));
    // The attacher of each CSI driver has a leader (kubernetes-csi/external-attacher cmd/csi-attacher/main.go).
    let of_driver = text.strip_prefix("external-attacher/").map(|driver| format!("external-attacher-leader-{driver}"));
    gather_leases(context, needs, by_program.or(of_driver.as_deref()), add_on, &mut evidence);
    gather_workloads(context, needs, by_program, add_on, &mut evidence);
    if add_on.is_none()
        && matches!(added_by, AddedBy::Anyone(_) | AddedBy::NotRecorded)
        && let Some(program) = adds_it_to_others(context, needs, object, finalizer)
    {
        gather_leases(context, needs, Some(program), None, &mut evidence);
        gather_workloads(context, needs, Some(program), None, &mut evidence);
        for words in evidence.alive.first_mut().into_iter().chain(evidence.away.first_mut()) {
            *words = format!("{program:?} adds it to others: {words}");
        }
    }
    let manager = match added_by {
        AddedBy::Program(name) => Some(name.to_owned()),
        AddedBy::Anyone(name) => add_on.is_some().then(|| name.to_owned()),
        AddedBy::NotRecorded | AddedBy::Unread => None,
    };
    let Evidence { alive, away, unread, .. } = &evidence;
    let liveness = match (alive.is_empty(), away.is_empty()) {
        // Ready pods may not be the leader, or lead under another name; and one of several controllers of the same name
        // may be the one that handles this object.
        (false, false) => Liveness::Unknown(format!("{}, but {}", away.join(", "), alive.join(", "))),
        (false, _) => Liveness::Alive(alive.join(", ")),
        (true, false) if unread.is_empty() => Liveness::Away(away.join(", and ")),
        _ if !unread.is_empty() => Liveness::Unread(unread.join(", ")),
        _ => without_evidence(context, needs, add_on, &added_by, text, &mut evidence),
    };
    let away = matches!(liveness, Liveness::Away(_));
    FinalizerController {
        name: known.or(add_on.map(|add_on| add_on.name)),
        manager,
        liveness,
        idle: evidence.idle.filter(|_| away),
        failing: if away { evidence.failing } else { Vec::new() },
        running: evidence.running,
        may_be: evidence.may_be,
        goes: false,
        paused: None,
    }
}

fn gather_leases(
    context: &SimContext<'_>,
    needs: &mut Needs,
    program: Option<&str>,
    add_on: Option<&AddOn>,
    evidence: &mut Evidence,
) {
    let Some(leases) = context.built_in.leases else { return };
    let snapshot = context.snapshot;
    let names = add_on.map_or(&[][..], |add_on| add_on.leases).iter().copied().chain(program);
    let names: BTreeSet<Symbol> = names.filter_map(|name| snapshot.strings.find(name)).collect();
    let called = context.of_resource(leases).iter().filter(|id| names.contains(&snapshot.object(**id).name));
    for lease in called.copied() {
        match of_lease(context, needs, lease, context.time, "its lease") {
            Liveness::Alive(words) => {
                evidence.running.extend(workloads::of_holder(context, lease));
                evidence.alive.push(words);
            }
            Liveness::Away(words) => evidence.away.push(words),
            Liveness::Nobody(words) | Liveness::Unknown(words) | Liveness::Unread(words) => evidence.unread.push(words),
        }
    }
}

/// `AcmeOperator` as `acme-operator`.
fn in_kebab_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 2);
    for (place, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && place > 0 {
            text.push('-');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

fn gather_workloads(
    context: &SimContext<'_>,
    needs: &mut Needs,
    program: Option<&str>,
    add_on: Option<&AddOn>,
    evidence: &mut Evidence,
) {
    // A program may be called `AcmeOperator` where its workload is `acme-operator`.
    let names = program.map(|program| [program.to_owned(), in_kebab_case(program)]);
    let names = names.iter().flatten().filter_map(|name| context.snapshot.strings.find(name));
    let names: Vec<Symbol> = names.collect();
    let is_its = |id: &ObjectId| {
        let object = context.snapshot.object(*id);
        names.contains(&object.name) || add_on.is_some_and(|add_on| workloads::is_called(context.snapshot, *id, add_on))
    };
    for workload in workloads::all(context).filter(is_its) {
        match workloads::readiness(context, needs, workload) {
            Readiness::Ready(words) => {
                evidence.running.push(workload);
                evidence.alive.push(words);
            }
            Readiness::Starting(words) => evidence.alive.push(words),
            Readiness::Idle(words) => {
                evidence.idle = evidence.idle.or(Some(workload));
                evidence.away.push(words);
            }
            Readiness::Failing(words) => {
                evidence.failing.push(workload);
                evidence.away.push(words);
            }
            Readiness::Unread(words) => evidence.unread.push(words),
        }
    }
}

/// The liveness if no workload and no Lease is known as the controller's.
fn without_evidence(
    context: &SimContext<'_>,
    needs: &mut Needs,
    add_on: Option<&AddOn>,
    added_by: &AddedBy<'_>,
    finalizer: &str,
    evidence: &mut Evidence,
) -> Liveness {
    let all_read = are_all_read(context);
    let unread = || Liveness::Unread("not all workloads and Leases could be read".to_owned());
    let program = if let AddedBy::Program(program) = added_by { Some(*program) } else { None };
    if let Some(possible) = workloads::possible(context, needs, add_on, program, finalizer, evidence) {
        return possible;
    }
    match (add_on, added_by) {
        (Some(_), _) if !all_read => unread(),
        (Some(add_on), _) if add_on.may_run_outside => Liveness::Unknown(format!(
            "no evidence: the cluster has no workload of {}, which may run outside of it",
            add_on.name
        )),
        (Some(add_on), _) => {
            let usually = add_on.usual_name().map(|name| format!(" (usually {name})")).unwrap_or_default();
            Liveness::Away(format!("the cluster has no workload of {}{usually}", add_on.name))
        }
        (None, AddedBy::Unread) => Liveness::Unread("who added it could not be read".to_owned()),
        (None, AddedBy::NotRecorded) => Liveness::Nobody("who added it is not recorded".to_owned()),
        (None, AddedBy::Anyone(manager)) if is_applier(manager) => {
            Liveness::Nobody(format!("applied by {manager:?}; owning controller unknown"))
        }
        (None, AddedBy::Anyone(manager)) if is_default_name(manager) => {
            Liveness::Nobody(format!("added by {manager:?}, as many programs are called; owning controller unknown"))
        }
        (None, AddedBy::Anyone(manager)) => {
            Liveness::Nobody(format!("added by hand with {manager:?}; owning controller unknown"))
        }
        (None, AddedBy::Program(_)) if all_read => Liveness::Nobody("no workload or Lease has that name".to_owned()),
        (None, AddedBy::Program(_)) => unread(),
    }
}

/// Whether all workloads and Leases were listed. A dump proves nothing about kinds that it doesn't contain.
fn are_all_read(context: &SimContext<'_>) -> bool {
    let snapshot = context.snapshot;
    let is_live = matches!(snapshot.origin, Origin::Cluster { .. });
    let kinds = workloads::kinds(context).into_iter().chain([context.built_in.leases]);
    kinds.into_iter().all(|kind| kind.map_or(is_live, |kind| snapshot.covers(kind, None)))
}
