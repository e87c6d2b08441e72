//! One simulated course of events: the store, the collector and the events between them, as an overlay on a snapshot.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    collector::{Ask, Collector, Event, EventKind, Examination, Finish, Orphaning},
    graph::NodeId,
    model::{ObjectId, ResourceId, Symbol},
    server::{self, DeleteAnswer, DeleteOptions, OwnDelete, Patch, PatchAnswer, Stored},
};

use super::{
    actors::{Actors, Adoptions, Assumption, Others},
    blocked_by::NAMESPACE_FINALIZER,
    cause::{Cause, Change, Effect},
    context::SimContext,
    controllers::FinalizerController,
    obstacles::{Operation, Reach, RefusedWrite},
    request::{Cut, WriteScope},
};

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
    /// Volumes that a provisioner should delete which is not seen to run.
    pub(crate) unseen_provisioners: FxHashMap<ObjectId, Arc<FinalizerController>>,
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
    /// Objects whose facts decide something and were not read.
    pub(crate) unread: FxHashSet<ObjectId>,
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
        if let Some(obstacles) = &context.obstacles {
            context.lacks(|needs| needs.add(&obstacles.needs));
        }
        World {
            context,
            store: FxHashMap::default(),
            finalized_namespaces: FxHashSet::default(),
            collector,
            only: context.lacks_collector().then(|| WriteScope::new([])),
            heeds: context.obstacles.is_some(),
            refused: BTreeMap::new(),
            held_by_api: BTreeMap::new(),
            rests_on_others: FxHashSet::default(),
            unseen_provisioners: FxHashMap::default(),
            ended: FxHashSet::default(),
            converters: FxHashMap::default(),
            deletes_may_be_refused: FxHashSet::default(),
            updates_may_be_refused: FxHashSet::default(),
            adoptions: Adoptions::default(),
            updates_may_be_changed: FxHashSet::default(),
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
            unread: FxHashSet::default(),
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
        if starts_grace {
            self.fact(object, facts);
        }
        if second {
            self.fact(object, self.context.snapshot.facts.namespace(object));
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

    /// A fact that decides this course, if it was read. Notes it as needed otherwise.
    pub(crate) fn fact<T>(&mut self, object: ObjectId, fact: Option<T>) -> Option<T> {
        self.unread.extend(fact.is_none().then_some(object));
        self.context.fact(object, fact)
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
        let Some(stored) = self.stored(object) else { return };
        let has: FxHashSet<Symbol> = stored.finalizers.iter().copied().collect();
        let Some(last) = finalizers.iter().rev().find(|finalizer| has.contains(*finalizer)) else { return };
        let rest: FxHashSet<Symbol> = finalizers.iter().copied().filter(|finalizer| finalizer != last).collect();
        let left: Vec<Symbol> = stored.finalizers.iter().copied().filter(|one| !rest.contains(one)).collect();
        if left.len() < stored.finalizers.len() {
            let after = Stored { finalizers: left.into(), version: stored.version + 1, ..stored.clone() };
            self.write(object, stored, Some(after), Cause::Finisher(*last), Effect::Finalizers);
        }
        self.remove_finalizer(object, *last);
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
