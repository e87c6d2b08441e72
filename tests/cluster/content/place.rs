//! Where a graph is built: two namespaces, a prefix for its names, and a group for its kinds.

use http::Method;
use serde_json::{Value, json};

use crate::harness::{Cluster, Listed, uid};

use super::case::{ABOVE, Case, KINDS, Kind, Node, Owner};

/// The API group of the kinds that all graphs without their own CRDs share.
const SHARED: &str = "content.test";

/// Where a graph is built.
#[derive(Clone, Debug)]
pub struct Place {
    prefix: String,
    group: String,
}

impl Place {
    /// The place with this number.
    pub fn new(number: usize, own_group: bool) -> Self {
        let prefix = format!("content{number}");
        let group = if own_group { format!("{prefix}.{SHARED}") } else { SHARED.to_owned() };
        Place { prefix, group }
    }

    /// A namespace's name.
    pub fn namespace(&self, elsewhere: bool) -> String {
        format!("{}-{}", self.prefix, if elsewhere { "other" } else { "ns" })
    }

    /// Whether an object on the cluster is in this place.
    pub fn owns(&self, object: &Value) -> bool {
        let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
        let namespaces = [self.namespace(false), self.namespace(true)];
        match text("namespace") {
            "" => {
                text("name").starts_with(&format!("{}-", self.prefix))
                    || text("name").ends_with(&format!(".{}", self.own_group()))
            }
            namespace => namespaces.iter().any(|own| own == namespace),
        }
    }

    fn own_group(&self) -> String {
        format!("{}.{SHARED}", self.prefix)
    }

    /// Whether this place may contain objects of a kind.
    pub fn lists(&self, kind: &Listed) -> bool {
        let is_own = |known: &Kind| kind.is_of(&json!({"apiVersion": self.api_version(known), "kind": known.name}));
        // R9.21: the APIServices of its group go with the last CRD.
        let services = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService"});
        kind.is_of(&services) || KINDS.iter().chain(ABOVE.iter().map(|(_, kind)| kind)).any(is_own)
    }

    /// The text without the place's prefix and group.
    pub fn without_prefix(&self, text: &str) -> String {
        text.replace(&format!("{}-", self.prefix), "").replace(&self.group, "acme.io")
    }

    /// An object's name on the cluster.
    fn real_name(&self, node: &Node) -> String {
        match node.kind.plural {
            "customresourcedefinitions" => format!("{}s.{}", node.name.to_lowercase(), self.group),
            _ => format!("{}-{}", self.prefix, node.name),
        }
    }

    fn api_version(&self, kind: &Kind) -> String {
        if kind.api_version.is_empty() { format!("{}/v1", self.group) } else { kind.api_version.to_owned() }
    }

    /// The path of a node of the graph.
    pub fn path(&self, node: &Node) -> String {
        let api_version = self.api_version(node.kind);
        let base = if api_version.contains('/') { "/apis" } else { "/api" };
        let namespace = if node.kind.namespaced {
            format!("/namespaces/{}", self.namespace(node.elsewhere))
        } else {
            String::new()
        };
        format!("{base}/{api_version}{namespace}/{}/{}", node.kind.plural, self.real_name(node))
    }

    /// Creates the graph's namespaces and kinds.
    #[track_caller]
    pub fn prepare(&self, cluster: &Cluster, case: &Case) {
        for node in case.nodes.iter().filter(|node| node.is_definition()) {
            cluster.create(definition(&self.group, &node.name, &node.finalizers));
        }
    }

    /// Creates the objects of a graph while no controller runs: first the objects, then their owner references, then
    /// the deletions.
    #[track_caller]
    pub fn build(&self, cluster: &Cluster, case: &Case) {
        let get = |node: &Node| cluster.get(&self.path(node)).expect("it was just made");
        let make = |node: &Node| if node.is_definition() { get(node) } else { cluster.create(self.object(node)) };
        let uids: Vec<String> = case.nodes.iter().map(|node| uid(&make(node)).to_owned()).collect();
        for node in case.nodes.iter().filter(|node| !node.owners.is_empty()) {
            let references: Vec<Value> = node.owners.iter().map(|owner| self.reference(case, owner, &uids)).collect();
            cluster.patch(&self.path(node), &json!({"metadata": {"ownerReferences": references}}));
        }
        for node in case.nodes.iter().filter(|node| node.spec_finalizer) {
            finalize(cluster, &self.path(node), &["kubernetes", "acme.io/x"]);
        }
        // Namespaces last: a terminating namespace accepts no new objects.
        for node in case.nodes.iter().rev().filter(|node| node.terminating) {
            cluster.delete(&self.path(node), None, None);
        }
    }

    fn object(&self, node: &Node) -> Value {
        let mut object = json!({
            "apiVersion": self.api_version(node.kind),
            "kind": node.kind.name,
            "metadata": {"name": self.real_name(node), "finalizers": node.finalizers},
        });
        if node.kind.namespaced {
            object["metadata"]["namespace"] = json!(self.namespace(node.elsewhere));
        }
        if node.kind.name == "Pod" {
            object["spec"] = json!({
                "containers": [{"name": "main", "image": "none"}],
                "automountServiceAccountToken": false,
                // The namespace controller waits for half of this before it retries.
                "terminationGracePeriodSeconds": 2,
            });
            if node.scheduled {
                object["spec"]["nodeName"] = json!("n1");
            }
        }
        object
    }

    fn reference(&self, case: &Case, owner: &Owner, uids: &[String]) -> Value {
        let node = &case.nodes[owner.node];
        let api_version = self.api_version(node.kind);
        let (mut reference, group) = (
            json!({"apiVersion": api_version, "kind": node.kind.name, "name": self.real_name(node),
                "uid": uids[owner.node]}),
            api_version.rsplit_once('/').map_or(String::new(), |(group, _)| format!("{group}/")),
        );
        match owner.bend {
            Some(("version", version)) => reference["apiVersion"] = json!(format!("{group}{version}")),
            Some((field, value)) => reference[field] = json!(format!("{}-{value}", self.prefix)),
            None => {}
        }
        if let Some(block) = owner.block {
            reference["blockOwnerDeletion"] = json!(block);
        }
        reference
    }
}

/// The CRD of `Shop`, which is namespaced and served in two versions, or of `Region`.
fn definition(group: &str, kind: &str, finalizers: &[&str]) -> Value {
    let lower = kind.to_lowercase();
    let version = |name: &str| {
        let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        json!({"name": name, "served": true, "storage": name == "v1", "schema": schema})
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{lower}s.{group}"), "finalizers": finalizers},
        "spec": {
            "group": group,
            "scope": if kind == "Shop" { "Namespaced" } else { "Cluster" },
            "names": {"kind": kind, "singular": lower, "plural": format!("{lower}s")},
            "versions": [version("v1"), version("v1alpha1")],
        },
    })
}

/// Creates the kinds of graphs that have no CRDs of their own.
#[track_caller]
pub fn define_shared(cluster: &Cluster) {
    for kind in ["Shop", "Region"] {
        cluster.create(definition(SHARED, kind, &[]));
    }
}

/// Sets a Namespace's `spec.finalizers` through its subresource `finalize`.
pub fn finalize(cluster: &Cluster, path: &str, finalizers: &[&str]) {
    let Some(mut namespace) = cluster.get(path) else { return };
    namespace["spec"]["finalizers"] = json!(finalizers);
    cluster.ask(&Method::PUT, &format!("{path}/finalize"), Some(("application/json", &namespace)));
}

/// Removes an object, whatever blocks its deletion, while no controller runs.
pub fn remove(cluster: &Cluster, object: &Value) {
    let path = cluster.path_of(object);
    let free = json!({"metadata": {"finalizers": [], "ownerReferences": []}});
    cluster.delete(&path, Some("Background"), Some(0));
    cluster.ask(&Method::PATCH, &path, Some(("application/merge-patch+json", &free)));
    if object["kind"] == "Namespace" {
        finalize(cluster, &path, &[]);
    }
}
