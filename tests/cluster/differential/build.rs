//! Graphs on a real cluster: each in two namespaces of its own, with a prefix for every name.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Value, json};

use crate::harness::{Cluster, uid};

use super::graph::{Bent, Graph, Kind, Line};

/// Where one graph at a time lives.
#[derive(Clone, Debug)]
pub struct Place {
    prefix: String,
}

/// What the names of all places begin with.
pub const PREFIX: &str = "graph";

impl Place {
    /// The place with this number, and its namespaces.
    pub fn prepare(cluster: &Cluster, number: usize) -> Self {
        let place = Place { prefix: format!("{PREFIX}{number}-") };
        for namespace in [place.namespace(false), place.namespace(true)] {
            cluster.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}));
        }
        place
    }

    fn namespace(&self, elsewhere: bool) -> String {
        format!("{}{}", self.prefix, if elsewhere { "elsewhere" } else { "home" })
    }

    /// What an object of the graph is called on the cluster.
    pub fn real_name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// What an object on the cluster is called in the graph; none if it isn't of this place.
    pub fn name_in_graph<'n>(&self, real_name: &'n str) -> Option<&'n str> {
        real_name.strip_prefix(&self.prefix)
    }

    /// The path of an object.
    pub fn path(&self, kind: &Kind, elsewhere: bool, real_name: &str) -> String {
        format!("{}/{real_name}", self.collection(kind, elsewhere))
    }

    fn collection(&self, kind: &Kind, elsewhere: bool) -> String {
        let base = if kind.api_version.contains('/') { "/apis" } else { "/api" };
        let namespace = if kind.namespaced { format!("/namespaces/{}", self.namespace(elsewhere)) } else { String::new() };
        format!("{base}/{}{namespace}/{}", kind.api_version, kind.plural)
    }

    /// Makes the objects of a graph, while no collector runs: first the objects, then who owns whom, then the deletions.
    #[track_caller]
    pub fn build(&self, cluster: &Cluster, graph: &Graph) {
        let mut uids: BTreeMap<(&str, &str), String> = BTreeMap::new();
        for line in &graph.lines {
            let created = cluster.create(self.object(line));
            uids.insert((line.kind.name, &line.name), uid(&created).to_owned());
        }
        for line in graph.lines.iter().filter(|line| !line.references.is_empty()) {
            let references: Vec<Value> = line.references.iter().map(|reference| self.reference(reference, &uids)).collect();
            cluster.patch(&self.path_of(line), &json!({"metadata": {"ownerReferences": references}}));
        }
        for line in graph.lines.iter().filter(|line| line.terminating) {
            cluster.delete(&self.path_of(line), None, None);
        }
    }

    fn path_of(&self, line: &Line) -> String {
        self.path(line.kind, line.elsewhere, &self.real_name(&line.name))
    }

    fn object(&self, line: &Line) -> Value {
        let mut object = json!({
            "apiVersion": line.kind.api_version,
            "kind": line.kind.name,
            "metadata": {"name": self.real_name(&line.name), "finalizers": line.finalizers},
        });
        if line.kind.namespaced {
            object["metadata"]["namespace"] = json!(self.namespace(line.elsewhere));
        }
        if line.kind.name == "Pod" {
            object["spec"] = json!({"containers": [{"name": "main", "image": "none"}], "automountServiceAccountToken": false});
            if line.scheduled {
                object["spec"]["nodeName"] = json!("n1");
            }
        }
        object
    }

    fn reference(&self, reference: &Bent, uids: &BTreeMap<(&str, &str), String>) -> Value {
        let (kind, name) = (reference.kind.as_str(), reference.name.as_str());
        let api_version = super::graph::KINDS.iter().find(|known| known.name == kind).map_or("v1", |known| known.api_version);
        let uid = match reference.bend("uid") {
            None => uids.get(&(kind, name)).cloned().unwrap_or_else(|| self.real_name(&format!("absent-{kind}-{name}"))),
            Some(bent) => {
                let found = bent.split_once('-').and_then(|key| uids.get(&key));
                found.cloned().unwrap_or_else(|| self.real_name(bent))
            }
        };
        let mut written = json!({
            "apiVersion": reference.bend("version").unwrap_or(api_version),
            "kind": reference.bend("kind").unwrap_or(kind),
            "name": self.real_name(reference.bend("name").unwrap_or(name)),
            "uid": uid,
        });
        if let Some(block) = reference.block {
            written["blockOwnerDeletion"] = json!(block);
        }
        written
    }
}

/// Removes an object whatever holds it, while no collector runs.
pub fn remove(cluster: &Cluster, path: &str) {
    let free = json!({"metadata": {"finalizers": [], "ownerReferences": []}});
    cluster.ask(&Method::PATCH, path, Some(("application/merge-patch+json", &free)));
    cluster.delete(path, Some("Background"), Some(0));
}
