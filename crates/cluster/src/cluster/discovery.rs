//! Discovers what a server serves: by aggregated discovery (two documents), or from older servers by one document for
//! each group version.

use futures::StreamExt as _;
use http::StatusCode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    APIGroup, APIGroupList, APIResource, APIResourceList, APIVersions, GroupVersionForDiscovery,
};
use kube::core::discovery::v2::{APIGroupDiscoveryList, APIResourceDiscovery};
use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde_json::Value;

use gc_core::model::{Gap, Resource, Resources, ServerVersion};

use super::{
    Connection, ReadEvent,
    answer::{Answer, Malformed},
    error::{ConnectError, Failure},
    path,
};

/// Requests aggregated discovery, or what the server has instead.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,\
                      application/json";
/// The longest name of a kind, a resource or a verb, in bytes. API servers accept at most 63.
const LONGEST_NAME: usize = 253;
/// The number of group versions to request at once, without aggregated discovery.
const AT_ONCE: usize = 16;

/// The discovery results so far, in the server's order.
#[derive(Debug, Default, PartialEq)]
struct Found {
    resources: Vec<Resource>,
    /// The group versions that were described, also those without a resource: `group/version`.
    described: Vec<String>,
    preferred_versions: Vec<(String, String)>,
    gaps: Vec<Gap>,
}

/// The content of `/api` or `/apis`.
#[derive(Debug, PartialEq)]
enum Entrance {
    /// Aggregated discovery: complete.
    Aggregated(Found),
    /// The groups, each with its versions and the preferred one; their resources have to be requested.
    Groups(Vec<APIGroup>),
}

impl Entrance {
    fn names_nothing(&self) -> bool {
        match self {
            Entrance::Aggregated(found) => found.resources.is_empty() && found.gaps.is_empty(),
            Entrance::Groups(groups) => groups.iter().all(|group| group.versions.is_empty()),
        }
    }
}

impl Connection {
    /// Discovers what the server serves, with a gap for each group version that could not be discovered. The first
    /// time, it asks for the server's version, too.
    ///
    /// # Errors
    /// The server can't be reached, doesn't accept the credentials, or doesn't say what it serves.
    pub async fn discover(&self) -> Result<(Resources, Vec<Gap>), ConnectError> {
        let (core, named, server) = futures::join!(self.enter("/api"), self.enter("/apis"), self.server_version());
        let mut found = Found::default();
        for (path, entrance) in [("/api", core), ("/apis", named)] {
            let entrance = entrance.map_err(|failure| {
                let reason = match failure.status() {
                    Some(StatusCode::NOT_FOUND) => {
                        format!("{path} is not served (404 Not Found); is this a Kubernetes API server?")
                    }
                    _ => failure.in_full(),
                };
                let garbled = || ConnectError::Discovery { endpoint: self.endpoint().clone(), reason };
                self.connect_error(&failure).unwrap_or_else(garbled)
            })?;
            let next = match entrance {
                Entrance::Aggregated(found) => found,
                Entrance::Groups(groups) => self.ask_each(groups).await,
            };
            found.resources.extend(next.resources);
            found.described.extend(next.described);
            found.preferred_versions.extend(next.preferred_versions);
            found.gaps.extend(next.gaps);
        }
        found.gaps.sort();
        if let Some(warning) = server.as_ref().and_then(ServerVersion::warning) {
            self.tell(ReadEvent::Untested(&warning));
        }
        let resources = Resources::new(found.resources, found.preferred_versions).described(found.described);
        Ok((resources.of_server(server), found.gaps))
    }

    async fn enter(&self, entrance: &str) -> Result<Entrance, Failure> {
        let read = read_entrance(&self.get(entrance, ACCEPT).await?)?;
        // Every API server serves the core group and several others: one that says nothing of them isn't ready, or a
        // gateway speaks for it. What it doesn't name would be missing everywhere, without a gap.
        if read.names_nothing() {
            return Err(Failure::Malformed(format!("{entrance} names no API")));
        }
        Ok(read)
    }

    /// Requests the resources of each group version.
    async fn ask_each(&self, groups: Vec<APIGroup>) -> Found {
        let mut found = Found::default();
        let mut wanted = Vec::new();
        for group in groups {
            let preferred = group.preferred_version.filter(|preferred| !preferred.version.is_empty());
            found.preferred_versions.extend(preferred.map(|preferred| (group.name.clone(), preferred.version)));
            wanted.extend(group.versions.into_iter().map(|one| (group.name.clone(), one.version)));
        }
        let mut answers = futures::stream::iter(wanted)
            .map(async |(group, version)| {
                let read = self.ask(&group, &version).await;
                (group, version, read)
            })
            .buffered(AT_ONCE);
        while let Some((group, version, read)) = answers.next().await {
            match read {
                Ok(resources) => {
                    found.resources.extend(resources);
                    found.described.push(group_version(&group, &version));
                }
                Err(failure) => found.gaps.push(gap(&group, &version, failure.to_string())),
            }
        }
        found
    }

    async fn ask(&self, group: &str, version: &str) -> Result<Vec<Resource>, Failure> {
        let url = match group {
            "" => format!("/api/{}", path::encoded(version)),
            group => format!("/apis/{}/{}", path::encoded(group), path::encoded(version)),
        };
        Ok(read_group_version(&self.get(&url, super::request::JSON).await?.body, group, version)?)
    }
}

fn gap(group: &str, version: &str, reason: String) -> Gap {
    Gap { resource: group_version(group, version), namespace: None, reason: reason.into() }
}

fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// Decides by the document's kind: a server that doesn't know the parameters of the content type ignores them.
fn read_entrance(answer: &Answer) -> Result<Entrance, Malformed> {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(default)]
        kind: String,
    }
    let body = answer.body.as_slice();
    match serde_json::from_slice::<Kind>(body)?.kind.as_str() {
        "APIGroupDiscoveryList" => Ok(Entrance::Aggregated(read_aggregated(body)?)),
        "APIGroupList" => Ok(Entrance::Groups(serde_json::from_slice::<APIGroupList>(body)?.groups)),
        "APIVersions" => {
            let of_core = |version: String| GroupVersionForDiscovery { group_version: version.clone(), version };
            let versions: APIVersions = serde_json::from_slice(body)?;
            let versions: Vec<_> = versions.versions.into_iter().map(of_core).collect();
            let preferred_version = versions.first().cloned();
            Ok(Entrance::Groups(vec![APIGroup { preferred_version, versions, ..APIGroup::default() }]))
        }
        other => Err(Malformed(format!("discovery returned {other:?}"))),
    }
}

/// Reads aggregated discovery: `apidiscovery.k8s.io`, `v2` or `v2beta1`, which have the same fields.
fn read_aggregated(body: &[u8]) -> Result<Found, Malformed> {
    let document: APIGroupDiscoveryList = serde_json::from_slice(body)?;
    let mut found = Found::default();
    for group in document.items {
        let name = group.metadata.and_then(|metadata| metadata.name).unwrap_or_default();
        fits([&name].into_iter().chain(group.versions.iter().filter_map(|it| it.version.as_ref())))?;
        let mut preferred = None;
        for described in group.versions {
            let version = described.version.unwrap_or_default();
            if described.freshness.as_deref() == Some("Stale") {
                // As in client-go: a stale version lists at most the resources that it served in the past.
                found.gaps.push(gap(&name, &version, "its API server does not answer (stale discovery)".to_owned()));
                continue;
            }
            let resource = |described: APIResourceDiscovery| Resource {
                group: name.clone(),
                version: version.clone(),
                plural: described.resource.unwrap_or_default(),
                singular: described.singular_resource.unwrap_or_default(),
                kind: described.response_kind.and_then(|it| it.kind).unwrap_or_default(),
                short_names: described.short_names,
                categories: described.categories,
                namespaced: described.scope.as_deref() == Some("Namespaced"),
                verbs: described.verbs,
                has_status: described.subresources.iter().any(|it| it.subresource.as_deref() == Some("status")),
                ..Resource::default()
            };
            match usable(described.resources.into_iter().map(resource).collect()) {
                Ok(resources) => found.resources.extend(resources),
                Err(failure) => {
                    found.gaps.push(gap(&name, &version, Failure::from(failure).to_string()));
                    continue;
                }
            }
            found.described.push(group_version(&name, &version));
            preferred.get_or_insert(version);
        }
        found.preferred_versions.extend(preferred.map(|version| (name, version)));
    }
    Ok(found)
}

/// Reads one group version's resources.
fn read_group_version(body: &[u8], group: &str, version: &str) -> Result<Vec<Resource>, Malformed> {
    let document: Value = serde_json::from_slice(body)?;
    if document["kind"] != "APIResourceList" {
        return Err(Malformed(format!("discovery returned {:?}", document["kind"].as_str().unwrap_or_default())));
    }
    let described = APIResourceList::deserialize(document)?.resources;
    let of_status = |it: &APIResource| it.name.strip_suffix("/status").map(str::to_owned);
    let with_status: FxHashSet<String> = described.iter().filter_map(of_status).collect();
    let resource = |described: APIResource| Resource {
        has_status: with_status.contains(&described.name),
        group: group.to_owned(),
        version: version.to_owned(),
        plural: described.name,
        singular: described.singular_name,
        kind: described.kind,
        short_names: described.short_names.unwrap_or_default(),
        categories: described.categories.unwrap_or_default(),
        namespaced: described.namespaced,
        verbs: described.verbs,
        ..Resource::default()
    };
    usable(described.into_iter().map(resource).collect())
}

/// The resources that are none of another: one with a slash in its name is a subresource, and one without a kind exists
/// only for its subresources.
///
/// # Errors
/// A name that is too long, or that would lead a path elsewhere.
fn usable(mut resources: Vec<Resource>) -> Result<Vec<Resource>, Malformed> {
    for it in &resources {
        fits([&it.plural, &it.singular, &it.kind])?;
        fits(it.short_names.iter().chain(&it.categories).chain(&it.verbs))?;
        if !it.plural.split('/').all(path::is_segment) {
            return Err(Malformed(format!("discovery returned a resource named {:?}", it.plural)));
        }
    }
    resources.retain(|it| !it.plural.contains('/') && !it.kind.is_empty());
    Ok(resources)
}

/// # Errors
/// A name that is longer than any that an API server accepts: tables would show it in each row.
fn fits<'n>(names: impl IntoIterator<Item = &'n String>) -> Result<(), Malformed> {
    let Some(name) = names.into_iter().find(|name| name.len() > LONGEST_NAME) else { return Ok(()) };
    let begin: String = name.chars().take(20).collect();
    Err(Malformed(format!("discovery returned the name {begin:?}… of {} bytes", name.len())))
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashMap,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use super::*;
    use crate::cluster::testing::{Say, json, refuse, serve};

    // An answer of v1.36.3, cut down to a few groups and resources.
    const AGGREGATED: &str = include_str!("testdata/discovery-aggregated.json");
    const LEGACY: &str = include_str!("testdata/discovery-legacy.json");

    fn documents(recorded: &str) -> HashMap<String, String> {
        let documents: HashMap<String, serde_json::Value> = serde_json::from_str(recorded).unwrap();
        documents.into_iter().map(|(path, document)| (path, document.to_string())).collect()
    }

    async fn discover(
        documents: HashMap<String, String>,
        otherwise: fn() -> Say,
    ) -> Result<(Resources, Vec<Gap>), ConnectError> {
        let answer = move |asked: &crate::cluster::testing::RecordedRequest| match documents.get(&asked.url) {
            Some(document) => json(200, document.as_bytes()),
            None => otherwise(),
        };
        serve(answer).await.discover().await
    }

    #[tokio::test]
    async fn both_ways_to_discover_say_the_same() {
        let (aggregated, gaps) = discover(documents(AGGREGATED), || refuse(404)).await.unwrap();
        assert!(gaps.is_empty());
        let (legacy, gaps) = discover(documents(LEGACY), || refuse(404)).await.unwrap();
        assert!(gaps.is_empty());
        // The order differs only within a group version.
        let sorted = |resources: &Resources| {
            let mut all: Vec<Resource> = resources.iter().map(|(_, resource)| resource.clone()).collect();
            all.sort_by_key(|resource| (resource.api_version(), resource.plural.clone()));
            for resource in &mut all {
                resource.verbs.sort();
            }
            all
        };
        assert_eq!(sorted(&aggregated), sorted(&legacy));
        assert_eq!(aggregated.preferred_versions(), legacy.preferred_versions());
        let kinds =
            |resources: &Resources| resources.deletable().map(|(_, resource)| resource.full_name()).collect::<Vec<_>>();
        let mut expected = kinds(&legacy);
        let mut found = kinds(&aggregated);
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    }

    #[tokio::test]
    async fn the_version_is_asked_once() {
        let documents = documents(AGGREGATED);
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let connection = serve(move |request: &crate::cluster::testing::RecordedRequest| match &*request.url {
            "/version" => {
                count.fetch_add(1, Ordering::Relaxed);
                json(200, r#"{"major":"1","minor":"33+","gitVersion":"v1.33.4-eks-abc"}"#)
            }
            url => documents.get(url).map_or_else(|| refuse(404), |document| json(200, document.as_bytes())),
        });
        let connection = connection.await;
        for _ in 0..2 {
            let (resources, _) = connection.clone().discover().await.unwrap();
            assert_eq!(resources.server().map(ServerVersion::as_str), Some("v1.33.4-eks-abc"));
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn all_that_is_served_is_kept() {
        let (resources, _) = discover(documents(AGGREGATED), || refuse(404)).await.unwrap();
        let find = |group: &str, version: &str, plural: &str| {
            let mut all = resources.iter().map(|(_, resource)| resource);
            all.find(|resource| resource.group == group && resource.version == version && resource.plural == plural)
                .unwrap()
        };
        let deployments = find("apps", "v1", "deployments");
        assert_eq!((deployments.kind.as_str(), deployments.singular.as_str()), ("Deployment", "deployment"));
        assert_eq!(
            (deployments.short_names.as_slice(), deployments.categories.as_slice()),
            (&["deploy".to_owned()][..], &["all".to_owned()][..])
        );
        assert!(deployments.namespaced && deployments.has_verb("deletecollection"));
        assert!(!find("", "v1", "namespaces").namespaced);
        assert_eq!(find("autoscaling", "v1", "horizontalpodautoscalers").kind, "HorizontalPodAutoscaler");
        assert_eq!(find("autoscaling", "v2", "horizontalpodautoscalers").kind, "HorizontalPodAutoscaler");
        assert!(!find("", "v1", "bindings").has_verb("list"));
        assert!(find("", "v1", "pods").has_status && !find("", "v1", "bindings").has_status);
        assert!(resources.iter().all(|(_, resource)| !resource.plural.contains('/')), "subresources are dropped");
    }

    #[test]
    fn stale_versions_are_gaps() {
        let document = r#"{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"metrics.k8s.io"},"versions":[
            {"version":"v1","freshness":"Stale","resources":[]},
            {"version":"v1beta1","freshness":"Current","resources":[
                {"resource":"pods","responseKind":{"kind":"PodMetrics"},"scope":"Namespaced","verbs":["get","list"]},
                {"resource":"parents","scope":"Namespaced","subresources":[{"subresource":"x"}]}]}]}]}"#;
        let found = read_aggregated(document.as_bytes()).unwrap();
        assert_eq!(found.gaps[0].to_string(), "metrics.k8s.io/v1 (its API server does not answer (stale discovery))");
        assert_eq!(found.preferred_versions, [("metrics.k8s.io".to_owned(), "v1beta1".to_owned())]);
        assert_eq!(found.resources.len(), 1, "what has no kind is no resource");
    }

    /// Names of resources that lead to another path.
    const MISNAMED: [&str; 5] = ["", ".", "..", "../pods", "a%2fb"];

    /// robustness input: names of resources in discovery that lead to another path | {MISNAMED} | the group version is
    ///   a gap, and nothing of it is requested
    #[test]
    fn resources_whose_names_lead_elsewhere_are_gaps() {
        for name in MISNAMED {
            let why = format!("discovery returned a resource named {name:?}");
            let document = format!(
                r#"{{"kind":"APIGroupDiscoveryList","items":[{{"metadata":{{"name":"g"}},"versions":[{{"version":"v1",
                "resources":[{{"resource":{name:?},"responseKind":{{"kind":"K"}},"scope":"Namespaced"}}]}}]}}]}}"#
            );
            let found = read_aggregated(document.as_bytes()).unwrap();
            assert_eq!(found.gaps[0].to_string(), format!("g/v1 (unreadable answer: {why})"));
            assert!(found.resources.is_empty() && found.described.is_empty(), "{found:?}");
            let document = format!(r#"{{"kind":"APIResourceList","resources":[{{"name":{name:?},"kind":"K"}}]}}"#);
            assert_eq!(read_group_version(document.as_bytes(), "g", "v1"), Err(Malformed(why)));
        }
    }

    /// robustness input: a kind, resource, verb or group in discovery whose name has more than {LONGEST_NAME} bytes |
    ///   each | the group version is a gap; no table has a column of that width
    #[test]
    fn names_that_no_server_accepts_are_gaps() {
        let long = "k".repeat(LONGEST_NAME + 1);
        let why = format!("discovery returned the name \"{}\"… of 254 bytes", &long[..20]);
        for (kind, verb) in [(long.as_str(), "get"), ("Kind", long.as_str())] {
            let document = format!(
                r#"{{"kind":"APIGroupDiscoveryList","items":[{{"metadata":{{"name":"g"}},"versions":[{{"version":"v1",
                "resources":[{{"resource":"r","responseKind":{{"kind":"{kind}"}},"verbs":["{verb}"]}}]}}]}}]}}"#
            );
            let found = read_aggregated(document.as_bytes()).unwrap();
            assert_eq!(found.gaps[0].to_string(), format!("g/v1 (unreadable answer: {why})"));
            assert!(found.resources.is_empty());
            let resource = format!(r#"{{"name":"r","kind":"{kind}","verbs":["{verb}"]}}"#);
            let document = format!(r#"{{"kind":"APIResourceList","resources":[{resource}]}}"#);
            assert_eq!(read_group_version(document.as_bytes(), "g", "v1"), Err(Malformed(why.clone())));
        }
        let group = format!(r#"{{"items":[{{"metadata":{{"name":"{long}"}},"versions":[]}}]}}"#);
        assert_eq!(read_aggregated(group.as_bytes()), Err(Malformed(why)));
    }

    #[tokio::test]
    async fn a_group_version_that_fails_is_a_gap() {
        let mut documents = documents(LEGACY);
        documents.remove("/apis/autoscaling/v2");
        documents.insert("/apis/apps/v1".to_owned(), r#"{"kind":"Table"}"#.to_owned());
        let (resources, gaps) = discover(documents, || refuse(501)).await.unwrap();
        let gaps: Vec<String> = gaps.iter().map(ToString::to_string).collect();
        assert_eq!(
            gaps,
            ["apps/v1 (unreadable answer: discovery returned \"Table\")", "autoscaling/v2 (501 Not Implemented: no)"]
        );
        assert!(resources.by_group_kind("autoscaling", "HorizontalPodAutoscaler").is_some(), "in its other version");
    }

    #[tokio::test]
    async fn without_an_answer_there_is_an_error() {
        let fails = async |otherwise: fn() -> Say| discover(HashMap::new(), otherwise).await.err().unwrap();
        assert!(matches!(fails(|| refuse(401)).await, ConnectError::Unauthorized { .. }));
        let forbidden = fails(|| refuse(403)).await;
        assert!(forbidden.to_string().ends_with("fails discovery: forbidden: no"), "{forbidden}");
        assert!(fails(|| refuse(404)).await.to_string().ends_with("is this a Kubernetes API server?"));
        for (entrance, nothing) in [
            ("/api", None),
            ("/apis", None),
            ("/api", Some(r#"{"kind":"APIVersions"}"#)),
            ("/apis", Some(r#"{"kind":"APIGroupDiscoveryList"}"#)),
            ("/apis", Some(r#"{"kind":"APIGroupList","groups":[{"name":"apps"}]}"#)),
        ] {
            for recorded in [AGGREGATED, LEGACY] {
                let mut documents = documents(recorded);
                documents.remove(entrance);
                documents.extend(nothing.map(|nothing| (entrance.to_owned(), nothing.to_owned())));
                let failed = discover(documents, || refuse(404)).await.err().map(|error| error.to_string());
                let expected = if nothing.is_some() { "names no API" } else { "is not served (404 Not Found)" };
                let expected = format!("{entrance} {expected}");
                assert!(failed.as_ref().is_some_and(|failed| failed.contains(&expected)), "{failed:?}");
            }
        }
        assert!(matches!(fails(|| json(200, "<html>")).await, ConnectError::Discovery { .. }));
        assert!(matches!(fails(|| json(200, "{}")).await, ConnectError::Discovery { .. }));
    }
}
