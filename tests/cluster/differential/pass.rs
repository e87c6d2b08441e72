//! Random graphs, and one pass of a sweep over them: foretold by `sweep --dry-run`, done by `sweep --yes`, and then
//! left to a real collector, which has to find that nothing is left to do.

use serde_json::Value;

use crate::{
    graphs::{
        early::why_too_early,
        generate::{Case, Mix},
        judge::Verdict,
        record::Start,
    },
    harness::{COLLECTOR, NAMESPACES, Ran},
    plan::compare::compare,
};

use super::{
    BATCH,
    batch::{Bench, Job, Patience, Wanted},
    build::PREFIX,
    mixes_of_environment, number,
    report::{Figures, Report},
    seeded, state,
};

/// What came of a pass.
#[derive(Default)]
struct Passed {
    /// Of each graph, under the sweep.
    swept: Vec<Report>,
    /// And under the collector afterwards.
    afterwards: Vec<Report>,
}

/// Builds graphs, and deletes something of every second of them while nobody collects, by each policy, so that much is
/// left to do. Then comes the sweep, and then the collector.
fn pass(bench: &mut Bench, cases: &[(String, Case)]) -> Passed {
    bench.make_room(cases.len());
    let bench = &*bench;
    let jobs = bench.build(cases);
    let objects = state::read(&bench.cluster);
    let deleted = jobs.iter().step_by(2).filter_map(|job| Some((job, job.delete(0, &objects)?)));
    bench.delete(&deleted.collect::<Vec<_>>(), &objects);

    let (objects, before) = (state::read(&bench.cluster), held(bench));
    let predicted = sweep(bench, &["--dry-run", "-o", "json"]).json();
    assert_eq!(predicted["complete"], true, "{}", predicted["gaps"]);
    let trials: Vec<(&Job<'_>, Start)> = jobs.iter().map(|job| (job, Start::Sweep)).collect();
    let wanted = Wanted { rounds: 0, patience: Patience::NONE, explore_all: false };
    let (objects, swept) =
        bench.round(&trials, 0, wanted, &objects, || drop(sweep(bench, &["--yes", "--qps=0"])), || ());
    let as_told = compare(&predicted, &before, &held(bench));

    let trials: Vec<(&Job<'_>, Start)> = jobs.iter().map(|job| (job, Start::Restarted)).collect();
    let wanted = Wanted { patience: Patience::SMALL, ..wanted };
    let start = || bench.cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let (_, afterwards) = bench.round(&trials, 0, wanted, &objects, start, || bench.cluster.settled());
    bench.cluster.stop_controllers();
    bench.clear();
    // What is wrong with a graph by itself is easier to read.
    if !swept.iter().any(Report::is_unforetold) {
        as_told.unwrap_or_else(|wrong| panic!("not as sweep --dry-run told: {wrong}"));
    }
    Passed { swept, afterwards }
}

/// A pass over everything, or what it would do. It may end with 1: some graphs have references that nobody can follow,
/// and what holds them is tried in vain.
fn sweep(bench: &Bench, how: &[&str]) -> Ran {
    let ran = bench.cluster.gc(&[&["sweep", "--trust-missing-apis", "--assume=none"], how].concat());
    assert!(
        matches!(ran.code, Some(0 | 2)),
        "sweep {how:?} ended with {:?}:\n{}\n{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
    ran
}

/// Everything on the cluster that belongs to graphs.
fn held(bench: &Bench) -> Vec<Value> {
    let objects = bench.cluster.objects_of(&bench.cluster.listed());
    objects
        .into_iter()
        .filter(|object| object["metadata"]["name"].as_str().is_some_and(|name| name.starts_with(PREFIX)))
        .collect()
}

/// What of this is wrong, told. A collector that comes up after the sweep may find something to do only because it
/// begins too early, and that has to be foretold; prints what a collector had to do afterwards with good reason.
fn wrong(passed: &Passed) -> Vec<String> {
    let unforetold = passed.swept.iter().filter(|report| report.is_unforetold());
    let mut wrong: Vec<String> = unforetold.map(|report| format!("swept: {report}")).collect();
    for report in passed.afterwards.iter().filter(|report| !report.changes.0.is_empty()) {
        let foretold = report.verdict == Verdict::Told;
        match why_too_early(&report.trial.graph, &report.changes).filter(|_| foretold) {
            Some(rule) => println!("after the sweep, because of {rule}: {report}"),
            None => wrong.push(format!("more to do after the sweep: {report}")),
        }
    }
    wrong
}

#[track_caller]
fn check(passed: &Passed) {
    println!("swept: {}\n  afterwards: {}", Figures::of(&passed.swept), Figures::of(&passed.afterwards));
    let wrong = wrong(passed);
    assert!(wrong.is_empty(), "{} wrong of {} graphs:\n{}", wrong.len(), passed.swept.len(), wrong.join("\n"));
}

/// One pass does what it is foretold to do, and all that is to be done.
#[test]
fn one_pass_ends_as_foretold() {
    let mixes = [(Mix::Full, 40), (Mix::Legal, 15), (Mix::OrderFree, 5)];
    let cases: Vec<_> =
        mixes.into_iter().flat_map(|(mix, graphs)| (0..graphs).map(move |seed| seeded(seed, mix))).collect();
    let passed = pass(&mut Bench::start(), &cases);
    let changed = |reports: &[Report]| reports.iter().map(|report| report.changes.0.len()).sum::<usize>();
    assert!(changed(&passed.swept) > cases.len(), "there is hardly anything to sweep");
    check(&passed);
}

/// As many graphs as `GRAPHS` says of each `MIX`, from `SEED` on.
#[test]
#[ignore = "long: as many graphs as GRAPHS says"]
fn random_passes() {
    let (graphs, seed) = (number("GRAPHS", 60), number("SEED", 1000));
    let mut bench = Bench::start();
    let mut all = Passed::default();
    for mix in mixes_of_environment() {
        let seeds: Vec<u64> = (seed..seed + graphs).collect();
        for seeds in seeds.chunks(BATCH) {
            let cases: Vec<_> = seeds.iter().map(|seed| seeded(*seed, mix)).collect();
            let passed = pass(&mut bench, &cases);
            wrong(&passed).iter().for_each(|wrong| println!("{wrong}"));
            all.swept.extend(passed.swept);
            all.afterwards.extend(passed.afterwards);
            println!("{} to seed {}: {}", mix.name(), seeds.last().unwrap_or(&seed), Figures::of(&all.swept));
        }
    }
    check(&all);
}
