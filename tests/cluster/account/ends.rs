//! How an account ends.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use super::kit::Watching;
use crate::{harness::ADMIN, plan::trial::Trial};

#[test]
fn an_interrupt_ends_it_in_good_order() {
    let trial = Trial::new("account-interrupt", "Background");
    let map = trial.config_map("x").create();
    let watching = Watching::namespace(&trial);
    trial.cluster.delete(&trial.cluster.path_of(&map), None, None);
    watching.up_to("Gone", "ConfigMap", "x");
    let (rest, summary, code) = watching.interrupted();
    assert_eq!((rest, code), (Vec::new(), Some(0)), "{summary}");
    assert!(summary.starts_with("Watched for "), "{summary}");
    assert!(
        summary.contains(": 1 deletion (1 not by the collector), 0 objects recreated, 0 still Terminating."),
        "{summary}"
    );
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let trial = Trial::new("account-pipe", "Background");
    let map = trial.config_map("x").create();
    let mut command = trial.cluster.gc_command(&trial.cluster.kubeconfig(ADMIN));
    command.args(["watch", "-n", &trial.namespace]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("kubectl-gc runs");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let first = lines.by_ref().map_while(Result::ok).find(|line| line.contains("Watching"));
    assert!(first.is_some());
    drop(lines);
    trial.cluster.delete(&trial.cluster.path_of(&map), None, None);
    let ended = child.wait_with_output().expect("its end");
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn a_timeout_with_a_target_left_is_bad_news() {
    let trial = Trial::new("account-timeout", "Background");
    trial.config_map("x").create();
    let args = ["watch", "cm/x", "-n", &trial.namespace, "--until-gone", "--timeout=6s"];
    let ran = trial.cluster.gc(&args);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("--timeout: 1 of the TARGETs left.\n"), "{}", ran.stderr);
    let ran = trial.cluster.gc(&["watch", "-n", &trial.namespace, "--timeout=1s"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

/// For people: a heading, the time of day, and lines that fit the terminal.
#[test]
fn a_terminal_has_lines_that_fit() {
    let trial = Trial::new("account-terminal", "Background");
    let owner = trial.widget("an-owner-with-a-rather-long-name").create();
    let name = "a-dependent-with-a-name-that-is-long-too";
    trial.config_map(name).owned_by(&owner).create();
    let mut terminal = trial.cluster.gc_on_terminal(&["watch", "-n", &trial.namespace, "--color=never"]);
    terminal.shows("Watching");
    trial.cluster.delete(&trial.cluster.path_of(&owner), Some("Background"), None);
    terminal
        .shows(&format!("ConfigMap/{name} collected: its owner Widget/an-owner-with-a-rather-long-name was deleted"));
    terminal.interrupts();
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(0), "{shown}");
    // The summary on standard error is not wrapped.
    let told: Vec<&str> = shown.lines().take_while(|line| !line.starts_with("Watched for")).collect();
    assert!(told.len() > 4, "{shown}");
    for line in told {
        assert!(line.chars().count() <= 80 || !line.trim().contains(' '), "{line:?}");
    }
}
