//! Random graphs: compares the engine's predictions with what a real collector does.
//!
//! The tests build graphs while no collector runs. The engine predicts what a starting collector does; a collector
//! starts, and the tests compare every object. Then the engine predicts a delete; the tests delete, and compare again.
//!
//! One more wrong prediction is worth more than a thousand right ones. `GRAPHS=2000 SEED=1 cargo test --test cluster --
//! --ignored --nocapture random_graphs` looks for it. The test shrinks what it finds, and prints rows for
//! `tests/engine/rows/rules.txt` and `found.txt`. With `RECORD=FILE`, it records the right predictions, which
//! `tests/engine/recorded.rs` replays.
//!
//! With `SEAT=sweep`, `sweep --watch` takes the collector's place, and must do the same. `pass` tests a single pass of
//! a sweep.

pub mod batch;
pub mod build;
mod fidelity;
mod kept;
mod operators;
mod pass;
mod records;
mod report;
mod smallest;
pub mod state;
mod workloads;

use std::{collections::BTreeMap, env, ops::Range, time::Duration};

use gc_core::server::Propagation;

use crate::{
    bench::{PATIENCE, Verdict as _, World as _, in_batches, none_is_wrong, number},
    graphs::{
        generate::{Case, Delete, Mix, ROUNDS, case},
        judge::Verdict,
        record::{self, Record, Start},
        text::{Graph, Line},
    },
    harness::ADMIN,
    sweep::seat::Seat,
};

use batch::{Bench, Wanted};
use fidelity::Run;
use records::Records;
use smallest::shrink_and_tell;

/// Graphs that one start of the collector processes.
const BATCH: usize = 200;
/// How many graphs of each mix are built, and from which seed on.
const GRAPHS: u64 = 60;
const SEED: u64 = 1000;
/// The most starts of a collector to shrink one wrong prediction.
const SHRINK: u64 = 12;
/// Until the collector has failed thirteen times: 20 seconds, on a busy machine.
const PAUSED: Duration = Duration::from_mins(5);
/// For a prediction that a more patient run has already found wrong, and for a collector that has nothing left to do.
const SMALL_PATIENCE: Duration = Duration::from_secs(6);

/// Every case that was ever predicted wrong.
const FOUND: &str = include_str!("found.txt");

/// A graph for each thing to know of references, finalizers and targets; each is deleted with every policy.
const SHOWN: &str = include_str!("shown.txt");

/// The cases that were once predicted wrong come first, then those of which each shows one thing, then random graphs of
/// every mix. Each must end as predicted; if the plan says that the order of events decides, in one of the predicted
/// ends.
#[test]
fn graphs_end_as_foretold() {
    end_as_foretold(Seat::Collector, [(Mix::Full, 0..14), (Mix::Legal, 0..6), (Mix::OrderFree, 0..4)]);
}

/// The same with a sweep in the collector's place.
#[test]
#[ignore = "long: random graphs; one pass of a sweep is tried in the quick tier"]
fn graphs_end_as_foretold_under_a_sweep() {
    end_as_foretold(Seat::Sweep, [(Mix::Full, 0..4), (Mix::Legal, 0..2), (Mix::OrderFree, 0..1)]);
}

#[test]
#[ignore = "long: 296 graphs more"]
fn more_graphs_end_as_foretold() {
    end_as_foretold(Seat::Collector, [(Mix::Full, 14..200), (Mix::Legal, 6..80), (Mix::OrderFree, 4..40)]);
}

#[test]
#[ignore = "long: 143 graphs more"]
fn more_graphs_end_as_foretold_under_a_sweep() {
    end_as_foretold(Seat::Sweep, [(Mix::Full, 4..90), (Mix::Legal, 2..40), (Mix::OrderFree, 1..20)]);
}

/// R2.9, R8.9: what the collector tries in vain for long, it tries again only so much later, whatever has changed
/// since. The bench waits for that.
#[test]
#[ignore = "long: the collector's pauses have to grow first"]
fn what_the_collector_tries_again_late_ends_as_foretold() {
    let mut bench = Bench::start();
    let graph = Graph::parse("Shop a\nConfigMap b <- Shop/a@version=acme.io/v9! Secret/gone");
    let orphans = Delete { wanted: vec!["Shop/a".to_owned()], most_targets: 1, propagation: Propagation::Orphan };
    let cases = [("late".to_owned(), Case { graph, rounds: vec![orphans] })];
    bench.make_room(cases.len());
    let (jobs, graphs) = (bench.build(&cases), bench.graphs());
    graphs.start(Seat::Collector, &bench.cluster.kubeconfig(ADMIN));
    // The next pause is one of 20 seconds: 5 ms, doubled twelve times.
    let retries = || bench.cluster.retries_of("garbage_collector_attempt_to_delete");
    bench.cluster.wait_until("the 13th retry", PAUSED, || retries() >= 13);
    let objects = graphs.look();
    let trials: Vec<_> = jobs.iter().filter_map(|job| Some((job, job.delete(0, &objects)?))).collect();
    let wanted = Wanted { rounds: 1, patience: SMALL_PATIENCE, explore_all: false };
    let act = || bench.delete(&trials, &objects);
    let (_, reports) = bench.round(&graphs, &trials, 1, wanted, &objects, act);
    graphs.end();
    assert_eq!(reports.iter().map(|report| report.verdict).collect::<Vec<_>>(), [Verdict::Exact], "{}", reports[0]);
}

fn end_as_foretold(seat: Seat, mixes: [(Mix, Range<u64>); 3]) {
    let mut bench = Bench::with(seat);
    let with =
        |policy: Propagation| record::parse(&SHOWN.replace("\ndelete ", &format!("\ndelete {} ", policy.name())));
    let shown = [Propagation::Background, Propagation::Foreground, Propagation::Orphan].into_iter().flat_map(with);
    let mut cases: Vec<(String, Case)> = record::parse(FOUND).into_iter().chain(shown).map(found).collect();
    for (mix, seeds) in mixes {
        cases.extend(seeds.map(|seed| seeded(seed, mix)));
    }
    let wanted = Wanted { rounds: 1, patience: PATIENCE, explore_all: false };
    let reports = in_batches("graphs", &cases, BATCH, |cases| bench.run(cases, wanted));
    shrink_and_tell(&mut bench, reports.iter().find(|report| report.is_wrong()), SHRINK);
    none_is_wrong(&reports);
}

pub(crate) fn seeded(seed: u64, mix: Mix) -> (String, Case) {
    (format!("{} {seed}", mix.name()), case(seed, mix))
}

/// A recorded trial as a case to build. Its delete comes after the collector's start.
fn found(record: Record) -> (String, Case) {
    let rounds = match record.trial.start {
        Start::Delete { targets, propagation } | Start::Finish { targets, propagation } => {
            vec![Delete { most_targets: targets.len(), wanted: targets, propagation }]
        }
        Start::Restarted | Start::Sweep => Vec::new(),
    };
    (record.notes.join("; "), Case { graph: record.trial.graph, rounds })
}

/// As many graphs as `GRAPHS` says of each `MIX`, starting with `SEED`, with `ROUNDS` deletes each; or only the graph
/// in `GRAPH`, see [`one_graph`].
#[test]
#[ignore = "long: as many graphs as GRAPHS says"]
fn random_graphs() {
    if let Ok(graph) = env::var("GRAPH") {
        return one_graph(&graph);
    }
    let (graphs, seed, rounds) =
        (number("GRAPHS", GRAPHS), number("SEED", SEED), number("ROUNDS", 2).min(ROUNDS as u64));
    let mut records = Records::of_environment();
    let mut run = Run { seed, graphs, rounds, ..Run::default() };
    let mut bench = Bench::with(seat_of_environment()).listing_late(late_of_environment());
    run.server = bench.version();
    let wanted = Wanted { rounds: rounds as usize, patience: PATIENCE, explore_all: number("EXPLORE", 1) > 0 };
    for (mix, cases) in cases_of_environment() {
        let of_mix = in_batches(mix.name(), &cases, BATCH, |cases| {
            let reports = bench.run(cases, wanted);
            records.add(&reports);
            reports
        });
        run.mixes.push((mix, of_mix));
    }
    run.write();
    let wrong = run.reports().find(|report| report.is_wrong());
    shrink_and_tell(&mut bench, wrong, number("SHRINK", SHRINK));
    none_is_wrong(run.reports());
}

/// As many cases as `GRAPHS` says of each `MIX`, starting with `SEED`.
fn cases_of_environment() -> Vec<(Mix, Vec<(String, Case)>)> {
    let (graphs, first) = (number("GRAPHS", GRAPHS), number("SEED", SEED));
    let cases = |mix: Mix| (mix, (first..first + graphs).map(|seed| seeded(seed, mix)).collect());
    mixes_of_environment().into_iter().map(cases).collect()
}

/// The resources whose first lists come late: comma-separated plural names in `LATE`.
fn late_of_environment() -> Vec<String> {
    env::var("LATE").map_or_else(|_| Vec::new(), |late| late.split(',').map(str::to_owned).collect())
}

/// Whether the collector or a sweep collects, from `SEAT`; the collector if it isn't set.
fn seat_of_environment() -> Seat {
    match env::var("SEAT").as_deref() {
        Err(_) | Ok("collector") => Seat::Collector,
        Ok("sweep") => Seat::Sweep,
        Ok(other) => panic!("SEAT={other} is neither collector nor sweep"),
    }
}

/// The mixes in `MIX`; every mix if it isn't set.
fn mixes_of_environment() -> Vec<Mix> {
    match env::var("MIX") {
        Ok(mixes) => mixes.split(',').map(mix_named).collect(),
        Err(_) => Mix::ALL.to_vec(),
    }
}

fn mix_named(name: &str) -> Mix {
    let names = || Mix::ALL.map(Mix::name).join(", ");
    Mix::ALL.into_iter().find(|mix| mix.name() == name).unwrap_or_else(|| panic!("MIX={name} is none of {}", names()))
}

/// Plays one graph many times, to see whether it always ends in the same way:
/// `GRAPH=$'Shop a\nConfigMap b <- Shop/a!' TARGETS=Shop/a POLICY=Foreground COPIES=20`. Without targets, it only
/// starts a collector.
fn one_graph(text: &str) {
    let graph = Graph::parse(text);
    let policy = env::var("POLICY").unwrap_or_default();
    let policies = [Propagation::Background, Propagation::Foreground, Propagation::Orphan];
    let propagation = policies.into_iter().find(|known| known.name() == policy).unwrap_or(Propagation::Background);
    let wanted: Vec<String> = env::var("TARGETS").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let missing = wanted.iter().find(|target| !graph.lines.iter().map(Line::short_name).any(|name| name == **target));
    assert!(missing.is_none(), "the target {} is not in the graph", missing.map_or("", String::as_str));
    let rounds: Vec<Delete> = match wanted.len() {
        0 => Vec::new(),
        most_targets => vec![Delete { most_targets, wanted, propagation }],
    };
    let last = rounds.len();
    let copies = number("COPIES", 10) as usize;
    let cases = vec![("one graph".to_owned(), Case { graph, rounds }); copies];
    let reports = Bench::with(seat_of_environment())
        .listing_late(late_of_environment())
        .run(&cases, Wanted { rounds: last, patience: PATIENCE, explore_all: false });
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for report in reports.iter().filter(|report| report.round == last) {
        *ends.entry(report.to_string()).or_default() += 1;
    }
    for (end, times) in ends {
        println!("{times} times {end}");
    }
}
