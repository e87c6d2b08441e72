//! Custom kinds of the shared cluster, and the shop of the examples.

use serde::Deserialize as _;
use serde_json::Value;

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
