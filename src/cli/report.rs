//! A command's output, collected before anything is printed, so nothing is ever printed in part; and its exit code, the
//! contract of every command.

use std::{
    ffi::OsString,
    io::{self, IsTerminal, Write as _, stderr, stdin},
    iter,
    path::Path,
    process::ExitCode,
};

use crate::{
    operations::{
        OperationError,
        approve::{Answer, Question, Terminal},
        targets::TargetError,
    },
    render::{
        escape::visible,
        output::{describe_gaps, header},
        words::wrapped,
    },
};
use gc_cluster::{
    archive::{Header, header_of},
    cluster::ConnectError,
};
use gc_core::{
    model::{Gap, Snapshot},
    wording::count,
};

use super::args::ColorArg;

/// Says something on standard error.
pub(super) fn say(line: &str) {
    complain(&visible(line));
}

/// Says lines on standard error, which need no escapes. A terminal gets them wrapped, but for commands, which are
/// indented.
pub(super) fn complain(text: &str) {
    let width = terminal_width_of(&io::stderr()).unwrap_or(usize::MAX);
    let wrap = |line: &str| match line.starts_with(' ') {
        true => vec![line.to_owned()],
        false => wrapped(line, width),
    };
    for line in text.split('\n').flat_map(wrap) {
        // Ignore errors: stderr may be closed.
        let _ = writeln!(io::stderr(), "{line}");
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success. A closed pipe and reported gaps count as success, too.
    Fine,
    /// The command failed, for whatever reason, also a user's "no": scripts can rely on code 2 being a result.
    Failed,
    /// The command succeeded, and the result is bad news.
    BadNews,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::BadNews => 2,
        })
    }
}

/// A command's output and how it ended.
#[derive(Debug)]
pub struct Report {
    /// The result, for standard output.
    pub data: Vec<u8>,
    /// Everything else, for standard error.
    pub notes: Vec<String>,
    pub exit: Exit,
}

impl Report {
    /// A successful result.
    pub fn of(data: impl Into<Vec<u8>>) -> Self {
        Report { data: data.into(), notes: Vec::new(), exit: Exit::Fine }
    }

    /// The user did not confirm: with yes, or with this word.
    pub fn declined(word: Option<&str>) -> Self {
        let notes = vec![format!("Nothing was changed: the answer was not {}.", word.unwrap_or("yes"))];
        Report { data: Vec::new(), notes, exit: Exit::Failed }
    }

    /// Adds the gaps: what could not be read.
    pub fn with_gaps(mut self, gaps: &[Gap]) -> Self {
        self.notes.extend(describe_gaps(gaps));
        self
    }

    /// Prints everything. A closed pipe is no error.
    pub fn print(self) -> Exit {
        let printed = print_data(&self.data);
        if printed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return Exit::Fine;
        }
        self.notes.iter().for_each(|note| say(note));
        match printed {
            Ok(()) => self.exit,
            Err(error) => {
                let _ = writeln!(io::stderr(), "error: standard output: {error}");
                Exit::Failed
            }
        }
    }
}

/// Writes to standard output immediately.
pub(super) fn print_data(data: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(data)?;
    out.flush()
}

/// The first line of every text, which names the source, a line for each archive, and an empty line. `more` is added to
/// the first line.
pub(super) fn heading(snapshot: &Snapshot, namespace: Option<&str>, from: &[String], more: &str) -> Vec<u8> {
    let first = format!("{}{more}", header(snapshot, namespace, from));
    let archives = archives(from);
    let width = terminal_width().unwrap_or(usize::MAX);
    let lines = iter::once(first).chain(archives.iter().map(|archive| visible(archive).into_owned()));
    let lines: Vec<String> = lines.flat_map(|line| wrapped(&line, width)).collect();
    (lines.join("\n") + "\n\n").into_bytes()
}

/// What is said of the archives among these files: where, when and for which delete each was written.
fn archives(from: &[String]) -> Vec<String> {
    from.iter().filter_map(|path| Some(archive(path, &header_of(Path::new(path))?))).collect()
}

fn archive(path: &str, header: &Header) -> String {
    let place = [header.context.as_str(), header.server.as_str()].into_iter().find(|name| !name.is_empty());
    let place = place.map(|place| format!(" in {place}")).unwrap_or_default();
    let delete = match header.targets.as_slice() {
        [] => String::new(),
        [first, rest @ ..] => {
            let more = match rest.len() {
                0 => String::new(),
                more => format!(" and {}", count(more, "other target", "other targets")),
            };
            let policy = header.propagation.to_lowercase();
            format!(", before a delete ({policy}) of {}{more}", first.placed())
        }
    };
    format!("{path} is an archive: objects as they were{place} at {}{delete}. They may be gone by now.", header.time)
}

/// An error as text: control characters are escaped, and only errors that have several lines keep their line breaks.
pub(super) fn describe_error(error: &OperationError) -> String {
    let text = without_number(&error.to_string());
    match error {
        OperationError::Target(target) if let TargetError::AllMissing(missing) = target.as_ref() => {
            missing.iter().map(|one| visible(&one.to_string()).into_owned()).collect::<Vec<_>>().join("\n")
        }
        // Reasons why objects can't be kept, and what could not be read, have one line each. The hint of a
        // credential plugin comes from the kubeconfig, and may have many lines.
        OperationError::Connect(connect) if !matches!(**connect, ConnectError::Credentials { .. }) => {
            visible(&text).into_owned()
        }
        OperationError::Connect(_)
        | OperationError::Unkeepable(_)
        | OperationError::NotHeld(_)
        | OperationError::NoHold(_)
        | OperationError::Hold(_)
        | OperationError::Keep(_)
        | OperationError::Incomplete(_)
        | OperationError::Forbidden { .. }
        | OperationError::UnseenDependents { .. }
        | OperationError::MayLack { .. } => text.split('\n').map(visible).collect::<Vec<_>>().join("\n"),
        _ => visible(&text).into_owned(),
    }
}

/// The text without ` (os error 2)`: the words before it say the same.
fn without_number(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once(')').map_or(part, |(_, rest)| rest))
}

/// The height of the terminal on standard output in lines; `None` if it is no terminal, or doesn't tell.
pub(super) fn terminal_height() -> Option<usize> {
    let lines = std::env::var("LINES").ok().and_then(|lines| lines.parse().ok()).filter(|lines| *lines > 0);
    let lines = lines.or(terminal_size::terminal_size().map(|(_, height)| usize::from(height.0)));
    lines.filter(|_| io::stdout().is_terminal())
}

/// The width of the terminal on standard output; `None` if it is no terminal.
pub(super) fn terminal_width() -> Option<usize> {
    terminal_width_of(&io::stdout())
}

fn terminal_width_of(stream: &impl IsTerminal) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    columns.or(terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))).or(Some(80))
}

/// Whether to colour the output to this stream. `auto` depends on the terminal and on the conventions of
/// <https://no-color.org> and <https://bixense.com/clicolors>.
pub(super) fn is_coloured(when: ColorArg, stream: &impl IsTerminal) -> bool {
    decide(when, stream.is_terminal(), |name| std::env::var_os(name))
}

fn decide(when: ColorArg, terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    match when {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto if set("NO_COLOR").is_some() => false,
        ColorArg::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        ColorArg::Auto => terminal && set("TERM").is_none_or(|value| value != "dumb"),
    }
}

/// Standard input and standard error.
pub(super) struct StdTerminal;

impl Terminal for StdTerminal {
    fn can_ask(&self) -> bool {
        stdin().is_terminal() && stderr().is_terminal()
    }

    /// Reads whole lines: the terminal's mode doesn't change, so it stays intact if this process is killed, and its
    /// editing keys work.
    fn ask(&mut self, preface: &str, prompt: &str) -> String {
        let width = terminal_width().unwrap_or(usize::MAX);
        let wrap = |text: &str| wrapped(&visible(text), width);
        let mut lines = if preface.is_empty() { Vec::new() } else { [vec![String::new()], wrap(preface)].concat() };
        lines.extend(wrap(prompt));
        // The library draws its prompt again after the answer, and takes it for one line.
        let last = lines.pop().unwrap_or_default();
        for line in lines {
            // Ignore errors: stderr may be closed.
            let _ = writeln!(stderr(), "{line}");
        }
        let input = dialoguer::Input::<String>::new().with_prompt(last).allow_empty(true);
        input.interact().unwrap_or_default()
    }

    fn say(&mut self, line: &str) {
        // Ignore errors: stderr may be closed.
        let _ = writeln!(stderr(), "{}", visible(line));
    }

    fn now(&self) -> jiff::Zoned {
        jiff::Zoned::now()
    }
}

/// Asks a yes-or-no question.
pub(super) fn confirm(prompt: String) -> bool {
    let question = Question { prompt, ..Question::default() };
    question.judge(&StdTerminal.ask("", &question.prompt)) == Answer::Yes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(terminal: bool, variables: &[(&str, &str)]) -> bool {
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        decide(ColorArg::Auto, terminal, variable)
    }

    #[test]
    fn follows_the_terminal_and_the_environment() {
        assert!(auto(true, &[]));
        assert!(!auto(false, &[]));
        assert!(auto(true, &[("TERM", "xterm-256color"), ("NO_COLOR", "")]));
        assert!(!auto(true, &[("NO_COLOR", "1")]));
        assert!(!auto(true, &[("TERM", "dumb")]));
        assert!(auto(false, &[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")]));
        assert!(!auto(false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!auto(true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    }

    #[test]
    fn the_flag_wins() {
        let no_color = |_: &str| Some(OsString::from("1"));
        assert!(decide(ColorArg::Always, false, no_color));
        assert!(!decide(ColorArg::Never, true, |_| None));
    }
}
