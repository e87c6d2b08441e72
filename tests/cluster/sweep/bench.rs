//! Large cascades: how much time and memory `sweep --watch` takes, compared with the real collector. Both have 20
//! workers, no limit of requests, the same API server on the same machine, and take turns.
//!
//! ```console
//! $ OBJECTS=10000 TIMES=3 cargo test --release --test cluster -- --ignored --nocapture cascades_beside_the_collector
//! ```

use std::{
    env,
    fmt::Write as _,
    fs,
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use http::Method;
use serde_json::{Value, json};

use crate::{
    bench::number,
    harness::{ADMIN, Alone, COLLECTOR, Cluster, Options, settled, uid},
    plan::draft::blocking,
};

use super::seat::{Seat, SweepSettings};

/// The number of objects in a cascade, from `OBJECTS`. The default only shows that each cascade ends; it is too small
/// for measuring.
static MANY: LazyLock<usize> = LazyLock::new(|| number("OBJECTS", 500) as usize);
/// The number of objects that have dependents of their own in a tree.
const BRANCHES: usize = 100;
/// The number of objects created at a time.
const AT_A_TIME: usize = 8;
const PATIENCE: Duration = Duration::from_mins(10);
/// The interval between two counts of what is left.
const LOOK: Duration = Duration::from_millis(20);

/// Request limits and short intervals must not decide the result.
const SWEEP: [&str; 6] =
    ["sweep", "--watch", "--trust-missing-apis", "--qps=0", "--workers=20", "--metrics-bind-address=127.0.0.1:0"];
const CONTROLLER_MANAGER: [&str; 3] = ["--kube-api-qps=100000", "--kube-api-burst=100000", "--concurrent-gc-syncs=20"];

/// Who owns which objects, and how the root is deleted.
#[derive(Clone, Copy, Debug)]
enum Cascade {
    /// One owner of all objects.
    Star(&'static str),
    /// One owner of a hundred objects, which own all others; references block.
    Tree(&'static str),
}

const CASCADES: [Cascade; 4] =
    [Cascade::Star("Background"), Cascade::Tree("Background"), Cascade::Tree("Foreground"), Cascade::Star("Orphan")];

impl Cascade {
    fn policy(self) -> &'static str {
        match self {
            Cascade::Star(policy) | Cascade::Tree(policy) => policy,
        }
    }

    fn name(self) -> String {
        match self {
            Cascade::Star(policy) => format!("1 → {}, {policy}", *MANY),
            Cascade::Tree(policy) => format!("1 → {BRANCHES} → {}, {policy}", *MANY),
        }
    }
}

/// What one run cost.
#[derive(Clone, Copy, Debug)]
struct Took {
    time: Duration,
    /// Peak memory of the process in MB: after it has seen everything, and at the end.
    memory: [usize; 2],
    /// CPU time of the process between the DELETE and the end.
    processor: Duration,
}

fn config_map(namespace: &str, name: &str, owner: Option<&Value>) -> Value {
    let mut object = object!("v1 ConfigMap", {"name": name, "namespace": namespace});
    if let Some(owner) = owner {
        object["metadata"]["ownerReferences"] = json!([blocking(owner)]);
    }
    object
}

/// Creates this many dependents, and returns them in no particular order.
fn crowd(
    cluster: &Cluster,
    namespace: &str,
    prefix: &str,
    number: usize,
    owner: &(dyn Fn(usize) -> Value + Sync),
) -> Vec<Value> {
    thread::scope(|scope| {
        let makers: Vec<_> = (0..AT_A_TIME)
            .map(|part| {
                scope.spawn(move || {
                    let made = (part..number).step_by(AT_A_TIME);
                    let made = made.map(|number| {
                        cluster.create(config_map(namespace, &format!("{prefix}-{number}"), Some(&owner(number))))
                    });
                    made.collect::<Vec<Value>>()
                })
            })
            .collect();
        makers.into_iter().flat_map(|maker| maker.join().expect("objects are made")).collect()
    })
}

/// Creates all objects of a cascade, and returns the root.
fn build(cluster: &Cluster, cascade: Cascade, namespace: &str) -> Value {
    let root = cluster.create(config_map(namespace, "root", None));
    match cascade {
        Cascade::Star(_) => drop(crowd(cluster, namespace, "leaf", *MANY, &|_| root.clone())),
        Cascade::Tree(_) => {
            let branches = crowd(cluster, namespace, "branch", BRANCHES, &|_| root.clone());
            crowd(cluster, namespace, "leaf", *MANY, &|number| branches[number % BRANCHES].clone());
        }
    }
    root
}

/// How many objects are left in a namespace, by the cheapest request.
fn left(cluster: &Cluster, namespace: &str) -> usize {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps?limit=1");
    let list = cluster.get(&path).expect("a list");
    let rest = list["metadata"]["remainingItemCount"].as_u64().unwrap_or(0) as usize;
    list["items"].as_array().map_or(0, Vec::len) + rest
}

/// A field of `/proc/PID/status`, in MB.
fn memory(pid: u32, what: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what));
    let kilobytes =
        line.and_then(|line| line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<usize>().ok());
    kilobytes.unwrap_or_else(|| panic!("no {what} of the process {pid}")) >> 10
}

/// The CPU time that a process has used.
fn processor(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in brackets may contain anything; times in hundredths of a second come after it.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let hundredths: u64 = rest.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(hundredths * 10)
}

/// Runs one cascade under one of the two, which is started for it and has seen everything before the delete.
fn run(cluster: &Alone, seat: Seat, cascade: Cascade, namespace: &str) -> Took {
    let root = build(cluster, cascade, namespace);
    let sweeping = match seat {
        Seat::Collector => {
            cluster.start_controllers(&[COLLECTOR]);
            cluster.settled();
            None
        }
        Seat::Sweep => {
            let sweeping = SweepSettings::start_as(cluster, &cluster.kubeconfig(ADMIN), &SWEEP);
            sweeping.wait_for_sync();
            settled(&sweeping.metrics());
            Some(sweeping)
        }
    };
    let pid = match &sweeping {
        Some(sweeping) => sweeping.process().pid(),
        None => cluster.pids().last().copied(),
    };
    let pid = pid.expect("it runs");
    let (at_rest, used) = (memory(pid, "VmHWM"), processor(pid));
    let begun = Instant::now();
    cluster.delete(&cluster.path_of(&root), Some(cascade.policy()), None);
    let is_over = || match cascade.policy() {
        "Orphan" => cluster.get(&cluster.path_of(&root)).is_none(),
        _ => left(cluster, namespace) == 0,
    };
    while !is_over() {
        assert!(begun.elapsed() < PATIENCE, "{} under {seat:?}: {} are left", cascade.name(), left(cluster, namespace));
        thread::sleep(LOOK);
    }
    let took =
        Took { time: begun.elapsed(), memory: [at_rest, memory(pid, "VmHWM")], processor: processor(pid) - used };
    match sweeping {
        Some(sweeping) => sweeping.terminate(),
        None => cluster.stop_controllers(),
    }
    check(cluster, cascade, namespace, &root);
    took
}

/// Checks that all orphans exist and don't refer to the owner, then deletes them.
fn check(cluster: &Cluster, cascade: Cascade, namespace: &str, root: &Value) {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    if cascade.policy() == "Orphan" {
        let objects = cluster.list(&path);
        assert_eq!(objects.len(), *MANY);
        assert!(
            objects.iter().all(|object| object["metadata"]["ownerReferences"].is_null()),
            "{} is referred to",
            uid(root)
        );
    }
    let cleared = cluster.ask(&Method::DELETE, &path, None);
    assert!(cleared.is_success(), "{}", cleared.text());
}

fn in_the_middle<T: Copy + Ord>(mut values: Vec<T>) -> T {
    values.sort();
    values[values.len() / 2]
}

#[test]
#[ignore = "long: eight cascades, TIMES times"]
fn cascades_beside_the_collector() {
    let times = number("TIMES", 1);
    let only = env::var("SEAT").unwrap_or_default();
    let seats = [("collector", Seat::Collector), ("sweep", Seat::Sweep)];
    let seats: Vec<_> = seats.into_iter().filter(|(name, _)| only.is_empty() || *name == only).collect();
    let controller_manager = CONTROLLER_MANAGER.map(str::to_owned).to_vec();
    let cluster = Alone::start(&Options { controller_manager, ..Options::default() });
    let mut table = "| cascade | who | seconds | objects/s | processor s | MB at rest | MB at most \
            |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    for cascade in CASCADES {
        let mut runs: Vec<Vec<Took>> = vec![Vec::new(); seats.len()];
        for _ in 0..times {
            for (place, (_, seat)) in seats.iter().enumerate() {
                let namespace = cluster.namespace("cascade");
                let took = run(&cluster, *seat, cascade, &namespace);
                println!("{}, {seat:?}: {took:?}", cascade.name());
                runs[place].push(took);
            }
        }
        for ((name, _), runs) in seats.iter().zip(runs) {
            let of = |what: &dyn Fn(&Took) -> Duration| in_the_middle(runs.iter().map(what).collect());
            let time = of(&|took| took.time);
            let all: Vec<String> = runs.iter().map(|took| format!("{:.1}", took.time.as_secs_f64())).collect();
            let _ = writeln!(
                table,
                "| {} | {name} | {:.1} ({}) | {:.0} | {:.1} | {} | {} |",
                cascade.name(),
                time.as_secs_f64(),
                all.join(", "),
                *MANY as f64 / time.as_secs_f64(),
                of(&|took| took.processor).as_secs_f64(),
                in_the_middle(runs.iter().map(|took| took.memory[0]).collect::<Vec<_>>()),
                in_the_middle(runs.iter().map(|took| took.memory[1]).collect::<Vec<_>>()),
            );
        }
    }
    println!("{table}");
}
