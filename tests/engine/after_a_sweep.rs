//! After one pass of a sweep, the graph is at rest: neither another pass nor a starting collector finds more to do.

use std::{collections::BTreeMap, ops::Range};

use crate::graphs::{
    early::why_too_early,
    end::{Changes, End, State, left, unchanged},
    generate::{Mix, case},
    judge::{Prediction, Read},
    record::{Start, Trial},
    text::{Graph, Line},
};

/// How many graphs of each mix each tier tries.
const FEW: u64 = 40;
const GRAPHS: u64 = 150;
/// For how many seeds per mix to search for other ends of a collector's start.
const STARTS: u64 = 60;
/// Seeds that are also searched because they contain rare features: a terminating virtual node (G1), an owner of a List
/// kind (R3.15).
const RARE: [u64; 2] = [267, 496];

/// The graph without states that no cluster has: a terminating object without finalizers is gone, unless a kubelet has
/// to end it.
fn possible(graph: &Graph) -> Graph {
    let is_gone = |line: &Line| line.terminating && line.finalizers.is_empty() && line.node.is_none();
    let end = graph.lines.iter().map(|line| (line.short_name(), (!is_gone(line)).then(|| State::of(line, graph))));
    left(graph, &end.collect())
}

/// The first predicted end, and whether there are others.
fn predicted(graph: &Graph, start: Start) -> (End, bool) {
    let read = Read::new(&Trial { graph: graph.clone(), start: start.clone() });
    let stage = read.stage();
    let predicted = Prediction::new(&stage, &start);
    (predicted.end(), start == Start::Sweep && predicted.order_dependent())
}

/// R8.6.
#[test]
fn what_a_sweep_leaves_is_at_rest() {
    leaves_nothing_to_do(0..FEW);
}

#[test]
#[ignore = "long: 330 graphs more"]
fn what_a_sweep_leaves_is_at_rest_in_many_graphs() {
    leaves_nothing_to_do(FEW..GRAPHS);
}

fn leaves_nothing_to_do(seeds: Range<u64>) {
    for (mix, seed) in Mix::ALL.into_iter().flat_map(|mix| seeds.clone().map(move |seed| (mix, seed))) {
        let graph = possible(&case(seed, mix).graph);
        let after = left(&graph, &predicted(&graph, Start::Sweep).0);
        let rest = unchanged(&after);
        let (again, otherwise) = predicted(&after, Start::Sweep);
        let (restarted, _) = predicted(&after, Start::Restarted);
        let describe = || format!("{} {seed}:\n{graph}\nis left as\n{after}", mix.name());
        assert!(!otherwise, "another pass may do something: {}", describe());
        assert_eq!(again, rest, "another pass does something: {}", describe());
        assert_eq!(restarted, rest, "a collector that comes up does something: {}", describe());
    }
}

/// After a sweep, a starting collector does more only because its graph doesn't contain all lists yet: R2.6, R3.2, G1.
#[test]
#[ignore = "long: searches for other ends of hundreds of starts"]
fn only_a_collector_that_begins_too_early_does_more_after_a_sweep() {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (mix, seed) in Mix::ALL.into_iter().flat_map(|mix| (0..STARTS).chain(RARE).map(move |seed| (mix, seed))) {
        let graph = possible(&case(seed, mix).graph);
        let after = left(&graph, &predicted(&graph, Start::Sweep).0);
        let read = Read::new(&Trial { graph: after.clone(), start: Start::Restarted });
        let stage = read.stage();
        for end in Prediction::new(&stage, &Start::Restarted).other_ends() {
            let changes = Changes::between(&after, &left(&after, &end));
            let reason = why_too_early(&after, &changes);
            let reason = reason.unwrap_or_else(|| panic!("{} {seed}:\n{after}comes to\n{changes}", mix.name()));
            *reasons.entry(reason).or_default() += 1;
        }
    }
    assert_eq!(reasons.keys().copied().collect::<Vec<_>>(), ["G1", "R2.6", "R3.2"], "{reasons:?}");
}

/// A graph, what a collector changes in it, and the rule that excuses the change.
const EXCUSED: &[(&str, &str, Option<&str>)] = &[
    (
        "Region a
        ClusterRole b <- Region/a! Shop/gone
        ConfigMap c <- ClusterRole/b",
        "ClusterRole b <- Region/a!",
        Some("R3.2"),
    ),
    (
        "ClusterRole b <- Shop/gone
        ConfigMap c <- ClusterRole/b",
        "gone ClusterRole/b
        gone ConfigMap/c",
        Some("R3.2"),
    ),
    // No namespaced object depends on it.
    (
        "Region a
        ClusterRole b <- Region/a! Shop/gone
        Region c <- ClusterRole/b",
        "ClusterRole b <- Region/a!",
        None,
    ),
    // Secret d isn't connected to these objects.
    (
        "ClusterRole b <- Shop/gone
        ConfigMap c <- ClusterRole/b
        Secret d",
        "gone ClusterRole/b
        gone ConfigMap/c
        gone Secret/d",
        None,
    ),
    (
        "Shop a T fin=foregroundDeletion
        Secret b T fin=acme.io/x <- Shop/a!",
        "gone Shop/a",
        Some("R2.6"),
    ),
    (
        "Region a
        Shop b T fin=acme.io/x <- Region/a Region/gone
        Secret c T fin=acme.io/x <- Shop/b",
        "Shop b T fin=acme.io/x <- Region/a",
        Some("G1"),
    ),
    // Nothing depends on it, so it has no virtual node.
    (
        "Region a
        Shop b T fin=acme.io/x <- Region/a Region/gone",
        "Shop b T fin=acme.io/x <- Region/a",
        None,
    ),
    // It waits for nothing, so a sweep would have released it.
    ("Shop a T fin=foregroundDeletion", "gone Shop/a", None),
];

#[test]
fn a_rule_excuses_only_what_it_explains() {
    for (graph, end, rule) in EXCUSED {
        let mut changes = Changes::default();
        end.lines().for_each(|line| changes.read(line.trim()));
        assert_eq!(why_too_early(&Graph::parse(graph), &changes), *rule, "{graph}\nto\n{changes}");
    }
}
