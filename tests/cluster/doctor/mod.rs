//! Findings of the built program: each state is brought about for real, found, and mended with the very command that was printed.

mod churn;
mod healthy;
mod references;
mod stuck;
mod watch;

use std::{
    process::Command,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::harness::{ADMIN, Cluster};

/// What failed comes again after a back-off, and every look of the doctor's takes its time.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a run of the doctor found.
#[derive(Debug)]
pub struct Found {
    pub document: Value,
    /// 2 where something as bad as an error was found.
    pub code: Option<i32>,
}

impl Found {
    /// The findings of this code that speak of an object with this name, as those who suffer.
    pub fn about(&self, code: &str, name: &str) -> Vec<&Value> {
        let suffers = |finding: &&Value| {
            let objects = finding["objects"].as_array().into_iter().flatten();
            finding["code"] == code && objects.into_iter().any(|object| object["name"] == name)
        };
        self.findings().filter(suffers).collect()
    }

    /// All findings.
    pub fn findings(&self) -> impl Iterator<Item = &Value> {
        self.document["findings"].as_array().into_iter().flatten()
    }

    /// The finding of this code about this object; panics with everything that was found where there isn't just one.
    #[track_caller]
    pub fn one(&self, code: &str, name: &str) -> &Value {
        match self.about(code, name).as_slice() {
            [one] => one,
            other => panic!("{} findings {code} about {name}\n{:#}", other.len(), self.document),
        }
    }
}

/// Runs the doctor.
#[track_caller]
pub fn examine(cluster: &Cluster, args: &[&str]) -> Found {
    let ran = cluster.gc(&[&["doctor", "-o", "json"], args].concat());
    assert!(matches!(ran.code, Some(0 | 2)), "exit code {:?}\n{}\n{}", ran.code, ran.stdout, ran.stderr);
    Found { document: ran.json(), code: ran.code }
}

/// Runs a command of a remedy as it was printed, in a shell, with kubectl and the rights of the admin.
#[track_caller]
pub fn paste(cluster: &Cluster, command: &str) {
    let ran = Command::new("sh")
        .args(["-c", command])
        .env("KUBECONFIG", cluster.kubeconfig(ADMIN))
        .current_dir(cluster.folder())
        .output()
        .unwrap_or_else(|error| panic!("{command}: {error}"));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned() + &String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{command}\n{said}");
}

/// Finds something, runs the remedy that does the least harm, and waits until it is found no more. Returns the finding.
#[track_caller]
pub fn mends(cluster: &Cluster, args: &[&str], code: &str, name: &str) -> Value {
    mends_with(cluster, args, code, name, 0)
}

/// The same with another of the remedies.
#[track_caller]
pub fn mends_with(cluster: &Cluster, args: &[&str], code: &str, name: &str, remedy: usize) -> Value {
    let args = [args, &["--only", code]].concat();
    let finding = examine(cluster, &args).one(code, name).clone();
    let commands = finding["remedies"][remedy]["commands"].as_array().cloned().unwrap_or_default();
    assert!(!commands.is_empty(), "no remedy {remedy}: {finding:#}");
    if remedy == 0 {
        let lines: Vec<&str> = commands.iter().filter_map(Value::as_str).collect();
        assert_eq!(finding["remedy"], lines.join("\n"));
    }
    for command in &commands {
        paste(cluster, command.as_str().expect("a command"));
    }
    let begun = Instant::now();
    loop {
        let found = examine(cluster, &args);
        if found.about(code, name).is_empty() {
            return finding;
        }
        assert!(begun.elapsed() < PATIENCE, "{code} is still found after {commands:?}\n{:#}", found.document);
    }
}
