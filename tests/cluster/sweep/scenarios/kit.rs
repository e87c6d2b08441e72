//! What scenarios need, with the real collector and with a sweep.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{plan::trial::Trial, sweep::seat::Seated};

/// Failed requests are retried after a back-off, and a machine may be busy.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// A finalizer that no controller removes.
pub const HELD: &str = "x.test/y";

impl Seated<'_> {
    /// Waits until the collector or sweep has seen every object of these kinds that exists now.
    ///
    /// A watch reports objects of one kind in order. So once a newly created object whose owner never existed is
    /// collected, everything of its kind that was created before it is known.
    #[track_caller]
    pub fn catches_up(&self, trial: &Trial<'_>, kinds: &[(&str, &str)]) {
        let fences: Vec<Value> = kinds.iter().map(|(version, kind)| self.fence(trial, version, kind)).collect();
        for fence in &fences {
            self.goes(fence);
        }
    }

    #[track_caller]
    fn fence(&self, trial: &Trial<'_>, version: &str, kind: &str) -> Value {
        let name = self.cluster.unique("fence");
        let draft = match kind {
            "Pod" => trial.pod(&name),
            "ReplicationController" => trial.replication_controller(&name),
            _ => trial.draft(version, kind, &name, Some(&trial.namespace)),
        };
        draft.reference(never_was(&name)).create()
    }

    /// Waits until an object is gone.
    #[track_caller]
    pub fn goes(&self, object: &Value) {
        let path = self.cluster.path_of(object);
        self.cluster.wait_until(&format!("{path} to go"), PATIENCE, || self.cluster.get(&path).is_none());
    }

    /// Reads an object again.
    #[track_caller]
    pub fn now(&self, object: &Value) -> Value {
        let path = self.cluster.path_of(object);
        self.cluster.get(&path).unwrap_or_else(|| panic!("{path} is gone"))
    }

    /// Waits until an object meets a condition; it must not be deleted meanwhile.
    #[track_caller]
    pub fn becomes(&self, object: &Value, what: &str, is_so: impl Fn(&Value) -> bool) {
        let path = self.cluster.path_of(object);
        self.cluster.wait_until(&format!("{path} to be {what}"), PATIENCE, || is_so(&self.now(object)));
    }

    /// Removes all finalizers of a terminating object.
    #[track_caller]
    pub fn let_go(&self, object: &Value) {
        self.cluster.patch(&self.cluster.path_of(object), &json!({"metadata": {"finalizers": null}}));
    }

    /// Deletes as kubectl does.
    #[track_caller]
    pub fn delete(&self, object: &Value, policy: &str) -> Option<Value> {
        self.cluster.delete(&self.cluster.path_of(object), Some(policy), None)
    }
}

/// A reference to an owner that never existed.
pub fn never_was(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": format!("never-was-{name}")})
}

pub fn is_terminating(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// The uids of an object's owners.
pub fn owners(object: &Value) -> Vec<&str> {
    let references = object["metadata"]["ownerReferences"].as_array();
    references.into_iter().flatten().filter_map(|reference| reference["uid"].as_str()).collect()
}

pub fn finalizers(object: &Value) -> Vec<&str> {
    object["metadata"]["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
