//! What the delete of a Namespace reaches besides the objects that a plan names: what is never listed, and what is
//! spared only as long as a pod stays (R9.9, R9.10).

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, ResourceId, Resources},
    server::OwnDelete,
    simulate::SimContext,
};

use super::outcome::{OutcomeKind, Plan};

/// What the delete of one Namespace reaches besides what a plan names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedContents {
    pub namespace: ObjectId,
    /// What goes although it is never listed.
    pub unlisted: Vec<Unlisted>,
    /// The pods that have to go before anything else is even tried.
    pub pods: Vec<ObjectId>,
    /// How many objects of which resources are left alone until then.
    pub spared: Vec<(ResourceId, usize)>,
}

/// Objects of one resource that the collector doesn't watch: they have no owners or dependents there, but the namespace
/// controller deletes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlisted {
    pub resource: ResourceId,
    /// How many, where that was asked.
    pub count: Option<u64>,
}

/// What the Namespaces that a plan deletes reach besides.
pub fn unlisted_contents(stage: &SimContext<'_>, plan: &Plan) -> Vec<UnlistedContents> {
    let namespaces = plan.outcomes.iter().map(|outcome| outcome.object);
    let namespaces = namespaces.filter(|id| stage.rules(*id).own_delete == OwnDelete::Namespace);
    let gone: FxHashSet<ObjectId> = plan
        .outcomes
        .iter()
        .filter(|outcome| outcome.kind == OutcomeKind::Deleted)
        .map(|outcome| outcome.object)
        .collect();
    namespaces.map(|namespace| of_namespace(stage, namespace, &gone)).collect()
}

fn of_namespace(stage: &SimContext<'_>, namespace: ObjectId, gone: &FxHashSet<ObjectId>) -> UnlistedContents {
    let snapshot = stage.snapshot;
    let left = stage.in_namespace(snapshot.object(namespace).name).iter().copied().filter(|id| !gone.contains(id));
    let (pods, others): (Vec<ObjectId>, Vec<ObjectId>) = left.partition(|id| stage.rules(*id).graceful);
    let mut spared: BTreeMap<ResourceId, usize> = BTreeMap::new();
    // Without a pod everything is tried, and what is left has an outcome of its own.
    for object in others.into_iter().filter(|id| !pods.is_empty() && !snapshot.object(*id).terminating()) {
        *spared.entry(snapshot.object(object).resource).or_default() += 1;
    }
    let unlisted = unlisted(&snapshot.resources).map(|resource| Unlisted { resource, count: None });
    UnlistedContents { namespace, unlisted: unlisted.collect(), pods, spared: spared.into_iter().collect() }
}

/// What the namespace controller deletes and the collector doesn't watch (R2.2, R2.3, R9.9): a collection at once, or
/// one by one where they can be listed.
pub fn unlisted(resources: &Resources) -> impl Iterator<Item = ResourceId> {
    let events = |group: &str| resources.by_group_plural(group, "events");
    // Both groups of events are one storage.
    let doubled = events("").and_then(|_| events("events.k8s.io"));
    let is_taken = move |id: ResourceId| {
        let resource = resources.get(id);
        let deleted =
            resource.has_verb("delete") && (resource.has_verb("deletecollection") || resource.has_verb("list"));
        resource.namespaced
            && deleted
            && resources.picked(id) == id
            && resources.not_watched(id).is_some()
            && doubled != Some(id)
    };
    resources.iter().map(|(id, _)| id).filter(move |id| is_taken(*id))
}
