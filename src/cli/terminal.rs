//! The terminal: whether output gets colours, and questions.

use std::{
    ffi::OsString,
    io::{IsTerminal, Write as _, stderr, stdin},
};

use crate::{
    operations::approve::{Answer, Question, Terminal},
    render::{escape::visible, words::wrapped},
};

use super::{args::ColorArg, report::terminal_width};

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
        let wrap = |text: &str| wrapped(visible(text).split(' '), width);
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
