//! Shrinks a wrong prediction to the smallest case that still goes wrong with the real collector.

use crate::graphs::{
    generate::Case,
    judge::Verdict,
    shrink::{Shrunk, shrink},
};

use super::{
    BATCH, SMALL_PATIENCE,
    batch::{Bench, Wanted},
    report::Report,
};

/// Copies of each candidate: what depends on the order of events doesn't go wrong every time.
const COPIES: usize = 2;

/// Shrinks the case of a wrong prediction, and prints it as a row for `tests/engine/rows`.
pub fn shrink_and_tell(bench: &mut Bench, report: Option<&Report>, most_batches: u64) {
    let Some(report) = report.filter(|report| report.verdict > Verdict::Told && most_batches > 0) else { return };
    let mut smallest = None;
    let rounds = report.case.rounds.iter().take(report.round).cloned().collect();
    let case = Case { graph: report.case.graph.clone(), rounds };
    let Shrunk { case, batches, smallest: is_smallest } = shrink(case, most_batches as usize, |candidates| {
        let seen = again(bench, candidates, report);
        // The candidates are in the order of what they leave out. `shrink` doesn't always continue with the last that
        // failed.
        smallest = seen
            .iter()
            .flatten()
            .min_by_key(|seen| seen.trial.graph.to_string().len())
            .cloned()
            .or_else(|| smallest.take());
        seen.iter().map(Option::is_some).collect()
    });
    let how = if is_smallest { "the smallest case that still goes wrong" } else { "not shrunk to the end" };
    println!("{how}, after {batches} batches: built as\n{}", case.graph);
    if let Some(report) = smallest {
        println!("seen as\n{report}");
    }
}

/// For each candidate, a report that goes wrong in the same way.
fn again(bench: &mut Bench, candidates: &[Case], like: &Report) -> Vec<Option<Report>> {
    let copies: Vec<(String, Case)> =
        (0..COPIES).flat_map(|_| candidates).map(|case| (like.from.clone(), case.clone())).collect();
    let mut found: Vec<Option<Report>> = vec![None; candidates.len()];
    for chunk in copies.chunks(BATCH) {
        let rounds = chunk.iter().map(|(_, case)| case.rounds.len()).max().unwrap_or(0);
        for report in bench.run(chunk, Wanted { rounds, patience: SMALL_PATIENCE, explore_all: false }) {
            let same = report.round == report.case.rounds.len() && report.verdict == like.verdict;
            if let (true, Some(place)) = (same, candidates.iter().position(|candidate| *candidate == report.case)) {
                found[place] = Some(report);
            }
        }
    }
    found
}
