//! Reads and writes objects as JSON or YAML, without URLs.

use std::{borrow::Borrow, collections::HashMap, sync::Mutex, time::Duration};

use http::{Method, Request, header};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{
    api::Answer,
    cluster::Cluster,
    credentials::VIEWER,
    wait::{Retry, poll},
};

/// The API server serves a new kind only a moment after its CRD is written.
const SERVED: Duration = Duration::from_mins(1);

const JSON: &str = "application/json";
/// The media type of discovery in one document.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const DEFINITION: &str = "CustomResourceDefinition";

/// An object of this kind: `object!("v1 Pod", {"name": name, "namespace": namespace, "spec": spec})`. What belongs into
/// its metadata goes there.
macro_rules! object {
    ($kind:literal, $fields:tt) => {
        $crate::harness::object_of($kind, ::serde_json::json!($fields))
    };
}

/// The fields of metadata that tests set.
const METADATA: &str = "annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers \
    generateName generation labels managedFields name namespace ownerReferences resourceVersion uid";

/// See [`object!`].
pub fn object_of(kind: &str, fields: Value) -> Value {
    let (api_version, kind) = kind.split_once(' ').expect("an apiVersion and a kind");
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {}});
    for (key, value) in fields.as_object().into_iter().flatten() {
        let within = if METADATA.split(' ').any(|of_metadata| of_metadata == key) {
            &mut object["metadata"]
        } else {
            &mut object
        };
        within[key] = value.clone();
    }
    object
}

/// The discovery documents of each group version, as far as they were requested.
#[derive(Default)]
pub struct Resources(Mutex<HashMap<String, Vec<Value>>>);

/// The text of a value; empty if it is none.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// An object's uid; panics if it has none.
#[track_caller]
pub fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_else(|| panic!("no uid in {object}"))
}

/// An object's resourceVersion; panics if it has none.
#[track_caller]
pub fn resource_version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap_or_else(|| panic!("no resourceVersion in {object}"))
}

/// An owner reference as written into a dependent; neither controller nor blocking.
#[track_caller]
pub fn owner_reference(owner: &Value) -> Value {
    json!({
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": uid(owner),
    })
}

impl Cluster {
    /// The object or document at a path; `None` if the server answers 404.
    #[track_caller]
    pub fn get(&self, path: &str) -> Option<Value> {
        found(&self.api.ask(&Method::GET, path, None), "GET", path)
    }

    /// Whether the object at a path has a condition with this status.
    #[track_caller]
    pub fn has_condition(&self, path: &str, kind: &str, status: &str) -> bool {
        let object = self.get(path).unwrap_or_else(|| panic!("{path} is gone"));
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|condition| condition["type"] == kind && condition["status"] == status)
    }

    /// The items of a list.
    #[track_caller]
    pub fn list(&self, path: &str) -> Vec<Value> {
        let list = self.get(path).unwrap_or_else(|| panic!("GET {path}: not found"));
        list["items"].as_array().cloned().unwrap_or_else(|| panic!("GET {path}: not a list: {list}"))
    }

    /// Creates an object in its namespace, or in `default`.
    #[track_caller]
    pub fn create(&self, object: impl Borrow<Value>) -> Value {
        let object = object.borrow();
        self.write(&Method::POST, &self.collection_of(object), JSON, object)
    }

    /// Creates or updates all objects in a YAML stream, with server-side apply. What CRDs define is served then.
    #[track_caller]
    pub fn apply_yaml(&self, yaml: &str) -> Vec<Value> {
        let documents = serde_yaml::Deserializer::from_str(yaml).map(|document| {
            Value::deserialize(document).unwrap_or_else(|error| panic!("not an object in YAML: {error}\n{yaml}"))
        });
        let objects: Vec<Value> = documents.filter(|document| !document.is_null()).collect();
        let applied: Vec<Value> = objects.iter().map(|object| self.apply(object)).collect();
        applied.iter().filter(|object| object["kind"] == DEFINITION).for_each(|definition| self.await_kind(definition));
        applied
    }

    /// Waits until discovery names what a CRD defines, and it is served. A command that comes before tells of a gap.
    #[track_caller]
    pub fn await_kind(&self, definition: &Value) {
        let spec = &definition["spec"];
        let (group, plural) = (text_of(&spec["group"]), text_of(&spec["names"]["plural"]));
        let versions = spec["versions"].as_array().into_iter().flatten().filter(|version| version["served"] == true);
        for version in versions.map(|version| text_of(&version["name"])) {
            let served = poll(SERVED, || {
                // A request may come to storage that the API server is just replacing, and wait there for a minute.
                let path = format!("/apis/{group}/{version}/{plural}?limit=1&timeout=5s");
                let list = self.api.get(&path).map_err(Retry::Later)?;
                let named = self.discovered()?;
                match list.is_success() && named.contains(&[group, version, plural].map(str::to_owned)) {
                    true => Ok(()),
                    false => Err(Retry::Later(list.text())),
                }
            });
            served.unwrap_or_else(|error| panic!("{plural}.{group} is not served: {error}"));
        }
    }

    /// Whether discovery names a resource: of an aggregated API, it does some time after that answers.
    #[track_caller]
    pub fn discovers(&self, resource: [&str; 3]) -> bool {
        self.discovered().is_ok_and(|named| named.contains(&resource.map(str::to_owned)))
    }

    /// Group, version and plural of all that discovery names in one document, but for the core group.
    fn discovered(&self) -> Result<Vec<[String; 3]>, Retry> {
        let request = Request::get("/apis").header(header::ACCEPT, AGGREGATED).body(Vec::new()).expect("a request");
        let answer = self.api.send(request).map_err(Retry::Later)?.json();
        let all = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
        let mut named = Vec::new();
        for group in all(&answer, "items") {
            for version in all(&group, "versions") {
                for resource in all(&version, "resources") {
                    let parts = [&group["metadata"]["name"], &version["version"], &resource["resource"]];
                    named.push(parts.map(|part| text_of(part).to_owned()));
                }
            }
        }
        Ok(named)
    }

    #[track_caller]
    fn apply(&self, object: &Value) -> Value {
        let path = format!("{}?fieldManager=test&force=true", self.path_of(object));
        self.write(&Method::PATCH, &path, "application/apply-patch+yaml", object)
    }

    /// Deletes an object; `None` if it doesn't exist. Returns the object if it becomes Terminating, otherwise a Status.
    #[track_caller]
    pub fn delete(&self, path: &str, propagation: Option<&str>, grace: Option<i64>) -> Option<Value> {
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        if let Some(propagation) = propagation {
            options["propagationPolicy"] = json!(propagation);
        }
        if let Some(grace) = grace {
            options["gracePeriodSeconds"] = json!(grace);
        }
        found(&self.ask(&Method::DELETE, path, Some((JSON, &options))), "DELETE", path)
    }

    /// Updates an object with a JSON merge patch.
    #[track_caller]
    pub fn patch(&self, path: &str, changes: &Value) -> Value {
        self.write(&Method::PATCH, path, "application/merge-patch+json", changes)
    }

    /// Sends any request as admin, and returns any response.
    #[track_caller]
    pub fn ask(&self, method: &Method, path: &str, body: Option<(&str, &Value)>) -> Answer {
        if *method != Method::GET {
            self.may_write(path);
        }
        self.api.ask(method, path, body)
    }

    /// Follows a watch; see [`Api::follow`](super::Api::follow).
    pub fn follow(&self, path: &str) -> std::sync::mpsc::Receiver<kube::core::WatchEvent<Value>> {
        self.api.follow(path)
    }

    /// Creates a namespace with a unique name, and returns the name.
    #[track_caller]
    pub fn namespace(&self, prefix: &str) -> String {
        let name = self.unique(prefix);
        self.create(object!("v1 Namespace", {"name": name}));
        name
    }

    /// Lets [`VIEWER`] read everything in a namespace.
    #[track_caller]
    pub fn let_viewer_see(&self, namespace: &str) {
        let metadata = json!({"name": "viewer", "namespace": namespace});
        // Not the cluster role `view`: another controller would have to aggregate it.
        self.create(json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": metadata,
            "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}],
        }));
        self.create(json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "viewer"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": VIEWER}],
        }));
    }

    /// The path of an object with an apiVersion, kind, namespace and name.
    #[track_caller]
    pub fn path_of(&self, object: &Value) -> String {
        let name = object["metadata"]["name"].as_str().unwrap_or_else(|| panic!("no name in {object}"));
        format!("{}/{name}", self.collection_of(object))
    }

    /// The path of the list that contains an object.
    #[track_caller]
    pub fn collection_of(&self, object: &Value) -> String {
        let (Some(version), Some(kind)) = (object["apiVersion"].as_str(), object["kind"].as_str()) else {
            panic!("no apiVersion or kind in {object}");
        };
        let resource = poll(SERVED, || self.resource(version, kind).ok_or_else(|| Retry::Later(String::new())))
            .unwrap_or_else(|_| panic!("the server does not know {version} {kind}"));
        let plural = resource["name"].as_str().unwrap_or_default();
        let base = group_version_path(version);
        if resource["namespaced"] == true {
            let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
            format!("{base}/namespaces/{namespace}/{plural}")
        } else {
            format!("{base}/{plural}")
        }
    }

    /// The discovery entry of a kind. Requests discovery again if the kind isn't known yet.
    fn resource(&self, version: &str, kind: &str) -> Option<Value> {
        let of_kind = |resource: &&Value| {
            resource["kind"] == kind && resource["name"].as_str().is_some_and(|name| !name.contains('/'))
        };
        let mut known = self.resources.0.lock().unwrap();
        if let Some(resource) = known.get(version).and_then(|resources| resources.iter().find(of_kind)) {
            return Some(resource.clone());
        }
        let answer = self.api.get(&group_version_path(version)).ok()?;
        let resources = answer.json()["resources"].as_array().cloned().unwrap_or_default();
        let found = resources.iter().find(of_kind).cloned();
        known.insert(version.to_owned(), resources);
        found
    }

    /// Sends an object; panics if the server refuses it.
    #[track_caller]
    fn write(&self, method: &Method, path: &str, content_type: &str, body: &Value) -> Value {
        let verdict = poll(SERVED, || {
            let answer = self.ask(method, path, Some((content_type, body)));
            match answer.is_success() {
                true => Ok(answer.json()),
                false if not_served_yet(&answer) => Err(Retry::Later(answer.text())),
                false => Err(Retry::Never(format!("{} {}", answer.status, answer.text()))),
            }
        });
        verdict.unwrap_or_else(|error| panic!("{method} {path}: {error}\nsent: {body}"))
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}

/// `/api/v1` or `/apis/GROUP/VERSION`.
pub(super) fn group_version_path(version: &str) -> String {
    if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") }
}

/// Discovery shows a new kind slightly before the API server serves it.
fn not_served_yet(answer: &Answer) -> bool {
    answer.status == 404 && answer.text().contains("could not find the requested resource")
}

#[track_caller]
fn found(answer: &Answer, method: &str, path: &str) -> Option<Value> {
    match answer.status {
        404 => None,
        _ if answer.is_success() => Some(answer.json()),
        status => panic!("{method} {path}: {status} {}", answer.text()),
    }
}
