//! Custom resources for graphs: `Shop` in namespaces, served in two versions, and `Region` outside of them.

/// Their CRDs.
pub const DEFINITIONS: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: shops.acme.io
spec:
  group: acme.io
  scope: Namespaced
  names: {kind: Shop, singular: shop, plural: shops}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
  - name: v1alpha1
    served: true
    storage: false
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: regions.acme.io
spec:
  group: acme.io
  scope: Cluster
  names: {kind: Region, singular: region, plural: regions}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
";
