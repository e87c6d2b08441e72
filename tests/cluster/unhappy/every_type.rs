//! Whatever a TARGET names is read: every served resource, by `TYPE --all` and by `TYPE/NAME`, in every command.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use crate::{
    harness::{Alone, Cluster, Options, Ran, shared},
    plan::trial::Trial,
};

/// A served resource, in the version that is named first.
struct Served {
    /// As a TARGET names it.
    type_name: String,
    path: String,
    kind: String,
    namespaced: bool,
    verbs: BTreeSet<String>,
}

impl Served {
    /// Namespace and name of each object.
    fn objects(&self, cluster: &Cluster) -> Vec<(String, String)> {
        if !self.verbs.contains("list") {
            return Vec::new();
        }
        let text = |item: &Value, key: &str| item["metadata"][key].as_str().unwrap_or_default().to_owned();
        cluster.list(&self.path).iter().map(|item| (text(item, "namespace"), text(item, "name"))).collect()
    }
}

fn served(cluster: &Cluster) -> Vec<Served> {
    let mut groups = vec![("v1".to_owned(), "/api/v1".to_owned())];
    for group in cluster.get("/apis").expect("groups")["groups"].as_array().into_iter().flatten() {
        let version = group["preferredVersion"]["groupVersion"].as_str().unwrap_or_default();
        groups.push((version.to_owned(), format!("/apis/{version}")));
    }
    let mut served = Vec::new();
    for (version, base) in groups {
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let document = cluster.get(&base).expect("a group version");
        for resource in document["resources"].as_array().into_iter().flatten() {
            let text = |key: &str| resource[key].as_str().unwrap_or_default().to_owned();
            if !text("name").contains('/') {
                served.push(Served {
                    type_name: format!("{}.{group}", text("name")).trim_end_matches('.').to_owned(),
                    path: format!("{base}/{}", text("name")),
                    kind: text("kind"),
                    namespaced: resource["namespaced"] == true,
                    verbs: serde_json::from_value(resource["verbs"].clone()).expect("verbs"),
                });
            }
        }
    }
    served
}

/// Every command that takes TARGETs, without any change to the cluster.
const COMMANDS: [&[&str]; 8] = [
    &["tree", "-o", "json"],
    &["plan", "-o", "json"],
    &["explain", "-o", "json"],
    &["delete", "--dry-run", "-o", "json"],
    &["archive"],
    &["doctor", "-o", "json"],
    &["sweep", "--dry-run", "-o", "json"],
    &["watch", "--timeout", "1s", "-o", "json"],
];

/// Commands whose answer names each target.
const NAMES_TARGETS: [&str; 4] = ["tree", "plan", "explain", "delete"];

fn said(ran: &Ran) -> String {
    format!("exit {:?}\n--- stdout\n{}\n--- stderr\n{}", ran.code, ran.stdout, ran.stderr)
}

/// Whether the program says that there is nothing.
fn denies(ran: &Ran) -> bool {
    let all = format!("{}{}", ran.stdout, ran.stderr);
    ["not found", " found in", " found\n", "no such object", "Nothing is", "Nothing to"]
        .iter()
        .any(|words| all.contains(words))
}

/// What is wrong with the answers about one resource. The object to ask for is one of namespace `home`, if there is one
/// there: another test may delete its own.
fn wrong_of(cluster: &Cluster, one: &Served, home: &str, commands: &[&[&str]]) -> Vec<String> {
    let mut wrong = Vec::new();
    let file = cluster.folder().join(format!("{}.yaml", cluster.unique("of-type")));
    let file = [file.to_str().expect("a path in UTF-8")];
    for command in commands {
        let last: &[&str] = if command[0] == "archive" { &file } else { &[] };
        let mut before = one.objects(cluster);
        before.sort_by_key(|(namespace, _)| namespace != home);
        let everywhere: &[&str] = if one.namespaced { &["-A"] } else { &[] };
        let _ = fs::remove_file(file[0]);
        let all = cluster.gc(&[*command, &[one.type_name.as_str(), "--all"], everywhere, last].concat());
        let still = |object: &&(String, String)| one.objects(cluster).contains(object);
        let what = format!("{} {} --all", command.join(" "), one.type_name);
        let Some((namespace, name)) = before.iter().find(still) else {
            // What has no objects, such as a review, is no TYPE.
            let has_objects = ["list", "get", "delete"].iter().any(|verb| one.verbs.contains(*verb));
            let reason = if has_objects { "could not be read" } else { "no resource type" };
            if !one.verbs.contains("list") && (all.code == Some(0) || !all.stderr.contains(reason)) {
                wrong.push(format!("{what}: nothing was read, and that isn't said: {}", said(&all)));
            }
            continue;
        };
        let place: &[&str] = if one.namespaced { &["-n", namespace] } else { &[] };
        let _ = fs::remove_file(file[0]);
        let by_name = cluster.gc(&[*command, &[&format!("{}/{name}", one.type_name)], place, last].concat());
        for (what, ran) in [(what, all), (format!("{} {}/{name}", command.join(" "), one.type_name), by_name)] {
            // Nothing has such objects as its owners or dependents, and nothing can name them: the reason is said.
            let without_uid = one.kind == "ComponentStatus";
            if without_uid {
                if ran.code != Some(1) || !ran.stderr.contains("no uid") {
                    wrong.push(format!("{what}: {}", said(&ran)));
                }
            } else if denies(&ran) || NAMES_TARGETS.contains(&command[0]) && !ran.stdout.contains(name.as_str()) {
                // The API server's answer to a DELETE that it never carries out is an answer, too.
                let refused = ["refuses to delete", "recreate"].iter().any(|words| ran.stderr.contains(words));
                if !refused {
                    wrong.push(format!("{what}: {name} isn't named: {}", said(&ran)));
                }
            }
        }
    }
    wrong
}

fn event(namespace: &str, name: &str) -> Value {
    object!("v1 Event", {
        "name": name, "namespace": namespace,
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": "web", "namespace": namespace},
        "reason": "Killing",
        "message": "Stopping container web",
        "type": "Normal",
    })
}

/// Resources that the collector doesn't watch: they lack a verb, their objects have no uid, or they are events (R2.2,
/// R2.3).
#[test]
#[ignore = "long: every command for what the collector ignores"]
fn what_the_collector_ignores_is_read_when_it_is_a_target() {
    let cluster = shared();
    let home = cluster.namespace("events");
    cluster.create(event(&home, "killed"));
    let ignored = |one: &Served| {
        one.type_name.starts_with("events")
            || !["list", "watch", "delete"].iter().all(|verb| one.verbs.contains(*verb))
                && ["list", "get", "delete"].iter().any(|verb| one.verbs.contains(*verb))
    };
    let mut all = served(cluster);
    all.retain(ignored);
    assert!(all.len() >= 3, "too few: {:?}", all.iter().map(|one| &one.type_name).collect::<Vec<_>>());
    let wrong: Vec<String> = all.iter().flat_map(|one| wrong_of(cluster, one, &home, &COMMANDS)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn all_events_of_a_namespace_are_deleted() {
    let trial = Trial::new("all-events", "Background");
    let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
    for (name, type_name) in [("a", "events"), ("b", "events.events.k8s.io"), ("c", "ev")] {
        cluster.create(event(namespace, name));
        let other = cluster.namespace("other-events");
        cluster.create(event(&other, name));
        let ran = cluster.gc(&["delete", type_name, "--all", "--yes", "-n", namespace]).ended(0);
        assert!(ran.stdout.contains(name) && !denies(&ran), "{}", said(&ran));
        let left = |namespace: &str| cluster.list(&format!("/api/v1/namespaces/{namespace}/events")).len();
        assert_eq!((left(namespace), left(&other)), (0, 1), "{}", said(&ran));
        // And now there is nothing: that is read, too.
        let ran = cluster.gc(&["delete", type_name, "--all", "--yes", "-n", namespace]);
        assert!(denies(&ran), "{}", said(&ran));
    }
}

#[test]
#[ignore = "long: every command for every served resource"]
fn every_served_resource_is_read_when_it_is_a_target() {
    let cluster = Alone::start(&Options::default());
    cluster.create(event("default", "killed"));
    let all = served(&cluster);
    let with_objects = all.iter().filter(|one| !one.objects(&cluster).is_empty()).count();
    let wrong: Vec<String> = all.iter().flat_map(|one| wrong_of(&cluster, one, "default", &COMMANDS)).collect();
    println!("{} resources, {with_objects} of them with objects", all.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}
