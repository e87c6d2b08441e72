//! Pages that show commands with what they print: `docs/commands/`, `docs/recipes.md` and others. Commands that need
//! no cluster are run by `tests/cli/page.rs`, the others by `tests/cluster/page.rs`. With `UPDATE_PAGES=1`, both put
//! what is printed into the pages.

pub mod examples;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// How a command begins in a page.
pub const PROMPT: &str = "$ ";

/// The beginning of a block of commands and what they print.
const CONSOLE: &str = "```console\n";
/// The end of a block.
const FENCE: &str = "```\n";
/// What stands in a page for what a command prints until `UPDATE_PAGES=1` fills it in.
const PLACE: &str = "…\n";

/// Which commands of a page get their output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Every command: the page is generated.
    All,
    /// Every command below which something is shown: a person has written the page.
    Shown,
}

/// The page with the output of each command that `run` runs; it gives `None` for a command that others run.
pub fn filled(page: &str, fill: Fill, mut run: impl FnMut(&str, &str) -> Option<String>) -> String {
    let mut filled = String::new();
    let mut rest = page;
    while let Some((before, block)) = rest.split_once(CONSOLE) {
        let end = if block.starts_with(FENCE) { 0 } else { block.find("\n```\n").expect("a block has an end") + 1 };
        filled += before;
        filled += CONSOLE;
        for (command, shown) in commands_of(&block[..end]) {
            filled += &format!("{PROMPT}{command}\n");
            let printed = run(&command, &shown);
            let wanted = fill == Fill::All || !shown.is_empty();
            filled += printed.filter(|_| wanted).as_deref().unwrap_or(&shown);
        }
        rest = &block[end..];
    }
    filled + rest
}

/// The beginning of a comment with the command that draws the picture below it.
const DRAWN: &str = "<!-- kubectl gc ";
/// The beginning of a picture that GitHub draws.
const MERMAID: &str = "```mermaid\n";

/// The page with its pictures: `draw` runs the command of each. A command that ends in `> FILE` draws that file, which
/// `draw` compares itself, and any other one the block below.
pub fn with_pictures(page: &str, mut draw: impl FnMut(&str, Option<&Path>) -> String) -> String {
    let mut parts = page.split(DRAWN);
    let mut drawn = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (command, rest) = part.split_once(" -->\n").expect("the comment ends");
        drawn += &format!("{DRAWN}{command} -->\n");
        let file = command.split_once(" > ");
        let picture = draw(file.map_or(command, |(command, _)| command), file.map(|(_, file)| Path::new(file)));
        match rest.strip_prefix(MERMAID).filter(|_| file.is_none()) {
            Some(present) => {
                let end = if present.starts_with(FENCE) {
                    0
                } else {
                    present.find("\n```\n").expect("a block has an end") + 1
                };
                drawn += &[MERMAID, &picture, &present[end..]].concat();
            }
            None => drawn += rest,
        }
    }
    drawn
}

/// The commands of a block, each with what is shown below it.
fn commands_of(block: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in block.split_inclusive('\n') {
        match (line.strip_prefix(PROMPT), commands.last_mut()) {
            (Some(command), _) => commands.push((command.trim_end().to_owned(), String::new())),
            (None, Some((_, shown))) => *shown += line,
            (None, None) => panic!("a block begins with a command: {line}"),
        }
    }
    commands
}

/// Every command of a page, with what is shown below it.
pub fn commands(page: &str) -> Vec<(String, String)> {
    let mut commands = Vec::new();
    filled(page, Fill::Shown, |command, shown| {
        commands.push((command.to_owned(), shown.to_owned()));
        None
    });
    commands
}

/// The first lines of a text, for a command that ends in `| head -N`, and the command without that.
pub fn head(command: &str) -> (&str, Option<usize>) {
    match command.split_once(" | head -") {
        Some((command, lines)) => (command, Some(lines.parse().expect("| head -N"))),
        None => (command, None),
    }
}

/// What such a command shows of what is printed.
pub fn first_lines(printed: &str, lines: Option<usize>) -> String {
    printed.split_inclusive('\n').take(lines.unwrap_or(usize::MAX)).collect()
}

/// The pages whose commands are run, as paths in the repository.
pub fn pages() -> Vec<PathBuf> {
    let written =
        ["README.md", "docs/how-collection-works.md", "docs/recipes.md", "docs/output.md", "examples/README.md"];
    let mut pages: Vec<PathBuf> = written.map(PathBuf::from).into();
    let mut generated: Vec<PathBuf> =
        examples::PAGES.iter().map(|page| Path::new("docs/commands").join(format!("{}.md", page.command))).collect();
    pages.append(&mut generated);
    pages
}

/// Reads a file of the repository; a file that isn't there yet is empty.
pub fn read(page: &Path) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap_or_default()
}

/// Compares a page with the checked-in file, or writes the file if `UPDATE_PAGES` is 1.
#[track_caller]
pub fn check(page: &Path, expected: &str, test: &str) {
    let is_asked = env::var_os("UPDATE_PAGES").is_some_and(|value| value == "1");
    if is_asked && read(page) != expected {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(page), expected).expect("a page can be written");
    }
    let found = read(page);
    let differs = found.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
    let line = differs.unwrap_or_else(|| found.lines().count().min(expected.lines().count()));
    assert!(
        found == expected,
        "{} is out of date: UPDATE_PAGES=1 cargo test --test {test} page\nline {}: {:?}\nshould be: {:?}",
        page.display(),
        line + 1,
        found.lines().nth(line),
        expected.lines().nth(line)
    );
    assert!(!found.contains(&format!("\n{PLACE}")), "{}: {PLACE:?} stands for output", page.display());
}
