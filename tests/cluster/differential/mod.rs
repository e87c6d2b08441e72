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
mod report;
mod state;

use std::{collections::BTreeMap, env};

use kubectl_gc::server::Propagation;

use batch::Bench;
use generate::{Case, Delete, Mix, case};
use graph::{Graph, Line};
use judge::Verdict;
use report::{Report, figures};

/// So many graphs share the collector's time.
const BATCH: usize = 120;

/// Graphs of which every end is the same in every order of events: each has to end as foretold.
#[test]
fn graphs_end_as_foretold() {
    let mut bench = Bench::start();
    let cases: Vec<Case> = (0..60).map(|seed| case(seed, Mix::OrderFree)).collect();
    let reports = bench.run(&cases, 1);
    let differing: Vec<String> = reports.iter().filter(|report| report.verdict != Verdict::Exact).map(Report::to_string).collect();
    assert!(differing.is_empty(), "{} of {} graphs:\n{}", differing.len(), reports.len(), differing.join("\n"));
}

/// Any graphs: each has to end in a way that is possible.
#[test]
#[ignore = "takes as long as GRAPHS says"]
fn random_graphs() {
    let number = |name: &str, otherwise: u64| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (graphs, seed, rounds) = (number("GRAPHS", 240), number("SEED", 1), number("ROUNDS", 2).min(3));
    let mix = if env::var("MIX").is_ok_and(|mix| mix == "order-free") { Mix::OrderFree } else { Mix::Full };
    let mut bench = Bench::start();
    let (mut reports, mut wrong) = (Vec::new(), Vec::new());
    let seeds: Vec<u64> = (seed..seed + graphs).collect();
    for seeds in seeds.chunks(BATCH) {
        let cases: Vec<Case> = seeds.iter().map(|seed| case(*seed, mix)).collect();
        let batch = bench.run(&cases, rounds as usize);
        for report in batch.iter().filter(|report| report.verdict > Verdict::Told) {
            println!("{report}");
        }
        wrong.extend(batch.iter().filter(|report| report.verdict == Verdict::Wrong).cloned());
        reports.extend(batch);
        println!("after seed {}: {}", seeds.last().unwrap_or(&seed), figures(&reports));
    }
    assert!(wrong.is_empty(), "{} of {} graphs are foretold wrong", wrong.len(), reports.len());
}

/// One graph again and again, to see whether it ends in the same way each time:
/// `GRAPH=$'Shop a\nConfigMap b <- Shop/a!' TARGETS=Shop/a POLICY=Foreground COPIES=20`.
#[test]
#[ignore = "for the graph that GRAPH says"]
fn one_graph() {
    let Ok(text) = env::var("GRAPH") else { return };
    let graph = Graph::parse(&text);
    let policy = env::var("POLICY").unwrap_or_default();
    let policies = [Propagation::Background, Propagation::Foreground, Propagation::Orphan];
    let propagation = policies.into_iter().find(|known| known.name() == policy).unwrap_or(Propagation::Background);
    let line = |target: &str| {
        let is = |line: &Line| target == format!("{}/{}", line.kind.name, line.name);
        graph.lines.iter().position(is).unwrap_or_else(|| panic!("no {target}"))
    };
    let wanted: Vec<usize> = env::var("TARGETS").unwrap_or_default().split_whitespace().map(line).collect();
    let copies = env::var("COPIES").ok().and_then(|copies| copies.parse().ok()).unwrap_or(10);
    let case = Case { rounds: vec![Delete { most_targets: wanted.len(), wanted, propagation }], graph };
    let reports = Bench::start().run(&vec![case; copies], 1);
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for report in &reports {
        *ends.entry(report.without_places()).or_default() += 1;
    }
    for (end, times) in ends {
        println!("{times} times {end}");
    }
}
