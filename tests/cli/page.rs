//! Every page shows what the program prints. `docs/commands/` is made of the commands' definitions, and of the examples
//! in `tests/pages/examples.rs`. `UPDATE_PAGES=1 cargo test --test cli page` writes the pages.

use std::{collections::VecDeque, path::Path};

use clap::{Arg, Command, builder::PossibleValue};
use kubectl_gc::cli::commands::Cli;

use super::run::run;
use crate::pages::{
    self, Fill, PROMPT, check,
    examples::{Example, PAGES, Page},
    filled, first_lines, head, read, with_pictures,
};

/// The page that lists all commands, and what they have in common.
const INDEX: &str = "docs/commands/README.md";

/// Who calls the program: a user, or a developer on a fresh clone.
const CALLS: [&str; 2] = ["kubectl gc ", "cargo run -q -- "];

/// What stands between these lines of a page is written by hand, and kept.
const BY_HAND: [&str; 2] = ["\n<!-- Written by hand: -->\n", "\n<!-- Made of the program: -->\n"];

/// What a command contains that needs no cluster.
const OFFLINE: [&str; 6] =
    ["--from examples/", "--example", "completion", "version", "--list-codes", "sweep --watch --print-role"];

/// Runs the commands of a page, one after the other.
#[derive(Default)]
struct Runner {
    /// The exit code of the last command, if it was run here.
    code: Option<i32>,
}

impl Runner {
    /// What a command prints on a terminal; `None` if it needs a cluster or isn't ours.
    fn run(&mut self, command: &str) -> Option<String> {
        if command == "echo $?" {
            return self.code.map(|code| format!("{code}\n"));
        }
        self.code = None;
        let (command, lines) = head(command);
        let line = CALLS.iter().find_map(|call| command.strip_prefix(call))?;
        let is_offline = OFFLINE.iter().any(|offline| line.contains(offline));
        if !is_offline {
            return None;
        }
        let ran = run(line);
        assert!(ran.code == 0 || ran.code == 2, "{command}: {ran}");
        assert!(!ran.out.is_empty(), "{command}");
        self.code = Some(if lines.is_some() { 0 } else { ran.code });
        Some(first_lines(&(ran.out + &ran.err), lines))
    }
}

#[test]
fn the_written_pages_show_what_is_printed() {
    let is_written = |page: &&std::path::PathBuf| !page.starts_with("docs/commands");
    for page in pages::pages().iter().filter(is_written) {
        let mut runner = Runner::default();
        let expected = filled(&read(page), Fill::Shown, |command, _| runner.run(command));
        let expected = with_pictures(&expected, |line, file| {
            let picture = run(line).done();
            if let Some(file) = file {
                check(file, &picture, "cli");
            }
            picture
        });
        check(page, &expected, "cli");
    }
}

/// The README begins with what kubectl says of a delete, and what this program says of the same; who has only the
/// program can try that.
#[test]
fn the_readme_begins_with_a_plan() {
    let readme = read(Path::new("README.md"));
    assert!(readme.lines().count() <= 200, "{} lines", readme.lines().count());
    let first = readme.lines().take(15).collect::<Vec<_>>().join("\n");
    assert!(first.contains("\nDATA LOSS: "), "{first}");
    let commands = pages::commands(&readme);
    assert!(commands[0].0.starts_with("kubectl delete ") && commands[1].0.contains(" plan "), "{commands:?}");
    assert!(commands[1].0.contains("--example"), "{commands:?}");
}

/// Each command has its page, made of its definition and its examples.
#[test]
fn each_command_has_its_page() {
    let mut all = Cli::command();
    all.build();
    let names: Vec<&str> = all.get_subcommands().map(Command::get_name).collect();
    assert_eq!(names, PAGES.each_ref().map(|page| page.command), "the pages are in the order of the help");
    for page in &PAGES {
        let command = all.find_subcommand(page.command).expect("it is among the names");
        let path = Path::new("docs/commands").join(format!("{}.md", page.command));
        let present = read(&path);
        check(&path, &with_output(&page_of(&all, command, page, &present), &present), "cli");
    }
    check(Path::new(INDEX), &index(&all), "cli");
}

/// A generated page with the output of its examples; that of commands which need a cluster is in the present page.
fn with_output(page: &str, present: &str) -> String {
    let mut shown: VecDeque<(String, String)> = pages::commands(present).into();
    let mut runner = Runner::default();
    filled(page, Fill::All, |command, _| {
        let at = shown.iter().position(|(known, _)| known == command);
        let present = at.and_then(|at| shown.drain(..=at).next_back());
        runner.run(command).or_else(|| Some(present?.1))
    })
}

fn page_of(all: &Command, command: &Command, page: &Page, present: &str) -> String {
    let name = page.command;
    let long = command.get_long_about().expect("each command says what it does").to_string();
    let (about, more) = long.split_once("\n\n").expect("each command says when to use it");
    let mut text = format!(
        "# kubectl gc {name}\n\n{about}.\n\n{}\n\n```text\n{}\n```\n",
        wrapped(more),
        command.clone().render_usage().to_string().trim_start_matches("Usage: ").trim()
    );
    // A screen to walk in can't be shown in a block.
    if !page.examples.is_empty() {
        text += "\n## Examples\n";
    }
    for Example { says, commands } in page.examples {
        if !says.is_empty() {
            text += &format!("\n{}\n", wrapped(says));
        }
        text += &format!(
            "\n```console\n{}```\n",
            commands.iter().map(|line| format!("{PROMPT}{line}\n")).collect::<String>()
        );
    }
    if let Some((_, rest)) = present.split_once(BY_HAND[0]) {
        let (written, _) = rest.split_once(BY_HAND[1]).expect("the end of what is written by hand");
        text += &[BY_HAND[0], written, BY_HAND[1]].concat();
    }
    text += &flags(command, |arg| !arg.is_global_set());
    text += "\n[The flags of every command](README.md#flags-of-every-command) choose the cluster, the namespace and \
        the colours.\n";
    text += &formats(command);
    let codes = command.get_after_long_help().or_else(|| all.get_after_long_help());
    let codes = codes.expect("the program has exit codes").to_string();
    text += &format!("\n## Exit codes\n\n{}\n", wrapped(&capitalised(codes.trim_start_matches("Exit codes: "))));
    text += "\n## Read on\n\n";
    for (link, says) in page.see {
        let shown = link.trim_start_matches("../").split('#').next().unwrap_or_default();
        assert!(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(shown).exists() || link.contains("examples"),
            "{link}"
        );
        text += &format!("* [{shown}]({link}): {says}\n");
    }
    text
}

/// The page about what all commands have in common.
fn index(all: &Command) -> String {
    let mut text = "# Commands\n\nA page for each command: when to use it, examples with what they print, flags, \
        formats and exit codes. Tests make these\npages of the program itself.\n\n| command | does |\n|---|---|\n"
        .to_owned();
    for command in all.get_subcommands() {
        let name = command.get_name();
        let about = command.get_about().expect("each command says what it does");
        text += &format!("| [`kubectl gc {name}`]({name}.md) | {} |\n", cell(&about.to_string()));
    }
    let plan = all.find_subcommand("plan").expect("there are plans");
    text += "\n## Flags of every command\n";
    text += flags(plan, Arg::is_global_set).trim_start_matches("\n## Flags\n");
    text += "\n## Templates\n\nEach command with `-o json` also takes templates, in kubectl's own dialect.\n\n\
        | format | output |\n|---|---|\n";
    for value in output_values(plan).filter(is_template) {
        text += &row(&format!("`-o {}…`", value.get_name()), &value);
    }
    let codes = all.get_after_long_help().expect("the program has exit codes").to_string();
    text += &format!("\n## Exit codes\n\n{}\n", wrapped(&capitalised(codes.trim_start_matches("Exit codes: "))));
    text
}

/// The arguments and flags, by heading, in the order of the help.
fn flags(command: &Command, is_shown: impl Fn(&Arg) -> bool) -> String {
    let mut headings: Vec<(&str, String)> = Vec::new();
    let shown = |arg: &&Arg| is_shown(arg) && arg.get_id() != "help" && arg.get_id() != "version" && !arg.is_hide_set();
    for arg in command.get_arguments().filter(shown) {
        let heading = match arg.get_help_heading() {
            Some(heading) => heading,
            None if arg.is_positional() => "Arguments",
            None => "Options",
        };
        let at = headings.iter().position(|known| known.0 == heading).unwrap_or_else(|| {
            headings.push((heading, String::new()));
            headings.len() - 1
        });
        headings[at].1 += &flag(arg);
    }
    let mut text = "\n## Flags\n".to_owned();
    for (heading, rows) in headings {
        text += &format!("\n### {heading}\n\n| | |\n|---|---|\n{rows}");
    }
    text
}

fn flag(arg: &Arg) -> String {
    let spelled = match arg.get_short() {
        Some(short) if arg.get_long().is_some() => format!("-{short}, {arg}"),
        _ => arg.to_string(),
    };
    // Formats have a table of their own.
    let long = arg.get_long_help().filter(|_| arg.get_id() != "output");
    let mut says = cell(&long.or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default());
    let values: Vec<PossibleValue> = if arg.is_hide_possible_values_set() || arg.get_id() == "output" {
        Vec::new()
    } else {
        arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set()).collect()
    };
    // What a truth value is goes without saying.
    let values =
        if values.iter().all(|value| ["true", "false"].contains(&value.get_name())) { Vec::new() } else { values };
    let takes_value = arg.get_num_args().is_some_and(|number| number.takes_values());
    if takes_value && !values.is_empty() {
        let value = |value: &PossibleValue| match value.get_help() {
            Some(help) => format!("`{}`: {}", value.get_name(), cell(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        };
        says += &format!("<br>{}", values.iter().map(value).collect::<Vec<_>>().join("<br>"));
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if takes_value && !arg.is_hide_default_value_set() && !defaults.is_empty() {
        says += &format!("<br>Default: `{}`", defaults.join(","));
    }
    format!("| `{}` | {} |\n", spelled.replace('|', "\\|"), says.trim_start_matches("<br>"))
}

fn output_values(command: &Command) -> impl Iterator<Item = PossibleValue> {
    let output = command.get_arguments().find(|arg| arg.get_id() == "output");
    output.map(Arg::get_possible_values).unwrap_or_default().into_iter()
}

fn is_template(value: &PossibleValue) -> bool {
    value.get_name().ends_with('=')
}

/// The formats of `-o` but for templates, which are the same everywhere.
fn formats(command: &Command) -> String {
    let named: Vec<PossibleValue> = output_values(command).filter(|value| !is_template(value)).collect();
    if named.is_empty() {
        return String::new();
    }
    let mut text = "\n## Formats\n\nWithout `-o`, text for people.\n\n| format | output |\n|---|---|\n".to_owned();
    for value in &named {
        text += &row(&format!("`-o {}`", value.get_name()), value);
    }
    text + "| `-o jsonpath=…` and the like | [templates](README.md#templates) on the JSON document |\n"
}

fn row(format: &str, value: &PossibleValue) -> String {
    let help = value.get_help().map(ToString::to_string);
    // Formats whose names say enough have no help.
    format!("| {format} | {} |\n", cell(&help.unwrap_or_else(|| value.get_name().to_uppercase())))
}

/// A text in a cell of a table: Markdown's own characters are written as they are.
fn cell(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.trim().chars() {
        match letter {
            '|' | '*' | '_' | '[' | ']' => escaped.extend(['\\', letter]),
            '<' => escaped += "&lt;",
            '\n' => escaped.push(' '),
            _ => escaped.push(letter),
        }
    }
    escaped
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Paragraphs with at most 120 columns.
fn wrapped(text: &str) -> String {
    let paragraph = |text: &str| {
        let mut lines = vec![String::new()];
        for word in text.split_whitespace() {
            let last = lines.last_mut().expect("there is always a line");
            if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > 120 {
                lines.push(word.to_owned());
            } else {
                if !last.is_empty() {
                    last.push(' ');
                }
                *last += word;
            }
        }
        lines.join("\n")
    };
    text.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn cells_are_escaped_and_paragraphs_wrapped() {
    assert_eq!(cell("a|b '*.yaml'\n<x>"), "a\\|b '\\*.yaml' &lt;x>");
    let lines = wrapped(&"word ".repeat(50));
    assert!(lines.lines().count() == 3 && lines.lines().all(|line| line.len() <= 120), "{lines}");
}

#[test]
fn a_block_is_filled_in_where_something_is_shown() {
    let page = "a\n```console\n$ one\nold\n$ two\n$ live | head -2\nkept\n```\nb\n```console\n$ echo $?\n9\n```\n";
    let run = |command: &str, _: &str| (!command.starts_with("live")).then(|| format!("<{command}>\n"));
    let expected =
        "a\n```console\n$ one\n<one>\n$ two\n$ live | head -2\nkept\n```\nb\n```console\n$ echo $?\n<echo $?>\n```\n";
    assert_eq!(filled(page, Fill::Shown, run), expected);
    assert_eq!(filled("```console\n$ two\n```\n", Fill::All, run), "```console\n$ two\n<two>\n```\n");
    assert_eq!(head("x | head -3"), ("x", Some(3)));
    assert_eq!(first_lines("1\n2\n3\n", Some(2)), "1\n2\n");
}

#[test]
fn a_picture_is_drawn_by_the_command_above_it() {
    let page =
        "a\n<!-- kubectl gc tree -o mermaid -->\n```mermaid\nold\n```\n<!-- kubectl gc plan > x.svg -->\n![](x.svg)\n";
    let mut files = Vec::new();
    let drawn = with_pictures(page, |line, file| {
        files.extend(file.map(std::path::Path::to_path_buf));
        format!("<{line}>\n")
    });
    assert_eq!(drawn, page.replace("old", "<tree -o mermaid>"));
    assert_eq!(files, [Path::new("x.svg")]);
}
