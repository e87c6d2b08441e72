//! `docs/versions.md` says which versions of Kubernetes the tests ran: from the oldest to the newest that the program
//! says it is tested with, and only what can be built.

use std::{collections::BTreeSet, fs, path::Path};

use gc_core::model::server_version::TESTED;

/// The minor version of `v1.33.13`.
fn minor(version: &str) -> u32 {
    let minor =
        version.strip_prefix("v1.").and_then(|rest| rest.split('.').next()).and_then(|minor| minor.parse().ok());
    minor.unwrap_or_else(|| panic!("{version} is no version of Kubernetes 1"))
}

/// The versions of the page's rows, with what failed.
fn rows(page: &str) -> Vec<(String, String)> {
    let cells = |line: &str| line.split(" | ").map(|cell| cell.trim_matches([' ', '|']).to_owned()).collect::<Vec<_>>();
    let rows = page.lines().filter(|line| line.starts_with("| v1.")).map(cells).filter(|cells| cells.len() == 6);
    rows.map(|cells| (cells[0].clone(), cells[4].clone())).collect()
}

#[test]
fn what_is_called_tested_was_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/versions.md")).expect("the page of versions");
    let rows = rows(&page);
    let ran: BTreeSet<u32> = rows.iter().map(|(version, _)| minor(version)).collect();
    let bounds = ran.first().zip(ran.last());
    assert_eq!(bounds, Some((TESTED.start(), TESTED.end())), "docs/versions.md and `TESTED` name other versions");
    for bound in [TESTED.start(), TESTED.end()] {
        let is_fine = |(version, failed): &(String, String)| minor(version) == *bound && failed == "0";
        assert!(rows.iter().any(is_fine), "nothing ran on 1.{bound} without a failure");
    }
    let (first, last) = (TESTED.start(), TESTED.end());
    let says = format!("is tested with Kubernetes 1.{first} to 1.{last}.");
    assert!(page.contains(&says), "docs/versions.md doesn't say: {says}");

    // Each version that can be built, and no other: the newest one in go.mod, the others in files of their own.
    let folder = root.join("tests/control-plane");
    let names = fs::read_dir(&folder).expect("the module of the control plane");
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut built: BTreeSet<String> = names.filter_map(|name| name.strip_suffix(".mod").map(str::to_owned)).collect();
    assert!(built.remove("go"));
    let newest = fs::read_to_string(folder.join("go.mod")).unwrap();
    let newest = newest.lines().find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes ")).expect("its version");
    built.insert(newest.to_owned());
    for (version, _) in &rows {
        assert!(built.contains(version), "{version} can't be built: {built:?}");
    }
}

#[test]
fn rows_are_read() {
    let page = "| version | what ran | passed | not run | failed | on |\n|---|---|---|---|---|---|\n\
        | v1.33.13 | the whole quick tier | 512 | 3 | 1: `a::b` | 2026-01-01 |\n| v1.33.13 | `c` | 1.36 | new |\n";
    assert_eq!(rows(page), [("v1.33.13".to_owned(), "1: `a::b`".to_owned())]);
    assert_eq!(minor("v1.33.13"), 33);
}
