//! What living controllers do afterwards with what a plan removes or frees (§9.1, §9.2, §9.7): they make it anew, adopt
//! it, or clear up behind it. A controller that goes itself does nothing any more.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{Coordinate, Object, ObjectId, Presence, Resource, Symbol},
    plan::{
        outcome::{Outcome, OutcomeKind, Plan},
        reaction::Afterwards,
    },
};

use super::{SideEffects, Survival};

/// What every namespace has, by kind and name, and who sees to it (pkg/controller/certificates/rootcacertpublisher,
/// pkg/controller/serviceaccount/serviceaccounts_controller.go).
const KEPT_UP: &[(&str, &str, &str)] = &[
    ("ConfigMap", "kube-root-ca.crt", "the root CA publisher"),
    ("ServiceAccount", "default", "the service account controller"),
];

/// What one object's controller would do if it were gone (§9.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    /// It makes another.
    Remakes,
    /// That depends on more than metadata tells, or on a controller that isn't known.
    MayRemake,
}

/// Who would make an object anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Maker {
    by: ObjectId,
    habit: Habit,
}

/// What comes after each outcome, in their order.
pub(super) fn afterwards(beyond: &SideEffects<'_, '_>, plan: &Plan) -> Vec<Vec<Afterwards>> {
    let controllers = Controllers { beyond, makers: RefCell::default(), adopters: RefCell::default() };
    plan.outcomes.iter().map(|outcome| controllers.after(outcome)).collect()
}

struct Controllers<'b, 's, 'a> {
    beyond: &'b SideEffects<'s, 'a>,
    /// Who makes an object anew that goes; none where nobody does.
    makers: RefCell<FxHashMap<ObjectId, Option<Maker>>>,
    /// Which kinds of controllers live in a namespace.
    adopters: RefCell<FxHashMap<Symbol, FxHashSet<(String, String)>>>,
}

impl Controllers<'_, '_, '_> {
    fn after(&self, outcome: &Outcome) -> Vec<Afterwards> {
        let mut describe = Vec::new();
        if outcome.kind.removes() {
            describe.extend(self.recreated(outcome.object));
            describe.extend(self.removes(outcome));
        } else if matches!(outcome.kind, OutcomeKind::Orphaned | OutcomeKind::Detached) {
            describe.extend(self.adopted(outcome));
        }
        describe
    }

    fn object(&self, id: ObjectId) -> &Object {
        self.beyond.stage.snapshot.object(id)
    }

    fn resource(&self, id: ObjectId) -> &Resource {
        self.beyond.stage.snapshot.resources.get(self.object(id).resource)
    }

    fn is(&self, id: ObjectId, group: &str, kind: &str) -> bool {
        let resource = self.resource(id);
        resource.group == group && resource.kind == kind
    }

    fn is_named(&self, id: ObjectId, name: &str) -> bool {
        self.beyond.stage.snapshot.text(self.object(id).name) == name
    }

    /// The object that an object's controller reference leads to.
    fn controller_of(&self, id: ObjectId) -> Option<ObjectId> {
        let reference = self.object(id).owners.iter().find(|reference| reference.controller == Some(true))?;
        self.beyond.stage.snapshot.by_uid(reference.uid)
    }

    fn recreated(&self, object: ObjectId) -> Option<Afterwards> {
        let kept_up = KEPT_UP.iter().find(|(kind, name, _)| self.is_named(object, name) && self.is(object, "", kind));
        if kept_up.is_none() && self.controller_of(object).is_none() {
            return None;
        }
        // What was terminating before has been replaced by now.
        if self.object(object).terminating() || self.in_going_namespace(object) {
            return None;
        }
        if let Some((.., by)) = kept_up {
            return Some(Afterwards::KeptUp { by });
        }
        let Maker { by, habit } = self.maker(object)?;
        // Below what may be made anew nothing is told: that would be a guess upon a guess.
        let directly = self.controller_of(object) == Some(by);
        if habit == Habit::MayRemake && !directly {
            return None;
        }
        Some(match habit {
            Habit::Remakes if self.is(by, "", "Node") => Afterwards::MirroredAgain { node: by },
            Habit::Remakes => Afterwards::Recreated { by },
            Habit::MayRemake => Afterwards::MayBeRecreated { by },
        })
    }

    /// Nothing can be made in a namespace that is being deleted.
    fn in_going_namespace(&self, object: ObjectId) -> bool {
        let stage = self.beyond.stage;
        let namespace = self.object(object).namespace;
        let (false, Some(resource)) = (namespace.is_empty(), stage.built_in.namespaces) else { return false };
        match stage.snapshot.look_up(Coordinate { resource, namespace: Symbol::EMPTY, name: namespace }) {
            Presence::Present(namespace) => self.beyond.fate(namespace) == Survival::Goes,
            _ => false,
        }
    }

    /// Who makes an object anew: its controller, or, where that goes as well, whoever makes that anew. Chains of
    /// controllers may be very long, and circles.
    fn maker(&self, object: ObjectId) -> Option<Maker> {
        let mut makers = self.makers.borrow_mut();
        let mut path: Vec<(ObjectId, Habit)> = Vec::new();
        let mut current = object;
        let mut found = loop {
            if let Some(known) = makers.get(&current) {
                break *known;
            }
            // Seen for now as what nobody makes: so ends a circle.
            makers.insert(current, None);
            let Some(controller) = self.controller_of(current) else { break None };
            let Some(habit) = self.habit(current, controller) else { break None };
            path.push((current, habit));
            match self.beyond.fate(controller) {
                Survival::Lives => break Some(Maker { by: controller, habit: Habit::Remakes }),
                Survival::MayGo => break Some(Maker { by: controller, habit: Habit::MayRemake }),
                // A new Job of a CronJob is another one, and what is below it, too.
                Survival::Goes if self.is(controller, "batch", "Job") => break None,
                Survival::Goes => current = controller,
            }
        };
        for (object, habit) in path.into_iter().rev() {
            if let Some(maker) = &mut found
                && habit == Habit::MayRemake
            {
                maker.habit = Habit::MayRemake;
            }
            makers.insert(object, found);
        }
        found
    }

    /// Whether a controller makes another of what it controls; none where it surely doesn't.
    fn habit(&self, object: ObjectId, controller: ObjectId) -> Option<Habit> {
        let (below, above) = (self.resource(object), self.resource(controller));
        Some(match (below.group.as_str(), below.kind.as_str(), above.group.as_str(), above.kind.as_str()) {
            // A pod that has ended doesn't count for its controller any more: it was replaced when it ended.
            ("", "Pod", "apps", "ReplicaSet" | "StatefulSet" | "DaemonSet")
            | ("", "Pod", "", "ReplicationController")
                if self.finished(object) =>
            {
                return None;
            }
            ("", "Pod", "apps", "ReplicaSet" | "StatefulSet" | "DaemonSet")
            | ("", "Pod", "", "ReplicationController" | "Node") => Habit::Remakes,
            ("apps", "ReplicaSet", "apps", "Deployment") if self.current(object, controller) => Habit::Remakes,
            ("discovery.k8s.io", "EndpointSlice", "", "Service" | "Endpoints") if self.made_by_controller(object) => {
                Habit::Remakes
            }
            _ => Habit::MayRemake,
        })
    }

    fn finished(&self, pod: ObjectId) -> bool {
        self.beyond.stage.snapshot.facts.pod(pod).is_some_and(|facts| facts.finished())
    }

    /// Whether a ReplicaSet is the one that its Deployment keeps up: old ones are kept for rolling back, and not made
    /// anew. For sure it is so only of the one that alone has pods and is the youngest.
    fn current(&self, object: ObjectId, deployment: ObjectId) -> bool {
        let stage = self.beyond.stage;
        let is_set = |id: &ObjectId| self.object(*id).resource == self.object(object).resource;
        let mut others = stage.graph.dependents(deployment.into()).iter().filter(|id| **id != object && is_set(id));
        let has_pods = |id: ObjectId| !stage.graph.dependents(id.into()).is_empty();
        let own = self.object(object).created;
        let lesser = |id: &ObjectId| !has_pods(*id) && own.is_some() && self.object(*id).created < own;
        // Without others, no pod is needed to tell.
        others.by_ref().all(|id| lesser(id) && has_pods(object))
    }

    /// Whether an EndpointSlice is the work of Kubernetes' own controllers, which look after it.
    fn made_by_controller(&self, slice: ObjectId) -> bool {
        let snapshot = self.beyond.stage.snapshot;
        self.object(slice).labels.iter().any(|(key, value)| {
            snapshot.text(*key) == "endpointslice.kubernetes.io/managed-by"
                && matches!(
                    snapshot.text(*value),
                    "endpointslice-controller.k8s.io" | "endpointslicemirroring-controller.k8s.io"
                )
        })
    }

    /// The endpoints controller removes a Service's Endpoints, and the token controller a ServiceAccount's tokens
    /// (§9.7).
    fn removes(&self, outcome: &Outcome) -> Option<Afterwards> {
        let stage = self.beyond.stage;
        if outcome.kind != OutcomeKind::Deleted || Some(self.object(outcome.object).resource) != stage.built_in.services
        {
            return None;
        }
        let Object { namespace, name, .. } = *self.object(outcome.object);
        let endpoints = Coordinate { resource: stage.built_in.endpoints?, namespace, name };
        match stage.snapshot.look_up(endpoints) {
            Presence::Present(object) if self.beyond.fate(object) != Survival::Goes => {
                Some(Afterwards::Removes { object })
            }
            _ => None,
        }
    }

    /// Who adopts what is left without a controller (R9.3, R9.4).
    fn adopted(&self, outcome: &Outcome) -> Option<Afterwards> {
        let object = outcome.object;
        let after = outcome.after.as_ref()?;
        let lost = self.controller_of(object)?;
        if after.terminating || after.owners.iter().any(|reference| reference.controller == Some(true)) {
            return None;
        }
        // A living Deployment makes another ReplicaSet of the same kind of pods.
        if self.is(object, "", "Pod")
            && self.is(lost, "apps", "ReplicaSet")
            && let Some(Maker { by, habit: Habit::Remakes }) = self.maker(lost)
        {
            return Some(Afterwards::Adopted { by });
        }
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
        let stage = self.beyond.stage;
        let living = stage.in_namespace(namespace).iter().filter(|id| self.beyond.fate(**id) != Survival::Goes);
        let resources: FxHashSet<_> = living.map(|id| self.object(*id).resource).collect();
        let named = resources.into_iter().map(|id| stage.snapshot.resources.get(id));
        named.map(|resource| (resource.group.clone(), resource.kind.clone())).collect()
    }
}

/// The built-in controllers that adopt objects of a kind by their selectors (R9.3).
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
