//! Remedies as a shell script, to be reviewed before it runs.

use std::collections::BTreeSet;

use crate::render::words::set;
use gc_core::{
    command_line::{Kubectl, ShellCommand},
    doctor::{Code, Finding, Remedy, Step},
    wording::count,
};

use super::{DoctorView, text::joint};

/// The width of comments in columns, including [`SIGN`].
const WIDTH: usize = 80;
/// The start of a comment.
const SIGN: &str = "# ";

/// The introduction of every script that has a command to run.
const ABOUT: &str = "The first remedy of each finding does the least harm. It is active, with what must come before \
    it, unless it decides between keeping and losing something: that, and all other remedies, are commented out. \
    Comment out what you do not want, or activate another remedy.";
/// How the script treats failures.
const FAILURES: &str = "The script continues when a command fails. A patch is rejected if the object has \
    changed since; a delete deletes whatever object has the name then. The script counts failures, and exits \
    with code 1 if there are any.";

impl DoctorView<'_> {
    /// A POSIX shell script: the least harmful remedy of each finding is active, the others are commented out. Text
    /// from the cluster is quoted, so it can't end a comment or a word.
    pub fn remedies(&self) -> String {
        let mut body = Script::default();
        for finding in &self.diagnosis.findings {
            self.add(finding, &mut body);
        }
        let mut script = Script::default();
        script.line("#!/bin/sh");
        script.comment(&format!("Remedies for the findings of kubectl gc doctor. {}", self.header));
        match self.counts() {
            none if none.is_empty() => script.comment("There are no findings, so there is nothing to do."),
            counts => script.comment(&format!("{counts}. Read this before you run it: it changes the cluster.")),
        }
        if body.commands > 0 {
            script.line("#");
            script.comment(ABOUT);
            script.comment(FAILURES);
            script.line("set -eu");
            script.reach(self.kubectl);
            script.line("failures=0");
            script.line("failed() { failures=$((failures + 1)); }");
        }
        script.text.push_str(&body.text);
        if body.commands > 0 {
            script.end(body.commands, self.again);
        }
        script.text
    }

    fn add(&self, finding: &Finding, script: &mut Script) {
        script.text.push('\n');
        script.comment(&self.words(finding));
        script.said("", &finding.message);
        script.said("Then: ", &finding.follows());
        if finding.code == Code::DeletionInProgress {
            script.comment("Nothing to do but wait.");
        } else if finding.remedies.is_empty() {
            script.comment("No remedy is known.");
        }
        // What keeps data comes beside what decides.
        let first = finding.remedies.iter().position(|remedy| remedy.step != Step::Keep);
        let decided =
            finding.code != Code::ArmedDeletion && !first.is_some_and(|first| finding.remedies[first].decides);
        let keeps = |remedy: &Remedy| remedy.step == Step::Keep && finding.code != Code::ArmedDeletion;
        if !decided {
            script.comment(match finding.remedies.iter().any(keeps) {
                true => "This needs a decision first: only what keeps data is not commented out.",
                false => "This needs a decision first: all of its remedies are commented out.",
            });
        }
        let remedies = &finding.remedies;
        for (index, remedy) in remedies.iter().enumerate() {
            // What comes first mends nothing alone.
            let is_mending = || !remedy.comes_first() && remedies[..index].iter().all(|before| before.comes_first());
            let is_chosen = decided && !remedy.decides && (Some(index) == first || is_mending());
            let is_active = keeps(remedy) || is_chosen;
            let label = match joint(remedies, index) {
                "" => "Do:",
                "then " => "And:",
                _ => "Or:",
            };
            script.remedy(remedy, label, is_active);
        }
    }
}

#[derive(Default)]
struct Script {
    text: String,
    /// The number of active commands.
    commands: usize,
    /// These commands.
    active: BTreeSet<String>,
}

impl Script {
    /// Adds a comment, wrapped.
    fn comment(&mut self, text: &str) {
        self.said("", text);
    }

    /// Adds a labelled comment; its lines are aligned after the label.
    fn said(&mut self, label: &str, text: &str) {
        for (index, line) in set(text, WIDTH - SIGN.len() - label.len(), 0).iter().enumerate() {
            let label = if index == 0 { label.to_owned() } else { " ".repeat(label.len()) };
            self.line(&format!("{SIGN}{label}{line}"));
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Pins kubectl to the examined cluster: its current context may change before the script runs.
    fn reach(&mut self, kubectl: &Kubectl) {
        let function = kubectl.shell_function();
        if kubectl.is_plain() || !function.is_runnable() {
            self.comment(
                "This script changes the cluster of kubectl's current context: check that it is the right one.",
            );
        } else {
            self.line(&function.to_string());
        }
    }

    fn remedy(&mut self, remedy: &Remedy, label: &str, to_be_run: bool) {
        self.said(&format!("{label:<6}"), &remedy.what);
        for command in &remedy.commands {
            match (command.is_runnable(), to_be_run) {
                // Several findings may have the same cause.
                (true, true) if !self.active.insert(command.to_string()) => {
                    self.line(&format!("{SIGN}as above: {command}"));
                }
                (true, true) => {
                    self.line(&format!("{command} || failed"));
                    self.commands += 1;
                }
                (true, false) => self.line(&format!("{SIGN}{command} || failed")),
                // As a comment.
                (false, _) => self.line(&command.to_string()),
            }
        }
    }

    /// Adds the final command, which checks the result.
    fn end(&mut self, commands: usize, again: &ShellCommand) {
        let commands = count(commands, "command", "commands");
        self.line("");
        self.line(&format!("[ \"$failures\" -eq 0 ] || {{ echo \"$failures of {commands} failed\" >&2; exit 1; }}"));
        self.comment("To check whether problems are left, run");
        self.line(&format!("{SIGN}{again}"));
    }
}
