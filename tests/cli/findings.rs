//! Compares `docs/findings.md` with the list of codes and with real findings. `UPDATE_FINDINGS=1` writes the printed
//! findings into the examples of all codes that dumps can produce.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use super::{
    colour::plain,
    doctor::{BLIND, IDLE, SICK},
    run::{repository, run},
    terminal::shown,
};

const PAGE: &str = "docs/findings.md";

/// Codes that only a live cluster can produce, because they need a test object, events, or an answer of the API server.
const ONLY_LIVE: [&str; 4] = ["stuck-on-schema", "collector-refused", "collector-stopped", "owner-namespace-event"];

/// A code, as `doctor --list-codes` prints it.
struct Listed {
    code: String,
    severity: String,
    title: String,
}

fn listed() -> Vec<Listed> {
    let json: Value = serde_json::from_str(&run("doctor --list-codes -o json").fine()).unwrap();
    let text = |code: &Value, field: &str| code[field].as_str().unwrap().to_owned();
    let codes = json["codes"].as_array().unwrap().iter();
    codes
        .map(|code| Listed { code: text(code, "code"), severity: text(code, "severity"), title: text(code, "title") })
        .collect()
}

/// The page's section about a code.
struct Section<'a> {
    code: &'a str,
    head: &'a str,
    meaning: &'a str,
    example: &'a str,
    remedy: &'a str,
}

impl<'a> Section<'a> {
    fn of(text: &'a str) -> Self {
        let (code, rest) = text.split_once('\n').unwrap();
        let part = |text: &'a str, head: &str| text.split_once(head).unwrap_or_else(|| panic!("{code} lacks {head}"));
        let (head, rest) = part(rest, "\n\n**Meaning.** ");
        let (meaning, rest) = part(rest, "\n\n**Example.**\n\n```\n");
        let (example, rest) = part(rest, "```\n\n**Remedy.** ");
        let remedy = rest.split("\n## ").next().unwrap();
        Section { code, head: head.trim(), meaning: meaning.trim(), example, remedy: remedy.trim() }
    }
}

fn sections(page: &str) -> Vec<Section<'_>> {
    page.split("\n### ").skip(1).map(Section::of).collect()
}

/// The first printed finding of each code in these dumps; an error, if one is.
fn printed() -> BTreeMap<String, String> {
    let mut printed: BTreeMap<String, String> = BTreeMap::new();
    for dump in [SICK, BLIND, IDLE, "tests/cli/dumps/outside.yaml"] {
        let text = plain(&shown(&["doctor", "--from", dump], 80));
        for block in text.split("\n\n").skip(2).filter(|block| block.starts_with('▲')) {
            let code = block.split([' ', ':', '\n']).nth(2).unwrap();
            let known = printed.get(code).is_some_and(|known| known.starts_with("▲ ERROR"));
            if !printed.contains_key(code) || !known && block.starts_with("▲ ERROR") {
                printed.insert(code.to_owned(), format!("{}\n", block.trim_end()));
            }
        }
    }
    printed
}

/// Each code has one complete section, in the order of the list, with the same severity and title.
#[test]
fn each_code_has_a_section() {
    let page = repository(PAGE);
    let (sections, listed) = (sections(&page), listed());
    let codes: Vec<&str> = sections.iter().map(|section| section.code).collect();
    assert_eq!(codes, listed.iter().map(|listed| listed.code.as_str()).collect::<Vec<_>>());
    for (section, Listed { code, severity, title }) in sections.iter().zip(&listed) {
        assert_eq!(section.head, format!("{severity}: {title}."), "{code}");
        for part in [section.meaning, section.remedy] {
            assert!(part.len() > 20 && part.ends_with('.') && !part.contains("**"), "{code}: {part:?}");
        }
    }
}

/// Each example equals the printed finding; examples of codes that no dump produces have the same format.
#[test]
fn examples_are_what_is_printed() {
    let mut page = repository(PAGE);
    let printed = printed();
    if std::env::var_os("UPDATE_FINDINGS").is_some_and(|value| value == "1") {
        for (code, block) in &printed {
            let (before, rest) = page.split_once(&format!("\n### {code}\n")).unwrap();
            let (head, rest) = rest.split_once("```\n").unwrap();
            let (_, after) = rest.split_once("```\n").unwrap();
            page = format!("{before}\n### {code}\n{head}```\n{block}```\n{after}");
        }
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE), &page).unwrap();
    }
    let by_hand: Vec<String> =
        listed().into_iter().map(|listed| listed.code).filter(|code| !printed.contains_key(code)).collect();
    assert_eq!(by_hand, ONLY_LIVE, "everything else is brought about by a dump");
    for (section, listed) in sections(&page).iter().zip(listed()) {
        if let Some(printed) = printed.get(section.code) {
            assert_eq!(section.example, printed, "UPDATE_FINDINGS=1 cargo test --test cli findings");
        }
        let example = section.example.strip_prefix("▲ ").unwrap_or_else(|| panic!("{} has no example", section.code));
        let (word, rest) = example.split_once(' ').unwrap();
        let severities = [("ERROR", "Error"), ("WARNING", "Warning"), ("NOTE", "Note")];
        let rank =
            |severity: &str| severities.iter().position(|(word, name)| [*word, *name].contains(&severity)).unwrap();
        assert!(rank(word) >= rank(&listed.severity), "{}: an example is no worse than its code", section.code);
        let first = rest.lines().next().unwrap().strip_prefix(section.code).expect("an example of its code");
        assert!(first.is_empty() || first.starts_with(": "), "{}: {first}", section.code);
        assert!(section.example.contains("\nThen  "), "{}", section.code);
        let is_command = |line: &&str| ["kubectl ", "etcdctl "].iter().any(|program| line.contains(program));
        for line in section.example.lines().filter(|line| !is_command(line)) {
            assert!(line.len() <= 82, "{}: {line}", section.code);
        }
    }
}

/// All links lead to sections of this page.
#[test]
fn links_lead_to_sections() {
    let page = repository(PAGE);
    let codes: Vec<&str> = sections(&page).iter().map(|section| section.code).collect();
    let links: Vec<&str> = page.split("](#").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    assert!(!links.is_empty() && links.iter().all(|link| codes.contains(link)), "{links:?}");
}

/// Each code appears in the tests that produce its state on a real control plane.
#[test]
fn every_code_is_tried_on_the_real_control_plane() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/doctor");
    let files = fs::read_dir(&folder).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let tests: String = files.collect();
    let untried: Vec<String> =
        listed().into_iter().map(|listed| listed.code).filter(|code| !tests.contains(code.as_str())).collect();
    assert_eq!(untried, [""; 0], "a test in {} has to bring it about", folder.display());
}
