//! The examples in the help of each command: all are read, and those that only look are run on `examples/shop.yaml`;
//! `tests/cluster/page.rs` runs the others.

use kubectl_gc::cli::examples::{EXAMPLES, Example};

use super::run::{Ran, gc, words};

/// Commands that need a cluster, or write files.
const NEEDS_A_CLUSTER: [&str; 6] = ["delete", "cancel", "archive", "restore", "watch", "snapshot"];

/// Each command, and its examples.
fn by_command() -> impl Iterator<Item = (&'static str, &'static [Example])> {
    let command = |example: &Example| example.1.split(' ').next().unwrap();
    EXAMPLES.chunk_by(move |a, b| command(a) == command(b)).map(move |examples| (command(&examples[0]), examples))
}

#[test]
fn every_example_of_the_help_works() {
    for (command, examples) in by_command() {
        let help = gc(&[command, "-h"]).out;
        assert!(help.contains("\nExamples:\n  # "), "{command}: {help}");
        assert!((4..=6).contains(&examples.len()) || command == "version", "{command}");
        for (what, line) in examples {
            assert!(what.len() < 78, "{line}");
            let args = words(line);
            let needs_a_cluster = NEEDS_A_CLUSTER.contains(&command) || line.contains("--watch");
            let needs_nothing = ["completion", "version"].contains(&command) || line.contains("--list-codes");
            let Ran { code, out, err } = match () {
                // These put files into the home of whoever runs the tests, or open a terminal.
                () if line.contains("install") || command == "tui" => continue,
                () if needs_nothing => gc(&args),
                () if needs_a_cluster => {
                    // It is read, and only then is there no cluster.
                    let ran = gc(&args);
                    let asks = !ran.err.contains("Usage:") && !ran.err.contains("--help");
                    assert!(asks && ran.code != 2 || line.contains("--print-role"), "{line}: {ran}");
                    continue;
                }
                () if command == "sweep" => gc(&[&args[..], &["--dry-run", "--from", "examples/shop.yaml"]].concat()),
                () => gc(&[&args[..], &["--from", "examples/shop.yaml"]].concat()),
            };
            assert!(
                code != 1 && !out.is_empty() && err.lines().all(|line| !line.starts_with("error")),
                "{line}: {err}"
            );
        }
    }
}

/// With its examples, the help of a command has at most 90 lines.
#[test]
fn the_help_of_a_command_fits_two_screens() {
    for (command, _) in by_command() {
        let lines = gc(&[command, "-h"]).out.lines().count();
        assert!(lines <= 90, "{command}: {lines}");
    }
}
