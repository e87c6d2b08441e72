//! Whether the API server can reach the backend of a webhook or an API.

use crate::{
    model::{
        Coordinate, ObjectId, Presence, Symbol,
        facts::{ApiServiceFacts, Backend, SliceFacts},
    },
    simulate::{
        context::SimContext,
        controllers::{Readiness, workloads_behind, workloads_called},
    },
};

use super::heeded::{Lack, Reach};

/// The `spec.type` of a Service that is an alias for a name outside the cluster.
const EXTERNAL: &str = "ExternalName";

/// Why an API doesn't answer, by the condition of its APIService: a clause that names its Service.
pub(super) fn why_unavailable(facts: &ApiServiceFacts) -> String {
    let message = facts.message.trim_end_matches('.');
    match &facts.service {
        // `available_controller.go: sync`.
        Some(_) if facts.reason == "ServiceNotFound" => Lack::Service.describe(facts.service.as_ref()),
        Some(backend) => format!("{message} ({backend})"),
        None => message.to_owned(),
    }
}

/// Why a backend can't be reached: a clause; and the workload behind its Service, if that only has to be scaled up.
pub(crate) fn why_unreachable(
    context: &SimContext<'_>,
    backend: Option<&Backend>,
    lack: Lack,
) -> (String, Option<ObjectId>) {
    let why = lack.describe(backend);
    match behind(context, backend, lack) {
        Some((words, idle)) => (format!("{why}: {words}"), idle),
        None => (why, None),
    }
}

/// The workload that leaves a backend without a ready endpoint, in words, and it if it is scaled to 0.
pub(crate) fn behind(
    context: &SimContext<'_>,
    backend: Option<&Backend>,
    lack: Lack,
) -> Option<(String, Option<ObjectId>)> {
    let (namespace, name) = backend.and_then(Backend::service).filter(|_| lack == Lack::Endpoint)?;
    let service = context.built_in.services.map(|kind| context.snapshot.look_up_named(kind, namespace, name));
    let workloads = match service.and_then(Presence::object) {
        Some(service) => workloads_behind(context, service),
        // Most are called like their Service.
        None => workloads_called(context, namespace, name),
    };
    let workloads = workloads.into_iter();
    let mut away = workloads.filter_map(|(workload, readiness)| match readiness {
        Readiness::Idle(words) => Some((words, Some(workload).filter(|id| !context.is_leaving(*id)))),
        Readiness::Failing(words) | Readiness::Starting(words) => Some((words, None)),
        Readiness::Ready(_) | Readiness::Unread(_) => None,
    });
    let first = away.next()?;
    Some(away.find(|(_, idle)| idle.is_some() && first.1.is_none()).unwrap_or(first))
}

/// Whether a backend can be reached, and what must be read to know.
pub fn reach(context: &SimContext<'_>, backend: Option<&Backend>) -> Reach {
    let snapshot = context.snapshot;
    let Some((namespace, name)) = backend.and_then(Backend::service) else { return Reach::Outside };
    let Some(resource) = context.built_in.services else { return Reach::Unknown };
    let coordinate = match snapshot.locate(resource, namespace, name) {
        Ok(coordinate) => coordinate,
        Err(Presence::Absent) => return Reach::Unreachable(Lack::Service),
        Err(_) => return Reach::Unknown,
    };
    let service = match context.look_up(coordinate) {
        Presence::Unknown => {
            return lack_by_word(context, namespace, name).map_or(Reach::Unknown, Reach::Unreachable);
        }
        Presence::Absent => return Reach::Unreachable(Lack::Service),
        Presence::Present(service) => service,
    };
    let is_headless = match context.fact(service, snapshot.facts.service(service)) {
        // A name outside the cluster has no endpoints in it.
        Some(facts) if facts.kind.as_deref() == Some(EXTERNAL) => return Reach::Served { service, pods: Vec::new() },
        Some(facts) => {
            let has_port = |port| facts.ports.is_empty() || facts.ports.contains(&port);
            if !backend.and_then(Backend::port).is_none_or(has_port) {
                return Reach::Unreachable(Lack::Port);
            }
            facts.cluster_ips.first().is_some_and(|ip| ip == "None")
        }
        None => return Reach::Unknown,
    };
    match endpoints(context, coordinate.namespace, coordinate.name) {
        Some((0, _)) => Reach::Unreachable(Lack::Endpoint),
        Some(_) if is_headless => Reach::Doubtful(Lack::ClusterIp),
        Some((_, pods)) => Reach::Served { service, pods },
        None if is_idle(context, service) => Reach::Unreachable(Lack::Endpoint),
        // Whatever else is behind it, nothing answers once the Service is gone.
        None => Reach::Served { service, pods: selected(context, service) },
    }
}

/// Whether all workloads that a Service selects are scaled to 0, and it selects no pod that is left.
fn is_idle(context: &SimContext<'_>, service: ObjectId) -> bool {
    let workloads = workloads_behind(context, service);
    !workloads.is_empty()
        && workloads.iter().all(|(_, readiness)| matches!(readiness, Readiness::Idle(_)))
        && selected(context, service).is_empty()
}

/// The pods that a Service selects; none if not all of its namespace were read.
fn selected(context: &SimContext<'_>, service: ObjectId) -> Vec<ObjectId> {
    let snapshot = context.snapshot;
    let namespace = snapshot.object(service).namespace;
    let pods = context.built_in.pods.filter(|pods| snapshot.covers(*pods, Some(namespace)));
    let Some(selector) = snapshot.facts.service(service).and_then(|facts| facts.selector.as_ref()) else {
        return Vec::new();
    };
    let is_selected = |pod: &ObjectId| {
        snapshot.object(*pod).namespace == namespace && selector.matches(|key| snapshot.label(*pod, key))
    };
    context.of_resource(pods).iter().copied().filter(is_selected).collect()
}

/// What a Service lacks that was not read, as the API server says of a Terminating Namespace: `Post
/// "https://NAME.NAMESPACE.svc:443/…": service "NAME" not found`.
fn lack_by_word(context: &SimContext<'_>, namespace: &str, name: &str) -> Option<Lack> {
    let namespaces = context.built_in.namespaces.map_or(&[][..], |resource| context.of_resource(resource));
    let said = namespaces.iter().flat_map(|id| context.snapshot.facts.said_to_keep(*id));
    let address = format!("//{name}.{namespace}.svc");
    let mut answers = said.filter_map(|condition| Some(condition.message.split_once(&address)?.1));
    answers.find_map(|answer| {
        let says = |words: &str| answer.contains(words);
        says(&format!("service \"{name}\" not found"))
            .then_some(Lack::Service)
            .or_else(|| says(&format!("no endpoints available for service \"{name}\"")).then_some(Lack::Endpoint))
    })
}

/// How many endpoints of a Service are ready, and their pods if all are pods; `None` if unknown.
fn endpoints(context: &SimContext<'_>, namespace: Symbol, service: Symbol) -> Option<(u64, Vec<ObjectId>)> {
    let snapshot = context.snapshot;
    let slices = snapshot.resources.by_group_kind("discovery.k8s.io", "EndpointSlice")?;
    if !snapshot.covers(slices, Some(namespace)) {
        return None;
    }
    let label = snapshot.strings.find(SliceFacts::SERVICE);
    let is_its = |id: &&ObjectId| {
        let object = snapshot.object(**id);
        object.namespace == namespace
            && object.labels.iter().any(|(key, value)| Some(*key) == label && *value == service)
    };
    let (mut ready, mut pods, mut unread) = (0, Vec::new(), false);
    for id in context.of_resource(slices).iter().filter(is_its) {
        let Some(facts) = context.fact(*id, snapshot.facts.slice(*id)) else {
            unread = true;
            continue;
        };
        ready += facts.ready;
        pods.extend(facts.pods.iter().filter_map(|pod| {
            let coordinate =
                Coordinate { resource: context.built_in.pods?, namespace, name: snapshot.strings.find(pod)? };
            snapshot.look_up(coordinate).object()
        }));
    }
    if unread && ready == 0 {
        return None;
    }
    if unread || pods.len() as u64 != ready {
        pods.clear();
    }
    Some((ready, pods))
}
