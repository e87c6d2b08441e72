//! Deletes that reach further than owner references, on random content: namespaces against the real namespace
//! controller, definitions against the API server's own clean-up, both with the collector beside them.
//!
//! `GRAPHS=300 SEED=1 cargo test --test cluster -- --ignored --nocapture random_content` looks for what is foretold
//! wrong; what it prints can be pasted into `tests/engine/rules.rs`.

mod bench;
mod case;
mod place;

use std::{env, time::Instant};

use bench::{Bench, Report, Verdict, figures};
use case::{Case, case};

/// So many graphs share the controllers' time; the clean-up of definitions has five workers.
const BATCH: u64 = 36;

/// Each graph has to end as foretold, or, where the plan said that the order decides, in one of the ends that it named.
#[test]
fn content_ends_as_foretold() {
    let cases: Vec<Case> = (0..24).map(case).collect();
    let reports = Bench::start().run(&cases);
    let wrong: Vec<String> =
        reports.iter().filter(|report| report.verdict == Verdict::Wrong).map(Report::to_string).collect();
    assert!(wrong.is_empty(), "{} of {} graphs:\n{}", wrong.len(), reports.len(), wrong.join("\n"));
    assert!(reports.len() >= 20, "too few graphs are left to be deleted: {}", reports.len());
}

/// As many graphs as `GRAPHS` says, from `SEED` on.
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
