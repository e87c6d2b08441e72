use std::collections::BTreeSet;

use super::gadget;
use crate::{
    harness::{CountingProxy, Request},
    plan::trial::Trial,
    sweep::uncollected,
};

/// Runs commands that write, in each way there is, and returns their requests.
fn requests(trial: &Trial<'_>) -> Vec<(&'static str, Vec<Request>)> {
    let cluster = trial.cluster;
    let owner = trial.widget("owner").create();
    trial.config_map("dependent").owned_by(&owner).create();
    trial.config_map("kept").owned_by(&owner).create();
    let gone = trial.gone("gone");
    let other = trial.widget("other").create();
    trial.config_map("lost").owned_by(&gone).create();
    trial.config_map("half").owned_by(&gone).owned_by(&other).create();
    let archive = cluster.folder().join(format!("{}.yaml", trial.namespace)).display().to_string();
    let proxy = CountingProxy::start(cluster);
    let run = |args: &[&'static str]| {
        proxy.forget();
        let args: Vec<&str> = args.iter().map(|arg| if *arg == "ARCHIVE" { &archive } else { *arg }).collect();
        let ran = cluster.gc_with(proxy.kubeconfig(), &[&args[..], &["-n", &trial.namespace]].concat());
        assert!(ran.code.is_some_and(|code| code != 1), "{args:?}: {}", ran.stderr);
        proxy.requests()
    };
    let commands: [&[&'static str]; 11] = [
        &["tree"],
        &["plan", "widget/owner"],
        &["explain", "widget/owner"],
        &["resources"],
        &["snapshot"],
        &["watch", "--timeout=1s"],
        &["archive", "widget/owner", "ARCHIVE"],
        &["delete", "widget/owner", "--yes", "--keep=configmap/kept", "--wait=false"],
        &["restore", "ARCHIVE", "--yes"],
        &["sweep", "--yes"],
        &["doctor", "--probe"],
    ];
    commands.map(|args| (args[0], run(args))).into()
}

/// kubectl habit: User-Agent | own: `kubectl-gc/VERSION (OS/ARCH) COMMAND`
/// kubectl habit: field managers | own: `kubectl-gc`, and `kubectl-gc-restore:UID` for what is restored
#[test]
#[ignore = "long: every command once"]
fn every_request_says_who_sends_it_and_every_write_who_manages_it() {
    let trial = Trial::on(uncollected(), "agents", "Background");
    let mut written = BTreeSet::new();
    for (command, requests) in requests(&trial) {
        assert!(!requests.is_empty(), "{command}");
        let agent = format!("kubectl-gc/{} (", env!("CARGO_PKG_VERSION"));
        for request in requests {
            let system = request.user_agent.strip_prefix(&agent).and_then(|rest| rest.strip_suffix(command));
            let system = system.and_then(|system| system.strip_suffix(") "));
            assert!(system.is_some_and(|system| system.split('/').count() == 2), "{command}: {request:?}");
            if ["POST", "PUT", "PATCH"].contains(&request.method.as_str()) {
                let manager = request.query.split('&').find_map(|part| part.strip_prefix("fieldManager="));
                assert!(manager.is_some_and(|manager| manager.starts_with("kubectl-gc")), "{command}: {request:?}");
                written.insert((command, request.method));
            }
        }
    }
    for writes in [("delete", "PATCH"), ("delete", "POST"), ("restore", "POST"), ("sweep", "PATCH"), ("doctor", "POST")]
    {
        assert!(written.contains(&(writes.0, writes.1.to_owned())), "{writes:?}: {written:?}");
    }
}

/// The API server knows the manager of what a restore has created.
#[test]
fn the_server_notes_the_manager() {
    let cluster = super::world();
    let namespace = cluster.namespace("managed");
    cluster.create(gadget(&namespace, "a"));
    let archive = cluster.folder().join(format!("{namespace}.yaml")).display().to_string();
    cluster.gc(&["delete", "gadget/a", "-n", &namespace, "--yes", "--archive", &archive]).expect(0);
    cluster.gc(&["restore", &archive, "--yes"]).expect(0);
    let restored = cluster.get(&format!("/apis/habits.test/v1/namespaces/{namespace}/gadgets/a")).expect("a gadget");
    let manager = restored["metadata"]["managedFields"][0]["manager"].as_str().unwrap_or_default().to_owned();
    assert!(manager.starts_with("kubectl-gc"), "{restored}");
}
