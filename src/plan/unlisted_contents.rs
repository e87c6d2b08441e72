//! Contents of a deleted Namespace that have no outcome in the plan: resources that are never listed, and objects that
//! stay only as long as a pod does (R9.9, R9.10).

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, ResourceId, Resources},
    server::OwnDelete,
    simulate::SimContext,
};

use super::outcome::{OutcomeKind, Plan};

/// Contents of one deleted Namespace without an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedContents {
    pub namespace: ObjectId,
    /// Resources that are deleted although they are never listed.
    pub unlisted: Vec<Unlisted>,
    /// The pods that must be gone before anything else is deleted.
    pub pods: Vec<ObjectId>,
    /// How many objects of which resources stay until then.
    pub spared: Vec<(ResourceId, usize)>,
}

/// Objects of one resource that the collector doesn't watch: it knows neither owners nor dependents of them, but the
/// namespace controller deletes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlisted {
    pub resource: ResourceId,
    /// How many, if counted.
    pub count: Option<u64>,
}

/// The unlisted contents of the Namespaces that a plan deletes.
pub fn unlisted_contents(context: &SimContext<'_>, plan: &Plan) -> Vec<UnlistedContents> {
    let namespaces = plan.outcomes.iter().map(|outcome| outcome.object);
    let namespaces = namespaces.filter(|id| context.rules(*id).own_delete == OwnDelete::Namespace);
    let gone: FxHashSet<ObjectId> = plan
        .outcomes
        .iter()
        .filter(|outcome| outcome.kind == OutcomeKind::Deleted)
        .map(|outcome| outcome.object)
        .collect();
    namespaces.map(|namespace| of_namespace(context, namespace, &gone)).collect()
}

fn of_namespace(context: &SimContext<'_>, namespace: ObjectId, gone: &FxHashSet<ObjectId>) -> UnlistedContents {
    let snapshot = context.snapshot;
    let left = context.in_namespace(snapshot.object(namespace).name).iter().copied().filter(|id| !gone.contains(id));
    let (pods, others): (Vec<ObjectId>, Vec<ObjectId>) = left.partition(|id| context.rules(*id).graceful);
    let mut spared: BTreeMap<ResourceId, usize> = BTreeMap::new();
    // Without pods everything is deleted, and what is left has an outcome of its own.
    for object in others.into_iter().filter(|id| !pods.is_empty() && !snapshot.object(*id).terminating()) {
        *spared.entry(snapshot.object(object).resource).or_default() += 1;
    }
    let unlisted = unlisted(&snapshot.resources).map(|resource| Unlisted { resource, count: None });
    UnlistedContents { namespace, unlisted: unlisted.collect(), pods, spared: spared.into_iter().collect() }
}

/// Resources that the namespace controller deletes and the collector doesn't watch (R2.2, R2.3, R9.9): they support
/// deletecollection, or delete and list.
pub fn unlisted(resources: &Resources) -> impl Iterator<Item = ResourceId> {
    let events = |group: &str| resources.by_group_plural(group, "events");
    // Both groups of events share their storage.
    let duplicate = events("").and_then(|_| events("events.k8s.io"));
    let is_deleted = move |id: ResourceId| {
        let resource = resources.get(id);
        let deleted =
            resource.has_verb("delete") && (resource.has_verb("deletecollection") || resource.has_verb("list"));
        resource.namespaced
            && deleted
            && resources.picked(id) == id
            && resources.not_watched(id).is_some()
            && duplicate != Some(id)
    };
    resources.iter().map(|(id, _)| id).filter(move |id| is_deleted(*id))
}
