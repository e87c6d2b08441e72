//! Random content for deletes that affect more than dependents: namespaces with the real namespace controller, CRDs
//! with the API server's own finalizer, both next to the collector.
//!
//! `GRAPHS=300 SEED=1 cargo test --test cluster -- --ignored --nocapture random_content` looks for wrong predictions,
//! and prints rows for `tests/engine/rows`.

mod bench;
mod case;
mod place;

use bench::Bench;
use case::{Case, case};

use crate::bench::{in_batches, none_is_wrong, number};

/// Graphs that share one run of the controllers. The API server's finalizer for CRDs has five workers.
const BATCH: usize = 36;

/// Each graph must end as predicted; if the plan says that the order decides, in one of the predicted ends.
#[test]
fn content_ends_as_foretold() {
    assert!(play(0, 8) >= 6, "too few graphs are left to be deleted");
}

/// As many graphs as `GRAPHS` says, starting with `SEED`.
#[test]
#[ignore = "long: as many graphs as GRAPHS says"]
fn random_content() {
    play(number("SEED", 8), number("GRAPHS", 88));
}

/// Plays as many graphs, and returns how many had something to delete.
fn play(seed: u64, graphs: u64) -> usize {
    let cases: Vec<Case> = (seed..seed + graphs).map(case).collect();
    let mut bench = Bench::start();
    let reports = in_batches("content", &cases, BATCH, |cases| bench.run(cases));
    none_is_wrong(&reports);
    reports.len()
}
