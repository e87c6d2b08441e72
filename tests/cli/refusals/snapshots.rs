//! Files that `snapshot` refuses to write.

use std::fs;

use super::{describe, finish, first_line, gc, program};

/// `snapshot` checks the output file before it contacts a cluster.
#[test]
fn a_file_is_not_replaced_unasked() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("there.json"), "mine").unwrap();
    let ran = finish(program().current_dir(&folder).args(["snapshot", "-o", "there.json"]));
    assert_eq!(describe(&ran), "there.json exists: use --force to replace it");
    let forced = finish(program().current_dir(&folder).args(["snapshot", "-o", "there.json", "--force"]));
    assert!(describe(&forced).starts_with("no kubeconfig"), "{forced}");
    assert_eq!(fs::read_to_string(folder.path().join("there.json")).unwrap(), "mine", "still there after a failure");
}

#[test]
fn a_folder_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let ran = finish(program().current_dir(&folder).args(["snapshot", "-o", "no/such/folder/a.json"]));
    assert_eq!(describe(&ran), "no/such/folder/a.json: cannot be written: there is no folder no/such/folder");
    let ran = finish(program().current_dir(&folder).args(["snapshot", "-o", ".", "--force"]));
    assert_eq!(describe(&ran), ".: cannot be written: it is a folder");
}

#[test]
fn force_without_a_file() {
    assert_eq!(first_line(&gc(&["snapshot", "--force"])), "the following required arguments were not provided:");
}
