//! A sweep of many unconnected graphs together predicts the same ends as a sweep of each graph alone.

use gc_core::{
    model::ObjectId,
    plan::{explore, plan},
    simulate::{Request, Start::Sweep, WriteScope},
};

use crate::graphs::{
    end::{End, State, Written, unchanged},
    generate::{Mix, case},
    judge::{Prediction, Read, Verdict},
    kinds::KINDS,
    record::{Start, Trial},
    text::{Bent, Graph, Line},
};

const GRAPHS: u64 = 120;
/// How many different orders of reading the objects to test.
const ORDERS: usize = 2;

/// All graphs in one; each name gets its graph's number as a prefix.
fn together(graphs: &[Graph], order: usize) -> Graph {
    let lines = graphs.iter().enumerate().flat_map(|(number, graph)| {
        let renamed = move |name: &str| format!("{number}-{name}");
        graph.lines.iter().cloned().map(move |line| Line {
            name: renamed(&line.name),
            references: line.references.iter().map(|reference| renamed_reference(reference, &renamed)).collect(),
            ..line
        })
    });
    let mut lines: Vec<Line> = lines.collect();
    // Objects are read kind by kind.
    let place = |line: &Line| KINDS.iter().position(|kind| kind.name == line.kind.name).unwrap_or_default();
    lines.sort_by_key(|line| ((place(line) + 1) * (2 * order + 1) % 31, line.name.clone()));
    Graph { lines, ..Graph::default() }
}

fn renamed_state(state: State, number: usize) -> State {
    let owners = state.owners.into_iter().map(|owner| {
        let uid = match owner.uid.split_once('-') {
            Some(("absent", name)) => match name.split_once('-') {
                Some((kind, name)) => format!("absent-{kind}-{number}-{name}"),
                None => format!("absent-{number}-{name}"),
            },
            Some((kind, name)) => format!("{kind}-{number}-{name}"),
            None => format!("{number}-{}", owner.uid),
        };
        Written { name: format!("{number}-{}", owner.name), uid, ..owner }
    });
    State { owners: owners.collect(), ..state }
}

fn renamed_reference(reference: &Bent, renamed: &impl Fn(&str) -> String) -> Bent {
    let bends = reference.bends.iter().map(|(field, value)| {
        let value = match (field.as_str(), value.split_once('-')) {
            ("name", _) => renamed(value),
            ("uid", Some((kind, name))) => format!("{kind}-{}", renamed(name)),
            ("uid", None) => renamed(value),
            _ => value.clone(),
        };
        (field.clone(), value)
    });
    Bent { name: renamed(&reference.name), bends: bends.collect(), ..reference.clone() }
}

/// A sweep of all graphs also predicts the first end of each graph alone, though perhaps not as the first: the order of
/// events differs.
#[test]
fn what_is_told_of_a_graph_is_told_of_it_among_others() {
    let graphs: Vec<Graph> = (0..GRAPHS).map(|seed| case(seed, Mix::Full).graph).collect();
    let mut verdicts = Vec::new();
    for order in 0..ORDERS {
        let trial = Trial { graph: together(&graphs, order), start: Start::Sweep };
        let read = Read::new(&trial);
        let stage = read.stage();
        let whole = Prediction::new(&stage, &Start::Sweep);
        let mut end: End = unchanged(&trial.graph);
        for (number, graph) in graphs.iter().enumerate() {
            let alone = Read::new(&Trial { graph: graph.clone(), start: Start::Sweep });
            let stage = alone.stage();
            for (name, state) in Prediction::new(&stage, &Start::Sweep).end() {
                let (kind, name) = name.split_once('/').expect("Kind/name");
                end.insert(format!("{kind}/{number}-{name}"), state.map(|state| renamed_state(state, number)));
            }
        }
        let verdict = whole.predicted(&end);
        assert!(verdict.is_some(), "{order}: {}", whole.differences(&end).join("\n"));
        verdicts.extend(verdict);
    }
    assert!(
        verdicts.contains(&Verdict::Told),
        "the order of events is the same among others: nothing was put to the test"
    );
}

/// A sweep of everything also predicts what a sweep of only one of the graphs does, in yet another order of events.
#[test]
#[ignore = "long: plans each of many graphs again and again"]
fn what_a_limited_sweep_does_is_told_of_a_whole_one() {
    let graphs: Vec<Graph> = (0..GRAPHS).map(|seed| case(seed, Mix::Full).graph).collect();
    let mut otherwise = 0;
    for order in 0..ORDERS {
        let trial = Trial { graph: together(&graphs, order), start: Start::Sweep };
        let read = Read::new(&trial);
        let stage = read.stage();
        let whole = explore(&stage, &Request::only_collect(Sweep));
        for number in 0..graphs.len() {
            let is_of =
                |id: &ObjectId| stage.snapshot.text(stage.snapshot.object(*id).name).starts_with(&format!("{number}-"));
            let own: Vec<ObjectId> = stage.snapshot.objects().map(|(id, _)| id).filter(is_of).collect();
            let limited = plan(&stage, &Request::only_collect(Sweep).limited_to(WriteScope::new(own.iter().copied())));
            for object in own {
                let Some(limited) = limited.outcome(object) else { continue };
                let describe = whole.outcome(object).unwrap_or_else(|| panic!("{order}: nothing is told of {number}"));
                let alternatives = describe.alternatives.iter().any(|other| other.after == limited.after);
                otherwise += usize::from(alternatives);
                let name = stage.snapshot.short_name(object);
                assert!(
                    describe.after == limited.after || alternatives,
                    "{order}: {name}: {limited:?} is not told, but {describe:?}"
                );
            }
        }
    }
    assert!(otherwise > 0, "the order of events is the same in all: nothing was put to the test");
}
