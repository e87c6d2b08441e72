//! What a command has to say, gathered before anything is printed: nothing is ever half-printed.

use std::io::{self, IsTerminal, Write};

use crate::{model::Gap, render::gaps};

use super::exit::Exit;

/// A command's output and how it ended.
#[derive(Debug)]
pub struct Report {
    /// Data, for standard output.
    pub data: Vec<u8>,
    /// Everything else, for standard error.
    pub notes: Vec<String>,
    pub exit: Exit,
}

impl Report {
    /// Data that is fine.
    pub fn of(data: impl Into<Vec<u8>>) -> Self {
        Report { data: data.into(), notes: Vec::new(), exit: Exit::Fine }
    }

    /// Adds what could not be read.
    pub fn with_gaps(mut self, gaps: &[Gap]) -> Self {
        self.notes.extend(gaps::told(gaps));
        self
    }

    /// Prints it all. A closed pipe is nobody's fault.
    pub fn print(self) -> Exit {
        let printed = print_data(&self.data);
        if printed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return Exit::Fine;
        }
        for note in &self.notes {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(io::stderr(), "{note}");
        }
        match printed {
            Ok(()) => self.exit,
            Err(error) => {
                let _ = writeln!(io::stderr(), "error: standard output: {error}");
                Exit::Failed
            }
        }
    }
}

fn print_data(data: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(data)?;
    out.flush()
}

/// The columns of the terminal that standard output goes to; `None` where it goes elsewhere.
pub fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    columns.or(terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))).or(Some(80))
}
