//! Whether anything is left over when a test run ends or is killed.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::harness::{Alone, COLLECTOR, Options, wait_until};

/// The environment variable with the file where the process to be killed reports what it has started.
const REPORT: &str = "KUBECTL_GC_TEST_REPORT";

/// Longer than the supervisors give the servers to end, on a busy machine, too.
const PATIENCE: Duration = Duration::from_mins(3);

/// What the process to be killed does.
fn hold_a_cluster(report: &Path) {
    let cluster = Alone::start(&Options::default());
    cluster.start_controllers(&[COLLECTOR]);
    let started = json!({"pids": cluster.pids(), "folder": cluster.folder()});
    let draft = report.with_extension("draft");
    fs::write(&draft, started.to_string()).unwrap();
    fs::rename(draft, report).unwrap();
    // Don't wait for ever: the test that should kill this process may have been killed itself.
    thread::sleep(Duration::from_mins(5));
}

/// Starts this test in another process, which starts a cluster and waits to be killed.
#[test]
#[ignore = "long: is about the tests themselves"]
fn nothing_outlives_a_killed_test_run() {
    if let Some(report) = env::var_os(REPORT) {
        return hold_a_cluster(Path::new(&report));
    }
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let mut victim = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "self_test::leftovers::nothing_outlives_a_killed_test_run"])
        .env(REPORT, &report)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("another process to start a cluster", Duration::from_mins(5), || {
        assert!(victim.try_wait().unwrap().is_none(), "it ended by itself");
        report.exists()
    });
    let started: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    let pids: Vec<u64> = started["pids"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    let folder = Path::new(started["folder"].as_str().unwrap());
    assert_eq!(pids.len(), 3, "{started}");
    assert!(pids.iter().all(|pid| runs(*pid)) && folder.is_dir(), "{started}");

    victim.kill().unwrap();
    victim.wait().unwrap();
    wait_until("the servers to end", PATIENCE, || !pids.iter().any(|pid| runs(*pid)));
    wait_until("the folder to be removed", PATIENCE, || !folder.exists());
}

#[test]
#[ignore = "long: is about the tests themselves"]
fn nothing_outlives_a_cluster_that_is_dropped() {
    let cluster = Alone::start(&Options::default());
    let (pids, folder) = (cluster.pids(), cluster.folder().to_owned());
    assert_eq!(pids.len(), 2);
    drop(cluster);
    assert!(!pids.iter().any(|pid| runs((*pid).into())) && !folder.exists());
}

/// Whether a process with this pid exists.
fn runs(pid: u64) -> bool {
    let asked = Command::new("kill").args(["-0", &pid.to_string()]).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}
