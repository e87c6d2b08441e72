//! Compares `tree -o collector-dot` with the graph that the real collector shows.

use crate::{
    harness::{Alone, owner_reference, uid},
    plan::{
        draft::{HOLD, blocking},
        trial::Trial,
    },
};

#[test]
fn the_graph_of_a_namespace_is_the_collectors() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "dot", "Background");
    furnish(&trial);
    let cluster = trial.cluster;
    cluster.settled();
    let objects = cluster.objects_of(&cluster.listed());
    let own: Vec<&str> = objects.iter().filter(|object| trial.is_own(object)).map(uid).collect();
    let ours = cluster.gc(&["tree", "-o", "collector-dot", "-n", &trial.namespace]);
    let (ours, theirs) = (statements(ours.expect(0)), statements(&cluster.collector_graph(&own)));
    let only = |these: &[String], those: &[String]| -> String {
        let only: Vec<&str> = these.iter().filter(|one| !those.contains(one)).map(String::as_str).collect();
        only.join("\n")
    };
    assert!(
        ours == theirs,
        "only in kubectl gc tree:\n{}\n\nonly in the collector's graph:\n{}",
        only(&ours, &theirs),
        only(&theirs, &ours)
    );
    // Makes sure that the graphs aren't empty.
    for (what, count) in [("virtual=\"true\"", 2), ("missing=\"true\"", 1), ("deletingDependents=\"true\"", 2)] {
        assert_eq!(
            ours.iter().filter(|statement| statement.contains(what)).count(),
            count,
            "{what} in:\n{}",
            ours.join("\n")
        );
    }
}

/// Creates an example of everything that a graph can show, in this namespace or cluster-scoped.
fn furnish(trial: &Trial<'_>) {
    let owner = trial.widget("owner").create();
    let middle = trial.config_map("middle").blocking(&owner).create();
    trial.config_map("below").owned_by(&middle).owned_by(&owner).create();
    trial.config_map("alone").create();

    let terminating = trial.widget("terminating").finalizer(HOLD).owned_by(&owner).create();
    trial.delete_before(&terminating, "Background");

    let waiting = trial.widget("waiting").create();
    let held = trial.config_map("held").blocking(&waiting).finalizer(HOLD).create();
    // It must be blocking: otherwise the collector would remove `foregroundDeletion` from "held", which is the only
    // visible sign of its internal flag.
    trial.config_map("below-held").blocking(&held).finalizer(HOLD).create();
    trial.delete_before(&waiting, "Foreground");

    // A terminating object keeps its references to absent owners.
    let gone = trial.widget("gone").create();
    let left = trial.config_map("left").owned_by(&gone).finalizer(HOLD).create();
    trial.delete_before(&left, "Background");
    trial.delete_before(&gone, "Background");

    trial.config_map("haunted").reference(trial.unserved()).owned_by(&owner).create();
    trial.config_map("events").reference(trial.event()).create();

    let rack = trial.rack("rack").create();
    trial.widget("of-rack").blocking(&rack).create();
    trial.rack("in-the-wrong-scope").reference(owner_reference(&owner)).create();

    let first = trial.widget("first").create();
    let second = trial.widget("second").blocking(&first).create();
    trial.add_owners(&first, &[blocking(&second)]);
    let own = trial.widget("own").create();
    trial.add_owners(&own, &[owner_reference(&own)]);
}

impl Trial<'_> {
    /// A reference to a new Event. The API server serves this kind, but the collector doesn't watch it.
    fn event(&self) -> serde_json::Value {
        let event = self.cluster.create(object!("events.k8s.io/v1 Event", {
            "name": "event", "namespace": self.namespace,
            "eventTime": "2020-01-01T00:00:00.000000Z",
            "reportingController": "test.io/test",
            "reportingInstance": "test",
            "action": "Testing",
            "reason": "Testing",
            "type": "Normal",
            "regarding": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": self.namespace, "name": "alone"},
        }));
        owner_reference(&event)
    }
}

/// The vertices and edges of a graph, one per line, sorted.
fn statements(dot: &str) -> Vec<String> {
    let mut statements: Vec<String> = Vec::new();
    let mut vertex = String::new();
    for line in dot.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        if line.ends_with('[') || !vertex.is_empty() {
            vertex = format!("{vertex} {line}");
            if line == "];" {
                statements.push(std::mem::take(&mut vertex));
            }
        } else if line.contains("->") {
            statements.push(line.to_owned());
        }
    }
    statements.sort();
    statements
}
