//! One word for one thing: what was said in other words once is said so no longer, neither in what is printed nor on a
//! page.

use std::{fs, path::Path};

use walkdir::WalkDir;

/// Words that stood for something that has another name now.
const OLD: [&str; 44] = [
    "exists, and it has no owner.",
    "survives with changed",
    "survive with changed",
    "rest on an assumption that may be wrong.",
    "until the objects that they wait for",
    "Terminating without a finalizer of the collector",
    "ends the account",
    "after its deletion was requested",
    "created again by kubectl-gc-restore",
    "nothing to delete, to update or to finish",
    "DATA LOST",
    "stored data may be lost",
    "blocks a foreground delete of this owner",
    "(\"Also\"",
    "(\"Apart\"",
    "(\"Later\"",
    "(\"Outside\"",
    "KEPT:",
    "been Terminating for {",
    "removed last",
    "the collector does nothing",
    "data may be lost",
    "Data is destroyed",
    " data is destroyed",
    "data may be destroyed",
    "not certain: it rests on an assumption",
    " on an assumption, ",
    // What is not certain, may be, or is not known has no other words.
    "manager seems to",
    "perhaps DATA LOSS",
    "not all is certain",
    "Not verified",
    "effect unknown",
    "effects unknown",
    "by whom is unknown",
    ", and an unknown number",
    "\"UNKNOWN",
    "controller unknown",
    // What must be read twice.
    "Result of deleting",
    "must remove finalizer ",
    "and remove the invalid owner",
    "unblock the parent",
    "Decide about that first",
    "All of them are archived",
    "lets the delete go, which",
];

/// Pages that say what was once, or what other programs print.
const TOLD: [&str; 3] = ["CHANGELOG.md", "docs/json-changes.md", "docs/comparison.md"];

#[test]
fn nothing_is_said_in_old_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["src", "crates", "docs", "completions", "tests/cli/snapshots", "README.md", "examples"]
        .map(|name| root.join(name));
    let mut read = 0;
    let mut found = Vec::new();
    for entry in files.iter().flat_map(WalkDir::new).map(|entry| entry.expect("a readable folder")) {
        let path = entry.path().strip_prefix(root).expect("below the root").display().to_string();
        if !entry.file_type().is_file() || TOLD.contains(&path.as_str()) {
            continue;
        }
        let Ok(text) = fs::read_to_string(entry.path()) else { continue };
        read += 1;
        found.extend(OLD.iter().filter(|old| text.contains(**old)).map(|old| format!("{path}: {old}")));
    }
    assert!(read > 500, "only {read} files were read");
    assert!(found.is_empty(), "{found:#?}");
}
