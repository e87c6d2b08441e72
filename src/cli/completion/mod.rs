//! `kubectl gc completion`, and what shells ask for completions.
//!
//! A shell's script calls `kubectl-gc __complete -- WORDS…`, and kubectl calls `kubectl_complete-gc WORDS…`: the last
//! word is the one to complete. Both read what kubectl's commands print for their own completion (cobra's protocol): a
//! candidate a line, with a tab before its description, and a last line with a colon and a directive.

mod install;
mod kubectl;
mod walk;

use std::ffi::OsString;

use clap_complete::{Shell, generate};

use super::{commands::Cli, values::ShellArg};

pub(super) use install::install;

/// The plugin's own name, which shells complete. kubectl completes `kubectl gc`.
const BINARY: &str = "kubectl-gc";

/// How kubectl calls what completes `kubectl gc`:
/// <https://pkg.go.dev/k8s.io/kubectl/pkg/cmd/plugin>, `lookupCompletionExec`.
const COMPLETER: &str = "kubectl_complete-gc";

/// The hidden command that completes words.
const COMPLETE: &str = "__complete";

/// The completion script of a shell for `kubectl-gc`.
pub fn script(shell: ShellArg) -> Vec<u8> {
    match shell {
        ShellArg::Bash => include_bytes!("../../../completions/kubectl-gc.bash").to_vec(),
        ShellArg::Zsh => include_bytes!("../../../completions/_kubectl-gc").to_vec(),
        ShellArg::Fish => include_bytes!("../../../completions/kubectl-gc.fish").to_vec(),
        ShellArg::PowerShell => {
            let mut script = Vec::new();
            generate(Shell::PowerShell, &mut Cli::command(), BINARY, &mut script);
            script
        }
    }
}

/// The man pages of the program and of each command, by their file names.
pub fn man_pages() -> impl Iterator<Item = (String, Vec<u8>)> {
    let mut program = Cli::command().display_name(BINARY).disable_help_subcommand(true);
    program.build();
    let commands: Vec<clap::Command> = program.get_subcommands().filter(|it| !it.is_hide_set()).cloned().collect();
    std::iter::once(program).chain(commands).map(|command| {
        let (man, mut page) = (clap_mangen::Man::new(command), Vec::new());
        man.render(&mut page).expect("memory takes everything");
        (man.get_filename(), page)
    })
}

/// The words to complete, if a shell or kubectl asks this process for completions.
pub(super) fn asked(args: impl IntoIterator<Item = OsString>) -> Option<Vec<String>> {
    let mut args = args.into_iter().map(|arg| arg.to_string_lossy().into_owned());
    let program = args.next()?;
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    if program.strip_suffix(".exe").unwrap_or(program) == COMPLETER {
        return Some(args.collect());
    }
    if args.next()? != COMPLETE {
        return None;
    }
    let words: Vec<String> = args.collect();
    Some(if words.first().is_some_and(|first| first == "--") { words[1..].to_vec() } else { words })
}

/// What is printed for these words.
pub(super) fn complete(words: &[String]) -> String {
    let mut command = Cli::command();
    command.build();
    let (before, current) = match words.split_last() {
        Some((current, before)) => (before, current.as_str()),
        None => (words, ""),
    };
    let asked = walk::walk(&command, before, current);
    let kubectl = kubectl::Kubectl::new(asked.connection.clone());
    let mut answer = walk::answer(&asked, &kubectl);
    answer.candidates.sort();
    answer.candidates.dedup_by(|one, other| one.text == other.text);
    let lines = answer.candidates.iter().map(|candidate| match candidate.about.as_str() {
        "" => format!("{}\n", candidate.text),
        about => format!("{}\t{about}\n", candidate.text),
    });
    lines.chain([format!(":{}\n", answer.directive as u8)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_shell_and_kubectl_ask() {
        let asked = |args: &[&str]| asked(args.iter().map(OsString::from));
        assert_eq!(asked(&["/x/kubectl_complete-gc", "plan", ""]), Some(vec!["plan".to_owned(), String::new()]));
        assert_eq!(asked(&["kubectl-gc", "__complete", "--", "pl"]), Some(vec!["pl".to_owned()]));
        assert_eq!(asked(&["kubectl-gc", "plan", "__complete"]), None);
        assert_eq!(asked(&["kubectl-gc"]), None);
    }

    #[test]
    fn nothing_to_complete_is_the_first_word() {
        assert!(complete(&[]).contains("\nplan\t"), "{}", complete(&[]));
    }
}
