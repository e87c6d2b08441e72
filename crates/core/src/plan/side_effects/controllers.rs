//! What living controllers do with objects that a plan removes or frees: recreate, adopt or remove them (§9.1, §9.2,
//! §9.7). A controller that is deleted itself does nothing any more.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{Coordinate, Object, ObjectId, Presence, Reference, Resource, Symbol},
    plan::{
        outcome::{Outcome, OutcomeKind, Plan},
        reaction::Afterwards,
    },
    simulate::{
        Adopter, Adoptions, Cause, MANAGER_OF_SLICES, MIRRORS_ENDPOINTS, Needs, ObstacleKind, State, obstacles::Called,
    },
};

use super::{SideEffects, Survival, kept_up::kept_up_by};

/// Whether a controller recreates a deleted object (§9.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recreation {
    /// It certainly does.
    Certain,
    /// It depends on more than metadata, or on an unknown controller.
    Possible,
}

/// The controller that would recreate an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recreator {
    by: ObjectId,
    recreation: Recreation,
}

/// The reactions to each outcome, in plan order.
pub(super) fn afterwards(side_effects: &mut SideEffects<'_, '_>, plan: &Plan) -> Vec<Vec<Afterwards>> {
    let controllers = Controllers {
        side_effects,
        staying: {
            let staying = plan.outcomes.iter().filter(|outcome| outcome.state.is_some());
            staying.map(|outcome| (outcome.object, outcome)).collect()
        },
        adoptions: &plan.adoptions,
        unreachable: {
            let kinds = plan.obstacles.iter().map(|obstacle| obstacle.kind);
            kinds.filter(|kind| matches!(kind, ObstacleKind::WebhookUnreachable { .. })).collect()
        },
        recreators: RefCell::default(),
        adopters: RefCell::default(),
        pods: RefCell::default(),
        needs: RefCell::default(),
    };
    let afterwards = plan.outcomes.iter().map(|outcome| controllers.after(outcome)).collect();
    let needs = controllers.needs.into_inner();
    side_effects.needs.add(&needs);
    afterwards
}

struct Controllers<'b, 's, 'a> {
    side_effects: &'b SideEffects<'s, 'a>,
    /// Who adopts what is freed.
    adoptions: &'b Adoptions,
    /// Objects that stay terminating.
    staying: FxHashMap<ObjectId, &'b Outcome>,
    /// The webhooks that can't be called once the delete is through.
    unreachable: FxHashSet<ObstacleKind>,
    /// Which controller recreates a deleted object; `None` if there is none.
    recreators: RefCell<FxHashMap<ObjectId, Option<Recreator>>>,
    /// Group and kind of the surviving objects of each namespace.
    adopters: RefCell<FxHashMap<Symbol, FxHashSet<(String, String)>>>,
    /// How many running pods of a controller are left, and how many go.
    pods: RefCell<FxHashMap<ObjectId, (i64, i64)>>,
    /// What should be read to be certain.
    needs: RefCell<Needs>,
}

impl Controllers<'_, '_, '_> {
    fn after(&self, outcome: &Outcome) -> Vec<Afterwards> {
        let mut reactions = Vec::new();
        if let Some(Cause::ScaledDown(by)) = outcome.because {
            // One that deletes a pod because it has too many makes no other; a new ReplicaSet does, of its own.
            let above = self.maker_of_next_set(outcome.object).filter(|_| self.adoptions.is_raced(by));
            reactions.extend(above.map(|maker| Afterwards::MayBeRecreated { by: maker.by }));
        } else if outcome.kind.removes() {
            reactions.extend(self.recreated(outcome.object));
        } else if matches!(outcome.kind, OutcomeKind::Orphaned | OutcomeKind::Detached) {
            reactions.extend(self.adopted(outcome));
        }
        reactions
    }

    fn object(&self, id: ObjectId) -> &Object {
        self.side_effects.context.snapshot.object(id)
    }

    fn resource(&self, id: ObjectId) -> &Resource {
        self.side_effects.context.snapshot.resources.get(self.object(id).resource)
    }

    fn is(&self, id: ObjectId, group: &str, kind: &str) -> bool {
        let resource = self.resource(id);
        resource.group == group && resource.kind == kind
    }

    /// The object that the controller reference names.
    fn controller_of(&self, id: ObjectId) -> Option<ObjectId> {
        self.side_effects.context.snapshot.controller_of(id)
    }

    fn recreated(&self, object: ObjectId) -> Option<Afterwards> {
        let snapshot = self.side_effects.context.snapshot;
        let Object { namespace, name, .. } = *self.object(object);
        let (place, name) = (snapshot.text(namespace), snapshot.text(name));
        let kept = kept_up_by(&snapshot.resources, self.resource(object), place, name);
        let set = self.set_of_claim(object);
        let is_made = kept.is_some() || set.is_some() || self.is_endpoints(object);
        if !is_made && self.controller_of(object).is_none() {
            return None;
        }
        // Already replaced: the object was terminating before.
        if self.object(object).terminating() || self.side_effects.in_deleted_namespace(object) {
            return None;
        }
        if is_made && self.is_stuck(object) {
            return None;
        }
        if let Some(by) = kept {
            return Some(Afterwards::KeptUp { by });
        }
        if self.is_endpoints(object) {
            return self.service_of(object).map(|by| Afterwards::Recreated { by });
        }
        if let Some((set, pod)) = set {
            return self.claim_again(object, set, pod);
        }
        let Recreator { by, recreation } = self.recreator(object)?;
        // Another ReplicaSet makes its pods.
        if self.is(object, "apps", "ReplicaSet") && self.is_paused(by) {
            return None;
        }
        // Don't guess below an object that only may be recreated.
        let directly = self.controller_of(object) == Some(by);
        if recreation == Recreation::Possible && !directly {
            return None;
        }
        Some(match recreation {
            Recreation::Certain if self.is(by, "", "Node") => Afterwards::MirroredAgain { node: by },
            Recreation::Certain => Afterwards::Recreated { by },
            Recreation::Possible => Afterwards::MayBeRecreated { by },
        })
    }

    /// The StatefulSet of a claim that is not deleted, and its pod for which the claim was made.
    fn set_of_claim(&self, claim: ObjectId) -> Option<(ObjectId, ObjectId)> {
        let context = self.side_effects.context;
        let (snapshot, object) = (context.snapshot, self.object(claim));
        let (sets, pods) = (context.built_in.stateful_sets?, context.built_in.pods?);
        let named =
            |resource, name: &str| snapshot.look_up_named(resource, snapshot.text(object.namespace), name).object();
        if Some(object.resource) != context.built_in.claims {
            return None;
        }
        // `<template>-<StatefulSet>-<ordinal>`: both names may contain hyphens.
        let (beginning, ordinal) = snapshot.text(object.name).rsplit_once('-')?;
        let hyphens = beginning.match_indices('-').map(|(place, _)| place);
        hyphens.into_iter().find_map(|place| {
            let (template, name) = (&beginning[..place], &beginning[place + 1..]);
            let set = named(sets, name).filter(|set| self.side_effects.survival(*set) != Survival::Removed)?;
            let pod = named(pods, &format!("{name}-{ordinal}")).filter(|pod| self.controller_of(*pod) == Some(set))?;
            let facts = snapshot.facts.workload(set).and_then(|facts| facts.claims.as_ref());
            if facts.is_none() {
                self.needs.borrow_mut().facts.insert(set);
            }
            facts.is_none_or(|facts| facts.names.iter().any(|known| known == template)).then_some((set, pod))
        })
    }

    /// A StatefulSet makes missing claims with a pod, and for a pod that is pending (R9.25).
    fn claim_again(&self, claim: ObjectId, set: ObjectId, pod: ObjectId) -> Option<Afterwards> {
        let goes = |object: ObjectId| {
            self.side_effects.survival(object) == Survival::Removed && !self.staying.contains_key(&object)
        };
        let is_read =
            self.side_effects.context.snapshot.facts.workload(set).is_some_and(|facts| facts.claims.is_some());
        self.made_again(pod, set)?;
        let certainly = Some(Recreator { by: set, recreation: Recreation::Certain });
        let is_certain =
            is_read && goes(claim) && goes(pod) && !self.object(pod).terminating() && self.recreator(pod) == certainly;
        Some(if is_certain { Afterwards::RecreatedEmpty { by: set } } else { Afterwards::MayBeRecreated { by: set } })
    }

    /// Whether an object stays terminating for ever, so that no other takes its name.
    fn is_stuck(&self, object: ObjectId) -> bool {
        self.staying.get(&object).is_some_and(|outcome| outcome.state == Some(State::Stuck))
    }

    fn is_endpoints(&self, object: ObjectId) -> bool {
        Some(self.object(object).resource) == self.side_effects.context.built_in.endpoints
    }

    /// The living Service for which the endpoints controller makes these Endpoints (R9.20).
    fn service_of(&self, endpoints: ObjectId) -> Option<ObjectId> {
        let context = self.side_effects.context;
        let Object { namespace, name, .. } = *self.object(endpoints);
        let at = Coordinate { resource: context.built_in.services?, namespace, name };
        let Presence::Present(service) = context.snapshot.look_up(at) else { return None };
        if self.side_effects.survival(service) != Survival::Survives {
            return None;
        }
        match context.snapshot.facts.service(service) {
            Some(facts) => facts.selects.then_some(service),
            None => {
                self.needs.borrow_mut().facts.insert(service);
                None
            }
        }
    }

    /// The controller that recreates an object: its own, or the one further up if that is deleted as well. The chain
    /// may be long or a cycle; a loop, not recursion, follows it.
    fn recreator(&self, object: ObjectId) -> Option<Recreator> {
        let mut recreators = self.recreators.borrow_mut();
        let mut path: Vec<(ObjectId, Recreation)> = Vec::new();
        let mut is_current = object;
        let mut found = loop {
            if let Some(known) = recreators.get(&is_current) {
                break *known;
            }
            // Ends the loop in a cycle.
            recreators.insert(is_current, None);
            let Some(controller) = self.controller_of(is_current) else { break None };
            let Some(recreation) = self.recreation(is_current, controller) else { break None };
            path.push((is_current, recreation));
            match self.side_effects.survival(controller) {
                Survival::Survives => break Some(Recreator { by: controller, recreation: Recreation::Certain }),
                Survival::MayBeRemoved => break Some(Recreator { by: controller, recreation: Recreation::Possible }),
                // A CronJob creates a new Job with another name, and other pods.
                Survival::Removed if self.is(controller, "batch", "Job") => break None,
                Survival::Removed => is_current = controller,
            }
        };
        for (object, recreation) in path.into_iter().rev() {
            // How many pods it wants matters only if one that stays makes them.
            if let Some(controller) =
                self.controller_of(object).filter(|_| found.is_some() && self.is(object, "", "Pod"))
                && self.side_effects.context.snapshot.facts.workload(controller).is_none()
                && self.has_replicas(controller)
            {
                self.needs.borrow_mut().facts.insert(controller);
            }
            if let Some(recreator) = &mut found
                && recreation == Recreation::Possible
            {
                recreator.recreation = Recreation::Possible;
            }
            recreators.insert(object, found);
        }
        found
    }

    /// Whether a controller recreates what it controls; `None` if it certainly doesn't.
    fn recreation(&self, object: ObjectId, controller: ObjectId) -> Option<Recreation> {
        let (below, above) = (self.resource(object), self.resource(controller));
        // The kubelet runs a mirror pod's containers without asking.
        let refused = if self.is(controller, "", "Node") { Called::No } else { self.refuses_another(object) };
        let recreation = match (below.group.as_str(), below.kind.as_str(), above.group.as_str(), above.kind.as_str()) {
            // Already replaced: the pod has ended.
            ("", "Pod", "apps", "ReplicaSet" | "StatefulSet" | "DaemonSet")
            | ("", "Pod", "", "ReplicationController")
                if self.finished(object) =>
            {
                return None;
            }
            // A StatefulSet needs the name.
            ("", "Pod", "apps", "StatefulSet") | ("", "Pod", "", "Node") | ("apps", "ReplicaSet", ..)
                if self.is_stuck(object) =>
            {
                return None;
            }
            ("", "Pod", "apps", "DaemonSet") if self.is_stuck(object) && !self.is_ended(object) => return None,
            ("", "Pod", "apps", "DaemonSet") if self.is_without_node(object) => return None,
            ("", "Pod", "batch", "Job") if self.makes_no_more(controller) => return None,
            ("", "Pod", "apps", "ReplicaSet" | "StatefulSet" | "DaemonSet")
            | ("", "Pod", "", "ReplicationController") => match self.made_again(object, controller)? {
                // What it adopts may be enough.
                _ if self.adoptions.may_adopt(controller) => Recreation::Possible,
                made => made,
            },
            ("", "Pod", "", "Node") => Recreation::Certain,
            ("apps", "ReplicaSet", "apps", "Deployment")
                if self.side_effects.survival(controller) != Survival::Removed && self.is_paused(controller) =>
            {
                return self.sibling_grows(object, controller).then_some(Recreation::Certain);
            }
            ("apps", "ReplicaSet", "apps", "Deployment") if self.is_current(object, controller) => Recreation::Certain,
            ("discovery.k8s.io", "EndpointSlice", "", "Service" | "Endpoints") if self.is_managed(object) => {
                Recreation::Certain
            }
            _ => Recreation::Possible,
        };
        match refused {
            Called::Yes => None,
            Called::Perhaps => Some(Recreation::Possible),
            Called::No => Some(recreation),
        }
    }

    /// Whether a webhook that can't be called any more must allow that another such object is created.
    fn refuses_another(&self, object: ObjectId) -> Called {
        let context = self.side_effects.context;
        let hooks = context.obstacles.iter().flat_map(|obstacles| &obstacles.admission.hooks);
        let calls = hooks.map(|hook| hook.call).filter(|call| {
            let kind = ObstacleKind::WebhookUnreachable { configuration: call.configuration, place: call.place as u32 };
            self.unreachable.contains(&kind) && call.webhook.matches(self.resource(object), "CREATE")
        });
        let called = calls.map(|call| call.called_for(context, object));
        called.fold(Called::No, |worst, called| match (worst, called) {
            (Called::Yes, _) | (_, Called::Yes) => Called::Yes,
            (Called::Perhaps, _) | (_, Called::Perhaps) => Called::Perhaps,
            _ => Called::No,
        })
    }

    /// Whether a controller says how many pods it wants.
    fn has_replicas(&self, controller: ObjectId) -> bool {
        let resource = self.resource(controller);
        matches!(
            (resource.group.as_str(), resource.kind.as_str()),
            ("apps", "ReplicaSet" | "StatefulSet" | "DaemonSet") | ("", "ReplicationController")
        )
    }

    /// Whether a Job has finished or is suspended.
    fn makes_no_more(&self, job: ObjectId) -> bool {
        self.side_effects.context.snapshot.facts.job(job).is_some_and(|facts| facts.finished || facts.suspended)
    }

    /// Whether a controller makes a pod again: it may have more than it wants.
    fn made_again(&self, pod: ObjectId, controller: ObjectId) -> Option<Recreation> {
        const MADE: Option<Recreation> = Some(Recreation::Certain);
        let context = self.side_effects.context;
        let snapshot = context.snapshot;
        // Without a number, it makes all that are missing.
        let Some(facts) = snapshot.facts.workload(controller) else { return MADE };
        let Some(wanted) = facts.wanted else { return MADE };
        if self.is(controller, "apps", "DaemonSet") {
            return MADE.filter(|_| wanted > 0);
        }
        if self.is(controller, "apps", "StatefulSet") {
            let (_, ordinal) = snapshot.text(self.object(pod).name).rsplit_once('-')?;
            let place = ordinal.parse::<i64>().ok()?.checked_sub(facts.first_ordinal)?;
            return MADE.filter(|_| (0..wanted).contains(&place));
        }
        let count = || {
            let (mut left, mut going) = (0, 0);
            for other in context.graph.dependents(controller.into()).iter().copied() {
                let counts = context.built_in.pods == Some(self.object(other).resource)
                    && self.controller_of(other) == Some(controller)
                    && !self.object(other).terminating()
                    && !self.finished(other);
                let survives = self.side_effects.survival(other) == Survival::Survives;
                *(if survives { &mut left } else { &mut going }) += i64::from(counts);
            }
            (left, going)
        };
        let (left, going) = *self.pods.borrow_mut().entry(controller).or_insert_with(count);
        match wanted - left {
            ..=0 => None,
            missing if missing < going => Some(Recreation::Possible),
            _ => MADE,
        }
    }

    /// Whether the Node of a pod is deleted, or doesn't exist.
    fn is_without_node(&self, pod: ObjectId) -> bool {
        let context = self.side_effects.context;
        let snapshot = context.snapshot;
        let Some(facts) = snapshot.facts.pod(pod) else {
            self.needs.borrow_mut().facts.insert(pod);
            return false;
        };
        let (Some(node), Some(resource)) = (&facts.node, context.built_in.nodes) else { return false };
        match snapshot.look_up_named(resource, "", node) {
            Presence::Present(node) => self.side_effects.survival(node) == Survival::Removed,
            Presence::Absent => true,
            Presence::Unknown => false,
        }
    }

    /// Whether a kubelet ends a pod that something else holds: a DaemonSet counts a Terminating pod as its pod on that
    /// Node until it has ended, and then no more.
    fn is_ended(&self, pod: ObjectId) -> bool {
        let has_node = self.side_effects.context.snapshot.facts.pod(pod).is_some_and(|facts| facts.node.is_some());
        let awaits_kubelet = |outcome: &&Outcome| outcome.held_by.iter().any(|holder| holder.is_kubelet());
        has_node && !self.staying.get(&pod).is_some_and(awaits_kubelet)
    }

    fn finished(&self, pod: ObjectId) -> bool {
        self.side_effects.context.snapshot.facts.has_finished(pod)
    }

    /// Whether a ReplicaSet is its Deployment's current one. Old ones are kept for rollbacks and not recreated. Certain
    /// only if it is the youngest and alone has pods.
    fn is_current(&self, object: ObjectId, deployment: ObjectId) -> bool {
        let context = self.side_effects.context;
        let is_set = |id: &ObjectId| self.object(*id).resource == self.object(object).resource;
        let mut others = context.graph.dependents(deployment.into()).iter().filter(|id| **id != object && is_set(id));
        let has_pods = |id: ObjectId| !context.graph.dependents(id.into()).is_empty();
        let own = self.object(object).created;
        let is_older_without_pods = |id: &ObjectId| !has_pods(*id) && own.is_some() && self.object(*id).created < own;
        // An only ReplicaSet needs no pods to be the current one.
        others.by_ref().all(|id| is_older_without_pods(id) && has_pods(object))
    }

    /// Whether this is a paused Deployment. It creates no ReplicaSet, and scales those that it has (R9.23).
    fn is_paused(&self, controller: ObjectId) -> bool {
        if !self.is(controller, "apps", "Deployment") {
            return false;
        }
        let facts = self.side_effects.context.snapshot.facts.workload(controller);
        if facts.is_none() {
            self.needs.borrow_mut().facts.insert(controller);
        }
        facts.is_some_and(|facts| facts.paused)
    }

    /// Whether a paused Deployment scales another ReplicaSet up for one that is removed: the newest, or the only one
    /// that has pods.
    fn sibling_grows(&self, removed: ObjectId, deployment: ObjectId) -> bool {
        let siblings = self.side_effects.context.graph.dependents(deployment.into()).iter();
        let is_set = |id: &&ObjectId| self.object(**id).resource == self.object(removed).resource;
        siblings.filter(is_set).any(|id| *id != removed && self.side_effects.survival(*id) == Survival::Survives)
    }

    /// Whether Kubernetes' own controllers manage this EndpointSlice.
    fn is_managed(&self, slice: ObjectId) -> bool {
        let by = self.side_effects.context.snapshot.label(slice, MANAGER_OF_SLICES);
        by == Some("endpointslice-controller.k8s.io") || by == Some(MIRRORS_ENDPOINTS)
    }

    /// Who adopts an object that lost its controller (R9.3, R9.4).
    fn adopted(&self, outcome: &Outcome) -> Vec<Afterwards> {
        let object = outcome.object;
        let Some(after) = &outcome.after else { return Vec::new() };
        if self.controller_of(object).is_none()
            || after.terminating
            || Reference::controller_of(&after.owners).is_some()
        {
            return Vec::new();
        }
        match (self.adoptions.of(object), self.maker_of_next_set(object)) {
            (Some(Adopter::Known(by)), _) if !self.adoptions.is_raced(by) => vec![Afterwards::AdoptedBy { by }],
            // If another one is first, the new ReplicaSet makes other pods.
            (Some(Adopter::Known(_) | Adopter::Unknown), above) => std::iter::once(Afterwards::MayBeAdopted)
                .chain(above.map(|maker| Afterwards::MayBeRecreated { by: maker.by }))
                .collect(),
            // It may be a ReplicaSet of an earlier rollout, which is not made again.
            (_, Some(Recreator { by, recreation: Recreation::Possible })) => {
                vec![Afterwards::MayBeAdopted, Afterwards::MayBeRecreated { by }]
            }
            (_, Some(Recreator { by, .. })) if self.is_paused(by) => vec![Afterwards::Recreated { by }],
            (_, Some(Recreator { by, .. })) => vec![Afterwards::Adopted { by }],
            (Some(Adopter::None), None) => Vec::new(),
            (None, None) => self.may_be_adopted(object).into_iter().collect(),
        }
    }

    /// The surviving Deployment that creates a ReplicaSet in place of a pod's, or, if it is paused, has another make
    /// other pods.
    fn maker_of_next_set(&self, pod: ObjectId) -> Option<Recreator> {
        let set = self.controller_of(pod).filter(|set| self.is(pod, "", "Pod") && self.is(*set, "apps", "ReplicaSet"));
        self.recreator(set?).filter(|maker| self.is(maker.by, "apps", "Deployment"))
    }

    /// Whether there is a living controller of a kind that adopts such objects.
    fn may_be_adopted(&self, object: ObjectId) -> Option<Afterwards> {
        let resource = self.resource(object);
        let by = adopters_of(&resource.group, &resource.kind);
        let mut adopters = self.adopters.borrow_mut();
        let namespace = self.object(object).namespace;
        let living = adopters.entry(namespace).or_insert_with(|| self.living_controllers(namespace));
        by.iter()
            .any(|(group, kind)| living.contains(&((*group).to_owned(), (*kind).to_owned())))
            .then_some(Afterwards::MayBeAdopted)
    }

    fn living_controllers(&self, namespace: Symbol) -> FxHashSet<(String, String)> {
        let context = self.side_effects.context;
        let living =
            context.in_namespace(namespace).iter().filter(|id| self.side_effects.survival(**id) != Survival::Removed);
        let resources: FxHashSet<_> = living.map(|id| self.object(*id).resource).collect();
        let named = resources.into_iter().map(|id| context.snapshot.resources.get(id));
        named.map(|resource| (resource.group.clone(), resource.kind.clone())).collect()
    }
}

/// The built-in controllers that adopt objects of a kind by selector (R9.3).
pub fn adopters_of(group: &str, kind: &str) -> &'static [(&'static str, &'static str)] {
    match (group, kind) {
        ("", "Pod") => &[
            ("apps", "ReplicaSet"),
            ("apps", "StatefulSet"),
            ("apps", "DaemonSet"),
            ("batch", "Job"),
            ("", "ReplicationController"),
        ],
        ("apps", "ReplicaSet") => &[("apps", "Deployment")],
        ("apps", "ControllerRevision") => &[("apps", "StatefulSet"), ("apps", "DaemonSet")],
        _ => &[],
    }
}
