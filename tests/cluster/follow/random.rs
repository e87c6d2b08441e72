//! Random graphs: is a cascade over when following says so, and did it end as following says?

use std::{collections::HashMap, time::Duration};

use gc_cluster::act::Ended;
use serde_json::{Value, json};

use super::kit::{Carried, Outcome};
use crate::{
    bench::{at_rest, number, side_by_side},
    differential::{
        batch::{Bench, Job},
        seeded,
        state::Objects,
    },
    graphs::{generate::Mix, record::Start},
    harness::{ADMIN, Cluster},
    plan::trial::Trial,
    sweep::seat::Seat,
};

/// The longest wait for a collector that has forgotten an owner.
const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
#[ignore = "long: random graphs"]
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
    let cases: Vec<_> = (seed..seed + graphs).map(|seed| seeded(seed, Mix::Full)).collect();
    let mut bench = Bench::start();
    bench.make_room(cases.len());
    let (jobs, world) = (bench.build(&cases), bench.graphs());
    world.start(Seat::Collector, &bench.cluster.kubeconfig(ADMIN));
    let objects = at_rest(&world);
    let followed = side_by_side(&jobs, |job| Some((job.from, followed(&bench.cluster, job, &objects)?)));
    let mut ends: HashMap<Ended, usize> = HashMap::new();
    let mut wrong: Vec<String> = Vec::new();
    for (from, Outcome { followed, plan, .. }) in followed.into_iter().flatten() {
        *ends.entry(followed.ended).or_default() += 1;
        println!("{from}: {:?}, {} left", followed.ended, followed.left);
        if followed.ended != Ended::AsPlanned {
            wrong.push(format!("{from}: {followed:#?}\n{:#?}", plan.outcomes));
        }
    }
    println!("{ends:?}");
    assert!(wrong.is_empty(), "{} of {graphs}:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(ends.values().sum::<usize>() as u64 > graphs / 2, "most graphs have something to delete: {ends:?}");
}

/// Deletes the targets that are left, and follows; `None` if none is left.
fn followed(cluster: &Cluster, job: &Job<'_>, objects: &Objects) -> Option<Outcome> {
    let Start::Delete { targets, propagation } = job.delete(0, objects)? else { return None };
    let targets: Vec<Value> =
        targets.iter().map(|target| json!({"metadata": {"uid": job.found(objects, target).1.uid}})).collect();
    let trial = Trial::on(cluster, "random", propagation.name());
    Carried::new(&trial, targets.iter().collect()).without_other_controllers().within(TIMEOUT).if_there()
}
