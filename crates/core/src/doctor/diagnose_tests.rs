use rustc_hash::FxHashSet;

use super::{Case, Code, Diagnosis, Finding, Limit, diagnose};
use crate::{
    command_line::PLAIN,
    graph::OwnerGraph,
    model::{Coordinate, Fact, Snapshot, effects::Severity, facts::LeaseFacts},
    simulate::{Assume, Projection, SimContext},
    tree::fixture::{World, owner, terminating},
};

/// The findings on a live cluster in which this state has lasted for long.
fn found(world: World) -> Vec<Finding> {
    let (snapshot, graph) = world.build();
    diagnosed(&snapshot, &graph, &Limit::Everything).findings
}

fn diagnosed(snapshot: &Snapshot, graph: &OwnerGraph, limit: &Limit) -> Diagnosis {
    let stage = SimContext::new(snapshot, graph, Assume::Known);
    let projection = Projection::of(&stage);
    let case = Case {
        stage: &stage,
        projection: &projection,
        now: Some(10_000),
        live: true,
        fresh: &FxHashSet::default(),
        limit,
        made: &[],
        kubectl: &PLAIN,
        events: &[],
        probed: None,
        recovered: &Default::default(),
        evidence: &Default::default(),
    };
    diagnose(&case)
}

/// Owners that the lists lack are looked up for what is asked about, and for what decides its end; and in the whole
/// cluster if that is asked about.
#[test]
fn owners_are_looked_up_of_what_is_asked_about() {
    let mut world = World::empty();
    let shop = world.add("shop", "ConfigMap/a", &["Secret/one"]);
    world.add("elsewhere", "ConfigMap/b", &["Secret/two"]);
    // A cluster-scoped owner of both waits for what is elsewhere.
    let node = world.add_with("", "Node/n", Vec::new(), terminating(&["foregroundDeletion"]));
    world.add("waited-for", "ConfigMap/c", &["Node/n", "Secret/three"]);
    let held = world.add("held", "ConfigMap/d", &["Node/n"]);
    let (snapshot, graph) = world.build();
    let asked = |limit: &Limit| -> Vec<String> {
        let wanted = diagnosed(&snapshot, &graph, limit).wanted;
        let of = |coordinate: &Coordinate| snapshot.text(coordinate.namespace).to_owned();
        let mut namespaces: Vec<String> = wanted.absences.iter().map(of).collect();
        namespaces.sort_unstable();
        namespaces
    };
    assert_eq!(asked(&Limit::Everything), ["elsewhere", "shop", "waited-for"]);
    assert_eq!(asked(&Limit::namespace(snapshot.object(shop).namespace)), ["shop"]);
    assert_eq!(asked(&Limit::objects(&snapshot, [shop])), ["shop"]);
    for of_the_node in [node, held] {
        assert_eq!(asked(&Limit::objects(&snapshot, [of_the_node])), ["waited-for"]);
    }
}

#[test]
fn a_healthy_family_has_no_findings() {
    let mut world = World::empty();
    world.add("shop", "Deployment/web", &[]);
    world.add("shop", "ReplicaSet/web", &["Deployment/web"]);
    assert_eq!(found(world), []);
}

/// A collector that does nothing while the controller manager's Lease is not renewed may be about to be replaced.
#[test]
fn a_restart_is_no_error() {
    let severity = |renewed: i64| {
        let mut world = World::empty();
        world.add_with("shop", "Shop/top", Vec::new(), terminating(&["foregroundDeletion"]));
        let lease = world.add("kube-system", "Lease/kube-controller-manager", &[]);
        let (mut snapshot, graph) = world.build();
        let facts =
            LeaseFacts { holder: Some("one".to_owned()), seconds: Some(15), renewed: Some(renewed), seen: None };
        snapshot.learn(lease, Fact::Lease(facts));
        let found = diagnosed(&snapshot, &graph, &Limit::Everything).findings;
        let idle = found.into_iter().find(|finding| finding.code == Code::CollectorIdle).expect("it is idle");
        (idle.severity, idle.remedies.len())
    };
    assert_eq!(severity(9_983), (Severity::Warning, 1));
    assert_eq!(severity(9_999).0, Severity::Error);
}

/// One cause is one finding, with all objects that wait for one finalizer.
#[test]
fn what_waits_for_one_finalizer_is_one_finding() {
    let mut world = World::empty();
    world.add_with("shop", "Shop/top", Vec::new(), terminating(&["foregroundDeletion"]));
    let held = terminating(&["acme.io/hold"]);
    world.add_with("shop", "ConfigMap/held", vec![owner("Shop/top")], held);
    let found = found(world);
    let stuck: Vec<&Finding> = found.iter().filter(|finding| finding.code == Code::StuckFinalizer).collect();
    assert_eq!(stuck.len(), 1, "{found:#?}");
    assert_eq!(stuck[0].objects.len() + stuck[0].related.len(), 2, "{:#?}", stuck[0]);
}

/// The worst finding comes first, even if another affects more objects; a remedy without a command is omitted.
#[test]
fn the_worst_comes_first() {
    let mut world = World::empty();
    for (object, owner) in [("Shop/a", "Shop/b"), ("Shop/b", "Shop/c"), ("Shop/c", "Shop/a")] {
        world.add("shop", object, &[owner]);
    }
    world.add_with("shop", "Pod/top", Vec::new(), terminating(&["foregroundDeletion"]));
    world.add("shop", "ConfigMap/blocks", &["Pod/top", "Widget/unserved"]);
    let found = found(world);
    let codes: Vec<(Severity, Code)> = found.iter().map(|finding| (finding.severity, finding.code)).collect();
    assert_eq!(codes.first(), Some(&(Severity::Error, Code::StuckOnNotServed)), "{codes:?}");
    assert!(codes.is_sorted_by_key(|(severity, _)| *severity), "{codes:?}");
    let cycle = found.iter().find(|finding| finding.code == Code::OwnershipCycle).expect("there is a circle");
    assert!(cycle.objects.len() > found[0].objects.len(), "{found:#?}");
    assert!(found.iter().flat_map(|finding| &finding.remedies).all(|remedy| !remedy.commands.is_empty()));
}

/// Each namespace has another object of a name.
#[test]
fn unread_owners_of_several_namespaces_are_told_apart() {
    let mut world = World::empty().unread("Secret");
    for (namespace, name, owner) in [
        ("shop", "a", "Secret/token"),
        ("shop", "b", "Secret/token"),
        ("shop", "c", "Secret/other"),
        ("office", "d", "Secret/token"),
    ] {
        world.add(namespace, &format!("ConfigMap/{name}"), &[owner]);
    }
    let found = found(world);
    let mut told: Vec<(usize, &str, &str)> = found
        .iter()
        .map(|finding| (finding.objects.len(), finding.message.as_str(), finding.consequence.as_str()))
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            (1, "The owner v1 Secret/token could not be read.", "It is not known whether this owner exists."),
            (
                3,
                "The owners v1 Secret/other, v1 Secret/token could not be read.",
                "It is not known whether these owners exist."
            ),
        ]
    );
    assert!(found.iter().all(|finding| finding.code == Code::OwnerUnread), "{found:#?}");
}
