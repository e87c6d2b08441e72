//! Lists every object on the server, to compare with predictions.

use http::{Request, header};
use serde_json::{Value, json};

use super::{api::Api, cluster::Cluster, objects::group_version_path};

const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// A listable kind, in one of its versions.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The path of the list across all namespaces.
    pub path: String,
    /// The parts of a list's path before and after the namespace; only for namespaced kinds.
    namespaced_path: Option<[String; 2]>,
    api_version: String,
    pub(super) kind: String,
}

impl Listed {
    /// The kind of its objects.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The list's path for a namespace; for cluster-scoped kinds, the whole list's path.
    pub fn path_in(&self, namespace: &str) -> String {
        let Some([base, plural]) = &self.namespaced_path else { return self.path.clone() };
        format!("{base}/namespaces/{namespace}/{plural}")
    }

    /// Whether an object is of this kind, in this version.
    pub fn is_of(&self, object: &Value) -> bool {
        object["apiVersion"] == self.api_version.as_str() && object["kind"] == self.kind.as_str()
    }
}

impl Cluster {
    /// The metadata of all objects of these kinds.
    #[track_caller]
    pub fn objects_of(&self, kinds: &[Listed]) -> Vec<Value> {
        let mut found = Vec::new();
        for kind in kinds {
            let answer = ask(&self.api, &kind.path, METADATA);
            // The kind may be gone since discovery.
            if answer.status == 404 {
                continue;
            }
            assert!(answer.is_success(), "GET {}: {} {}", kind.path, answer.status, answer.text());
            let list = answer.json();
            for item in list["items"].as_array().into_iter().flatten() {
                found.push(json!({"apiVersion": kind.api_version, "kind": kind.kind, "metadata": item["metadata"]}));
            }
        }
        found
    }

    /// Every kind that can be listed and deleted, in the version that discovery names first; without events, which
    /// change all the time.
    #[track_caller]
    pub fn listed(&self) -> Vec<Listed> {
        let mut listed: Vec<Listed> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for root in ["/api", "/apis"] {
            let document = ask(&self.api, root, DISCOVERY).json();
            for group in document["items"].as_array().into_iter().flatten() {
                let name = group["metadata"]["name"].as_str().unwrap_or_default();
                for version in group["versions"].as_array().into_iter().flatten() {
                    let version_name = version["version"].as_str().unwrap_or_default();
                    let api_version =
                        if name.is_empty() { version_name.to_owned() } else { format!("{name}/{version_name}") };
                    for resource in version["resources"].as_array().into_iter().flatten() {
                        let plural = resource["resource"].as_str().unwrap_or_default();
                        let has =
                            |verb: &str| resource["verbs"].as_array().is_some_and(|verbs| verbs.contains(&json!(verb)));
                        if plural == "events"
                            || !has("list")
                            || !has("delete")
                            || !seen.insert((name.to_owned(), plural.to_owned()))
                        {
                            continue;
                        }
                        let base = group_version_path(&api_version);
                        let namespaced = resource["scope"] == "Namespaced";
                        listed.push(Listed {
                            path: format!("{base}/{plural}"),
                            namespaced_path: namespaced.then(|| [base, plural.to_owned()]),
                            kind: resource["responseKind"]["kind"].as_str().unwrap_or_default().to_owned(),
                            api_version: api_version.clone(),
                        });
                    }
                }
            }
        }
        listed
    }
}

#[track_caller]
fn ask(api: &Api, path: &str, accept: &str) -> super::api::Answer {
    let request = Request::get(path).header(header::ACCEPT, accept).body(Vec::new()).expect("a path makes a request");
    api.send(request).unwrap_or_else(|error| panic!("GET {path}: {error}"))
}
