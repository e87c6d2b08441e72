//! Writes archives of objects, removes objects, and compares trees ignoring uids.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use gc_cluster::archive::{ArchiveWriter, FORMAT, Header};
use http::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Alone, Cluster, Ran};

pub use crate::harness::text;

/// A CRD with a status subresource.
pub const STAGES: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: stages.restore.test
spec:
  group: restore.test
  scope: Namespaced
  names: {kind: Stage, singular: stage, plural: stages}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
";

/// A cluster with an API server but no controllers.
pub fn quiet() -> &'static Cluster {
    static QUIET: LazyLock<Alone> = LazyLock::new(|| {
        let cluster = Alone::with(&[]);
        cluster.apply_yaml(STAGES);
        cluster
    });
    &QUIET
}

/// Archives in a temporary folder.
pub struct Archives(TempDir);

impl Archives {
    pub fn new() -> Self {
        Archives(tempfile::tempdir().expect("a temporary folder"))
    }

    /// The path of an archive with this name.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes an archive of these objects.
    #[track_caller]
    pub fn write(&self, name: &str, objects: &[Value]) -> PathBuf {
        self.write_with(name, objects, Header::default())
    }

    /// The same, with more in its header.
    #[track_caller]
    pub fn write_with(&self, name: &str, objects: &[Value], header: Header) -> PathBuf {
        let path = self.path(&format!("{name}.yaml"));
        let mut writer = ArchiveWriter::create(&path).expect("an archive can be begun");
        for object in objects {
            writer.add(object.clone()).expect("an object can be archived");
        }
        let header = Header { format: FORMAT, time: "2026-01-31T08:00:00Z".to_owned(), ..header };
        writer.save(&header).expect("an archive can be saved");
        path
    }
}

/// An object that existed once. Its uid is derived from its name.
pub fn archived(api_version: &str, kind: &str, namespace: &str, name: &str, more: &Value) -> Value {
    let uid = format!("{}-{namespace}-{name}", kind.to_lowercase());
    let mut metadata =
        json!({"name": name, "uid": uid, "resourceVersion": "7", "creationTimestamp": "2026-01-31T08:00:00Z"});
    if !namespace.is_empty() {
        metadata["namespace"] = json!(namespace);
    }
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
    merge(&mut object, more);
    object
}

/// The same with owners: each reference blocks the owner's foreground deletion, and the first owner is the controller.
pub fn owned(mut object: Value, owners: &[&Value]) -> Value {
    let reference = |(index, owner): (usize, &&Value)| {
        json!({"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
               "uid": owner["metadata"]["uid"], "controller": index == 0, "blockOwnerDeletion": true})
    };
    object["metadata"]["ownerReferences"] = owners.iter().enumerate().map(reference).collect();
    object
}

pub fn merge(into: &mut Value, more: &Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            more.iter().for_each(|(key, value)| merge(into.entry(key.clone()).or_insert(Value::Null), value));
        }
        (into, more) => *into = more.clone(),
    }
}

/// Restores without asking, with JSON output.
#[track_caller]
pub fn restore(cluster: &Cluster, archive: &Path, more: &[&str]) -> Ran {
    let archive = archive.to_str().expect("a temporary folder has a readable name");
    cluster.gc(&[&["restore", archive, "--yes", "-o", "json"], more].concat())
}

/// The outcome of each object by `Kind/name`.
#[track_caller]
pub fn outcomes(ran: &Ran) -> BTreeMap<String, String> {
    let json = ran.json();
    let objects = json["objects"].as_array().unwrap_or_else(|| panic!("no objects in {json}"));
    objects.iter().map(|it| (short(&it["object"]), it["outcome"].as_str().unwrap_or_default().to_owned())).collect()
}

/// The entry of one object in the output.
#[track_caller]
pub fn describe(ran: &Ran, name: &str) -> Value {
    let json = ran.json();
    let mut objects = json["objects"].as_array().into_iter().flatten();
    objects.find(|it| short(&it["object"]) == name).unwrap_or_else(|| panic!("nothing of {name} in {json}")).clone()
}

fn short(object: &Value) -> String {
    format!("{}/{}", object["kind"].as_str().unwrap_or_default(), object["name"].as_str().unwrap_or_default())
}

/// Reads the objects again.
#[track_caller]
pub fn live(cluster: &Cluster, objects: &[Value]) -> Vec<Value> {
    let get = |object: &Value| {
        cluster.get(&cluster.path_of(object)).unwrap_or_else(|| panic!("{} is not there", coordinate(object)))
    };
    objects.iter().map(get).collect()
}

/// Removes objects with their finalizers, the last one first.
#[track_caller]
pub fn remove(cluster: &Cluster, objects: &[Value]) {
    for object in objects.iter().rev() {
        let path = cluster.path_of(object);
        if object["metadata"]["finalizers"].is_array() {
            cluster.patch(&path, &json!({"metadata": {"finalizers": null}}));
        }
        cluster.delete(&path, Some("Background"), Some(0));
        if object["kind"] == "Namespace" {
            // Do the namespace controller's work.
            let finalized = object!("v1 Namespace", {"name": object["metadata"]["name"], "spec": {}});
            let answer = cluster.ask(&Method::PUT, &format!("{path}/finalize"), Some(("application/json", &finalized)));
            assert!(answer.is_success() || answer.status == 404, "{}", answer.text());
        }
    }
    for object in objects {
        cluster.wait_until("an object to be gone", std::time::Duration::from_secs(30), || {
            cluster.get(&cluster.path_of(object)).is_none()
        });
    }
}

/// Type, namespace and name of an object, in one line.
pub fn coordinate(object: &Value) -> String {
    let metadata = &object["metadata"];
    format!(
        "{} {} {} {}",
        text(&object["apiVersion"]),
        text(&object["kind"]),
        text(&metadata["namespace"]),
        text(&metadata["name"])
    )
}

/// The owner references of each object, with uids replaced by the owner's coordinates.
pub fn tree(objects: &[Value]) -> BTreeMap<String, Vec<Value>> {
    let by_uid: BTreeMap<&str, String> =
        objects.iter().map(|object| (text(&object["metadata"]["uid"]), coordinate(object))).collect();
    let references = |object: &Value| -> Vec<Value> {
        let references = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        let named = references.map(|reference| {
            let mut reference = reference.clone();
            if let Some(owner) = by_uid.get(text(&reference["uid"])) {
                reference["uid"] = json!(owner);
            }
            reference
        });
        named.collect()
    };
    objects.iter().map(|object| (coordinate(object), references(object))).collect()
}
