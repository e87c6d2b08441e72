//! Standard output, standard error and the exit code, as pipes and scripts expect them.

use std::process::Command;

use super::run::{SHOP, run};

/// kubectl habit: help on standard output, exit 0 | same
#[test]
fn help_and_version_are_answers() {
    for line in ["--help", "-h", "plan -h", "tree --help", "--version", "-V", "version", "version -o json"] {
        let ended = run(line);
        assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{line}");
        assert!(!ended.out.is_empty(), "{line}");
    }
    assert!(run("plan --help").out.contains("Usage: kubectl gc plan"));
    // What fits two screens, and all of it.
    assert_eq!(run("plan --help").out, run("plan -h").out);
    assert!(run("help plan").out.lines().count() > run("plan -h").out.lines().count());
    for line in ["options", "options -h", "options --help"] {
        let options = run(line).out;
        assert!(options.contains("--kubeconfig") && !options.contains("--propagation"), "{options}");
        assert!(!options.contains("Walk through owners"), "{options}");
    }
    assert!(run("--version").out.contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_fits_80_columns() {
    for line in [
        "--help",
        "-h",
        "help tree",
        "plan -h",
        "sweep -h",
        "help sweep",
        "options",
        "resources -h",
        "snapshot -h",
        "doctor -h",
        "help doctor",
    ] {
        let help = run(line).out;
        let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{line}: {wide:#?}");
    }
}

#[test]
fn without_arguments_it_prints_its_help() {
    assert_eq!(run(""), run("-h"));
    // A flag alone is a usage error: the command is missing.
    let ended = run("--color=never");
    assert_eq!((ended.code, ended.out.as_str()), (1, ""));
    assert!(ended.err.starts_with("error: "), "{}", ended.err);
}

#[test]
fn data_goes_to_standard_output_alone() {
    for form in ["json", "yaml", "name", "wide", "dot"] {
        let ended = run(&format!("tree -o {form} --from {SHOP}"));
        assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{form}");
        assert!(ended.out.ends_with('\n') && !ended.out.contains('\u{1b}'), "{form}");
    }
    let document: serde_json::Value = serde_json::from_str(&run(&format!("tree -o json --from {SHOP}")).out).unwrap();
    assert_eq!(document["apiVersion"], "kubectl-gc/v1");
}

/// A closed standard error causes no panic, and doesn't change the exit code.
#[test]
fn a_closed_standard_error_changes_nothing() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("kubectl-gc"))
        .args(["tree", "deplyo/web", "--from", SHOP])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(writer)
        .spawn()
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
