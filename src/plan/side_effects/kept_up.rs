//! Objects that Kubernetes makes again whenever they are missing, whoever owned them.

use crate::model::Resource;

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

/// Who makes an object of this name again; `None` if nobody does. `namespace` is empty for cluster scope.
pub(super) fn kept_up_by(resource: &Resource, namespace: &str, name: &str) -> Option<&'static str> {
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
        (FLOW_CONTROL, "PriorityLevelConfiguration", "", name) if PRIORITY_LEVELS.contains(&name) => Some(API_SERVER),
        _ => None,
    }
}
