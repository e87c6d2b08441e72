//! Compares what the library knows about built-in kinds, for dumps, with what a server reports.

use std::env;

use gc_cluster::cluster::{Connection, ConnectionOptions};
use gc_core::model::{Resource, Resources, well_known};
use serde_json::Value;

use crate::harness::{ADMIN, needs, shared};

/// The group of the tests' own kinds.
const OURS: &str = "gc.test";

fn discovered() -> Resources {
    let kubeconfig = Some(shared().kubeconfig(ADMIN));
    let options = ConnectionOptions { kubeconfig, ..ConnectionOptions::default() };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be started");
    let discovery = async { Connection::open(&options).await?.discover().await };
    let (resources, gaps) = runtime.block_on(discovery).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(gaps, []);
    resources
}

#[test]
fn the_recording_is_what_the_server_serves() {
    if !needs(36, "what dumps take for served is the recording of a server of this version") {
        return;
    }
    let known = well_known::resources();
    let version = shared().get("/version").expect("every server has a version");
    // Programs of another version may serve other kinds, which is the point of using them.
    if version["gitVersion"] != known.server.as_str() && env::var_os("KUBEBUILDER_ASSETS").is_some() {
        return;
    }
    assert_eq!(
        version["gitVersion"],
        known.server.as_str(),
        "the recording is of another version than the tests build"
    );
    let served = discovered();
    let preferred: Vec<_> = served.preferred_versions().iter().filter(|(group, _)| group != OURS).cloned().collect();
    assert_eq!(preferred, known.preferred_versions);
    // The built-in list doesn't say whether status is a subresource.
    let described = |resource: &Resource| format!("{:?}", Resource { has_status: false, ..resource.clone() });
    let mut now: Vec<String> =
        served.iter().filter(|(_, resource)| resource.group != OURS).map(|(_, resource)| described(resource)).collect();
    let mut then: Vec<String> = known.resources.iter().map(described).collect();
    now.sort();
    then.sort();
    let only = |these: &[String], those: &[String]| {
        these.iter().filter(|one| !those.contains(one)).cloned().collect::<Vec<_>>().join("\n")
    };
    assert!(now == then, "only served:\n{}\n\nonly recorded:\n{}", only(&now, &then), only(&then, &now));
}

#[test]
fn the_watched_resources_are_those_that_can_be_listed_and_deleted() {
    let cluster = shared();
    let ran = cluster.gc(&["resources", "-o", "json"]).ended(0);
    let resources = ran.json();
    let watched = |resource: &&Value| resource["watched"] == true;
    let path = |resource: &Value| {
        let text = |key: &str| resource[key].as_str().unwrap_or_default();
        let group = if text("group").is_empty() { "/api".to_owned() } else { format!("/apis/{}", text("group")) };
        format!("{group}/{}/{}", text("version"), text("name"))
    };
    let mut describe: Vec<String> =
        resources["resources"].as_array().into_iter().flatten().filter(watched).map(path).collect();
    let mut real: Vec<String> = cluster.listed().into_iter().map(|kind| kind.path).collect();
    describe.sort();
    real.sort();
    assert_eq!(describe, real);
}
