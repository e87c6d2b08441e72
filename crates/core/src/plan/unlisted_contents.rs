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
    let deleted = deleted(plan);
    namespaces(context, plan).map(|namespace| of_namespace(context, namespace, &deleted)).collect()
}

/// Contents of these Namespaces that stay only as long as a pod does, and that the plan doesn't touch otherwise.
pub(super) fn spared_objects(context: &SimContext<'_>, plan: &Plan) -> Vec<ObjectId> {
    let deleted = deleted(plan);
    let spared = namespaces(context, plan).flat_map(|namespace| left_in(context, namespace, &deleted).1);
    let may_be_removed: FxHashSet<ObjectId> =
        plan.outcomes.iter().filter(|outcome| outcome.may_be_removed()).map(|outcome| outcome.object).collect();
    spared.filter(|object| !may_be_removed.contains(object)).collect()
}

fn namespaces<'p>(context: &'p SimContext<'_>, plan: &'p Plan) -> impl Iterator<Item = ObjectId> + 'p {
    let removed = plan.outcomes.iter().filter(|outcome| outcome.may_be_removed()).map(|outcome| outcome.object);
    removed.filter(|id| context.rules(*id).own_delete == OwnDelete::Namespace)
}

fn deleted(plan: &Plan) -> FxHashSet<ObjectId> {
    let deleted = plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
    deleted.map(|outcome| outcome.object).collect()
}

/// The pods that a Namespace still has, and the objects that stay only because of them.
fn left_in(
    context: &SimContext<'_>,
    namespace: ObjectId,
    deleted: &FxHashSet<ObjectId>,
) -> (Vec<ObjectId>, Vec<ObjectId>) {
    let snapshot = context.snapshot;
    let left = context.in_namespace(snapshot.object(namespace).name).iter().copied().filter(|id| !deleted.contains(id));
    let (pods, mut others): (Vec<ObjectId>, Vec<ObjectId>) = left.partition(|id| context.rules(*id).graceful);
    // Without pods everything is deleted, and what is left has an outcome of its own.
    others.retain(|id| !pods.is_empty() && !snapshot.object(*id).terminating());
    (pods, others)
}

fn of_namespace(context: &SimContext<'_>, namespace: ObjectId, deleted: &FxHashSet<ObjectId>) -> UnlistedContents {
    let snapshot = context.snapshot;
    let (pods, others) = left_in(context, namespace, deleted);
    let mut spared: BTreeMap<ResourceId, usize> = BTreeMap::new();
    for object in others {
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
