//! Random content for deletes that affect more than dependents: namespaces with the real namespace controller, CRDs
//! with the API server's own finalizer, both next to the collector.
//!
//! `GRAPHS=300 SEED=1 cargo test --test cluster -- --ignored --nocapture random_content` looks for wrong predictions,
//! and prints rows for `tests/engine/rows`.

mod bench;
mod case;
mod place;

use std::{env, time::Instant};

use bench::{Bench, Report, Verdict, figures};
use case::{Case, case};

/// Graphs that share one run of the controllers. The API server's finalizer for CRDs has five workers.
const BATCH: u64 = 36;

/// Each graph must end as predicted; if the plan says that the order decides, in one of the predicted ends.
#[test]
fn content_ends_as_foretold() {
    let cases: Vec<Case> = (0..24).map(case).collect();
    let reports = Bench::start().run(&cases);
    let wrong: Vec<String> =
        reports.iter().filter(|report| report.verdict == Verdict::Wrong).map(Report::to_string).collect();
    assert!(wrong.is_empty(), "{} of {} graphs:\n{}", wrong.len(), reports.len(), wrong.join("\n"));
    assert!(reports.len() >= 20, "too few graphs are left to be deleted: {}", reports.len());
}

/// As many graphs as `GRAPHS` says, starting with `SEED`.
#[test]
#[ignore = "long: as many graphs as GRAPHS says"]
fn random_content() {
    let number =
        |name: &str, otherwise: u64| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (graphs, seed) = (number("GRAPHS", 72), number("SEED", 1000));
    let mut bench = Bench::start();
    let mut reports: Vec<Report> = Vec::new();
    let begin = Instant::now();
    let seeds: Vec<u64> = (seed..seed + graphs).collect();
    for seeds in seeds.chunks(BATCH as usize) {
        let batch = bench.run(&seeds.iter().map(|seed| case(*seed)).collect::<Vec<_>>());
        for report in batch.iter().filter(|report| report.verdict == Verdict::Wrong) {
            println!("{report}");
        }
        reports.extend(batch);
        println!("after seed {}, {:.0?}: {}", seeds.last().unwrap_or(&seed), begin.elapsed(), figures(&reports));
    }
    let wrong = reports.iter().filter(|report| report.verdict == Verdict::Wrong).count();
    assert_eq!(wrong, 0, "of {} graphs are foretold wrong", reports.len());
}
