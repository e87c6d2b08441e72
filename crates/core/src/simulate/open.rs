//! Which outcomes are open at the end of a simulation: those that depend on something that could not be read, and those
//! that rest on an assumption that may be wrong: on controllers that are no part of Kubernetes and were not seen
//! running, on a collector that may not watch a young kind yet, on webhooks and policies that may refuse, on invalid
//! references in lists that could not be read, and on kubelets of which nothing shows whether they answer.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    collector::Reason,
    model::{ObjectId, ResourceId, Symbol, effects::known_finalizer},
};

use super::{
    actors::Assumption,
    affected::{affected_by, affected_by_hidden_dependents},
    blocked_by::TRACKING,
    cause::Cause,
    context::SimContext,
    doubt::ManagerDoubt,
    projection::Blockers,
    request::Start,
    state::{BlockedBy, State},
    uncertainty::Uncertainty,
    world::World,
};

/// The collector looks for new kinds every 30 seconds (R2.5), and then lists their objects.
const COLLECTOR_LEARNS_WITHIN: i64 = 35;

/// What is open at the end of a simulation.
#[derive(Debug)]
pub(crate) struct Open {
    objects: FxHashMap<ObjectId, Uncertainty>,
    /// Whether the simulation was stopped before its end.
    stopped: bool,
    /// The assumptions that the simulation itself didn't record.
    pub(crate) assumptions: BTreeSet<Assumption>,
}

impl Open {
    /// What is open after such a start. A sweep does the collector's work itself, and reports what others have to do.
    pub(crate) fn of(world: &World<'_, '_>, blockers: &Blockers, start: Start) -> Self {
        let mut assumptions = BTreeSet::new();
        let mut rests: Vec<ObjectId> = world.rests_on_others.iter().copied().collect();
        let (mut hidden, invalid) = affected_by_hidden_dependents(world);
        if start == Start::AtRest {
            rests.extend(resting_on_assumptions(world, blockers, invalid, &mut assumptions));
        } else {
            hidden.extend(invalid);
        }
        let mut objects: FxHashMap<ObjectId, Uncertainty> = FxHashMap::default();
        let mut add = |found: FxHashSet<ObjectId>, why: Uncertainty| {
            for object in found {
                objects.entry(object).or_insert(why);
            }
        };
        add(unread_objects(world, blockers, hidden), Uncertainty::Gap);
        add(world.unseen_provisioners.keys().copied().collect(), Uncertainty::Provisioner);
        add(affected_by(world, blockers, &world.updates_may_be_changed, rests), Uncertainty::Assumption);
        let deletes = world.deletes_may_be_refused.iter().copied().collect();
        let mut refusable = affected_by(world, blockers, &world.updates_may_be_refused, deletes);
        // If a write is refused, less happens: what doesn't change now doesn't change then.
        if !refusable.is_empty() {
            let changed: FxHashSet<ObjectId> = world.log.iter().map(|change| change.object).collect();
            refusable.retain(|object| changed.contains(object));
        }
        add(refusable, Uncertainty::Refusal);
        add(resting_on_the_manager(world, blockers, &mut assumptions), Uncertainty::Manager);
        Open { objects, stopped: world.out_of_bounds, assumptions }
    }

    /// Why the outcome of an object is uncertain, if it is.
    pub(crate) fn why(&self, object: ObjectId) -> Option<Uncertainty> {
        if self.stopped { Some(Uncertainty::Bound) } else { self.objects.get(&object).copied() }
    }

    /// Objects of which more may become than the simulation shows, and why, in no particular order.
    pub(crate) fn undecided(&self) -> impl Iterator<Item = (ObjectId, Uncertainty)> {
        self.objects.iter().map(|(object, why)| (*object, *why)).filter(|(_, why)| why.may_remove())
    }
}

/// Every object whose outcome depends on something that could not be read: objects whose examination was aborted, those
/// of which dependents may be `hidden`, their dependents, whatever waits for them, and the Namespace or CRD that they
/// block.
pub(crate) fn unread_objects(world: &World<'_, '_>, blockers: &Blockers, hidden: Vec<ObjectId>) -> FxHashSet<ObjectId> {
    let open = world.doubtful.iter().chain(&world.unread).copied().chain(hidden).collect();
    affected_by(world, blockers, &FxHashSet::default(), open)
}

/// Objects whose outcomes rest on assumptions about the collector, finalizers of others, and what could not be read
/// elsewhere: `invalid` are those that only dependents with an invalid reference could affect.
fn resting_on_assumptions(
    world: &World<'_, '_>,
    blockers: &Blockers,
    invalid: Vec<ObjectId>,
    assumptions: &mut BTreeSet<Assumption>,
) -> Vec<ObjectId> {
    let mut open: Vec<ObjectId> = awaiting_others(world, blockers);
    for change in &world.log {
        match &change.cause {
            Cause::KnownFinalizer(finalizer) if !is_kubernetes_own(world.context, change.object, *finalizer) => {
                open.push(change.object);
            }
            // Nothing is freed whose kind isn't watched yet: it is deleted later, because its owner is gone.
            Cause::Collector(Reason::OwnerOrphans(_)) => {
                if let Some(assumption) = world.context.young_kind(change.object) {
                    assumptions.insert(assumption);
                    open.push(change.object);
                }
            }
            _ => {}
        }
    }
    // An owner doesn't wait for dependents that the collector doesn't see, if there is a collector.
    let touched = if world.manager_away() { Vec::new() } else { world.touched() };
    for object in touched {
        let waits = world.stored(object).is_some_and(|stored| stored.waiting());
        let unseen = blockers.waits_for(object).iter().filter_map(|other| world.context.young_kind(*other));
        for assumption in unseen.filter(|_| waits) {
            assumptions.insert(assumption);
            open.push(object);
        }
    }
    for object in invalid {
        let namespace = world.context.snapshot.namespace(object).to_owned();
        assumptions.insert(Assumption::NoneElsewhere { namespace });
        open.push(object);
    }
    open
}

/// What the controller manager changes, and what follows from that, if something raises a doubt whether it works.
fn resting_on_the_manager(
    world: &World<'_, '_>,
    blockers: &Blockers,
    assumptions: &mut BTreeSet<Assumption>,
) -> FxHashSet<ObjectId> {
    let context = world.context;
    let Some(obstacles) = context.obstacles.as_ref().filter(|_| world.heeds) else { return FxHashSet::default() };
    let unattended = |cause: &Cause| {
        let kind = match cause {
            Cause::ScaledDown(by) => Some(context.snapshot.object(*by).resource),
            Cause::JobFailed { .. } => context.built_in.jobs,
            Cause::KnownFinalizer(of) if context.snapshot.text(*of) == TRACKING => context.built_in.jobs,
            _ => None,
        };
        // Only then is anything read.
        let kind = kind?;
        context.unattended().get(&kind).map(|id| ManagerDoubt::Unattended(*id))
    };
    let doubted = |cause: &Cause| match obstacles.doubt {
        Some(doubt) if matches!(cause, Cause::Collector(_)) => Some(doubt),
        Some(doubt @ ManagerDoubt::Expired(_)) if cause.is_of_manager(context.snapshot) => Some(doubt),
        _ => unattended(cause),
    };
    let its = world.log.iter().filter_map(|change| Some((change.object, doubted(&change.cause)?)));
    let (its, doubts): (Vec<ObjectId>, Vec<ManagerDoubt>) = its.unzip();
    let though = doubts.into_iter().map(|doubt| doubt.in_words(context.snapshot));
    assumptions.extend(though.map(|though| Assumption::ManagerWorks { though }));
    let mut changed: FxHashSet<ObjectId> = world.log.iter().map(|change| change.object).collect();
    for gone_at_once in world.log.iter().filter(|change| change.removed && change.cause == Cause::Requested) {
        changed.remove(&gone_at_once.object);
    }
    let mut open = affected_by(world, blockers, &FxHashSet::default(), its);
    open.retain(|object| changed.contains(object));
    open
}

/// Objects that are deleted once a controller acts that is not known to run.
fn awaiting_others(world: &World<'_, '_>, blockers: &Blockers) -> Vec<ObjectId> {
    let is_finalizer = |blocker: &BlockedBy| {
        matches!(blocker, BlockedBy::Finalizer(finalizer)
            if !finalizer.is_collectors_finalizer() && *finalizer != Symbol::DEFINITION)
    };
    let depends = |object: &ObjectId| {
        blockers.own_state(*object) == Some(State::Unknown)
            && !world.doubtful.contains(object)
            && blockers.holders(*object).iter().any(is_finalizer)
    };
    world.touched().into_iter().filter(depends).collect()
}

/// Whether a finalizer is removed by a controller that is a part of Kubernetes.
fn is_kubernetes_own(context: &SimContext<'_>, object: ObjectId, finalizer: Symbol) -> bool {
    let snapshot = context.snapshot;
    let resource = snapshot.resource(object);
    known_finalizer(snapshot.text(finalizer), &resource.group, &resource.kind)
        .is_some_and(|known| known.is_kubernetes_own())
}

impl SimContext<'_> {
    /// That the collector already watches an object's kind, if the kind is so young that it may not. A dump is read
    /// later: its kinds are old.
    fn young_kind(&self, object: ObjectId) -> Option<Assumption> {
        let now = self.snapshot.read_at?;
        let resource = self.snapshot.object(object).resource;
        let seconds = now - self.served_since(resource)?;
        let kind = self.snapshot.resources.get(resource).kind.clone();
        (seconds < COLLECTOR_LEARNS_WITHIN).then_some(Assumption::Watched { kind, seconds: seconds.max(0) })
    }

    /// When a resource began to be served at the earliest: its CustomResourceDefinition or the APIService of an
    /// aggregated API was created then. `None` for built-in resources, and if that could not be read.
    fn served_since(&self, resource: ResourceId) -> Option<i64> {
        let resources = &self.snapshot.resources;
        let found = resources.get(resource);
        let named =
            |resource: Option<ResourceId>, name: String| self.snapshot.look_up_named(resource?, "", &name).object();
        let definition = named(self.built_in.definitions, format!("{}.{}", found.plural, found.group));
        let service = named(self.built_in.api_services, format!("{}.{}", found.version, found.group));
        // The API server registers an APIService without a Service for each of its own groups when it starts.
        let is_aggregated =
            |id: &ObjectId| self.snapshot.facts.api_service(*id).is_some_and(|facts| facts.service.is_some());
        let created = definition.into_iter().chain(service.filter(is_aggregated));
        created.filter_map(|id| self.snapshot.object(id).created.get()).max()
    }
}
