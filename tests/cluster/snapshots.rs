//! A snapshot file yields the same results as its cluster.

use serde_json::Value;

use crate::{
    harness::{Alone, COLLECTOR, NAMESPACES, Ran},
    plan::{draft::HOLD, trial::Trial},
};

/// Objects whose outcome depends on more than metadata: pods, claims, owners in other scopes, and absent owners.
fn furnish(trial: &Trial<'_>) {
    let owner = trial.widget("owner").create();
    let node = trial.node();
    for (name, node) in [("ends", node), ("stays", trial.global("no-node"))] {
        trial.pod_on(name, &node).blocking(&owner).create();
    }
    let held = trial.config_map("held").blocking(&owner).finalizer(HOLD).create();
    trial.config_map("below").owned_by(&held).create();
    trial.config_map("haunted").owned_by(&owner).reference(trial.unserved()).create();
    let rack = trial.rack("rack").create();
    trial.widget("of-rack").owned_by(&rack).create();
    let gone = trial.widget("gone").create();
    let left = trial.config_map("left").owned_by(&gone).finalizer(HOLD).create();
    trial.delete_before(&left, "Background");
    trial.delete_before(&gone, "Background");
}

#[test]
#[ignore = "long: nine commands, each beside its snapshot"]
fn a_snapshot_tells_what_the_cluster_told() {
    // Alone: what others delete between a list and a look would be a gap.
    let cluster = &Alone::with(&[]);
    cluster.age_kinds();
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let trial = Trial::on(cluster, "snapshot", "Background");
    furnish(&trial);
    let namespace = trial.namespace.as_str();
    cluster.settled();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("cluster.json.gz");
    let path = path.to_str().expect("a temporary folder has a readable name");
    let ran = cluster.gc(&["snapshot", "--force", "-o", path]);
    assert_eq!(ran.expect(0), "");
    assert!(ran.stderr.starts_with("Wrote ") && ran.stderr.contains(path), "{}", ran.stderr);

    let namespace_target = format!("ns/{namespace}");
    let rack = format!("rack/{}", trial.global("rack"));
    let commands: [&[&str]; 9] = [
        &["tree"],
        &["tree", "-o", "json"],
        &["tree", "-o", "collector-dot"],
        &["tree", "--owners", "-o", "json", "configmap/below", "configmap/left"],
        &["plan", "-o", "json", "widget/owner"],
        &["plan", "-o", "json", "--propagation=foreground", "widget/owner"],
        &["plan", "-o", "json", "--propagation=orphan", "widget/owner"],
        &["plan", "-o", "json", "--propagation=foreground", &namespace_target],
        &["plan", &rack],
    ];
    for command in commands {
        let live = cluster.gc(&[command, &["-n", namespace]].concat());
        let from = cluster.gc(&[command, &["-n", namespace, "--from", path]].concat());
        // A snapshot has nothing of what the server prints about objects.
        let told = |text: &str| match command {
            ["tree"] => names_of(text),
            ["tree", rest @ ..] if rest.contains(&"json") => without_statuses(text),
            _ => without_origin(text),
        };
        let same = |ran: &Ran| (ran.code, told(&ran.told()), ran.stderr.clone());
        assert_eq!(same(&live), same(&from), "{command:?}");
        assert!(!live.stdout.is_empty(), "{command:?}: {}", live.stderr);
    }
}

/// Everything except the line with the origin.
fn without_origin(text: &str) -> String {
    let is_origin = |line: &&str| line.starts_with("Context ") || line.starts_with("Snapshot ");
    text.lines().filter(|line| !is_origin(line)).collect::<Vec<_>>().join("\n")
}

/// The lines of a tree up to the end of the names.
fn names_of(tree: &str) -> String {
    let name = |line: &str| {
        let at = line.find(char::is_alphanumeric)?;
        let (before, after) = line.split_at(at);
        Some(format!("{before}{}", after.split("  ").next()?))
    };
    let tree = without_origin(tree);
    tree.lines().filter(|line| !line.starts_with("OBJECT ")).filter_map(name).collect::<Vec<_>>().join("\n")
}

/// The document of a tree without what the server prints about its objects.
fn without_statuses(text: &str) -> String {
    let mut document: Value = serde_json::from_str(text).expect("a document");
    for node in document["nodes"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        for key in ["ready", "status", "restarts", "statusUnread"] {
            node.remove(key);
        }
    }
    document.to_string()
}
