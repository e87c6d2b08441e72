//! Random graphs, and one pass of a sweep: `sweep --dry-run` predicts it, `sweep --yes` does it, and a real collector
//! that starts afterwards must find nothing left to do.

use std::cell::OnceCell;

use serde_json::Value;

use crate::{
    graphs::{
        early::why_too_early,
        generate::{Case, Mix},
        judge::Verdict,
        record::Start,
    },
    harness::{ADMIN, NAMESPACES, Ran},
    plan::compare::compare,
    sweep::seat::{Seat, Seated},
};

use super::{
    BATCH,
    batch::{Bench, Job, Patience, Wanted},
    build::PREFIX,
    mixes_of_environment, number,
    report::{Figures, Report},
    seeded, state,
};

/// The results of a pass.
#[derive(Default)]
struct Passed {
    /// For each graph, what the sweep did.
    swept: Vec<Report>,
    /// For each graph, what the collector did afterwards.
    afterwards: Vec<Report>,
}

/// Builds graphs, and deletes something in every second graph while no collector runs, so that there is much left to
/// do. Then runs the sweep, and then the collector.
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
        bench.round(&trials, 0, wanted, &objects, || drop(sweep(bench, &["--yes", "--qps=0"])), || None);
    let as_told = compare(&predicted, &before, &held(bench));

    let trials: Vec<(&Job<'_>, Start)> = jobs.iter().map(|job| (job, Start::Restarted)).collect();
    let wanted = Wanted { patience: Patience::SMALL, ..wanted };
    let seated: OnceCell<Seated<'_>> = OnceCell::new();
    let sit = || {
        seated.get_or_init(|| {
            Seat::Collector.take_beside(&bench.cluster, &bench.cluster.kubeconfig(ADMIN), &[NAMESPACES])
        })
    };
    let (_, afterwards) = bench.round(&trials, 0, wanted, &objects, || _ = sit(), || Some(sit()));
    bench.cluster.stop_controllers();
    bench.clear();
    // A wrong prediction for a single graph is easier to read, so it goes first.
    if !swept.iter().any(Report::is_unforetold) {
        as_told.unwrap_or_else(|wrong| panic!("not as sweep --dry-run told: {wrong}"));
    }
    Passed { swept, afterwards }
}

/// Runs a pass over everything, or a dry run. It may exit with 2: some graphs have references that can't be looked up,
/// so the sweep tries in vain to delete what they block.
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

/// Every object on the cluster that belongs to a graph.
fn held(bench: &Bench) -> Vec<Value> {
    let objects = bench.cluster.objects_of(&bench.cluster.listed());
    objects
        .into_iter()
        .filter(|object| object["metadata"]["name"].as_str().is_some_and(|name| name.starts_with(PREFIX)))
        .collect()
}

/// Describes what is wrong. After the sweep, a collector may find something to do only because it starts too early, and
/// only if that was predicted; prints what it did for such a reason.
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

/// One pass does what is predicted, and leaves nothing to do.
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

/// As many graphs as `GRAPHS` says of each `MIX`, starting with `SEED`.
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
