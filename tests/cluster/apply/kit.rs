//! Applies a file with kubectl, and compares what is there then with what was predicted.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{ADMIN, Cluster, PATIENCE, Ran, Retry, poll};

/// Two namespaces of a cluster, and a folder for files.
pub struct Scene {
    pub cluster: &'static Cluster,
    pub here: String,
    pub there: String,
    folder: TempDir,
}

/// What a run of kubectl does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Apply,
    Create,
}

/// What a prediction says of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicted {
    pub arrival: String,
    pub fate: String,
    pub certain: bool,
    pub message: String,
}

impl Scene {
    /// # Panics
    /// If the namespaces can't be created.
    pub fn new(cluster: &'static Cluster, name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Scene { cluster, here: cluster.namespace(name), there: cluster.namespace(name), folder }
    }

    /// Writes a file; `{here}`, `{there}` and `{uid:NAME}`, the uid of a ConfigMap here, are filled in.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let mut text = text.replace("{here}", &self.here).replace("{there}", &self.there);
        while let Some((before, rest)) = text.split_once("{uid:") {
            let (name, after) = rest.split_once('}').expect("a uid ends");
            let object = self.get(&config_map(&self.here, name)).unwrap_or_else(|| panic!("there is no {name}"));
            text = format!("{before}{}{after}", object["metadata"]["uid"].as_str().expect("a uid"));
        }
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("a file can be written");
        path
    }

    /// Writes objects as YAML documents.
    pub fn file_of(&self, name: &str, objects: &[Value]) -> PathBuf {
        let documents = objects.iter().map(|object| serde_yaml::to_string(object).expect("YAML"));
        self.file(name, &documents.collect::<Vec<_>>().join("---\n"))
    }

    /// Sends a file. It is no failure if some of its objects are refused.
    pub fn send(&self, by: By, file: &Path) -> Ran {
        let verb = if by == By::Apply { "apply" } else { "create" };
        let file = file.to_str().expect("a readable name");
        self.cluster.kubectl_with(&self.kubeconfig(), &[verb, "--validate=false", "-f", file])
    }

    /// The prediction for a file.
    #[track_caller]
    pub fn plan(&self, file: &Path) -> Value {
        let file = file.to_str().expect("a readable name");
        let ran = self.gc(&["plan", "--apply", "-f", file, "-o", "json"]);
        assert!(matches!(ran.code, Some(0 | 2)), "{ran:?}");
        ran.json()
    }

    /// The mended file, in a file.
    #[track_caller]
    pub fn fix(&self, file: &Path, name: &str) -> (PathBuf, Ran) {
        let ran = self.gc(&["plan", "--apply", "--fix", "-f", file.to_str().expect("a readable name")]);
        assert!(matches!(ran.code, Some(0 | 2)), "{ran:?}");
        let path = self.folder.path().join(name);
        fs::write(&path, &ran.stdout).expect("a file can be written");
        (path, ran)
    }

    /// A command whose context's namespace is the first.
    #[track_caller]
    pub fn gc(&self, args: &[&str]) -> Ran {
        self.cluster.gc_with(&self.kubeconfig(), args)
    }

    /// A kubeconfig whose context has the first namespace.
    fn kubeconfig(&self) -> PathBuf {
        let config = self.folder.path().join("kubeconfig");
        if !config.exists() {
            let given = fs::read_to_string(self.cluster.kubeconfig(ADMIN)).expect("a kubeconfig");
            let mut all: Value = serde_yaml::from_str(&given).expect("a kubeconfig in YAML");
            for context in all["contexts"].as_array_mut().expect("contexts") {
                context["context"]["namespace"] = json!(self.here);
            }
            fs::write(&config, serde_yaml::to_string(&all).expect("YAML")).expect("a file can be written");
        }
        config
    }

    pub fn get(&self, object: &Value) -> Option<Value> {
        self.cluster.get(&self.cluster.path_of(object))
    }
}

pub fn config_map(namespace: &str, name: &str) -> Value {
    object!("v1 ConfigMap", {"name": name, "namespace": namespace})
}

/// What a prediction says of its objects, by kind and name.
pub fn predictions(plan: &Value) -> BTreeMap<String, Predicted> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let objects = plan["objects"].as_array().expect("objects");
    let of = |object: &Value| {
        let named = &object["object"];
        let predicted = Predicted {
            arrival: text(&object["arrival"]),
            fate: text(&object["fate"]),
            certain: object["certain"] == true,
            message: text(&object["because"]["message"]),
        };
        (format!("{}/{}/{}", text(&named["kind"]), text(&named["namespace"]), text(&named["name"])), predicted)
    };
    objects.iter().map(of).collect()
}

/// Compares the end of each object of a plan with what the plan says. `before` has the objects as they were before the
/// file was sent.
///
/// # Errors
/// What differs.
pub fn compare(scene: &Scene, plan: &Value, before: &[Option<Value>]) -> Result<(), String> {
    let mut differences = Vec::new();
    for (object, before) in plan["objects"].as_array().expect("objects").iter().zip(before) {
        if object["certain"] != true {
            continue;
        }
        let Some(path) = path(scene, &object["object"]) else { continue };
        let end = || -> Result<(), String> {
            let now = scene.cluster.get(&path);
            let terminating = now.as_ref().is_some_and(|now| now["metadata"]["deletionTimestamp"].is_string());
            let references = |of: &Value| sorted_references(&of["ownerReferences"]);
            let as_predicted = |now: &Value| references(&now["metadata"]) == references(&object["after"]);
            let right = match (object["fate"].as_str().expect("a fate"), &now) {
                ("Collected", now) => now.is_none(),
                ("Terminating", Some(_)) => terminating,
                ("Kept" | "Stripped" | "GoesLater", Some(now)) => !terminating && as_predicted(now),
                ("Refused", now) => {
                    let version = |of: &Value| of["metadata"]["resourceVersion"].clone();
                    now.as_ref().map(version) == before.as_ref().map(version)
                }
                _ => false,
            };
            if right { Ok(()) } else { Err(format!("predicted {object:#}\nis {:#}", now.unwrap_or(Value::Null))) }
        };
        if let Err(difference) = poll(PATIENCE, || end().map_err(Retry::Later)) {
            differences.push(difference);
        }
    }
    for other in plan["others"].as_array().expect("others").iter().filter(|other| other["certain"] == true) {
        let Some(path) = path(scene, &other["object"]) else { continue };
        let gone = poll(PATIENCE, || match (other["outcome"].as_str(), scene.cluster.get(&path)) {
            (Some("Deleted"), Some(now)) => Err(Retry::Later(format!("{now}"))),
            _ => Ok(()),
        });
        if let Err(now) = gone {
            differences.push(format!("predicted {other:#}\nis {now}"));
        }
    }
    if differences.is_empty() { Ok(()) } else { Err(differences.join("\n")) }
}

/// References by uid; the API server may store them in another order.
fn sorted_references(references: &Value) -> Vec<String> {
    let mut all: Vec<String> = references.as_array().into_iter().flatten().map(Value::to_string).collect();
    all.sort();
    all
}

/// The path of an object of a plan; none if the server doesn't serve it, or makes its name.
fn path(scene: &Scene, object: &Value) -> Option<String> {
    let named = object["name"].is_string() && object["apiVersion"] != "nowhere.test/v1";
    let mut whole = json!({"apiVersion": object["apiVersion"], "kind": object["kind"],
        "metadata": {"name": object["name"]}});
    if object["namespace"].is_string() {
        whole["metadata"]["namespace"] = object["namespace"].clone();
    }
    named.then(|| scene.cluster.path_of(&whole))
}

/// The objects of a plan as they are now.
pub fn now(scene: &Scene, plan: &Value) -> Vec<Option<Value>> {
    let objects = plan["objects"].as_array().expect("objects");
    objects.iter().map(|object| path(scene, &object["object"]).and_then(|path| scene.cluster.get(&path))).collect()
}

/// Plans a file, sends it, and compares.
#[track_caller]
pub fn trial(scene: &Scene, by: By, file: &Path) -> Value {
    let plan = scene.plan(file);
    let before = now(scene, &plan);
    let sent = scene.send(by, file);
    scene.cluster.settled();
    if let Err(differences) = compare(scene, &plan, &before) {
        panic!("{differences}\n--- kubectl\n{}{}\n--- file\n{}", sent.stdout, sent.stderr, shown(file));
    }
    plan
}

pub fn shown(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}
