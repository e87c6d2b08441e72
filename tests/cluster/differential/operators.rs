//! Controllers with finalizers of their own, and kubelets: what Kubernetes does by itself, and what follows once they
//! have done their part (R9.37). They act whenever nothing else happens, until nothing is left to do for them.

use std::ops::Range;

use serde_json::json;

use crate::{
    bench::{PATIENCE, at_rest, in_batches, none_is_wrong, number, side_by_side},
    graphs::{
        generate::{Case, Mix},
        record::Start,
    },
    harness::ADMIN,
    sweep::seat::Seat,
};

use super::{
    batch::{Bench, Graphs, Job, Wanted},
    report::Report,
    seeded, state,
};

/// Graphs that one start of the collector processes. It is asked often whether it has done all, and is slower to say so
/// the more often (R2.9).
const BATCH: usize = 40;
/// The finalizers that the collector removes.
const OF_THE_COLLECTOR: [&str; 2] = ["foregroundDeletion", "orphan"];

#[test]
fn both_ends_are_as_foretold() {
    end_as_foretold([(Mix::Full, 0..8), (Mix::Legal, 0..4), (Mix::OrderFree, 0..2)]);
}

/// As many graphs of each mix as `GRAPHS` says, from `SEED` on.
#[test]
#[ignore = "long: as many graphs as GRAPHS says"]
fn both_ends_of_many_graphs_are_as_foretold() {
    let (seed, graphs) = (number("SEED", 8), number("GRAPHS", 170));
    end_as_foretold(Mix::ALL.map(|mix| (mix, seed..seed + graphs)));
}

fn end_as_foretold(mixes: [(Mix, Range<u64>); 3]) {
    let cases: Vec<_> = mixes.into_iter().flat_map(|(mix, seeds)| seeds.map(move |seed| seeded(seed, mix))).collect();
    let mut bench = Bench::start();
    let reports = in_batches("both ends", &cases, BATCH, |cases| both_ends(&mut bench, cases));
    let second = reports.iter().filter(|report| matches!(report.trial.start, Start::Finish { .. }));
    let goes_on = second.filter(|report| !report.changes.0.is_empty()).count();
    assert!(goes_on * 3 > cases.len(), "only {goes_on} of {} graphs have a second end", cases.len());
    none_is_wrong(&reports);
}

/// Lets everybody finish what is terminating from the start, deletes, compares the first end, lets everybody finish
/// again, and compares the second.
fn both_ends(bench: &mut Bench, cases: &[(String, Case)]) -> Vec<Report> {
    bench.make_room(cases.len());
    let bench = &*bench;
    let (jobs, graphs) = (bench.build(cases), bench.graphs());
    graphs.start(Seat::Collector, &bench.cluster.kubeconfig(ADMIN));
    finish(bench, &graphs, &jobs);
    let before = at_rest(&graphs);
    let deletes: Vec<(&Job<'_>, Start)> = jobs.iter().filter_map(|job| Some((job, job.delete(0, &before)?))).collect();
    let finishes: Vec<(&Job<'_>, Start)> = deletes.iter().map(|(job, start)| (*job, second(start))).collect();
    let wanted = Wanted { rounds: 1, patience: PATIENCE, explore_all: false };
    let (_, mut reports) = bench.round(&graphs, &deletes, 1, wanted, &before, || bench.delete(&deletes, &before));
    let (_, more) = bench.round(&graphs, &finishes, 2, wanted, &before, || finish(bench, &graphs, &jobs));
    reports.extend(more);
    graphs.end();
    reports
}

fn second(start: &Start) -> Start {
    match start {
        Start::Delete { targets, propagation } => Start::Finish { targets: targets.clone(), propagation: *propagation },
        other => other.clone(),
    }
}

/// Removes the finalizers of others from all that is terminating, and ends pods in their grace period, again and again.
fn finish(bench: &Bench, graphs: &Graphs<'_>, jobs: &[Job<'_>]) {
    loop {
        let objects = at_rest(graphs);
        let all = jobs.iter().flat_map(|job| {
            state::of(job.place, &objects)
                .map(|(name, found)| (job.place.path(found.kind, found.elsewhere, name), found))
        });
        let of_others = |finalizer: &&String| !OF_THE_COLLECTOR.contains(&finalizer.as_str());
        let waits = |found: &state::Found| {
            found.state.terminating
                && (found.grace.is_some() || found.state.finalizers.iter().any(|one| of_others(&one)))
        };
        let waiting: Vec<(String, &state::Found)> = all.filter(|(_, found)| waits(found)).collect();
        if waiting.is_empty() {
            return;
        }
        side_by_side(&waiting, |(path, found)| {
            let left: Vec<&String> = found.state.finalizers.iter().filter(|one| !of_others(one)).collect();
            if left.len() < found.state.finalizers.len() {
                bench.cluster.patch(path, &json!({"metadata": {"finalizers": left}}));
            }
            if found.grace.is_some() {
                bench.cluster.delete(path, None, Some(0));
            }
        });
    }
}
