//! Random graphs, foretold and then really deleted: the engine against the collector itself.
//!
//! One more graph that is foretold wrong is worth more than a thousand that are foretold right. `GRAPHS=2000 SEED=1 cargo test --test
//! cluster -- --ignored --nocapture random_graphs` looks for it; what it prints can be pasted into `tests/engine/rules.rs`.

mod batch;
mod build;
mod generate;
mod graph;
mod judge;
mod kinds;
mod state;

use std::env;

use batch::{Bench, Report};
use generate::{Case, Mix, case};
use judge::Verdict;

/// So many graphs share the collector's time.
const BATCH: usize = 120;

/// Graphs of which every end is the same in every order of events: each has to end as foretold.
#[test]
fn graphs_end_as_foretold() {
    let mut bench = Bench::start();
    let cases: Vec<Case> = (0..60).map(|seed| case(seed, Mix::OrderFree)).collect();
    let reports = bench.run(&cases);
    let differing: Vec<String> = reports.iter().filter(|report| report.verdict != Verdict::Exact).map(Report::to_string).collect();
    assert!(differing.is_empty(), "{} of {} graphs:\n{}", differing.len(), reports.len(), differing.join("\n"));
}

/// Any graphs: each has to end in a way that is possible.
#[test]
#[ignore = "takes as long as GRAPHS says"]
fn random_graphs() {
    let number = |name: &str, otherwise: u64| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (graphs, seed) = (number("GRAPHS", 240), number("SEED", 1));
    let mix = if env::var("MIX").is_ok_and(|mix| mix == "order-free") { Mix::OrderFree } else { Mix::Full };
    let mut bench = Bench::start();
    let (mut reports, mut wrong) = (Vec::new(), Vec::new());
    let seeds: Vec<u64> = (seed..seed + graphs).collect();
    for seeds in seeds.chunks(BATCH) {
        let cases: Vec<Case> = seeds.iter().map(|seed| case(*seed, mix)).collect();
        let batch = bench.run(&cases);
        for report in batch.iter().filter(|report| report.verdict > Verdict::Told) {
            println!("{report}");
        }
        wrong.extend(batch.iter().filter(|report| report.verdict == Verdict::Wrong).cloned());
        reports.extend(batch);
        println!("after seed {}: {}", seeds.last().unwrap_or(&seed), figures(&reports));
    }
    assert!(wrong.is_empty(), "{} of {} graphs are foretold wrong", wrong.len(), reports.len());
}

fn figures(reports: &[Report]) -> String {
    let count = |verdict: Verdict| reports.iter().filter(|report| report.verdict == verdict).count();
    let objects: usize = reports.iter().map(|report| report.before.lines.len()).sum();
    let order_dependent = reports.iter().filter(|report| report.order_dependent).count();
    format!(
        "{} graphs, {objects} objects: {} exact, {} another end that was told, {} possible, {} wrong; {order_dependent} told to depend on the order",
        reports.len(),
        count(Verdict::Exact),
        count(Verdict::Told),
        count(Verdict::Possible),
        count(Verdict::Wrong),
    )
}
