//! No cluster is configured, or it doesn't answer.

use std::net::TcpListener;

use super::{describe, finish, gc, program, write};

/// A port on which no process listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn no_kubeconfig() {
    let home = tempfile::tempdir().unwrap();
    for args in [&["tree"][..], &["plan", "deploy/web"], &["resources"], &["snapshot"]] {
        let ran = finish(program().env("HOME", home.path()).args(args));
        let looked = home.path().join(".kube/config");
        assert_eq!(
            describe(&ran),
            format!(
                "no kubeconfig: looked for {}, and this is not inside a pod; set KUBECONFIG or give --kubeconfig",
                looked.display()
            )
        );
    }
    assert!(describe(&gc(&["tree", "--kubeconfig", "/nonexistent"])).starts_with("kubeconfig /nonexistent: "));
    let broken = write(home.path(), "config", "not: [a, kubeconfig");
    assert!(describe(&gc(&["tree", "--kubeconfig", &broken])).contains(&broken));
}

#[test]
fn nobody_answers() {
    let server = format!("127.0.0.1:{}", closed_port());
    for args in [&["tree"][..], &["plan", "deploy/web"], &["resources"], &["snapshot"]] {
        let ran = gc(&[args, &["--server", &format!("http://{server}")]].concat());
        assert_eq!(describe(&ran), format!("cannot reach {server}: connection refused; is it running?"));
    }
    assert_eq!(
        describe(&gc(&["tree", "--server", &server, "--request-timeout", "soon"])),
        "--request-timeout=\"soon\" is not a time: give seconds, or a number with its unit such as 1s, 2m, 3h"
    );
}

/// Errors in the command line are reported before a cluster is contacted.
#[test]
fn the_command_line_comes_first() {
    let server = format!("http://127.0.0.1:{}", closed_port());
    let ran = gc(&["plan", "deploy", "--server", &server]);
    assert!(describe(&ran).starts_with("\"deploy\" is not enough"), "{ran}");
}

/// Help, versions and completion scripts need no server.
#[test]
fn who_asks_for_help_waits_for_no_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let home = tempfile::tempdir().unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let chosen = ["--server", &server, "--request-timeout=1s"];
    let asked = || listener.accept().is_ok();
    for args in [&["--help"][..], &["tree", "--help"], &["version"], &["completion", "bash"], &["completion", "zsh"]] {
        let ran = finish(program().env("HOME", home.path()).args(args).args(chosen));
        assert!(ran.code == 0 && !ran.out.is_empty() && !asked(), "{args:?}: {ran}");
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "{args:?} wrote something");
    }
    let ran = finish(program().env("HOME", home.path()).arg("tree").args(chosen));
    assert!(ran.code == 1 && asked(), "{ran}");
}

/// `-v 6` logs each request, but never secrets in it.
#[test]
fn requests_are_told_when_asked_for() {
    let server = format!("http://127.0.0.1:{}", closed_port());
    let describe = |verbosity: &str| gc(&["tree", "--server", &server, "--token", "s3cret", verbosity]);
    for verbosity in ["-v6", "-v=9", "--v=6"] {
        let ran = describe(verbosity);
        assert!(ran.err.contains("/api failed in ") && ran.code == 1 && ran.out.is_empty(), "{ran}");
        assert!(!ran.err.contains("s3cret"), "{ran}");
    }
    assert_eq!(describe("-v5").err.lines().count(), 1);
}
