//! A world of whole objects, with controllers beside the collector.

use std::time::Duration;

use serde_json::Value;

use super::World;
use crate::harness::{Cluster, Listed};

/// The objects of these kinds.
pub struct Objects<'c> {
    pub cluster: &'c Cluster,
    pub kinds: Vec<Listed>,
    /// Passes when those who act have seen what was written before.
    pub fence: &'c (dyn Fn() + Sync),
}

impl World for Objects<'_> {
    type Seen = Vec<Value>;

    /// Without the fields that change all the time, and with what only their content says: whose an IPAddress or a
    /// volume is.
    fn look(&self) -> Vec<Value> {
        let mut objects = self.cluster.objects_of(&self.kinds);
        let lists = [
            ("/apis/networking.k8s.io/v1/ipaddresses", "/spec/parentRef/namespace"),
            ("/api/v1/persistentvolumes", "/spec/claimRef/namespace"),
        ];
        for (of, list) in lists.map(|(path, of)| (of, self.cluster.get(path).unwrap_or_default())) {
            for whose in list["items"].as_array().into_iter().flatten() {
                let uid = &whose["metadata"]["uid"];
                if let (Some(namespace), Some(object)) =
                    (whose.pointer(of), objects.iter_mut().find(|object| object["metadata"]["uid"] == *uid))
                {
                    object["of"] = namespace.clone();
                }
            }
        }
        for metadata in objects.iter_mut().filter_map(|object| object["metadata"].as_object_mut()) {
            for field in ["managedFields", "resourceVersion", "generation", "annotations", "labels"] {
                metadata.remove(field);
            }
        }
        objects
    }

    fn settle(&self) {
        self.cluster.all_settled();
    }

    fn fence(&self) {
        (self.fence)();
        self.cluster.all_settled();
        self.cluster.namespaces_are_treated();
        self.cluster.definitions_are_treated();
    }

    fn longest_pause(&self) -> Duration {
        self.cluster.longest_pause()
    }
}
