//! The input of a diagnosis, and how sentences name objects.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::{
    command_line::Kubectl,
    graph::OwnerGraph,
    model::{
        ObjectId, OwnerEvent, Reference, Snapshot, Symbol,
        effects::{PolicyEffect, known_finalizer},
        gaps::each_once,
    },
    server::Stored,
    simulate::{
        AT_WORK, BlockedBy, LATE, Liveness, NAMESPACE_FINALIZER, OVERDUE, Projection, SimContext, State, in_inventory,
        is_removed_by_controller_manager,
        liveness::of_controller_manager,
        obstacles::{Called, Operation, WebhookCall},
    },
    wording::thousands,
};

use super::{
    commands::Commands,
    evidence::Evidence,
    finding::{Finding, RecreatedDependent},
    limit::Limit,
};

/// At most this many objects are named in a sentence.
pub(super) const NAMED: usize = 3;

/// The input of a diagnosis.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    pub stage: &'a SimContext<'a>,
    /// What a working collector and working controllers will do to every object.
    pub projection: &'a Projection,
    /// The time of the data in Unix seconds; `None` if unknown. For a dump, it is the latest timestamp in it, so real
    /// ages are at least those printed.
    pub now: Option<i64>,
    /// Whether the data is from a cluster, where every state has lasted for a while, except for [`Case::fresh`]. A dump
    /// shows a single moment.
    pub live: bool,
    /// Objects whose state is new since the last look and may be temporary.
    pub fresh: &'a FxHashSet<ObjectId>,
    /// The scope of the diagnosis: findings outside it are omitted.
    pub limit: &'a Limit,
    /// Dependents that an earlier look saw created while their owner waited for its dependents to be deleted.
    pub made: &'a [RecreatedDependent],
    /// How remedies call kubectl: with the flags that select this cluster, if any.
    pub kubectl: &'a Kubectl,
    /// The collector's events about owners in other namespaces, if they were read.
    pub events: &'a [OwnerEvent],
    /// What the probe object showed about the collector, if a probe was requested.
    pub probed: Option<Probed>,
    /// Lists that failed once, by their place in [`Snapshot::lists`], and now answer: their objects are unknown all the
    /// same, but the cluster is well.
    pub recovered: &'a FxHashSet<usize>,
    /// Who deleted what, as far as the user gave records of it.
    pub evidence: &'a Evidence,
}

/// What a probe object shows about the collector (R10.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probed {
    /// The collector deleted it.
    Works,
    /// The collector didn't delete it within this many seconds.
    Stopped { waited: i64 },
    /// The API server removed it without waiting for the collector: its garbage collection is disabled (R1.10, S15).
    NotHeld,
}

impl<'a> Case<'a> {
    pub(super) fn snapshot(&self) -> &'a Snapshot {
        self.stage.snapshot
    }

    pub(super) fn graph(&self) -> &'a OwnerGraph {
        self.stage.graph
    }

    /// Why no controller manager is known to run.
    pub(super) fn manager_away(&self) -> Option<String> {
        match of_controller_manager(self.stage, self.now).1 {
            Liveness::Away(why) => Some(why),
            _ => None,
        }
    }

    /// Whether a webhook that is in the way of other deletes is certainly asked about the delete of this object.
    pub(super) fn refuses_deletes_of(&self, object: ObjectId, by: BlockedBy) -> bool {
        let BlockedBy::Webhook(configuration, place) = by else { return false };
        let (snapshot, place) = (self.snapshot(), place as usize);
        let webhook = snapshot.facts.webhooks(configuration).and_then(|facts| facts.webhooks.get(place));
        webhook.is_some_and(|webhook| {
            let call = WebhookCall { configuration, place, webhook };
            webhook.matches(snapshot.resource(object), Operation::Delete.name())
                && call.called_for(self.stage, object) == Called::Yes
        })
    }

    /// Whether only a controller manager removes one of these finalizers, and none seems to run.
    pub(super) fn lacks_manager_for(&self, finalizers: impl IntoIterator<Item = Symbol>) -> Option<String> {
        let mut finalizers = finalizers.into_iter();
        let is_its = finalizers.any(|finalizer| is_removed_by_controller_manager(self.snapshot().text(finalizer)));
        if is_its { self.manager_away() } else { None }
    }

    /// The namespace of an object, if a dump has Namespaces that each cluster has, and not that one.
    pub(super) fn unlisted_namespace_of(&self, object: ObjectId) -> Option<&'a str> {
        let namespace = self.snapshot().object(object).namespace;
        let has = |name| {
            let name = self.snapshot().strings.find(name);
            name.is_some_and(|name| self.stage.namespace_named(name).is_some())
        };
        let is_unlisted = !self.live && !namespace.is_empty() && self.stage.namespace_named(namespace).is_none();
        (is_unlisted && has("default") && has("kube-system")).then(|| self.snapshot().text(namespace))
    }

    pub(super) fn commands(&self) -> Commands<'a> {
        Commands { snapshot: self.stage.snapshot, kubectl: self.kubectl, guarded: self.live }
    }

    /// A sentence for a live cluster if dependents of these may be among what could not be read; empty otherwise.
    pub(super) fn hidden_dependents(&self, waiting: &[ObjectId]) -> String {
        let hidden = if self.live { each_once(&self.snapshot().may_hide_blockers(waiting)) } else { Vec::new() };
        if hidden.is_empty() {
            return String::new();
        }
        let waiting = waiting.iter().filter(|id| self.snapshot().waits_for_dependents(**id)).count();
        let (it, must) = if waiting == 1 { ("it", "it goes") } else { ("them", "they go") };
        let hidden: Vec<String> = hidden.iter().map(ToString::to_string).collect();
        format!(
            " Dependents may be among what could not be read: {}. Read that before you let {it} go by hand: what still \
             refers to them when {must} is deleted.",
            some_of(&hidden)
        )
    }

    /// For how many seconds an object has been terminating beyond its grace period. `None` before that is over, and for
    /// a dump that may be from any time after: see [`Case::going_for`].
    pub(super) fn terminating_for(&self, id: ObjectId) -> Option<i64> {
        let seconds = self.age_of_deletion(id).filter(|seconds| *seconds >= 0)?;
        (self.is_time(seconds) || seconds != 0 && self.stage.rules(id).graceful).then_some(seconds)
    }

    /// For how many seconds an object has been terminating, its grace period included. `None` for a dump that may be
    /// from any time after: in the hour after a deletion, controllers note what they do with it, and nothing later
    /// needs to be written.
    pub(super) fn going_for(&self, id: ObjectId) -> Option<i64> {
        let seconds = self.now? - self.snapshot().object(id).deletion_requested()?;
        self.is_time(seconds).then_some(seconds)
    }

    /// Whether so many seconds after a deletion are what they are, and not the least that they can be.
    fn is_time(&self, seconds: i64) -> bool {
        self.live || seconds > OVERDUE || seconds > AT_WORK && self.snapshot().is_timed(LATE)
    }

    /// Whether nothing in a dump says how long ago the deletion of an object was: it may be from any later time.
    pub(super) fn is_untimed(&self, id: ObjectId) -> bool {
        !self.live && self.going_for(id).is_none()
    }

    fn age_of_deletion(&self, id: ObjectId) -> Option<i64> {
        Some(self.now? - self.snapshot().object(id).deleted.get()?)
    }

    /// Whether an object waits for a pod that its kubelet may be about to end: a claim that it uses, or its Namespace.
    pub(super) fn awaits_a_kubelet(&self, id: ObjectId) -> bool {
        let object = self.snapshot().object(id);
        let pods = if self.snapshot().is_namespace(id) {
            self.stage.in_namespace(object.name)
        } else if Some(object.resource) == self.stage.built_in.claims {
            self.stage.users_of_claim(id)
        } else {
            &[]
        };
        pods.iter().any(|pod| self.age_of_deletion(*pod).is_some_and(|age| age < LATE))
    }

    /// Whether an object has been terminating for at least this many seconds. If that is unknown, it counts as long
    /// enough.
    pub(super) fn has_been_terminating(&self, id: ObjectId, seconds: i64) -> bool {
        self.age_of_deletion(id).is_none_or(|age| age >= seconds)
    }

    /// `Kind/name`, and its namespace if that differs from the namespace of `beside`.
    pub(super) fn name(&self, id: ObjectId, beside: Option<ObjectId>) -> String {
        self.commands().name(id, beside)
    }

    /// What an object lists that is Terminating, too, if the controller of this finalizer waits for that.
    pub(super) fn awaited(&self, object: ObjectId, finalizer: Symbol) -> Vec<ObjectId> {
        let (snapshot, resource) = (self.snapshot(), self.snapshot().resource(object));
        let known = known_finalizer(snapshot.text(finalizer), &resource.group, &resource.kind);
        let known = known.filter(|_| snapshot.object(object).terminating());
        let listed = known.and_then(|known| known.policy).zip(snapshot.facts.policy(object));
        let acts = |(policy, facts)| matches!(self.stage.policy_effect(object, policy, facts), PolicyEffect::Act(_));
        let inventory = listed.filter(|it| acts(*it)).and_then(|(_, facts)| facts.inventory.as_deref());
        let inventory = inventory.filter(|inventory| inventory.waits && !inventory.elsewhere);
        let named = inventory.into_iter().flat_map(|it| &it.objects).filter(|named| !named.name.is_empty());
        let found = named.filter_map(|named| in_inventory(snapshot, named));
        found.filter(|id| snapshot.object(*id).terminating()).collect()
    }

    /// The names of the first few objects. A namespace that all are in stands at the end, once.
    pub(super) fn names(&self, ids: &[ObjectId], beside: Option<ObjectId>) -> String {
        self.commands().names(ids, beside)
    }

    /// The coordinates of a reference: `apps/v1 Deployment/web`.
    pub(super) fn reference(&self, reference: &Reference) -> String {
        let text = |symbol| self.snapshot().text(symbol);
        format!("{} {}/{}", text(reference.api_version), text(reference.kind), text(reference.name))
    }

    /// That controllers can't release these Terminating objects: `No controller can remove acme.io/hold from
    /// ConfigMap/held -n shop`, with the first finalizers, each once.
    pub(super) fn cannot_be_released(&self, objects: &[ObjectId]) -> String {
        let mut finalizers: Vec<&str> = Vec::new();
        for id in objects {
            let holders = self.projection.holders(*id).iter().filter_map(|holder| holder.finalizer());
            let of_controllers = holders.filter(|it| !it.is_collectors_finalizer()).map(|it| self.snapshot().text(it));
            let of_its_spec = self.snapshot().is_namespace(*id).then_some(NAMESPACE_FINALIZER);
            for finalizer in of_controllers.chain(of_its_spec) {
                if finalizers.len() < NAMED && !finalizers.contains(&finalizer) {
                    finalizers.push(finalizer);
                }
            }
        }
        format!("No controller can remove {} from {}", finalizers.join(", "), self.names(objects, None))
    }

    /// The Terminating objects that wait for a controller to remove its finalizer, in snapshot order.
    pub(super) fn held_by_controllers(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let is_foreign = |holder: &BlockedBy| holder.finalizer().is_some_and(|it| !it.is_collectors_finalizer());
        let left = self.projection.left().into_iter();
        left.filter(move |id| {
            self.snapshot().object(*id).terminating() && self.projection.holders(*id).iter().any(is_foreign)
        })
    }

    /// The pods in their grace period, or past it: each goes once its kubelet has written that its containers have
    /// ended.
    pub(super) fn ending_pods(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let pods = self.stage.of_resource(self.stage.built_in.pods).iter().copied();
        pods.filter(|id| Stored::of(self.snapshot().object(*id)).in_grace())
    }

    /// What becomes free to go once these Terminating objects go, whoever ends that: themselves, what waits for them,
    /// and what goes below these once all others have done their part. Without namespaces that wait for them: their own
    /// findings say what is in them.
    pub(super) fn released_with(&self, objects: &[ObjectId]) -> Vec<ObjectId> {
        // Nothing needs the second end then, which is a simulation of everything.
        if objects.is_empty() {
            return Vec::new();
        }
        let snapshot = self.snapshot();
        // What something else keeps, too, stays.
        let waiting = self.projection.chain_above_all(objects).into_iter().filter(|id| self.stage.later().goes(*id));
        let mut released: Vec<ObjectId> = objects.iter().copied().chain(waiting).collect();
        released.retain(|id| snapshot.object(*id).terminating() && !snapshot.is_namespace(*id) || objects.contains(id));
        released.extend(self.below(&released, self.stage.later()));
        released
    }

    /// The objects that are deleted along with these, without these.
    pub(super) fn goes_below(&self, objects: &[ObjectId]) -> Vec<ObjectId> {
        self.below(objects, self.projection)
    }

    /// The same once all others have done their part; nothing if none of these waits for others.
    pub(super) fn goes_below_later(&self, objects: &[ObjectId]) -> Vec<ObjectId> {
        let is_held = |object: &ObjectId| {
            let leaves = self.projection.leaves(*object) || self.snapshot().object(*object).terminating();
            leaves && !self.projection.goes(*object)
        };
        if objects.iter().any(is_held) { self.below(objects, self.stage.later()) } else { Vec::new() }
    }

    fn below(&self, objects: &[ObjectId], end: &Projection) -> Vec<ObjectId> {
        // Nobody takes back the delete of what is Terminating only then.
        let goes =
            |below: &ObjectId| end.goes(*below) || end.leaves(*below) && !self.snapshot().object(*below).terminating();
        self.below_that(objects, end, goes)
    }

    /// Everything that may go with these objects if something deletes them, without these.
    pub(super) fn all_below(&self, objects: &[ObjectId]) -> Vec<ObjectId> {
        self.below_that(objects, self.projection, |_| true)
    }

    fn below_that(&self, objects: &[ObjectId], end: &Projection, goes: impl Fn(&ObjectId) -> bool) -> Vec<ObjectId> {
        let mut seen: FxHashSet<ObjectId> = objects.iter().copied().collect();
        let (mut found, mut open) = (Vec::new(), objects.to_vec());
        while let Some(object) = open.pop() {
            let below = self.graph().dependents(object.into()).iter().chain(self.stage.contents(object));
            // What only a controller deletes stays where none is known to run. Of `objects` it is asked whatever ends
            // them.
            let stuck = self.snapshot().object(object).terminating() && self.projection.state(object) == State::Stuck;
            let inventory = if stuck && !objects.contains(&object) { &[] } else { end.inventory_of(object) };
            let below = below.chain(inventory).copied().filter(&goes);
            let new: Vec<ObjectId> = below.filter(|below| seen.insert(*below)).collect();
            found.extend(&new);
            open.extend(new);
        }
        found
    }
}

/// The first few of many words.
pub(super) fn some_of<T: AsRef<str>>(all: &[T]) -> String {
    let names = all.iter().take(NAMED).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if all.len() > NAMED { format!("{names} and {} more", thousands(all.len() - NAMED)) } else { names }
}

/// Collects findings.
#[derive(Debug, Default)]
pub(super) struct FindingsBuilder {
    pub findings: Vec<Finding>,
    /// Recreated dependents to remember for the next look.
    pub made: Vec<RecreatedDependent>,
    /// Objects that the collector can't write to for a known reason.
    pub refused: FxHashSet<ObjectId>,
    /// Objects that a finding already describes, so that no other finding repeats it.
    pub explained: FxHashSet<ObjectId>,
}

impl FindingsBuilder {
    /// Adds a finding that describes all that it names.
    pub(super) fn explain(&mut self, finding: Finding) {
        self.explained.extend(finding.named());
        self.findings.push(finding);
    }
}

/// Sorted, each once.
pub(super) fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    BTreeSet::from_iter(items).into_iter().collect()
}
