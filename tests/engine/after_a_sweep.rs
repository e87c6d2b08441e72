//! What one pass of a sweep leaves is at rest: neither another pass nor a collector that comes up finds anything more
//! to do about it.

use crate::graphs::{
    end::{End, State, left, names_one_twice, unchanged},
    generate::{Mix, case},
    judge::{Prediction, Read},
    record::{Start, Trial},
    text::{Graph, Line},
};

const GRAPHS: u64 = 150;

/// A graph that can be on a cluster: nothing is deleted and there that has no finalizer, unless a kubelet is to end it.
fn possible(graph: &Graph) -> Graph {
    let is_gone = |line: &Line| line.terminating && line.finalizers.is_empty() && line.node.is_none();
    let end = graph.lines.iter().map(|line| (line.short_name(), (!is_gone(line)).then(|| State::of(line, graph))));
    left(graph, &end.collect())
}

/// The end that is foretold first, and whether there are others.
fn predicted(graph: &Graph, start: Start) -> (End, bool) {
    let read = Read::new(&Trial { graph: graph.clone(), start: start.clone() });
    let stage = read.stage();
    let predicted = Prediction::new(&stage, &start);
    (predicted.end(), start == Start::Sweep && predicted.order_dependent())
}

/// Where an object that was in its owner's way names that twice, and the last reference doesn't block, nobody looks at
/// the owner again when it lets go (R3.10): that waits for the next pass, or for a collector to come up. Nothing else
/// does.
/// R8.6.
#[test]
fn what_a_sweep_leaves_is_at_rest() {
    let mut overlooked = 0;
    for (mix, seed) in Mix::ALL.into_iter().flat_map(|mix| (0..GRAPHS).map(move |seed| (mix, seed))) {
        let graph = possible(&case(seed, mix).graph);
        let after = left(&graph, &predicted(&graph, Start::Sweep).0);
        let rest = unchanged(&after);
        let (again, otherwise) = predicted(&after, Start::Sweep);
        let (restarted, _) = predicted(&after, Start::Restarted);
        let describe = || format!("{} {seed}:\n{graph}\nis left as\n{after}", mix.name());
        assert!(!otherwise, "another pass may do something: {}", describe());
        if names_one_twice(&graph) && again != rest {
            overlooked += 1;
            assert_eq!(restarted, again, "{}", describe());
            continue;
        }
        assert_eq!(again, rest, "another pass does something: {}", describe());
        assert_eq!(restarted, rest, "a collector that comes up does something: {}", describe());
    }
    assert!((1..GRAPHS / 10).contains(&overlooked), "{overlooked} have something that is overlooked");
}
