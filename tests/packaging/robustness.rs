//! `docs/robustness.md` says what was tried to harm, how often, and what came of it. Each row stands above the test
//! that tries it, as `/// robustness PART: WHAT | HOW OFTEN | WHAT CAME OF IT`. Numbers are never written out: `{NAME}`
//! is the constant of this name in the same file, which the test uses. For a constant that is an array, it is the
//! array's length. `UPDATE_ROBUSTNESS=1 cargo test --test packaging robustness` writes the page.

use std::{collections::BTreeMap, path::Path};

use crate::rows;

/// The parts of the page, and their titles.
const PARTS: [(&str, &str); 8] = [
    ("input", "Input that is made to harm"),
    ("secret", "Secrets"),
    ("command", "Commands that are printed"),
    ("line", "Lines that fail"),
    ("kill", "Runs that are killed"),
    ("rights", "Rights that are missing"),
    ("server", "Servers that are old or odd"),
    ("fuzzing", "Fuzzing"),
];

const HEAD: &str = "# A hostile world\n\nWhat was tried, how often, and what came of it. Each row stands above the \
    test that tries it, whose own constants are\nthe numbers. *Long*: only the long tier tries it.\n\
    `UPDATE_ROBUSTNESS=1 cargo test --test packaging` makes this page.\n";

/// The rows of a file, by part, as lines of the page.
fn rows(file: &str, text: &str) -> Result<Vec<(String, String)>, String> {
    let read = |row: rows::Row<'_>| {
        let wrong = |why: &str| format!("{file}:{}: {why}: {}", row.line, row.text);
        let cells: Vec<&str> = row.text.split(" | ").collect();
        let [what, times, outcome] = cells[..] else {
            return Err(wrong("a row is WHAT | HOW OFTEN | WHAT CAME OF IT"));
        };
        let filled = |cell: &str| fill(cell, text).map_err(|why| wrong(&why));
        if times.contains(|c: char| c.is_ascii_digit()) {
            return Err(wrong("write a number as {NAME}, a constant that the test uses"));
        }
        let tier = if row.attributes.iter().any(|it| it.starts_with("#[ignore")) { "long: " } else { "" };
        let (what, times, outcome) = (filled(what)?, filled(times)?, filled(outcome)?);
        Ok((row.part.to_owned(), format!("| {what} | {tier}{times} | {outcome} | `{file}`: `{}` |", row.test)))
    };
    rows::rows("robustness", &PARTS, file, text)?.into_iter().map(read).collect()
}

/// The cell with the values of its constants.
fn fill(cell: &str, source: &str) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = cell;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, behind) = after.split_once('}').ok_or("a brace is not closed")?;
        filled.push_str(before);
        filled.push_str(&value(name, source)?);
        rest = behind;
    }
    Ok(filled + rest)
}

/// The value of a constant: a number, or the length of an array. An error if nothing uses it.
fn value(name: &str, source: &str) -> Result<String, String> {
    let code = || source.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let defines = format!("const {name}: ");
    let defined = |line: &str| line.split_once(&defines).map(|(_, rest)| rest.to_owned());
    let definition = code().find_map(defined).ok_or_else(|| format!("no constant {name} in this file"))?;
    let names =
        |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| *word == name).count();
    if code().map(names).sum::<usize>() < 2 {
        return Err(format!("nothing uses {name}"));
    }
    let (of_type, begin) = definition.split_once(" =").ok_or_else(|| format!("{name} has no value on its line"))?;
    let number = match of_type.strip_prefix('[').and_then(|array| array.rsplit_once("; ")) {
        Some((_, length)) => length.trim_end_matches(']'),
        None => begin.trim().trim_end_matches(';'),
    };
    let number = number.replace('_', "").parse::<u64>().map_err(|_| format!("{name} is no number: {number}"))?;
    Ok(grouped(number))
}

/// `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

#[test]
fn the_page_is_what_the_tests_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in rows::sources(root) {
        for (part, row) in rows(&file, &text).unwrap_or_else(|error| panic!("{error}")) {
            parts.entry(part).or_default().push(row);
        }
    }
    let mut page = HEAD.to_owned();
    for (part, title) in PARTS {
        let Some(mut rows) = parts.remove(part) else { continue };
        rows.sort();
        let rows = rows.join("\n");
        page.push_str(&format!(
            "\n## {title}\n\n| tried | how often | what came of it | test |\n|---|---|---|---|\n{rows}\n"
        ));
    }
    rows::check(root, "docs/robustness.md", &page, "UPDATE_ROBUSTNESS");
}

#[test]
fn numbers_are_what_the_test_uses() {
    let file =
        |row: &str, constant: &str| format!("{constant}\n/// robustness {row}\n#[test]\nfn it_holds() {{ CASES }}\n");
    let row = "input: a file | {CASES} times | an error";
    let line =
        |cases: &str| vec![("input".to_owned(), format!("| a file | {cases} times | an error | `a.rs`: `it_holds` |"))];
    assert_eq!(rows("a.rs", &file(row, "const CASES: usize = 1_000;")), Ok(line("1,000")));
    assert_eq!(rows("a.rs", &file(row, "pub const CASES: [(&str, &str); 12] = [")), Ok(line("12")));
    for (row, constant) in [
        (row, ""),
        (row, "const CASES: usize = OTHER;"),
        ("input: a file | 12 times | an error", ""),
        ("input: a file | {CASES", "const CASES: usize = 1;"),
        ("input: a file | {CASES times | an error", "const CASES: usize = 1;"),
        ("input: a file | {UNUSED} times | an error", "const UNUSED: usize = 1;"),
    ] {
        assert!(rows("a.rs", &file(row, constant)).is_err(), "{row} {constant}");
    }
    let ignored =
        "const N: u8 = 9;\n/// robustness line: a | {N} | b\n#[test]\n#[ignore = \"long: x\"]\nfn f() { N }\n";
    assert_eq!(rows("a.rs", ignored).unwrap()[0].1, "| a | long: 9 | b | `a.rs`: `f` |");
    assert_eq!([grouped(7), grouped(1_000), grouped(1_234_567)], ["7", "1,000", "1,234,567"]);
}
