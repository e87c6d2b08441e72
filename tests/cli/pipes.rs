//! Output whose reader closes the pipe early.

use std::{
    io::Read,
    process::{Command, Stdio},
};

use super::run::LEFTOVERS;

/// Starts the program with its standard output in a pipe.
fn piped(args: &[&str]) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_kubectl-gc"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A dump whose tree is larger than any pipe's buffer.
fn large() -> tempfile::NamedTempFile {
    let objects = (0..4_000).map(|number| {
        format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"settings-{number}","namespace":"big","uid":"u{number}"}}}}"#)
    });
    let file = tempfile::Builder::new().suffix(".ndjson").tempfile().unwrap();
    std::fs::write(&file, objects.collect::<Vec<_>>().join("\n")).unwrap();
    file
}

#[test]
fn a_pipe_that_is_closed_is_fine() {
    let file = large();
    let from = file.path().to_str().unwrap();
    for args in [
        &["tree", "--no-fold", "--from", from][..],
        &["tree", "-o", "json", "--from", from],
        &["tree", "-o", "yaml", "--from", from],
        &["plan", "cm", "--all", "-o", "json", "--from", from],
        &["sweep", "--dry-run", "-o", "json", "--from", from],
        // The exit code is 0 although objects are stuck: the reader has gone.
        &["sweep", "--dry-run", "--from", LEFTOVERS],
        &["completion", "bash"],
        &["--help"],
    ] {
        let mut child = piped(args);
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{args:?}");
    }
}

/// As with `head -c 100`.
#[test]
fn a_pipe_may_be_closed_in_between() {
    let file = large();
    let mut child = piped(&["tree", "-o", "name", "--from", file.path().to_str().unwrap()]);
    let mut out = child.stdout.take().unwrap();
    let mut start = [0; 100];
    out.read_exact(&mut start).unwrap();
    assert!(start.starts_with(b"configmap/settings-0\n"));
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// If the pipe is closed, not even the exit code reports problems with objects; a full disk is a real error.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_told() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-gc")).arg("version").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: standard output: "));
}
