//! Objects that Kubernetes makes again whenever they are missing, whoever owned them.

use crate::model::{Resource, Resources, ServerVersion};

const API_SERVER: &str = "the API server";

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

/// Who makes an object of this name again, of a resource of these; `None` if nobody does. `namespace` is empty for
/// cluster scope.
pub(super) fn kept_up_by(
    resources: &Resources,
    resource: &Resource,
    namespace: &str,
    name: &str,
) -> Option<&'static str> {
    let is_old = |server: &ServerVersion| server.is_before(WITHOUT_OLD_FLOW_SCHEMAS);
    match (resource.group.as_str(), resource.kind.as_str(), namespace, name) {
        // pkg/controller/certificates/rootcacertpublisher
        ("", "ConfigMap", _, "kube-root-ca.crt") => Some("the root CA publisher"),
        // pkg/controller/serviceaccount/serviceaccounts_controller.go
        ("", "ServiceAccount", _, "default") => Some("the service account controller"),
        // pkg/controlplane/controller/systemnamespaces: every minute. No DELETE reaches the other system namespaces.
        ("", "Namespace", "", "kube-node-lease") => Some(API_SERVER),
        // pkg/controlplane/controller/kubernetesservice/controller.go: UpdateKubernetesService, every 10 seconds
        ("", "Service", "default", "kubernetes") => Some(API_SERVER),
        // pkg/registry/flowcontrol/rest/storage_flowcontrol.go: ensure, every minute
        (FLOW_CONTROL, "FlowSchema", "", name) if FLOW_SCHEMAS.contains(&name) => Some(API_SERVER),
        (FLOW_CONTROL, "FlowSchema", "", name) if OLD_FLOW_SCHEMAS.contains(&name) => {
            resources.server().is_some_and(is_old).then_some(API_SERVER)
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
