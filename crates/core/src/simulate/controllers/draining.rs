//! What keeps Karpenter from draining a Node: it evicts the pods, as long as its NodeClaim sets it no time
//! (kubernetes-sigs/karpenter `pkg/controllers/node/termination/terminator/terminator.go:Drain`).

use crate::model::{ObjectId, Reference, effects::PolicyFacts, resources::group_of};

use super::{super::context::SimContext, controller::Undrained};

/// Karpenter's finalizer of Nodes and NodeClaims.
const FINALIZER: &str = "karpenter.sh/termination";

/// The pods that keep a Node or NodeClaim, as far as was read.
pub(super) fn undrained(context: &SimContext<'_>, object: ObjectId, finalizer: &str) -> Vec<Undrained> {
    let snapshot = context.snapshot;
    if finalizer != FINALIZER {
        return Vec::new();
    }
    let is_node = |id: &ObjectId| Some(snapshot.object(*id).resource) == context.built_in.nodes;
    let is_claim = |id: &ObjectId| {
        let resource = snapshot.resource(*id);
        (resource.group.as_str(), resource.kind.as_str()) == PolicyFacts::NODE_CLAIM
    };
    let nodes: Vec<ObjectId> = match is_node(&object) {
        true => vec![object],
        false => context.graph.dependents(object.into()).iter().copied().filter(is_node).collect(),
    };
    let owners = snapshot.object(object).owners.iter().filter_map(|owner| snapshot.by_uid(owner.uid));
    for claim in owners.chain([object]).filter(is_claim) {
        if context.evidence(claim, snapshot.facts.policy(claim)).is_some_and(PolicyFacts::has_deadline) {
            return Vec::new();
        }
    }
    let pods = nodes.into_iter().flat_map(|node| context.pods_of_node(node).pods);
    pods.filter_map(|pod| undrainable(context, pod)).collect()
}

/// Why a pod can't be evicted. One that isn't ready mostly can (kubernetes/kubernetes
/// pkg/registry/core/pod/storage/eviction.go); one of a DaemonSet or a mirror isn't.
fn undrainable(context: &SimContext<'_>, pod: ObjectId) -> Option<Undrained> {
    let snapshot = context.snapshot;
    let (object, facts) = (snapshot.object(pod), snapshot.facts.pod(pod)?);
    let stays = Reference::controller_of(&object.owners).is_some_and(|owner| {
        let (kind, group) = (snapshot.text(owner.kind), group_of(snapshot.text(owner.api_version)));
        matches!((group, kind), ("apps", "DaemonSet") | ("", "Node"))
    });
    if stays || object.terminating() || facts.finished() {
        return None;
    }
    if facts.undisturbed {
        return Some(Undrained { pod, budget: None });
    }
    if facts.phase.as_deref() != Some("Running") || facts.not_ready.is_some() {
        return None;
    }
    let budgets = context.of_resource(snapshot.resources.by_group_kind("policy", "PodDisruptionBudget")?);
    let forbids = |budget: &ObjectId| match context.evidence(*budget, snapshot.facts.budget(*budget)) {
        Some(facts) => {
            let selects = |id| facts.selector.as_ref().is_some_and(|it| it.matches(|key| snapshot.label(id, key)));
            facts.allowed == Some(0) && selects(pod)
        }
        None => false,
    };
    let is_near = |budget: &&ObjectId| snapshot.object(**budget).namespace == object.namespace;
    let budget = budgets.iter().filter(is_near).copied().find(|budget| forbids(budget))?;
    Some(Undrained { pod, budget: Some(budget) })
}
