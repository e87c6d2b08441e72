//! Random graphs: compares the engine's predictions with what a real collector does.
//!
//! The tests build graphs while no collector runs. The engine predicts what a starting collector does; a collector
//! starts, and the tests compare every object. Then the engine predicts a delete; the tests delete, and compare again.
//!
//! One more wrong prediction is worth more than a thousand right ones. `GRAPHS=2000 SEED=1 cargo test --test cluster --
//! --ignored --nocapture random_graphs` looks for it. The test shrinks what it finds, and prints rows for
//! `tests/engine/rows` and `found.txt`. With `RECORD=FILE`, it records the right predictions, which
//! `tests/engine/recorded.rs` replays.
//!
//! With `SEAT=sweep`, `sweep --watch` takes the collector's place, and must do the same. `pass` tests a single pass of
//! a sweep.

mod batch;
pub mod build;
mod fidelity;
mod kept;
pub mod kinds;
mod pass;
mod records;
mod report;
mod smallest;
pub mod state;

use std::{
    collections::BTreeMap,
    env,
    ops::Range,
    time::{Duration, Instant},
};

use kubectl_gc::server::Propagation;

use crate::{
    graphs::{
        generate::{Case, Delete, Mix, ROUNDS, case},
        judge::Verdict,
        record::{self, Record, Start},
        text::{Graph, Line},
    },
    harness::{ADMIN, NAMESPACES},
    sweep::seat::Seat,
};

use batch::{Bench, Patience, Wanted};
use fidelity::Run;
use records::Records;
use report::{Report, figures};
use smallest::shrink_and_tell;

/// Graphs that one start of the collector processes.
const BATCH: usize = 200;
/// The most starts of a collector to shrink one wrong prediction.
const SHRINK: u64 = 12;

/// Until the collector has failed thirteen times: 20 seconds, on a busy machine.
const PAUSED: Duration = Duration::from_mins(5);

/// Every case that was ever predicted wrong.
const FOUND: &str = include_str!("found.txt");

/// A number from the environment.
fn number(name: &str, otherwise: u64) -> u64 {
    env::var(name)
        .ok()
        .map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

/// The cases that were once predicted wrong come first, then random graphs of every mix. Each must end as predicted; if
/// the plan says that the order of events decides, in one of the predicted ends.
#[test]
fn graphs_end_as_foretold() {
    end_as_foretold(Seat::Collector, [(Mix::Full, 0..60), (Mix::Legal, 0..20), (Mix::OrderFree, 0..10)]);
}

/// The same with a sweep in the collector's place.
#[test]
fn graphs_end_as_foretold_under_a_sweep() {
    end_as_foretold(Seat::Sweep, [(Mix::Full, 0..30), (Mix::Legal, 0..15), (Mix::OrderFree, 0..5)]);
}

#[test]
#[ignore = "long: 230 graphs more"]
fn more_graphs_end_as_foretold() {
    end_as_foretold(Seat::Collector, [(Mix::Full, 60..200), (Mix::Legal, 20..80), (Mix::OrderFree, 10..40)]);
}

#[test]
#[ignore = "long: 100 graphs more"]
fn more_graphs_end_as_foretold_under_a_sweep() {
    end_as_foretold(Seat::Sweep, [(Mix::Full, 30..90), (Mix::Legal, 15..40), (Mix::OrderFree, 5..20)]);
}

/// R2.9, R8.9: what the collector tries in vain for long, it tries again only so much later, whatever has changed since.
/// The bench waits for that.
#[test]
#[ignore = "long: the collector's pauses have to grow first"]
fn what_the_collector_tries_again_late_ends_as_foretold() {
    let mut bench = Bench::start();
    let graph = Graph::parse("Shop a\nConfigMap b <- Shop/a@version=acme.io/v9! Secret/gone");
    let orphans = Delete { wanted: vec!["Shop/a".to_owned()], most_targets: 1, propagation: Propagation::Orphan };
    let cases = [("late".to_owned(), Case { graph, rounds: vec![orphans] })];
    bench.make_room(cases.len());
    let jobs = bench.build(&cases);
    let seated = Seat::Collector.take_beside(&bench.cluster, &bench.cluster.kubeconfig(ADMIN), &[NAMESPACES]);
    // The next pause is one of 20 seconds: 5 ms, doubled twelve times.
    let retries = || bench.cluster.retries_of("garbage_collector_attempt_to_delete");
    bench.cluster.wait_until("the 13th retry", PAUSED, || retries() >= 13);
    let objects = state::read(&bench.cluster);
    let trials: Vec<_> = jobs.iter().filter_map(|job| Some((job, job.delete(0, &objects)?))).collect();
    let wanted = Wanted { rounds: 1, patience: Patience::SMALL, explore_all: false };
    let deletes = || bench.delete(&trials, &objects);
    let (_, reports) = bench.round(&trials, 1, wanted, &objects, deletes, || Some(&seated));
    assert_eq!(reports.iter().map(|report| report.verdict).collect::<Vec<_>>(), [Verdict::Exact], "{}", reports[0]);
}

fn end_as_foretold(seat: Seat, mixes: [(Mix, Range<u64>); 3]) {
    let mut bench = Bench::with(seat);
    let mut cases: Vec<(String, Case)> = record::parse(FOUND).into_iter().map(found).collect();
    for (mix, seeds) in mixes {
        cases.extend(seeds.map(|seed| seeded(seed, mix)));
    }
    let wanted = Wanted { rounds: 1, patience: Patience::GREAT, explore_all: false };
    let reports: Vec<Report> = cases.chunks(BATCH).flat_map(|cases| bench.run(cases, wanted)).collect();
    println!("{}", figures(&reports));
    let unforetold: Vec<&Report> = reports.iter().filter(|report| report.is_unforetold()).collect();
    for report in &unforetold {
        println!("{report}");
    }
    shrink_and_tell(&mut bench, unforetold.first().copied(), SHRINK);
    assert!(unforetold.is_empty(), "{} of {} are not as foretold; see above", unforetold.len(), reports.len());
}

fn seeded(seed: u64, mix: Mix) -> (String, Case) {
    (format!("{} {seed}", mix.name()), case(seed, mix))
}

/// A recorded trial as a case to build. Its delete comes after the collector's start.
fn found(record: Record) -> (String, Case) {
    let rounds = match record.trial.start {
        Start::Delete { targets, propagation } => {
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
    let (graphs, seed, rounds) = (number("GRAPHS", 60), number("SEED", 1000), number("ROUNDS", 2).min(ROUNDS as u64));
    let mut records = Records::of_environment();
    let mut run = Run { seed, graphs, rounds, ..Run::default() };
    let mut bench = Bench::with(seat_of_environment()).listing_late(late_of_environment());
    run.server = bench.version();
    let wanted = Wanted { rounds: rounds as usize, patience: Patience::GREAT, explore_all: number("EXPLORE", 1) > 0 };
    for mix in mixes_of_environment() {
        let mut of_mix: Vec<Report> = Vec::new();
        let seeds: Vec<u64> = (seed..seed + graphs).collect();
        for seeds in seeds.chunks(BATCH) {
            let begun = Instant::now();
            let cases: Vec<(String, Case)> = seeds.iter().map(|seed| seeded(*seed, mix)).collect();
            let reports = bench.run(&cases, wanted);
            for report in reports.iter().filter(|report| report.is_unforetold()) {
                println!("{report}");
            }
            records.add(&reports);
            of_mix.extend(reports);
            let last = seeds.last().unwrap_or(&seed);
            println!("{} to seed {last}, in {} s\n  {}", mix.name(), begun.elapsed().as_secs(), figures(&of_mix));
        }
        run.mixes.push((mix, of_mix));
    }
    run.write();
    let unforetold: Vec<&Report> = run.reports().filter(|report| report.is_unforetold()).collect();
    shrink_and_tell(&mut bench, unforetold.first().copied(), number("SHRINK", SHRINK));
    assert!(unforetold.is_empty(), "{} of {} predictions are not as foretold", unforetold.len(), run.reports().count());
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
        .run(&cases, Wanted { rounds: last, patience: Patience::GREAT, explore_all: false });
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for report in reports.iter().filter(|report| report.round == last) {
        *ends.entry(report.to_string()).or_default() += 1;
    }
    for (end, times) in ends {
        println!("{times} times {end}");
    }
}
