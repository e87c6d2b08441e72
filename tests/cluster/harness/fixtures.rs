//! Custom kinds of the shared cluster, and the shop of the examples.

use serde::Deserialize as _;
use serde_json::{Value, json};

/// The objects of `examples/shop.yaml`.
pub fn example_shop() -> Vec<Value> {
    let text = include_str!("../../../examples/shop.yaml");
    let objects = serde_yaml::Deserializer::from_str(text)
        .map(|document| Value::deserialize(document).expect("the example is YAML"));
    objects.filter(|object| !object.is_null()).collect()
}

/// CRDs of `Widget` (namespaced) and `Rack` (cluster-scoped) in `gc.test/v1`, which allow any fields.
pub const KINDS: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.gc.test
spec:
  group: gc.test
  scope: Namespaced
  names: {kind: Widget, singular: widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: racks.gc.test
spec:
  group: gc.test
  scope: Cluster
  names: {kind: Rack, singular: rack, plural: racks}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
";

/// The CRD of a namespaced kind that allows any fields, served in these versions; the last one is stored.
pub fn definition_of(group: &str, kind: &str, plural: &str, versions: &[&str]) -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let version =
        |name: &&str| json!({"name": name, "served": true, "storage": Some(name) == versions.last(), "schema": schema});
    object!("apiextensions.k8s.io/v1 CustomResourceDefinition", {
        "name": format!("{plural}.{group}"),
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "singular": kind.to_lowercase(), "plural": plural},
            "versions": versions.iter().map(version).collect::<Vec<_>>(),
        },
    })
}

/// The APIService of version `v1` of a group, behind a Service of this namespace.
pub fn api_service(group: &str, namespace: &str, service: &str) -> Value {
    object!("apiregistration.k8s.io/v1 APIService", {
        "name": format!("v1.{group}"),
        "spec": {
            "group": group,
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": true,
            "service": {"namespace": namespace, "name": service},
        },
    })
}

/// A Deployment of pods that no node runs, with the label `app`.
pub fn deployment(namespace: &str, name: &str, replicas: i64) -> Value {
    let labels = json!({"app": name});
    object!("apps/v1 Deployment", {
        "name": name, "namespace": namespace,
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "main"}]}},
        },
    })
}
