//! Old objects of all sorts: compares what `reclaim` predicts with what the real controllers remove, and when.
//!
//! A *cluster's worth* is what one seed makes: some objects of every sort below, in a namespace of its own, and those
//! without a namespace under its number. Many seeds share a real cluster, which saves the start of one. What is counted
//! over the whole cluster, the Pods that have ended, is counted over all of them.
//!
//! The objects are written to etcd while no controller runs, with any timestamps. Then the built program predicts, the
//! controllers start, and every look at the cluster is compared: nothing goes that wasn't predicted, or too early; in
//! the end, nothing is left whose time has passed. What the program calls uncertain may go or stay, and is counted.
//!
//! `RECLAIM=50 SEED=1 cargo test --test cluster -- --ignored --nocapture random_old_objects` plays 50 seeds.

mod bench;
mod either;
mod expect;
mod make;
mod sorts;
mod written;

use std::time::Duration;

use crate::bench::number;

use bench::play;

/// Seeds in the long tier.
const SEEDS: u64 = 16;
/// Seeds that share a cluster.
const BATCH: u64 = 8;

/// The pod garbage collector removes what is on a missing Node up to 80 seconds after it has begun.
const LONG: Duration = Duration::from_secs(90);
/// How long nothing else may go, once all has gone that must.
const SHORT: Duration = Duration::from_secs(4);

/// R12.1, R12.2, R12.3, R12.4, R12.5, R12.6, R12.8, R12.9, R12.10, R12.11, R12.12, R12.13, R12.14, R12.15, R12.16 and
/// R12.17.
#[test]
#[ignore = "long: waits until kinds have grown old"]
fn old_objects_go_as_predicted() {
    play(&(1..=3).collect::<Vec<_>>(), SHORT);
}

/// The same for many seeds, and R12.7: that takes more than a minute.
#[test]
#[ignore = "long: as many seeds as RECLAIM says, and a minute for what the pod garbage collector waits for"]
fn random_old_objects() {
    let (seeds, first) = (number("RECLAIM", SEEDS), number("SEED", 4));
    let seeds: Vec<u64> = (first..first + seeds).collect();
    for batch in seeds.chunks(number("BATCH", BATCH) as usize) {
        play(batch, LONG);
    }
}
