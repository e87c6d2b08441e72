//! Where a graph is built: two namespaces, a prefix for its names, and a group for its kinds.

use serde_json::{Value, json};

use crate::{
    differential::build::{self, GROUP, finalize},
    graphs::kinds::Kind,
    harness::{Cluster, Listed},
};

use super::case::{ABOVE, KINDS};

/// Where a graph is built, and what is there.
#[derive(Clone, Debug)]
pub struct Place(pub build::Place);

impl Place {
    /// The place with this number. Graphs without CRDs of their own share kinds.
    pub fn new(number: usize, own_group: bool) -> Self {
        let prefix = format!("content{number}-");
        let group = if own_group { own_group_of(&prefix) } else { GROUP.to_owned() };
        Place(build::Place::empty(prefix, group))
    }

    /// Whether an object on the cluster is in this place.
    pub fn owns(&self, object: &Value) -> bool {
        let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
        let (prefix, namespaces) = (self.0.prefix(), [false, true].map(|elsewhere| self.0.namespace(elsewhere)));
        match text("namespace") {
            "" => text("name").starts_with(prefix) || text("name").ends_with(&format!(".{}", own_group_of(prefix))),
            namespace => namespaces.iter().any(|own| own == namespace),
        }
    }

    /// Those of these objects that are in this place.
    pub fn own(&self, objects: &[Value]) -> Vec<Value> {
        objects.iter().filter(|object| self.owns(object)).cloned().collect()
    }

    /// Whether this place may contain objects of a kind.
    pub fn lists(&self, kind: &Listed) -> bool {
        let is_own = |known: &str| {
            let version = self.0.version(Kind::api_version_of(known));
            kind.is_of(&json!({"apiVersion": version, "kind": known}))
        };
        // R9.21: the APIServices of its group go with the last CRD.
        let services = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService"});
        kind.is_of(&services) || KINDS.into_iter().chain(ABOVE.map(|(_, kind)| kind)).any(is_own)
    }

    /// The text without the place's prefix and group.
    pub fn without_prefix(&self, text: &str) -> String {
        text.replace(self.0.prefix(), "").replace(self.0.group(), GROUP)
    }
}

fn own_group_of(prefix: &str) -> String {
    format!("{}.{GROUP}", prefix.trim_end_matches('-'))
}

/// Removes an object, whatever blocks its deletion, while no controller runs.
pub fn remove(cluster: &Cluster, object: &Value) {
    let path = cluster.path_of(object);
    build::remove(cluster, &path);
    if object["kind"] == "Namespace" {
        finalize(cluster, &path, &[]);
    }
}
