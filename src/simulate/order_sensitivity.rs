//! Whether the order of events can matter at all. Nearly always it can't: then one order is enough, however large the
//! plan is.
//!
//! The survey computes what may happen to each object in any order, from above: which may be deleted at all, and with
//! which policies. An object is *in question* where two of the things that may happen to it could lead to different
//! ends. What is left out of that comes to the end that one order led to, in all others, too:
//!
//! * Whoever has an owner that nothing can delete is never deleted, and loses the others, whenever it is looked at: an
//!   owner that goes queues its dependents, and one examined too early is examined again.
//! * Whoever has none goes once the last of its owners is gone or waiting. With which policy may depend on the order,
//!   but not what it comes to if all that is left of it in the end is nothing.
//!
//! That holds without cycles (R5.10–R5.14), orphaning (M7, M14, M15), several references of one uid (R4.8, R4.11,
//! R3.22), and deletions that were under way before. Objects with any of that are in question, if they are within
//! reach.

use std::collections::{BTreeSet, VecDeque};

use petgraph::{algo::kosaraju_scc, graph::DiGraph};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::{NodeId, Verdict},
    model::{Object, ObjectId, Reference, Symbol},
    server::{OwnDelete, Propagation, Stored},
};

use super::{
    cause::Cause,
    request::{Request, Start},
    world::World,
};

/// The objects whose ends might come out differently in another order than the one that led to the end of this world.
pub fn order_sensitive(end: &World<'_, '_>, request: &Request) -> Vec<ObjectId> {
    let mut survey = Survey {
        end,
        fates: FxHashMap::default(),
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
        survey.look_at(object);
    }
    survey.judge(request);
    survey.order_sensitive.into_iter().collect()
}

/// How an object may be deleted, in some order or other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PossibleDeletion {
    foreground: bool,
    background: bool,
    /// Somebody else than the collector deletes it: the user, the namespace controller, the clean-up of a definition.
    asked: bool,
}

/// What a look at one reference may find.
#[derive(Clone, Copy, Debug, Default)]
struct LookupResult {
    solid_for_good: bool,
    waiting: bool,
    dangling: bool,
    error: bool,
}

struct Survey<'w, 's, 'a> {
    end: &'w World<'s, 'a>,
    /// Everything that may be deleted.
    fates: FxHashMap<ObjectId, PossibleDeletion>,
    /// Targets that are deleted with Orphan.
    orphaning: FxHashSet<ObjectId>,
    /// What has to be looked at (again), whoever waits longest first: an owner of many comes after them all, once.
    open: VecDeque<ObjectId>,
    is_open: FxHashSet<ObjectId>,
    order_sensitive: BTreeSet<ObjectId>,
    /// What those have left whose references are cut before anything is deleted.
    cuts: FxHashMap<ObjectId, Vec<Reference>>,
    /// Whether the collector may begin to work before it has seen everything.
    listing: bool,
}

impl Survey<'_, '_, '_> {
    fn object(&self, id: ObjectId) -> &Object {
        self.end.stage.snapshot.object(id)
    }

    /// The references that an object has when the deletes begin. The collector may see a cut only after it has looked
    /// at the owner: that is then deleted in the foreground for a dependent that it doesn't have, waits for nobody, and
    /// comes to the same end.
    fn references(&self, id: ObjectId) -> &[Reference] {
        self.cuts.get(&id).map_or(&*self.object(id).owners, Vec::as_slice)
    }

    fn begin(&mut self, request: &Request) {
        for target in &request.targets {
            match request.propagation {
                Propagation::Orphan => {
                    self.orphaning.insert(*target);
                    self.asked(*target, PossibleDeletion::default());
                }
                Propagation::Foreground => {
                    self.asked(*target, PossibleDeletion { foreground: true, ..PossibleDeletion::default() })
                }
                Propagation::Background => {
                    self.asked(*target, PossibleDeletion { background: true, ..PossibleDeletion::default() })
                }
            }
        }
        // A namespace or a definition that was being deleted before goes on where this delete lets it.
        for change in &self.end.log {
            if let Cause::Namespace(above) | Cause::Definition(above) = change.cause {
                self.asked(above, PossibleDeletion::default());
            }
        }
        if request.start != Start::AtRest {
            for (id, object) in self.end.stage.snapshot.objects() {
                if Stored::of(object).waiting() {
                    self.may_be_deleted(id, PossibleDeletion { foreground: true, ..PossibleDeletion::default() });
                } else if !object.owners.is_empty() {
                    self.look_later(id);
                }
            }
        }
    }

    fn asked(&mut self, object: ObjectId, fate: PossibleDeletion) {
        self.may_be_deleted(object, PossibleDeletion { asked: true, ..fate });
    }

    /// Takes note that an object may be deleted like this, and of all that may follow from it.
    fn may_be_deleted(&mut self, object: ObjectId, how: PossibleDeletion) {
        let before = self.fates.get(&object).copied();
        let known = before.unwrap_or_default();
        let now = PossibleDeletion {
            foreground: known.foreground || how.foreground,
            background: known.background || how.background,
            asked: known.asked || how.asked,
        };
        if before == Some(now) {
            return;
        }
        self.fates.insert(object, now);
        let stage = self.end.stage;
        for dependent in stage.graph.dependents(object.into()) {
            self.look_later(*dependent);
        }
        // How an owner is deleted, and whether it is unblocked before (R5.11), is a matter of such dependents, too.
        let owners = self.owners(object);
        if now.asked || now.foreground {
            for owner in owners {
                self.look_later(owner);
            }
        }
        self.look_later(object);
        if before.is_none() {
            match stage.rules(object).own_delete {
                OwnDelete::Namespace => {
                    for content in stage.in_namespace(self.object(object).name) {
                        self.asked(*content, PossibleDeletion { background: true, ..PossibleDeletion::default() });
                    }
                }
                OwnDelete::Definition => {
                    for instance in stage.instances(object).map_or(&[][..], |resource| stage.of_resource(resource)) {
                        // Without a policy: its own finalizers decide (§1.3).
                        let foreground = self.object(*instance).finalizers.contains(&Symbol::FOREGROUND);
                        self.asked(
                            *instance,
                            PossibleDeletion { foreground, background: !foreground, ..PossibleDeletion::default() },
                        );
                    }
                }
                _ => {}
            }
        }
    }

    fn look_later(&mut self, object: ObjectId) {
        if self.is_open.insert(object) {
            self.open.push_back(object);
        }
    }

    /// The objects that an object names as owners, by uid.
    fn owners(&self, object: ObjectId) -> Vec<ObjectId> {
        let graph = self.end.stage.graph;
        let owner = |reference: &Reference| graph.by_uid(reference.uid).and_then(|node| graph.object(node));
        self.references(object).iter().filter_map(owner).collect()
    }

    /// Whether the collector may delete an object, and how (§4.2).
    fn look_at(&mut self, id: ObjectId) {
        if let Some(fate) = self.by_the_collector(id) {
            self.may_be_deleted(id, fate);
        }
    }

    fn by_the_collector(&self, id: ObjectId) -> Option<PossibleDeletion> {
        let fates = self.taken_to_be_in(id).into_iter().filter_map(|namespace| self.looked_at_in(id, namespace));
        fates.reduce(|one, other| PossibleDeletion {
            foreground: one.foreground || other.foreground,
            background: one.background || other.background,
            asked: one.asked || other.asked,
        })
    }

    /// The namespaces in which the collector may take an object to be when it looks for its owners (R3.2): other than
    /// its own only while no informer has shown the object.
    fn taken_to_be_in(&self, id: ObjectId) -> Vec<Symbol> {
        let namespace = self.object(id).namespace;
        let mut all = vec![namespace];
        if namespace.is_empty() && !self.end.knows_scopes && (self.listing || !self.end.collector.watches(id)) {
            let dependents = self.end.stage.graph.dependents(id.into());
            all.extend(dependents.iter().map(|dependent| self.object(*dependent).namespace));
            all.sort_unstable();
            all.dedup();
        }
        all
    }

    /// Whether a look at an object from this namespace may make the collector delete it, and how.
    fn looked_at_in(&self, id: ObjectId, namespace: Symbol) -> Option<PossibleDeletion> {
        let object = self.object(id);
        let references = self.references(id);
        if object.terminating() || references.is_empty() {
            return None;
        }
        let unblocked = self.may_unblock(id);
        let finds: Vec<LookupResult> =
            references.iter().map(|reference| self.finds(reference, namespace, unblocked)).collect();
        if finds.iter().any(|finds| finds.error || finds.solid_for_good) {
            return None;
        }
        let foreground_anyway = object.finalizers.contains(&Symbol::FOREGROUND);
        let dependents = self.end.stage.graph.dependents(id.into());
        // Only who is deleted by somebody else may be gone before its owner is looked at.
        let keeps_dependents =
            dependents.iter().any(|dependent| self.fates.get(dependent).is_none_or(|fate| !fate.asked));
        let waiting = finds.iter().any(|finds| finds.waiting);
        let all_dangling = finds.iter().all(|finds| finds.dangling);
        Some(PossibleDeletion {
            foreground: foreground_anyway || (waiting && !dependents.is_empty()),
            background: !foreground_anyway && (all_dangling || !keeps_dependents),
            asked: false,
        })
    }

    fn finds(&self, reference: &Reference, namespace: Symbol, unblocked: bool) -> LookupResult {
        let stage = self.end.stage;
        let (owner, waits) = match Verdict::of(stage.snapshot, stage.graph, reference, namespace) {
            Verdict::Dangling(_) => return LookupResult { dangling: true, ..LookupResult::default() },
            Verdict::Unmappable | Verdict::InvalidScope | Verdict::Doubted | Verdict::Unknown => {
                return LookupResult { error: true, ..LookupResult::default() };
            }
            Verdict::Solid(owner) => (owner, false),
            Verdict::Waiting(owner) => (owner, true),
        };
        // Whoever orphans is there for as long as it is named.
        let Some(fate) = self.fates.get(&owner).filter(|_| !self.orphaning.contains(&owner)) else {
            return LookupResult { solid_for_good: !waits, waiting: waits, ..LookupResult::default() };
        };
        // An owner that can only wait for this dependent is there for as long as the dependent is.
        let waits_for_it = reference.blocks() && fate.foreground && !fate.background && !unblocked;
        let dangling = !self.end.exists(owner) && !waits_for_it;
        let waiting = waits || fate.foreground;
        LookupResult { solid_for_good: !waiting && !dangling, waiting, dangling, error: false }
    }

    /// Whether one of its dependents may be foreground-deleted while the object is still looked at (R5.11). The look
    /// may be its second one, begun before the collector saw what came of the first, so that it need not be anybody
    /// else who deletes the dependent.
    fn may_unblock(&self, id: ObjectId) -> bool {
        let graph = self.end.stage.graph;
        let may_go = |dependent: &ObjectId| self.fates.get(dependent).is_some_and(|fate| fate.foreground);
        let is_blocked = |reference: &Reference| reference.blocks() && graph.by_uid(reference.uid).is_some();
        self.references(id).iter().any(is_blocked) && graph.dependents(id.into()).iter().any(may_go)
    }

    fn judge(&mut self, request: &Request) {
        let stage = self.end.stage;
        let reached: BTreeSet<ObjectId> = {
            let dependents = self.fates.keys().flat_map(|object| stage.graph.dependents((*object).into())).copied();
            self.fates.keys().copied().chain(dependents).chain(self.end.touched()).collect()
        };
        for object in reached {
            if self.is_odd(object)
                || self.taken_to_be_in(object).len() > 1
                || self.is_ambiguous(object, request)
                || self.may_come_too_late(object)
                || self.races_with_orphaning(object)
            {
                self.order_sensitive.insert(object);
            }
        }
        let cyclic = self.cyclic();
        self.order_sensitive.extend(cyclic);
    }

    /// Whether an object has anything about it that makes its end hard to foretell, if it is in reach.
    fn is_odd(&self, id: ObjectId) -> bool {
        let stage = self.end.stage;
        let object = self.object(id);
        let mut uids: FxHashSet<Symbol> = FxHashSet::default();
        let several_of_a_uid =
            object.owners.len() > 1 && !object.owners.iter().all(|reference| uids.insert(reference.uid));
        let is_its_node = stage.graph.by_uid(object.uid) == Some(NodeId::from(id));
        let fate = self.fates.get(&id);
        let orphans = fate.is_some() && object.finalizers.contains(&Symbol::ORPHAN);
        let was_under_way = object.terminating()
            && (fate.is_some_and(|fate| fate.asked)
                || object.finalizers.contains(&Symbol::FOREGROUND)
                || object.finalizers.contains(&Symbol::ORPHAN)
                || (object.grace.is_none_or(|grace| grace == 0) && !object.owners.is_empty()));
        let waited_for = fate.is_some()
            && self.owners(id).iter().any(|owner| {
                let owner = self.object(*owner);
                owner.terminating() && owner.finalizers.contains(&Symbol::FOREGROUND)
            });
        several_of_a_uid || !is_its_node || !self.end.collector.watches(id) || orphans || was_under_way || waited_for
    }

    /// Whether what may happen to an object could lead to different ends.
    fn is_ambiguous(&self, id: ObjectId, request: &Request) -> bool {
        let Some(fate) = self.fates.get(&id).copied() else { return false };
        let several = fate.foreground && fate.background;
        let Some(end) = self.end.stored(id) else { return several && self.would_wait(id) };
        let collected = self.by_the_collector(id);
        let grace_differs = fate.asked && collected.is_some() && request.grace.is_some();
        // It may be deleted before or after it loses some of its owners; an object that is on its way out keeps what it
        // has (R8.3).
        let may_lose_some = self.references(id).len() > 1
            && (request.start != Start::AtRest || self.owners(id).iter().any(|owner| self.fates.contains_key(owner)));
        !end.terminating || several || grace_differs || may_lose_some || self.may_unblock(id)
    }

    /// Whether an object that went would have stayed for a blocking dependent, had it been deleted in the foreground
    /// (R5.1).
    fn would_wait(&self, id: ObjectId) -> bool {
        let uid = self.object(id).uid;
        let blocks = |dependent: &ObjectId| {
            let end = self.end.stored(*dependent);
            end.is_some_and(|end| end.owners.iter().any(|reference| reference.uid == uid && reference.blocks()))
        };
        self.end.stage.graph.dependents(id.into()).iter().any(blocks)
    }

    /// Whether an object may be looked at while its owner waits, or only after that, when something else still holds
    /// the owner: it is solid again then (R4.6), and nobody waited for this dependent.
    fn may_come_too_late(&self, id: ObjectId) -> bool {
        let stage = self.end.stage;
        let owner = |reference: &Reference| stage.graph.by_uid(reference.uid).and_then(|node| stage.graph.object(node));
        let solid_again = |owner: ObjectId| {
            let waited = self.fates.get(&owner).is_some_and(|fate| fate.foreground);
            waited && self.end.stored(owner).is_some_and(|end| !end.waiting())
        };
        let not_waited_for = |reference: &&Reference| {
            owner(reference).is_some_and(solid_again) && (!reference.blocks() || self.may_unblock(id))
        };
        self.references(id).iter().any(|reference| not_waited_for(&reference))
    }

    /// Whether an object is freed by one owner while something else may happen to it (M7, M14, M15).
    fn races_with_orphaning(&self, id: ObjectId) -> bool {
        let owners = self.owners(id);
        if self.orphaning.contains(&id) {
            return owners.iter().any(|owner| self.fates.contains_key(owner));
        }
        if !owners.iter().any(|owner| self.orphaning.contains(owner)) {
            return false;
        }
        let object = self.object(id);
        let harmless = |reference: &Reference| match Verdict::of(
            self.end.stage.snapshot,
            self.end.stage.graph,
            reference,
            object.namespace,
        ) {
            Verdict::Solid(owner) => self.orphaning.contains(&owner) || !self.fates.contains_key(&owner),
            _ => false,
        };
        self.fates.contains_key(&id) || !self.references(id).iter().all(harmless)
    }

    /// What may be deleted and is part of a cycle.
    fn cyclic(&self) -> Vec<ObjectId> {
        let mut edges: DiGraph<ObjectId, ()> = DiGraph::with_capacity(self.fates.len(), self.fates.len());
        let places: FxHashMap<ObjectId, _> =
            self.fates.keys().map(|object| (*object, edges.add_node(*object))).collect();
        let mut cyclic: Vec<ObjectId> = Vec::new();
        for (object, place) in &places {
            for owner in self.owners(*object) {
                if owner == *object {
                    cyclic.push(owner);
                } else if let Some(above) = places.get(&owner) {
                    edges.add_edge(*above, *place, ());
                }
            }
        }
        let cycles = kosaraju_scc(&edges).into_iter().filter(|members| members.len() > 1);
        cyclic.extend(cycles.flatten().map(|place| edges[place]));
        cyclic
    }
}
