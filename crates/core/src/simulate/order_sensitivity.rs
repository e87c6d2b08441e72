//! Whether the event order can matter at all. Usually it can't, and then one order is enough, however large the plan.
//!
//! The survey computes an upper bound of what may happen to each object in any order: whether it may be deleted, and
//! with which policies. An object is *order-sensitive* if two of these possibilities could lead to different outcomes.
//! All other objects have the same outcome in every order:
//!
//! * An object with an owner that nothing can delete is never deleted, and loses its other owners, whenever it is
//!   examined: a deleted owner queues its dependents, and an object examined too early is examined again.
//! * An object without such an owner is deleted once its last owner is gone or waiting. The policy may depend on the
//!   order, but the outcome doesn't if nothing is left of the object.
//!
//! This is true without cycles (R5.10–R5.14), orphaning (M7, M14, M15), several references with one uid (R4.8, R4.11,
//! R3.22), and earlier deletions in progress. Objects with any of these within reach are order-sensitive.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::{NodeId, Verdict, cycles::cycles},
    model::{Object, ObjectId, Reference, Symbol},
    server::{OwnDelete, Propagation, Stored},
};

use super::{
    cause::Cause,
    request::{Request, Start},
    world::World,
};

/// The objects whose outcomes could differ in another order than the one that led to `end`.
pub fn order_sensitive(end: &World<'_, '_>, request: &Request) -> Vec<ObjectId> {
    let mut survey = Survey {
        end,
        possible_deletions: FxHashMap::default(),
        orphaning: FxHashSet::default(),
        open: VecDeque::new(),
        is_open: FxHashSet::default(),
        order_sensitive: BTreeSet::new(),
        cuts: FxHashMap::default(),
        listing: request.start == Start::Restarted,
    };
    for cut in &request.cuts {
        survey.cuts.insert(cut.object, cut.leaves(&survey.object(cut.object).owners));
    }
    survey.begin(request);
    while let Some(object) = survey.open.pop_front() {
        survey.is_open.remove(&object);
        survey.examine(object);
    }
    survey.judge(request);
    survey.order_sensitive.into_iter().collect()
}

/// How an object may be deleted, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PossibleDeletion {
    foreground: bool,
    background: bool,
    /// Deleted by the user, the namespace controller or the CRD finalizer controller.
    by_others: bool,
}

/// What a look-up of one reference may return.
#[derive(Clone, Copy, Debug, Default)]
struct LookupResult {
    solid_for_good: bool,
    waiting: bool,
    dangling: bool,
    error: bool,
}

struct Survey<'w, 's, 'a> {
    end: &'w World<'s, 'a>,
    /// All objects that may be deleted.
    possible_deletions: FxHashMap<ObjectId, PossibleDeletion>,
    /// Targets that are deleted with Orphan.
    orphaning: FxHashSet<ObjectId>,
    /// Objects to examine (again), in first-in, first-out order, so that an owner of many dependents is examined once
    /// after all of them.
    open: VecDeque<ObjectId>,
    is_open: FxHashSet<ObjectId>,
    order_sensitive: BTreeSet<ObjectId>,
    /// The remaining references of objects with cuts.
    cuts: FxHashMap<ObjectId, Vec<Reference>>,
    /// Whether the collector may start working before it has observed everything.
    listing: bool,
}

impl Survey<'_, '_, '_> {
    fn object(&self, id: ObjectId) -> &Object {
        self.end.context.snapshot.object(id)
    }

    /// An object's references when the deletes begin. The collector may observe a cut only after it has examined the
    /// owner: it then deletes the owner in the foreground because of the former dependent, waits for nothing, and the
    /// outcome is the same.
    fn references(&self, id: ObjectId) -> &[Reference] {
        self.cuts.get(&id).map_or(&*self.object(id).owners, Vec::as_slice)
    }

    fn begin(&mut self, request: &Request) {
        for target in &request.targets {
            match request.propagation {
                Propagation::Orphan => {
                    self.orphaning.insert(*target);
                    self.by_others(*target, PossibleDeletion::default());
                }
                Propagation::Foreground => {
                    self.by_others(*target, PossibleDeletion { foreground: true, ..PossibleDeletion::default() })
                }
                Propagation::Background => {
                    self.by_others(*target, PossibleDeletion { background: true, ..PossibleDeletion::default() })
                }
            }
        }
        // The collector may be about to delete the dependents of an owner whose earlier delete goes on.
        for object in &self.end.going_on {
            if Stored::of(self.object(*object)).waiting() {
                self.by_others(*object, PossibleDeletion { foreground: true, ..PossibleDeletion::default() });
            }
        }
        // A Namespace or CRD that was already terminating may continue because of this delete.
        for change in &self.end.log {
            match &change.cause {
                Cause::Namespace(above) | Cause::Definition(above) => {
                    self.by_others(*above, PossibleDeletion::default());
                }
                // Controllers delete these in the background; Argo CD may in the foreground.
                cause if cause.follows() => {
                    let foreground = matches!(cause, Cause::Inventory(_));
                    let how = PossibleDeletion { background: true, foreground, ..PossibleDeletion::default() };
                    self.by_others(change.object, how);
                }
                _ => {}
            }
        }
        if request.start != Start::AtRest {
            for (id, object) in self.end.context.snapshot.objects() {
                if Stored::of(object).waiting() {
                    self.may_be_deleted(id, PossibleDeletion { foreground: true, ..PossibleDeletion::default() });
                } else if !object.owners.is_empty() {
                    self.enqueue(id);
                }
            }
        }
    }

    fn by_others(&mut self, object: ObjectId, possible_deletion: PossibleDeletion) {
        self.may_be_deleted(object, PossibleDeletion { by_others: true, ..possible_deletion });
    }

    /// Records that an object may be deleted like this, and queues all objects that this may affect.
    fn may_be_deleted(&mut self, object: ObjectId, how: PossibleDeletion) {
        let before = self.possible_deletions.get(&object).copied();
        let known = before.unwrap_or_default();
        let now = PossibleDeletion {
            foreground: known.foreground || how.foreground,
            background: known.background || how.background,
            by_others: known.by_others || how.by_others,
        };
        if before == Some(now) {
            return;
        }
        self.possible_deletions.insert(object, now);
        let context = self.end.context;
        for dependent in context.graph.dependents(object.into()) {
            self.enqueue(*dependent);
        }
        // Dependents also decide how an owner is deleted, and whether it is unblocked first (R5.11).
        let owners = self.owners(object);
        if now.by_others || now.foreground {
            for owner in owners {
                self.enqueue(owner);
            }
        }
        self.enqueue(object);
        if before.is_none() {
            match context.rules(object).own_delete {
                OwnDelete::Namespace => {
                    for content in context.in_namespace(self.object(object).name) {
                        self.by_others(*content, PossibleDeletion { background: true, ..PossibleDeletion::default() });
                    }
                }
                OwnDelete::Definition => {
                    for instance in context.of_resource(context.instances(object)) {
                        // Without a policy, its own finalizers decide (§1.3).
                        let foreground = self.object(*instance).finalizers.contains(&Symbol::FOREGROUND);
                        self.by_others(
                            *instance,
                            PossibleDeletion { foreground, background: !foreground, ..PossibleDeletion::default() },
                        );
                    }
                }
                _ => {}
            }
        }
    }

    fn enqueue(&mut self, object: ObjectId) {
        if self.is_open.insert(object) {
            self.open.push_back(object);
        }
    }

    /// The objects that an object references as owners, by uid.
    fn owners(&self, object: ObjectId) -> Vec<ObjectId> {
        let graph = self.end.context.graph;
        let owner = |reference: &Reference| graph.by_uid(reference.uid).and_then(|node| graph.object(node));
        self.references(object).iter().filter_map(owner).collect()
    }

    /// Records whether and how the collector may delete an object (§4.2).
    fn examine(&mut self, id: ObjectId) {
        if let Some(possible_deletion) = self.collector_deletion(id) {
            self.may_be_deleted(id, possible_deletion);
        }
    }

    fn collector_deletion(&self, id: ObjectId) -> Option<PossibleDeletion> {
        let possible_deletions =
            self.possible_namespaces(id).into_iter().filter_map(|namespace| self.collector_deletion_in(id, namespace));
        possible_deletions.reduce(|one, other| PossibleDeletion {
            foreground: one.foreground || other.foreground,
            background: one.background || other.background,
            by_others: one.by_others || other.by_others,
        })
    }

    /// The namespaces in which the collector may look up an object's owners (R3.2): other namespaces than its own only
    /// before an informer has shown the object.
    fn possible_namespaces(&self, id: ObjectId) -> Vec<Symbol> {
        let namespace = self.object(id).namespace;
        let mut all = vec![namespace];
        if namespace.is_empty() && !self.end.collector.sweeps && (self.listing || !self.end.collector.watches(id)) {
            let dependents = self.end.context.graph.dependents(id.into());
            all.extend(dependents.iter().map(|dependent| self.object(*dependent).namespace));
            all.sort_unstable();
            all.dedup();
        }
        all
    }

    /// Whether and how the collector may delete an object if it looks up its owners in this namespace.
    fn collector_deletion_in(&self, id: ObjectId, namespace: Symbol) -> Option<PossibleDeletion> {
        let object = self.object(id);
        let references = self.references(id);
        if object.terminating() || references.is_empty() {
            return None;
        }
        let unblocked = self.may_unblock(id);
        let look_up_result: Vec<LookupResult> =
            references.iter().map(|reference| self.look_up_result(reference, namespace, unblocked)).collect();
        if look_up_result.iter().any(|look_up_result| look_up_result.error || look_up_result.solid_for_good) {
            return None;
        }
        let foreground_anyway = object.finalizers.contains(&Symbol::FOREGROUND);
        let dependents = self.end.context.graph.dependents(id.into());
        // A dependent is gone before its owner is examined only if someone other than the collector deletes it.
        let keeps_dependents = dependents.iter().any(|dependent| {
            self.possible_deletions.get(dependent).is_none_or(|possible_deletion| !possible_deletion.by_others)
        });
        let waiting = look_up_result.iter().any(|look_up_result| look_up_result.waiting);
        let all_dangling = look_up_result.iter().all(|look_up_result| look_up_result.dangling);
        Some(PossibleDeletion {
            foreground: foreground_anyway || (waiting && !dependents.is_empty()),
            background: !foreground_anyway && (all_dangling || !keeps_dependents),
            by_others: false,
        })
    }

    fn look_up_result(&self, reference: &Reference, namespace: Symbol, unblocked: bool) -> LookupResult {
        let context = self.end.context;
        let (owner, waits) = match Verdict::of(context.snapshot, context.graph, reference, namespace) {
            Verdict::Dangling(_) => return LookupResult { dangling: true, ..LookupResult::default() },
            Verdict::Unmappable | Verdict::InvalidScope | Verdict::Doubted | Verdict::Unknown => {
                return LookupResult { error: true, ..LookupResult::default() };
            }
            Verdict::Solid(owner) => (owner, false),
            Verdict::Waiting(owner) => (owner, true),
        };
        // An owner that orphans exists as long as it is referenced.
        let Some(possible_deletion) = self.possible_deletions.get(&owner).filter(|_| !self.orphaning.contains(&owner))
        else {
            return LookupResult { solid_for_good: !waits, waiting: waits, ..LookupResult::default() };
        };
        // An owner that can only wait for this dependent exists as long as the dependent does.
        let waits_for_it =
            reference.blocks() && possible_deletion.foreground && !possible_deletion.background && !unblocked;
        let dangling = !self.end.exists(owner) && !waits_for_it;
        let waiting = waits || possible_deletion.foreground;
        LookupResult { solid_for_good: !waiting && !dangling, waiting, dangling, error: false }
    }

    /// Whether one of its dependents may be foreground-deleted during the object's examination (R5.11). That may be its
    /// second examination, started before the collector observed the result of the first, so the collector itself may
    /// have deleted the dependent.
    fn may_unblock(&self, id: ObjectId) -> bool {
        let graph = self.end.context.graph;
        let may_go = |dependent: &ObjectId| {
            self.possible_deletions.get(dependent).is_some_and(|possible_deletion| possible_deletion.foreground)
        };
        let is_blocked = |reference: &Reference| reference.blocks() && graph.by_uid(reference.uid).is_some();
        self.references(id).iter().any(is_blocked) && graph.dependents(id.into()).iter().any(may_go)
    }

    fn judge(&mut self, request: &Request) {
        let context = self.end.context;
        let reached: BTreeSet<ObjectId> = {
            let dependents =
                self.possible_deletions.keys().flat_map(|object| context.graph.dependents((*object).into())).copied();
            self.possible_deletions.keys().copied().chain(dependents).chain(self.end.touched()).collect()
        };
        for object in reached {
            if self.is_hard_to_predict(object)
                || self.possible_namespaces(object).len() > 1
                || self.is_ambiguous(object, request)
                || self.may_miss_waiting_owner(object)
                || self.races_with_orphaning(object)
            {
                self.order_sensitive.insert(object);
            }
        }
        let objects: Vec<ObjectId> = self.possible_deletions.keys().copied().collect();
        let cyclic = cycles(&objects, |object| self.owners(object));
        self.order_sensitive.extend(cyclic.into_iter().flatten());
    }

    /// Whether an object within reach has any property that makes its outcome hard to predict.
    fn is_hard_to_predict(&self, id: ObjectId) -> bool {
        let context = self.end.context;
        let object = self.object(id);
        let mut uids: FxHashSet<Symbol> = FxHashSet::default();
        let several_of_a_uid =
            object.owners.len() > 1 && !object.owners.iter().all(|reference| uids.insert(reference.uid));
        let is_its_node = context.graph.by_uid(object.uid) == Some(NodeId::from(id));
        let possible_deletion = self.possible_deletions.get(&id);
        let orphans = possible_deletion.is_some() && object.finalizers.contains(&Symbol::ORPHAN);
        let goes_on = |id: ObjectId| self.end.going_on.contains(&id);
        let was_under_way = object.terminating()
            && !goes_on(id)
            && (possible_deletion.is_some_and(|possible_deletion| possible_deletion.by_others)
                || object.finalizers.contains(&Symbol::FOREGROUND)
                || object.finalizers.contains(&Symbol::ORPHAN)
                || (object.grace.get().is_none_or(|grace| grace == 0) && !object.owners.is_empty()));
        let waited_for = possible_deletion.is_some()
            && self.owners(id).iter().filter(|owner| !goes_on(**owner)).any(|owner| {
                let owner = self.object(*owner);
                owner.terminating() && owner.finalizers.contains(&Symbol::FOREGROUND)
            });
        several_of_a_uid || !is_its_node || !self.end.collector.watches(id) || orphans || was_under_way || waited_for
    }

    /// Whether the possibilities of an object could lead to different outcomes.
    fn is_ambiguous(&self, id: ObjectId, request: &Request) -> bool {
        let Some(possible_deletion) = self.possible_deletions.get(&id).copied() else { return false };
        let several = possible_deletion.foreground && possible_deletion.background;
        let Some(end) = self.end.stored(id) else { return several && self.would_wait(id) };
        let collected = self.collector_deletion(id);
        let grace_differs = possible_deletion.by_others && collected.is_some() && request.grace.is_some();
        // It may be deleted before or after it loses some owners; a terminating object keeps its references (R8.3).
        let may_lose_some = self.references(id).len() > 1
            && (request.start != Start::AtRest
                || self.owners(id).iter().any(|owner| self.possible_deletions.contains_key(owner)));
        !end.terminating || several || grace_differs || may_lose_some || self.may_unblock(id)
    }

    /// Whether a removed object would have waited for a blocking dependent in a foreground deletion (R5.1).
    fn would_wait(&self, id: ObjectId) -> bool {
        let uid = self.object(id).uid;
        let blocks =
            |dependent: &ObjectId| self.end.stored(*dependent).is_some_and(|end| end.owners.block(uid) == Some(true));
        self.end.context.graph.dependents(id.into()).iter().any(blocks)
    }

    /// Whether an object may be examined either while its owner waits, or later, when the owner is blocked by something
    /// else: the owner is solid then (R4.6), and didn't wait for this dependent.
    fn may_miss_waiting_owner(&self, id: ObjectId) -> bool {
        let context = self.end.context;
        let owner =
            |reference: &Reference| context.graph.by_uid(reference.uid).and_then(|node| context.graph.object(node));
        let solid_again = |owner: ObjectId| {
            let waited =
                self.possible_deletions.get(&owner).is_some_and(|possible_deletion| possible_deletion.foreground);
            waited && self.end.stored(owner).is_some_and(|end| !end.waiting())
        };
        let not_waited_for = |reference: &&Reference| {
            owner(reference).is_some_and(solid_again) && (!reference.blocks() || self.may_unblock(id))
        };
        self.references(id).iter().any(|reference| not_waited_for(&reference))
    }

    /// Whether one owner orphans an object while something else may happen to it (M7, M14, M15).
    fn races_with_orphaning(&self, id: ObjectId) -> bool {
        let owners = self.owners(id);
        if self.orphaning.contains(&id) {
            return owners.iter().any(|owner| self.possible_deletions.contains_key(owner));
        }
        if !owners.iter().any(|owner| self.orphaning.contains(owner)) {
            return false;
        }
        let object = self.object(id);
        let harmless = |reference: &Reference| match Verdict::of(
            self.end.context.snapshot,
            self.end.context.graph,
            reference,
            object.namespace,
        ) {
            Verdict::Solid(owner) => self.orphaning.contains(&owner) || !self.possible_deletions.contains_key(&owner),
            _ => false,
        };
        self.possible_deletions.contains_key(&id) || !self.references(id).iter().all(harmless)
    }
}
