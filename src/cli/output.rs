//! How a command prints: `-o`, colours, and the width of the terminal.

use std::io;

use crate::{
    operations::OperationError,
    render::{
        output::{self, Format, Output, TextOptions},
        style::Style,
    },
};

use super::{args::GlobalArgs, colour, report::terminal_width};

/// Prints one command's output.
#[derive(Clone, Debug)]
pub(super) struct Printer {
    pub format: Format,
    fold: bool,
    now: Option<i64>,
    style: Style,
}

impl Printer {
    /// For standard output, folded, without ages.
    pub(super) fn new(global: &GlobalArgs, format: Option<Format>) -> Self {
        let style = Style::new(colour::wanted(global.color, &io::stdout()));
        Printer { format: format.unwrap_or_default(), fold: true, now: None, style }
    }

    /// The same, with similar objects folded or not.
    pub(super) fn fold(self, fold: bool) -> Self {
        Printer { fold, ..self }
    }

    /// The same, with ages at this time, in Unix seconds.
    pub(super) fn at(self, now: Option<i64>) -> Self {
        Printer { now, ..self }
    }

    /// The same as text, in this style.
    pub(super) fn text_in(self, style: Style) -> Self {
        let format = if self.format.is_text() { self.format } else { Format::Text };
        Printer { format, style, ..self }
    }

    /// # Errors
    /// The command doesn't have this output format.
    pub(super) fn print(
        &self,
        output: &impl Output,
        heading: impl FnOnce() -> Vec<u8>,
    ) -> Result<Vec<u8>, OperationError> {
        let Printer { format, fold, now, style } = self;
        let options = TextOptions { width: terminal_width(), fold: *fold, wide: false, now: *now, style };
        output::print(output, *format, &options, heading).map_err(in_memory)
    }
}

/// Writing to memory fails only if a command doesn't have the output format.
pub(super) fn in_memory(source: io::Error) -> OperationError {
    OperationError::Unwritable { path: "memory".to_owned(), source }
}
