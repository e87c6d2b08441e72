//! One simulated course of events: the store, the collector and the events between them, as an overlay on a snapshot.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, OnceLock},
};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    collector::{Ask, Collector, Event, EventKind, Examination, Finish, Orphaning},
    graph::{NodeId, OwnerGraph},
    model::{
        Coordinate, ObjectId, ResourceId, Snapshot, Symbol,
        effects::{KnownFinalizer, RELEASE, When, known_finalizer},
    },
    server::{self, DeleteAnswer, DeleteOptions, KindRules, OwnDelete, Patch, PatchAnswer, Stored},
};

use super::{
    actors::{Actors, Adoptions, Assumption, Others},
    blocked_by::{NAMESPACE_FINALIZER, left_by_job_controller},
    built_in::BuiltIn,
    cause::{Cause, Change, Effect},
    controllers::{ControllerIndex, runs_in_a_cloud},
    index::{AdopterIndex, FactIndex, Keepers, ManagedApis},
    obstacles::{Obstacles, Operation, Reach, RefusedWrite},
    projection::Projection,
    request::{Cut, WriteScope},
};

/// Which other actors are assumed to do their part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assume {
    /// Kubelets end pods if their Node exists, and known controllers remove their own finalizers (§9.5).
    #[default]
    Known,
    /// No kubelet ends a pod and no controller removes its finalizer. Only the namespace controller and the CRD
    /// finalizer controller work: deleting these kinds would be meaningless without them.
    None,
}

/// The pod garbage collector is the slowest controller: it deletes a pod at most so many seconds after its Node. It
/// looks every 20 seconds, waits 40, and looks again (`gc_controller.go: gcCheckPeriod, quarantineTime`).
pub(crate) const SLOWEST_CONTROLLER: i64 = 80;

/// A kubelet has ended a pod within this time after its grace period, in seconds, and the namespace controller has
/// removed what is empty.
pub const LATE: i64 = 600;

/// A controller that runs has done its clean-up, also outside of the cluster, and removed its finalizer within this
/// time, in seconds. Nobody counts on it any more then.
pub const OVERDUE: i64 = 3600;

/// Data shared by all simulations on one snapshot.
#[derive(Debug)]
pub struct SimContext<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub assume: Assume,
    /// The time of the snapshot, in Unix seconds, if what is overdue matters.
    now: Option<i64>,
    pub built_in: BuiltIn,
    /// Relations between objects that only facts contain.
    pub(crate) fact_index: FactIndex,
    /// What prevents writes; `None`: simulations assume that nothing does.
    pub(crate) obstacles: Option<Obstacles<'a>>,
    rules: Vec<KindRules>,
    by_namespace: OnceLock<FxHashMap<Symbol, Vec<ObjectId>>>,
    by_resource: OnceLock<FxHashMap<ResourceId, Vec<ObjectId>>>,
    by_release: OnceLock<FxHashMap<Symbol, Vec<ObjectId>>>,
    users_of_claims: OnceLock<FxHashMap<(Symbol, Symbol), Vec<ObjectId>>>,
    definition_of: OnceLock<FxHashMap<ResourceId, ObjectId>>,
    /// The time of the data in Unix seconds; `None` if unknown.
    pub time: Option<i64>,
    /// What may show whether a controller runs.
    pub(crate) controllers: ControllerIndex,
    pub(super) adopters: OnceLock<AdopterIndex>,
    pub(super) managed_apis: OnceLock<ManagedApis>,
    /// What comes of everything if nothing is deleted: now, and once all others have done their part.
    present: OnceLock<Projection>,
    later: OnceLock<Projection>,
    /// What is Terminating, and keeps a finalizer as long as others use it (R9.40).
    kept_by_users: OnceLock<Vec<(ObjectId, Keepers)>>,
}

impl<'a> SimContext<'a> {
    /// Prepares any number of simulations on a snapshot.
    pub fn new(snapshot: &'a Snapshot, graph: &'a OwnerGraph, assume: Assume) -> Self {
        let rules = snapshot.resources.iter().map(|(_, resource)| KindRules::of(resource)).collect();
        SimContext {
            snapshot,
            graph,
            assume,
            now: None,
            built_in: BuiltIn::of(&snapshot.resources),
            fact_index: FactIndex::default(),
            obstacles: None,
            rules,
            by_namespace: OnceLock::new(),
            by_resource: OnceLock::new(),
            by_release: OnceLock::new(),
            users_of_claims: OnceLock::new(),
            definition_of: OnceLock::new(),
            time: snapshot.time(),
            controllers: ControllerIndex::default(),
            adopters: OnceLock::new(),
            managed_apis: OnceLock::new(),
            present: OnceLock::new(),
            later: OnceLock::new(),
            kept_by_users: OnceLock::new(),
        }
    }

    /// The same for simulations that heed obstacles: webhooks and APIs that don't answer, and an absent controller
    /// manager. `now` in Unix seconds; `None` if unknown.
    #[must_use]
    pub fn with_obstacles(mut self, now: Option<i64>) -> Self {
        self.obstacles = Some(Obstacles::of(&self, now));
        self
    }

    /// What comes of everything in this cluster if nothing is deleted, and nobody mends what is in the way. Simulated
    /// once.
    pub(crate) fn present(&self) -> &Projection {
        self.present.get_or_init(|| Projection::of(self))
    }

    /// What comes of everything in this cluster if nothing is deleted, once all others have done their part: finalizers
    /// of operators, kubelets (R9.37). Simulated once.
    pub fn later(&self) -> &Projection {
        self.later.get_or_init(|| Projection::once_others_finish(self, true))
    }

    /// What is Terminating and keeps a finalizer as long as others use it, with those who do (R9.40).
    pub(crate) fn kept_by_users(&self) -> &[(ObjectId, Keepers)] {
        self.kept_by_users.get_or_init(|| {
            let terminating = self.snapshot.objects().filter(|(_, object)| object.terminating());
            let keepers = terminating.flat_map(|(id, object)| {
                object.finalizers.iter().map(move |finalizer| (id, self.users_that_keep(id, *finalizer)))
            });
            keepers.filter(|(_, keepers)| !keepers.found.is_empty() || !keepers.unread.is_empty()).collect()
        })
    }

    /// The same for simulations that heed what prevents writes, whether a controller manager runs or not: a sweep does
    /// the collector's work itself.
    #[must_use]
    pub fn with_refused_writes(mut self) -> Self {
        self.obstacles = Some(Obstacles::to_writes(&self));
        self
    }

    /// The same for simulations that heed what keeps namespaces from being emptied. A diagnosis says by itself what
    /// keeps the collector from writing, and what happens once it can.
    #[must_use]
    pub fn with_refused_content(mut self) -> Self {
        self.obstacles = Some(Obstacles { of_content: true, ..Obstacles::to_writes(&self) });
        self
    }

    /// The same, where controllers that are overdue are taken not to work.
    #[must_use]
    pub fn at(self, now: Option<i64>) -> Self {
        SimContext { now, time: now.or(self.time), ..self }
    }

    /// How many seconds an object has been terminating beyond its grace period; `None` without a clock.
    pub(crate) fn terminating_for(&self, object: ObjectId) -> Option<i64> {
        Some(self.now? - self.snapshot.object(object).deleted.get()?)
    }

    /// For how many seconds an object has been terminating, if its controllers have had their time to let it go.
    pub(crate) fn overdue_for(&self, object: ObjectId) -> Option<i64> {
        let seconds = self.time? - self.snapshot.object(object).deletion_requested()?;
        (seconds >= OVERDUE).then_some(seconds)
    }

    /// What is known of a finalizer that its controller removes without being asked (§9.5). Not of an add-on's, and not
    /// of one that a program outside of Kubernetes should have removed long ago, or whose cloud is not seen.
    pub(crate) fn removed_by_itself(&self, object: ObjectId, finalizer: Symbol) -> Option<&'static KnownFinalizer> {
        let found = self.snapshot.object(object);
        let resource = self.snapshot.resources.get(found.resource);
        let known = known_finalizer(self.snapshot.text(finalizer), &resource.group, &resource.kind)?;
        let removes = match known.when {
            When::Elsewhere | When::Asked => false,
            When::JobDoneWithPod => left_by_job_controller(self.snapshot, object, finalizer).is_none(),
            _ => true,
        };
        let is_taken_to_run = || self.overdue_for(object).is_none() && runs_in_a_cloud(self, object, finalizer);
        (removes && (known.is_kubernetes_own() || is_taken_to_run())).then_some(known)
    }

    /// The API server's rules for an object's kind.
    pub fn rules(&self, object: ObjectId) -> KindRules {
        self.rules[self.snapshot.object(object).resource.index()]
    }

    /// All objects in a namespace.
    pub fn in_namespace(&self, namespace: Symbol) -> &[ObjectId] {
        let index = self.by_namespace.get_or_init(|| {
            let mut index: FxHashMap<Symbol, Vec<ObjectId>> = FxHashMap::default();
            for (id, object) in self.snapshot.objects() {
                index.entry(object.namespace).or_default().push(id);
            }
            index
        });
        index.get(&namespace).map_or(&[], Vec::as_slice)
    }

    /// All objects of a resource.
    pub fn of_resource(&self, resource: ResourceId) -> &[ObjectId] {
        let index = self.by_resource.get_or_init(|| {
            let mut index: FxHashMap<ResourceId, Vec<ObjectId>> = FxHashMap::default();
            for (id, object) in self.snapshot.objects() {
                index.entry(object.resource).or_default().push(id);
            }
            index
        });
        index.get(&resource).map_or(&[], Vec::as_slice)
    }

    /// All objects whose labels name a HelmRelease of this name.
    pub fn released(&self, name: &str) -> &[ObjectId] {
        let strings = &self.snapshot.strings;
        let index = self.by_release.get_or_init(|| {
            let mut index: FxHashMap<Symbol, Vec<ObjectId>> = FxHashMap::default();
            let Some(key) = strings.find(RELEASE) else { return index };
            for (id, object) in self.snapshot.objects() {
                if let Some((_, name)) = object.labels.iter().find(|(label, _)| *label == key) {
                    index.entry(*name).or_default().push(id);
                }
            }
            index
        });
        strings.find(name).and_then(|name| index.get(&name)).map_or(&[], Vec::as_slice)
    }

    /// The resource that a CustomResourceDefinition defines, if served. Looked up by plural, which is part of the CRD's
    /// name; another CRD may have claimed its kind first.
    pub fn instances(&self, definition: ObjectId) -> Option<ResourceId> {
        let facts = self.snapshot.facts.definition(definition)?;
        self.snapshot.resources.by_group_plural(&facts.group, &facts.plural)
    }

    /// The Namespace of this name, if it exists; `None` for cluster-scoped objects.
    pub(crate) fn namespace_named(&self, name: Symbol) -> Option<ObjectId> {
        let resource = self.built_in.namespaces.filter(|_| !name.is_empty())?;
        self.snapshot.look_up(Coordinate { resource, namespace: Symbol::EMPTY, name }).object()
    }

    /// The Namespace and the CustomResourceDefinition of an object: their controllers delete it with them.
    pub fn above(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> {
        let found = self.snapshot.object(object);
        [self.namespace_named(found.namespace), self.definition_of(found.resource)].into_iter().flatten()
    }

    /// The CustomResourceDefinition of a resource, which is named `<plural>.<group>`.
    pub(crate) fn definition_of(&self, resource: ResourceId) -> Option<ObjectId> {
        let definitions = self.built_in.definitions?;
        let index = self.definition_of.get_or_init(|| {
            let defined = self.of_resource(definitions).iter().filter_map(|definition| {
                let by_name = || {
                    let name = self.snapshot.text(self.snapshot.object(*definition).name);
                    let (plural, group) = name.split_once('.')?;
                    self.snapshot.resources.by_group_plural(group, plural)
                };
                Some((self.instances(*definition).or_else(by_name)?, *definition))
            });
            defined.collect()
        });
        index.get(&resource).copied()
    }

    /// The PersistentVolumeClaims that a pod mentions, as far as its facts were read.
    pub(crate) fn claims_of_pod(&self, pod: ObjectId) -> impl Iterator<Item = ObjectId> {
        let namespace = self.snapshot.object(pod).namespace;
        let names = self.snapshot.facts.pod(pod).into_iter().flat_map(|facts| &facts.claims);
        names.filter_map(move |name| {
            let (resource, name) = (self.built_in.claims?, self.snapshot.strings.find(name)?);
            self.snapshot.look_up(Coordinate { resource, namespace, name }).object()
        })
    }

    /// The scheduled pods that mention a PersistentVolumeClaim.
    pub(crate) fn users_of_claim(&self, claim: ObjectId) -> &[ObjectId] {
        let index = self.users_of_claims.get_or_init(|| {
            let mut index: FxHashMap<(Symbol, Symbol), Vec<ObjectId>> = FxHashMap::default();
            for (id, object) in self.snapshot.objects() {
                let facts = self.snapshot.facts.pod(id).filter(|facts| facts.node.is_some());
                for claim in facts.into_iter().flat_map(|facts| &facts.claims) {
                    // A name without a symbol belongs to no object of the snapshot.
                    if let Some(claim) = self.snapshot.strings.find(claim) {
                        index.entry((object.namespace, claim)).or_default().push(id);
                    }
                }
            }
            index
        });
        let claim = self.snapshot.object(claim);
        index.get(&(claim.namespace, claim.name)).map_or(&[], Vec::as_slice)
    }
}

/// What should be read to be certain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Owners that no list covers.
    pub look_ups: FxHashSet<Coordinate>,
    /// Objects whose facts decide something.
    pub facts: BTreeSet<ObjectId>,
    /// Nodes whose kubelet may have to end a pod. What is not known of them leaves outcomes certain.
    pub kubelets: BTreeSet<ObjectId>,
    /// Coordinates whose owner is absent or has another uid according to a list, if that decides something. A list from
    /// a live cluster is outdated as soon as it is read: only a look-up proves absence (R8.7).
    pub absences: FxHashSet<Coordinate>,
    /// The same of other objects: Leases of controllers, Services of webhooks.
    pub missing: FxHashSet<Coordinate>,
    /// Objects whose finalizers' field managers tell who removes these.
    pub setters: BTreeSet<ObjectId>,
    /// Objects whose facts tell whether a controller runs and does its part: workloads, pods and Leases, and what may
    /// be paused. No outcome of theirs depends on that.
    pub evidence: BTreeSet<ObjectId>,
    /// Controllers that may adopt what is freed, and the pods that they have then.
    pub adopters: BTreeSet<ObjectId>,
    /// Custom resources that the collector changes: whether the API server accepts that (R1.36).
    pub patches: BTreeSet<ObjectId>,
}

impl Needs {
    pub fn add(&mut self, other: &Needs) {
        self.look_ups.extend(&other.look_ups);
        self.facts.extend(&other.facts);
        self.kubelets.extend(&other.kubelets);
        self.absences.extend(&other.absences);
        self.missing.extend(&other.missing);
        self.setters.extend(&other.setters);
        self.evidence.extend(&other.evidence);
        self.adopters.extend(&other.adopters);
        self.patches.extend(&other.patches);
    }

    /// Everything that only a list says to be absent.
    pub fn all_absences(&self) -> FxHashSet<Coordinate> {
        self.absences.union(&self.missing).copied().collect()
    }

    /// All objects whose facts should be read, each once.
    pub fn all_facts(&self) -> Vec<ObjectId> {
        let all: BTreeSet<ObjectId> =
            [&self.facts, &self.evidence, &self.adopters].into_iter().flatten().copied().collect();
        all.into_iter().collect()
    }

    /// Whether everything that mattered was read, apart from absences to confirm.
    pub fn is_empty(&self) -> bool {
        self.look_ups.is_empty() && self.facts.is_empty()
    }
}

/// A request of a collector's worker that the API server hasn't answered yet.
#[derive(Clone, Debug)]
pub enum WorkerTask<'a> {
    Examine(Examination<'a>, Ask),
    Orphan(Orphaning, Option<Ask>),
}

/// The state of one simulation.
#[derive(Clone, Debug)]
pub struct World<'s, 'a> {
    pub context: &'s SimContext<'a>,
    store: FxHashMap<ObjectId, Option<Stored<'a>>>,
    /// Namespaces whose `spec.finalizers` the namespace controller has removed its entry from (R9.12).
    pub(crate) finalized_namespaces: FxHashSet<ObjectId>,
    pub collector: Collector<'a>,
    /// The objects that the collector may write to; `None`: all.
    pub only: Option<WriteScope>,
    /// Whether the context's obstacles count.
    pub heeds: bool,
    /// Writes that an obstacle prevented, by object: the last one.
    pub(crate) refused: BTreeMap<ObjectId, RefusedWrite>,
    /// Namespaces that can't be emptied because of an APIService.
    pub(crate) held_by_api: BTreeMap<ObjectId, ObjectId>,
    /// Objects whose outcome rests on something of which nothing shows what it does: a kubelet that isn't ready, a Job
    /// that judges failures.
    pub(crate) rests_on_others: FxHashSet<ObjectId>,
    /// Pods whose kubelets have ended their containers. They serve nothing, though a refused write may keep them.
    pub ended: FxHashSet<ObjectId>,
    /// Whether the conversion webhooks of CustomResourceDefinitions can be reached, as far as it was asked.
    pub(crate) converters: FxHashMap<ObjectId, Arc<Reach>>,
    /// Objects whose deletes a webhook or a policy may refuse.
    pub(crate) deletes_may_be_refused: FxHashSet<ObjectId>,
    /// Objects whose updates a webhook or a policy may refuse.
    pub(crate) updates_may_be_refused: FxHashSet<ObjectId>,
    /// Who adopts what was freed.
    pub(crate) adoptions: Adoptions,
    /// Objects whose updates a policy may change.
    pub(crate) updates_may_be_changed: FxHashSet<ObjectId>,
    /// What must be read to know the obstacles.
    pub(crate) obstacle_needs: Needs,
    /// Cuts that the user has yet to make, before the first DELETE.
    pub cuts: VecDeque<Cut>,
    /// DELETEs that the user has yet to send, in this order.
    pub requests: VecDeque<(ObjectId, DeleteOptions)>,
    /// Events that the collector hasn't observed yet, in the order they happened.
    pub events: VecDeque<Event<'a>>,
    /// Resources whose informers are late: none of their events reaches the graph before nothing else is left to do.
    pub late: Vec<ResourceId>,
    /// Requests of the collector's workers.
    pub tasks: VecDeque<WorkerTask<'a>>,
    pub actors: Actors,
    /// Targets that were Terminating before, and what these wait for: their earlier delete goes on.
    pub going_on: FxHashSet<ObjectId>,
    /// What others finish; `None`: nothing.
    pub others: Option<Others>,
    /// Whether controllers try again what an obstacle prevented, once this course has removed the obstacle (R9.42).
    pub(crate) tries_again: bool,
    /// The obstacles that it has removed, and of which nothing was tried again yet.
    pub(crate) lost_obstacles: Vec<ObjectId>,
    /// What was tried again.
    pub(crate) tried_again: FxHashSet<ObjectId>,
    /// Namespaces whose `spec.finalizers` have no entries of others any more, and CRDs whose conditions no longer say
    /// that their instances can't be deleted.
    pub freed: FxHashSet<ObjectId>,
    pub log: Vec<Change>,
    pub needs: Needs,
    pub assumptions: BTreeSet<Assumption>,
    /// Objects with an examination that ended because something could not be read.
    pub doubtful: FxHashSet<ObjectId>,
    /// How many steps were simulated.
    pub steps: u64,
    /// The simulation was stopped before it settled.
    pub out_of_bounds: bool,
}

impl<'s, 'a> World<'s, 'a> {
    /// The world at rest (§8.1).
    pub fn at_rest(context: &'s SimContext<'a>) -> Self {
        World::with_collector(context, Collector::at_rest(context.snapshot, context.graph))
    }

    /// A world without events, with this collector.
    pub fn with_collector(context: &'s SimContext<'a>, collector: Collector<'a>) -> Self {
        let away = context.obstacles.as_ref().is_some_and(|obstacles| obstacles.manager_away.is_some());
        World {
            context,
            store: FxHashMap::default(),
            finalized_namespaces: FxHashSet::default(),
            collector,
            only: away.then(|| WriteScope::new([])),
            heeds: context.obstacles.is_some(),
            refused: BTreeMap::new(),
            held_by_api: BTreeMap::new(),
            rests_on_others: FxHashSet::default(),
            ended: FxHashSet::default(),
            converters: FxHashMap::default(),
            deletes_may_be_refused: FxHashSet::default(),
            updates_may_be_refused: FxHashSet::default(),
            adoptions: Adoptions::default(),
            updates_may_be_changed: FxHashSet::default(),
            obstacle_needs: context.obstacles.as_ref().map(|obstacles| obstacles.needs.clone()).unwrap_or_default(),
            cuts: VecDeque::new(),
            requests: VecDeque::new(),
            events: VecDeque::new(),
            late: Vec::new(),
            tasks: VecDeque::new(),
            actors: Actors::default(),
            going_on: FxHashSet::default(),
            others: None,
            tries_again: false,
            lost_obstacles: Vec::new(),
            tried_again: FxHashSet::default(),
            freed: FxHashSet::default(),
            log: Vec::new(),
            needs: Needs::default(),
            assumptions: BTreeSet::new(),
            doubtful: FxHashSet::default(),
            steps: 0,
            out_of_bounds: false,
        }
    }

    /// The object in the store; `None` once it is gone.
    pub fn stored(&self, object: ObjectId) -> Option<Stored<'a>> {
        match self.store.get(&object) {
            Some(changed) => changed.clone(),
            None => Some(Stored::of(self.context.snapshot.object(object))),
        }
    }

    pub fn exists(&self, object: ObjectId) -> bool {
        self.store.get(&object).is_none_or(Option::is_some)
    }

    /// Whether the collector may write to an object.
    pub fn may_write(&self, object: ObjectId) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(object))
    }

    /// Whether the collector may patch all dependents of an owner, so that it can finish orphaning them (R6.3).
    pub(crate) fn may_patch_all_dependents(&self, owner: ObjectId) -> bool {
        self.only.is_none()
            || self.collector.dependents(owner.into()).into_iter().all(|dependent| self.may_write(dependent))
    }

    /// Whether the collector skips a queued node because it may not write to its object, which exists.
    pub(crate) fn skips(&self, node: NodeId) -> bool {
        self.only.is_some()
            && self.context.graph.object(node).is_some_and(|object| !self.may_write(object) && self.exists(object))
    }

    /// Every object that was written to, in snapshot order.
    pub fn touched(&self) -> Vec<ObjectId> {
        let mut touched: Vec<ObjectId> = self.store.keys().copied().collect();
        touched.sort_unstable();
        touched
    }

    /// One DELETE. `None` if the object is gone (404).
    pub fn delete(&mut self, object: ObjectId, options: &DeleteOptions, cause: Cause) -> Option<DeleteAnswer<'a>> {
        let stored = self.stored(object)?;
        let operation = match cause {
            Cause::Namespace(_) => Operation::of_content(self.context.snapshot, object),
            _ => Operation::Delete,
        };
        if cause.is_admitted() && self.refuses(object, operation) {
            return Some(DeleteAnswer::Unchanged);
        }
        let rules = self.context.rules(object);
        let facts = self.context.snapshot.facts.pod(object);
        let starts_grace = rules.graceful && !stored.terminating && options.grace != Some(0);
        // R1.25: the effect of a second DELETE of a Namespace depends on its spec.finalizers.
        let second = rules.own_delete == OwnDelete::Namespace && stored.terminating;
        let unknown_spec = second && self.context.snapshot.facts.namespace(object).is_none();
        if starts_grace && facts.is_none() || unknown_spec {
            self.needs.facts.insert(object);
        }
        let uid = self.context.snapshot.object(object).uid;
        let answer = server::delete(&stored, uid, rules, facts, self.held_by_spec(object), options);
        match &answer {
            DeleteAnswer::Removed => self.write(object, stored, None, cause, Effect::Removed),
            DeleteAnswer::Updated(after) => self.write(object, stored, Some(after.clone()), cause, Effect::Deleting),
            DeleteAnswer::Unchanged | DeleteAnswer::Conflict => {}
        }
        Some(answer)
    }

    /// One PATCH. `None` if the object is gone (404).
    pub fn patch(&mut self, object: ObjectId, patch: &Patch, cause: Cause) -> Option<PatchAnswer<'a>> {
        let stored = self.stored(object)?;
        if cause.is_admitted() && self.refuses(object, Operation::Update) {
            return Some(PatchAnswer::Unchanged);
        }
        let answer = server::patch(&stored, patch, self.held_by_spec(object));
        match &answer {
            PatchAnswer::Removed => self.write(object, stored, None, cause, Effect::Removed),
            PatchAnswer::Updated(after) => {
                let effect = if after.owners == stored.owners { Effect::Finalizers } else { Effect::Owners };
                self.write(object, stored, Some(after.clone()), cause, effect);
            }
            PatchAnswer::Unchanged | PatchAnswer::Conflict | PatchAnswer::Invalid => {}
        }
        Some(answer)
    }

    /// Whether the user has requests left to send.
    pub(crate) fn has_requests_left(&self) -> bool {
        !self.cuts.is_empty() || !self.requests.is_empty()
    }

    /// Sends the user's next PATCH or DELETE. A PATCH is computed from the current state, as after a conflict.
    pub(crate) fn send_next_request(&mut self) {
        if let Some(cut) = self.cuts.pop_front() {
            if let Some(stored) = self.stored(cut.object) {
                let patch = Patch::SetOwners { owners: cut.leaves(&stored.owners), version: stored.version };
                self.patch(cut.object, &patch, Cause::Kept);
            }
        } else if let Some((target, options)) = self.requests.pop_front() {
            self.delete(target, &options, Cause::Requested);
        }
    }

    /// Removes a finalizer from an object, as its controller would.
    pub(crate) fn remove_finalizer(&mut self, object: ObjectId, finalizer: Symbol) {
        let Some(stored) = self.stored(object).filter(|stored| stored.has_finalizer(finalizer)) else { return };
        let patch = Patch::RemoveFinalizer { finalizer, version: stored.version };
        self.patch(object, &patch, Cause::Finisher(finalizer));
    }

    /// Removes finalizers from an object, all but the last in one write: there may be a million.
    pub(crate) fn remove_finalizers(&mut self, object: ObjectId, finalizers: &[Symbol]) {
        let Some((last, rest)) = finalizers.split_last() else { return };
        let rest: FxHashSet<Symbol> = rest.iter().copied().filter(|finalizer| finalizer != last).collect();
        if let Some(stored) = self.stored(object).filter(|stored| stored.has_finalizer(*last)) {
            let left: Vec<Symbol> = stored.finalizers.iter().copied().filter(|one| !rest.contains(one)).collect();
            if left.len() < stored.finalizers.len() {
                let after = Stored { finalizers: left.into(), version: stored.version + 1, ..stored.clone() };
                self.write(object, stored, Some(after), Cause::Finisher(*last), Effect::Finalizers);
            }
            self.remove_finalizer(object, *last);
        } else {
            for finalizer in finalizers {
                self.remove_finalizer(object, *finalizer);
            }
        }
    }

    /// Removes the namespace controller's entry from a namespace's `spec.finalizers`. If nothing else blocks the
    /// namespace, that removes it (R9.12).
    pub(crate) fn finalize_namespace(&mut self, object: ObjectId) {
        if self.refuses(object, Operation::Finalize) {
            return;
        }
        self.finalized_namespaces.insert(object);
        if let Some(stored) = self.stored(object)
            && stored.terminating
            && stored.finalizers.is_empty()
            && !self.held_by_spec(object)
        {
            self.write(object, stored, None, Cause::NamespaceEmpty, Effect::Removed);
        }
    }

    /// Whether `spec.finalizers` block a Namespace. If they were not read, assume the default entry.
    pub fn held_by_spec(&self, object: ObjectId) -> bool {
        if self.context.rules(object).own_delete != OwnDelete::Namespace {
            return false;
        }
        let finalized = self.finalized_namespaces.contains(&object);
        match self.context.snapshot.facts.namespace(object) {
            Some(facts) => facts.finalizers.iter().any(|finalizer| match finalizer == NAMESPACE_FINALIZER {
                true => !finalized,
                false => !self.freed.contains(&object),
            }),
            None => !finalized,
        }
    }

    fn write(&mut self, object: ObjectId, before: Stored<'a>, after: Option<Stored<'a>>, cause: Cause, effect: Effect) {
        self.log.push(Change { object, cause, removed: after.is_none(), effect });
        let node = NodeId::from(object);
        // The collector knows an object by its uid, and only the first object with that uid (R3.5).
        let uid = self.context.snapshot.object(object).uid;
        if self.collector.watches(object) && self.context.graph.by_uid(uid) == Some(node) {
            let kind = match &after {
                None => EventKind::Deleted,
                Some(after) => EventKind::Updated { before: Box::new(before), after: Box::new(after.clone()) },
            };
            self.events.push_back(Event { node, kind });
        }
        let removed = after.is_none();
        if effect == Effect::Owners {
            self.note_freed(object);
        }
        self.store.insert(object, after);
        self.collector.store_changed(object);
        self.actors.notice(object);
        if removed {
            self.notice_waiters_of(object);
            self.note_lost_obstacle(object);
        } else if effect == Effect::Deleting {
            self.notice_pods_of_job(object);
            self.count_failure(object);
        }
    }

    /// A worker has finished an item of `attemptToDelete`.
    pub(crate) fn finish_examination(&mut self, node: NodeId, finish: Finish) {
        self.collector.to_delete.done(node);
        match finish {
            Finish::Forget => {}
            Finish::RetrySoon => self.collector.retries.soon(node),
            Finish::RetryAfterChange => self.collector.retries.after_change(node),
            Finish::Absent(identity) => {
                self.events.push_back(Event { node, kind: EventKind::VirtualDeleted(identity) });
            }
            Finish::Unknown => {
                self.collector.retries.after_change(node);
                self.doubtful.extend(self.context.graph.object(node));
            }
        }
    }
}
