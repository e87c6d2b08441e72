//! The cluster can't be reached.

use std::net::TcpListener;

use super::refused;
use crate::harness::{Cluster, Ran, shared};

const COMMANDS: [&[&str]; 2] = [&["tree"], &["plan", "configmap/a"]];

/// Runs both commands with more arguments.
fn all(more: &[&str], run: impl Fn(&Cluster, &[&str]) -> Ran, words: &[&str]) {
    for command in COMMANDS {
        refused(&run(shared(), &[command, more].concat()), words);
    }
}

#[test]
fn a_wrong_token() {
    all(&["--token=wrong"], Cluster::gc, &["context test", "does not accept the credentials", "401"]);
}

#[test]
fn nobody_listens() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("there is a free port")
        .port();
    let server = format!("--server=https://127.0.0.1:{port}");
    all(&[&server], Cluster::gc, &["cannot reach", &format!("127.0.0.1:{port}"), "context test", "connection refused"]);
}

#[test]
fn a_name_that_cannot_be_resolved() {
    let server = "--server=https://no-such-host.invalid:6443";
    all(&[server], Cluster::gc, &["cannot reach", "no-such-host.invalid:6443", "context test", "cannot be resolved"]);
}

/// kubectl flag: `--request-timeout`, and a server that doesn't answer | same: an error that names the server
#[test]
fn a_server_that_does_not_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("a listener has an address");
    let server = format!("--server=http://{address}");
    all(&[&server, "--request-timeout=1s"], Cluster::gc, &["cannot reach", &address.to_string(), "timed out after 1s"]);
}

#[test]
fn no_kubeconfig() {
    let run = |cluster: &Cluster, args: &[&str]| cluster.gc_with(&cluster.folder().join("missing"), args);
    all(&[], run, &["no kubeconfig", "missing", "KUBECONFIG", "--kubeconfig"]);
    let missing = shared().folder().join("missing");
    let named = format!("--kubeconfig={}", missing.display());
    all(&[&named], Cluster::gc, &["kubeconfig", "missing", "No such file"]);
}

#[test]
fn a_kubeconfig_that_is_none() {
    let cluster = shared();
    let path = cluster.folder().join("rubbish.kubeconfig");
    std::fs::write(&path, "users:\n- name: me\n  user: {token: secret-of-mine}\nclusters: 7\n")
        .expect("the folder can be written to");
    let ran = cluster.gc_with(&path, &["tree"]);
    assert!(
        !ran.stderr.contains("secret-of-mine"),
        "a credential is told to whoever reads the terminal: {}",
        ran.stderr
    );
    all(&[], |cluster, args| cluster.gc_with(&path, args), &["rubbish.kubeconfig", "not a kubeconfig"]);
}

#[test]
fn a_context_that_is_not_there() {
    all(&["--context=other"], Cluster::gc, &["there is no context \"other\"", "it has test"]);
}
