//! A cascade of a thousand or ten thousand objects: the requests and the memory of the built program.

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    harness::{Alone, COLLECTOR, CountingProxy, wait_until},
    plan::{draft::blocking, trial::Trial},
};

/// Objects that are created in parallel.
const AT_A_TIME: usize = 8;
/// The most memory that the process may use, in kB.
const MOST_MEMORY: usize = 100 << 10;
/// Generous, because the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(20);

/// An owner with this many blocking dependents.
fn crowd(trial: &Trial<'_>, many: usize) -> Value {
    let owner = trial.widget("owner").create();
    let reference = blocking(&owner);
    thread::scope(|scope| {
        for part in 0..AT_A_TIME {
            let reference = &reference;
            let (cluster, namespace) = (trial.cluster, &trial.namespace);
            scope.spawn(move || {
                for number in (part..many).step_by(AT_A_TIME) {
                    cluster.create(object!("v1 ConfigMap", {
                        "name": format!("dependent-{number}"), "namespace": namespace, "ownerReferences": [reference],
                    }));
                }
            });
        }
    });
    owner
}

/// Runs a command to its end. Returns the exit code, its output, and its peak memory in kB.
#[track_caller]
fn measured(mut command: Command, folder: &std::path::Path) -> (Option<i32>, String, usize) {
    let said = folder.join("said");
    let file = fs::File::create(&said).expect("a file in the cluster's folder");
    let err = file.try_clone().expect("another handle of it");
    let mut child = command.stdin(Stdio::null()).stdout(file).stderr(err).spawn().expect("the program runs");
    let status = format!("/proc/{}/status", child.id());
    let (begun, mut most) = (Instant::now(), 0);
    let ended = loop {
        let memory = fs::read_to_string(&status).unwrap_or_default();
        let peak = memory.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = most.max(peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0));
        if let Some(ended) = child.try_wait().expect("the program can be waited for") {
            break ended;
        }
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            break child.wait().expect("the program can be waited for");
        }
        thread::sleep(Duration::from_millis(20));
    };
    (ended.code(), fs::read_to_string(&said).unwrap_or_default(), most)
}

#[test]
#[ignore = "long: a thousand objects"]
fn a_thousand_dependents_are_followed() {
    are_followed(1000);
}

#[test]
#[ignore = "long: ten thousand objects, twice"]
fn ten_thousand_dependents_are_followed() {
    are_followed(10_000);
}

/// The program reads each list only once, and watches from there. Its memory is bounded.
fn are_followed(many: usize) {
    let cluster = Alone::with(&[COLLECTOR]);
    for policy in ["Background", "Foreground"] {
        let trial = Trial::on(&cluster, "many", policy);
        let owner = crowd(&trial, many);
        cluster.settled();
        let proxy = CountingProxy::start(&cluster);
        let mut command = cluster.gc_command(proxy.kubeconfig());
        let propagation = format!("--propagation={}", policy.to_lowercase());
        command.args(["delete", "widget/owner", "-n", &trial.namespace, &propagation, "--yes"]);
        let begun = Instant::now();
        let (code, said, most) = measured(command, cluster.folder());
        println!("{policy}: {:?}, {most} kB\n{said}", begun.elapsed());
        assert_eq!(code, Some(0), "{said}");
        let path = format!("/api/v1/namespaces/{}/configmaps", trial.namespace);
        assert_eq!(cluster.list(&path), [] as [Value; 0], "it was said to be over");
        assert!(cluster.get(&cluster.path_of(&owner)).is_none());
        assert!(most < MOST_MEMORY, "{most} kB at its height");
        assert!(most > 0, "it could be measured");
        let mut asked: BTreeMap<String, usize> = BTreeMap::new();
        for request in proxy.requests() {
            if request.query.contains("limit=") || (request.method == "GET" && request.path.contains("configmaps")) {
                let page = request.query.split('&').filter(|part| !part.starts_with("timeoutSeconds="));
                *asked.entry(format!("{} {}", request.path, page.collect::<Vec<_>>().join("&"))).or_default() += 1;
            }
        }
        assert!(asked.len() > 20, "{asked:#?}");
        let again: Vec<&String> = asked.iter().filter(|(_, times)| **times > 1).map(|(asked, _)| asked).collect();
        assert!(again.is_empty(), "asked again: {again:#?}");
        // The pages of its only list, and its watch.
        let of_kind = asked.keys().filter(|asked| asked.contains("/configmaps")).count();
        assert!(of_kind <= 2 + many.div_ceil(2000) + 1, "{asked:#?}");
        wait_until("the collector to be done with it", PATIENCE, || cluster.list(&path).is_empty());
    }
}
