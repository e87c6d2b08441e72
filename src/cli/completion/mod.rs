//! `kubectl gc completion`, and what shells ask for completions.
//!
//! A shell's script calls `kubectl-gc __complete -- WORDS…`, and kubectl calls `kubectl_complete-gc WORDS…`: the last
//! word is the one to complete. Both read what kubectl's commands print for their own completion (cobra's protocol): a
//! candidate a line, with a tab before its description, and a last line with a colon and a directive.

mod walk;

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use clap_complete::{Shell, generate};

use crate::operations::{OperationError, usage};

use super::{
    commands::Cli,
    completion::walk::{Ask, Candidate},
    report::{Exit, Report},
    values::ShellArg,
};

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

/// What every script that `install` writes says of itself: a file without it is not replaced.
const SCRIPT: &str = "Completion of kubectl-gc";
/// The same for man pages.
const PAGE: &str = ".TH kubectl-gc";

/// Where this user's shells and programs are.
struct Places {
    path: Vec<PathBuf>,
    data: PathBuf,
    config: PathBuf,
    /// bash-completion's own folder, if the user chose one.
    bash: Option<PathBuf>,
    /// The folders where zsh looks for functions, if it says so.
    functions: Vec<PathBuf>,
}

/// Puts the scripts and kubectl's completer where they are found.
pub(super) fn install() -> Result<Report, OperationError> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let Some(home) = env::home_dir().filter(|home| !home.as_os_str().is_empty()) else {
        return usage("there is no home folder: HOME is not set");
    };
    let below = |name: &str, otherwise: &str| variable(name).map_or_else(|| home.join(otherwise), PathBuf::from);
    let list = |name: &str| variable(name).map(|list| env::split_paths(&list).collect()).unwrap_or_default();
    let places = Places {
        path: list("PATH"),
        data: below("XDG_DATA_HOME", ".local/share"),
        config: below("XDG_CONFIG_HOME", ".config"),
        bash: variable("BASH_COMPLETION_USER_DIR").map(PathBuf::from),
        functions: list("FPATH"),
    };
    Ok(places.install())
}

impl Places {
    fn install(&self) -> Report {
        let mut lines = Vec::new();
        let mut whole = true;
        let mut done = |result: Result<String, String>| match result {
            Ok(line) => lines.push(line),
            Err(line) => {
                whole = false;
                lines.push(line);
            }
        };
        done(self.completer());
        let bash = self.bash.clone().unwrap_or_else(|| self.data.join("bash-completion"));
        let zsh = self.data.join("zsh/site-functions");
        let shells = [
            ("bash", ShellArg::Bash, bash.join("completions").join(BINARY)),
            ("zsh", ShellArg::Zsh, zsh.join(format!("_{BINARY}"))),
            ("fish", ShellArg::Fish, self.config.join("fish/completions").join(format!("{BINARY}.fish"))),
        ];
        let mut missing = Vec::new();
        for (name, shell, file) in shells {
            if !self.has(name) {
                missing.push(name);
                continue;
            }
            done(put(&file, &script(shell), SCRIPT).map(|()| format!("{name}: {}", file.display())));
            if name == "zsh" && !self.functions.contains(&zsh) {
                done(Ok("     Put into ~/.zshrc, before compinit:".to_owned()));
                done(Ok(format!("     fpath=({} $fpath)", shown(&zsh))));
            }
        }
        if self.has("man") {
            done(self.manual());
        }
        if !missing.is_empty() {
            done(Ok(format!("Not on this machine: {}.", missing.join(", "))));
        }
        done(Ok("New shells complete kubectl-gc, and kubectl gc where kubectl is completed:".to_owned()));
        done(Ok("     kubectl completion --help".to_owned()));
        Report { exit: if whole { Exit::Fine } else { Exit::Failed }, ..Report::of(lines.join("\n") + "\n") }
    }

    /// Puts the man pages where `man` looks: beside `~/.local/bin`, and elsewhere if MANPATH says so.
    fn manual(&self) -> Result<String, String> {
        let folder = self.data.join("man");
        let section = folder.join("man1");
        man_pages().try_for_each(|(name, page)| put(&section.join(name), &page, PAGE))?;
        let told = format!("man: {}/{BINARY}.1, and a page for each command", section.display());
        let found = self.path.iter().any(|bin| bin.with_file_name("share").join("man") == folder);
        if found { Ok(told) } else { Ok(format!("{told}\n     Set, in your shell: MANPATH={}:", shown(&folder))) }
    }

    fn has(&self, program: &str) -> bool {
        self.path.iter().any(|folder| folder.join(program).is_file())
    }

    /// Puts what kubectl calls beside the plugin that kubectl finds, or into another folder of the user's on the PATH.
    fn completer(&self) -> Result<String, String> {
        if cfg!(not(unix)) {
            return Err(format!("kubectl: put a copy of {BINARY}.exe named {COMPLETER}.exe beside it."));
        }
        let Some(at) = self.path.iter().find(|folder| folder.join(BINARY).is_file()) else {
            return Err(format!("kubectl: {BINARY} is not on the PATH, so kubectl does not find the plugin."));
        };
        let plugin = at.join(BINARY);
        let own = self.path.iter().filter(|folder| folder.ends_with(".local/bin") || folder.ends_with(".krew/bin"));
        let mut why = String::new();
        for folder in std::iter::once(at).chain(own) {
            let link = folder.join(COMPLETER);
            let target = if folder == at { Path::new(BINARY) } else { plugin.as_path() };
            match put_link(&link, target) {
                Ok(()) => return Ok(format!("kubectl: {} -> {}", link.display(), target.display())),
                Err(error) => why = error,
            }
        }
        Err(format!("kubectl: {why}. To do it yourself: ln -s {} FOLDER/{COMPLETER}", shown(&plugin)))
    }
}

/// A path as a shell takes it.
fn shown(path: &Path) -> String {
    gc_core::command_line::quoted(&path.display().to_string()).into_owned()
}

/// Writes a file, unless one without the mark of ours is there.
fn put(file: &Path, content: &[u8], mark: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", file.display());
    match fs::read(file) {
        Ok(there) if there == content => return Ok(()),
        Ok(there) if !String::from_utf8_lossy(&there).contains(mark) => return Err(foreign(file)),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(file, content).map_err(failed)
}

fn foreign(file: &Path) -> String {
    format!("{} is not from kubectl gc, and was left as it is: move it away first", file.display())
}

/// Makes a link, unless something else is there.
fn put_link(link: &Path, target: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", link.display());
    match fs::read_link(link) {
        Ok(there) if there == target => return Ok(()),
        // A link to another kubectl-gc is an older one of ours.
        Ok(there) if there.file_name() == Some(BINARY.as_ref()) => fs::remove_file(link).map_err(failed)?,
        Ok(_) => return Err(foreign(link)),
        Err(_) if link.exists() => return Err(foreign(link)),
        Err(_) => {}
    }
    make_link(link, target).map_err(failed)
}

#[cfg(unix)]
fn make_link(link: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn make_link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
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
