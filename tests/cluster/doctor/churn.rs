//! No false alarm: the doctor finds nothing while objects are created and deleted, owner first or dependent first.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{PATIENCE, examine};
use crate::{
    harness::{Alone, COLLECTOR, Cluster, Options, shared},
    plan::draft::blocking,
};

/// Objects created and deleted per second, by all threads together.
const A_SECOND: usize = 200;
const THREADS: usize = 24;
/// Enough dependents to keep a slow collector busy until a doctor on a busy machine has looked.
const MANY: usize = 600;

/// Stops the threads, even if the test fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Creates and deletes objects while the doctor runs, at least `runs` times and for `least`. Returns the objects
/// created per second.
fn churn(cluster: &Cluster, namespace: &str, least: Duration, runs: usize) -> usize {
    let (over, made) = (AtomicBool::new(false), AtomicUsize::new(0));
    let begun = Instant::now();
    thread::scope(|scope| {
        let ends = Ends(&over);
        for thread in 0..THREADS {
            let (over, made) = (&over, &made);
            scope.spawn(move || {
                let pause = Duration::from_secs(1).mul_f64((THREADS * 2) as f64 / A_SECOND as f64);
                for round in 0.. {
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                    let next = Instant::now() + pause;
                    let family = family(cluster, namespace, &format!("t{thread}-{round}"), round);
                    made.fetch_add(2, Ordering::Relaxed);
                    thread::sleep(next.saturating_duration_since(Instant::now()));
                    // On a busy machine the collector would fall behind, and the doctor would be right to say so.
                    cluster.wait_until("a family to go", PATIENCE, || {
                        family.iter().all(|path| cluster.get(path).is_none())
                    });
                }
            });
        }
        let mut done = 0;
        while done < runs || begun.elapsed() < least {
            let found = examine(cluster, &["-n", namespace]);
            assert_eq!(found.findings().count(), 0, "run {done}: {:#}", found.document);
            done += 1;
        }
        drop(ends);
    });
    made.load(Ordering::Relaxed) / usize::try_from(begun.elapsed().as_secs().max(1)).unwrap_or(1)
}

/// Creates an owner and a dependent, and deletes them in one of four ways. Returns their paths.
fn family(cluster: &Cluster, namespace: &str, name: &str, round: usize) -> [String; 2] {
    let object = |kind: &str, owners: Vec<Value>| {
        json!({"apiVersion": "v1", "kind": kind,
               "metadata": {"name": format!("{name}-{}", kind.to_lowercase()), "namespace": namespace,
                   "ownerReferences": owners}})
    };
    // The doctor lists one kind after the other, so owner and dependent take turns at being listed first.
    let (above, below) = if round.is_multiple_of(2) { ("ConfigMap", "Secret") } else { ("Secret", "ConfigMap") };
    let owner = cluster.create(object(above, Vec::new()));
    let dependent = cluster.create(object(below, vec![blocking(&owner)]));
    let [owner, dependent] = [owner, dependent].map(|object| cluster.path_of(&object));
    match round % 4 {
        0 => {
            cluster.delete(&owner, Some("Background"), None);
        }
        1 => {
            cluster.delete(&owner, Some("Foreground"), None);
        }
        2 => {
            cluster.delete(&owner, Some("Background"), None);
            cluster.delete(&dependent, Some("Background"), None);
        }
        _ => {
            cluster.delete(&dependent, Some("Foreground"), None);
            cluster.delete(&owner, Some("Background"), None);
        }
    }
    [owner, dependent]
}

#[test]
#[ignore = "long: objects come and go for a while"]
fn what_comes_and_goes_is_no_finding() {
    let cluster = shared();
    let namespace = cluster.namespace("churn");
    churn(cluster, &namespace, Duration::from_secs(10), 4);
}

#[test]
#[ignore = "long: takes more than a minute"]
fn a_minute_of_coming_and_going() {
    let cluster = Alone::start(&Options::default());
    cluster.start_controllers(&[COLLECTOR]);
    let a_second = churn(&cluster, "default", Duration::from_mins(1), 20);
    println!("{a_second} objects came and went in a second, and nothing was found");
}

/// A collector that deletes many dependents one by one isn't idle, however long the owner waits.
#[test]
#[ignore = "long: the collector takes a minute"]
fn a_collector_that_gets_on_slowly_is_not_idle() {
    let slow = ["--kube-api-qps=12", "--kube-api-burst=12"].map(str::to_owned).to_vec();
    let cluster = Alone::start(&Options { controller_manager: slow, ..Options::default() });
    cluster.start_controllers(&[COLLECTOR]);
    let owner = |name: &str| cluster.create(object!("v1 ConfigMap", {"name": name, "namespace": "default"}));
    for policy in ["Foreground", "Orphan"] {
        let owner = owner(&policy.to_lowercase());
        for number in 0..MANY {
            let name = format!("{}-{number}", policy.to_lowercase());
            let metadata = json!({"name": name, "namespace": "default", "ownerReferences": [blocking(&owner)]});
            cluster.create(json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata}));
        }
        cluster.seen_by_collector(&[crate::harness::uid(&owner)]);
        cluster.delete(&cluster.path_of(&owner), Some(policy), None);
        let found = examine(&cluster, &["-n", "default"]);
        // It says what goes on, and calls nothing broken.
        let mut codes = found.findings().map(|finding| &finding["code"]).peekable();
        assert!(codes.peek().is_some(), "{policy}: it is called healthy");
        assert!(codes.all(|code| code == "deletion-in-progress"), "{policy}: {:#}", found.document);
        assert!(cluster.get(&cluster.path_of(&owner)).is_some(), "{policy}: it was not at work any more");
    }
}
