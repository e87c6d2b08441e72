//! What users of kubectl expect, beside the real kubectl on a real API server.

mod columns;
mod flags;
mod requests;
mod urls;
mod verbosity;
mod warnings;

use std::{
    process::{Command, Stdio},
    sync::LazyLock,
};

use serde_json::Value;

use crate::harness::{ADMIN, Alone, Cluster, Options, Ran};

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

/// Runs kubectl as the admin.
fn kubectl(cluster: &Cluster, args: &[&str]) -> Ran {
    let mut command = Command::new("kubectl");
    let home = cluster.folder().join("kubectl-home");
    command.args(args).env("NO_PROXY", "*").env("KUBECONFIG", cluster.kubeconfig(ADMIN)).env("HOME", home);
    let output = command.stdin(Stdio::null()).output().expect("kubectl is installed");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// An object of the deprecated kind.
fn gadget(namespace: &str, name: &str) -> Value {
    object!("habits.test/v1 Gadget", {"name": name, "namespace": namespace, "spec": {"size": 1}})
}
