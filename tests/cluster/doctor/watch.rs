//! `doctor --watch`: reports a finding once, and again when it changes.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use crate::{harness::ADMIN, plan::trial::Trial, sweep::uncollected};

const PATIENCE: Duration = Duration::from_mins(1);

/// A running `doctor --watch`, which ends with the test.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Watching {
    fn start(trial: &Trial<'_>, args: &[&str]) -> Self {
        let mut command = trial.cluster.gc_command(&trial.cluster.kubeconfig(ADMIN));
        command.args(["doctor", "--watch", "--interval=1", "-n", &trial.namespace]).args(args).stdout(Stdio::piped());
        let mut child = command.spawn().expect("kubectl-gc runs");
        let stdout = child.stdout.take().expect("its output");
        let (send, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Watching { child, lines }
    }

    /// Reads all lines up to the first that contains this text.
    #[track_caller]
    fn until(&self, text: &str) -> Vec<String> {
        let (begun, mut describe) = (Instant::now(), Vec::new());
        while begun.elapsed() < PATIENCE {
            if let Ok(line) = self.lines.recv_timeout(Duration::from_secs(1)) {
                describe.push(line);
                if describe.last().is_some_and(|line| line.contains(text)) {
                    return describe;
                }
            }
        }
        panic!("no {text:?} in {describe:#?}");
    }
}

#[test]
fn what_changes_is_told() {
    let trial = Trial::on(uncollected(), "watch", "Background");
    let watching = Watching::start(&trial, &["--only=owner-absent"]);
    watching.until("No problems found");
    let gone = trial.gone("gone");
    let lost = trial.config_map("lost").owned_by(&gone).create();
    let describe = watching.until("owner-absent");
    assert!(describe.iter().any(|line| line.ends_with(": 1 new, 0 resolved or changed.")), "{describe:#?}");
    trial.cluster.delete(&trial.cluster.path_of(&lost), Some("Background"), None);
    let describe = watching.until("No problems found");
    assert!(describe.iter().any(|line| line.ends_with(": 0 new, 1 resolved or changed.")), "{describe:#?}");
}

#[test]
fn documents_come_one_after_the_other() {
    let trial = Trial::on(uncollected(), "watch-json", "Background");
    let watching = Watching::start(&trial, &["--only=owner-absent", "-o", "json"]);
    let first = watching.until("\"info\": 0");
    let gone = trial.gone("gone");
    trial.config_map("lost").owned_by(&gone).create();
    let mut second = watching.until("\"info\": 0");
    // The first document ends before the second begins.
    let end = second.iter().position(|line| line == "}").expect("the end of the first");
    let whole = [first, second.drain(..=end).collect()].concat().join("\n");
    let document: serde_json::Value = serde_json::from_str(&whole).expect("a document");
    assert_eq!(document["findings"], serde_json::json!([]));
    assert!(second.iter().any(|line| line.contains("owner-absent")), "{second:#?}");
}
