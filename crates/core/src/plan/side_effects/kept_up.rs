//! Objects that somebody makes again whenever they are missing, whoever owned them.

use crate::{
    model::{ObjectId, Resource, Resources, ServerVersion},
    plan::reaction::Afterwards,
    simulate::{Liveness, controllers, liveness::of_lease, recreators::Survival},
};

use super::SideEffects;

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
