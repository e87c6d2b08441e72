//! `docs/kubectl.md` says what is as in kubectl. Each row stands above the test that shows it, as
//! `/// kubectl PART: WHAT | VERDICT`. `UPDATE_KUBECTL=1 cargo test --test packaging kubectl` writes the page.

use std::{collections::BTreeMap, path::Path};

use crate::rows;

/// The parts of the page, and their titles.
const PARTS: [(&str, &str); 4] =
    [("flag", "Flags"), ("output", "Output"), ("credential", "Credentials"), ("habit", "Habits")];

const HEAD: &str = "# Beside kubectl\n\nFor each flag, output, credential and habit: the same as in kubectl, different \
    and why, refused, or our own. Each row\nstands above the test that shows it, and a test makes this page of them: \
    `UPDATE_KUBECTL=1 cargo test --test packaging`.\n";

/// What a row may say.
const VERDICTS: [&str; 4] = ["same", "different", "refused", "own"];

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    what: String,
    verdict: String,
    test: String,
}

/// The rows of a file, by part; an error for a row that says nothing or belongs to no test.
fn rows(file: &str, text: &str) -> Result<Vec<(String, Row)>, String> {
    let read = |row: rows::Row<'_>| {
        let wrong = |why: &str| format!("{file}:{}: {why}: {}", row.line, row.text);
        let (what, verdict) = row.text.split_once(" | ").ok_or_else(|| wrong("no verdict"))?;
        let word = verdict.split([':', ' ', ',']).next().unwrap_or_default();
        if !VERDICTS.contains(&word) || (word != "same" && verdict == word) {
            return Err(wrong("a verdict is same, or different, refused or own with a reason"));
        }
        let test = format!("`{file}`: `{}`", row.test);
        Ok((row.part.to_owned(), Row { what: what.to_owned(), verdict: verdict.to_owned(), test }))
    };
    rows::rows("kubectl", &PARTS, file, text)?.into_iter().map(read).collect()
}

#[test]
fn the_page_is_what_the_tests_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut parts: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for (file, text) in rows::sources(root) {
        for (part, row) in rows(&file, &text).unwrap_or_else(|error| panic!("{error}")) {
            parts.entry(part).or_default().push(row);
        }
    }
    let mut page = HEAD.to_owned();
    for (part, title) in PARTS {
        let mut rows = parts.remove(part).unwrap_or_default();
        assert!(!rows.is_empty(), "{part}");
        rows.sort();
        page.push_str(&format!("\n## {title}\n\n| | beside kubectl | test |\n|---|---|---|\n"));
        for Row { what, verdict, test } in rows {
            page.push_str(&format!("| {what} | {verdict} | {test} |\n"));
        }
    }
    rows::check(root, "docs/kubectl.md", &page, "UPDATE_KUBECTL");
}

#[test]
fn a_row_has_a_verdict_and_a_test() {
    let test = "#[test]\nfn it_is_so() {\n";
    let row = format!("/// Says why.\n/// kubectl flag: `-x` | different: shorter\n{test}");
    let found = rows("a.rs", &row).unwrap();
    let [(part, Row { what, verdict, test: named })] = &found[..] else { panic!("{found:?}") };
    assert_eq!([part, what, verdict, named], ["flag", "`-x`", "different: shorter", "`a.rs`: `it_is_so`"]);
    for wrong in ["flag: `-x`", "flag: `-x` | perhaps", "flag: `-x` | refused"] {
        assert!(rows("a.rs", &format!("/// kubectl {wrong}\n{test}")).is_err(), "{wrong}");
    }
    assert!(rows("a.rs", "/// kubectl flag: `-x` | same\nfn no_test() {\n").is_err());
    assert_eq!(rows("a.rs", &format!("/// kubectl does so: it | same\n{test}")), Ok(Vec::new()));
}
