//! One simulated course of events: the store, the collector and what is under way between them, as an overlay on a
//! snapshot.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::OnceLock,
};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    collector::{Ask, Collector, Event, EventKind, Examination, Finish, Orphaning},
    graph::{NodeId, OwnerGraph},
    model::{Coordinate, ObjectId, ResourceId, Snapshot, Symbol},
    server::{self, DeleteAnswer, DeleteOptions, KindRules, OwnDelete, Patch, PatchAnswer, Stored},
};

use super::{
    actors::{Actors, Assumption},
    built_in::BuiltIn,
    cause::{Cause, Change, Effect},
    index::Index,
    request::{Cut, Only},
};

/// The one of a Namespace's `spec.finalizers` that the namespace controller removes (R9.12).
pub const NAMESPACE_FINALIZER: &str = "kubernetes";

/// Which other actors are taken to do their part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assume {
    /// The kubelet ends pods where their Node exists, and known controllers remove their own finalizers (§9.5).
    #[default]
    Known,
    /// No kubelet ends a pod, and no controller removes its finalizer. The namespace controller and the clean-up of
    /// definitions, without which a delete of these kinds means nothing, go on.
    None,
}

/// What every simulation on one snapshot shares.
#[derive(Debug)]
pub struct SimContext<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub assume: Assume,
    pub built_in: BuiltIn,
    /// What facts say beyond the graph.
    pub(crate) beyond: Index,
    rules: Vec<KindRules>,
    by_namespace: OnceLock<FxHashMap<Symbol, Vec<ObjectId>>>,
    by_resource: OnceLock<FxHashMap<ResourceId, Vec<ObjectId>>>,
    users_of_claims: OnceLock<FxHashMap<(Symbol, Symbol), Vec<ObjectId>>>,
}

impl<'a> SimContext<'a> {
    /// Sets the stage for any number of simulations.
    pub fn new(snapshot: &'a Snapshot, graph: &'a OwnerGraph, assume: Assume) -> Self {
        let rules = snapshot.resources.iter().map(|(_, resource)| KindRules::of(resource)).collect();
        SimContext {
            snapshot,
            graph,
            assume,
            built_in: BuiltIn::of(&snapshot.resources),
            beyond: Index::default(),
            rules,
            by_namespace: OnceLock::new(),
            by_resource: OnceLock::new(),
            users_of_claims: OnceLock::new(),
        }
    }

    /// What the API server does for an object's kind.
    pub fn rules(&self, object: ObjectId) -> KindRules {
        self.rules[self.snapshot.object(object).resource.index()]
    }

    /// Every object of a namespace.
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

    /// Every object of a resource.
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

    /// What a definition defines, as far as it is served. By plural: that is part of the definition's name, while
    /// another may have been the first with its kind.
    pub fn instances(&self, definition: ObjectId) -> Option<ResourceId> {
        let facts = self.snapshot.facts.definition(definition)?;
        self.snapshot.resources.by_group_plural(&facts.group, &facts.plural)
    }

    /// The scheduled pods that mention a PersistentVolumeClaim.
    pub fn users_of_claim(&self, claim: ObjectId) -> &[ObjectId] {
        let index = self.users_of_claims.get_or_init(|| {
            let mut index: FxHashMap<(Symbol, Symbol), Vec<ObjectId>> = FxHashMap::default();
            for (id, object) in self.snapshot.objects() {
                let facts = self.snapshot.facts.pod(id).filter(|facts| facts.node.is_some());
                for claim in facts.into_iter().flat_map(|facts| &facts.claims) {
                    // A claim of a name that no object has is not in the snapshot.
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

/// What would have to be read to know more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Owners that no list covers.
    pub look_ups: FxHashSet<Coordinate>,
    /// Objects whose facts decide something.
    pub facts: BTreeSet<ObjectId>,
    /// Where nothing is, or something else, as far as lists tell, and that decides something. On a live cluster lists
    /// are old as soon as they are read: only a look-up proves it (R8.7).
    pub absences: FxHashSet<Coordinate>,
}

impl Needs {
    /// Adds what somebody else needs.
    pub fn add(&mut self, other: &Needs) {
        self.look_ups.extend(&other.look_ups);
        self.facts.extend(&other.facts);
        self.absences.extend(&other.absences);
    }

    /// Whether everything that mattered was known, as far as what was read is still true.
    pub fn is_empty(&self) -> bool {
        self.look_ups.is_empty() && self.facts.is_empty()
    }
}

/// Work of the collector that is under way: a worker waits for the answer to what it asked.
#[derive(Clone, Debug)]
pub enum Task<'a> {
    Examine(Examination<'a>, Ask),
    Orphan(Orphaning, Option<Ask>),
}

/// The world as one course of events leaves it.
#[derive(Clone, Debug)]
pub struct World<'s, 'a> {
    pub stage: &'s SimContext<'a>,
    store: FxHashMap<ObjectId, Option<Stored<'a>>>,
    /// Namespaces whose `spec.finalizers` the namespace controller has taken its own from (R9.12).
    pub(crate) finalized_namespaces: FxHashSet<ObjectId>,
    pub collector: Collector<'a>,
    /// Whether the collector looks for the owners of an object from where that is, as a sweep does. The original takes
    /// what no informer has shown it to be where its first dependent is (R3.2).
    pub(crate) knows_scopes: bool,
    /// What the collector may write to; unset: everything.
    pub(crate) only: Option<Only>,
    /// What the user still has to cut, before the first DELETE.
    pub(crate) cuts: VecDeque<Cut>,
    /// DELETEs that the user still has to send, in this order.
    pub requests: VecDeque<(ObjectId, DeleteOptions)>,
    /// Events on their way to the collector, in the order they happened.
    pub events: VecDeque<Event<'a>>,
    /// What the collector's workers have under way.
    pub tasks: VecDeque<Task<'a>>,
    pub actors: Actors,
    pub log: Vec<Change>,
    pub needs: Needs,
    pub assumptions: BTreeSet<Assumption>,
    /// Objects whose examination broke off because something could not be read.
    pub doubtful: FxHashSet<ObjectId>,
    /// How many atoms were played.
    pub steps: u64,
    /// The search was stopped before everything had settled.
    pub out_of_bounds: bool,
}

impl<'s, 'a> World<'s, 'a> {
    /// The world at rest (§8.1).
    pub fn at_rest(stage: &'s SimContext<'a>) -> Self {
        World::with_collector(stage, Collector::at_rest(stage.snapshot, stage.graph))
    }

    /// A world in which nothing has happened but what the collector knows.
    pub(crate) fn with_collector(stage: &'s SimContext<'a>, collector: Collector<'a>) -> Self {
        World {
            stage,
            store: FxHashMap::default(),
            finalized_namespaces: FxHashSet::default(),
            collector,
            knows_scopes: false,
            only: None,
            cuts: VecDeque::new(),
            requests: VecDeque::new(),
            events: VecDeque::new(),
            tasks: VecDeque::new(),
            actors: Actors::default(),
            log: Vec::new(),
            needs: Needs::default(),
            assumptions: BTreeSet::new(),
            doubtful: FxHashSet::default(),
            steps: 0,
            out_of_bounds: false,
        }
    }

    /// What the API server holds of an object; none once it is gone.
    pub fn stored(&self, object: ObjectId) -> Option<Stored<'a>> {
        match self.store.get(&object) {
            Some(changed) => changed.clone(),
            None => Some(Stored::of(self.stage.snapshot.object(object))),
        }
    }

    /// Whether an object is still there.
    pub fn exists(&self, object: ObjectId) -> bool {
        self.store.get(&object).is_none_or(Option::is_some)
    }

    /// Whether the collector may write to an object.
    pub fn may_write(&self, object: ObjectId) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(object))
    }

    /// Whether the collector may patch all that depend on an owner, so that it can finish orphaning them (R6.3).
    pub(crate) fn frees_all_dependents(&self, owner: ObjectId) -> bool {
        self.only.is_none()
            || self.collector.dependents(owner.into()).into_iter().all(|dependent| self.may_write(dependent))
    }

    /// Whether the collector leaves a node alone although it is queued: it may not write to the object, which is there.
    pub(crate) fn leaves_alone(&self, node: NodeId) -> bool {
        self.only.is_some()
            && self.stage.graph.object(node).is_some_and(|object| !self.may_write(object) && self.exists(object))
    }

    /// Every object that was written to, in the order of the snapshot.
    pub fn touched(&self) -> Vec<ObjectId> {
        let mut touched: Vec<ObjectId> = self.store.keys().copied().collect();
        touched.sort_unstable();
        touched
    }

    /// One DELETE. `None` where the object is gone (404).
    pub fn delete(&mut self, object: ObjectId, options: &DeleteOptions, cause: Cause) -> Option<DeleteAnswer<'a>> {
        let stored = self.stored(object)?;
        let rules = self.stage.rules(object);
        let facts = self.stage.snapshot.facts.pod(object);
        let starts_grace = rules.graceful && !stored.terminating && options.grace != Some(0);
        // R1.25: whether a second DELETE of a Namespace does anything hangs on its spec.finalizers.
        let second = rules.own_delete == OwnDelete::Namespace && stored.terminating;
        let unknown_spec = second && self.stage.snapshot.facts.namespace(object).is_none();
        if starts_grace && facts.is_none() || unknown_spec {
            self.needs.facts.insert(object);
        }
        let uid = self.stage.snapshot.object(object).uid;
        let answer = server::delete(&stored, uid, rules, facts, self.held_by_spec(object), options);
        match &answer {
            DeleteAnswer::Removed => self.write(object, stored, None, cause, Effect::Removed),
            DeleteAnswer::Updated(after) => self.write(object, stored, Some(after.clone()), cause, Effect::Deleting),
            DeleteAnswer::Unchanged | DeleteAnswer::Conflict => {}
        }
        Some(answer)
    }

    /// One PATCH. `None` where the object is gone (404).
    pub fn patch(&mut self, object: ObjectId, patch: &Patch, cause: Cause) -> Option<PatchAnswer<'a>> {
        let stored = self.stored(object)?;
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

    /// Whether the user still has anything to send.
    pub(crate) fn is_asked(&self) -> bool {
        !self.cuts.is_empty() || !self.requests.is_empty()
    }

    /// The user's next PATCH or DELETE. A PATCH that meets a change is made again from what is there then.
    pub(crate) fn request(&mut self) {
        if let Some(cut) = self.cuts.pop_front() {
            if let Some(stored) = self.stored(cut.object) {
                let patch = Patch::SetOwners { owners: cut.leaves(&stored.owners), version: stored.version };
                self.patch(cut.object, &patch, Cause::Kept);
            }
        } else if let Some((target, options)) = self.requests.pop_front() {
            self.delete(target, &options, Cause::Requested);
        }
    }

    /// Somebody takes a finalizer from an object, as its controller would.
    pub fn release(&mut self, object: ObjectId, finalizer: Symbol) {
        let Some(stored) = self.stored(object).filter(|stored| stored.has_finalizer(finalizer)) else { return };
        let patch = Patch::RemoveFinalizer { finalizer, version: stored.version };
        self.patch(object, &patch, Cause::KnownFinalizer(finalizer));
    }

    /// Takes the namespace controller's own from a namespace's `spec.finalizers`, which removes it if nothing else
    /// holds it (R9.12).
    pub fn finalize_namespace(&mut self, object: ObjectId) {
        self.finalized_namespaces.insert(object);
        if let Some(stored) = self.stored(object)
            && stored.terminating
            && stored.finalizers.is_empty()
            && !self.held_by_spec(object)
        {
            self.write(object, stored, None, Cause::NamespaceEmpty, Effect::Removed);
        }
    }

    /// Whether a Namespace's `spec.finalizers` hold it. Where they are not known, it is the one that every namespace
    /// has.
    pub fn held_by_spec(&self, object: ObjectId) -> bool {
        if self.stage.rules(object).own_delete != OwnDelete::Namespace {
            return false;
        }
        let finalized = self.finalized_namespaces.contains(&object);
        match self.stage.snapshot.facts.namespace(object) {
            Some(facts) => facts.finalizers.iter().any(|finalizer| !finalized || finalizer != NAMESPACE_FINALIZER),
            None => !finalized,
        }
    }

    fn write(&mut self, object: ObjectId, before: Stored<'a>, after: Option<Stored<'a>>, cause: Cause, effect: Effect) {
        self.log.push(Change { object, cause, removed: after.is_none(), effect });
        let node = NodeId::from(object);
        // The collector sees an object under its uid, and only the first that has it (R3.5).
        let uid = self.stage.snapshot.object(object).uid;
        if self.collector.watches(object) && self.stage.graph.by_uid(uid) == Some(node) {
            let kind = match &after {
                None => EventKind::Deleted,
                Some(after) => EventKind::Updated { before: Box::new(before), after: Box::new(after.clone()) },
            };
            self.events.push_back(Event { node, kind });
        }
        let removed = after.is_none();
        self.store.insert(object, after);
        self.collector.store_changed(object);
        self.actors.notice(object);
        if removed {
            self.notice_who_waited_for(object);
        }
    }

    /// A worker has finished with an item of `attemptToDelete`.
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
                self.doubtful.extend(self.stage.graph.object(node));
            }
        }
    }
}
