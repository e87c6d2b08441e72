//! A reader that closes the pipe early.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::Stdio,
};

use super::family;
use crate::harness::ADMIN;

#[test]
fn a_closed_pipe_is_no_error() {
    let (trial, owner) = family("pipe");
    // More than fits into a pipe.
    for number in 0..150 {
        trial.config_map(&format!("dependent-{number}")).owned_by(&owner).create();
    }
    for lines in [0, 1] {
        for format in ["json", "collector-dot"] {
            let mut command = trial.cluster.gc_command(&trial.cluster.kubeconfig(ADMIN));
            command.args(["tree", "-n", &trial.namespace, "-o", format]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().expect("the program runs");
            let mut reader = BufReader::with_capacity(16, child.stdout.take().expect("it is a pipe"));
            for _ in 0..lines {
                assert!(reader.read_line(&mut String::new()).expect("it can be read") > 0, "nothing came");
            }
            drop(reader);
            let mut stderr = String::new();
            child.stderr.take().expect("it is a pipe").read_to_string(&mut stderr).expect("it can be read");
            let status = child.wait().expect("it ends");
            assert_eq!((status.code(), stderr.as_str()), (Some(0), ""), "{format} after {lines} lines");
        }
    }
}
