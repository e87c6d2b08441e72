//! What objects name and are of less use without (R9.50).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RBAC, values::list};

/// The group of the Gateway API.
const GATEWAY: &str = "gateway.networking.k8s.io";

/// What an object names that it is of less use without, by its name; after its namespace and a slash, if that is
/// another (R9.50). The first three are looked for when a pod is created (R9.44).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Required {
    ServiceAccount(String),
    PriorityClass(String),
    RuntimeClass(String),
    /// Without it, the kubelet starts no container.
    Secret(String),
    /// Without it, the kubelet starts no container.
    ConfigMap(String),
    /// The Secret with the password of a registry.
    PullSecret(String),
    /// The Secret with which a volume is attached, mounted or grown.
    VolumeSecret(String),
    /// The Secret with a certificate.
    Certificate(String),
    /// The Service that requests go to.
    Backend(String),
    /// The Service that gives names to the pods of a StatefulSet.
    PodNames(String),
    IngressClass(String),
    GatewayClass(String),
    Gateway(String),
    /// Of a claim without a volume, or of those to come.
    StorageClass(String),
    CsiDriver(String),
    Role(String),
    ClusterRole(String),
}

impl Required {
    /// All groups and kinds: at first, of what pods name.
    pub(crate) const KINDS: [(&str, &str); 13] = [
        ("", "ServiceAccount"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("node.k8s.io", "RuntimeClass"),
        ("", "Secret"),
        ("", "ConfigMap"),
        ("", "Service"),
        ("networking.k8s.io", "IngressClass"),
        (GATEWAY, "GatewayClass"),
        (GATEWAY, "Gateway"),
        ("storage.k8s.io", "StorageClass"),
        ("storage.k8s.io", "CSIDriver"),
        (RBAC, "Role"),
        (RBAC, "ClusterRole"),
    ];

    /// The groups and kinds of what pods name.
    pub(crate) fn of_pods() -> &'static [(&'static str, &'static str)] {
        &Required::KINDS[..5]
    }

    /// The Secrets and ConfigMaps that the spec of pods names, apart from optional ones, in order.
    pub(super) fn read_pods(spec: Option<&Value>) -> Vec<Required> {
        let mut named = Vec::new();
        let mut open: Vec<&Value> = spec.into_iter().collect();
        while let Some(value) = open.pop() {
            open.extend(value.as_array().into_iter().flatten());
            for (key, value) in value.as_object().into_iter().flatten() {
                let Some(of) = Required::of_key(key) else {
                    open.push(value);
                    continue;
                };
                for value in value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice) {
                    let name = value.get("secretName").or(value.get("name")).and_then(Value::as_str);
                    named.extend(name.filter(|_| value["optional"] != true).map(|name| of(name.to_owned())));
                }
            }
        }
        Required::in_order(named)
    }

    /// What a key of the spec of pods names.
    pub(super) fn of_key(key: &str) -> Option<fn(String) -> Required> {
        Some(match key {
            "secret" | "secretRef" | "secretKeyRef" | "nodePublishSecretRef" | "azureFile" => Required::Secret,
            "configMap" | "configMapRef" | "configMapKeyRef" => Required::ConfigMap,
            "imagePullSecrets" => Required::PullSecret,
            _ => return None,
        })
    }

    /// What a pod names, each once. In every pod are those that a controller keeps in every namespace
    /// (`K/pkg/controller/certificates/rootcacertpublisher`, openshift/service-ca-operator).
    pub fn in_order(mut named: Vec<Required>) -> Vec<Required> {
        named.retain(|named| !matches!(named.parts()[2], "" | "kube-root-ca.crt" | "openshift-service-ca.crt"));
        named.sort_unstable();
        named.dedup();
        named
    }

    /// Whether the API server looks for it when a pod is created.
    pub(crate) fn is_admitted(&self) -> bool {
        matches!(self, Required::ServiceAccount(_) | Required::PriorityClass(_) | Required::RuntimeClass(_))
    }

    /// Its group, kind and name.
    pub(crate) fn parts(&self) -> [&str; 3] {
        let (place, name) = match self {
            Required::ServiceAccount(name) => (0, name),
            Required::PriorityClass(name) => (1, name),
            Required::RuntimeClass(name) => (2, name),
            Required::Secret(name)
            | Required::PullSecret(name)
            | Required::VolumeSecret(name)
            | Required::Certificate(name) => (3, name),
            Required::ConfigMap(name) => (4, name),
            Required::Backend(name) | Required::PodNames(name) => (5, name),
            Required::IngressClass(name) => (6, name),
            Required::GatewayClass(name) => (7, name),
            Required::Gateway(name) => (8, name),
            Required::StorageClass(name) => (9, name),
            Required::CsiDriver(name) => (10, name),
            Required::Role(name) => (11, name),
            Required::ClusterRole(name) => (12, name),
        };
        let (group, kind) = Required::KINDS[place];
        [group, kind, name]
    }

    /// What leads requests to Services, by group and kind: of these, only files have whole objects.
    pub(crate) const ROUTES: [(&str, &str); 8] = [
        ("networking.k8s.io", "Ingress"),
        (GATEWAY, "Gateway"),
        (GATEWAY, "HTTPRoute"),
        (GATEWAY, "GRPCRoute"),
        (GATEWAY, "TLSRoute"),
        (GATEWAY, "TCPRoute"),
        (GATEWAY, "UDPRoute"),
        ("route.openshift.io", "Route"),
    ];

    /// What one of these names in its spec.
    pub(crate) fn read_route(group: &str, kind: &str, object: &Value) -> Vec<Required> {
        if !Required::ROUTES.contains(&(group, kind)) {
            return Vec::new();
        }
        let mut found = Vec::new();
        let spec = object.get("spec").unwrap_or(&Value::Null);
        let mut add = |of: fn(String) -> Required, name: &Value, namespace: &Value| {
            let Some(name) = name.as_str().filter(|name| !name.is_empty()) else { return };
            let place = namespace.as_str().map(|namespace| format!("{namespace}/")).unwrap_or_default();
            let named = of(format!("{place}{name}"));
            found.extend((!found.contains(&named)).then_some(named));
        };
        let here = &Value::Null;
        let rules = || list(spec.get("rules"));
        let is_a = |named: &Value, kind: &str| named.get("kind").is_none_or(|it| it == kind);
        add(Required::IngressClass, &spec["ingressClassName"], here);
        add(Required::GatewayClass, &spec["gatewayClassName"], here);
        list(spec.get("tls")).for_each(|tls| add(Required::Certificate, &tls["secretName"], here));
        let paths = rules().flat_map(|rule| list(rule.pointer("/http/paths"))).map(|path| &path["backend"]);
        for backend in paths.chain([&spec["defaultBackend"]]) {
            add(Required::Backend, &backend["service"]["name"], here);
        }
        let certificates = list(spec.get("listeners")).flat_map(|it| list(it.pointer("/tls/certificateRefs")));
        for named in certificates.filter(|named| is_a(named, "Secret")) {
            add(Required::Certificate, &named["name"], &named["namespace"]);
        }
        let to = list(spec.get("alternateBackends")).chain([&spec["to"]]);
        for named in rules().flat_map(|rule| list(rule.get("backendRefs"))).chain(to).filter(|it| is_a(it, "Service")) {
            add(Required::Backend, &named["name"], &named["namespace"]);
        }
        for named in list(spec.get("parentRefs")).filter(|named| is_a(named, "Gateway")) {
            add(Required::Gateway, &named["name"], &named["namespace"]);
        }
        found
    }
}
