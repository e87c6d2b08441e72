//! A command that keeps looking, and what it prints.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use super::{ADMIN, Cluster};

const PATIENCE: Duration = Duration::from_mins(1);

/// A running command, which ends with the test.
pub struct Watching {
    pub child: Child,
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
        Self::of(command.args(args))
    }

    /// Starts this command.
    #[track_caller]
    pub fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("kubectl-gc runs");
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
            if let Some(line) = self.next() {
                describe.push(line);
                if describe.last().is_some_and(|line| line.contains(text)) {
                    return describe;
                }
            }
        }
        panic!("no {text:?} in {describe:#?}");
    }

    /// The next line, if it comes within a second.
    pub fn next(&self) -> Option<String> {
        self.lines.recv_timeout(Duration::from_secs(1)).ok()
    }

    /// All lines up to the end of its output.
    pub fn rest(&self) -> impl Iterator<Item = String> {
        self.lines.iter()
    }
}
