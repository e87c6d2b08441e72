//! Asking on the terminal, and what counts as a yes.

use std::io::{IsTerminal as _, stderr, stdin};

/// Whether there is somebody to ask.
pub fn can_ask() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// Asks, and returns the line that was typed; nothing where input has ended or the terminal is gone, which is no yes.
///
/// Line by line: the terminal stays as it is, whatever becomes of this process, and its own keys work.
pub fn line(prompt: &str) -> String {
    dialoguer::Input::<String>::new().with_prompt(prompt).allow_empty(true).interact().unwrap_or_default()
}

/// Whether a line says yes.
pub fn is_yes(line: &str) -> bool {
    ["y", "yes"].contains(&line.trim().to_lowercase().as_str())
}
