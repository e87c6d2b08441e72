//! Controllers that adopt pods and ReplicaSets without a controller, and delete what is too many then (R9.3, R9.24).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    model::{ObjectId, Reference, ResourceId, Symbol, facts::PodFacts},
    server::DeleteOptions,
    simulate::{
        built_in::BuiltIn,
        cause::Cause,
        context::{Assume, SimContext},
        index::AdopterIndex,
        world::World,
    },
};

use super::{Adopter, Assumption};

/// The label by which a Deployment tells its ReplicaSets, and their pods, apart.
const TEMPLATE_HASH: &str = "pod-template-hash";

impl SimContext<'_> {
    /// The resource whose objects a kind of controller adopts.
    fn adopts(&self, controllers: ResourceId) -> Option<ResourceId> {
        let built_in = self.built_in;
        if Some(controllers) == built_in.deployments {
            return built_in.replica_sets;
        }
        let of_pods = [built_in.replica_sets, built_in.replication_controllers, built_in.daemon_sets, built_in.jobs];
        built_in.pods.filter(|_| of_pods.contains(&Some(controllers)))
    }

    fn adopter_index(&self) -> &AdopterIndex {
        self.adopters.get_or_init(|| {
            let snapshot = self.snapshot;
            let mut index = AdopterIndex::default();
            for (id, object) in snapshot.objects() {
                let Some(adopts) = self.adopts(object.resource) else { continue };
                let Some((key, values)) = self.demanded_label(id) else {
                    index.others.extend([((adopts, object.namespace), id)]);
                    continue;
                };
                index.by_label.extend(values.into_iter().map(|value| ((adopts, object.namespace, key, value), id)));
            }
            index
        })
    }

    /// A label that an object must have to be adopted, and its possible values. No object has a label whose key or
    /// value has no symbol.
    fn demanded_label(&self, controller: ObjectId) -> Option<(Symbol, Vec<Symbol>)> {
        let snapshot = self.snapshot;
        let facts = snapshot.facts.workload(controller).and_then(|facts| facts.selector.as_ref());
        let selector = facts.or_else(|| snapshot.facts.job(controller)?.selector.as_ref());
        if let Some(selector) = selector {
            let demanded = selector.0.iter().find(|requirement| requirement.operator == "In")?;
            let values = demanded.values.iter().filter_map(|value| snapshot.strings.find(value)).collect();
            return Some(match snapshot.strings.find(&demanded.key) {
                Some(key) => (key, values),
                None => (Symbol::EMPTY, Vec::new()),
            });
        }
        // A Deployment adds this label to the selector of its ReplicaSets (deployment/sync.go: getNewReplicaSet).
        let object = snapshot.object(controller);
        let of_deployment =
            object.owners.iter().any(|owner| owner.is_controller() && snapshot.text(owner.kind) == "Deployment");
        let is_hash = |(key, _): &&(Symbol, Symbol)| snapshot.text(*key) == TEMPLATE_HASH;
        let hash = object.labels.iter().find(is_hash).filter(|_| of_deployment);
        hash.map(|(key, value)| (*key, vec![*value]))
    }

    /// Controllers that may adopt an object.
    fn possible_adopters(&self, object: ObjectId) -> Vec<ObjectId> {
        let found = self.snapshot.object(object);
        let (index, resource, namespace) = (self.adopter_index(), found.resource, found.namespace);
        let labelled =
            found.labels.iter().flat_map(|(key, value)| index.by_label.of(&(resource, namespace, *key, *value)));
        let mut found: Vec<ObjectId> = labelled.chain(index.others.of(&(resource, namespace))).copied().collect();
        found.extend(self.set_named_by(object));
        found
    }

    /// The StatefulSet whose pods are named like this one (`stateful_set_utils.go: isMemberOf`).
    fn set_named_by(&self, pod: ObjectId) -> Option<ObjectId> {
        let object = self.snapshot.object(pod);
        let sets = self.built_in.stateful_sets.filter(|_| Some(object.resource) == self.built_in.pods)?;
        let set = self.set_of_name(pod)?;
        self.snapshot.look_up_named(sets, self.snapshot.text(object.namespace), set).object()
    }

    /// The name of the StatefulSet whose pod this may be by its name.
    fn set_of_name(&self, pod: ObjectId) -> Option<&str> {
        let (set, number) = self.snapshot.name(pod).rsplit_once('-')?;
        number.parse::<u32>().ok().map(|_| set)
    }

    /// Whether a controller's selector matches an object; `None` if that was not read.
    fn selects(&self, controller: ObjectId, object: ObjectId) -> Option<bool> {
        let snapshot = self.snapshot;
        let selector = if let Some(job) = snapshot.facts.job(controller) {
            // Neither a Job that is over nor one of another controller adopts (job_controller.go: syncJob).
            if job.finished || job.managed_by.is_some() {
                return Some(false);
            }
            job.selector.as_ref()?
        } else {
            snapshot.facts.workload(controller)?.selector.as_ref()?
        };
        Some(selector.matches(|key| snapshot.label(object, key)))
    }

    /// The kinds of controllers that adopt an object; `None` for those that a dump doesn't contain.
    fn kinds_of_adopters(&self, object: ObjectId) -> Vec<Option<ResourceId>> {
        let (built_in, resource) = (self.built_in, self.snapshot.object(object).resource);
        if Some(resource) == built_in.pods {
            let BuiltIn { replica_sets, replication_controllers, daemon_sets, jobs, .. } = built_in;
            let mut kinds = vec![replica_sets, replication_controllers, daemon_sets, jobs];
            kinds.extend(self.set_of_name(object).map(|_| built_in.stateful_sets));
            kinds
        } else {
            vec![built_in.deployments]
        }
    }

    /// Whether controllers that may adopt an object could not be listed. A dump need not contain them.
    fn hides_adopters(&self, object: ObjectId) -> bool {
        let namespace = self.snapshot.object(object).namespace;
        let mut kinds = self.kinds_of_adopters(object).into_iter().flatten();
        kinds.any(|kind| self.snapshot.fails_to_list(kind, namespace))
    }

    /// Whether all controllers that may adopt an object were listed.
    pub(crate) fn lists_adopters(&self, object: ObjectId) -> bool {
        let namespace = self.snapshot.object(object).namespace;
        let is_listed = |kind: Option<ResourceId>| kind.is_some_and(|kind| self.snapshot.covers(kind, Some(namespace)));
        self.kinds_of_adopters(object).into_iter().all(is_listed)
    }

    /// Whether this is a ReplicaSet or ReplicationController: they count pods.
    fn counts_pods(&self, controller: ObjectId) -> bool {
        let resource = Some(self.snapshot.object(controller).resource);
        resource == self.built_in.replica_sets || resource == self.built_in.replication_controllers
    }

    /// The pods that a controller had in the snapshot and that have not ended.
    fn active_pods(&self, controller: ObjectId) -> Vec<ObjectId> {
        let (snapshot, uid) = (self.snapshot, self.snapshot.object(controller).uid);
        let is_active = |id: &ObjectId| {
            let object = snapshot.object(*id);
            Some(object.resource) == self.built_in.pods
                && !object.terminating()
                && object.is_controlled_by(uid)
                && !snapshot.facts.has_finished(*id)
        };
        self.graph.dependents(controller.into()).iter().copied().filter(is_active).collect()
    }
}

/// What decides which pods a ReplicaSet deletes first, as far as it is the same tomorrow: the least first
/// (`controller_utils.go: ActivePodsWithRanks`). What follows is other pods of the Deployment on its Node, and times.
fn rank(pod: &PodFacts) -> (bool, u8, bool, i32) {
    let phase = match pod.phase.as_deref() {
        Some("Running") => 2,
        Some("Unknown") => 1,
        _ => 0,
    };
    (pod.node.is_some(), phase, phase == 2 && pod.not_ready.is_none(), pod.deletion_cost)
}

impl World<'_, '_> {
    /// Owner references of an object changed: notes it if a controller could adopt it now.
    pub(in crate::simulate) fn note_freed(&mut self, object: ObjectId) {
        let context = self.context;
        let found = context.snapshot.object(object);
        let (resource, built_in) = (Some(found.resource), context.built_in);
        let is_adopted = resource == built_in.pods || resource == built_in.replica_sets;
        if is_adopted
            && Reference::controller_of(&found.owners).is_some()
            && context.assume != Assume::None
            && !self.collector.sweeps
        {
            self.actors.freed.insert(object);
        }
    }

    /// Plays what controllers make of freed objects, once the collector is through. Returns whether anything was
    /// written.
    pub(super) fn adopt_freed(&mut self) -> bool {
        let collects = self.has_requests_left()
            || !self.events.is_empty()
            || !self.tasks.is_empty()
            || !self.collector.to_orphan.is_empty()
            || !self.collector.to_delete.is_empty();
        if collects || self.actors.freed.is_empty() {
            return false;
        }
        let freed = std::mem::take(&mut self.actors.freed);
        if self.manager_away() {
            return false;
        }
        let mut adopted: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
        let mut unsure: BTreeSet<ObjectId> = BTreeSet::new();
        for object in freed {
            let is_free = self
                .stored(object)
                .is_some_and(|stored| !stored.terminating && Reference::controller_of(&stored.owners).is_none());
            if !is_free {
                continue;
            }
            let adopter = self.adopter_of(object, &mut unsure);
            self.adoptions.of.insert(object, adopter);
            if let Adopter::Known(adopter) = adopter {
                adopted.entry(adopter).or_default().push(object);
            }
        }
        for controller in &unsure {
            if !self.adoptions.adopters.contains(controller) {
                adopted.entry(*controller).or_default();
            }
        }
        let before = self.log.len();
        for (controller, objects) in adopted {
            self.manage(controller, &objects, unsure.contains(&controller));
        }
        self.log.len() > before
    }

    /// Who adopts an object. Adds those that may adopt it to `unsure`, if it isn't known which.
    fn adopter_of(&mut self, object: ObjectId, unsure: &mut BTreeSet<ObjectId>) -> Adopter {
        let context = self.context;
        let snapshot = context.snapshot;
        let had = |controller: ObjectId| snapshot.object(object).is_controlled_by(snapshot.object(controller).uid);
        let (mut matching, mut living, mut unread) = (Vec::new(), 0, context.hides_adopters(object));
        for controller in context.possible_adopters(object) {
            let lives = self.stored(controller).is_some_and(|stored| !stored.terminating);
            if snapshot.object(controller).terminating() || !lives && had(controller) {
                continue;
            }
            match context.selects(controller, object) {
                Some(false) => continue,
                Some(true) => {}
                None => {
                    unread = true;
                    context.lacks(|needs| needs.adopters.insert(controller));
                    self.doubtful.extend(context.active_pods(controller));
                    matching.push(controller);
                    continue;
                }
            }
            if context.counts_pods(controller) {
                match snapshot.facts.pod(object) {
                    // It counts pods that have not ended, and adopts no others.
                    Some(facts) if facts.finished() => continue,
                    Some(_) => {}
                    None => {
                        self.context.lacks(|needs| needs.adopters.insert(object));
                        unread = true;
                    }
                }
            }
            living += usize::from(lives);
            matching.push(controller);
        }
        if unread {
            self.doubtful.insert(object);
            self.adoptions.adopters.extend(matching);
            return Adopter::Unknown;
        }
        match matching.as_slice() {
            [] => Adopter::None,
            [one] if living == 1 => {
                // The collector frees the pods before their ReplicaSet is gone; only then is another one made.
                if self.has_successor(object) {
                    self.adoptions.raced.insert(*one);
                }
                Adopter::Known(*one)
            }
            // The first that sees it.
            _ => {
                self.rests_on_others.insert(object);
                for controller in &matching {
                    let controller_name = snapshot.short_name(*controller);
                    self.assumptions.insert(Assumption::Adopted { controller: controller_name });
                }
                unsure.extend(matching);
                Adopter::Unknown
            }
        }
    }

    /// Whether a Deployment makes a ReplicaSet in place of a pod's, which would adopt it, too.
    fn has_successor(&self, pod: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        let is_set = |id: &ObjectId| Some(snapshot.object(*id).resource) == self.context.built_in.replica_sets;
        let set = snapshot.controller_of(pod).filter(is_set);
        set.and_then(|set| snapshot.controller_of(set))
            .and_then(|deployment| self.stored(deployment))
            .is_some_and(|stored| !stored.terminating)
    }

    /// A controller has adopted these objects, or (`unsure`) may also adopt others. If it is one that counts its pods,
    /// it deletes those that are too many.
    fn manage(&mut self, controller: ObjectId, adopted: &[ObjectId], unsure: bool) {
        let context = self.context;
        let snapshot = context.snapshot;
        let is_first = self.adoptions.adopters.insert(controller);
        let wanted = snapshot.facts.workload(controller).and_then(|facts| facts.wanted);
        let own = context.active_pods(controller);
        let all: Vec<ObjectId> = own.iter().chain(adopted).copied().collect();
        // Another kind may end, replace or scale down what it adopts; one that makes or deletes pods of its own at the
        // same time may delete others.
        let counts = !unsure && is_first && context.counts_pods(controller);
        let unread: Vec<ObjectId> = all.iter().copied().filter(|pod| snapshot.facts.pod(*pod).is_none()).collect();
        if counts && !unread.is_empty() {
            self.context.lacks(|needs| needs.adopters.extend(unread));
            self.doubtful.extend(all);
            return;
        }
        let is_at_rest = own.iter().all(|pod| self.stored(*pod).is_some_and(|stored| !stored.terminating))
            && wanted.is_some_and(|wanted| wanted == own.len() as i64);
        if !counts || !is_at_rest {
            self.assumptions.insert(Assumption::Adopted { controller: snapshot.short_name(controller) });
            let mut concerned = all;
            if !context.counts_pods(controller) {
                concerned.extend(context.graph.dependents(controller.into()));
            }
            concerned.retain(|id| self.exists(*id));
            self.rests_on_others.extend(concerned);
            return;
        }
        let deletes = adopted.len();
        let mut ranked: Vec<_> =
            all.into_iter().filter_map(|pod| Some((rank(snapshot.facts.pod(pod)?), pod))).collect();
        ranked.sort_unstable();
        let Some(((last, _), rest)) = ranked.get(deletes - 1).zip(ranked.get(deletes..)) else { return };
        if rest.first().is_some_and(|(next, _)| next == last) {
            let alike = ranked.iter().filter(|(rank, _)| rank == last).map(|(_, pod)| *pod);
            let of = alike.clone().count();
            let surely = ranked.iter().filter(|(rank, _)| rank < last).count();
            self.rests_on_others.extend(alike);
            self.assumptions.insert(Assumption::ScaledDown {
                controller: snapshot.short_name(controller),
                deletes: deletes - surely,
                of,
            });
        }
        if self.adoptions.is_raced(controller) {
            self.assumptions.insert(Assumption::AdoptsFirst { controller: snapshot.short_name(controller) });
            self.rests_on_others.extend(ranked.iter().map(|(_, pod)| *pod));
        }
        for (_, pod) in ranked.into_iter().take(deletes) {
            self.delete(pod, &DeleteOptions::default(), Cause::ScaledDown(controller));
        }
    }
}
