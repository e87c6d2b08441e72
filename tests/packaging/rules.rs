//! The rule book (`docs/rules.md`): every rule names its source and its test, and contains every label that is cited
//! anywhere.

use gc_core::model::Rule as Cited;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

const BOOK: &str = "docs/rules.md";

/// Where to search for cited labels.
const PLACES: &[&str] = &[
    "src",
    "crates",
    "tests",
    "docs",
    "benches",
    "examples",
    "completions",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
];

/// The letters that begin a label. Only labels with `R` have a dot.
const LETTERS: &str = "RGSMLFDB";

/// Citation styles from before every rule had an id, and the name of a file that doesn't exist here.
const FORMER: &[&str] =
    &["gc-rules", "of the rules)", ".4 step ", ".1 step ", "Appendix A", "Appendix B", "Appendix C"];

struct Rule {
    title: String,
    text: String,
    /// `Source: … · Seen on: … · Test: …`, joined into one line.
    last_line: String,
}

struct Book {
    text: String,
    rules: BTreeMap<String, Rule>,
    sections: BTreeSet<String>,
}

impl Book {
    fn read() -> Self {
        Self::parse(&fs::read_to_string(BOOK).expect("the rule book is there"))
    }

    fn parse(text: &str) -> Self {
        let text = text.to_owned();
        let mut rules = BTreeMap::new();
        let mut sections = BTreeSet::new();
        for part in text.split("\n##") {
            let (heading, body) = part.split_once('\n').unwrap_or((part, ""));
            let Some((anchor, heading)) =
                heading.trim_start_matches('#').trim().strip_prefix("<a id=\"").and_then(split_anchor)
            else {
                continue;
            };
            if let Some(section) = anchor.strip_prefix("section-") {
                assert!(heading.starts_with(section), "{anchor}: {heading}");
                sections.insert(section.to_owned());
                continue;
            }
            let (id, title) = heading.split_once(' ').unwrap_or_else(|| panic!("{heading} has no title"));
            assert_eq!(id.to_lowercase(), anchor, "the anchor is the id in lower case");
            let paragraphs: Vec<String> = body
                .split("\n\n")
                .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect();
            let mut last: Vec<String> =
                paragraphs.iter().filter(|paragraph| paragraph.starts_with("Source: ")).cloned().collect();
            assert_eq!(last.len(), 1, "{id}: one paragraph that begins with Source");
            let text = paragraphs
                .iter()
                .filter(|paragraph| !paragraph.starts_with("Source: "))
                .cloned()
                .collect::<Vec<_>>()
                .join(" ");
            let rule = Rule { title: title.to_owned(), text, last_line: last.remove(0) };
            assert!(rules.insert(id.to_owned(), rule).is_none(), "{id} is there twice");
        }
        Book { text, rules, sections }
    }

    fn has(&self, label: &str) -> bool {
        self.rules.contains_key(label)
    }
}

fn split_anchor(heading: &str) -> Option<(&str, &str)> {
    heading.split_once("\"></a>")
}

impl Rule {
    fn parts(&self) -> Option<[&str; 3]> {
        let (source, rest) = self.last_line.strip_prefix("Source: ")?.split_once(" · Seen on: ")?;
        let (seen, test) = rest.split_once(" · Test: ")?;
        Some([source, seen, test])
    }
}

/// Every label in a text: `R3.13`, `S4`.
fn labels(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let starts = LETTERS.contains(letter) && !(before.is_alphanumeric() || "_./".contains(before));
        before = letter;
        if !starts {
            continue;
        }
        let rest = &text[at + 1..];
        let mut digits = rest.len() - rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        if digits == 0 {
            continue;
        }
        if let Some(fraction) = rest[digits..].strip_prefix('.') {
            let more = fraction.len() - fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
            digits += if more == 0 { 0 } else { 1 + more };
        }
        let label = &text[at..=at + digits];
        let after = rest[digits..].chars().next().unwrap_or(' ');
        if !(after.is_alphanumeric() || after == '_') && label.contains('.') == label.starts_with('R') {
            found.push(label.to_owned());
        }
    }
    found
}

/// Every section in a text: `§3.4`, without the sign.
fn sections(text: &str) -> Vec<String> {
    let number = |rest: &str| {
        let end = rest.find(|other: char| !other.is_ascii_digit() && other != '.').unwrap_or(rest.len());
        rest[..end].trim_end_matches('.').to_owned()
    };
    text.split('§').skip(1).map(number).collect()
}

/// A bare section number in a comment, such as `(4.2)`.
fn bare_section(line: &str) -> Option<&str> {
    let comment = &line[line.find("//")?..];
    comment.split(['(', ' ', ',']).map(|word| word.trim_end_matches([')', ',', ';', '.', ':'])).find(|word| {
        let mut numbers = word.split('.');
        let one_digit = |number: Option<&str>| {
            number.is_some_and(|number| number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        one_digit(numbers.next())
            && one_digit(numbers.next())
            && numbers.next().is_none()
            && comment.contains(&format!("({word}"))
    })
}

/// Folders of recorded content, and of what others wrote.
const SKIPPED: [&str; 3] = ["recorded", "control-plane", "node_modules"];

/// Files that are not checked: the rule book, this test, and the page that shows the former citations.
const EXEMPT: &[&str] = &[BOOK, "tests/packaging/rules.rs", "docs/json-changes.md"];

/// The files to search for labels, without recorded runs.
fn citing_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open: Vec<PathBuf> = PLACES.iter().map(PathBuf::from).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let inside =
                fs::read_dir(&path).expect("it can be listed").map(|entry| entry.expect("it can be read").path());
            open.extend(inside.filter(|path| !SKIPPED.iter().any(|folder| path.ends_with(folder))));
        } else if !EXEMPT.iter().any(|exempt| path == Path::new(exempt)) {
            files.push(path);
        }
    }
    assert!(files.len() > 500, "{}", files.len());
    files.sort();
    files
}

fn text_of(file: &Path) -> Option<String> {
    String::from_utf8(fs::read(file).expect("it can be read")).ok()
}

/// The citations of a text that don't exist in the rule book, or have a wrong form.
fn unresolved(book: &Book, text: &str) -> Vec<String> {
    let mut wrong: Vec<String> = labels(text).into_iter().filter(|label| !book.has(label)).collect();
    wrong.extend(
        sections(text)
            .into_iter()
            .filter(|section| !book.sections.contains(section))
            .map(|section| format!("§{section}")),
    );
    let link = |rest: &str| rest.split([')', ' ', '\n', '"', '`', '>']).next().unwrap_or_default().to_owned();
    let anchors = text.split("rules.md#").skip(1).map(link);
    wrong.extend(
        anchors
            .filter(|anchor| !anchor.starts_with(['{', '…']) && !book.text.contains(&format!("<a id=\"{anchor}\">"))),
    );
    wrong.extend(FORMER.iter().filter(|former| text.contains(**former)).map(|former| (*former).to_owned()));
    wrong.extend(text.lines().filter_map(bare_section).map(|section| format!("{section} without its §")));
    wrong
}

#[test]
fn every_label_that_is_cited_is_in_the_rule_book() {
    let book = Book::read();
    let mut wrong: Vec<String> = Vec::new();
    for file in citing_files() {
        let Some(text) = text_of(&file) else { continue };
        wrong.extend(unresolved(&book, &text).into_iter().map(|label| format!("{}: {label}", file.display())));
    }
    // The rule book cites labels, too.
    wrong.extend(unresolved(&book, &book.text).into_iter().map(|label| format!("{BOOK}: {label}")));
    assert!(wrong.is_empty(), "not in {BOOK}:\n{}", wrong.join("\n"));
}

/// What is wrong with a rule's `Test:` entry.
fn untested(id: &str, tests: &str) -> Vec<String> {
    if let Some(why) = tests.strip_prefix("none: ") {
        return if why.split_whitespace().count() < 4 {
            vec![format!("{id}: why is there no test?")]
        } else {
            Vec::new()
        };
    }
    let mut wrong = Vec::new();
    for test in tests.split(", ") {
        let rows = test.trim_matches('`');
        if rows.ends_with(".txt") || rows.ends_with(".yaml") {
            match fs::read_to_string(rows) {
                Ok(text) if titles(&text).any(|title| labels(title).iter().any(|label| label == id)) => {}
                Ok(_) => wrong.push(format!("{id}: no row of {rows} has it in its title")),
                Err(_) => wrong.push(format!("{id}: there is no {rows}")),
            }
            continue;
        }
        let Some((file, function)) = test.trim_matches('`').split_once("::") else {
            wrong.push(format!("{id}: {test} is no test"));
            continue;
        };
        let Ok(text) = fs::read_to_string(file) else {
            wrong.push(format!("{id}: there is no {file}"));
            continue;
        };
        if !has_test(&text, function, file.starts_with("tests/cluster/")) {
            wrong.push(format!("{id}: {file} has no test {function}"));
        }
        if !labels(&text).iter().any(|label| label == id) {
            wrong.push(format!("{id}: {file} doesn't mention it"));
        }
    }
    wrong
}

/// The lines that say what a row (`tests/engine/rows.rs`) or a story (`tests/cli/stories.rs`) is about.
fn titles(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with([' ', '#']))
}

/// Whether a text contains this test. A test against the real control plane may consist of several functions that have
/// no test attribute.
fn has_test(text: &str, function: &str, in_parts: bool) -> bool {
    let Some(at) = text.find(&format!("fn {function}(")) else { return false };
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let mut above = text[..line].lines().rev().take_while(|line| line.trim_start().starts_with(['#', '/']));
    in_parts || above.any(|line| line.contains("#[test]") || line.contains("#[tokio::test"))
}

#[test]
fn every_rule_names_its_source_and_its_test() {
    let book = Book::read();
    assert!(book.rules.len() > 200, "{}", book.rules.len());
    let mut wrong = Vec::new();
    for (id, rule) in &book.rules {
        let Some([source, seen, test]) = rule.parts() else {
            wrong.push(format!("{id}: Source: … · Seen on: … · Test: …"));
            continue;
        };
        if source.is_empty() || !(seen == "not seen" || seen.split(", ").all(|version| version.starts_with("v1."))) {
            wrong.push(format!("{id}: seen on {seen}, from {source}"));
        }
        if rule.title.ends_with('.') || rule.title.len() > 100 {
            wrong.push(format!("{id}: a title is short, and has no full stop"));
        }
        if rule.text.split(". ").count() > 7 && !rule.text.contains('|') && !rule.text.contains("* ") {
            wrong.push(format!("{id}: too many sentences"));
        }
        wrong.extend(untested(id, test));
    }
    let long = book.text.lines().filter(|line| line.chars().count() > 120);
    wrong.extend(long.map(|line| format!("longer than 120 columns: {line}")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The id and title of each rule cited in output equal those in the rule book.
#[test]
fn output_cites_rules_as_the_book_has_them() {
    let book = Book::read();
    for rule in Cited::ALL {
        let title = book.rules.get(rule.id()).map(|rule| rule.title.as_str());
        assert_eq!(title, Some(rule.title()), "{}", rule.id());
        assert_eq!(unresolved(&book, &rule.url()), [] as [String; 0], "{}", rule.url());
    }
}

/// Printed text has no bare labels: searches text snapshots and string literals of the source. Documents have labels
/// only as `"id"`.
#[test]
fn nothing_that_is_printed_has_a_bare_label() {
    let mut wrong = Vec::new();
    for file in citing_files() {
        let source = (file.starts_with("src") || file.starts_with("crates"))
            && file.extension().is_some_and(|kind| kind == "rs");
        let printed = file.extension().is_some_and(|kind| kind == "snap");
        let is_a_test = file.to_string_lossy().contains("tests");
        if !(printed || source && !is_a_test) || file == Path::new("crates/core/src/model/rule.rs") {
            continue;
        }
        for line in text_of(&file).unwrap_or_default().lines() {
            if source && line.contains("mod tests {") {
                break;
            }
            let shown = if source { line.split("//").next().unwrap_or_default() } else { line };
            // These are not labels: a constant, and the name of a controller.
            let shown = shown.replace("Rule::", "Rule_").replace("GKE's L4 controller", "");
            let found = labels(&shown).into_iter().filter(|_| !shown.contains("\"id\": "));
            wrong.extend(found.map(|label| format!("{}: {label}: {line}", file.display())));
        }
    }
    assert!(wrong.is_empty(), "titles and links instead of labels:\n{}", wrong.join("\n"));
}

/// Tests the checks above.
#[test]
fn what_is_wrong_is_noticed() {
    let book = Book::read();
    for (text, wrong) in [
        ("R3.13, L4 and §3.4: R1.25–R1.27 (S4).", ""),
        ("not a label: v1.36, R9, S3.5, xR3.99, NR99, B2B, GO111MODULE, 4.2", ""),
        ("[as the rules say](docs/rules.md#r3.13)", ""),
        ("see R3.99", "R3.99"),
        ("(S99)", "S99"),
        ("§3.99", "§3.99"),
        ("docs/rules.md#r3.99)", "r3.99"),
        ("by 3.4 step 4", ".4 step "),
        ("/// The table (4.2).", "4.2 without its §"),
    ] {
        assert_eq!(unresolved(&book, text).join(", "), wrong, "{text}");
    }
    for (tests, wrong) in [
        ("none: nothing here sends such requests", ""),
        ("none: no", "R3.15: why is there no test?"),
        ("`tests/engine/decisions.rs::references_map_as_the_collectors_mapper_maps_them`", ""),
        ("`tests/engine/decisions.rs::no_such_test`", "R3.15: tests/engine/decisions.rs has no test no_such_test"),
        ("`tests/engine/decisions.rs::served`", "R3.15: tests/engine/decisions.rs has no test served"),
        ("`tests/engine/none.rs::no_such_test`", "R3.15: there is no tests/engine/none.rs"),
        (
            "`tests/engine/shrinking.rs::everything_that_does_not_matter_is_left_out`",
            "R3.15: tests/engine/shrinking.rs doesn't mention it",
        ),
        ("`tests/engine/rows/rules.txt`", ""),
        ("`tests/engine/rows/orders.txt`", "R3.15: no row of tests/engine/rows/orders.txt has it in its title"),
        ("`tests/engine/rows/none.txt`", "R3.15: there is no tests/engine/rows/none.txt"),
        ("`tests/cli/stories/field.yaml`", "R3.15: no row of tests/cli/stories/field.yaml has it in its title"),
    ] {
        assert_eq!(untested("R3.15", tests).join(", "), wrong, "{tests}");
    }
}
