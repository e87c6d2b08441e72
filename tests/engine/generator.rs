//! Random graphs contain every feature that makes graphs difficult: a feature that no seed generates tests nothing.

use std::collections::BTreeMap;

use gc_core::server::Propagation;

use crate::graphs::{
    end::Written,
    generate::{Case, KINDS, Mix, case},
    kinds::Kind,
    text::{Bent, By, Graph, Line},
};

/// How many seeds to check.
const SEEDS: u64 = 2000;

/// The features of a case.
fn features(case: &Case) -> Vec<String> {
    let mut features: Vec<String> = Vec::new();
    for line in &case.graph.lines {
        features.push(format!("kind {}", line.kind.name));
        features.extend(of_object(line).into_iter().map(str::to_owned));
        features.extend(line.terminating.then(|| format!("terminating {:?}", line.by)));
        features.extend(
            line.references.iter().flat_map(|reference| of_reference(&case.graph, line, reference)).map(str::to_owned),
        );
    }
    for round in &case.rounds {
        features.push(format!("delete {} of {}", round.propagation.name(), round.most_targets));
        let first = round.wanted.first().and_then(|target| case.graph.line(target));
        features.extend(first.is_some_and(|line| line.terminating).then(|| "second delete".to_owned()));
    }
    features
}

fn of_object(line: &Line) -> Vec<&'static str> {
    let has = |finalizer: &str| line.finalizers.iter().any(|known| known == finalizer);
    let uids: Vec<&String> = line.references.iter().map(|reference| &reference.name).collect();
    let features = [
        (line.elsewhere.is_some(), "elsewhere"),
        (line.node.is_some(), "pod on a node"),
        (line.kind.name == "Pod" && line.node.is_none(), "pod on no node"),
        (line.node.is_some() && line.terminating, "pod in its grace period"),
        (has("acme.io/x"), "foreign finalizer"),
        (has("orphan"), "orphan finalizer"),
        (has("foregroundDeletion"), "foreground finalizer"),
        (
            has("foregroundDeletion") && line.by == Some(By::Policy(Propagation::Background)),
            "policy against a finalizer",
        ),
        (line.references.len() > 1, "several owners"),
        ((1..uids.len()).any(|place| uids[..place].contains(&uids[place])), "two references of one uid"),
        (line.references.is_empty(), "root"),
    ];
    features.into_iter().filter_map(|(is, feature)| is.then_some(feature)).collect()
}

fn of_reference(graph: &Graph, line: &Line, reference: &Bent) -> Vec<&'static str> {
    let owner = graph.lines.iter().find(|owner| owner.name == reference.name);
    let written = Written::of(reference, graph);
    let bent = |field: &str| reference.bend(field);
    let is_after = |owner: &Line| {
        let place = |name: &str| graph.lines.iter().position(|line| line.name == name);
        place(&owner.name) > place(&line.name)
    };
    let features = [
        (reference.block == Some(true), "blocks"),
        (reference.block == Some(false), "does not block"),
        (reference.block.is_none(), "says nothing of blocking"),
        (reference.controller, "controller"),
        (owner.is_none(), "absent owner"),
        (owner.is_some_and(|owner| owner.name == line.name), "owns itself"),
        (owner.is_some_and(is_after), "may close a cycle"),
        (
            owner.is_some_and(|owner| {
                owner.elsewhere != line.elsewhere && owner.kind.namespaced && line.kind.namespaced
            }),
            "over namespaces",
        ),
        (
            owner.is_some_and(|owner| owner.kind.namespaced && !line.kind.namespaced),
            "cluster-scoped dependent of namespaced owner",
        ),
        (
            owner.is_some_and(|owner| !owner.kind.namespaced && line.kind.namespaced),
            "namespaced dependent of cluster-scoped owner",
        ),
        (bent("uid") == Some("other"), "wrong uid"),
        (bent("uid").is_some_and(|uid| uid != "other"), "uid of another"),
        (bent("name") == Some("other"), "wrong name"),
        (bent("name").is_some_and(|name| name != "other"), "name of another"),
        (bent("kind").is_some_and(|kind| Kind::find(kind).is_some()), "wrong kind"),
        (bent("kind").is_some_and(|kind| Kind::find(kind).is_none()), "kind not served"),
        (bent("kind").is_some_and(|kind| kind.ends_with("List")), "list kind"),
        (written.api_version == "acme.io/v1alpha1" && written.kind == "Shop", "second served version"),
        (written.api_version.ends_with("v9"), "version not served"),
    ];
    features.into_iter().filter_map(|(is, feature)| is.then_some(feature)).collect()
}

fn count(mix: Mix) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for seed in 0..SEEDS {
        let mut features = features(&case(seed, mix));
        features.sort();
        features.dedup();
        for feature in features {
            *counts.entry(feature).or_default() += 1;
        }
    }
    counts
}

/// Features of objects, not of references.
const OF_OBJECTS: &[&str] = &[
    "elsewhere",
    "pod on a node",
    "pod on no node",
    "pod in its grace period",
    "foreign finalizer",
    "orphan finalizer",
    "foreground finalizer",
    "policy against a finalizer",
    "several owners",
    "two references of one uid",
    "root",
    "second delete",
    "blocks",
    "does not block",
    "says nothing of blocking",
    "controller",
    "absent owner",
    "owns itself",
    "may close a cycle",
    "namespaced dependent of cluster-scoped owner",
];

/// The wrong references of §3.6.
const BENT: &[&str] = &[
    "over namespaces",
    "cluster-scoped dependent of namespaced owner",
    "wrong uid",
    "uid of another",
    "wrong name",
    "name of another",
    "wrong kind",
    "kind not served",
    "list kind",
    "second served version",
    "version not served",
];

fn expected(features: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = features.iter().map(|feature| (*feature).to_owned()).collect();
    all.extend(KINDS.iter().map(|kind| format!("kind {kind}")));
    all.extend(std::iter::once(None).chain(By::ALL.into_iter().map(Some)).map(|by| format!("terminating {by:?}")));
    for propagation in [Propagation::Background, Propagation::Foreground, Propagation::Orphan] {
        all.extend((1..=3).map(|targets| format!("delete {} of {targets}", propagation.name())));
    }
    all
}

#[test]
fn full_graphs_have_everything_in_them() {
    let counts = count(Mix::Full);
    let all = expected(&[OF_OBJECTS, BENT].concat());
    // Each feature must be common enough to occur in the graphs of one run.
    let rare: Vec<&String> = all.iter().filter(|feature| counts.get(*feature).copied().unwrap_or(0) < 20).collect();
    assert!(rare.is_empty(), "{rare:?} in fewer than 20 of {SEEDS} graphs: {counts:#?}");
}

#[test]
fn legal_graphs_have_everything_in_them_but_bent_references() {
    let counts = count(Mix::Legal);
    let rare: Vec<String> =
        expected(OF_OBJECTS).into_iter().filter(|feature| counts.get(feature).copied().unwrap_or(0) < 20).collect();
    assert!(rare.is_empty(), "{rare:?} in fewer than 20 of {SEEDS} graphs: {counts:#?}");
    let bent: Vec<&&str> = BENT.iter().filter(|feature| counts.contains_key(**feature)).collect();
    assert!(bent.is_empty(), "{bent:?}");
}

#[test]
fn at_most_one_reference_of_an_object_is_the_controllers() {
    for seed in 0..SEEDS {
        for line in case(seed, Mix::Full).graph.lines {
            assert!(line.references.iter().filter(|reference| reference.controller).count() <= 1, "{line}");
        }
    }
}
