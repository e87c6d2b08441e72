//! `tree --watch`: shows the tree again when something in it changes.

use serde_json::{Value, json};

use crate::{
    harness::{Watching, uid},
    plan::trial::Trial,
};

/// The last tree that was printed up to a line, without what precedes it.
fn last_tree(lines: &[String]) -> String {
    let begin = lines.iter().rposition(|line| line.starts_with("ConfigMap/owner")).unwrap_or(0);
    lines[begin..].join("\n")
}

#[test]
fn what_changes_is_shown() {
    let trial = Trial::new("tree-watch", "Background");
    let (cluster, ns) = (trial.cluster, trial.namespace.as_str());
    let owner = trial.config_map("owner").create();
    trial.config_map("first").owned_by(&owner).create();
    cluster.seen_by_collector(&[uid(&owner)]);
    let watching = Watching::start(cluster, &["tree", "cm/owner", "-n", ns, "--watch", "--interval=1"]);
    let shown = last_tree(&watching.until("Note"));
    assert!(shown.contains("ConfigMap/first") && !shown.contains("second"), "{shown}");
    let second = trial.config_map("second").owned_by(&owner).create();
    let shown = last_tree(&watching.until("Note  3 objects"));
    assert!(shown.contains("ConfigMap/second"), "{shown}");
    cluster.delete(&cluster.path_of(&second), Some("Background"), None);
    let shown = last_tree(&watching.until("Note  2 objects"));
    assert!(!shown.contains("ConfigMap/second"), "{shown}");
    // What is only the data of an object is no news.
    cluster.patch(&cluster.path_of(&owner), &json!({"data": {"key": "value"}}));
    // Nothing is found meanwhile; the same name is shown again.
    cluster.delete(&cluster.path_of(&owner), Some("Background"), None);
    cluster.wait_until("the dependents to go", std::time::Duration::from_mins(1), || {
        cluster.get(&format!("/api/v1/namespaces/{ns}/configmaps/first")).is_none()
    });
    let owner = trial.config_map("owner").create();
    trial.config_map("third").owned_by(&owner).create();
    let lines = watching.until("ConfigMap/third");
    let trees = lines.iter().filter(|line| line.starts_with("ConfigMap/owner")).count();
    assert!((1..=3).contains(&trees), "{lines:#?}");
}

/// The status of a pod belongs to the tree, too.
#[test]
fn a_status_that_changes_is_shown_and_documents_follow_each_other() {
    let trial = Trial::new("tree-watch-status", "Background");
    let (cluster, ns) = (trial.cluster, trial.namespace.as_str());
    let pod = cluster.create(object!("v1 Pod", {
        "name": "web", "namespace": ns,
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }));
    let text = Watching::start(cluster, &["tree", "pod/web", "-n", ns, "-w", "--interval=1"]);
    let document = Watching::start(cluster, &["tree", "pod", "-n", ns, "-w", "--interval=1", "-o", "json"]);
    text.until("Pending");
    let first = document.until("\"name\": \"web\"");
    let status = json!({"status": {"phase": "Failed", "reason": "Evicted"}});
    cluster.patch(&format!("{}/status", cluster.path_of(&pod)), &status);
    text.until("Evicted");
    cluster.create(object!("v1 Pod", {
        "name": "other", "namespace": ns,
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }));
    let rest = document.until("\"name\": \"other\"");
    let all = [first, rest].concat().join("\n");
    let documents: Vec<Result<Value, _>> = serde_json::Deserializer::from_str(&all).into_iter().collect();
    assert!(documents.len() >= 2 && documents[0].as_ref().is_ok_and(|first| first["kind"] == "Tree"), "{all}");
}

/// On a terminal the tree is drawn in place, and Ctrl-C leaves it there.
#[test]
fn a_terminal_shows_one_tree() {
    let trial = Trial::new("tree-watch-terminal", "Background");
    let (cluster, ns) = (trial.cluster, trial.namespace.as_str());
    let owner = trial.config_map("owner").create();
    let mut terminal = cluster.gc_on_terminal(&["tree", "cm/owner", "-n", ns, "-w", "--interval=1"]);
    terminal.shows("Note 1 object");
    trial.config_map("dependent").owned_by(&owner).create();
    terminal.shows("Note 2 objects");
    terminal.interrupts();
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(130), "{shown}");
}
