//! The example of a sweep in a cluster matches the program: its role equals the output of `--print-role`, and its flags
//! exist.

use std::{fs, path::Path, process::Command};

use kubectl_gc::cli::role::{Role, role};

fn example() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/sweep-in-cluster.yaml")).unwrap()
}

#[test]
fn its_role_is_the_one_that_is_printed() {
    let documents: Vec<String> = example().split("---\n").map(str::to_owned).collect();
    let role = role(Role::Watch);
    assert_eq!(documents.iter().find(|document| document.contains("\nkind: ClusterRole\n")), Some(&role));
    let printed =
        Command::new(env!("CARGO_BIN_EXE_kubectl-gc")).args(["sweep", "--print-role", "--watch"]).output().unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), role);
}

#[test]
fn its_image_is_of_this_version() {
    assert!(example().contains(concat!("image: kubectl-gc:", env!("CARGO_PKG_VERSION"), "\n")));
}

/// The parser accepts all flags of the example, and rejects only the unknown flag after them.
#[test]
fn its_flags_are_flags() {
    let example = example();
    let args = example.lines().find_map(|line| line.trim().strip_prefix("args: ")).unwrap();
    let args: Vec<String> = serde_json::from_str(args).unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_kubectl-gc")).args(&args).arg("--no-such-flag").output().unwrap();
    let describe = String::from_utf8(ran.stderr).unwrap();
    assert!(describe.starts_with("error: unexpected argument '--no-such-flag' found"), "{describe}");
}
