//! Gates: what a delete must not remove, in any order of events.

use gc_core::{
    graph::OwnerGraph,
    model::Snapshot,
    plan::{Gate, GateViolation, Gates, explore, gate_violations, unlisted_contents},
    server::Propagation::{self, Background, Foreground, Orphan},
    simulate::{Assume, Request, SimContext},
};

use crate::scene::Scene;

/// `GATE OBJECTS…[+unnamed][ uncounted…]` for each violated gate; `deny` is a comma-separated list of types, and
/// `count` is the number of objects of each unlisted resource.
fn describe(
    graph: &str,
    targets: &str,
    policy: Propagation,
    deny: &str,
    max: Option<usize>,
    count: Option<u64>,
) -> Vec<String> {
    let scene = Scene::new(graph);
    let snapshot = &scene.snapshot;
    let graph = OwnerGraph::new(snapshot);
    let stage = SimContext::new(snapshot, &graph, Assume::Known);
    let targets = targets.split_whitespace().map(|target| scene.id(target)).collect();
    let plan = explore(&stage, &Request::delete(targets, policy));
    let mut unlisted_contents = unlisted_contents(&stage, &plan);
    unlisted_contents.iter_mut().flat_map(|of| &mut of.unlisted).for_each(|unlisted| unlisted.count = count);
    let deny = deny.split_terminator(',').map(|text| snapshot.resources.find_type(text).unwrap()).collect();
    gate_violations(snapshot, &plan, &unlisted_contents, &Gates { deny, max, ..Gates::default() }, |_| false)
        .iter()
        .map(|gate_violations| tell(snapshot, gate_violations))
        .collect()
}

fn tell(snapshot: &Snapshot, gate_violations: &GateViolation) -> String {
    let name = |resource| snapshot.resources.get(resource).full_name();
    let mut describe = match gate_violations.gate {
        Gate::Deny(resource) => name(resource),
        Gate::Max(max) => max.to_string(),
        Gate::DenyEffect(class) => class.name().to_owned(),
        Gate::FailOn(fail_on) => fail_on.name().to_owned(),
    };
    gate_violations.objects.iter().for_each(|object| describe += &format!(" {}", snapshot.short_name(*object)));
    if gate_violations.unnamed > 0 {
        describe += &format!(" +{}", gate_violations.unnamed);
    }
    gate_violations.uncounted.iter().for_each(|resource| describe += &format!(" {}?", name(*resource)));
    gate_violations.unread.iter().for_each(|gap| describe += &format!(" {gap}?"));
    describe
}

#[test]
fn what_goes_is_denied_by_its_type_and_by_its_number() {
    let graph = "
        Shop a
        ConfigMap c <- Shop/a
        Secret s <- Shop/a";
    let describe = |policy, deny, max| describe(graph, "Shop/a", policy, deny, max, None);
    assert_eq!(describe(Background, "configmaps,pods,secrets", None), ["configmaps ConfigMap/c", "secrets Secret/s"]);
    assert_eq!(describe(Orphan, "configmaps,secrets", Some(1)), Vec::<String>::new());
    assert_eq!(describe(Background, "", Some(2)), ["2 Shop/a ConfigMap/c Secret/s"]);
    assert_eq!(describe(Background, "", Some(3)), Vec::<String>::new());
    assert_eq!(describe(Orphan, "shop", Some(0)), ["shops.acme.io Shop/a", "0 Shop/a"], "targets are no exception");
}

#[test]
fn what_is_set_terminating_can_not_be_taken_back() {
    let graph = "
        Shop a
        ConfigMap c fin=acme.io/x <- Shop/a";
    assert_eq!(
        describe(graph, "Shop/a", Background, "configmaps", Some(1), None),
        ["configmaps ConfigMap/c", "1 Shop/a ConfigMap/c"]
    );
    // An object that was terminating before, and that the delete doesn't change, doesn't count.
    let graph = "
        Shop a
        ConfigMap c T=0 fin=acme.io/x <- Shop/a";
    assert_eq!(describe(graph, "Shop/a", Background, "configmaps", Some(1), None), Vec::<String>::new());
}

/// M15: whether the ConfigMap survives depends on the order of events. Gates count it, whichever of the two ends the
/// plan names first.
#[test]
fn what_goes_in_one_order_of_events_goes() {
    let scene = Scene::new(
        "
        Shop r
        Shop a fin=orphan <- Shop/r!
        Shop b <- Shop/r!
        ConfigMap c <- Shop/a! Shop/b!",
    );
    let graph = OwnerGraph::new(&scene.snapshot);
    let stage = SimContext::new(&scene.snapshot, &graph, Assume::Known);
    let mut plan = explore(&stage, &Request::delete(vec![scene.id("Shop/r")], Background));
    let gates = Gates {
        deny: vec![scene.snapshot.resources.find_type("configmaps").unwrap()],
        max: Some(3),
        ..Gates::default()
    };
    for _ in 0..2 {
        let describe: Vec<String> = gate_violations(&scene.snapshot, &plan, &[], &gates, |_| false)
            .iter()
            .map(|gate_violations| tell(&scene.snapshot, gate_violations))
            .collect();
        let all: Vec<String> = plan.outcomes.iter().map(|outcome| scene.snapshot.short_name(outcome.object)).collect();
        assert_eq!(describe, ["configmaps ConfigMap/c".to_owned(), format!("3 {}", all.join(" "))]);
        let either = plan.outcomes.iter_mut().find(|outcome| !outcome.alternatives.is_empty()).unwrap();
        std::mem::swap(&mut either.kind, &mut either.alternatives[0].kind);
    }
}

#[test]
fn what_could_not_be_read_may_go() {
    let graph = "
        unread Secret
        Shop r
        ConfigMap c <- Shop/r Secret/u";
    let describe = describe(graph, "Shop/r", Background, "configmaps", None, None);
    assert_eq!(describe, ["configmaps ConfigMap/c"]);
}

/// A list that could not be read may hide what is counted: the gate is shut, unless just that is allowed.
#[test]
fn what_hides_in_a_list_that_could_not_be_read_is_counted() {
    let graph = "
        unread Secret
        Shop r
        ConfigMap c <- Shop/r";
    let described = |deny, max| describe(graph, "Shop/r", Background, deny, max, None);
    assert_eq!(described("pods", None), Vec::<String>::new());
    let unread = &described("secrets", None)[0];
    assert!(unread.starts_with("secrets secrets") && unread.ends_with('?'), "{unread}");
    let many = &described("", Some(100))[0];
    assert!(many.starts_with("100 Shop/r ConfigMap/c secrets") && many.ends_with('?'), "{many}");
    let scene = Scene::new(graph);
    let owners = OwnerGraph::new(&scene.snapshot);
    let context = SimContext::new(&scene.snapshot, &owners, Assume::Known);
    let plan = explore(&context, &Request::delete(vec![scene.id("Shop/r")], Background));
    let gates = Gates { max: Some(2), ..Gates::default() };
    assert_eq!(gate_violations(&scene.snapshot, &plan, &[], &gates, |_| false).len(), 1);
    assert_eq!(gate_violations(&scene.snapshot, &plan, &[], &gates, |gap| gap.resource == "secrets"), []);
}

#[test]
fn what_goes_with_a_namespace_and_has_no_name_is_counted_too() {
    let graph = "
        Namespace ns
        ConfigMap a";
    let describe = |deny, max, count| describe(graph, "Namespace/ns", Background, deny, max, count);
    assert_eq!(describe("events", None, Some(3)), ["events +3"]);
    assert_eq!(
        describe("events.events.k8s.io", None, Some(3)),
        ["events.events.k8s.io +3"],
        "both groups are one storage"
    );
    assert_eq!(describe("events", None, Some(0)), Vec::<String>::new());
    assert_eq!(describe("events", None, None), ["events events?"], "unknown is not nothing");
    assert_eq!(describe("secrets", None, None), Vec::<String>::new());
    // This scene has two resources that are never listed; events don't count.
    assert_eq!(describe("", Some(5), Some(3)), Vec::<String>::new());
    assert_eq!(describe("", Some(4), Some(3)), ["4 ConfigMap/a Namespace/ns +3"]);
    assert_eq!(describe("", Some(100), None), ["100 ConfigMap/a Namespace/ns sealed.odd.io?"], "nobody knows how many");
}

/// Once the namespace is terminating, the other objects wait only for the pod.
#[test]
fn what_is_spared_for_now_goes() {
    let graph = "
        Namespace ns
        Pod held fin=acme.io/x
        ConfigMap a
        ConfigMap b <- Pod/goes
        ConfigMap c fin=acme.io/x <- Pod/goes
        Pod goes";
    let describe = |deny, max| describe(graph, "Namespace/ns", Foreground, deny, max, Some(0));
    assert_eq!(describe("configmaps", None), ["configmaps ConfigMap/b ConfigMap/c ConfigMap/a"]);
    assert_eq!(describe("", Some(5)), ["5 Namespace/ns Pod/held Pod/goes ConfigMap/b ConfigMap/c ConfigMap/a"]);
    assert_eq!(describe("", Some(6)), Vec::<String>::new());
}
