//! What stays, and names what goes: pods that run on while no other can be started, or that lose the API with their
//! ServiceAccount; what loses its certificate, its Service, its class (R9.50).

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Snapshot, facts::Required},
    plan::{
        note::{Note, NoteKind},
        outcome::Plan,
    },
    simulate::{SimContext, Start, controllers::all_workloads},
};

use super::abandoned::{deleted, from_what_stays};

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
            "is attached, mounted or grown with a Secret that goes in this delete: without that, no other pod may get it"
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
    let pods = pods.iter().copied().filter(|pod| !is_of_a_workload(snapshot, *pod));
    let workloads = all_workloads(context).into_iter().chain(of_kinds(&[("batch", "CronJob")]));
    let read = pods.chain(workloads).map(|id| (id, true));
    let known = of_kinds(&Required::ROUTES).chain(of_kinds(&NAMING)).map(|id| (id, false));
    for (id, is_read) in read.chain(known).filter(|(id, _)| !going.contains(id) && !snapshot.object(*id).terminating())
    {
        if is_read && is_near(&id) {
            context.evidence(id, snapshot.facts.get(id));
        }
        let is_gone = |required: &&Required| {
            let place = context.place_of(required, id);
            place.and_then(|place| snapshot.look_up(place).object()).is_some_and(|id| gone.contains(&id))
        };
        let requires = snapshot.facts.requires(id);
        let mut lost: Vec<NoteKind> = Vec::new();
        for kind in requires.iter().filter(is_gone).map(loss) {
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
