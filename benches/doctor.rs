//! Measures diagnoses by the number of objects and by their problems: `cargo bench --bench doctor [-- OBJECTS…]`.

mod shops;

use std::time::Instant;

use gc_core::{
    doctor::{Case, Limit, diagnose},
    graph::OwnerGraph,
    model::FOREGROUND_FINALIZER,
    simulate::{Assume, Projection, SimContext},
};

use shops::{Shop, cluster, sizes};

/// An object by its number.
type Shape = fn(u32) -> Shop;

/// A number that no object has.
const NOBODY: u32 = u32::MAX;

const SHAPES: &[(&str, Shape)] = &[
    ("healthy", |number| (number.checked_sub(1).map(|number| number / 10).into_iter().collect(), false, &[])),
    ("one in 100 has lost its owner", |number| {
        (
            vec![if number % 100 == 0 { NOBODY } else { number / 10 * 10 }]
                .into_iter()
                .filter(|owner| *owner != number)
                .collect(),
            false,
            &[],
        )
    }),
    ("all have lost one owner", |_| (vec![NOBODY], false, &[])),
    ("circles of two", |number| (vec![number ^ 1], false, &[])),
    ("one circle", |number| (vec![number + 1], false, &[])),
    ("all held by a finalizer", |_| (Vec::new(), true, &["acme.io/hold"])),
    ("one waits for all, each held", |number| match number {
        0 => (Vec::new(), true, &[FOREGROUND_FINALIZER]),
        _ => (vec![0], true, &["acme.io/hold"]),
    }),
    ("a chain of waiting", |number| {
        (number.checked_sub(1).into_iter().collect(), true, &[FOREGROUND_FINALIZER, "acme.io/hold"])
    }),
];

fn main() {
    println!(
        "{:<30} {:>9}  {:>8}  {:>10} {:>10} {:>9}",
        "shape", "objects", "graph", "prognosis", "diagnosis", "findings"
    );
    for (name, shape) in SHAPES {
        for size in &sizes() {
            let snapshot = cluster(*size, *shape);
            let start = Instant::now();
            let graph = OwnerGraph::new(&snapshot);
            let built = format!("{:.0?}", start.elapsed());
            let stage = SimContext::new(&snapshot, &graph, Assume::Known);
            let start = Instant::now();
            let projection = Projection::of(&stage);
            let predicted = format!("{:.0?}", start.elapsed());
            let start = Instant::now();
            let fresh = rustc_hash::FxHashSet::default();
            let case = Case {
                stage: &stage,
                projection: &projection,
                now: Some(1000),
                live: true,
                fresh: &fresh,
                made: &[],
                kubectl: &gc_core::command_line::PLAIN,
                events: &[],
                probed: None,
                recovered: &Default::default(),
                evidence: &Default::default(),
                limit: &Limit::Everything,
            };
            let findings = diagnose(&case).findings.len();
            let diagnosed = format!("{:.0?}", start.elapsed());
            assert_eq!(findings == 0, *name == "healthy", "{name}");
            println!("{name:<30} {size:>9}  {built:>8}  {predicted:>10} {diagnosed:>10} {findings:>9}");
        }
    }
}
