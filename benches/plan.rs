//! Measures plans by the number of objects they touch, and sweeps by the number of existing objects: `cargo bench
//! --bench plan [-- OBJECTS…]`.

mod shops;

use std::time::Instant;

use gc_core::{
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    plan::{explore, plan},
    server::Propagation,
    simulate::{Assume, Request, SimContext, Start},
};

use shops::{cluster, sizes};

/// The number of an object's owner; `None` if it has no owner.
type Shape = fn(u32) -> Option<u32>;

const SHAPES: &[(&str, Shape)] = &[
    ("star", |number| (number > 0).then_some(0)),
    ("chain", |number| number.checked_sub(1)),
    ("tree of tens", |number| number.checked_sub(1).map(|number| number / 10)),
];

/// Graphs for sweeps. No object has the number `u32::MAX`.
const SWEPT: &[(&str, Shape)] = &[
    ("all is well", |number| number.checked_sub(1).map(|number| number / 10)),
    ("one in 100", |number| {
        if number % 100 == 0 { Some(u32::MAX) } else { Some(number / 10 * 10).filter(|owner| *owner != number) }
    }),
    ("all is lost", |number| Some(if number % 10 == 0 { u32::MAX } else { number / 10 * 10 })),
];

fn main() {
    let sizes = sizes();
    println!(
        "{:<14} {:>9}  {:>8}  {:>10} {:>10} {:>10}",
        "shape", "objects", "graph", "background", "foreground", "orphan"
    );
    for (name, shape) in SHAPES {
        for size in &sizes {
            let snapshot = snapshot(*size, *shape);
            let start = Instant::now();
            let graph = OwnerGraph::new(&snapshot);
            let built = start.elapsed();
            let stage = SimContext::new(&snapshot, &graph, Assume::Known);
            let times = [Propagation::Background, Propagation::Foreground, Propagation::Orphan].map(|propagation| {
                let start = Instant::now();
                let plan = explore(&stage, &Request::delete(vec![ObjectId(0)], propagation));
                assert!(
                    propagation == Propagation::Orphan || plan.summary.deleted == *size as usize,
                    "{:?}",
                    plan.summary
                );
                format!("{:.0?}", start.elapsed())
            });
            println!(
                "{name:<14} {size:>9}  {:>8}  {:>10} {:>10} {:>10}",
                format!("{built:.0?}"),
                times[0],
                times[1],
                times[2]
            );
        }
    }
    sweeps(&sizes);
}

fn sweeps(sizes: &[u32]) {
    println!(
        "\n{:<15} {:>9}  {:>9}  {:>10} {:>10} {:>8}",
        "sweep", "objects", "deleted", "one order", "explored", "orders"
    );
    for (name, shape) in SWEPT {
        for size in sizes {
            let snapshot = snapshot(*size, *shape);
            let graph = OwnerGraph::new(&snapshot);
            let stage = SimContext::new(&snapshot, &graph, Assume::Known);
            let request = Request::only_collect(Start::Sweep);
            let start = Instant::now();
            let deleted = plan(&stage, &request).summary.deleted;
            let one = format!("{:.0?}", start.elapsed());
            let start = Instant::now();
            let explored = explore(&stage, &request);
            assert_eq!(explored.summary.deleted, deleted, "{name}");
            let all = format!("{:.0?}", start.elapsed());
            println!("{name:<15} {size:>9}  {deleted:>9}  {one:>10} {all:>10} {:>8}", explored.orders);
        }
    }
}

/// A cluster of this shape, in which nothing is being deleted.
fn snapshot(size: u32, owner: Shape) -> Snapshot {
    cluster(size, |number| (owner(number).into_iter().collect(), false, &[]))
}
