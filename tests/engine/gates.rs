//! Gates: what a delete must not remove, in any order of events. Most rows are in `rows/gates.txt`.

use gc_core::{
    graph::OwnerGraph,
    model::Snapshot,
    plan::{Gate, GateViolation, Gates, Plan, explore, gate_violations, unlisted_contents},
    server::Propagation::Background,
    simulate::{Assume, Request, SimContext},
};

use crate::scene::Scene;

/// `GATE OBJECTS…[+unnamed][ uncounted…]` for each violated gate. `text` is maybe `deny=TYPE,TYPE`, maybe `max=NUMBER`,
/// and maybe `each=NUMBER`, the number of objects of each unlisted resource, which is otherwise unknown.
pub fn violated(snapshot: &Snapshot, stage: &SimContext<'_>, plan: &Plan, text: &str) -> String {
    let (mut gates, mut count) = (Gates::default(), None);
    for word in text.split(' ') {
        match word.split_once('=').unwrap_or_default() {
            ("deny", types) => {
                gates.deny = types.split(',').map(|text| snapshot.resources.find_type(text).unwrap()).collect();
            }
            ("max", most) => gates.max = Some(most.parse().expect("a number")),
            ("each", number) => count = Some(number.parse().expect("a number")),
            _ => panic!("what is {word}?"),
        }
    }
    let mut unlisted_contents = unlisted_contents(stage, plan);
    unlisted_contents.iter_mut().flat_map(|of| &mut of.unlisted).for_each(|unlisted| unlisted.count = count);
    let violations = gate_violations(snapshot, plan, &unlisted_contents, &gates, |_| false);
    violations.iter().map(|violation| tell(snapshot, violation)).collect::<Vec<_>>().join("; ")
}

fn tell(snapshot: &Snapshot, gate_violations: &GateViolation) -> String {
    let name = |resource| snapshot.resources.get(resource).full_name();
    let mut describe = match gate_violations.gate {
        Gate::Deny { resource } => name(resource),
        Gate::Max { max } => max.to_string(),
        Gate::DenyEffect { effect } => effect.name().to_owned(),
        Gate::FailOn { result } => result.name().to_owned(),
    };
    gate_violations.objects.iter().for_each(|object| describe += &format!(" {}", snapshot.short_name(*object)));
    if gate_violations.unnamed > 0 {
        describe += &format!(" +{}", gate_violations.unnamed);
    }
    gate_violations.uncounted.iter().for_each(|resource| describe += &format!(" {}?", name(*resource)));
    gate_violations.unread.iter().for_each(|gap| describe += &format!(" {gap}?"));
    describe
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

/// A list that could not be read may hide what is counted: the gate is shut, unless just that is allowed.
#[test]
fn what_hides_in_a_list_that_could_not_be_read_is_counted() {
    let graph = "
        unread Secret
        Shop r
        ConfigMap c <- Shop/r";
    let scene = Scene::new(graph);
    let owners = OwnerGraph::new(&scene.snapshot);
    let context = SimContext::new(&scene.snapshot, &owners, Assume::Known);
    let plan = explore(&context, &Request::delete(vec![scene.id("Shop/r")], Background));
    let gates = Gates { max: Some(2), ..Gates::default() };
    assert_eq!(gate_violations(&scene.snapshot, &plan, &[], &gates, |_| false).len(), 1);
    assert_eq!(gate_violations(&scene.snapshot, &plan, &[], &gates, |gap| gap.resource == "secrets"), []);
}
