//! Findings as text: the problem, its consequences, and the remedy.

use std::io::{self, Write};

use rustc_hash::FxHashSet;

use crate::{
    command_line::ShellCommand,
    doctor::{Finding, Probed, Remedy},
    model::{Origin, effects::Severity, gaps::each_once},
    render::{
        escape::visible,
        lines::pieces,
        output::TextOptions,
        states::FINDING,
        style::{Style, Tone},
        words::wrapped,
    },
    wording::{and_more, count, thousands},
};

use super::{DoctorView, IfDeleted, all_remedies, examined, looked_at, subjects::listed, word};

/// The indent of what a finding says, in columns.
pub(super) const MARGIN: usize = 2;
/// The indent of text after a label ("Then:").
const LABELLED: usize = MARGIN + 6;
/// The indent of commands.
const COMMANDS: usize = LABELLED + 2;
/// A longer command, in bytes, is printed in the script only.
const LONGEST: usize = 4_000;
/// At most this many kinds are named.
const NAMED_KINDS: usize = 6;
/// At most this many commands of each remedy are shown.
const SHOWN: usize = 3;

/// Writes the verdict and every finding.
pub(super) fn write(view: &DoctorView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let findings = &view.diagnosis.findings;
    // Where there is no terminal, nothing is wrapped, so that it can be searched for.
    let page = Page { width: options.width.unwrap_or(usize::MAX), style: options.style };
    if findings.is_empty() {
        let tone = if view.snapshot.is_empty() { Tone::Warning } else { Tone::Good };
        page.write(&view.nothing_found(), tone, 0, 0, out)?;
        return view.write_if_deleted(&page, out);
    }
    writeln!(out, "{}.", view.counts())?;
    let mut told = FxHashSet::default();
    for finding in findings {
        writeln!(out)?;
        view.write_one(finding, options.wide, &page, &mut told, out)?;
    }
    view.write_if_deleted(&page, out)
}

impl DoctorView<'_> {
    /// The verdict if there are no findings. It claims nothing about what was not examined.
    pub(super) fn nothing_found(&self) -> String {
        let unread = each_once(&self.snapshot.gaps).len();
        let hidden = || format!(" {} could not be read and may hide problems.", count(unread, "resource", "resources"));
        let gaps = if unread == 0 { String::new() } else { hidden() };
        if self.snapshot.is_empty() {
            return format!("UNKNOWN: no object could be read.{gaps}");
        }
        let mut verdict = "No problems found".to_owned();
        if !self.only.is_empty() {
            let codes: Vec<String> = self.only.iter().map(|code| code.name().to_owned()).collect();
            verdict.push_str(&format!(" for {}", listed(&codes)));
        }
        if unread > 0 {
            verdict.push_str(" as far as could be read");
        }
        let looked_at = looked_at(self.snapshot, self.namespace_alone());
        if !self.only.is_empty() {
            return format!("{verdict}: {looked_at} checked.{gaps}");
        }
        let of = match (self.targets, self.namespace) {
            (Some(targets), _) => format!(" for {}", count(targets, "target", "targets")),
            (None, Some(namespace)) => format!(" in namespace {namespace}"),
            (None, None) => String::new(),
        };
        let about = match (&self.snapshot.origin, self.probed) {
            (_, Some(Probed::Works)) => "the collector is running".to_owned(),
            (Origin::Dump { .. }, _) => format!("{}; a dump may lack others", self.kinds_read()),
            _ => "collector not tested; use --probe".to_owned(),
        };
        format!("{verdict}{of}: {looked_at} checked ({about}).{gaps}")
    }

    /// The namespace that was asked for, if no targets were.
    fn namespace_alone(&self) -> Option<&str> {
        self.namespace.filter(|_| self.targets.is_none())
    }

    /// The kinds that were read, or the first of them.
    fn kinds_read(&self) -> String {
        let (_, kinds) = examined(self.snapshot, self.namespace_alone());
        let named = kinds.iter().take(NAMED_KINDS).map(|id| self.snapshot.resources.get(*id).kind.as_str());
        let more = and_more(kinds.len().saturating_sub(NAMED_KINDS));
        format!("{}{more}", named.collect::<Vec<_>>().join(", "))
    }

    /// What no finding says: nothing is wrong before the delete.
    fn write_if_deleted(&self, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Some(IfDeleted { verdict, plan }) = self.if_deleted else { return Ok(()) };
        let target = if self.targets == Some(1) { "this target" } else { "these targets" };
        let text = format!("But a delete of {target} would not finish: {}", verdict.message());
        writeln!(out)?;
        page.write(&text, Tone::Warning, 0, MARGIN, out)?;
        writeln!(out, "{}{plan}", " ".repeat(MARGIN))
    }

    /// Writes one finding.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_finding(&self, finding: &Finding, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.write_one(
            finding,
            options.wide,
            &Page { width: options.width.unwrap_or(usize::MAX), style: options.style },
            &mut FxHashSet::default(),
            out,
        )
    }

    /// The first line of a finding.
    pub fn title(&self, finding: &Finding) -> String {
        let subject = match self.subject(&finding.objects) {
            nobody if nobody.is_empty() => nobody,
            subject => format!(": {subject}"),
        };
        visible(&format!("{} {}{subject}", word(finding.severity), finding.code.name())).into_owned()
    }

    /// `told` has what must be done first and stands above: its commands are not repeated.
    fn write_one<'f>(
        &self,
        finding: &'f Finding,
        wide: bool,
        page: &Page<'_>,
        told: &mut FxHashSet<&'f [ShellCommand]>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let tone = match finding.severity {
            Severity::Error => Tone::Error,
            Severity::Warning => Tone::Warning,
            Severity::Note => Tone::Quiet,
        };
        page.write(&format!("{FINDING} {}", self.title(finding)), tone, 0, MARGIN, out)?;
        if let Some(examples) = self.examples(&finding.objects).filter(|_| !wide) {
            page.write(&examples, Tone::Plain, MARGIN, MARGIN, out)?;
        }
        page.write(&finding.message, Tone::Plain, MARGIN, MARGIN, out)?;
        page.labelled("Then:", &finding.consequence, out)?;
        for (index, remedy) in finding.remedies.iter().enumerate() {
            let label = label(&finding.remedies, index);
            if remedy.comes_first && !told.insert(&remedy.commands) {
                page.labelled(label, &format!("{} (see above)", remedy.what), out)?;
                continue;
            }
            page.labelled(label, &remedy.what, out)?;
            page.commands(remedy, out)?;
        }
        if finding.remedies.iter().any(|remedy| remedy.commands.len() > shown(remedy).len()) {
            writeln!(out, "  {}  {}", page.style.paint(Tone::Strong, "All:"), all_remedies(self.again, finding.code))?;
        }
        if wide { self.write_details(finding, out) } else { Ok(()) }
    }
}

/// The first few commands of a remedy that are short enough to read.
fn shown(remedy: &Remedy) -> Vec<String> {
    remedy.commands.iter().take(SHOWN).map(ToString::to_string).take_while(|command| is_readable(command)).collect()
}

/// Whether a command is short enough to read.
pub(in crate::render) fn is_readable(command: &str) -> bool {
    command.len() <= LONGEST
}

/// The width and style of the text.
struct Page<'a> {
    width: usize,
    style: &'a Style,
}

impl Page<'_> {
    /// Writes a text. Its first word has the tone; lines after the first are indented by `hanging`.
    fn write(&self, text: &str, tone: Tone, margin: usize, hanging: usize, out: &mut dyn Write) -> io::Result<()> {
        let lines = set(text, self.width.saturating_sub(hanging));
        for (index, line) in lines.iter().enumerate() {
            let mark = line.strip_prefix(FINDING).filter(|rest| !rest.is_empty()).map_or(0, |_| FINDING.len() + 1);
            let head = || line[mark..].find([' ', ':']).map_or(line.len(), |end| mark + end);
            let (head, rest) = if index == 0 { line.split_at(head()) } else { ("", &**line) };
            let margin = if index == 0 { margin } else { hanging };
            writeln!(out, "{}{}{rest}", " ".repeat(margin), self.style.paint(tone, head))?;
        }
        Ok(())
    }

    /// Writes a text after a label; nothing if the text is empty.
    fn labelled(&self, label: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
        for (index, line) in set(text, self.width.saturating_sub(LABELLED)).iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let gap = " ".repeat(LABELLED - MARGIN - label.len());
            writeln!(out, "  {}{gap}{line}", self.style.paint(Tone::Strong, label))?;
        }
        Ok(())
    }

    /// Writes the first few commands, each on its own line and never wrapped, so that they can be pasted.
    fn commands(&self, remedy: &Remedy, out: &mut dyn Write) -> io::Result<()> {
        let margin = " ".repeat(COMMANDS);
        let shown = shown(remedy);
        for command in &shown {
            writeln!(out, "{margin}{command}")?;
        }
        let more = remedy.commands.len() - shown.len();
        match (shown.len(), more) {
            (_, 0) => {}
            (0, more) => writeln!(out, "{margin}… {} too long to be shown here", count(more, "command", "commands"))?,
            (_, more) => writeln!(out, "{margin}… and {} more", thousands(more))?,
        }
        Ok(())
    }
}

/// What stands before a remedy: the others are alternatives to the first one, but all that comes first is done as well.
pub(in crate::render) fn label(remedies: &[Remedy], index: usize) -> &'static str {
    match index.checked_sub(1).map(|before| &remedies[before]) {
        None => "Do:",
        Some(before) if before.comes_first => "And:",
        Some(_) => "Or:",
    }
}

/// Wraps a text at `width` columns, at spaces and punctuation. Line breaks in the text are escaped, and a flag stays on
/// one line with its namespace.
pub(in crate::render) fn set(text: &str, width: usize) -> Vec<String> {
    let text = visible(text);
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match words.last_mut().filter(|last| *last == "-n") {
            Some(flag) => *flag += &format!(" {word}"),
            None => words.push(word.to_owned()),
        }
    }
    wrapped(words.iter().flat_map(|word| pieces(word, width)), width)
}
