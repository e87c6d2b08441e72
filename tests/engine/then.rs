//! The second end of a plan says what a simulation says in which all others do their part (R9.37).

use gc_core::{
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    plan::{After, Outcome, Plan, explore},
    simulate::{Assume, Request, SimContext},
};

use crate::graphs::{
    generate::{Mix, case},
    scene,
};

/// How many graphs of each mix are tried.
const GRAPHS: u64 = 8;
const MANY_GRAPHS: u64 = 60;

/// What may become of an object: the likeliest first, then the others.
fn ends(snapshot: &Snapshot, outcome: Option<&Outcome>, object: ObjectId) -> Vec<Option<After>> {
    let others = |outcome: &Outcome| outcome.alternatives.iter().map(|other| other.after.clone()).collect::<Vec<_>>();
    let before = snapshot.object(object);
    let unchanged = After {
        terminating: before.terminating(),
        finalizers: before.finalizers.to_vec(),
        owners: before.owners.to_vec(),
    };
    let first = outcome.map_or(Some(unchanged), |outcome| outcome.after.clone());
    std::iter::once(first).chain(outcome.map(others).unwrap_or_default()).collect()
}

fn second(plan: &Plan, object: ObjectId) -> Option<&Outcome> {
    let mut second = plan.then.iter().flat_map(|then| &then.outcomes);
    second.find(|outcome| outcome.object == object).or_else(|| plan.outcome(object))
}

#[test]
fn the_second_end_is_that_of_others_who_finish() {
    is_that_of_others_who_finish(GRAPHS);
}

#[test]
#[ignore = "long: 180 graphs"]
fn the_second_end_of_many_graphs_is_that_of_others_who_finish() {
    is_that_of_others_who_finish(MANY_GRAPHS);
}

fn is_that_of_others_who_finish(graphs: u64) {
    let (mut with, mut without) = (0, 0);
    for (mix, seed) in Mix::ALL.into_iter().flat_map(|mix| (0..graphs).map(move |seed| (mix, seed))) {
        let case = case(seed, mix);
        let snapshot = scene::snapshot(&case.graph);
        let graph = OwnerGraph::new(&snapshot);
        let context = SimContext::new(&snapshot, &graph, Assume::None);
        let round = &case.rounds[0];
        let is_wanted = |id: &ObjectId| round.wanted.contains(&snapshot.short_name(*id));
        let targets: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).filter(is_wanted).collect();
        let request = Request::delete(targets.into_iter().take(round.most_targets).collect(), round.propagation);
        let plan = explore(&context, &request);
        let expected = explore(&context, &Request { others_finish: true, ..request });
        if plan.outcomes.is_empty() {
            // The delete changes nothing: its target was terminating before.
            continue;
        }
        let describe = || format!("{} {seed}:\n{}\n{:?}", mix.name(), case.graph, plan.request);
        for (object, _) in snapshot.objects() {
            let name = snapshot.short_name(object);
            let told = ends(&snapshot, second(&plan, object), object);
            if expected.outcome(object).is_none() && plan.outcome(object).is_some() {
                // It goes anyway, because it or its owner was terminating before.
                let goes_anyway = expected.anyway.iter().any(|outcome| outcome.object == object);
                assert!(goes_anyway && told[0].is_none(), "{name} in {}", describe());
                continue;
            }
            assert_eq!(told, ends(&snapshot, expected.outcome(object), object), "{name} in {}", describe());
        }
        assert!(expected.then.is_none(), "nobody has anything left to do in {}", describe());
        *(if plan.then.is_some() { &mut with } else { &mut without }) += 1;
    }
    assert!(with > 8 && without > 8, "{with} with a second end, {without} without: too few of either");
}
