//! `kubectl gc completion`, and what shells ask for completions.
//!
//! A shell's script calls `kubectl-gc __complete -- WORDS…`, and kubectl calls `kubectl_complete-gc WORDS…`: the last
//! word is the one to complete. Both read what kubectl's commands print for their own completion (cobra's protocol): a
//! candidate a line, with a tab before its description, and a last line with a colon and a directive.

mod install;
mod walk;

use std::{
    ffi::OsString,
    io::Read as _,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use clap_complete::{Shell, generate};

use super::{
    commands::Cli,
    completion::walk::{Ask, Candidate},
    values::ShellArg,
};

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
    let kubectl = Kubectl::new(asked.connection.clone());
    let mut answer = walk::answer(&asked, &kubectl);
    answer.candidates.sort();
    answer.candidates.dedup_by(|one, other| one.text == other.text);
    let lines = answer.candidates.iter().map(|candidate| match candidate.about.as_str() {
        "" => format!("{}\n", candidate.text),
        about => format!("{}\t{about}\n", candidate.text),
    });
    lines.chain([format!(":{}\n", answer.directive as u8)]).collect()
}

/// How long all questions of one completion may take.
const TIME: Duration = Duration::from_secs(1);

/// kubectl with the connection flags of the line; `None`: it is not asked.
struct Kubectl {
    connection: Option<Vec<String>>,
    until: Instant,
}

impl Kubectl {
    fn new(connection: Option<Vec<String>>) -> Self {
        Self { connection, until: Instant::now() + TIME }
    }

    /// What kubectl prints; nothing if it fails, if there is none, or if it takes too long. Then it may go on: what it
    /// learns about the cluster is in its cache for the next question.
    fn output(&self, args: &[&str]) -> String {
        if self.connection.is_none() {
            return String::new();
        }
        let mut command = Command::new("kubectl");
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else { return String::new() };
        let Some(mut stdout) = child.stdout.take() else { return String::new() };
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let mut text = String::new();
            let read = stdout.read_to_string(&mut text);
            let ended = child.wait().is_ok_and(|status| status.success());
            // Nobody waits any more if it took too long.
            let _ = send.send(if read.is_ok() && ended { text } else { String::new() });
        });
        receive.recv_timeout(self.until.saturating_duration_since(Instant::now())).unwrap_or_default()
    }

    /// What kubectl completes a word to.
    fn completed(&self, words: &[&str]) -> Vec<String> {
        let mut args = vec!["__complete", "get"];
        args.extend(self.connection.iter().flatten().map(String::as_str));
        // A server that doesn't answer must not keep kubectl for ever.
        args.push("--request-timeout=5s");
        args.extend(words);
        let text = self.output(&args);
        let candidates = text.lines().filter(|line| !line.is_empty() && !line.starts_with(':'));
        let names = candidates.map(|line| line.split('\t').next().unwrap_or_default());
        names.filter(|name| is_plain(name)).map(str::to_owned).collect()
    }
}

impl Ask for Kubectl {
    fn types(&self) -> Vec<Candidate> {
        let mut args = vec!["api-resources", "--cached", "--verbs=delete", "--no-headers", "--request-timeout=5s"];
        args.extend(self.connection.iter().flatten().map(String::as_str));
        types_of(&self.output(&args))
    }

    fn objects(&self, kind: &str) -> Vec<String> {
        // A type that looks like a flag or a file is none.
        if kind.is_empty() || kind.starts_with('-') { Vec::new() } else { self.completed(&[kind, ""]) }
    }

    fn values(&self, flag: &str) -> Vec<String> {
        self.completed(&[flag, ""])
    }
}

/// Whether a name means the same to every shell and terminal. Others, which a Role may have, are not offered: bash
/// inserts a candidate as it is, `$(…)` included.
fn is_plain(name: &str) -> bool {
    !name.starts_with('-') && name.chars().all(|one| one.is_ascii_alphanumeric() || "._:@/+=,%-".contains(one))
}

/// The types in a table of `kubectl api-resources`: NAME, perhaps SHORTNAMES, APIVERSION, NAMESPACED, KIND. Those of a
/// group are also named with it.
fn types_of(table: &str) -> Vec<Candidate> {
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let mut types = Vec::new();
    for row in &rows {
        let (name, short, version, kind) = match row[..] {
            [name, short, version, _, kind] => (name, short, version, kind),
            [name, version, _, kind] => (name, "", version, kind),
            _ => continue,
        };
        types.push(Candidate::new(name, kind));
        types.extend(short.split(',').filter(|short| !short.is_empty()).map(|short| Candidate::new(short, kind)));
        if let Some((group, _)) = version.split_once('/') {
            types.push(Candidate::new(format!("{name}.{group}"), kind));
        }
    }
    types
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

#[cfg(test)]
mod kubectl_tests {
    use super::*;

    #[test]
    fn types_are_named_as_targets_name_them() {
        let table = "pods  po  v1  true  Pod\nbindings  v1  true  Binding\n\
            deployments  deploy  apps/v1  true  Deployment\nodd\n";
        let texts: Vec<String> = types_of(table).into_iter().map(|one| one.text).collect();
        assert_eq!(texts, ["pods", "po", "bindings", "deployments", "deploy", "deployments.apps"]);
    }

    #[test]
    fn only_plain_names_are_offered() {
        for name in ["web-0", "system:node", "prod@eu/admin", "kube_v1.2"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["$(touch x)", "a;b", "a b", "`id`", "--all", "a\u{1b}[31m", "é", "a'b", "a\"b"] {
            assert!(!is_plain(name), "{name}");
        }
    }

    #[test]
    fn no_answer_is_none() {
        let kubectl = Kubectl { connection: Some(Vec::new()), until: Instant::now() };
        assert_eq!(kubectl.output(&["version", "--client"]), "");
        assert_eq!(Kubectl::new(Some(Vec::new())).objects("-o"), Vec::<String>::new());
    }
}
