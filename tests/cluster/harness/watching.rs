//! A command that keeps looking, and what it prints.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use super::{ADMIN, Cluster};

const PATIENCE: Duration = Duration::from_mins(1);

/// A running command, which ends with the test.
pub struct Watching {
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
    /// Starts it as the admin.
    #[track_caller]
    pub fn start(cluster: &Cluster, args: &[&str]) -> Self {
        let mut command = cluster.gc_command(&cluster.kubeconfig(ADMIN));
        command.args(args).stdout(Stdio::piped());
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
    pub fn until(&self, text: &str) -> Vec<String> {
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
