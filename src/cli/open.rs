//! `--open`: shows a page in the browser.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    operations::{OperationError, usage},
    render::output::Format,
};
use gc_cluster::dump::folder_of;

use super::{
    args::OpenArgs,
    commands::Command,
    report::{Exit, Report},
};

/// How long the browser's opener may take to fail.
const PATIENCE: Duration = Duration::from_secs(3);

impl Command {
    /// Whether what a command draws is opened and where, and whether it is printed again and again.
    fn drawing(&self) -> Option<(&OpenArgs, bool)> {
        Some(match self {
            Command::Tree(args) => (&args.open, args.watch),
            Command::Plan(args) => (&args.open, false),
            Command::Delete(args) => (&args.open, false),
            Command::Sweep(args) => (&args.open, args.watching.watch),
            Command::Doctor(args) => (&args.open, args.watch),
            Command::Explain(args) => (&args.open, false),
            _ => return None,
        })
    }

    /// Whether the page is to be opened, and which file it is written to. Then its format is chosen, too.
    ///
    /// # Errors
    /// Another format was chosen, pictures that would follow each other in one stream, or a page for a terminal.
    pub(super) fn opens(&self, output: &mut Option<Format>) -> Result<Option<Option<PathBuf>>, OperationError> {
        let Some((open, watch)) = self.drawing() else { return Ok(None) };
        let format = output.unwrap_or_default();
        let opens = open.open.is_some();
        match format {
            Format::Text if opens => *output = Some(Format::Html),
            Format::Html if !opens && io::stdout().is_terminal() => {
                return usage("-o html writes a page for a browser: -o html > FILE keeps it, --open shows it");
            }
            Format::Html => {}
            other if opens => {
                return usage(format!("--open shows -o html: it cannot be used with -o {}", other.name()));
            }
            _ => {}
        }
        let format = output.unwrap_or_default();
        if watch && format.draws() {
            return usage(format!("--watch cannot be used with -o {}: a picture is of one moment", format.name()));
        }
        Ok(open.open.clone())
    }
}

/// Writes a report's page to a file that only the user may read, and shows it. The path is a note.
pub(super) fn show(mut report: Report, file: Option<&Path>) -> Report {
    let page = std::mem::take(&mut report.data);
    if page.is_empty() {
        return report;
    }
    let temporary = std::env::temp_dir();
    let said = match written(&page, file) {
        Ok(path) if !has_display() => Ok(format!("The picture is in {}", path.display())),
        Ok(path) => opened(&path).map_err(|error| {
            format!("error: no browser could be opened: {error}. The picture is in {}", path.display())
        }),
        Err(error) => Err(format!(
            "error: the picture could not be written to {}: {error}",
            file.unwrap_or(temporary.as_path()).display()
        )),
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

/// Whether a browser could show anything: on a server, a program for terminals might be opened.
fn has_display() -> bool {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].iter().any(is_set)
}

/// Writes all of it, or nothing.
fn written(page: &[u8], file: Option<&Path>) -> io::Result<PathBuf> {
    // A link or a device would be replaced, not written to.
    if file.and_then(|file| file.symlink_metadata().ok()).is_some_and(|found| !found.is_file()) {
        return Err(io::Error::other("it exists, and is no regular file"));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix("kubectl-gc-").suffix(".html");
    // Only its owner may read it.
    let mut written = match file {
        Some(file) => builder.tempfile_in(folder_of(file))?,
        None => builder.tempfile()?,
    };
    written.write_all(page)?;
    match file {
        Some(file) => {
            written.persist(file)?;
            Ok(file.to_owned())
        }
        None => Ok(written.keep()?.1),
    }
}

fn opened(path: &Path) -> io::Result<String> {
    ::open::that_detached_with_timeout(path, PATIENCE)?;
    Ok(format!("Opened {}", path.display()))
}
