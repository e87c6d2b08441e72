//! If `order_sensitive` says that the order of events can't matter, every order gives the same end.

use std::collections::BTreeSet;

use gc_core::{
    graph::OwnerGraph,
    model::{ObjectId, Reference, Symbol},
    server::{DeleteOptions, Propagation},
    simulate::{
        Assume, InitialListOrder, Request, SimContext, Start, World, delays::for_each_delay,
        interleaving::Interleaving, order_sensitivity::order_sensitive,
    },
};
use proptest::prelude::*;

use crate::scene::Scene;

/// How many unusual features a graph has: mostly few, so that many graphs are order-insensitive.
#[derive(Clone, Copy, Debug)]
struct Oddness {
    finalizers: u32,
    bends: u32,
    cycles: u32,
    owners: usize,
}

fn scenes() -> impl Strategy<Value = (String, Vec<usize>, Propagation)> {
    let oddness = (
        prop::sample::select(vec![0, 1, 3]),
        prop::sample::select(vec![0, 1]),
        prop::sample::select(vec![0, 0, 1]),
        1..=3usize,
    );
    let oddness = oddness.prop_map(|(finalizers, bends, cycles, owners)| Oddness { finalizers, bends, cycles, owners });
    let policy = prop::sample::select(vec![Propagation::Background, Propagation::Foreground, Propagation::Orphan]);
    (oddness, 2..9usize, prop::collection::vec(0..8usize, 1..=3), policy)
        .prop_flat_map(|(oddness, size, targets, policy)| {
            (prop::collection::vec(lines(oddness), size), Just(targets), Just(policy))
        })
        .prop_map(|(lines, targets, policy)| {
            // Objects with low numbers own more.
            let targets: BTreeSet<usize> =
                targets.into_iter().map(|target| target * target / 8 % lines.len()).collect();
            (text(&lines), targets.into_iter().collect(), policy)
        })
}

#[derive(Clone, Debug)]
struct Line {
    kind: &'static str,
    words: &'static str,
    owners: Vec<(prop::sample::Index, bool, &'static str, &'static str)>,
}

fn lines(oddness: Oddness) -> impl Strategy<Value = Line> {
    let words = prop_oneof![
        10 - oddness.finalizers => Just(""),
        oddness.finalizers => prop::sample::select(vec![
            " fin=acme.io/x", " fin=acme.io/x", " fin=acme.io/x", " fin=foregroundDeletion", " fin=orphan",
                " T=0 fin=acme.io/x",
        ]),
    ];
    let bend = prop_oneof![
        10 - oddness.bends => Just(""),
        oddness.bends => prop::sample::select(vec!["@name=other", "@uid=other", "@version=acme.io/v9", "@uid=Shop-o0"]),
    ];
    let owner = (
        any::<prop::sample::Index>(),
        prop::bool::weighted(f64::from(oddness.cycles) / 10.0),
        bend,
        prop::sample::select(vec!["!", "!", ""]),
    );
    (
        prop::sample::select(vec!["Shop", "ConfigMap", "Pod", "Secret"]),
        words,
        prop::collection::vec(owner, 0..=oddness.owners),
    )
        .prop_map(|(kind, words, owners)| Line { kind, words, owners })
}

fn text(lines: &[Line]) -> String {
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        text += &format!("{} o{number}{}", line.kind, line.words);
        let mut named: BTreeSet<usize> = BTreeSet::new();
        let mut references = String::new();
        for (index, any, bend, block) in &line.owners {
            if *any || number > 0 {
                let owner = index.index(if *any { lines.len() } else { number });
                if named.insert(owner) {
                    references += &format!(" {}/o{owner}{bend}{block}", lines[owner].kind);
                }
            }
        }
        if !references.is_empty() {
            text += &format!(" <-{references}");
        }
        text.push('\n');
    }
    text
}

/// An object's state at the end: whether it is terminating, its finalizers, its references.
type End = (bool, Vec<Symbol>, Vec<Reference>);

/// Every object's state at the end.
fn end_of(world: &World<'_, '_>) -> Vec<Option<End>> {
    let state =
        |id: ObjectId| world.stored(id).map(|end| (end.terminating, end.finalizers.to_vec(), end.owners.to_vec()));
    world.context.snapshot.objects().map(|(id, _)| state(id)).collect()
}

/// `None` if `order_sensitive` finds an object; otherwise `Err` describes an order whose end differs from the first.
fn surveyed(scene: &Scene, request: &Request, orders: u64) -> Option<Result<(), String>> {
    let graph = OwnerGraph::new(&scene.snapshot);
    let stage = SimContext::new(&scene.snapshot, &graph, Assume::Known);
    let begin = || {
        let mut world = World::started(&stage, request.start, InitialListOrder::default());
        let options = DeleteOptions { propagation: Some(request.propagation), ..DeleteOptions::default() };
        world.requests.extend(request.targets.iter().map(|target| (*target, options)));
        world
    };
    let mut first = begin();
    first.settle();
    if !order_sensitive(&first, request).is_empty() {
        return None;
    }
    let expected = end_of(&first);
    let differing = |world: &World<'_, '_>| {
        let ends = end_of(world);
        let differs = scene.snapshot.objects().find(|(id, _)| ends[id.index()] != expected[id.index()])?.0;
        let (first, other) = (&expected[differs.index()], &ends[differs.index()]);
        Some(format!("{}: {first:?}, or {other:?}", scene.snapshot.short_name(differs)))
    };
    let mut otherwise = None;
    for_each_delay(&begin(), first.steps, 100_000, |world| {
        otherwise = differing(&world);
        otherwise.is_none()
    });
    for number in 0..orders {
        let mut world = begin();
        let mut order = Interleaving::new(number);
        world.settle_by(|world| order.next_step(world));
        otherwise = otherwise.or_else(|| differing(&world));
    }
    Some(otherwise.map_or(Ok(()), Err))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_not_in_question_ends_one_way((text, targets, policy) in scenes()) {
        let scene = Scene::new(&text);
        let targets: Vec<ObjectId> = targets.iter().map(|target| ObjectId(*target as u32)).collect();
        if let Some(otherwise) = surveyed(&scene, &Request::delete(targets.clone(), policy), 40) {
            prop_assert!(otherwise.is_ok(), "{otherwise:?} {policy:?} of {targets:?} in\n{text}");
        }
        if let Some(otherwise) = surveyed(&scene, &Request::only_collect(Start::Sweep), 40) {
            prop_assert!(otherwise.is_ok(), "{otherwise:?} of a sweep in\n{text}");
        }
    }
}

/// Whether the order of events may matter; and how, if it does although it can't.
pub fn survey(scene: &Scene, request: &Request) -> String {
    match surveyed(scene, request, 40) {
        None => "may matter".to_owned(),
        Some(Ok(())) => "can't matter".to_owned(),
        Some(Err(otherwise)) => otherwise,
    }
}
