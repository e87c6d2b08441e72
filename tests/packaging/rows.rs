//! Rows of a page, each above the test that shows it: `/// PAGE PART: CELL | CELL`.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A row as it stands in a source file.
#[derive(Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The part of the page.
    pub part: &'a str,
    /// What stands behind the part.
    pub text: String,
    /// The name of the test below.
    pub test: &'a str,
    /// The attributes of the test, such as `#[test]`.
    pub attributes: Vec<&'a str>,
    /// The number of its line, from 1.
    pub line: usize,
}

/// The rows of a page in one file; an error for a row that belongs to no test.
pub fn rows<'a>(page: &str, parts: &[(&str, &str)], file: &str, text: &'a str) -> Result<Vec<Row<'a>>, String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begin = format!("/// {page} ");
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((part, first)) = line.strip_prefix(&begin).and_then(|row| row.split_once(": ")) else { continue };
        if !parts.iter().any(|known| known.0 == part) {
            continue;
        }
        // A row goes on in lines that are indented.
        let more = lines[at + 1..].iter().map_while(|line| line.strip_prefix("///   "));
        let text = std::iter::once(first).chain(more).collect::<Vec<_>>().join(" ");
        let mut below = lines[at + 1..].iter().skip_while(|line| line.starts_with("///"));
        let attributes: Vec<&str> = below.by_ref().copied().take_while(|line| line.starts_with("#[")).collect();
        let named = lines[at + 1..]
            .iter()
            .find_map(|line| line.trim_start_matches("async ").strip_prefix("fn ")?.split('(').next());
        let is_test = attributes.iter().any(|it| *it == "#[test]" || it.starts_with("#[tokio::test"));
        let Some(test) = named.filter(|_| is_test) else {
            return Err(format!("{file}:{}: no test below: {line}", at + 1));
        };
        found.push(Row { part, text, test, attributes, line: at + 1 });
    }
    Ok(found)
}

/// All sources of the program and its tests, as paths from the root, with their texts.
pub fn sources(root: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    collect(&root.join("tests"), &mut files);
    collect(&root.join("src"), &mut files);
    collect(&root.join("crates"), &mut files);
    let read =
        |path: PathBuf| (path.strip_prefix(root).unwrap().display().to_string(), fs::read_to_string(&path).unwrap());
    // The tests of the pages hold rows as examples.
    let pages = ["tests/packaging/kubectl.rs", "tests/packaging/robustness.rs"];
    files.into_iter().map(read).filter(|(file, _)| !pages.contains(&file.as_str())).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// Compares a page with the checked-in file, or writes the file if the environment variable is 1.
pub fn check(root: &Path, file: &str, page: &str, update: &str) {
    let path = root.join(file);
    if std::env::var_os(update).is_some_and(|value| value == "1") {
        fs::write(&path, page).unwrap();
    }
    let checked_in = fs::read_to_string(&path).unwrap_or_default();
    assert!(checked_in == page, "{file} is out of date: {update}=1 cargo test --test packaging");
}
