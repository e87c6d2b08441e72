//! How a command prints: `-o`, colours, and the width of the terminal; and `--open`, which shows a page in the browser.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    operations::{OperationError, approve::PlanFingerprint, predict::PlanResult},
    render::{
        document::{Template, TemplateOptions},
        escape::visible,
        output::{self, Format, Output, TextOptions},
        picture::{ObjectCommands, Picture, PictureOptions},
        plan::PlanView,
        states::{Style, in_ascii},
        words::rows_of,
    },
};
use gc_cluster::{
    cluster::{ConnectionOptions, clock},
    dump::folder_of,
};
use gc_core::{
    command_line::{Kubectl, ShellCommand},
    document::rfc3339,
    graph::OwnerGraph,
    model::Snapshot,
};

use super::{
    args::{GlobalArgs, PrintArgs},
    report::{self, Exit, Report, print_data, terminal_height, terminal_width},
};

/// Prints one command's output.
#[derive(Clone, Debug)]
pub(super) struct Printer {
    pub format: Format,
    fold: bool,
    now: Option<i64>,
    templates: TemplateOptions,
    style: Style,
    commands: ObjectCommands,
    /// What a page says of itself; empty for any other format.
    made: String,
}

impl Printer {
    /// For standard output, folded, without ages.
    pub(super) fn new(global: &GlobalArgs) -> Self {
        let style = Style::new(report::is_coloured(global.color, &io::stdout()));
        let templates = global.printing.templates();
        let (format, commands) = (global.printing.format(), global.object_commands());
        let made = if format == Format::Html { made(&global.connection.chosen) } else { String::new() };
        Printer { format, fold: true, now: None, templates, style, commands, made }
    }

    /// Prints a plan or a sweep: folded, unless the format is wide or `all` is set.
    pub(super) fn of_plan(global: &GlobalArgs, all: bool) -> Self {
        Printer::new(global).fold(global.printing.format() != Format::Wide && !all)
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

    /// The picture of an output, not folded, if pictures are printed: of a plan before it is carried out.
    pub(super) fn picture(&self, output: &impl Output) -> Option<Picture> {
        Printer { fold: false, ..self.clone() }.drawn(output)
    }

    /// The picture of an output, folded as it is printed, if pictures are printed.
    pub(super) fn drawn(&self, output: &impl Output) -> Option<Picture> {
        let Printer { format, fold, now, commands, .. } = self;
        let options = PictureOptions { fold: *fold && format.folds(), now: *now, commands };
        if format.draws() { output.picture(&options) } else { None }
    }

    /// # Errors
    /// The command doesn't have this output format.
    pub(super) fn print(
        &self,
        output: &impl Output,
        heading: impl FnOnce() -> Vec<u8>,
    ) -> Result<Vec<u8>, OperationError> {
        let Printer { format, fold, now, templates, style, commands, made } = self;
        let (fold, now, templates) = (*fold, *now, *templates);
        let options = TextOptions { width: terminal_width(), fold, wide: false, now, templates, style };
        let heading = || if templates.titles { [&*heading(), made.as_bytes()].concat() } else { Vec::new() };
        let mut printed =
            output::print(output, *format, &options, commands, heading).map_err(|error| match error.kind() {
                io::ErrorKind::InvalidInput => unfitting(*format, &error),
                _ => in_memory(error),
            })?;
        if format.is_text() && !fits_the_screen(&printed) {
            let mut verdict = Vec::new();
            output.write_verdict(&options, &mut verdict).map_err(in_memory)?;
            printed.extend(if verdict.is_empty() { verdict } else { [b"\n", verdict.as_slice()].concat() });
        }
        if format.is_text() && wants_ascii(io::stdout().is_terminal(), |name| std::env::var(name).ok()) {
            printed = in_ascii(&String::from_utf8_lossy(&printed)).into_bytes();
        }
        let is_raw = matches!(format, Format::Template(_)) && io::stdout().is_terminal();
        Ok(if is_raw { for_terminal(&String::from_utf8_lossy(&printed)).into_bytes() } else { printed })
    }
}

/// When a page was made, and by which command, without its secrets: who gets the page next week asks.
fn made(connection: &ConnectionOptions) -> String {
    let ConnectionOptions { token, password, proxy_url, .. } = connection;
    let secrets = || [token, password, proxy_url].into_iter().flatten().filter(|secret| !secret.is_empty());
    let words = std::env::args_os().skip(1).map(|word| {
        secrets().fold(word.to_string_lossy().into_owned(), |word, secret| word.replace(secret.as_str(), "…"))
    });
    let command = ShellCommand::new("kubectl").arg("gc").args(words);
    visible(&format!("Made {} by: {command}", rfc3339(clock::now().as_second()))).into_owned() + "\n\n"
}

/// What has changed since the plan that was shown before this one, to follow a heading; empty if none was shown.
pub(super) fn changes(before: Option<&PlanFingerprint>, now: impl FnOnce() -> PlanFingerprint) -> String {
    before.map(|before| format!(" {}", visible(&now().changed_since(before)))).unwrap_or_default()
}

/// Shows a plan before it is carried out, as text: if the result is a document, on standard error, without colour, and
/// only if the user has to confirm.
pub(super) fn show_before(
    printer: Printer,
    yes: bool,
    print: impl FnOnce(&Printer) -> Result<Vec<u8>, OperationError>,
) -> Result<(), OperationError> {
    if printer.format.is_text() {
        return print_data(&print(&printer)?).map_err(OperationError::Print);
    }
    if yes {
        return Ok(());
    }
    let text = print(&printer.text_in(Style::new(false)))?;
    io::stderr().write_all(&text).map_err(OperationError::Print)
}

/// A view of the plan, and of those of the other policies if there are any.
pub(super) fn view_of<'a>(
    snapshot: &'a Snapshot,
    graph: &'a OwnerGraph,
    result: &'a PlanResult,
    namespace: Option<&'a str>,
    kubectl: &'a Kubectl,
) -> PlanView<'a> {
    let mut view = PlanView::new(snapshot, graph, &result.plan, &result.instead, namespace);
    view.kubectl = kubectl;
    view.unlisted_contents = &result.unlisted_contents;
    view.gates = &result.gate_violations;
    view.kept = result.kept.as_ref();
    view.others = result.others.iter().map(|other| view_of(snapshot, graph, other, namespace, kubectl)).collect();
    view
}

/// Whether texts have no other characters than those of ASCII: where the locale of a terminal names another encoding
/// than UTF-8, and with `KUBECTL_GC_ASCII=1`.
fn wants_ascii(terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    if let Some(wanted) = variable("KUBECTL_GC_ASCII").filter(|value| !value.is_empty()) {
        return wanted != "0";
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty());
    let is_utf8 = |locale: String| locale.to_ascii_lowercase().replace('-', "").contains("utf8");
    terminal && locale.is_some_and(|locale| !is_utf8(locale))
}

/// Whether the terminal shows a text in whole, and the prompt below it. True if it is no terminal.
fn fits_the_screen(text: &[u8]) -> bool {
    let Some((columns, height)) = terminal_width().zip(terminal_height()) else { return true };
    String::from_utf8_lossy(text).lines().map(|line| rows_of(line, columns)).sum::<usize>() < height
}

/// What a template wrote, with nothing that a terminal obeys or hides. Programs get each character as it is.
fn for_terminal(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(visible).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// What a template makes of a document in JSON.
///
/// # Errors
/// The template can't be applied.
pub(super) fn apply(
    format: Format,
    template: &Template,
    document: &str,
    printing: PrintArgs,
) -> Result<String, OperationError> {
    let document = serde_json::from_str(document).map_err(|error| unfitting(format, &error))?;
    let text = template.write(&document, printing.templates()).map_err(|error| unfitting(format, &error))?;
    Ok(if io::stdout().is_terminal() { for_terminal(&text) } else { text })
}

/// A template that can't be applied to a document, in kubectl's words.
pub(super) fn unfitting(format: Format, why: &dyn std::fmt::Display) -> OperationError {
    OperationError::Usage(format!("error executing {}: {why}", format.name()))
}

/// Writing to memory fails only if a command doesn't have the output format.
pub(super) fn in_memory(source: io::Error) -> OperationError {
    OperationError::Unwritable { path: "memory".to_owned(), source }
}

/// How long the browser's opener may take to fail.
const PATIENCE: Duration = Duration::from_secs(3);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_for_other_locales_and_for_who_asks() {
        let wants = |terminal: bool, set: &[(&str, &str)]| {
            wants_ascii(terminal, |name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(!wants(true, &[]) && !wants(true, &[("LC_ALL", ""), ("LANG", "en_US.UTF-8")]));
        assert!(!wants(true, &[("LC_ALL", "C.utf8"), ("LANG", "C")]));
        assert!(wants(true, &[("LANG", "C")]) && !wants(false, &[("LANG", "C")]));
        assert!(wants(false, &[("KUBECTL_GC_ASCII", "1"), ("LANG", "C.UTF-8")]));
        assert!(!wants(true, &[("KUBECTL_GC_ASCII", "0"), ("LANG", "C")]));
    }
}
