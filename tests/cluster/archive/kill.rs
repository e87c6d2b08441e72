//! Whenever the program is killed, the archive either is complete or doesn't exist. Running the same command again
//! finishes the job.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use kubectl_gc::archive::Archive;
use serde_json::json;

use super::{Folder, archive};
use crate::{
    harness::{ADMIN, Cluster},
    plan::trial::Trial,
    sweep::uncollected,
};

/// Many dependents with much text, so that writing takes some time.
const DEPENDENTS: usize = 60;
const LENGTH: usize = 60_000;

/// When to kill the program.
enum When {
    After(Duration),
    /// This long after the first write.
    Writing(Duration),
}

/// Text that doesn't compress well.
fn noise(seed: usize) -> String {
    let mut state = seed as u64 + 1;
    let digits = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from_digit((state >> 33) as u32 % 36, 36).unwrap_or('0')
    });
    digits.take(LENGTH).collect()
}

/// Starts the command and kills it. Returns whether it was still running, and whether it left a partial file.
fn killed(cluster: &Cluster, args: &[&str], folder: &Folder, when: &When) -> (bool, bool) {
    let before = folder.files();
    let writes = || folder.files().iter().any(|name| name.ends_with(".part") && !before.contains(name));
    let mut command: Command = cluster.gc_command(&cluster.kubeconfig(ADMIN));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("kubectl-gc runs");
    match when {
        When::After(time) => thread::sleep(*time),
        When::Writing(time) => {
            let begun = Instant::now();
            while !writes() && begun.elapsed() < Duration::from_secs(60) {
                thread::sleep(Duration::from_micros(200));
            }
            thread::sleep(*time);
        }
    }
    let was_running = child.try_wait().expect("it can be asked").is_none();
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    (was_running, writes())
}

/// Whether the archive exists; panics if it exists and is incomplete.
#[track_caller]
fn complete(file: &Path) -> bool {
    if !file.exists() {
        return false;
    }
    let archive = Archive::open(file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(archive.header().objects, DEPENDENTS + 1);
    assert!(archive.objects().unwrap().all(|object| object.is_ok()));
    true
}

#[test]
fn a_run_that_is_killed_leaves_all_or_nothing() {
    each_kill_leaves_all_or_nothing(6);
}

#[test]
#[ignore = "long: 50 kills"]
fn a_run_that_is_killed_leaves_all_or_nothing_each_time() {
    each_kill_leaves_all_or_nothing(25);
}

/// Kills `kills` runs that write plain text, and as many that compress it.
fn each_kill_leaves_all_or_nothing(kills: u32) {
    let cluster = uncollected();
    let trial = Trial::on(cluster, "killed", "Background");
    let owner = trial.widget("owner").create();
    for number in 0..DEPENDENTS {
        let metadata = json!({
            "name": format!("d{number}"),
            "namespace": trial.namespace,
            "ownerReferences": [crate::harness::owner_reference(&owner)],
        });
        cluster.create(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"noise": noise(number)}}),
        );
    }
    for name in ["a.yaml", "a.yaml.gz"] {
        let folder = Folder::new();
        let file = folder.path(name);
        let begun = Instant::now();
        archive(cluster, &trial.namespace, &["widget/owner"], &file).expect(0);
        let takes = begun.elapsed();
        assert!(complete(&file));
        fs::remove_file(&file).unwrap();
        let args = ["archive", "-n", &trial.namespace, "widget/owner", file.to_str().unwrap()];
        let (mut running, mut left_parts, mut left_all) = (0, 0, 0);
        for kill in 0..kills {
            // Any moment of the run, and the moments after it has started to write.
            let when = match kill % 2 {
                0 => When::After(takes * kill / kills),
                _ => When::Writing(Duration::from_millis(u64::from(kill) * 4)),
            };
            let (was_running, left_part) = killed(cluster, &args, &folder, &when);
            running += usize::from(was_running);
            left_parts += usize::from(left_part);
            if complete(&file) {
                left_all += 1;
                fs::remove_file(&file).unwrap();
            }
        }
        eprintln!("{name}: {takes:?}, {running} killed, {left_parts} left a part, {left_all} all");
        assert!(
            running > kills as usize / 2 && left_parts > 0,
            "{running} were running, {left_parts} left a part: nothing was tried"
        );
        archive(cluster, &trial.namespace, &["widget/owner"], &file).expect(0);
        assert!(complete(&file));
        assert_eq!(folder.files(), [name], "what killed runs have left is cleared away");
        let again = archive(cluster, &trial.namespace, &["widget/owner"], &file);
        again.expect(1);
        assert!(again.stderr.contains("already exists (a complete archive with 61 objects"), "{}", again.stderr);
    }
}
