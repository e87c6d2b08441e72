//! Measures diagnoses by the number of objects and by their problems: `cargo bench --bench doctor [-- OBJECTS…]`.

use std::time::Instant;

use gc_core::{
    doctor::{Case, Limit, diagnose},
    graph::OwnerGraph,
    model::{
        FOREGROUND_FINALIZER, ListRecord, Origin, RawObject, RawReference, Resource, ResourceId, Resources, Snapshot,
        SnapshotBuilder,
    },
    simulate::{Assume, Projection, SimContext},
};

/// An object by its number: its owners, whether it is terminating, and its finalizers.
type Shape = fn(u32) -> (Vec<u32>, bool, &'static [&'static str]);

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
    let sizes: Vec<u32> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 100_000, 1_000_000] } else { sizes };
    println!(
        "{:<30} {:>9}  {:>8}  {:>10} {:>10} {:>9}",
        "shape", "objects", "graph", "prognosis", "diagnosis", "findings"
    );
    for (name, shape) in SHAPES {
        for size in &sizes {
            let snapshot = snapshot(*size, *shape);
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

fn snapshot(size: u32, shape: Shape) -> Snapshot {
    let resource = Resource {
        group: "acme.io".into(),
        version: "v1".into(),
        plural: "shops".into(),
        kind: "Shop".into(),
        namespaced: true,
        verbs: ["get", "list", "watch", "delete", "patch"].map(str::to_owned).to_vec(),
        ..Resource::default()
    };
    let mut builder =
        SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, Resources::new(vec![resource], Vec::new()));
    for number in 0..size {
        let (owners, terminating, finalizers) = shape(number);
        let owners = owners.into_iter().map(|owner| {
            // The last object's reference closes the cycle.
            let owner = if owner == size { 0 } else { owner };
            RawReference {
                api_version: "acme.io/v1".into(),
                kind: "Shop".into(),
                name: format!("o{owner}").into(),
                uid: format!("u{owner}").into(),
                controller: None,
                block_owner_deletion: Some(true),
            }
        });
        let object = RawObject {
            namespace: "ns".into(),
            name: format!("o{number}").into(),
            uid: format!("u{number}").into(),
            deleted: terminating.then_some(1),
            finalizers: finalizers.iter().map(|finalizer| (*finalizer).into()).collect(),
            owners: owners.collect(),
            ..RawObject::default()
        };
        builder.add(ResourceId(0), &object);
    }
    builder.list(ListRecord {
        resource: ResourceId(0),
        namespace: None,
        resource_version: String::new(),
        failure: None,
    });
    builder.build()
}
