//! Measures commands on a real cluster beside curl, which reads the same lists to nowhere: `cargo bench --bench live
//! [-- OBJECTS]`. The cluster is that of the tests. `UPDATE_PERFORMANCE=1` writes the figures into
//! `docs/performance.md`.

#[allow(dead_code, reason = "shared by all benchmarks; one needs only parts of it")]
mod figures;
#[allow(dead_code, unused_imports, reason = "a kit for the tests of clusters; a benchmark needs only parts of it")]
#[path = "../tests/cluster/harness/mod.rs"]
mod harness;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use figures::{Ran, machine, measured, median, record};
use harness::{ADMIN, Alone, COLLECTOR, Cluster, NAMESPACES, Options, owner_reference};

/// How many of each pair are run; the medians count.
const TIMES: usize = 7;
/// What takes longer is ended.
const LIMIT: Duration = Duration::from_secs(120);
/// How many requests are under way at once while the cluster is filled.
const WRITERS: usize = 32;
/// A Deployment, its ReplicaSet with three Pods and three ConfigMaps, and two Secrets that nobody owns.
const FAMILY: usize = 10;
/// How many objects a namespace has.
const NAMESPACE: usize = 1000;
const METADATA: &str = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

fn main() {
    let objects = env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(100_000);
    let cluster = Alone::start(&Options::default());
    let begun = Instant::now();
    let namespaces = fill(&cluster, objects);
    println!("{objects} objects were made in {:.0?}", begun.elapsed());
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    cluster.settled();
    let listed = cluster.listed();
    let everything: Vec<String> = listed.iter().map(|kind| kind.path.clone()).collect();
    let one = namespaces.first().expect("a namespace");
    let of_one: Vec<String> =
        listed.iter().map(|kind| kind.path_in(one)).filter(|path| path.contains("/namespaces/")).collect();
    let header = "| command | objects | seconds | curl | seconds ÷ curl | seconds of CPU | of the server \
                  | of the server for curl | MB | threads |\n|---|---|---|---|---|---|---|---|---|---|\n";
    print!("{header}");
    let mut table = header.to_owned();
    let target = format!("deploy/web-{}", 0);
    let rows: [(&str, &[&str], &[String]); 4] = [
        ("doctor", &["doctor"], &everything),
        ("plan", &["plan", &target, "-n", one], &everything),
        ("tree TYPE/NAME -n", &["tree", &target, "-n", one], &of_one),
        ("tree TYPE/NAME -n, the first time", &["tree", &target, "-n", one, "--cache-dir", "/dev/null"], &of_one),
    ];
    for (name, line, lists) in rows {
        let row = pairs(&cluster, name, objects, line, lists);
        print!("{row}");
        table.push_str(&row);
    }
    let [pairs, on] = [format!("Medians of {TIMES} pairs on {}, which", machine()), lines_of(objects)];
    record(
        "A live cluster",
        &[
            &figures::command("live"),
            "",
            &pairs,
            &on,
            "The server shares the processor with what is measured. *curl* reads the metadata lists of the same",
            "objects in parallel, in protobuf, to nowhere; it reads no discovery, and nothing that tells who is stuck.",
            "The memory and the threads are the most that the process was seen with.",
            "",
            &table,
        ],
    );
}

fn lines_of(objects: usize) -> String {
    format!("also run the API server and etcd, with {objects} objects in namespaces of {NAMESPACE} each.")
}

/// Runs a command and curl in turn.
fn pairs(cluster: &Alone, name: &str, objects: usize, line: &[&str], lists: &[String]) -> String {
    let curl = curl(cluster, lists);
    let once = |command: &mut Command| {
        let before = processor(cluster);
        let ran = measured(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()), LIMIT);
        let code = ran.status.and_then(|status| status.code());
        assert!(matches!(code, Some(0 | 2)), "{command:?}: {code:?}");
        (ran, processor(cluster) - before)
    };
    let gc = || {
        let mut command = cluster.gc_command(&cluster.kubeconfig(ADMIN));
        command.args(line);
        command
    };
    // Once before, so that what is cached is there for both.
    once(&mut gc());
    once(&mut curl());
    let runs: Vec<[(Ran, f64); 2]> = (0..TIMES).map(|_| [once(&mut gc()), once(&mut curl())]).collect();
    let of = |figure: fn(&[(Ran, f64); 2]) -> f64| median(runs.iter().map(figure));
    format!(
        "| {name} | {objects} | {:.3} | {:.3} | {:.2} | {:.2} | {:.2} | {:.2} | {:.0} | {:.0} |\n",
        of(|[(gc, _), _]| gc.seconds),
        of(|[_, (curl, _)]| curl.seconds),
        of(|[(gc, _), (curl, _)]| gc.seconds / curl.seconds),
        of(|[(gc, _), _]| gc.processor),
        of(|[(_, server), _]| *server),
        of(|[_, (_, server)]| *server),
        of(|[(gc, _), _]| gc.memory as f64 / 1e6),
        of(|[(gc, _), _]| gc.threads as f64),
    )
}

/// How many seconds the servers have run.
fn processor(cluster: &Alone) -> f64 {
    let ticks = |id: u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).to_owned();
        rest.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>()
    };
    cluster.pids().into_iter().map(ticks).sum::<f64>() / rustix::param::clock_ticks_per_second() as f64
}

/// Makes the command of curl that reads these lists, all at once, with the test cluster's own credentials.
fn curl(cluster: &Cluster, lists: &[String]) -> impl Fn() -> Command + use<> {
    let kubeconfig = fs::read_to_string(cluster.kubeconfig(ADMIN)).expect("the harness wrote it");
    let kubeconfig: Value = serde_yaml::from_str(&kubeconfig).expect("YAML");
    let of = |pointer: &str| kubeconfig.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let server = of("/clusters/0/cluster/server");
    let mut config = format!(
        "parallel\nparallel-max = 100\nsilent\nfail\ninsecure\nheader = \"Authorization: Bearer {}\"\n\
         header = \"Accept: {METADATA}\"\n",
        of("/users/0/user/token")
    );
    for path in lists {
        config.push_str(&format!("url = \"{server}{path}\"\noutput = \"/dev/null\"\n"));
    }
    let path: PathBuf = cluster.folder().join(cluster.unique("curl"));
    fs::write(&path, config).expect("the folder is there");
    move || curl_with(&path)
}

fn curl_with(config: &Path) -> Command {
    let mut command = Command::new("curl");
    command.arg("--disable").arg("--noproxy").arg("*").arg("--config").arg(config);
    command
}

/// Makes so many objects; returns their namespaces.
fn fill(cluster: &Cluster, objects: usize) -> Vec<String> {
    let namespaces: Vec<String> = (0..objects.div_ceil(NAMESPACE)).map(|_| cluster.namespace("shop")).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(FAMILY, Ordering::Relaxed);
                    if number >= objects {
                        return;
                    }
                    family(cluster, &namespaces[number / NAMESPACE], number);
                }
            });
        }
    });
    namespaces
}

fn family(cluster: &Cluster, namespace: &str, number: usize) {
    let labels = json!({"app": format!("web-{number}"), "pod-template-hash": "5d4f8c7b9"});
    let containers = json!([{"name": "web", "image": "acme/web:1"}]);
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": containers}});
    let make = |api_version: &str, kind: &str, name: String, owner: Option<&Value>, rest: Value| {
        let owners: Vec<Value> = owner
            .into_iter()
            .map(|owner| {
                let mut reference = owner_reference(owner);
                (reference["controller"], reference["blockOwnerDeletion"]) = (json!(true), json!(true));
                reference
            })
            .collect();
        let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {
            "name": name, "namespace": namespace, "labels": labels, "ownerReferences": owners}});
        object.as_object_mut().expect("a map").extend(rest.as_object().cloned().unwrap_or_default());
        cluster.create(object)
    };
    let workload = json!({"spec": {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}});
    let web = make("apps/v1", "Deployment", format!("web-{number}"), None, workload.clone());
    let set = make("apps/v1", "ReplicaSet", format!("web-{number}-5d4f8c7b9"), Some(&web), workload);
    for member in 0..3 {
        let pod = json!({"spec": {"containers": containers}});
        make("v1", "Pod", format!("web-{number}-5d4f8c7b9-x{member}z"), Some(&set), pod);
        make("v1", "ConfigMap", format!("web-{number}-{member}"), Some(&web), json!({"data": {"key": "value"}}));
    }
    for member in 0..2 {
        make("v1", "Secret", format!("web-{number}-{member}"), None, json!({}));
    }
}
