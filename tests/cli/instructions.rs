//! How many instructions commands execute: unlike times, that is nearly the same on every machine. callgrind counts
//! them in the tests' own build, which nothing optimizes: a change shows that does more work, not the speed of a
//! release. callgrind plays one processor at a time and hides what only some have, such as AVX-512; no command here
//! starts a thread for each core.

use std::{collections::BTreeMap, env, fs, path::Path, process::Command};

use serde_json::json;

/// How far a count may be from the recorded one: tables with random hashes differ a little from run to run.
const TOLERANCE: f64 = 0.03;
/// The recorded counts; `UPDATE_INSTRUCTIONS=1` writes them anew.
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/instructions.txt");
/// How many Deployments the dump has; each has a ReplicaSet and eight Pods.
const DEPLOYMENTS: usize = 200;

/// The commands; `{dump}` is a dump in JSON, `{snapshot}` a snapshot of it.
const COMMANDS: [&str; 9] = [
    "--help",
    "version",
    "tree --from {dump} -A",
    "tree deploy/web-7 -n team-7 --from {dump}",
    "tree deploy/web-7 -n team-7 --from {snapshot}",
    "plan deploy/web-7 -n team-7 --from {dump}",
    "plan deploy/web-7 -n team-7 --propagation=foreground --from {dump}",
    "explain pod/web-7-0 -n team-7 --from {dump}",
    "doctor --from {dump}",
];

#[test]
#[ignore = "long: callgrind runs a command fifty times slower"]
fn no_command_executes_more_instructions_than_recorded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [dump, snapshot] = ["dump.json", "snapshot.json"].map(|name| folder.path().join(name).display().to_string());
    fs::write(&dump, workloads().to_string()).expect("room for a dump");
    let read = kubectl_gc::dump::read(std::slice::from_ref(&dump), true).expect("a dump");
    kubectl_gc::dump::write(&read, &mut fs::File::create(&snapshot).expect("room for a snapshot"))
        .expect("it can be written");
    let line = |command: &str| command.replace("{dump}", &dump).replace("{snapshot}", &snapshot);
    let counted: BTreeMap<&str, u64> =
        COMMANDS.into_iter().map(|command| (command, instructions(folder.path(), &line(command)))).collect();
    let page: String = counted.iter().map(|(command, count)| format!("{count:>12} {command}\n")).collect();
    if env::var_os("UPDATE_INSTRUCTIONS").is_some() {
        return fs::write(RECORDED, page).expect("it can be written");
    }
    let text = fs::read_to_string(RECORDED).expect("the recorded counts");
    let recorded: BTreeMap<&str, u64> = text
        .lines()
        .map(|line| line.trim_start().split_once(' ').expect("a count and a command"))
        .map(|(count, command)| (command, count.parse().expect("a count")))
        .collect();
    let differs = |(command, count): (&&str, &u64)| {
        recorded.get(command).is_none_or(|known| count.abs_diff(*known) as f64 > TOLERANCE * *known as f64)
    };
    assert!(
        !counted.iter().any(differs) && recorded.len() == counted.len(),
        "recorded:\n{text}\ncounted:\n{page}\nif that is meant, write the counts anew: UPDATE_INSTRUCTIONS=1 \
         cargo test --test cli -- --ignored no_command_executes"
    );
}

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_kubectl-gc")
}

/// How many instructions a command executes, without those of the kernel.
fn instructions(folder: &Path, line: &str) -> u64 {
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", program()])
        .args(line.split(' '))
        // The same few variables everywhere: no locale, no colours, no kubeconfig. Neither end is a terminal.
        .env_clear()
        .env("HOME", folder)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("callgrind counts instructions; install valgrind: {error}"));
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(matches!(ran.status.code(), Some(0 | 2)), "{line}: {:?}\n{told}", ran.status);
    let count = told.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, count)| count.trim().parse());
    count.and_then(Result::ok).unwrap_or_else(|| panic!("{line}: no count in\n{told}"))
}

/// Deployments in twenty namespaces, as `kubectl get -o json` prints them, without most of the spec.
fn workloads() -> serde_json::Value {
    let uid = |kind: &str, number: usize| format!("{kind}-4d3c-4e1b-9d1f-{number:012}");
    let mut items = Vec::new();
    for number in 0..DEPLOYMENTS {
        let mut object = |api_version: &str, kind: &str, name: &str, place: usize, owner: Option<(&str, &str)>| {
            let owners: Vec<_> = owner
                .into_iter()
                .map(|(kind, name)| {
                    json!({"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid(kind, number),
                        "controller": true, "blockOwnerDeletion": true})
                })
                .collect();
            let uid = if kind == "Pod" { uid(kind, 8 * number + place) } else { uid(kind, number) };
            items.push(json!({"apiVersion": api_version, "kind": kind,
                "metadata": {"name": name, "namespace": format!("team-{}", number % 20), "uid": uid,
                    "resourceVersion": (1000 + number).to_string(), "creationTimestamp": "2026-01-31T08:00:00Z",
                    "labels": {"app": format!("web-{number}")}, "ownerReferences": owners},
                "spec": {"replicas": 8, "nodeName": "node-7", "terminationGracePeriodSeconds": 30},
                "status": {"phase": "Running", "replicas": 8, "readyReplicas": 8}}));
        };
        let (web, set) = (format!("web-{number}"), format!("web-{number}-5d4f8c7b9"));
        object("apps/v1", "Deployment", &web, 0, None);
        object("apps/v1", "ReplicaSet", &set, 0, Some(("Deployment", &web)));
        (0..8).for_each(|place| object("v1", "Pod", &format!("{web}-{place}"), place, Some(("ReplicaSet", &set))));
    }
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}
