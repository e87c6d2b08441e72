//! Short ways to create the objects that matter to the collector.

use serde_json::{Value, json};

use super::trial::{Trial, wait_for_items};
use crate::harness::{deployment, owner_reference, uid};

/// The finalizer of an unknown controller that never runs.
pub const HOLD: &str = "acme.io/hold";

/// An object about to be created.
#[must_use]
pub struct Draft<'t> {
    trial: &'t Trial<'t>,
    object: Value,
}

impl Trial<'_> {
    /// A custom resource in the trial's namespace.
    pub fn widget(&self, name: &str) -> Draft<'_> {
        self.draft("gc.test/v1", "Widget", name, Some(&self.namespace))
    }

    /// A built-in kind in the trial's namespace.
    pub fn config_map(&self, name: &str) -> Draft<'_> {
        self.draft("v1", "ConfigMap", name, Some(&self.namespace))
    }

    /// A cluster-scoped custom resource; see [`Trial::global`] for its real name.
    pub fn rack(&self, name: &str) -> Draft<'_> {
        self.draft("gc.test/v1", "Rack", &self.global(name), None)
    }

    /// Another built-in kind.
    pub fn secret(&self, name: &str) -> Draft<'_> {
        self.draft("v1", "Secret", name, Some(&self.namespace))
    }

    /// A pod that no node runs: it goes as soon as it is deleted.
    pub fn pod(&self, name: &str) -> Draft<'_> {
        self.draft("v1", "Pod", name, Some(&self.namespace)).spec(json!({"containers": containers()}))
    }

    /// Creates a Deployment `web`, and waits for its pods, which no node runs.
    #[track_caller]
    pub fn deployment(&self, replicas: usize) -> Value {
        let made = self.cluster.create(deployment(&self.namespace, "web", replicas as i64));
        wait_for_items(self.cluster, &format!("/api/v1/namespaces/{}/pods", self.namespace), replicas);
        made
    }

    /// A pod on this node.
    pub fn pod_on(&self, name: &str, node: &str) -> Draft<'_> {
        self.pod(name).with("nodeName", json!(node))
    }

    /// A claim that its pods protect; an admission plugin usually adds that finalizer.
    pub fn claim(&self, name: &str) -> Draft<'_> {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        let claim = self.draft("v1", "PersistentVolumeClaim", name, Some(&self.namespace)).spec(spec);
        claim.finalizer("kubernetes.io/pvc-protection")
    }

    /// An owner that orphans its dependents if the delete has no policy (R1.20). No controller manages it here.
    pub fn replication_controller(&self, name: &str) -> Draft<'_> {
        let template = json!({"metadata": {"labels": {"app": name}}, "spec": {"containers": containers()}});
        let spec = json!({"selector": {"app": name}, "template": template});
        self.draft("v1", "ReplicationController", name, Some(&self.namespace)).spec(spec)
    }

    /// Any kind; cluster-scoped without a namespace.
    pub fn draft(&self, api_version: &str, kind: &str, name: &str, namespace: Option<&str>) -> Draft<'_> {
        let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
        if let Some(namespace) = namespace {
            object["metadata"]["namespace"] = json!(namespace);
        }
        Draft { trial: self, object }
    }

    /// Adds references to an existing object, for those that can't be set when it is created.
    #[track_caller]
    pub fn add_owners(&self, object: &Value, references: &[Value]) {
        let path = self.cluster.path_of(object);
        let now = self.cluster.get(&path).unwrap_or_else(|| panic!("{path} is gone"));
        let mut owners = now["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        owners.extend_from_slice(references);
        self.cluster.patch(&path, &json!({"metadata": {"ownerReferences": owners}}));
    }

    /// A reference to an object of an unserved kind; for the collector, all those of a trial are the same object.
    pub fn unserved(&self) -> Value {
        json!({"apiVersion": "gone.test/v1", "kind": "Ghost", "name": "ghost", "uid": format!("ghost-of-{}",
            self.namespace)})
    }

    /// Deletes an object as part of the setup. First waits until the collector knows its dependents: it treats those
    /// that it sees later differently, and it sees different kinds in any order.
    #[track_caller]
    pub fn delete_before(&self, object: &Value, policy: &str) {
        let made = self.made.borrow();
        self.cluster.seen_by_collector(&made.iter().map(String::as_str).collect::<Vec<_>>());
        self.cluster.delete(&self.cluster.path_of(object), Some(policy), None);
    }
}

impl Draft<'_> {
    /// Adds a reference that doesn't block the owner's foreground deletion.
    pub fn owned_by(self, owner: &Value) -> Self {
        self.reference(owner_reference(owner))
    }

    /// A reference that its owner waits for when it is deleted in the foreground.
    pub fn blocking(self, owner: &Value) -> Self {
        self.reference(blocking(owner))
    }

    /// Adds any reference.
    pub fn reference(mut self, reference: Value) -> Self {
        self.add("ownerReferences", reference);
        self
    }

    /// Adds a finalizer.
    pub fn finalizer(mut self, finalizer: &str) -> Self {
        self.add("finalizers", json!(finalizer));
        self
    }

    /// Sets the spec.
    pub fn spec(mut self, spec: Value) -> Self {
        self.object["spec"] = spec;
        self
    }

    /// Sets a field of the spec.
    pub fn with(mut self, field: &str, value: Value) -> Self {
        self.object["spec"][field] = value;
        self
    }

    /// A pod that ends a second after it is deleted.
    pub fn brief(self) -> Self {
        self.with("terminationGracePeriodSeconds", json!(1))
    }

    /// A pod that uses this claim.
    pub fn uses(self, claim: &str) -> Self {
        self.with("volumes", json!([{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]))
    }

    /// Moves it to another namespace.
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.object["metadata"]["namespace"] = json!(namespace);
        self
    }

    /// Creates the object.
    #[track_caller]
    pub fn create(self) -> Value {
        let created = self.trial.cluster.create(&self.object);
        if self.object["metadata"]["ownerReferences"].is_array() {
            self.trial.made.borrow_mut().push(uid(&created).to_owned());
        }
        created
    }

    fn add(&mut self, key: &str, item: Value) {
        match self.object["metadata"][key].as_array_mut() {
            Some(list) => list.push(item),
            None => self.object["metadata"][key] = json!([item]),
        }
    }
}

fn containers() -> Value {
    json!([{"name": "main", "image": "main"}])
}

/// A reference that its owner waits for when it is deleted in the foreground.
#[track_caller]
pub fn blocking(owner: &Value) -> Value {
    let mut reference = owner_reference(owner);
    reference["blockOwnerDeletion"] = json!(true);
    reference
}
