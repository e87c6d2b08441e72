//! Builds graphs on a real cluster: each in its own two namespaces, with its own prefix for every name. A graph that
//! has namespaces or CRDs among its objects is built with these, and its custom kinds are in a group of their own.

use std::{collections::BTreeMap, fmt::Display};

use http::Method;
use serde_json::{Value, json};

use gc_core::server::Propagation::{Background, Foreground, Orphan};

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
    /// The group of its custom kinds.
    group: String,
    /// The grace period of its pods, in seconds.
    grace: i64,
}

/// Which object of a graph has which uid, deleted objects included: `(kind, name)` by uid.
pub type Uids = BTreeMap<String, (&'static str, String)>;

/// The group of custom kinds in the text of graphs.
pub const GROUP: &str = "acme.io";

/// The common prefix of the names in all places of random graphs.
pub const PREFIX: &str = "graph";

impl Place {
    /// The place with this number or name, and its namespaces.
    pub fn prepare(cluster: &Cluster, number: impl Display) -> Self {
        let place = Place { prefix: format!("{PREFIX}{number}-"), group: GROUP.to_owned(), grace: 30 };
        for namespace in [place.namespace(false), place.namespace(true)] {
            cluster.create(object!("v1 Namespace", {"name": namespace}));
        }
        place
    }

    /// A place for graphs with namespaces of their own.
    pub fn empty(prefix: String, group: String) -> Self {
        // The namespace controller waits for half of the grace period before it retries.
        Place { prefix, group, grace: 2 }
    }

    /// The group of its custom kinds.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// A version of a kind, with this place's group.
    pub fn version(&self, api_version: &str) -> String {
        api_version.replace(GROUP, &self.group)
    }

    pub fn namespace(&self, elsewhere: bool) -> String {
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
        let api_version = self.version(kind.api_version);
        let base = if api_version.contains('/') { "/apis" } else { "/api" };
        let namespace =
            if kind.namespaced { format!("/namespaces/{}", self.namespace(elsewhere)) } else { String::new() };
        format!("{base}/{api_version}{namespace}/{}", kind.plural)
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
        for line in graph.lines.iter().filter(|line| line.spec_finalizer.is_some()) {
            finalize(cluster, &self.path_of(line), &["kubernetes", line.spec_finalizer.as_deref().unwrap_or_default()]);
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

    pub fn path_of(&self, line: &Line) -> String {
        self.path(line.kind, line.elsewhere.is_some(), &self.name_of(line.kind.name, &line.name))
    }

    /// The name on the cluster of an object of any kind.
    fn name_of(&self, kind: &str, name: &str) -> String {
        match kind {
            "CustomResourceDefinition" => format!("{}.{}", Kind::named(name).plural, self.group),
            _ => self.real_name(name),
        }
    }

    fn object(&self, line: &Line) -> Value {
        let mut object = json!({
            "apiVersion": self.version(line.kind.api_version),
            "kind": line.kind.name,
            "metadata": {"name": self.name_of(line.kind.name, &line.name), "finalizers": line.finalizers},
        });
        if line.kind.namespaced {
            object["metadata"]["namespace"] = json!(self.namespace(line.elsewhere.is_some()));
        }
        if let Some(spec) = self.spec(line) {
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
            "apiVersion": self.version(reference.bend("version").unwrap_or(Kind::api_version_of(kind))),
            "kind": reference.bend("kind").unwrap_or(kind),
            "name": reference.bend("name").map_or_else(|| self.name_of(kind, name), |bent| self.real_name(bent)),
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

    /// The smallest valid spec, for kinds that require one.
    fn spec(&self, line: &Line) -> Option<Value> {
        let containers = json!([{"name": "main", "image": "none"}]);
        let labels = json!({"app": line.name});
        let template = json!({"metadata": {"labels": labels}, "spec": {"containers": containers}});
        Some(match line.kind.name {
            "Pod" => {
                let mut spec = json!({"containers": containers, "automountServiceAccountToken": false,
                    "terminationGracePeriodSeconds": self.grace});
                if let Some(node) = &line.node {
                    spec["nodeName"] = json!(node);
                }
                spec
            }
            "Deployment" | "ReplicaSet" => json!({"selector": {"matchLabels": labels}, "template": template}),
            "Job" => json!({"template": {"spec": {"containers": containers, "restartPolicy": "Never"}}}),
            "CustomResourceDefinition" => definition(&self.group, &line.name, VERSIONS),
            _ => return None,
        })
    }
}

/// The versions of a custom kind; the first is stored.
pub const VERSIONS: &[&str] = &["v1", "v1alpha1"];

/// What a CRD says of `Shop` or `Region`.
pub fn definition(group: &str, kind: &str, versions: &[&str]) -> Value {
    let (kind, lower) = (Kind::named(kind), kind.to_lowercase());
    let version = |name: &&str| {
        let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        json!({"name": name, "served": true, "storage": *name == VERSIONS[0], "schema": schema})
    };
    json!({
        "group": group,
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "names": {"kind": kind.name, "singular": lower, "plural": kind.plural},
        "versions": versions.iter().map(version).collect::<Vec<_>>(),
    })
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

/// Sets a Namespace's `spec.finalizers` through its subresource `finalize`.
pub fn finalize(cluster: &Cluster, path: &str, finalizers: &[&str]) {
    let Some(mut namespace) = cluster.get(path) else { return };
    namespace["spec"]["finalizers"] = json!(finalizers);
    cluster.ask(&Method::PUT, &format!("{path}/finalize"), Some(("application/json", &namespace)));
}

/// Removes an object, whatever blocks its deletion, while no collector runs.
pub fn remove(cluster: &Cluster, path: &str) {
    cluster.delete(path, Some("Background"), Some(0));
    let free = json!({"metadata": {"finalizers": [], "ownerReferences": []}});
    cluster.ask(&Method::PATCH, path, Some(("application/merge-patch+json", &free)));
}
