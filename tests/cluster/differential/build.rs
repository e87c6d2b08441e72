//! Builds graphs on a real cluster: each in its own two namespaces, with its own prefix for every name.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Value, json};

use kubectl_gc::server::Propagation::{Background, Foreground, Orphan};

use crate::{
    graphs::{
        generate::ELSEWHERE,
        kinds::Kind,
        scene::NAMESPACE,
        text::{Bent, By, Graph, Line},
    },
    harness::{Cluster, uid},
};

/// Where a graph is built, one at a time.
#[derive(Clone, Debug)]
pub struct Place {
    prefix: String,
}

/// Which object of a graph has which uid, deleted objects included: `(kind, name)` by uid.
pub type Uids = BTreeMap<String, (&'static str, String)>;

/// The common prefix of the names in all places.
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
        // The namespaces sort as in the graph's text: the collector's first lists are sorted by namespace.
        format!("{}{}", self.prefix, if elsewhere { ELSEWHERE } else { NAMESPACE })
    }

    /// The prefix of all names in this place.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The name on the cluster of an object in the graph.
    pub fn real_name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The name in the graph of an object on the cluster; `None` if it isn't in this place.
    pub fn name_in_graph<'n>(&self, real_name: &'n str) -> Option<&'n str> {
        real_name.strip_prefix(&self.prefix)
    }

    /// The path of an object.
    pub fn path(&self, kind: &Kind, elsewhere: bool, real_name: &str) -> String {
        format!("{}/{real_name}", self.collection(kind, elsewhere))
    }

    fn collection(&self, kind: &Kind, elsewhere: bool) -> String {
        let base = if kind.api_version.contains('/') { "/apis" } else { "/api" };
        let namespace =
            if kind.namespaced { format!("/namespaces/{}", self.namespace(elsewhere)) } else { String::new() };
        format!("{base}/{}{namespace}/{}", kind.api_version, kind.plural)
    }

    /// Creates the objects of a graph while no collector runs: first the objects, then their owner references, then the
    /// deletions.
    #[track_caller]
    pub fn build(&self, cluster: &Cluster, graph: &Graph) -> Uids {
        let mut uids: BTreeMap<(&str, &str), String> = BTreeMap::new();
        for line in &graph.lines {
            let created = cluster.create(self.object(line));
            uids.insert((line.kind.name, &line.name), uid(&created).to_owned());
        }
        for line in graph.lines.iter().filter(|line| !line.references.is_empty()) {
            let references: Vec<Value> =
                line.references.iter().map(|reference| self.reference(reference, &uids)).collect();
            cluster.patch(&self.path_of(line), &json!({"metadata": {"ownerReferences": references}}));
        }
        for line in graph.lines.iter().filter(|line| line.terminating) {
            let policy = line.by.unwrap_or_else(|| as_it_is(line)).policy();
            cluster.delete(&self.path_of(line), policy.map(|policy| policy.name()), None);
        }
        graph
            .lines
            .iter()
            .map(|line| (uids[&(line.kind.name, line.name.as_str())].clone(), (line.kind.name, line.name.clone())))
            .collect()
    }

    fn path_of(&self, line: &Line) -> String {
        self.path(line.kind, line.elsewhere.is_some(), &self.real_name(&line.name))
    }

    fn object(&self, line: &Line) -> Value {
        let mut object = json!({
            "apiVersion": line.kind.api_version,
            "kind": line.kind.name,
            "metadata": {"name": self.real_name(&line.name), "finalizers": line.finalizers},
        });
        if line.kind.namespaced {
            object["metadata"]["namespace"] = json!(self.namespace(line.elsewhere.is_some()));
        }
        if let Some(spec) = spec(line) {
            object["spec"] = spec;
        }
        object
    }

    fn reference(&self, reference: &Bent, uids: &BTreeMap<(&str, &str), String>) -> Value {
        let (kind, name) = (reference.kind.as_str(), reference.name.as_str());
        let uid = match reference.bend("uid") {
            None => {
                uids.get(&(kind, name)).cloned().unwrap_or_else(|| self.real_name(&format!("absent-{kind}-{name}")))
            }
            Some(bent) => {
                let found = bent.split_once('-').and_then(|key| uids.get(&key));
                found.cloned().unwrap_or_else(|| self.real_name(bent))
            }
        };
        let mut written = json!({
            "apiVersion": reference.bend("version").unwrap_or(Kind::api_version_of(kind)),
            "kind": reference.bend("kind").unwrap_or(kind),
            "name": self.real_name(reference.bend("name").unwrap_or(name)),
            "uid": uid,
        });
        if reference.controller {
            written["controller"] = json!(true);
        }
        if let Some(block) = reference.block {
            written["blockOwnerDeletion"] = json!(block);
        }
        written
    }
}

/// The DELETE that leaves the finalizers that the line shows (§1.3).
fn as_it_is(line: &Line) -> By {
    let has = |finalizer: &str| line.finalizers.iter().any(|known| known == finalizer);
    By::Policy(match () {
        () if has("orphan") => Orphan,
        () if has("foregroundDeletion") => Foreground,
        () => Background,
    })
}

/// The smallest valid spec, for kinds that require one.
fn spec(line: &Line) -> Option<Value> {
    let containers = json!([{"name": "main", "image": "none"}]);
    let labels = json!({"app": line.name});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": containers}});
    Some(match line.kind.name {
        "Pod" => {
            let mut spec = json!({"containers": containers, "automountServiceAccountToken": false});
            if let Some(node) = &line.node {
                spec["nodeName"] = json!(node);
            }
            spec
        }
        "Deployment" | "ReplicaSet" => json!({"selector": {"matchLabels": labels}, "template": template}),
        "Job" => json!({"template": {"spec": {"containers": containers, "restartPolicy": "Never"}}}),
        _ => return None,
    })
}

/// Removes an object, whatever blocks its deletion, while no collector runs.
pub fn remove(cluster: &Cluster, path: &str) {
    let free = json!({"metadata": {"finalizers": [], "ownerReferences": []}});
    cluster.ask(&Method::PATCH, path, Some(("application/merge-patch+json", &free)));
    cluster.delete(path, Some("Background"), Some(0));
}
