//! Custom resources that the shared cluster knows from the start.

/// `Widget` in namespaces and `Rack` outside of them, both of `gc.test/v1`, with any fields.
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
