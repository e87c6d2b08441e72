//! What living controllers do with objects that a plan removes or frees: recreate, adopt or remove them (§9.1, §9.2,
//! §9.7). A controller that is deleted itself does nothing any more.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{Coordinate, Object, ObjectId, Presence, Reference, Resource, Resources, ServerVersion, Symbol},
    plan::outcome::{Afterwards, Outcome, OutcomeKind, Plan},
    simulate::{
        Adopter, Adoptions, Cause, Liveness, ObstacleKind, Operation, Refusal, State, controllers,
        liveness::of_lease,
        obstacles::{BoundPolicy, Called, Lack, Reach, WebhookCall},
        recreators::{Ending, Recreation, Recreator, Recreators, Survival},
    },
};

use super::SideEffects;

/// The reactions to each outcome, in plan order.
pub(super) fn afterwards(side_effects: &mut SideEffects<'_, '_>, plan: &Plan) -> Vec<Vec<Afterwards>> {
    let end = PlanEnd {
        side_effects,
        staying: {
            let staying = plan.outcomes.iter().filter(|outcome| outcome.state.is_some());
            staying.map(|outcome| (outcome.object, outcome)).collect()
        },
        adoptions: &plan.adoptions,
        is_manager_away: !plan.request.mended && side_effects.context.why_manager_away().is_some(),
        unreachable: {
            let kinds = plan.obstacles.iter().map(|obstacle| obstacle.kind);
            kinds.filter(|kind| matches!(kind, ObstacleKind::WebhookUnreachable { .. })).collect()
        },
    };
    let controllers = Controllers {
        side_effects,
        end: &end,
        recreators: Recreators::new(side_effects.context, &end),
        adopters: RefCell::default(),
    };
    plan.outcomes.iter().map(|outcome| controllers.after(outcome)).collect()
}

/// What is left once a plan is carried out.
struct PlanEnd<'b, 's, 'a> {
    side_effects: &'b SideEffects<'s, 'a>,
    /// Who adopts what is freed.
    adoptions: &'b Adoptions,
    is_manager_away: bool,
    /// Objects that stay terminating.
    staying: FxHashMap<ObjectId, &'b Outcome>,
    /// The webhooks that can't be called once the delete is through.
    unreachable: FxHashSet<ObstacleKind>,
}

impl Ending for PlanEnd<'_, '_, '_> {
    fn survival(&self, object: ObjectId) -> Survival {
        self.side_effects.survival(object)
    }

    fn is_stuck(&self, object: ObjectId) -> bool {
        self.staying.get(&object).is_some_and(|outcome| outcome.state == Some(State::Stuck))
    }

    fn stays_terminating(&self, object: ObjectId) -> bool {
        self.staying.contains_key(&object)
    }

    fn awaits_kubelet(&self, pod: ObjectId) -> bool {
        self.staying.get(&pod).is_some_and(|outcome| outcome.held_by.iter().any(|holder| holder.is_kubelet()))
    }

    fn refuses_another(&self, object: ObjectId) -> Option<Recreation> {
        let context = self.side_effects.context;
        let admission = &context.obstacles.as_ref()?.admission;
        let resource = context.snapshot.object(object).resource;
        let survives = |object: ObjectId| self.survival(object) == Survival::Survives;
        let is_gone = |object: ObjectId| self.survival(object) == Survival::Removed;
        let refused = |called: Called, is_certain: bool, refusal: Refusal| match called {
            Called::Yes if is_certain => Some(Recreation::Refused(refusal)),
            Called::Yes | Called::Perhaps => Some(Recreation::Possible),
            Called::No => None,
        };
        let hooks = admission.by_rules(context.snapshot, resource, Operation::Create).iter();
        let by_hooks = hooks.map(|place| &admission.hooks[*place as usize]).filter_map(|hook| {
            let WebhookCall { configuration, place, webhook } = hook.call;
            let place = place as u32;
            let called = hook.call.called_for(context, object);
            if !webhook.required || called == Called::No || is_gone(configuration) {
                return None;
            }
            let reach = hook.reach(context);
            let lack = match reach {
                Reach::Unreachable(lack) => *lack,
                _ if !self.unreachable.contains(&ObstacleKind::WebhookUnreachable { configuration, place }) => {
                    return None;
                }
                Reach::Served { service, .. } if is_gone(*service) => Lack::Service,
                _ => Lack::Endpoint,
            };
            refused(called, survives(configuration), Refusal::Webhook { configuration, place, lack })
        });
        let by_policies = admission.policies.iter().filter_map(|bound| {
            let BoundPolicy { policy, binding, .. } = *bound;
            let called = bound.judges(context, object, Operation::Create);
            if called == Called::No || is_gone(policy) || is_gone(binding) {
                return None;
            }
            let Some(refuses) = bound.refuses(context, object, |id| !is_gone(id)) else {
                // Nothing shows that it would let such an object pass that was there before.
                let is_younger = [policy, binding].into_iter().any(|id| context.snapshot.is_younger(id, object));
                return (is_younger && !bound.mutates).then_some(Recreation::Possible);
            };
            let lacks_parameters = refuses.lacks_parameters();
            refused(
                called,
                survives(policy) && survives(binding),
                Refusal::Policy { policy, binding, lacks_parameters },
            )
        });
        Recreation::worst(by_hooks.chain(by_policies))
    }

    fn is_manager_away(&self) -> bool {
        self.is_manager_away
    }

    fn may_adopt(&self, controller: ObjectId) -> bool {
        self.adoptions.may_adopt(controller)
    }
}

struct Controllers<'b, 's, 'a> {
    side_effects: &'b SideEffects<'s, 'a>,
    end: &'b PlanEnd<'b, 's, 'a>,
    recreators: Recreators<'b, 'a, PlanEnd<'b, 's, 'a>>,
    /// Group and kind of the surviving objects of each namespace.
    adopters: RefCell<FxHashMap<Symbol, FxHashSet<(String, String)>>>,
}

impl Controllers<'_, '_, '_> {
    fn after(&self, outcome: &Outcome) -> Vec<Afterwards> {
        let mut reactions = Vec::new();
        if let Some(Cause::ScaledDown(by)) = outcome.because {
            // One that deletes a pod because it has too many makes no other; a new ReplicaSet does, of its own.
            let above = self.maker_of_next_set(outcome.object).filter(|_| self.end.adoptions.is_raced(by));
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
        // Already replaced: the object was terminating before. Only a StatefulSet waits for the name.
        let by_set = || self.controller_of(object).is_some_and(|by| self.is(by, "apps", "StatefulSet"));
        let awaits_name = self.is(object, "", "Pod") && by_set();
        if self.object(object).terminating() && !awaits_name || self.recreators.has_lost_its_place(object) {
            return None;
        }
        let kept = kept_up(self.side_effects, object);
        let set = self.set_of_claim(object);
        let is_made = kept.is_some() || set.is_some() || self.is_endpoints(object);
        if is_made {
            if self.end.is_stuck(object) {
                return None;
            }
            let (by, made) = match (kept, set) {
                (Some(made), _) => (None, made),
                (_, Some((set, pod))) => (Some(set), self.claim_again(object, set, pod)?),
                _ => self.service_of(object).map(|by| (Some(by), Afterwards::Recreated { by }))?,
            };
            // Of what is made here, only what the API server and holders of Leases make needs no controller manager.
            let by_manager = !matches!(made, Afterwards::KeptUp { by } if !is_by_manager(by));
            let away = (by_manager && self.end.is_manager_away).then_some(Recreation::Refused(Refusal::ManagerAway));
            return Some(match (self.end.refuses_another(object).or(away), by) {
                (Some(Recreation::Refused(because)), by) => Afterwards::NotRecreated { by, because },
                (Some(_), Some(by)) => Afterwards::MayBeRecreated { by },
                _ => made,
            });
        }
        if self.recreators.makers(object).is_empty() {
            return None;
        }
        let Recreator { by, recreation } = self.recreators.recreator(object)?;
        // Another ReplicaSet makes its pods.
        if self.is(object, "apps", "ReplicaSet") && self.recreators.is_paused(by) {
            return None;
        }
        // Don't guess below an object that only may be recreated.
        let directly = self.recreators.makers(object).contains(&by);
        if recreation == Recreation::Possible && !directly {
            return None;
        }
        Some(match recreation {
            Recreation::Certain if self.is(by, "", "Node") => Afterwards::MirroredAgain { node: by },
            Recreation::Certain if self.is(object, "", "PersistentVolumeClaim") => Afterwards::RecreatedEmpty { by },
            Recreation::Certain => Afterwards::Recreated { by },
            Recreation::Possible => Afterwards::MayBeRecreated { by },
            Recreation::Refused(because) => Afterwards::NotRecreated { by: Some(by), because },
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
            let facts = self.side_effects.context.fact(set, facts);
            facts.is_none_or(|facts| facts.names.iter().any(|known| known == template)).then_some((set, pod))
        })
    }

    /// A StatefulSet makes missing claims with a pod, and for a pod that is pending (R9.25).
    fn claim_again(&self, claim: ObjectId, set: ObjectId, pod: ObjectId) -> Option<Afterwards> {
        let goes = |object: ObjectId| {
            self.side_effects.survival(object) == Survival::Removed && !self.end.staying.contains_key(&object)
        };
        let is_read =
            self.side_effects.context.snapshot.facts.workload(set).is_some_and(|facts| facts.claims.is_some());
        self.recreators.made_again(pod, set)?;
        let certainly = Some(Recreator { by: set, recreation: Recreation::Certain });
        let is_certain = is_read
            && goes(claim)
            && goes(pod)
            && !self.object(pod).terminating()
            && self.recreators.recreator(pod) == certainly;
        Some(if is_certain { Afterwards::RecreatedEmpty { by: set } } else { Afterwards::MayBeRecreated { by: set } })
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
        context.fact(service, context.snapshot.facts.service(service))?.selects.then_some(service)
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
        match (self.end.adoptions.of(object), self.maker_of_next_set(object)) {
            (Some(Adopter::Known(by)), _) if !self.end.adoptions.is_raced(by) => vec![Afterwards::AdoptedBy { by }],
            // If another one is first, the new ReplicaSet makes other pods.
            (Some(Adopter::Known(_) | Adopter::Unknown), above) => std::iter::once(Afterwards::MayBeAdopted)
                .chain(above.map(|maker| Afterwards::MayBeRecreated { by: maker.by }))
                .collect(),
            // It may be a ReplicaSet of an earlier rollout, which is not made again.
            (_, Some(Recreator { by, recreation: Recreation::Possible })) => {
                vec![Afterwards::MayBeAdopted, Afterwards::MayBeRecreated { by }]
            }
            (_, Some(Recreator { by, .. })) if self.recreators.is_paused(by) => vec![Afterwards::Recreated { by }],
            (_, Some(Recreator { by, .. })) => vec![Afterwards::Adopted { by }],
            (Some(Adopter::None), None) => Vec::new(),
            (None, None) => self.may_be_adopted(object).into_iter().collect(),
        }
    }

    /// The surviving Deployment that creates a ReplicaSet in place of a pod's, or, if it is paused, has another make
    /// other pods.
    fn maker_of_next_set(&self, pod: ObjectId) -> Option<Recreator> {
        let set = self.controller_of(pod).filter(|set| self.is(pod, "", "Pod") && self.is(*set, "apps", "ReplicaSet"));
        let maker = self.recreators.recreator(set?).filter(|maker| self.is(maker.by, "apps", "Deployment"));
        maker.filter(|maker| !matches!(maker.recreation, Recreation::Refused(_)))
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

const API_SERVER: &str = "the API server";
const STARTING_API_SERVER: &str = "the API server, once it starts again,";
const RIGHTS: &str = "the API server, once it starts again (until then, that controller of Kubernetes has no rights),";
/// At most so many Services are read to find the one of an IPAddress.
const MOST_SERVICES: usize = 100;
/// Controllers of the controller manager.
const ROOT_CA_PUBLISHER: &str = "the root CA publisher";
const SERVICE_ACCOUNTS: &str = "the service account controller";

/// The group of FlowSchemas and PriorityLevelConfigurations.
const FLOW_CONTROL: &str = "flowcontrol.apiserver.k8s.io";

/// FlowSchemas (apiserver/pkg/apis/flowcontrol/bootstrap/default.go).
const FLOW_SCHEMAS: [&str; 11] = [
    "catch-all",
    "exempt",
    "global-default",
    "kube-controller-manager",
    "kube-scheduler",
    "kube-system-service-accounts",
    "probes",
    "service-accounts",
    "system-leader-election",
    "system-node-high",
    "system-nodes",
];

/// The FlowSchemas that servers before 1.34 make, too.
const OLD_FLOW_SCHEMAS: [&str; 2] = ["endpoint-controller", "workload-leader-election"];
const WITHOUT_OLD_FLOW_SCHEMAS: u32 = 34;

/// PriorityLevelConfigurations, from the same file.
const PRIORITY_LEVELS: [&str; 8] = [
    "catch-all",
    "exempt",
    "global-default",
    "leader-election",
    "node-high",
    "system",
    "workload-high",
    "workload-low",
];

/// Who makes an object again, if somebody does, whoever its owner is.
pub(super) fn kept_up(side_effects: &SideEffects<'_, '_>, object: ObjectId) -> Option<Afterwards> {
    let context = side_effects.context;
    let snapshot = context.snapshot;
    let found = snapshot.object(object);
    let resource = snapshot.resources.get(found.resource);
    let (namespace, name) = (snapshot.text(found.namespace), snapshot.text(found.name));
    let stays = |id: &ObjectId| side_effects.survival(*id) == Survival::Survives;
    let label = |key: &str| snapshot.label(object, key);
    let by = match (resource.group.as_str(), resource.kind.as_str()) {
        // k8s.io/kube-aggregator pkg/controllers/autoregister/autoregister_controller.go: checkAPIService
        ("apiregistration.k8s.io", "APIService") => match label("kube-aggregator.kubernetes.io/automanaged")? {
            "onstart" => STARTING_API_SERVER,
            _ => context.managed_apis().behind(object).iter().any(stays).then_some(API_SERVER)?,
        },
        // k8s.io/client-go tools/leaderelection/leaderelection.go: tryAcquireOrRenew;
        // k8s.io/component-helpers apimachinery/lease/controller.go: ensureLease, which needs the owner, a Node.
        ("coordination.k8s.io", "Lease") => {
            let is_alive = matches!(of_lease(context, object, context.time, ""), Liveness::Alive(_));
            let owners = found.owners.iter().filter_map(|owner| snapshot.by_uid(owner.uid));
            let all_stay = controllers::of_holder(context, object).into_iter().chain(owners).all(|id| stays(&id));
            let has_holder = || snapshot.facts.lease(object).is_some_and(|facts| facts.holder.is_some());
            (is_alive && all_stay && has_holder()).then_some("its holder, which runs,")?
        }
        // vmware-tanzu/velero pkg/controller/backup_sync_controller.go: what is in the storage of a location.
        ("velero.io", "Backup") => {
            label("velero.io/storage-location")?;
            let deployments = snapshot.resources.by_group_kind("apps", "Deployment")?;
            let velero = snapshot.look_up_named(deployments, namespace, "velero").object().filter(stays)?;
            return Some(Afterwards::MayBeRecreated { by: velero });
        }
        // operator-framework/operator-lifecycle-manager pkg/controller/operators/olm/operatorgroup.go:
        // ensureCSVsInNamespaces
        ("operators.coreos.com", "ClusterServiceVersion") => {
            let original = snapshot.look_up_named(found.resource, label("olm.copiedFrom")?, name).object();
            return Some(Afterwards::Recreated { by: original.filter(stays)? });
        }
        // pkg/registry/core/service/ipallocator/controller/repairip.go:syncService
        ("networking.k8s.io", "IPAddress") => {
            let services = context.of_resource(context.built_in.services);
            let has_it = |id: &&ObjectId| {
                let facts = snapshot.facts.service(**id);
                facts.is_some_and(|facts| facts.cluster_ips.iter().any(|address| address == name))
            };
            let of = services.iter().find(has_it);
            // An address goes with its Service, mostly. Which that is, only the Services say.
            let unread = services.iter().filter(|id| snapshot.facts.service(**id).is_none());
            if of.is_none() && unread.clone().count() <= MOST_SERVICES {
                context.lacks(|needs| needs.facts.extend(unread));
            }
            of.filter(|service| stays(service)).map(|_| API_SERVER)?
        }
        _ => match kept_up_by(&snapshot.resources, resource, namespace, name) {
            Some(by) => by,
            None => return applied_by_version(side_effects, object),
        },
    };
    Some(Afterwards::KeptUp { by })
}

/// The ClusterVersion that owns an object: the operator of OpenShift's version applies what a release has again and
/// again, unless its overrides leave it alone (openshift/cluster-version-operator lib/resourceapply, pkg/cvo).
fn applied_by_version(side_effects: &SideEffects<'_, '_>, object: ObjectId) -> Option<Afterwards> {
    let snapshot = side_effects.context.snapshot;
    let mut owners = snapshot.object(object).owners.iter().filter_map(|owner| snapshot.by_uid(owner.uid));
    let by = owners.find(|owner| {
        let resource = snapshot.resource(*owner);
        (resource.group.as_str(), resource.kind.as_str()) == ("config.openshift.io", "ClusterVersion")
    })?;
    (side_effects.survival(by) == Survival::Survives).then_some(Afterwards::MayBeRecreated { by })
}

/// Whether the controller manager does what this part of Kubernetes does.
pub(super) fn is_by_manager(by: &str) -> bool {
    [ROOT_CA_PUBLISHER, SERVICE_ACCOUNTS].contains(&by)
}

/// What of Kubernetes makes an object of this name again, of one of these resources; `None` if nothing does.
/// `namespace` is empty for cluster scope.
fn kept_up_by(resources: &Resources, resource: &Resource, namespace: &str, name: &str) -> Option<&'static str> {
    let is_old = |server: &ServerVersion| server.is_before(WITHOUT_OLD_FLOW_SCHEMAS);
    match (resource.group.as_str(), resource.kind.as_str(), namespace, name) {
        // pkg/controller/certificates/rootcacertpublisher
        ("", "ConfigMap", _, "kube-root-ca.crt") => Some(ROOT_CA_PUBLISHER),
        // pkg/controller/serviceaccount/serviceaccounts_controller.go
        ("", "ServiceAccount", _, "default") => Some(SERVICE_ACCOUNTS),
        // pkg/controlplane/controller/systemnamespaces: every minute. No DELETE reaches the other system namespaces.
        ("", "Namespace", "", "kube-node-lease") => Some(API_SERVER),
        // pkg/controlplane/controller/kubernetesservice/controller.go: UpdateKubernetesService, every 10 seconds
        ("", "Service", "default", "kubernetes") => Some(API_SERVER),
        // pkg/controlplane/reconcilers/lease.go:doReconcile, every 10 seconds
        ("", "Endpoints", "default", "kubernetes") => Some(API_SERVER),
        ("discovery.k8s.io", "EndpointSlice", "default", "kubernetes") => Some(API_SERVER),
        // pkg/registry/flowcontrol/rest/storage_flowcontrol.go: ensure, every minute
        (FLOW_CONTROL, "FlowSchema", "", name) if FLOW_SCHEMAS.contains(&name) => Some(API_SERVER),
        (FLOW_CONTROL, "FlowSchema", "", name) if OLD_FLOW_SCHEMAS.contains(&name) => {
            resources.server().is_some_and(is_old).then_some(API_SERVER)
        }
        // plugin/pkg/auth/authorizer/rbac/bootstrappolicy/controller_policy.go; pkg/registry/rbac/rest/storage_rbac.go
        ("rbac.authorization.k8s.io", "ClusterRole" | "ClusterRoleBinding", "", name)
            if name.starts_with("system:controller:") =>
        {
            Some(RIGHTS)
        }
        (FLOW_CONTROL, "PriorityLevelConfiguration", "", name) if PRIORITY_LEVELS.contains(&name) => Some(API_SERVER),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_again_differs_by_version() {
        let schema = Resource { group: FLOW_CONTROL.to_owned(), kind: "FlowSchema".to_owned(), ..Resource::default() };
        for (server, is_kept) in [("v1.33.13", true), ("v1.34.0", false), ("", false)] {
            let resources = Resources::default().of_server(ServerVersion::read(server, "", ""));
            let kept = |name: &str| kept_up_by(&resources, &schema, "", name).is_some();
            assert_eq!((kept("endpoint-controller"), kept("probes")), (is_kept, true), "{server}");
        }
    }
}
