//! The README shows the program's real output.

use super::run::{gc, repository};

const PROMPT: &str = "$ cargo run -q -- ";

/// Every command of the README that runs without a cluster, with the output shown below it.
fn commands() -> Vec<(String, String)> {
    let readme = repository("README.md");
    let blocks = readme.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in blocks.flat_map(|block| block.split_inclusive('\n')) {
        match (line.strip_prefix(PROMPT), commands.last_mut()) {
            (Some(command), _) => commands.push((command.trim_end().to_owned(), String::new())),
            (None, Some((_, shown))) if !line.starts_with("$ ") => shown.push_str(line),
            _ => {}
        }
    }
    commands
}

#[test]
fn the_first_command_prints_what_the_readme_shows() {
    let (command, shown) = commands().into_iter().next().expect("the README begins with a command");
    let ran = gc(&super::run::words(&command));
    assert_eq!(ran.out, shown);
    assert_eq!((ran.code, ran.err.as_str()), (2, ""), "\"Exit code 2 says that something would get stuck\"");
}

#[test]
fn every_command_of_the_readme_runs() {
    let commands = commands();
    assert!(commands.len() >= 6, "{commands:?}");
    for (command, shown) in commands {
        let out = gc(&super::run::words(&command)).done();
        assert!(!out.is_empty(), "{command}");
        if !shown.is_empty() {
            assert_eq!(out, shown, "{command}");
        }
    }
}
