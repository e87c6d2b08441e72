//! Prints what the first look at something Terminating shows, before others follow: nobody waits in front of an empty
//! screen.

use std::{
    collections::BTreeSet,
    io::{self, IsTerminal as _},
};

use crate::{
    operations::{OperationError, Session},
    render::output::Format,
};

use super::report::{Report, print_data};

const AGAIN: &str = "\nLooking again for some seconds, because much passes by itself …\n";
const LASTS: &str = "Looked again: nothing has changed.\n";
const CHANGED: &str = "Looked again. This has changed, and is so now:\n\n";

/// What was printed of the first look.
#[derive(Debug, Default)]
pub(super) struct AtOnce {
    /// Identifies what was printed, to compare it with the last look.
    printed: Option<BTreeSet<String>>,
}

impl AtOnce {
    /// Whether the first look is to be printed: as text, on a terminal, if a target is Terminating. Who reads a pipe
    /// gets only what lasts.
    pub(super) fn is_wanted(session: &Session, format: Option<Format>) -> bool {
        let mut targets = session.targets.iter().flatten();
        format.unwrap_or_default().is_text()
            && io::stdout().is_terminal()
            && targets.any(|id| session.snapshot.object(*id).terminating())
    }

    /// Prints the first look; `known` identifies what it shows. If it can't be printed, the last look tells why.
    pub(super) fn print(&mut self, known: BTreeSet<String>, report: Result<Report, OperationError>) {
        let Ok(Report { data, .. }) = report else { return };
        if print_data(&[&data, AGAIN.as_bytes()].concat()).is_ok() {
            self.printed = Some(known);
        }
    }

    /// The report of the last look, which `known` identifies, without what was printed before.
    pub(super) fn last(self, known: impl FnOnce() -> BTreeSet<String>, report: Report) -> Report {
        let data = match &self.printed {
            None => report.data,
            Some(printed) if *printed == known() => LASTS.into(),
            Some(_) => [CHANGED.as_bytes(), &report.data].concat(),
        };
        Report { data, ..report }
    }
}
