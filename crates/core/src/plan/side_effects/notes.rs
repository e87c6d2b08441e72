//! Finds policies and deletes without effect, what a sweep leaves alone although the original collector would not, and
//! what stays and names what goes: pods that run on while no other can be started, or that lose the API with their
//! ServiceAccount; what loses its certificate or its quota.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::{
    graph::{Address, NodeId},
    model::{ObjectId, Presence, Reference, Snapshot, facts::Required, resources::group_of},
    plan::outcome::{Note, NoteKind, OutcomeKind, Plan},
    server::{DeleteOptions, OwnDelete, Propagation, Stored, kinds::protected},
    simulate::{Cause, Request, SimContext, Start, World, controllers::all_workloads, obstacles::BoundPolicy},
};

use super::abandoned::{deleted, from_what_stays};

/// The notes on a request, in the order of its targets, or of the snapshot.
pub(super) fn notes(context: &SimContext<'_>, plan: &Plan) -> Vec<Note> {
    let request = &plan.request;
    let mut notes: Vec<Note> =
        left_alone_by_sweep(context, plan).map(|object| Note { object, kind: NoteKind::DoubtedPath }).collect();
    for target in &request.targets {
        if let Some(kind) = note_for(context, request, *target)
            && notes.iter().all(|note_for| note_for.object != *target)
        {
            notes.push(Note { object: *target, kind });
        }
        if context.is_applied_unseen(*target) {
            notes.push(Note { object: *target, kind: NoteKind::AppliedUnseen });
        }
        if has_unseen_maker(context, *target) {
            notes.push(Note { object: *target, kind: NoteKind::OwnerUnseen });
        }
    }
    notes.extend(left_behind(context, plan).into_iter().map(|object| Note { object, kind: NoteKind::LeftBehind }));
    let staying = staying(context, plan).into_iter();
    notes.extend(staying.map(|object| Note { object, kind: NoteKind::StaysTerminating }));
    notes.extend(lapsing(context, plan).into_iter().map(|object| Note { object, kind: NoteKind::PolicyLapses }));
    notes
}

/// Whether a workload of Kubernetes controls an object, and was not read: if it exists, it makes another.
fn has_unseen_maker(context: &SimContext<'_>, object: ObjectId) -> bool {
    let (snapshot, found) = (context.snapshot, context.snapshot.object(object));
    let Some(owner) = Reference::controller_of(&found.owners).filter(|_| !found.terminating()) else { return false };
    let (group, kind) = (group_of(snapshot.text(owner.api_version)), snapshot.text(owner.kind));
    let makers = [
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("apps", "DaemonSet"),
        ("apps", "Deployment"),
        ("batch", "Job"),
        ("", "ReplicationController"),
    ];
    let at = snapshot
        .resources
        .by_group_kind(group, kind)
        .map(|resource| snapshot.look_up_named(resource, snapshot.text(found.namespace), snapshot.text(owner.name)));
    makers.contains(&(group, kind))
        && snapshot.by_uid(owner.uid).is_none()
        && at.is_none_or(|presence| presence == Presence::Unknown)
}

/// The policies that lose their last parameters, and let everything pass without them (R9.45).
fn lapsing(context: &SimContext<'_>, plan: &Plan) -> BTreeSet<ObjectId> {
    let gone = plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
    let gone: FxHashSet<ObjectId> = gone.map(|outcome| outcome.object).collect();
    let policies = context.obstacles.iter().flat_map(|obstacles| &obstacles.admission.policies);
    let lapses = |bound: &&BoundPolicy<'_>| {
        let lasts = ![bound.policy, bound.binding].iter().any(|id| gone.contains(id));
        lasts && gone.iter().any(|id| bound.refuses_without(context, *id, |id| !gone.contains(&id)) == Some(false))
    };
    policies.filter(lapses).map(|bound| bound.policy).collect()
}

/// Dependents of what goes, which the plan leaves alone because the collector can't resolve one of their references
/// (R3.13, L3). Nothing deletes them afterwards.
fn left_behind(context: &SimContext<'_>, plan: &Plan) -> Vec<ObjectId> {
    let snapshot = context.snapshot;
    let changed: FxHashSet<ObjectId> = plan.both_ends().map(|outcome| outcome.object).collect();
    let stays = |id: &ObjectId| {
        let object = snapshot.object(*id);
        let addresses =
            object.owners.iter().map(|reference| Address::of(snapshot, context.graph, reference, object.namespace));
        let fails = |address: Address| matches!(address, Address::Unmappable | Address::InvalidScope);
        !changed.contains(id) && !object.terminating() && addresses.into_iter().any(fails)
    };
    let mut left: Vec<ObjectId> =
        plan.going().into_iter().flat_map(|id| context.graph.dependents(id.into())).copied().filter(stays).collect();
    left.sort_unstable();
    left.dedup();
    left
}

/// Dependents of what goes that are Terminating, and stay so whether it goes or not.
fn staying(context: &SimContext<'_>, plan: &Plan) -> BTreeSet<ObjectId> {
    if plan.request.start != Start::AtRest {
        return BTreeSet::new();
    }
    let told: FxHashSet<ObjectId> = plan.outcomes.iter().chain(&plan.stays).map(|outcome| outcome.object).collect();
    let below = plan.outcomes.iter().filter(|outcome| outcome.kind.removes());
    let below = below.flat_map(|outcome| context.graph.dependents(outcome.object.into())).copied();
    // Nothing else needs the present, which is a simulation of everything.
    let stays = |id: &ObjectId| {
        context.snapshot.object(*id).terminating() && !told.contains(id) && !context.present().goes(*id)
    };
    let spared = plan.outcomes.iter().filter(|outcome| outcome.is_spared()).map(|outcome| outcome.object);
    below.filter(stays).chain(spared).collect()
}

/// Objects that a sweep would delete or change if it read a 404 for a whole API path as "owner gone" (R3.16). Objects
/// with a reference that can't be resolved at all are left alone in any case (R3.13).
fn left_alone_by_sweep<'a>(context: &'a SimContext<'_>, plan: &'a Plan) -> impl Iterator<Item = ObjectId> + 'a {
    let sweeps = context.graph.doubts_missing_apis() && plan.request.start == Start::Sweep;
    let gone = plan.outcomes.iter().filter(|outcome| outcome.after.is_none()).map(|outcome| outcome.object);
    let removed: FxHashSet<ObjectId> = gone.filter(|_| sweeps).collect();
    let objects = context.snapshot.objects().filter(move |_| sweeps);
    let held = objects.filter(move |(id, object)| {
        let mut addresses = object
            .owners
            .iter()
            .map(|reference| Address::of(context.snapshot, context.graph, reference, object.namespace));
        let is_examined = !object.terminating()
            && context.graph.by_uid(object.uid) == Some(NodeId::from(*id))
            && context.snapshot.resources.not_watched(object.resource).is_none()
            && plan.request.only.as_ref().is_none_or(|only| only.contains(*id));
        let is_resolvable = |address: &Address| matches!(address, Address::At(_) | Address::DoubtedPath);
        is_examined
            && !removed.contains(id)
            && addresses.clone().all(|address| is_resolvable(&address))
            && addresses.any(|address| address == Address::DoubtedPath)
    });
    held.map(|(id, _)| id)
}

fn note_for(context: &SimContext<'_>, request: &Request, target: ObjectId) -> Option<NoteKind> {
    if protected(context.snapshot, target).is_some() {
        return None;
    }
    let rules = context.rules(target);
    if context.snapshot.object(target).terminating() {
        return note_for_terminating(context, request, target);
    }
    match (rules.own_delete, request.propagation) {
        (_, Propagation::Background) => None,
        (OwnDelete::Definition, _) => Some(NoteKind::DefinitionIgnoresPolicy),
        (OwnDelete::Namespace, Propagation::Orphan) => Some(NoteKind::NamespaceContentGoes),
        (OwnDelete::Namespace, _) => None,
        // A failed list may hide dependents.
        _ if !context.graph.dependents(target.into()).is_empty() || context.snapshot.may_hide_dependents_of(target) => {
            None
        }
        _ => Some(NoteKind::NoDependents),
    }
}

/// What one more DELETE does to a target that is already terminating.
fn note_for_terminating(context: &SimContext<'_>, request: &Request, target: ObjectId) -> Option<NoteKind> {
    let rules = context.rules(target);
    if rules.graceful && context.snapshot.facts.pod(target).is_none()
        || rules.own_delete == OwnDelete::Namespace && context.snapshot.facts.namespace(target).is_none()
    {
        return None;
    }
    let options =
        DeleteOptions { propagation: Some(request.propagation), grace: request.grace, ..DeleteOptions::default() };
    let mut world = World::at_rest(context);
    let before = world.stored(target)?;
    let in_grace = rules.graceful && before.in_grace();
    world.delete(target, &options, Cause::Requested);
    let as_before =
        |after: Stored<'_>| after.same_state(&before) && after.grace.unwrap_or(0) == before.grace.unwrap_or(0);
    if !world.stored(target).is_some_and(as_before) {
        return None;
    }
    Some(match rules.own_delete {
        _ if in_grace => NoteKind::PodAlreadyEnding,
        OwnDelete::Namespace => NoteKind::NamespaceAlreadyEnding,
        _ => NoteKind::AlreadyTerminating,
    })
}

/// What else names others, in the order in which it is told; routes come before these.
const NAMING: [(&str, &str); 4] = [
    ("", "PersistentVolumeClaim"),
    ("", "PersistentVolume"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
];

/// Whether the controller of a pod is a workload, whose template says what the pod names. Of a ReplicaSet, that is its
/// own controller.
fn is_of_a_workload(snapshot: &Snapshot, object: ObjectId) -> bool {
    let Some(controller) = snapshot.controller_of(object) else { return false };
    let resource = snapshot.resource(controller);
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("apps", "ReplicaSet") => is_of_a_workload(snapshot, controller),
        ("apps", _) | ("", "ReplicationController") => true,
        _ => false,
    }
}

/// What a pod loses that no workload starts again.
const OF_A_POD: &str = "names what goes in this delete: its containers that run go on, but without that, they may be \
    unable to start, or to start again";

/// What a pod, or a workload's or CronJob's pods, lose with the Secret of a ServiceAccount's token.
const TOKEN: &str = "names a Secret that goes in this delete, with the token of a ServiceAccount: the API server \
    refuses that token from then on, also to pods that run, and no other pod of it can start";

/// What an object loses with what it names.
fn loss(named: &Required) -> NoteKind {
    NoteKind::LosesNamed(match named {
        Required::ServiceAccount(_) => return NoteKind::LosesAccount,
        Required::PriorityClass(_) | Required::RuntimeClass(_) => return NoteKind::StartsNoMore,
        Required::Secret(_) | Required::ConfigMap(_) => return NoteKind::StartsNoMore,
        Required::PullSecret(_) => {
            "names a Secret with the password of a registry that goes in this delete: without that, images that its \
             Node lacks may not be pulled"
        }
        Required::VolumeSecret(_) => {
            "is attached, mounted or grown with a Secret that goes in this delete: without that, no other pod may get \
             it"
        }
        Required::Certificate(_) => {
            "serves TLS with the certificate in a Secret that goes in this delete, and loses that"
        }
        Required::Backend(_) => "sends requests to a Service that goes in this delete: without that, these fail",
        Required::PodNames(_) => {
            "its pods are called by names of a Service that goes in this delete: nobody finds them by these then"
        }
        Required::IngressClass(_) | Required::GatewayClass(_) | Required::Gateway(_) => {
            "is served through what goes in this delete: without that, its controller may leave it alone"
        }
        Required::StorageClass(_) => {
            "names a StorageClass that goes in this delete: without that, no volume is provisioned for its claims"
        }
        Required::CsiDriver(_) => {
            "the CSIDriver of its driver goes in this delete: without that, it is attached and mounted by defaults, \
             which may fail"
        }
        Required::Role(_) | Required::ClusterRole(_) => {
            "gives a role that goes in this delete: without that, it gives nothing"
        }
    })
}

/// Adds a note for each such object. Of a cluster, workloads and pods are read for what pods name, and nothing for the
/// rest: what is known by then counts.
pub(super) fn add_without_named(context: &SimContext<'_>, plan: &mut Plan) {
    if plan.request.start != Start::AtRest || plan.request.others_finish {
        return;
    }
    let snapshot = context.snapshot;
    let is_one_of = |id: &ObjectId, kinds: &[(&str, &str)]| {
        let resource = snapshot.resource(*id);
        kinds.contains(&(&*resource.group, &*resource.kind))
    };
    let gone = from_what_stays(context, plan, deleted(plan)).into_iter();
    let gone: FxHashSet<ObjectId> = gone.filter(|id| is_one_of(id, &Required::KINDS)).collect();
    if gone.is_empty() {
        return;
    }
    let places: FxHashSet<_> =
        gone.iter().filter(|id| is_one_of(id, Required::of_pods())).map(|id| snapshot.namespace(*id)).collect();
    let going: FxHashSet<ObjectId> = plan.going().into_iter().collect();
    let is_near = |id: &ObjectId| places.contains("") || places.contains(snapshot.namespace(*id));
    let of_kinds = |kinds: &'static [(&str, &str)]| {
        let kinds = kinds.iter().filter_map(|(group, kind)| snapshot.resources.by_group_kind(group, kind));
        kinds.flat_map(|kind| context.of_resource(kind).iter().copied())
    };
    // Of what has no namespace, only templates are asked.
    let pods = context.built_in.pods.filter(|_| places.iter().any(|place| !place.is_empty()));
    let pods = pods.map_or(&[][..], |pods| context.of_resource(pods));
    let is_token = |id: ObjectId| snapshot.facts.token(id).is_some();
    // The template doesn't have what was injected: that matters to pods that run if it is a token.
    let has_token = gone.iter().any(|id| is_token(*id));
    let pods = pods.iter().copied().filter(|pod| has_token || !is_of_a_workload(snapshot, *pod));
    let workloads = all_workloads(context).into_iter().chain(of_kinds(&[("batch", "CronJob")]));
    let read = pods.chain(workloads).map(|id| (id, true));
    let known = of_kinds(&Required::ROUTES).chain(of_kinds(&NAMING)).map(|id| (id, false));
    for (id, is_read) in read.chain(known).filter(|(id, _)| !going.contains(id) && !snapshot.object(*id).terminating())
    {
        if is_read && is_near(&id) {
            context.evidence(id, snapshot.facts.get(id));
        }
        let lost_of = |required: &Required| {
            let place = context.place_of(required, id)?;
            let named = snapshot.look_up(place).object().filter(|id| gone.contains(id))?;
            let in_template = is_of_a_workload(snapshot, id);
            match matches!(required, Required::Secret(_)) && is_token(named) {
                true => Some(NoteKind::LosesNamed(TOKEN)),
                false => (!in_template).then(|| loss(required)),
            }
        };
        let requires = snapshot.facts.requires(id);
        let mut lost: Vec<NoteKind> = Vec::new();
        for kind in requires.iter().filter_map(lost_of) {
            if !lost.contains(&kind) {
                lost.push(kind);
            }
        }
        let has_lost_account = lost.contains(&NoteKind::LosesAccount);
        lost.retain(|kind| !has_lost_account || *kind != NoteKind::StartsNoMore);
        if Some(snapshot.object(id).resource) == context.built_in.pods {
            lost.iter_mut()
                .filter(|kind| **kind == NoteKind::StartsNoMore)
                .for_each(|kind| *kind = NoteKind::LosesNamed(OF_A_POD));
        }
        plan.notes.extend(lost.into_iter().map(|kind| Note { object: id, kind }));
    }
}
