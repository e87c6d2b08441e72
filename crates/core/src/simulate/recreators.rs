//! Who makes an object again that is gone: its controller, what applies it from a source, or one further up that makes
//! this one again (§9.6, R9.41).

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{
    Fact, Object, ObjectId, Presence, Resource, Symbol,
    effects::{Inventory, Policy, PolicyFacts, application_named},
    facts::{NamespaceFacts, PodFacts},
};

use super::{
    blocked_by::is_removed_by_controller_manager,
    built_in::{MANAGER_OF_SLICES, MIRRORS_ENDPOINTS},
    context::SimContext,
    controllers::is_unseen,
    obstacles::Refusal,
};

/// The label by which kapp knows what it has deployed (carvel-dev/kapp pkg/kapp/app/recorded_app.go).
const KAPP: &str = "kapp.k14s.io/app";

/// Whether an object exists and is not terminating at the end of a course of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Survival {
    Survives,
    /// Not certain.
    MayBeRemoved,
    Removed,
}

/// Whether a controller recreates a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recreation {
    /// It certainly does.
    Certain,
    /// It depends on more than metadata, or on an unknown controller.
    Possible,
    /// It would, but can't (R9.44).
    Refused(Refusal),
}

impl Recreation {
    /// Of what stands in the way at several places, what decides: what is refused certainly, or else what may be.
    pub(crate) fn worst(all: impl Iterator<Item = Recreation>) -> Option<Recreation> {
        all.min_by_key(|it| match it {
            Recreation::Refused(_) => 0,
            Recreation::Possible => 1,
            Recreation::Certain => 2,
        })
    }
}

/// The controller that would recreate an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recreator {
    pub by: ObjectId,
    pub recreation: Recreation,
}

/// How a course of events ends, as far as that decides who makes an object again.
pub(crate) trait Ending {
    fn survival(&self, object: ObjectId) -> Survival;

    /// Whether an object stays terminating for ever, so that no other takes its name.
    fn is_stuck(&self, _: ObjectId) -> bool {
        false
    }

    /// Whether an object is Terminating at the end.
    fn stays_terminating(&self, _: ObjectId) -> bool {
        false
    }

    /// Whether a pod stays because its kubelet doesn't end it.
    fn awaits_kubelet(&self, _: ObjectId) -> bool {
        false
    }

    /// Whether webhooks and policies refuse that another such object is created, or may.
    fn refuses_another(&self, _: ObjectId) -> Option<Recreation> {
        None
    }

    /// Whether no controller manager runs, so that Kubernetes' own controllers make nothing (S7).
    fn is_manager_away(&self) -> bool {
        false
    }

    /// Whether a controller adopts anything, or may.
    fn may_adopt(&self, _: ObjectId) -> bool {
        false
    }
}

/// Who recreates what, once a course of events has come to its end.
pub(crate) struct Recreators<'b, 'a, E> {
    context: &'b SimContext<'a>,
    end: &'b E,
    /// Which controller recreates a deleted object; `None` if there is none.
    known: RefCell<FxHashMap<ObjectId, Option<Recreator>>>,
    /// How many running pods of a controller are left, and how many go.
    pods: RefCell<FxHashMap<ObjectId, (i64, i64)>>,
    /// See [`Self::first_unready`].
    unready: RefCell<FxHashMap<ObjectId, Option<i64>>>,
}

impl<'a> SimContext<'a> {
    /// What Flux applies an object from, by its labels: `None` for what was not read.
    fn flux_appliers(&self, object: ObjectId) -> impl Iterator<Item = Option<ObjectId>> + '_ {
        let snapshot = self.snapshot;
        let kinds = [("kustomize.toolkit.fluxcd.io", "Kustomization"), ("helm.toolkit.fluxcd.io", "HelmRelease")];
        kinds.into_iter().filter_map(move |(group, kind)| {
            let label = |key: &str| snapshot.label(object, &format!("{group}/{key}"));
            let (name, namespace) = (label("name")?, label("namespace")?);
            let resource = snapshot.resources.by_group_kind(group, kind);
            Some(resource.and_then(|resource| snapshot.look_up_named(resource, namespace, name).object()))
        })
    }

    /// Whether Argo CD or Flux applies an object, by what it says, and what it is applied from was not read.
    pub(crate) fn is_applied_unseen(&self, object: ObjectId) -> bool {
        let snapshot = self.snapshot;
        let tracked_by = snapshot.object(object).tracked_by;
        let is_its = |application: &ObjectId| snapshot.object(*application).name == tracked_by;
        let is_seen = || {
            let applications = snapshot.resources.by_group_kind("argoproj.io", "Application");
            applications.is_some_and(|all| self.of_resource(all).iter().any(is_its))
        };
        tracked_by != Symbol::EMPTY && !is_seen() || self.flux_appliers(object).any(|by| by.is_none())
    }
}

impl<'b, 'a, E: Ending> Recreators<'b, 'a, E> {
    pub(crate) fn new(context: &'b SimContext<'a>, end: &'b E) -> Self {
        Recreators { context, end, known: RefCell::default(), pods: RefCell::default(), unready: RefCell::default() }
    }

    fn object(&self, id: ObjectId) -> &Object {
        self.context.snapshot.object(id)
    }

    fn resource(&self, id: ObjectId) -> &Resource {
        self.context.snapshot.resources.get(self.object(id).resource)
    }

    fn is(&self, id: ObjectId, group: &str, kind: &str) -> bool {
        let resource = self.resource(id);
        resource.group == group && resource.kind == kind
    }

    /// The object that the controller reference names.
    fn controller_of(&self, id: ObjectId) -> Option<ObjectId> {
        self.context.snapshot.controller_of(id)
    }

    /// The controller that recreates an object: its own, or what applies it, or the one further up if that is deleted
    /// as well. The chain may be long or a cycle; a loop, not recursion, follows it.
    pub(crate) fn recreator(&self, object: ObjectId) -> Option<Recreator> {
        let mut known = self.known.borrow_mut();
        let mut path: Vec<(ObjectId, Recreation)> = Vec::new();
        let mut is_current = object;
        let mut found = loop {
            if let Some(known) = known.get(&is_current) {
                break *known;
            }
            // Ends the loop in a cycle.
            known.insert(is_current, None);
            let made_by = self.controller_of(is_current);
            let made = match made_by {
                Some(controller) => self.recreation(is_current, controller).map(|made| (controller, made)),
                None => self.applied_again(is_current),
            };
            let Some((controller, recreation)) = made else { break None };
            path.push((is_current, recreation));
            match self.end.survival(controller) {
                Survival::Survives => break Some(Recreator { by: controller, recreation: Recreation::Certain }),
                Survival::MayBeRemoved => break Some(Recreator { by: controller, recreation: Recreation::Possible }),
                // A CronJob creates a new Job with another name, and other pods.
                Survival::Removed if self.is(controller, "batch", "Job") => break None,
                Survival::Removed if self.is_revision_of(is_current, controller) => {
                    break Some(Recreator { by: controller, recreation });
                }
                Survival::Removed => is_current = controller,
            }
        };
        for (object, recreation) in path.into_iter().rev() {
            // How many pods it wants, or whether it has finished, matters only if one that stays makes them.
            if let Some(controller) =
                self.controller_of(object).filter(|_| found.is_some() && self.is(object, "", "Pod"))
                && self.context.snapshot.facts.get(controller).is_none()
                && (self.has_replicas(controller) || self.is(controller, "batch", "Job"))
            {
                self.context.lacks(|needs| needs.facts.insert(controller));
            }
            if let Some(recreator) = &mut found
                && let Some(worst) = Recreation::worst([recreator.recreation, recreation].into_iter())
            {
                recreator.recreation = worst;
            }
            known.insert(object, found);
        }
        found
    }

    /// Whether one is a ControllerRevision of the other, a StatefulSet that stays Terminating: whenever one of its pods
    /// changes, it makes that of its template (kubernetes/kubernetes
    /// pkg/controller/statefulset/stateful_set_control.go: getStatefulSetRevisions).
    fn is_revision_of(&self, revision: ObjectId, set: ObjectId) -> bool {
        self.is(revision, "apps", "ControllerRevision")
            && self.is(set, "apps", "StatefulSet")
            && self.end.stays_terminating(set)
    }

    /// Whether nothing can be created in an object's Namespace, or of its kind: that or its CRD is being deleted, and
    /// nothing makes it again.
    pub(crate) fn has_lost_its_place(&self, object: ObjectId) -> bool {
        let certainly = |made: Recreator| made.recreation == Recreation::Certain;
        self.context
            .above(object)
            .any(|above| self.end.survival(above) == Survival::Removed && !self.recreator(above).is_some_and(certainly))
    }

    /// Who may make an object again that is gone: its controller, or else what applies it.
    pub(crate) fn makers(&self, object: ObjectId) -> Vec<ObjectId> {
        self.controller_of(object).map_or_else(|| self.appliers(object), |controller| vec![controller])
    }

    /// What applies an object that no controller has from a source, and makes it again once it is missing (R9.41).
    fn applied_again(&self, object: ObjectId) -> Option<(ObjectId, Recreation)> {
        if self.end.is_stuck(object) {
            return None;
        }
        let made = self.appliers(object).into_iter().filter_map(|by| Some((by, self.applies(by, object)?)));
        let (by, recreation) = made.min_by_key(|(_, made)| *made == Recreation::Possible)?;
        Some((by, self.end.refuses_another(object).unwrap_or(recreation)))
    }

    /// What may apply an object: what it names, or for a Namespace, what Applications' objects in it name; all Apps of
    /// kapp-controller, if one has deployed it; the Certificates beside a Secret; what Config Sync applies.
    fn appliers(&self, object: ObjectId) -> Vec<ObjectId> {
        let snapshot = self.context.snapshot;
        let of_kind = |group: &str, kind: &str| snapshot.resources.by_group_kind(group, kind);
        let mut found = Vec::new();
        if let Some(applications) = of_kind("argoproj.io", "Application") {
            let content = if self.is(object, "", "Namespace") { self.context.contents(object) } else { &[] };
            let tracked = std::iter::once(&object).chain(content);
            let names: FxHashSet<&str> = tracked
                .flat_map(|object| {
                    let instance = snapshot.label(*object, "app.kubernetes.io/instance").map(application_named);
                    [Some(snapshot.text(self.object(*object).tracked_by)), instance]
                })
                .flatten()
                .collect();
            let is_named = |id: &&ObjectId| names.contains(snapshot.text(self.object(**id).name));
            found.extend(self.context.of_resource(applications).iter().filter(is_named));
        }
        found.extend(self.context.flux_appliers(object).flatten());
        let namespace = self.object(object).namespace;
        if let Some(apps) = of_kind("kappctrl.k14s.io", "App").filter(|_| snapshot.label(object, KAPP).is_some()) {
            found.extend(self.context.of_resource(apps));
        }
        if let Some(certificates) = of_kind("cert-manager.io", "Certificate").filter(|_| self.is(object, "", "Secret"))
        {
            let may_issue = |id: &ObjectId| {
                let facts = snapshot.facts.policy(*id);
                let inventory = facts.map(|facts| facts.inventory.as_ref());
                self.object(*id).namespace == namespace
                    && inventory.is_none_or(|inventory| inventory.is_some_and(|it| self.lists(it, object)))
            };
            found.extend(self.context.of_resource(certificates).iter().copied().filter(may_issue));
        }
        let generated = |key: &str| snapshot.label(object, &format!("generate.kyverno.io/{key}"));
        if let Some(name) = generated("policy-name") {
            let place = generated("policy-namespace").unwrap_or_default();
            let [cluster, namespaced] = PolicyFacts::KYVERNO;
            let (group, kind) = if place.is_empty() { cluster } else { namespaced };
            found.extend(of_kind(group, kind).and_then(|kind| snapshot.look_up_named(kind, place, name).object()));
        }
        let is_synced = snapshot.label(object, "app.kubernetes.io/managed-by") == Some("configmanagement.gke.io");
        for kind in ["RootSync", "RepoSync"].into_iter().filter(|_| is_synced) {
            let (Some(syncs), Some(groups)) = (of_kind("configsync.gke.io", kind), of_kind("kpt.dev", "ResourceGroup"))
            else {
                continue;
            };
            // A ResourceGroup is called as what it is for.
            let syncs = self.context.of_resource(syncs).iter();
            let lasting = syncs.filter(|sync| self.end.survival(**sync) == Survival::Survives);
            found.extend(lasting.filter_map(|sync| {
                snapshot.look_up_named(groups, snapshot.namespace(*sync), snapshot.name(*sync)).object()
            }));
        }
        found
    }

    /// Whether what applies objects makes this one again; `None` if it doesn't.
    fn applies(&self, by: ObjectId, object: ObjectId) -> Option<Recreation> {
        let snapshot = self.context.snapshot;
        let Some(facts) = self.context.fact(by, snapshot.facts.policy(by)) else { return Some(Recreation::Possible) };
        let resource = self.resource(by);
        if PolicyFacts::KYVERNO.contains(&(resource.group.as_str(), resource.kind.as_str())) {
            // As long as what triggered it matches.
            let rule = snapshot.label(object, "generate.kyverno.io/rule-name")?;
            return facts.synchronizes(rule).then_some(Recreation::Possible);
        }
        let inventory = facts.inventory.as_deref().filter(|inventory| facts.heals && !inventory.elsewhere)?;
        let policy = Policy::of_applier(&resource.group, &resource.kind)?;
        let spared = self.object(object).spared;
        let is_made =
            self.is(object, "", "Namespace") && facts.makes_namespace(snapshot.text(self.object(object).name));
        match is_made || self.lists(inventory, object) {
            false => None,
            // One of its annotations may also mean that Flux no longer applies it.
            true if policy == Policy::Kustomization && spared.by(policy) => Some(Recreation::Possible),
            true if let Some(finalizer) = policy.finalizer_of_applier()
                && is_unseen(self.context, by, finalizer) =>
            {
                Some(Recreation::Possible)
            }
            true => Some(Recreation::Certain),
        }
    }

    fn lists(&self, inventory: &Inventory, object: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        let (found, resource) = (self.object(object), self.resource(object));
        let (namespace, name) = (snapshot.text(found.namespace), snapshot.text(found.name));
        if inventory.unlisted {
            return false;
        }
        if inventory.is_by_label() {
            return inventory.is_labelled(|key| snapshot.label(object, key));
        }
        inventory.objects.iter().filter(|listed| !listed.outdated).any(|listed| {
            (listed.group.as_str(), listed.kind.as_str(), listed.name.as_str())
                == (resource.group.as_str(), resource.kind.as_str(), name)
                && (listed.namespace == namespace || !resource.namespaced)
        })
    }

    /// Whether a controller recreates what it controls; `None` if it certainly doesn't.
    fn recreation(&self, object: ObjectId, controller: ObjectId) -> Option<Recreation> {
        let (below, above) = (self.resource(object), self.resource(controller));
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
                if self.end.is_stuck(object) =>
            {
                return None;
            }
            ("", "Pod", "apps", "DaemonSet") if self.end.is_stuck(object) && !self.is_ended(object) => return None,
            ("", "Pod", "apps", "DaemonSet") if self.is_without_node(object) => return None,
            ("", "Pod", "batch", "Job") if self.makes_no_more(object, controller) => return None,
            ("batch", "Job", "batch", "CronJob") if !self.is_scheduled(object, controller) => return None,
            ("", "Pod", "apps", "ReplicaSet" | "StatefulSet" | "DaemonSet")
            | ("", "Pod", "", "ReplicationController") => match self.made_again(object, controller)? {
                // What it adopts may be enough.
                _ if self.end.may_adopt(controller) => Recreation::Possible,
                made => made,
            },
            // The kubelet runs a mirror pod's containers without asking.
            ("", "Pod", "", "Node") => return Some(Recreation::Certain),
            ("apps", "ReplicaSet", "apps", "Deployment")
                if self.end.survival(controller) != Survival::Removed && self.is_paused(controller) =>
            {
                let grows = self.sibling_grows(object, controller).then_some(Recreation::Certain)?;
                return Some(self.without_manager(controller).unwrap_or(grows));
            }
            ("apps", "ReplicaSet", "apps", "Deployment") => match self.is_current(object, controller) {
                Some(true) => Recreation::Certain,
                Some(false) => return None,
                None => Recreation::Possible,
            },
            ("discovery.k8s.io", "EndpointSlice", "", "Service") if self.selects_nothing(controller) => return None,
            ("discovery.k8s.io", "EndpointSlice", "", "Service" | "Endpoints") if self.is_managed(object) => {
                Recreation::Certain
            }
            _ => Recreation::Possible,
        };
        let refused = [
            self.end.refuses_another(object),
            self.lacks_required(object, controller),
            self.without_manager(controller),
            (self.is_refused_beside(object, controller)
                || self.is_older_than_the_rules(object)
                || self.may_be_off(controller))
            .then_some(Recreation::Possible),
        ];
        let refused = refused.into_iter().flatten();
        Recreation::worst(refused).or(Some(recreation))
    }

    /// What comes of what a controller of Kubernetes makes while no controller manager runs.
    fn without_manager(&self, controller: ObjectId) -> Option<Recreation> {
        let resource = self.resource(controller);
        let is_its = match (resource.group.as_str(), resource.kind.as_str()) {
            ("apps", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet") | ("batch", "CronJob") => true,
            ("", "ReplicationController" | "Service" | "Endpoints") => true,
            ("batch", "Job") => {
                self.context.snapshot.facts.job(controller).is_none_or(|facts| facts.managed_by.is_none())
            }
            _ => false,
        };
        (is_its && self.end.is_manager_away()).then_some(Recreation::Refused(Refusal::ManagerAway))
    }

    /// Whether the controller of this kind doesn't act on another object of it, where it should have by now.
    fn may_be_off(&self, controller: ObjectId) -> bool {
        self.context.unattended().contains_key(&self.object(controller).resource)
    }

    /// Whether something doesn't exist, or goes, that the pods of a controller name: the API server creates no such pod
    /// (kubernetes/kubernetes plugin/pkg/admission/serviceaccount, priority and runtimeclass).
    fn lacks_required(&self, pod: ObjectId, controller: ObjectId) -> Option<Recreation> {
        let snapshot = self.context.snapshot;
        let facts = snapshot.facts.workload(controller).filter(|_| self.is(pod, "", "Pod"))?;
        let lacked = facts.requires.iter().filter(|required| required.is_admitted()).filter_map(|required| {
            let at = self.context.place_of(required, pod)?;
            match self.context.look_up(at) {
                Presence::Present(found) => match self.end.survival(found) {
                    Survival::Survives => None,
                    // A finalizer keeps it, or something makes it again.
                    Survival::Removed if self.object(found).finalizers.is_empty() && self.makers(found).is_empty() => {
                        Some(Recreation::Refused(Refusal::Missing(at)))
                    }
                    Survival::Removed | Survival::MayBeRemoved => Some(Recreation::Possible),
                },
                Presence::Absent => Some(Recreation::Refused(Refusal::Missing(at))),
                Presence::Unknown => None,
            }
        });
        Recreation::worst(lacked)
    }

    /// Whether its namespace allows too little: more than a ResourceQuota allows is used of what such an object needs,
    /// because it was lowered; how much of that the delete sets free is not counted. Or a LimitRange allows less than
    /// the pods of its controller ask for. Either may also have come after a pod, which nothing has checked then.
    fn is_refused_beside(&self, object: ObjectId, controller: ObjectId) -> bool {
        let (snapshot, namespace) = (self.context.snapshot, self.object(object).namespace);
        let is_pod = self.is(object, "", "Pod");
        let above = snapshot.facts.workload(controller).filter(|_| is_pod);
        let asked = above.and_then(|facts| facts.asks.as_deref());
        let kinds = [Some("ResourceQuota"), is_pod.then_some("LimitRange")].into_iter().flatten();
        let kinds = kinds.filter_map(|kind| snapshot.resources.by_group_kind("", kind));
        let all = kinds.flat_map(|kind| self.context.of_resource(kind));
        let mut is_refused = above.is_some_and(|facts| facts.fails_to_create);
        let stays = |id: ObjectId| self.end.survival(id) == Survival::Survives;
        for id in all.filter(|id| self.object(**id).namespace == namespace && stays(**id)) {
            match self.context.fact(*id, snapshot.facts.get(*id)) {
                Some(Fact::Quota(facts)) => {
                    let demands = is_pod && facts.demands && snapshot.is_younger(*id, object);
                    is_refused |= demands || facts.limits(self.resource(object));
                }
                Some(Fact::LimitRange(facts)) => {
                    let refuses = asked.is_some_and(|asked| facts.refuses(asked));
                    is_refused |= refuses || snapshot.is_younger(*id, object);
                }
                Some(_) | None => {}
            }
        }
        is_refused
    }

    /// Whether a pod's namespace enforces a security of pods since a time when the pod existed: nothing has checked it
    /// (k8s.io/pod-security-admission admission/admission.go: ValidatePod judges what is created).
    fn is_older_than_the_rules(&self, pod: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        let Some(namespace) = self.context.namespace_named(self.object(pod).namespace) else { return false };
        let level = snapshot.label(namespace, NamespaceFacts::ENFORCED);
        if !self.is(pod, "", "Pod") || level.is_none_or(|level| level == "privileged") {
            return false;
        }
        let facts = self.context.fact(namespace, snapshot.facts.namespace(namespace));
        facts.is_some_and(|facts| facts.enforced_since > self.object(pod).created.get())
    }

    /// Whether a controller says how many pods it wants.
    fn has_replicas(&self, controller: ObjectId) -> bool {
        let resource = self.resource(controller);
        matches!(
            (resource.group.as_str(), resource.kind.as_str()),
            ("apps", "ReplicaSet" | "StatefulSet" | "DaemonSet") | ("", "ReplicationController")
        )
    }

    /// Whether a CronJob may have made a Job: it calls them after itself and the minute, or once the second
    /// (kubernetes/kubernetes pkg/controller/cronjob/utils.go: getJobName). It makes none that somebody else has made.
    fn is_scheduled(&self, job: ObjectId, cron_job: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        let number = snapshot.name(job).strip_prefix(snapshot.name(cron_job)).and_then(|rest| rest.strip_prefix('-'));
        number.is_some_and(|number| number.len() >= 8 && number.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Whether a Job has finished, is suspended, or fails because its pod is deleted, or that pod's index does.
    fn makes_no_more(&self, pod: ObjectId, job: ObjectId) -> bool {
        self.context.snapshot.facts.job(job).is_some_and(|facts| {
            let fails = !facts.judges_failures && (facts.failures_left == Some(0) || facts.tries_indexes_once)
                || facts.fails_with_node && self.is_without_node(pod);
            facts.finished || facts.suspended || fails && facts.managed_by.is_none()
        })
    }

    /// Whether a controller makes a pod again: it may have more than it wants.
    pub(crate) fn made_again(&self, pod: ObjectId, controller: ObjectId) -> Option<Recreation> {
        const MADE: Option<Recreation> = Some(Recreation::Certain);
        let context = self.context;
        let snapshot = context.snapshot;
        // Without a number, it makes all that are missing.
        let Some(facts) = snapshot.facts.workload(controller) else { return MADE };
        let Some(wanted) = facts.wanted else { return MADE };
        if self.is(controller, "apps", "DaemonSet") {
            let of_its_node = if facts.misscheduled { Recreation::Possible } else { Recreation::Certain };
            return Some(of_its_node).filter(|_| wanted > 0);
        }
        if self.is(controller, "apps", "StatefulSet") {
            let ordinal = self.ordinal(pod)?;
            let place = ordinal.checked_sub(facts.first_ordinal)?;
            let waits = !facts.parallel && self.first_unready(controller).is_some_and(|unready| unready < ordinal)
                // Nor does it make a pod whose claim is being deleted (stateful_pod_control.go).
                || context.claims_of_pod(pod).any(|claim| self.is_held(claim));
            let made = if waits { Recreation::Possible } else { Recreation::Certain };
            return Some(made).filter(|_| (0..wanted).contains(&place));
        }
        // A Deployment scales its ReplicaSets.
        let above = self.controller_of(controller).and_then(|above| snapshot.facts.workload(above));
        if above.is_some_and(|facts| facts.wanted == Some(0)) {
            return None;
        }
        let count = || {
            let (mut left, mut going) = (0, 0);
            for other in context.graph.dependents(controller.into()).iter().copied() {
                let counts = context.built_in.pods == Some(self.object(other).resource)
                    && self.controller_of(other) == Some(controller)
                    && !self.object(other).terminating()
                    && !self.finished(other);
                let survives = self.end.survival(other) == Survival::Survives;
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

    fn ordinal(&self, pod: ObjectId) -> Option<i64> {
        self.context.snapshot.name(pod).rsplit_once('-')?.1.parse().ok()
    }

    /// The first ordinal of a StatefulSet whose pod stays and isn't ready, or isn't known to be: before that is ready,
    /// no pod after it is made (kubernetes/kubernetes pkg/controller/statefulset/stateful_set_control.go:
    /// processReplica).
    fn first_unready(&self, set: ObjectId) -> Option<i64> {
        let find = || {
            let context = self.context;
            let pods = context.graph.dependents(set.into()).iter().copied();
            let pods = pods.filter(|pod| context.built_in.pods == Some(self.object(*pod).resource));
            let is_unready = |pod: &ObjectId| match self.end.survival(*pod) {
                Survival::Survives => {
                    !context.fact(*pod, context.snapshot.facts.pod(*pod)).is_some_and(PodFacts::is_ready)
                }
                Survival::Removed | Survival::MayBeRemoved => self.is_held(*pod),
            };
            pods.filter(is_unready).filter_map(|pod| self.ordinal(pod)).min()
        };
        *self.unready.borrow_mut().entry(set).or_insert_with(find)
    }

    /// Whether an object stays Terminating: at the end of the delete, or because of a finalizer that it had before.
    fn is_held(&self, object: ObjectId) -> bool {
        let (snapshot, found) = (self.context.snapshot, self.object(object));
        let mut finalizers = found.finalizers.iter().map(|finalizer| snapshot.text(*finalizer));
        let is_others = |finalizer| !is_removed_by_controller_manager(finalizer);
        self.end.stays_terminating(object) || found.terminating() && finalizers.any(is_others)
    }

    /// Whether the Node of a pod is deleted, or doesn't exist.
    fn is_without_node(&self, pod: ObjectId) -> bool {
        let context = self.context;
        let snapshot = context.snapshot;
        let Some(facts) = self.context.fact(pod, snapshot.facts.pod(pod)) else { return false };
        let (Some(node), Some(resource)) = (&facts.node, context.built_in.nodes) else { return false };
        match snapshot.look_up_named(resource, "", node) {
            Presence::Present(node) => self.end.survival(node) == Survival::Removed,
            Presence::Absent => true,
            Presence::Unknown => false,
        }
    }

    /// Whether a kubelet ends a pod that something else holds: a DaemonSet counts a Terminating pod as its pod on that
    /// Node until it has ended, and then no more.
    fn is_ended(&self, pod: ObjectId) -> bool {
        let has_node = self.context.snapshot.facts.pod(pod).is_some_and(|facts| facts.node.is_some());
        has_node && !self.end.awaits_kubelet(pod)
    }

    fn finished(&self, pod: ObjectId) -> bool {
        self.context.snapshot.facts.has_finished(pod)
    }

    /// Whether a ReplicaSet is its Deployment's current one. Old ones are kept for rollbacks and not recreated. Their
    /// revisions say so (kubernetes/kubernetes pkg/controller/deployment/sync.go:getNewReplicaSet). Without these,
    /// certain only if it is the youngest and alone has pods.
    fn is_current(&self, object: ObjectId, deployment: ObjectId) -> Option<bool> {
        let context = self.context;
        let revision = |id: ObjectId| {
            let facts = context.snapshot.facts.workload(id);
            if facts.is_none() && self.end.survival(deployment) != Survival::Removed {
                self.context.lacks(|needs| needs.facts.insert(id));
            }
            facts?.revision
        };
        if let (Some(own), Some(current)) = (revision(object), revision(deployment)) {
            return Some(own == current);
        }
        let is_set = |id: &ObjectId| self.object(*id).resource == self.object(object).resource;
        let mut others = context.graph.dependents(deployment.into()).iter().filter(|id| **id != object && is_set(id));
        let has_pods = |id: ObjectId| !context.graph.dependents(id.into()).is_empty();
        let own = self.object(object).created;
        let is_older_without_pods = |id: &ObjectId| !has_pods(*id) && own.is_some() && self.object(*id).created < own;
        // An only ReplicaSet needs no pods to be the current one.
        others.by_ref().all(|id| is_older_without_pods(id) && has_pods(object)).then_some(true)
    }

    /// Whether this is a paused Deployment. It creates no ReplicaSet, and scales those that it has (R9.23).
    pub(crate) fn is_paused(&self, controller: ObjectId) -> bool {
        if !self.is(controller, "apps", "Deployment") {
            return false;
        }
        let facts = self.context.fact(controller, self.context.snapshot.facts.workload(controller));
        facts.is_some_and(|facts| facts.paused)
    }

    /// Whether a paused Deployment scales another ReplicaSet up for one that is removed: the newest, or the only one
    /// that has pods.
    fn sibling_grows(&self, removed: ObjectId, deployment: ObjectId) -> bool {
        let siblings = self.context.graph.dependents(deployment.into()).iter();
        let is_set = |id: &&ObjectId| self.object(**id).resource == self.object(removed).resource;
        siblings.filter(is_set).any(|id| *id != removed && self.end.survival(*id) == Survival::Survives)
    }

    /// Whether a Service that stays has no selector: others make its EndpointSlices.
    fn selects_nothing(&self, service: ObjectId) -> bool {
        let facts = self.context.snapshot.facts.service(service);
        if facts.is_none() && self.end.survival(service) != Survival::Removed {
            self.context.lacks(|needs| needs.facts.insert(service));
        }
        facts.is_some_and(|facts| !facts.selects)
    }

    /// Whether Kubernetes' own controllers manage this EndpointSlice.
    fn is_managed(&self, slice: ObjectId) -> bool {
        let by = self.context.snapshot.label(slice, MANAGER_OF_SLICES);
        by == Some("endpointslice-controller.k8s.io") || by == Some(MIRRORS_ENDPOINTS)
    }
}
