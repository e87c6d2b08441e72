//! What the cluster will remove by itself: when, by which controller, by which rule (§12). Pure: `now` is passed in.
//!
//! ```text
//! scene      the objects by kind, and what is known of them     removal  what goes: when, why, and with what
//! jobs, replica_sets, revisions, pods, volumes, claims, expired, unwanted
//!            each finds what some controllers remove
//! ```

mod claims;
mod expired;
mod jobs;
mod pods;
mod removal;
mod replica_sets;
mod revisions;
mod scene;
mod unwanted;
mod volumes;

use crate::{
    graph::OwnerGraph,
    model::{Coordinate, Gap, Object, ObjectId, Reference, Rule, Snapshot},
    simulate::{Assume, Liveness, SimContext, liveness::of_controller_manager},
};

pub use removal::{End, Freed, Held, Reason, Removal, Stays, When};
pub use scene::{Assumption, Settings};

use removal::Found;
use scene::Scene;

/// What a cluster will remove by itself, and what it won't.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    /// The earliest first; what waits for an event comes last.
    pub removals: Vec<Removal>,
    /// What one might expect to go, and stays.
    pub stays: Vec<Stays>,
    /// What was assumed, because it can't be read.
    pub assumptions: Vec<Assumption>,
    /// Objects of which only metadata is known.
    pub gaps: Vec<Gap>,
    /// Why no controller manager is known to run, a clause: until one does, its controllers remove nothing. `None` if
    /// it runs, or isn't known not to.
    pub manager_away: Option<String>,
}

/// What the cluster of a snapshot will remove by itself, as of `now` in Unix seconds.
pub fn forecast(snapshot: &Snapshot, settings: &Settings, now: i64) -> Forecast {
    let graph = OwnerGraph::new(snapshot);
    let read_at = settings.read_at.unwrap_or(now);
    let context = SimContext::new(snapshot, &graph, Assume::Known).at(Some(read_at));
    let scene = Scene::new(&context, settings, now);
    let mut found = Found::default();
    jobs::find(&scene, &mut found);
    replica_sets::find(&scene, &mut found);
    revisions::find(&scene, &mut found);
    volumes::find(&scene, &mut found);
    claims::find(&scene, &mut found);
    expired::find_requests(&scene, &mut found);
    expired::find_bootstrap_tokens(&scene, &mut found);
    expired::find_account_tokens(&scene, &mut found);
    expired::find_leases(&scene, &graph, &mut found);
    pods::find(&scene, &mut found);
    unwanted::find_pods(&scene, &mut found);
    unwanted::find_endpoints(&scene, &mut found);
    // These count objects, some of which others remove meanwhile.
    jobs::find_above_limits(&scene, &mut found);
    pods::find_terminated(&scene, &graph, &mut found);
    let Found { mut removals, stays } = found;
    let manager_away = why_manager_away(&context, read_at);
    if manager_away.is_some() {
        removals.iter_mut().for_each(|(_, reason)| reason.await_manager());
    }
    let mut removals = removal::merged(&scene, &graph, removals);
    scene::doubt(&scene, &graph, &mut removals);
    let going = |id: ObjectId| removals.iter().any(|removal| removal.object == id);
    let stays = stays.into_iter().filter(|stays| !going(stays.object)).collect();
    let assumptions = settings.assumptions(&removals, manager_away.is_some());
    Forecast { stays, assumptions, gaps: scene.gaps(), removals, manager_away }
}

/// Why no controller manager seemed to run at this time, by the Lease of its leader.
fn why_manager_away(context: &SimContext<'_>, at: i64) -> Option<String> {
    match of_controller_manager(context, Some(at)).1 {
        Liveness::Away(why) => Some(why),
        _ => None,
    }
}

/// The objects whose facts decide whether the cluster removes this one by itself, apart from the number of all Pods:
/// it; of a ReplicaSet, a revision, a Job or a Pod also its controller, and the others of that; of a volume its claim,
/// or those that may be bound to it before their end. Empty for the other kinds: the collector removes them, or their
/// finalizers hold them. For Secrets, see [`forecast`].
pub fn deciding(snapshot: &Snapshot, graph: &OwnerGraph, object: ObjectId) -> Vec<ObjectId> {
    let found = snapshot.object(object);
    let resource = snapshot.resources.get(found.resource);
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("apps", "ReplicaSet" | "ControllerRevision") | ("batch", "Job") | ("", "Pod") => {
            let controller = Reference::controller_of(&found.owners).and_then(|owner| snapshot.by_uid(owner.uid));
            // Only a StatefulSet asks how its other pods are.
            let has_kin = |id: ObjectId| resource.kind != "Pod" || snapshot.resource(id).kind == "StatefulSet";
            let dependents = controller.into_iter().flat_map(|controller| graph.dependents(controller.into()).iter());
            let kin = dependents.copied().filter(|id| snapshot.object(*id).resource == found.resource && *id != object);
            let kin = kin.filter(|_| controller.is_some_and(has_kin));
            [object].into_iter().chain(controller).chain(kin).collect()
        }
        ("", "PersistentVolume") => {
            let claims =
                snapshot.claim_of(object).object().into_iter().chain(volumes::claims_at_their_end(snapshot, object));
            [object].into_iter().chain(claims).collect()
        }
        ("certificates.k8s.io", "CertificateSigningRequest") => vec![object],
        ("coordination.k8s.io", "Lease") if snapshot.text(found.namespace) == "kube-system" => vec![object],
        _ => Vec::new(),
    }
}

fn coordinate(snapshot: &Snapshot, kind: &str, namespace: &str, name: &str) -> Option<Coordinate> {
    let resource = snapshot.resources.by_group_kind("", kind)?;
    let find = |text: &str| snapshot.strings.find(text);
    Some(Coordinate { resource, namespace: find(namespace)?, name: find(name)? })
}

/// The object whose absence is why this one goes: the Node of a pod, the claim of a volume, the Service of Endpoints.
/// A list from a live cluster is outdated as soon as it is read: only a look-up proves absence (R8.7).
pub fn absence(snapshot: &Snapshot, removal: &Removal) -> Option<Coordinate> {
    let object = removal.object;
    match removal.reason().rule {
        Rule::R12_7 => coordinate(snapshot, "Node", "", snapshot.facts.pod(object)?.node.as_deref()?),
        Rule::R12_10 => {
            let (namespace, name) = snapshot.facts.volume(object)?.claim_name()?;
            coordinate(snapshot, "PersistentVolumeClaim", namespace, name)
        }
        Rule::R12_19 => {
            let Object { namespace, name, .. } = snapshot.object(object);
            coordinate(snapshot, "Service", snapshot.text(*namespace), snapshot.text(*name))
        }
        _ => None,
    }
}
