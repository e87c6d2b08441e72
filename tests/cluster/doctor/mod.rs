//! Findings of the built program: each test creates the broken state for real, finds it, and repairs it with the very
//! command that the finding printed.

pub mod apis;
mod causes;
mod check_ownerreferences;
mod churn;
mod collector;
mod controllers;
mod cycles;
mod evidence;
mod finalizers;
pub mod healthy;
mod held;
mod identity;
pub mod kit;
mod limits;
mod namespaces;
mod pods;
mod policies;
mod references;
mod reports;
mod schema;
mod spoiled;
mod stuck;
mod vanished;
mod watch;
mod webhooks;

pub use apis::{definition, unconvertible};

use std::{collections::BTreeSet, process::Command, time::Instant};

use serde_json::Value;

use crate::harness::{ADMIN, Cluster, PATIENCE, Ran, with_plugin};

/// What a run of the doctor found.
#[derive(Debug)]
pub struct Found {
    pub document: Value,
    /// 2 if there is a finding as severe as an error.
    pub code: Option<i32>,
}

impl Found {
    /// What a run of the doctor in JSON printed.
    #[track_caller]
    pub fn of(ran: &Ran) -> Self {
        assert!(matches!(ran.code, Some(0 | 2)), "exit code {:?}\n{}\n{}", ran.code, ran.stdout, ran.stderr);
        Found { document: ran.json(), code: ran.code }
    }

    /// The findings with this code that list an object with this name as affected.
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

    /// The only finding with this code about this object; panics with all findings unless there is exactly one.
    #[track_caller]
    pub fn one(&self, code: &str, name: &str) -> &Value {
        match self.about(code, name).as_slice() {
            [one] => one,
            other => panic!("{} findings {code} about {name}\n{:#}", other.len(), self.document),
        }
    }
}

/// Deletions that don't finish (§5.4), on the shared clusters.
#[test]
fn deletions_that_are_stuck() {
    side_by_side![
        finalizers::a_finalizer_that_nobody_removes,
        finalizers::what_is_below_lives_until_the_finalizers_go,
        finalizers::all_that_wait_are_named_from_the_nearest_on,
        finalizers::a_finalizer_of_a_controller_that_is_there,
        finalizers::a_controller_that_may_not_be_seen_is_not_away,
        finalizers::deletions_inside_the_cluster_are_armed,
        finalizers::deletions_outside_the_cluster_are_armed,
        finalizers::a_finalizer_that_was_set_by_hand,
        stuck::an_object_that_waits_for_itself,
        stuck::a_dependent_with_a_reference_to_what_is_not_served,
        stuck::what_the_collector_cannot_delete_goes_by_hand,
        stuck::a_cluster_scoped_dependent_with_a_namespaced_owner,
        stuck::a_dependent_that_may_not_be_deleted,
        stuck::a_delete_that_the_collector_never_learns_of,
        stuck::dependents_that_are_made_again_and_again,
        pods::a_pod_whose_node_is_gone,
        pods::a_pod_whose_kubelet_is_away,
        pods::a_pod_and_its_claim_that_wait_for_each_other,
        policies::a_policy_that_refuses_deletes,
        policies::a_policy_that_refuses_updates,
        pods::a_claim_that_a_running_pod_keeps,
        namespaces::a_finalizer_in_the_spec_of_a_namespace,
        namespaces::a_namespace_that_nobody_empties,
        vanished::an_object_that_is_not_there,
        apis::a_list_that_fails,
        causes::a_script_cuts_no_dependents_from_their_deleted_owner,
    ];
}

/// Faults of a whole cluster, each on its own cluster.
#[test]
#[ignore = "long: two clusters of their own"]
fn clusters_that_ail() {
    side_by_side![apis::a_kind_that_cannot_be_converted, schema::objects_that_became_invalid,];
}

#[test]
#[ignore = "long: each waits for controllers and back-offs"]
fn more_clusters_that_ail() {
    side_by_side![
        apis::what_ails_the_whole_cluster,
        causes::a_namespace_names_the_webhook_that_holds_it,
        controllers::a_controller_is_judged_by_its_workload,
        spoiled::objects_that_cannot_be_decoded,
    ];
}

/// Runs the doctor.
#[track_caller]
pub fn examine(cluster: &Cluster, args: &[&str]) -> Found {
    examine_as(cluster, ADMIN, args)
}

/// Runs the doctor as one of the users.
#[track_caller]
pub fn examine_as(cluster: &Cluster, user: &str, args: &[&str]) -> Found {
    Found::of(&cluster.gc_as(user, &[&["doctor", "-o", "json"], args].concat()))
}

/// Runs a command of a remedy as printed, in a shell, with kubectl and as admin. Returns its output.
#[track_caller]
pub fn paste(cluster: &Cluster, command: &str) -> String {
    let ran = Command::new("sh")
        .args(["-c", command])
        .env("KUBECONFIG", cluster.kubeconfig(ADMIN))
        .env("PATH", with_plugin())
        .current_dir(cluster.folder())
        .output()
        .unwrap_or_else(|error| panic!("{command}: {error}"));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned() + &String::from_utf8_lossy(&ran.stdout);

    assert!(ran.status.success(), "{command}\n{said}");
    said
}

/// Runs all commands of one remedy of a finding, and returns them.
#[track_caller]
pub fn follow(cluster: &Cluster, finding: &Value, remedy: usize) -> Vec<String> {
    let commands = finding["remedies"][remedy]["commands"].as_array().cloned().unwrap_or_default();
    let commands: Vec<String> = commands.iter().filter_map(|command| command.as_str().map(str::to_owned)).collect();
    assert!(!commands.is_empty(), "no remedy {remedy}: {finding:#}");
    if remedy == 0 {
        assert_eq!(finding["remedy"], commands.join("\n"));
    }
    for command in &commands {
        // Whoever follows a remedy that decides has decided: the sweep needn't ask.
        let asks = finding["remedies"][remedy]["decides"] == true && command.starts_with("kubectl gc sweep");
        paste(cluster, &if asks { format!("{command} --yes") } else { command.clone() });
    }
    commands
}

/// Finds a problem, runs the remedy that does the least harm, and waits until the doctor no longer reports it. Returns
/// the finding.
#[track_caller]
pub fn mends(cluster: &Cluster, args: &[&str], code: &str, name: &str) -> Value {
    mends_with(cluster, args, code, name, 0)
}

/// Like [`mends`], with another remedy.
#[track_caller]
pub fn mends_with(cluster: &Cluster, args: &[&str], code: &str, name: &str, remedy: usize) -> Value {
    mends_all(cluster, args, &[(code, name, remedy)]).one(code, name).clone()
}

/// One of several findings of one run: its code, the name of an affected object, and the index of the remedy to run.
pub type Row<'r> = (&'r str, &'r str, usize);

/// Finds all of these, runs a remedy for each, and waits until the doctor reports none of them. Returns what it found
/// first.
#[track_caller]
pub fn mends_all(cluster: &Cluster, args: &[&str], rows: &[Row<'_>]) -> Found {
    let codes: BTreeSet<&str> = rows.iter().map(|(code, ..)| *code).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let only = codes.join(",");
    let args = [args, &["--only", only.as_str()]].concat();
    let found = examine(cluster, &args);
    for (code, name, remedy) in rows {
        follow(cluster, found.one(code, name), *remedy);
    }
    let begun = Instant::now();
    loop {
        let ran = cluster.gc(&[&["doctor", "-o", "json"], &args[..]].concat());
        // The one remedy may have deleted the target itself.
        if rows.len() == 1 && ran.code == Some(1) && ran.stderr.contains(" not found") {
            return found;
        }
        let now = Found::of(&ran);
        let left: Vec<&Row<'_>> = rows.iter().filter(|(code, name, _)| !now.about(code, name).is_empty()).collect();
        if left.is_empty() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "still found: {left:?}\n{:#}", now.document);
    }
}
