//! Whether the controller that removes a finalizer runs: judged by its workload, its pods and its Lease, not by its
//! name. One judge for plans and for the doctor.

mod candidates;
mod controller;
mod draining;
mod driver;
mod index;
mod judge;
mod lacks;
mod managers;
mod needed;
mod provisioners;
mod recorded;
mod rights;
mod scope;
mod workloads;

use std::sync::{Arc, PoisonError};

use rustc_hash::FxHashSet;

use crate::model::{
    ObjectId, ResourceId, Symbol,
    effects::{AddOn, Pause, add_on, known_finalizer, pauses_with_its_cluster},
};

use super::{
    blocked_by::{has_spoken, left_by_job_controller, managed_by_another},
    context::SimContext,
    state::{BlockedBy, Liveness},
};

pub use controller::{Controllers, FinalizerController, Paused};
use driver::Driver;
pub(crate) use driver::PROVISIONER;
pub(crate) use index::ControllerIndex;
use index::{Asked, Scope};
pub(crate) use judge::are_all_read;
pub use lacks::{Lack, Needed};
use managers::tells_nobody;
pub(crate) use needed::may_be_named;
pub(crate) use provisioners::{lacks_provisioner, provisioner_of, unseen_provisioner};
use recorded::of_finalizer;
use rights::without_rights;
pub(crate) use rights::{RightsGone, refused};
use scope::scope;
pub(crate) use workloads::{Readiness, behind as workloads_behind, called as workloads_called, of_holder};

/// The label by which Cluster API's objects name their Cluster.
const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";

/// The finalizer of an object, and of whom its field managers are read.
pub struct Question {
    pub object: ObjectId,
    pub finalizer: Symbol,
    /// Read the managers of this very object. Otherwise those of a few objects with the same finalizer stand for all.
    pub exact: bool,
}
/// At most this many finalizers of objects are judged, far more than a cluster has of different ones.
const MOST_JUDGED: usize = 20_000;
/// Of an object with more finalizers than that, none is judged: each would be, and again at each end of a plan.
const MOST_OF_ONE: usize = 2_000;

/// The controller that should remove a finalizer from an object, and whether it seems to run.
pub(crate) fn finalizer_controller(context: &SimContext<'_>, question: &Question) -> Arc<FinalizerController> {
    let (object, finalizer) = (question.object, question.finalizer);
    if BlockedBy::Finalizer(finalizer).is_hold(context.snapshot) {
        let why = "it is removed when somebody lets the delete go, or takes it back".to_owned();
        return Arc::new(FinalizerController::of(None, Liveness::Nobody(why)));
    }
    // This depends on the very object.
    if let Some(why) = left_by_job_controller(context.snapshot, object, finalizer) {
        return Arc::new(FinalizerController::of(None, Liveness::Nobody(why)));
    }
    if let Some((_, why)) = managed_by_another(context.snapshot, object, finalizer) {
        return Arc::new(FinalizerController::of(None, Liveness::Unknown(why)));
    }
    if context.snapshot.object(object).finalizers.len() > MOST_OF_ONE {
        return too_many(&context.controllers);
    }
    let mut controller = judged(context, question);
    if context.snapshot.object(object).terminating() {
        context.read_what_it_names(object, finalizer);
    }
    controller = without_rights(context, controller, object);
    controller = heard(context, controller, question);
    controller = context.without_what_is_missing(controller, object, finalizer);
    controller = leaving(context, controller);
    if context.leaving_namespace_of(object).is_some() {
        let said = context.snapshot.facts.why_not_deleted(object);
        let is_refused = said.is_some_and(|said| said.tells_of_leaving_namespace());
        controller = controller.in_leaving_namespace(context.snapshot, object, finalizer, is_refused);
    }
    let undrained = draining::undrained(context, object, context.snapshot.text(finalizer));
    let controller = match undrained.is_empty() {
        true => controller,
        false => Arc::new(FinalizerController { undrained, ..(*controller).clone() }),
    };
    match paused(context, object, finalizer).filter(|paused| !controller.is_away() || paused.is_by_somebody()) {
        Some(paused) => {
            let with = paused.with.map(|cluster| format!(", as {}", context.snapshot.short_name(cluster)));
            let words = paused.pause.in_words() + &with.unwrap_or_default();
            let liveness = match &controller.liveness {
                Liveness::Away(why) => Liveness::Away(format!("{why}, and the object is {words}")),
                _ => Liveness::Unknown(words),
            };
            Arc::new(FinalizerController { liveness, paused: Some(paused), ..(*controller).clone() })
        }
        None => controller,
    }
}

/// The same controller where nothing else shows it, and what is said of the object since its delete does.
fn heard(context: &SimContext<'_>, it: Arc<FinalizerController>, question: &Question) -> Arc<FinalizerController> {
    let why = match &it.liveness {
        Liveness::Nobody(why) => why,
        Liveness::Unread(why) if it.name.is_none() => why,
        _ => return it,
    };
    if !has_spoken(context.snapshot, question.object, question.finalizer) {
        return it;
    }
    let liveness = Liveness::Unknown(format!("{why}, but it has run since the delete, by what it says"));
    Arc::new(FinalizerController { liveness, ..(*it).clone() })
}

/// The same controller where all of its workloads are being deleted, or their namespaces.
fn leaving(context: &SimContext<'_>, controller: Arc<FinalizerController>) -> Arc<FinalizerController> {
    let running = controller.running.clone();
    let mut workloads = running.iter().chain(&controller.idle).chain(&controller.failing).copied().peekable();
    if workloads.peek().is_none() || !workloads.all(|id| context.is_leaving(id)) {
        return controller;
    }
    if let Liveness::Away(words) = &controller.liveness {
        let liveness = Liveness::Away(format!("{words}, and is being deleted: no pod of it starts any more"));
        return Arc::new(FinalizerController { liveness, idle: None, failing: Vec::new(), ..(*controller).clone() });
    }
    if running.is_empty() {
        return controller;
    }
    let lacks = [vec![Lack::Workloads(running)], controller.lacks.clone()].concat();
    Arc::new(FinalizerController { lacks, ..(*controller).clone() })
}

/// The judgement on a controller, whatever pauses it.
fn judged(context: &SimContext<'_>, question: &Question) -> Arc<FinalizerController> {
    let (object, finalizer) = (question.object, question.finalizer);
    let (index, snapshot) = (&context.controllers, context.snapshot);
    let driver = Driver::of(snapshot, object, snapshot.text(finalizer)).unwrap_or_else(|unread| {
        context.lacks(|needs| needs.evidence.insert(unread));
        None
    });
    let sample = match question.exact {
        true => object,
        false => index.representative(snapshot, object, finalizer),
    };
    judged_as(context, driver, sample, object, (finalizer, snapshot.text(finalizer)))
}

fn judged_as(
    context: &SimContext<'_>,
    driver: Option<Driver>,
    sample: ObjectId,
    object: ObjectId,
    (finalizer, text): (Symbol, &str),
) -> Arc<FinalizerController> {
    let (index, snapshot) = (&context.controllers, context.snapshot);
    let found = snapshot.object(object);
    let resource = snapshot.resources.get(found.resource);
    let add_on = add_on(text, &resource.group, &resource.kind);
    let is_limited = |id: &ObjectId| snapshot.facts.workload(*id).is_some_and(|facts| facts.limits.is_some());
    let limited = index.limited.get_or_init(|| workloads::all(context).filter(is_limited).collect());
    let scopes = limited.iter().map(|id| (*id, scope(snapshot, *id, add_on, object)));
    let asked = Asked {
        sample,
        finalizer,
        driver: driver.clone(),
        namespace: add_on.is_some_and(|add_on| add_on.own_namespace).then_some(found.namespace),
        not_handled: scopes.filter(|(_, scope)| *scope != Scope::Handles).collect(),
    };
    let mut judged = index.judged.lock().unwrap_or_else(PoisonError::into_inner);
    if judged.len() >= MOST_JUDGED && !judged.contains_key(&asked) {
        return too_many(index);
    }
    let judge = || judge::judge(context, sample, object, (finalizer, text), driver.as_ref());
    let judged = judged.entry(asked).or_default();
    Arc::clone(context.once(judged, || Arc::new(judge())))
}

/// Stands for the controllers of finalizers that are too many to look at each.
fn too_many(index: &ControllerIndex) -> Arc<FinalizerController> {
    let unread = || Liveness::Unknown("there are too many finalizers to look at each".to_owned());
    Arc::clone(index.too_many.get_or_init(|| Arc::new(FinalizerController::of(None, unread()))))
}

/// Whether the controller of such an object, known by this finalizer of its kind, is known not to run, or all that
/// could show it was read and shows nothing.
pub(crate) fn is_unseen(context: &SimContext<'_>, object: ObjectId, finalizer: &'static str) -> bool {
    let symbol = context.snapshot.strings.find(finalizer).unwrap_or(Symbol::EMPTY);
    judged_as(context, None, object, object, (symbol, finalizer)).is_unseen(context)
}

/// What makes the controller of a finalizer leave this object alone, as far as was read.
fn paused(context: &SimContext<'_>, object: ObjectId, finalizer: Symbol) -> Option<Paused> {
    let snapshot = context.snapshot;
    let text = snapshot.text(finalizer);
    if !Pause::is_possible(text) {
        return None;
    }
    let pause_of = |object: ObjectId| context.evidence(object, snapshot.facts.policy(object))?.pause.clone();
    if let Some(pause) = pause_of(object) {
        return Some(Paused { pause, with: None });
    }
    // All that belongs to a paused Cluster is.
    let names = || snapshot.facts.policy(object).map_or(&[][..], |facts| &facts.names);
    let in_spec = || names().iter().find(|named| named.key == "clusterName").map(|named| named.name.as_str());
    let name = snapshot.label(object, CLUSTER_NAME).or_else(in_spec).filter(|_| pauses_with_its_cluster(text))?;
    let clusters = snapshot.resources.by_group_kind("cluster.x-k8s.io", "Cluster")?;
    let cluster = snapshot.look_up_named(clusters, snapshot.namespace(object), name).object()?;
    Some(Paused { pause: pause_of(cluster)?, with: Some(cluster) })
}

/// Whether a finalizer's controller may be taken to run where nothing shows it: a cloud's, in its control plane. Not if
/// the cluster shows it, and so whether it runs; nor if its Nodes are no cloud's. Those have a label that only the
/// controller of a cloud sets (kubernetes/cloud-provider controllers/node/node_controller.go).
pub(crate) fn runs_in_a_cloud(context: &SimContext<'_>, object: ObjectId, finalizer: Symbol) -> bool {
    let snapshot = context.snapshot;
    let resource = snapshot.resource(object);
    let add_on = add_on(snapshot.text(finalizer), &resource.group, &resource.kind);
    let Some(add_on) = add_on.filter(|add_on| add_on.has_names()) else { return true };
    // There is only one such controller.
    *context.controllers.runs_in_a_cloud.get_or_init(|| is_taken_to_run(context, add_on, &resource.group))
}

fn is_taken_to_run(context: &SimContext<'_>, add_on: &AddOn, group: &str) -> bool {
    let snapshot = context.snapshot;
    let leases = context.of_resource(context.built_in.leases);
    let is_its = |lease: &ObjectId| {
        let name = snapshot.name(*lease);
        add_on.leases(group).any(|own| own == name)
    };
    let nodes = context.of_resource(context.built_in.nodes);
    let is_of_cloud = |node: &ObjectId| snapshot.label(*node, "node.kubernetes.io/instance-type").is_some();
    (nodes.is_empty() || nodes.iter().any(is_of_cloud))
        && !leases.iter().any(is_its)
        && !workloads::all(context).any(|workload| candidates::is_called(snapshot, workload, add_on, group))
}

/// Every workload that controllers may run as.
pub(crate) fn all_workloads(context: &SimContext<'_>) -> Vec<ObjectId> {
    workloads::all(context).collect()
}

/// Whether controllers may run as such an object.
pub(crate) fn is_workload(context: &SimContext<'_>, object: ObjectId) -> bool {
    workloads::kinds(context).contains(&Some(context.snapshot.object(object).resource))
}

/// The objects with a finalizer that these workloads alone are known to remove, or may remove by their names, with
/// their controller, in snapshot order.
pub(crate) fn held_by_these(
    context: &SimContext<'_>,
    workloads: &[ObjectId],
) -> Vec<(ObjectId, Symbol, Arc<FinalizerController>)> {
    let snapshot = context.snapshot;
    let mut kinds: FxHashSet<(ResourceId, Symbol)> = FxHashSet::default();
    for ((resource, finalizer), samples) in context.controllers.by_finalizer(snapshot).iter() {
        let kind = snapshot.resources.get(*resource);
        let text = snapshot.text(*finalizer);
        let add_on = add_on(text, &kind.group, &kind.kind);
        // Who is judged is read: only what may be the controller by what is known of both.
        let driver = Driver::of(snapshot, samples[0], text).unwrap_or_default();
        let (object, driver) = (samples[0], driver.as_ref());
        let asked =
            candidates::Asked { object, resource: *resource, finalizer: text, group: &kind.group, add_on, driver };
        let possible = candidates::possible(context, &asked, workloads);
        let owned = candidates::of_definitions_owner(context, *resource);
        let may_be = |workload: &ObjectId| {
            possible.iter().any(|(id, _)| id == workload)
                || match add_on.filter(|add_on| add_on.has_names()) {
                    Some(add_on) => candidates::is_called(snapshot, *workload, add_on, &kind.group),
                    None => candidates::is_telling(snapshot, *workload) || owned.contains(workload),
                }
        };
        // Who added the finalizer is not read for this: every delete of a workload would read it of all finalizers.
        let setters = snapshot.facts.setters(samples[0]).map(|setters| of_finalizer(setters, text));
        let programs: Vec<&str> = setters.into_iter().flatten().map(|setter| setter.manager.as_str()).collect();
        let is_called = |workload: &ObjectId| {
            let name = snapshot.name(*workload);
            programs.iter().any(|program| !tells_nobody(program) && (name.contains(program) || program.contains(name)))
        };
        let is_kubernetes =
            known_finalizer(text, &kind.group, &kind.kind).is_some_and(|known| known.is_kubernetes_own());
        if !finalizer.is_collectors_finalizer()
            && *finalizer != Symbol::DEFINITION
            && !is_kubernetes
            && workloads.iter().any(|workload| may_be(workload) || is_called(workload))
        {
            kinds.insert((*resource, *finalizer));
        }
    }
    if kinds.is_empty() {
        return Vec::new();
    }
    let of_these = |all: &[ObjectId]| !all.is_empty() && all.iter().all(|one| workloads.contains(one));
    let goes = |controller: &FinalizerController| match controller.liveness {
        Liveness::Alive(_) => of_these(&controller.running),
        Liveness::Unknown(_) => of_these(&controller.may_be) || of_these(&controller.running),
        // Scaled to 0, it could be started; once it is gone, it can't.
        Liveness::Away(_) => controller.idle.is_some_and(|idle| workloads.contains(&idle)),
        Liveness::Nobody(_) | Liveness::Unread(_) => false,
    };
    let held = snapshot.objects().flat_map(|(id, object)| object.finalizers.iter().map(move |of| (id, object, *of)));
    held.filter(|(_, object, finalizer)| kinds.contains(&(object.resource, *finalizer)))
        .filter(|(id, _, finalizer)| managed_by_another(snapshot, *id, *finalizer).is_none())
        .map(|(object, _, finalizer)| Question { object, finalizer, exact: false })
        .map(|question| (question.object, question.finalizer, judged(context, &question)))
        .filter(|(_, _, controller)| goes(controller))
        .collect()
}
