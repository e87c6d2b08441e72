use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    harness::{CountingProxy, Fault, Ran, Request},
    plan::trial::Trial,
};

/// Versions that the tests don't run, and the word for them.
const OUTSIDE: [(&str, &str); 3] = [("v1.29.4-gke.100", "older"), ("v1.9.0", "older"), ("v1.99.1+k3s1", "newer")];
/// Versions that they run, as vendors call them, and as the document says.
const INSIDE: [(&str, &str, &str); 3] = [
    ("v1.33.4-eks-abc1234", "33+", "v1.33.4-eks-abc1234"),
    ("v1.34.1+k3s1", "34", "v1.34.1+k3s1"),
    ("", "36+", "v1.36"),
];
/// What a server or a gateway may answer instead.
const SILENT: [(u16, &str); 5] =
    [(403, "{}"), (404, "{}"), (200, "<html>Log in</html>"), (200, "{\"gitVersion\":\"v0.0.0-master\"}"), (200, "[]")];

/// The commands that answer with a document, and their words for `widget/owner`.
const COMMANDS: [&[&str]; 7] = [
    &["tree"],
    &["plan", "widget/owner"],
    &["delete", "--dry-run", "widget/owner"],
    &["explain", "widget/owner"],
    &["doctor"],
    &["sweep", "--dry-run"],
    &["resources"],
];

fn says(git_version: &'static str, minor: &'static str) -> impl Fn(&Request) -> Option<Fault> + Send + Sync {
    move |request| {
        let body = json!({"major": "1", "minor": minor, "gitVersion": git_version});
        (request.path == "/version").then(|| Fault::Answer { status: 200, headers: Vec::new(), body })
    }
}

/// A trial with an owner and a dependent, and a proxy before its cluster.
fn family() -> (Trial<'static>, CountingProxy) {
    let trial = Trial::new("server-version", "Background");
    let owner = trial.widget("owner").create();
    trial.config_map("dependent").owned_by(&owner).create();
    let proxy = CountingProxy::start(trial.cluster);
    (trial, proxy)
}

/// The lines on standard error that tell of the server's version.
fn lines(ran: &Ran) -> Vec<&str> {
    ran.stderr.lines().filter(|line| line.starts_with("Server ")).collect()
}

fn run(trial: &Trial<'_>, proxy: &CountingProxy, args: &[&str]) -> Ran {
    let ran = trial.cluster.gc_with(proxy.kubeconfig(), &[args, &["-n", &trial.namespace]].concat());
    assert!(ran.code.is_some_and(|code| code != 1), "{args:?}: {}", ran.stderr);
    ran
}

/// robustness server: versions that were not tested, under {COMMANDS} commands | {OUTSIDE} | every answer says so,
///   as text and in its document
#[test]
#[ignore = "long: another version, and every command"]
fn outside_of_the_tested_versions_every_answer_says_so() {
    let (trial, proxy) = family();
    for (number, (version, differs)) in OUTSIDE.into_iter().enumerate() {
        proxy.with(says(version, ""));
        // What is said is decided in one place: one command shows it of the other versions.
        for command in COMMANDS.into_iter().filter(|command| number == 0 || command[0] == "plan") {
            let text = run(&trial, &proxy, command);
            let begin = format!("Server {version} is {differs} than the versions this was tested with (1.");
            assert!(matches!(&lines(&text)[..], [line] if line.starts_with(&begin)), "{command:?}: {}", text.stderr);
            let document = run(&trial, &proxy, &[command, &["-o", "json"]].concat());
            assert_eq!(lines(&document).len(), 1, "{command:?}: {}", document.stderr);
            assert_eq!(document.json()["server"], json!({"version": version, "tested": false}), "{command:?}");
        }
    }
}

/// A snapshot file keeps the version, so what is told of it later says so, too.
#[test]
fn a_snapshot_of_an_untested_server_says_so() {
    let (trial, proxy) = family();
    let (version, _) = OUTSIDE[0];
    proxy.with(says(version, ""));
    let file = trial.cluster.folder().join(format!("{}.json", trial.namespace));
    let file = file.to_str().expect("a readable name");
    run(&trial, &proxy, &["snapshot", "-o", file]);
    let from = ["plan", "-o", "json", "widget/owner", "--from", file, "-n", &trial.namespace];
    let ran = trial.cluster.gc(&from);
    assert_eq!(lines(&ran).len(), 1, "{}", ran.stderr);
    assert_eq!(ran.json()["server"], json!({"version": version, "tested": false}));
}

/// robustness server: tested versions as vendors call them | {INSIDE} | understood, and nothing is told of it
/// robustness server: gateways that answer something else to `/version` | {SILENT}, and no answer at all | the same
///   answers without the version
#[test]
#[ignore = "long: slow"]
fn there_is_no_false_alarm() {
    let (trial, proxy) = family();
    let plan = || run(&trial, &proxy, &["plan", "-o", "json", "widget/owner"]);
    for (git_version, minor, told) in INSIDE {
        proxy.with(says(git_version, minor));
        let ran = plan();
        assert_eq!((lines(&ran).len(), &ran.json()["server"]), (0, &json!({"version": told, "tested": true})));
    }
    let mut documents = BTreeSet::new();
    for (status, body) in SILENT {
        proxy.with(move |request| {
            (request.path == "/version").then(|| Fault::Raw { status, headers: Vec::new(), body })
        });
        let ran = plan();
        assert_eq!((lines(&ran).len(), ran.json().get("server")), (0, None), "{status} {body}");
        documents.insert(ran.told());
    }
    proxy.with(|request| (request.path == "/version").then_some(Fault::Hang));
    documents.insert(plan().told());
    assert_eq!(documents.len(), 1, "the rest of the plan is the same: {documents:#?}");
}
