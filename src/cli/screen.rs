//! Shows a text again and again: in place on a terminal, one after the other elsewhere. And the first look at
//! something Terminating, before others follow: nobody waits in front of an empty screen.

use std::{
    collections::BTreeSet,
    io::{self, IsTerminal as _, Write as _},
    time::Duration,
};

use crate::{
    operations::{OperationError, Session},
    render::{escape::visible, output::Format, words::rows_of},
};
use gc_core::{
    doctor::Finding,
    model::{ObjectId, Snapshot},
};

use super::report::{Report, describe_error, print_data, terminal_height, terminal_width};

/// Standard output, and what stands on it.
pub(super) struct Screen {
    /// Whether what stands there is replaced.
    pub redraws: bool,
    is_text: bool,
    /// How many lines of the terminal the last text takes up.
    lines: usize,
    is_first: bool,
    notes: Vec<String>,
    /// The error of the last look, if it failed.
    trouble: String,
}

impl Screen {
    /// Text is drawn in place if standard output is a terminal; documents never are.
    pub(super) fn of_stdout(is_text: bool) -> Self {
        Screen { redraws: is_text && io::stdout().is_terminal(), ..Self::lasting(is_text) }
    }

    /// Nothing is replaced.
    pub(super) fn lasting(is_text: bool) -> Self {
        Screen { redraws: false, is_text, lines: 0, is_first: true, notes: Vec::new(), trouble: String::new() }
    }

    /// Shows the first look, and each next one that differs from the one before, with what has changed, until standard
    /// output is closed. `next` waits and looks; if that fails, it is said, and it is called again. Returns the last
    /// look.
    pub(super) fn keep<L>(
        mut self,
        interval: Duration,
        first: L,
        mut next: impl FnMut() -> Result<L, OperationError>,
        report: impl Fn(&L) -> &Report,
        changes: impl Fn(&L, &L) -> Option<String>,
    ) -> L {
        let mut open = self.draw(report(&first), "");
        let mut last = first;
        while open {
            match next() {
                Ok(now) => {
                    self.trouble.clear();
                    if let Some(changes) = changes(&now, &last) {
                        open = self.draw(report(&now), &changes);
                    }
                    last = now;
                }
                Err(error) => self.fails(&error, interval),
            }
        }
        last
    }

    /// Shows a report in place of the last one, or after it, with the time and what has happened. Returns whether
    /// standard output is open.
    fn draw(&mut self, report: &Report, happened: &str) -> bool {
        if report.notes != self.notes {
            for note in &report.notes {
                self.tell(&visible(note));
            }
            self.notes.clone_from(&report.notes);
        }
        let text = if self.redraws {
            let (width, height) = (terminal_width().unwrap_or(80), terminal_height().unwrap_or(24));
            let text = String::from_utf8_lossy(&report.data);
            let (text, lines) = fitting(&text, width, height);
            let above = std::mem::replace(&mut self.lines, lines);
            let back = if above == 0 { String::new() } else { format!("\x1b[{above}A\x1b[J") };
            (back + &text).into_bytes()
        } else if self.is_text && !self.is_first {
            let time = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
            [format!("\n{time}{happened}\n\n").as_bytes(), &report.data].concat()
        } else {
            report.data.clone()
        };
        self.is_first = false;
        print_data(&text).is_ok()
    }

    /// A look has failed, and the next one comes after `interval`: says so, unless the last one failed alike.
    fn fails(&mut self, error: &OperationError, interval: Duration) {
        let said = describe_error(error);
        if said != self.trouble {
            self.tell(&format!("error: {said}; retrying every {interval:?}"));
        }
        self.trouble = said;
    }

    /// Says something on standard error. The text that is drawn next comes after it.
    fn tell(&mut self, text: &str) {
        self.lines = 0;
        // Ignore errors: stderr may be closed.
        let _ = writeln!(io::stderr(), "{text}");
    }
}

/// Ends the program at Ctrl-C, also where a shell that started it in the background made it ignore that.
pub(super) fn end_on_interrupt() {
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let heard = runtime.map(|runtime| runtime.block_on(tokio::signal::ctrl_c()));
        if matches!(heard, Ok(Ok(()))) {
            std::process::exit(130);
        }
    });
}

/// As much of a text as fits on a terminal without scrolling, and the lines of the terminal that it takes up. The last
/// line says how much is left out.
fn fitting(text: &str, width: usize, height: usize) -> (String, usize) {
    let lines: Vec<(&str, usize)> = text.lines().map(|line| (line, rows_of(line, width))).collect();
    // The cursor stands below the last line.
    let room = height.saturating_sub(1).max(2);
    let all: usize = lines.iter().map(|(_, rows)| rows).sum();
    if all <= room {
        return (text.to_owned(), all);
    }
    let mut used = 0;
    let fit = lines.iter().take_while(|(_, rows)| {
        used += rows;
        used < room
    });
    let fit: Vec<(&str, usize)> = fit.copied().collect();
    let mut out: String = fit.iter().flat_map(|(line, _)| [line, "\n"]).collect();
    out.push_str(&format!("… {} more lines: make the window larger, or choose less\n", lines.len() - fit.len()));
    (out, fit.iter().map(|(_, rows)| rows).sum::<usize>() + 1)
}

/// Identifies the findings, to compare two looks.
pub(super) fn found(snapshot: &Snapshot, findings: &[Finding]) -> BTreeSet<String> {
    let describe = findings.iter().map(|finding| {
        let mut uids: Vec<&str> = finding.objects.iter().map(|id| snapshot.text(snapshot.object(*id).uid)).collect();
        uids.sort_unstable();
        format!("{} {} {}", finding.code.name(), finding.cause, uids.join(","))
    });
    describe.collect()
}

const AGAIN: &str = "\nLooking again for some seconds: much passes by itself …\n";
const LASTS: &str = "Looked again: nothing has changed.\n";
const CHANGED: &str = "Looked again. This has changed, and is so now:\n\n";

/// What was printed of the first look.
#[derive(Debug, Default)]
pub(super) struct AtOnce {
    /// Identifies what was printed, to compare it with the last look.
    printed: Option<BTreeSet<String>>,
}

impl AtOnce {
    /// Whether the first look is to be printed: as text, on a terminal, if a target is Terminating, or there are no
    /// targets. Who reads a pipe gets only what lasts.
    pub(super) fn is_wanted(session: &Session, format: Option<Format>) -> bool {
        let terminating = |id: &ObjectId| session.snapshot.object(*id).terminating();
        format.unwrap_or_default().is_text()
            && io::stdout().is_terminal()
            && session.targets.as_ref().is_none_or(|targets| targets.iter().any(terminating))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_is_shown_whole() {
        assert_eq!(fitting("a\nb\n", 10, 24), ("a\nb\n".to_owned(), 2));
        assert_eq!(fitting("01234567890\n", 10, 24).1, 2);
        assert_eq!(fitting("", 10, 24), (String::new(), 0));
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let text: String = (0..10).map(|line| format!("{line}\n")).collect();
        let (shown, lines) = fitting(&text, 80, 5);
        assert_eq!(shown, "0\n1\n2\n… 7 more lines: make the window larger, or choose less\n");
        assert_eq!(lines, 4);
        assert_eq!(fitting(&text, 80, 11).1, 10);
        assert_eq!(fitting(&text, 80, 1).1, 2);
    }
}
