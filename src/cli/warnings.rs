//! The warnings of this process: each is told once, as in kubectl (client-go's `rest/warnings.go`).

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use owo_colors::OwoColorize as _;

use crate::render::escape::visible;

/// A command that runs for months remembers no more than this many.
const MOST: usize = 10_000;

/// The warnings so far.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    /// By the server.
    told: Mutex<HashSet<String>>,
    /// By this program. These are no warnings of the server, which `--warnings-as-errors` is about.
    own: Mutex<HashSet<String>>,
}

impl Warnings {
    /// The line to print; `None` if it was printed before.
    pub(super) fn line(&self, text: &str, coloured: bool) -> Option<String> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= MOST || !told.insert(text.to_owned()) {
            return None;
        }
        let text = visible(text);
        Some(if coloured { format!("{} {text}", "Warning:".yellow().bold()) } else { format!("Warning: {text}") })
    }

    /// Whether this program has not said this before.
    pub(super) fn is_news(&self, text: &str) -> bool {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned())
    }

    /// The error of `--warnings-as-errors`; `None` without warnings.
    pub(super) fn as_error(&self) -> Option<String> {
        match self.told.lock().unwrap_or_else(PoisonError::into_inner).len() {
            0 => None,
            1 => Some("1 warning received".to_owned()),
            count => Some(format!("{count} warnings received")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_warning_is_told_once() {
        let warnings = Warnings::default();
        assert!(warnings.is_news("old") && !warnings.is_news("old"));
        assert_eq!(warnings.as_error(), None);
        assert_eq!(warnings.line("a\u{202e}b", false).unwrap(), "Warning: a\\u{202e}b");
        assert_eq!(warnings.line("a\u{202e}b", false), None);
        assert_eq!(warnings.as_error().unwrap(), "1 warning received");
        assert!(warnings.line("c", true).unwrap().ends_with("m c"));
        assert_eq!(warnings.as_error().unwrap(), "2 warnings received");
    }
}
