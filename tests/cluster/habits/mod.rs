//! What users of kubectl expect, beside the real kubectl on a real API server.

mod columns;
mod flags;
mod requests;
mod urls;
mod verbosity;
mod warnings;

use std::sync::LazyLock;

use serde_json::Value;

use crate::harness::{Alone, Cluster, Options};

/// A kind whose only version is deprecated. Its API server warns of it in every answer.
const GADGETS: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.habits.test
spec:
  group: habits.test
  scope: Namespaced
  names: {kind: Gadget, singular: gadget, plural: gadgets}
  versions:
  - name: v1
    served: true
    storage: true
    deprecated: true
    deprecationWarning: "gadgets are \"old\": use widgets, ☂"
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
"#;

/// A cluster without controllers, with a kind that is deprecated.
fn world() -> &'static Cluster {
    static WORLD: LazyLock<Alone> = LazyLock::new(|| {
        let cluster = Alone::start(&Options::default());
        cluster.apply_yaml(GADGETS);
        cluster
    });
    &WORLD
}

/// An object of the deprecated kind.
fn gadget(namespace: &str, name: &str) -> Value {
    object!("habits.test/v1 Gadget", {"name": name, "namespace": namespace, "spec": {"size": 1}})
}
