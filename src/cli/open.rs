//! `--open`: shows a page in the browser.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;

use crate::{operations::OperationError, render::output::Format};

use super::{commands::Command, exit::Exit, report::Report};

/// How long the browser's opener may take to fail.
const PATIENCE: Duration = Duration::from_secs(3);

/// The flag of every command that draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct OpenArgs {
    /// Show the picture in the browser: writes -o html to a temporary file
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub open: bool,
}

/// What a command draws: the format, whether it is opened, and whether it is printed again and again.
struct Drawing<'a> {
    output: &'a mut Option<Format>,
    open: bool,
    watch: bool,
}

impl Command {
    fn drawing(&mut self) -> Option<Drawing<'_>> {
        let (output, open, watch) = match self {
            Command::Tree(args) => (&mut args.output, args.open, args.watch),
            Command::Plan(args) => (&mut args.output, args.open, false),
            Command::Delete(args) => (&mut args.output, args.open, false),
            Command::Sweep(args) => (&mut args.output, args.open, args.watching.watch),
            Command::Doctor(args) => (&mut args.output, args.open, args.watch),
            Command::Explain(args) => (&mut args.output, args.open, false),
            _ => return None,
        };
        Some(Drawing { output, open: open.open, watch })
    }

    /// Whether the page is to be opened. Then its format is chosen, too.
    ///
    /// # Errors
    /// Another format was chosen, or pictures that would follow each other in one stream.
    pub(super) fn opens(&mut self) -> Result<bool, OperationError> {
        // The collector's debug graph may follow itself.
        let is_tree = matches!(self, Command::Tree(_));
        let Some(Drawing { output, open, watch }) = self.drawing() else { return Ok(false) };
        let format = output.unwrap_or_default();
        let wrong = |why: String| Err(OperationError::Usage(why));
        match format {
            Format::Text if open => *output = Some(Format::Html),
            Format::Html => {}
            other if open => return wrong(format!("--open shows -o html: it cannot be used with -o {}", other.name())),
            _ => {}
        }
        let format = output.unwrap_or_default();
        if watch && format.draws() && !(is_tree && format == Format::Dot) {
            return wrong(format!("--watch cannot be used with -o {}: a picture is of one moment", format.name()));
        }
        Ok(open)
    }
}

/// Writes a report's page to a file that only the user may read, and shows it. The path is a note.
pub(super) fn show(mut report: Report) -> Report {
    let page = std::mem::take(&mut report.data);
    if page.is_empty() {
        return report;
    }
    let said = match written(&page) {
        Ok(path) => opened(&path).map_err(|error| {
            format!("error: no browser could be opened: {error}. The picture is in {}", path.display())
        }),
        Err(error) => {
            Err(format!("error: the picture could not be written to {}: {error}", std::env::temp_dir().display()))
        }
    };
    match said {
        Ok(note) => report.notes.push(note),
        Err(note) => {
            report.notes.push(note);
            report.exit = Exit::Failed;
        }
    }
    report
}

fn written(page: &[u8]) -> io::Result<PathBuf> {
    // Only its owner may read it.
    let mut file = tempfile::Builder::new().prefix("kubectl-gc-").suffix(".html").tempfile()?;
    file.write_all(page)?;
    Ok(file.keep()?.1)
}

fn opened(path: &Path) -> io::Result<String> {
    ::open::that_detached_with_timeout(path, PATIENCE)?;
    Ok(format!("Opened {}", path.display()))
}
