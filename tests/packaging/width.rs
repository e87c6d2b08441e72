//! Lines of code and docs have at most 120 columns, and the files that the docs name exist.

use std::{fs, path::Path, process::Command};

const COLUMNS: usize = 120;

/// Files with generated or recorded content, whose lines may have any length.
const AS_LONG_AS_IT_IS: [&str; 4] = ["tests/engine/recorded/", "tests/cli/dumps/", "completions/", "docs/schema/"];

/// The files of the repository.
fn files() -> Vec<String> {
    let listed = Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    String::from_utf8(listed.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The numbers of lines over the limit. Rows of tables and quoted output in Markdown can't be wrapped.
fn too_long(text: &str, is_markdown: bool) -> Vec<usize> {
    let mut quoted = false;
    let mut long = Vec::new();
    for (number, line) in text.lines().enumerate() {
        quoted ^= is_markdown && line.trim_start().starts_with("```");
        let is_whole = is_markdown && (quoted || line.starts_with('|'));
        if line.chars().count() > COLUMNS && can_be_broken(line) && !is_whole {
            long.push(number + 1);
        }
    }
    long
}

/// A line with a longer word than this (a link, JSON in a test) may have any length.
const LONGEST_WORD: usize = 90;

fn can_be_broken(line: &str) -> bool {
    line.split_whitespace().all(|word| word.chars().count() <= LONGEST_WORD)
}

#[test]
fn lines_have_at_most_120_columns() {
    let is_checked = |file: &&String| {
        let is_text = [".rs", ".md", ".toml", ".sh"].iter().any(|ending| file.ends_with(ending));
        (is_text || file.starts_with("tests/engine/rows/"))
            && !AS_LONG_AS_IT_IS.iter().any(|folder| file.starts_with(folder))
    };
    let files = files();
    let checked: Vec<&String> = files.iter().filter(is_checked).collect();
    assert!(checked.len() > 500, "{}", checked.len());
    let mut wrong = Vec::new();
    for file in checked {
        let text = fs::read_to_string(file).unwrap();
        wrong.extend(too_long(&text, file.ends_with(".md")).into_iter().map(|line| format!("{file}:{line}")));
    }
    assert!(wrong.is_empty(), "{} lines are too long:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_long_line_is_found() {
    let long = "word ".repeat(25);
    assert_eq!(too_long(&format!("short\n{long}\n"), false), [2]);
    assert_eq!(too_long(&format!("```\n{long}\n```\n| {long} |\n{long}"), true), [5]);
    assert_eq!(too_long(&format!("//! see {}\n", "x".repeat(130)), false), [0; 0]);
    assert_eq!(too_long(&"äöü ".repeat(30), false), [0; 0]);
}

/// Words in backticks that look like the path of a file or folder.
fn paths(text: &str) -> Vec<&str> {
    let looks_like_one = |word: &&str| {
        let ends = word.ends_with(".rs") || word.ends_with('/') || word.ends_with(".md") || word.ends_with(".json");
        ends && !word.contains([' ', '*', '$', '<', '=', ':', '…']) && !word.starts_with(['/', '.'])
    };
    text.split('`').skip(1).step_by(2).filter(looks_like_one).collect()
}

#[test]
fn the_files_that_the_docs_name_exist() {
    let mut named = 0;
    let mut missing = Vec::new();
    for doc in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(doc).unwrap();
        for path in paths(&text) {
            named += 1;
            let folders = ["", "src", "crates/core/src", "crates/cluster/src"];
            if !folders.iter().any(|folder| Path::new(folder).join(path).exists()) {
                missing.push(format!("{doc}: {path}"));
            }
        }
    }
    assert!(named > 100, "{named}");
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
}

/// CONTRIBUTING.md stays readable in one go.
#[test]
fn contributing_is_short() {
    let size = fs::metadata("CONTRIBUTING.md").unwrap().len();
    assert!(size <= 8 * 1024, "{size} bytes");
}
