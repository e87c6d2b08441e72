//! Random graphs: is a cascade over when following says so, and did it end as following says?

use std::{
    collections::HashMap,
    env,
    panic::resume_unwind,
    thread,
    time::{Duration, Instant},
};

use kubectl_gc::act::Ended;
use serde_json::{Value, json};

use super::kit::{Carried, Outcome};
use crate::{
    differential::{
        build::{Place, Uids},
        kinds,
    },
    graphs::generate::{Case, Mix, case},
    harness::{COLLECTOR, Cluster, NAMESPACES, Options},
    plan::trial::Trial,
};

/// The longest wait for a collector that has forgotten an owner.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Graphs that are followed in parallel.
const AT_A_TIME: usize = 6;

fn number(name: &str, otherwise: u64) -> u64 {
    env::var(name)
        .ok()
        .map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

/// The objects to delete first, without those that the collector has already deleted.
fn targets(case: &Case, uids: &Uids) -> Vec<Value> {
    let by_name: HashMap<String, &String> =
        uids.iter().map(|(uid, (kind, name))| (format!("{kind}/{name}"), uid)).collect();
    let Some(delete) = case.rounds.first() else { return Vec::new() };
    let wanted = delete.wanted.iter().take(delete.most_targets).filter_map(|wanted| by_name.get(wanted));
    wanted.map(|uid| json!({"metadata": {"uid": uid}})).collect()
}

#[test]
fn random_graphs_are_followed() {
    are_followed(1, 12);
}

/// As many graphs as `GRAPHS` says, starting with `SEED`.
#[test]
#[ignore = "long: as many graphs as GRAPHS says"]
fn more_random_graphs_are_followed() {
    are_followed(number("SEED", 13), number("GRAPHS", 48));
}

/// When following says that a cascade is over, it has come to rest (the kit checks that). If nothing else changes the
/// graph, it ends as predicted.
fn are_followed(seed: u64, graphs: u64) {
    let cluster = Cluster::start(&Options::default());
    cluster.apply_yaml(kinds::DEFINITIONS);
    let seeds: Vec<u64> = (seed..seed + graphs).collect();
    let cases: Vec<Case> = seeds.iter().map(|seed| case(*seed, Mix::Full)).collect();
    let built: Vec<Uids> = cases
        .iter()
        .enumerate()
        .map(|(number, case)| Place::prepare(&cluster, number).build(&cluster, &case.graph))
        .collect();
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    cluster.settled();
    let jobs: Vec<(u64, &Case, &Uids)> =
        seeds.iter().zip(&cases).zip(&built).map(|((seed, case), uids)| (*seed, case, uids)).collect();
    let mut ends: HashMap<Ended, usize> = HashMap::new();
    let mut wrong: Vec<String> = Vec::new();
    for jobs in jobs.chunks(AT_A_TIME) {
        let followed: Vec<(u64, Option<(Outcome, Duration)>)> = thread::scope(|scope| {
            let cluster = &cluster;
            let running: Vec<_> =
                jobs.iter().map(|(seed, case, uids)| (*seed, scope.spawn(|| followed(cluster, case, uids)))).collect();
            running
                .into_iter()
                .map(|(seed, job)| (seed, job.join().unwrap_or_else(|panic| resume_unwind(panic))))
                .collect()
        });
        for (seed, outcome) in followed {
            let Some((outcome, took)) = outcome else { continue };
            *ends.entry(outcome.followed.ended).or_default() += 1;
            println!("{seed}: {:?} after {took:.1?}, {} left", outcome.followed.ended, outcome.followed.left);
            if outcome.followed.ended != Ended::AsPlanned {
                wrong.push(format!("seed {seed}: {:#?}\n{:#?}", outcome.followed, outcome.plan.outcomes));
            }
        }
    }
    println!("{ends:?}");
    assert!(wrong.is_empty(), "{} of {graphs}:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(ends.values().sum::<usize>() as u64 > graphs / 2, "most graphs have something to delete: {ends:?}");
}

/// Deletes the targets that are left, and follows; `None` if none is left.
fn followed(cluster: &Cluster, case: &Case, uids: &Uids) -> Option<(Outcome, Duration)> {
    let targets = targets(case, uids);
    let delete = case.rounds.first()?;
    let trial = Trial::on(cluster, "random", delete.propagation.name());
    let begun = Instant::now();
    let outcome =
        Carried::new(&trial, targets.iter().collect()).without_other_controllers().within(TIMEOUT).if_there()?;
    Some((outcome, begun.elapsed()))
}
