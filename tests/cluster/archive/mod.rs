//! Archives of a real cluster: complete, readable by kubectl, and never left half-written.

mod kill;
mod missing;
mod shop;
mod whole;

use std::path::{Path, PathBuf};

use gc_cluster::archive::Archive;
use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{Cluster, Ran};

/// A folder to write to.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The names of its files, including hidden ones.
    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("it is there");
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Archives these targets in a namespace.
#[track_caller]
fn archive(cluster: &Cluster, namespace: &str, args: &[&str], file: &Path) -> Ran {
    let file = file.to_str().expect("a readable name");
    cluster.gc(&[&["archive", "-n", namespace], args, &[file]].concat())
}

/// The objects in an archive, in its order.
#[track_caller]
fn objects(file: &Path) -> Vec<Value> {
    let archive = Archive::open(file).unwrap_or_else(|error| panic!("{error}"));
    let objects = archive.objects().unwrap_or_else(|error| panic!("{error}"));
    let objects: Vec<Value> = objects.map(|object| object.unwrap_or_else(|error| panic!("{error}"))).collect();
    assert_eq!(objects.len(), archive.header().objects);
    objects
}

/// `Kind/name`, in the archive's order.
fn names(objects: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    objects.iter().map(|object| format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]))).collect()
}

/// These names, sorted.
fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

/// Compares an archived object with the object on the API server: it lacks only managedFields and the resourceVersion,
/// which the archive stores next to the object.
#[track_caller]
fn same(archived: &Value, object: &Value) {
    let mut object = object.clone();
    for field in ["managedFields", "resourceVersion"] {
        object["metadata"].as_object_mut().expect("an object has metadata").remove(field);
    }
    assert_eq!(*archived, object);
}
