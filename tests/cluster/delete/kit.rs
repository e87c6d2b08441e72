//! Objects for the tests of `delete`.

use serde_json::{Value, json};

use crate::{
    harness::{Cluster, Terminal, Watched, conforms, shared},
    plan::draft::blocking,
};

/// A namespace with a ConfigMap `root`, and dependents of it named `leaf-0` and so on.
pub struct Family {
    pub cluster: &'static Cluster,
    pub namespace: String,
    pub root: Value,
}

impl Family {
    /// A family with this many dependents.
    #[track_caller]
    pub fn of(prefix: &str, dependents: usize) -> Self {
        let cluster = shared();
        let namespace = cluster.namespace(prefix);
        let root = cluster.create(config_map(&namespace, "root", &[]));
        let family = Family { cluster, namespace, root };
        for number in 0..dependents {
            family.dependent(&format!("leaf-{number}"));
        }
        family
    }

    /// Adds a dependent.
    #[track_caller]
    pub fn dependent(&self, name: &str) -> Value {
        self.cluster.create(config_map(&self.namespace, name, &[&self.root]))
    }

    /// Another dependent, which a finalizer holds.
    pub fn held(&self) -> Value {
        let mut held = config_map(&self.namespace, "held", &[&self.root]);
        held["metadata"]["finalizers"] = json!(["acme.io/hold"]);
        self.cluster.create(held)
    }

    /// Starts a delete on a terminal, and a look at what its watches bring it.
    #[track_caller]
    pub fn delete_on_terminal(&self, more: &[&str]) -> (Terminal, Watched) {
        self.cluster.gc_on_watched_terminal(&self.args(more))
    }

    /// The arguments `delete cm/root` for this namespace, and more.
    pub fn args<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        [&["delete", "cm/root", "-n", &self.namespace], more].concat()
    }

    /// The names of the ConfigMaps in the namespace, sorted, without the one that every namespace has.
    pub fn there(&self) -> Vec<String> {
        let all = self.cluster.list(&format!("/api/v1/namespaces/{}/configmaps", self.namespace));
        let mut names: Vec<String> =
            all.iter().filter_map(|object| object["metadata"]["name"].as_str()).map(str::to_owned).collect();
        names.retain(|name| name != "kube-root-ca.crt");
        names.sort();
        names
    }
}

/// A ConfigMap with these owners, as a blocking dependent of each.
pub fn config_map(namespace: &str, name: &str, owners: &[&Value]) -> Value {
    let references: Vec<Value> = owners.iter().map(|owner| blocking(owner)).collect();
    object!("v1 ConfigMap", {"name": name, "namespace": namespace, "ownerReferences": references, "data": {"of": name}})
}

/// Checks a document against its schema.
#[track_caller]
pub fn checked(document: Value) -> Value {
    conforms("deletion", &document);
    document
}
