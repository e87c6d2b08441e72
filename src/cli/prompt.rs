//! Questions on the terminal.

use std::io::{IsTerminal as _, Write as _, stderr, stdin};

use crate::{
    operations::question::{Answer, Question, Terminal},
    render::{escape::visible, words::wrapped},
};

use super::report::terminal_width;

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
