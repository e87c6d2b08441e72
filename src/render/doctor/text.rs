//! Findings as text: the problem, its consequences, and the remedy; and all remedies as a shell script, to be reviewed
//! before it runs.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
};

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::render::{
    escape::visible,
    lines::{self, Line},
    output::{Format, Output, TextOptions},
    picture::{Picture, PictureOptions},
    plan::VerdictJson,
    sections::{Heading, Said, Sections},
    states::{FINDING, Tone},
    table::{Column, Table},
    words::{count_kinds, full_names, plural, set},
};
use gc_core::{
    command_line::{Kubectl, ShellCommand},
    doctor::{Code, Finding, Probed, Remedy, Step},
    document::{API_VERSION, Head, Named},
    model::{ObjectId, Origin, Resource, ResourceId, Symbol, effects::Severity, gaps::each_once},
    wording::{all_of, count, some_of, thousands},
};

use super::{DoctorView, IfDeleted, all_remedies, examined, fate_of, looked_at};

/// A longer command, in bytes, is printed in the script only.
const LONGEST: usize = 4_000;
/// At most this many kinds are named.
const NAMED_KINDS: usize = 6;
/// At most this many commands of each remedy are shown.
const SHOWN: usize = 3;
/// `kind: Diagnosis`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DiagnosisDocument<'a> {
    #[serde(flatten)]
    head: Head,
    /// Absent without `--probe`: only a probe object shows whether the collector runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    collector_runs: Option<bool>,
    findings: Named<'a, &'a [Finding]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    if_deleted: Option<&'a VerdictJson>,
    summary: SummaryJson,
}

/// The number of findings of each severity.
#[derive(Debug, Serialize)]
struct SummaryJson {
    error: usize,
    warning: usize,
    note: usize,
}

impl Output for DoctorView<'_> {
    fn document(&self) -> impl Serialize {
        let count = |severity| self.diagnosis.count(severity);
        DiagnosisDocument {
            head: Head::of("Diagnosis", &self.snapshot.gaps, self.snapshot),
            collector_runs: self.probed.map(|probed| probed == Probed::Works),
            findings: Named(self.snapshot, &self.diagnosis.findings),
            if_deleted: self.if_deleted.map(|if_deleted| &if_deleted.verdict),
            summary: SummaryJson {
                error: count(Severity::Error),
                warning: count(Severity::Warning),
                note: count(Severity::Note),
            },
        }
    }

    /// Writes the verdict and every finding.
    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        let findings = &self.diagnosis.findings;
        if findings.is_empty() {
            let said = self.nothing_found();
            let tone = if self.snapshot.is_empty() { Tone::Warning } else { Tone::Good };
            let (word, rest) = said.split_at(said.find([' ', ':']).unwrap_or(said.len()));
            let rest = (Tone::Plain, rest.to_owned());
            lines::write_runs(&[(tone, word.to_owned()), rest], 0, options, out)?;
        } else {
            self.write_verdict(options, out)?;
        }
        let mut told = Told::default();
        for finding in findings {
            writeln!(out)?;
            self.write_one(finding, options, &mut told, out)?;
        }
        self.if_deleted().write_below(options, out)
    }

    fn write_verdict(&self, _options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        if self.diagnosis.findings.is_empty() { Ok(()) } else { writeln!(out, "{}", visible(&self.in_a_line())) }
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(super::picture(self, options))
    }

    /// Every affected object.
    fn names(&self) -> Option<Vec<String>> {
        let objects: BTreeSet<ObjectId> =
            self.diagnosis.findings.iter().flat_map(|finding| finding.objects.iter().copied()).collect();
        Some(full_names(self.snapshot, objects))
    }

    fn other(&self, format: Format) -> Option<String> {
        match format {
            Format::Remedies => Some(self.remedies()),
            Format::Oneline => Some(self.lines()),
            _ => None,
        }
    }
}

/// Lines of a title after the first are indented by so much.
const HANGING: usize = 2;

/// The remedies that stand above, if they come first: their commands are not repeated.
pub(in crate::render) type Told<'f> = FxHashSet<&'f [ShellCommand]>;

impl DoctorView<'_> {
    /// The verdict if there are no findings. It claims nothing about what was not examined.
    pub(super) fn nothing_found(&self) -> String {
        let unread = each_once(&self.snapshot.gaps).len();
        let hidden = || format!(" {} could not be read and may hide problems.", count(unread, "resource", "resources"));
        let gaps = if unread == 0 { String::new() } else { hidden() };
        if self.snapshot.is_empty() {
            return format!("UNSURE: no object could be read.{gaps}");
        }
        let mut verdict = "No problems found".to_owned();
        if !self.only.is_empty() {
            let codes: Vec<&str> = self.only.iter().map(|code| code.name()).collect();
            verdict.push_str(&format!(" for {}", all_of(&codes, "and")));
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
        some_of(kinds.iter().map(|id| self.snapshot.resources.get(*id).kind.as_str()), NAMED_KINDS)
    }

    /// What no finding says: nothing is wrong before the delete.
    pub(super) fn if_deleted(&self) -> Sections {
        let mut sections = Sections::default();
        if let Some(IfDeleted { verdict, plan }) = self.if_deleted {
            let target = if self.targets == Some(1) { "this target" } else { "these targets" };
            let text = format!("a delete of {target} would not finish: {}", verdict.message());
            sections.add(Heading::Then, [text]);
            sections.add(Heading::Next, [Said::command(plan)]);
        }
        sections
    }

    /// Writes one finding.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_finding(&self, finding: &Finding, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.write_one(finding, options, &mut Told::default(), out)
    }

    /// The first line of a finding.
    pub fn title(&self, finding: &Finding) -> String {
        visible(&self.words(finding)).into_owned()
    }

    fn write_one<'f>(
        &self,
        finding: &'f Finding,
        options: &TextOptions<'_>,
        told: &mut Told<'f>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let fate = fate_of(finding.severity);
        let (tone, word) = (fate.tone(), format!("{FINDING} {}", fate.text()));
        let rest = self.code_and_subject(finding);
        let examples = self.examples(&finding.objects).filter(|_| !options.wide);
        let examples = examples.map(|examples| format!(" ({examples})")).unwrap_or_default();
        let rest = (Tone::Plain, format!(" {rest}{examples}"));
        lines::write_runs(&[(tone, word), rest], HANGING, options, out)?;
        let mut sections = Sections::default();
        sections.add(Heading::Why, [finding.message.clone()]);
        sections.add(Heading::Then, Some(finding.follows()).filter(|text| !text.is_empty()));
        if options.wide {
            sections.add(Heading::Note, self.details(finding));
        }
        let (said, is_cut) = cures(finding, usize::MAX, told, |_| String::new());
        sections.add(Heading::Next, said);
        if is_cut {
            sections.add(Heading::Next, all_of_code(self.again, finding.code));
        }
        sections.write(options, out)
    }
}

/// What mends a finding: at most so many remedies, with more to say of each. And whether anything is left out.
pub(in crate::render) fn cures<'f>(
    finding: &'f Finding,
    most: usize,
    told: &mut Told<'f>,
    more_of: impl Fn(&Remedy) -> String,
) -> (Vec<Said>, bool) {
    let remedies = &finding.remedies;
    let mut said = Vec::new();
    let mut is_cut = remedies.len() > most;
    for (index, remedy) in remedies.iter().take(most).enumerate() {
        let what = format!("{}{}", joint(remedies, index), remedy.what);
        if remedy.comes_first() && !told.insert(&remedy.commands) {
            said.push(Said::Text(format!("{what} (see above)")));
            continue;
        }
        said.push(Said::Text(what + &more_of(remedy)));
        let shown = shown(remedy);
        let (some, more) = (shown.len(), remedy.commands.len() - shown.len());
        said.extend(shown.into_iter().map(Said::Command));
        is_cut |= more > 0;
        said.extend((more > 0).then(|| match some {
            0 => Said::Command(format!("… {} too long to be shown here", count(more, "command", "commands"))),
            _ => Said::Command(format!("… and {} more", thousands(more))),
        }));
    }
    (said, is_cut)
}

/// The command that prints all remedies of the findings with a code.
pub(in crate::render) fn all_of_code(doctor: &ShellCommand, code: Code) -> [Said; 2] {
    [Said::from("all remedies:"), Said::command(all_remedies(doctor, code))]
}

/// The first few commands of a remedy that are short enough to read.
fn shown(remedy: &Remedy) -> Vec<String> {
    remedy.commands.iter().take(SHOWN).map(ToString::to_string).take_while(|command| is_readable(command)).collect()
}

/// Whether a command is short enough to read.
fn is_readable(command: &str) -> bool {
    command.len() <= LONGEST
}

/// What stands before a remedy: the others are alternatives to the first one, but all that comes first is done as well.
pub(in crate::render) fn joint(remedies: &[Remedy], index: usize) -> &'static str {
    match index.checked_sub(1).map(|before| &remedies[before]) {
        None => "",
        Some(before) if before.comes_first() => "then ",
        Some(_) => "or ",
    }
}

/// Up to this many objects are all named. If there are more, the first ones are named as examples.
pub(super) const NAMED: usize = 3;
/// Up to this many kinds are counted separately.
const KINDS: usize = 6;

impl DoctorView<'_> {
    /// The affected objects in a few words: `Secret/key and Secret/lock -n shop`, or `37 Buckets (s3.example.org) in 2
    /// namespaces`.
    pub(super) fn subject(&self, objects: &[ObjectId]) -> String {
        if objects.len() <= NAMED {
            return self.named(objects, "");
        }
        format!("{}{}", self.kinds(objects), self.place(objects))
    }

    /// The first few names, if there are too many to name all.
    pub(super) fn examples(&self, objects: &[ObjectId]) -> Option<String> {
        let more = objects.len().checked_sub(NAMED).filter(|more| *more > 0)?;
        Some(self.named(&objects[..NAMED], &format!("{} more", thousands(more))))
    }

    /// The names, comma-separated. A common namespace is printed once, and not at all if it is the one in view.
    fn named(&self, objects: &[ObjectId], more: &str) -> String {
        let together = self.namespaces(objects).len() == 1;
        let name = |id: &ObjectId| {
            let name = self.snapshot.short_name(*id);
            if together { name } else { format!("{name}{}", self.place(&[*id])) }
        };
        let mut names: Vec<String> = objects.iter().map(name).collect();
        if let Some(last) = names.last_mut().filter(|_| together) {
            last.push_str(&self.place(objects));
        }
        names.extend((!more.is_empty()).then(|| more.to_owned()));
        all_of(&names, "and")
    }

    /// How many objects of which kinds these are.
    pub(super) fn kinds(&self, objects: &[ObjectId]) -> String {
        let mut kinds: Vec<_> = count_kinds(self.snapshot, objects.iter().copied()).into_iter().collect();
        kinds.sort_by_key(|(resource, number)| (Reverse(*number), *resource));
        let describe = if kinds.len() > KINDS { KINDS - 1 } else { kinds.len() };
        let kind = |(resource, number): &(_, usize)| {
            let resource = self.snapshot.resources.get(*resource);
            format!("{} {}{}", thousands(*number), plural(resource, *number), group(resource))
        };
        let mut words: Vec<String> = kinds[..describe].iter().map(kind).collect();
        let others: usize = kinds[describe..].iter().map(|(_, number)| number).sum();
        words.extend((others > 0).then(|| format!("{} of {} other kinds", thousands(others), kinds.len() - describe)));
        all_of(&words, "and")
    }

    /// ` -n shop`, or ` in 3 namespaces`; empty for cluster-scoped objects and for the namespace in view.
    pub(super) fn place(&self, objects: &[ObjectId]) -> String {
        let namespaces = self.namespaces(objects);
        match (namespaces.len(), namespaces.first().map(|namespace| self.snapshot.text(*namespace))) {
            (1, Some(namespace)) if namespace.is_empty() || self.namespace == Some(namespace) => String::new(),
            (1, Some(namespace)) => format!(" -n {namespace}"),
            _ => {
                let real = namespaces.iter().filter(|namespace| !namespace.is_empty()).count();
                format!(" in {}", count(real, "namespace", "namespaces"))
            }
        }
    }

    /// The affected objects by kind and namespace, one per line, then the related ones, and the references.
    pub(super) fn details(&self, finding: &Finding) -> Vec<Said> {
        let text = |symbol| self.snapshot.text(symbol);
        let flag = |name: &str, value: Option<bool>| value.map(|value| format!("{name}: {value}"));
        let references = finding.references.iter().map(|reference| {
            let (version, kind, name) = (text(reference.api_version), text(reference.kind), text(reference.name));
            let flags =
                [flag("controller", reference.controller), flag("blockOwnerDeletion", reference.block_owner_deletion)];
            let line = Line::new(&format!("{version} {kind}/{name}")).remarked(Tone::Plain, [text(reference.uid)]);
            line.remarked(Tone::Plain, flags.into_iter().flatten())
        });
        let title = if finding.references.len() == 1 { "reference:" } else { "references:" };
        let references = Said::Lines(title.to_owned(), references.collect());
        let mut said = self.by_kind("", &finding.objects);
        said.extend(self.by_kind("related: ", &finding.related));
        said.extend((!finding.references.is_empty()).then_some(references));
        said
    }

    fn by_kind(&self, label: &str, objects: &[ObjectId]) -> Vec<Said> {
        let mut groups: BTreeMap<(ResourceId, Symbol), Vec<ObjectId>> = BTreeMap::new();
        for id in objects {
            let object = self.snapshot.object(*id);
            groups.entry((object.resource, object.namespace)).or_default().push(*id);
        }
        let said = |((resource, _), ids): ((ResourceId, Symbol), Vec<ObjectId>)| {
            let resource = self.snapshot.resources.get(resource);
            let kind = plural(resource, ids.len());
            let (version, place) = (resource.api_version(), self.place(&ids));
            let line = |id: &ObjectId| {
                let object = self.snapshot.object(*id);
                Line::new(self.snapshot.text(object.name)).remarked(Tone::Plain, [self.snapshot.text(object.uid)])
            };
            let title = format!("{label}{} {kind} ({version}){place}:", thousands(ids.len()));
            Said::Lines(title, ids.iter().map(line).collect())
        };
        groups.into_iter().map(said).collect()
    }

    fn namespaces(&self, objects: &[ObjectId]) -> BTreeSet<Symbol> {
        objects.iter().map(|id| self.snapshot.object(*id).namespace).collect()
    }
}

/// The API group in parentheses, if it is not one of Kubernetes' own, and the kind doesn't say it.
fn group(resource: &Resource) -> String {
    let said = resource.is_kubernetes() || resource.shares_kind;
    if said { String::new() } else { format!(" ({})", resource.group) }
}

/// `kind: Codes`, described in `docs/schema/codes.json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CodesDocument {
    api_version: &'static str,
    kind: &'static str,
    codes: Vec<CodeJson>,
}

#[derive(Debug, Serialize)]
struct CodeJson {
    code: Code,
    severity: Severity,
    title: &'static str,
}

/// The list of all codes.
#[derive(Clone, Copy, Debug)]
pub struct CodesView;

impl Output for CodesView {
    fn document(&self) -> impl Serialize {
        let row = |code: Code| CodeJson { code, severity: code.severity(), title: code.title() };
        CodesDocument { api_version: API_VERSION, kind: "Codes", codes: Code::ALL.map(row).into() }
    }

    /// A table. A title that is too long for the width wraps; wide output doesn't wrap.
    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        let table = Table::default()
            .with(Column::name("CODE"), |code: &Code| code.name().to_owned())
            .with(Column::text("SEVERITY"), |code| code.severity().name().to_owned())
            .with(Column::prose("MEANING"), |code| code.title().to_owned());
        for (index, line) in table.lines(&Code::ALL, options.width.filter(|_| !options.wide)).iter().enumerate() {
            let tone = if index == 0 { Tone::Strong } else { Tone::Plain };
            writeln!(out, "{}", options.style.paint(tone, line))?;
        }
        Ok(())
    }

    fn names(&self) -> Option<Vec<String>> {
        Some(Code::ALL.map(|code| code.name().to_owned()).into())
    }
}

/// The width of comments in columns, including [`SIGN`].
const WIDTH: usize = 80;
/// The start of a comment.
const SIGN: &str = "# ";

/// The introduction of every script that has a command to run.
const ABOUT: &str = "The first remedy of each finding does the least harm. It is active, with what must come before \
    it, unless it decides between keeping and losing something: that, and all other remedies, are commented out. \
    Comment out what you do not want, or activate another remedy.";
/// How the script treats failures.
const FAILURES: &str = "The script continues when a command fails. A patch is rejected if the object has \
    changed since; a delete deletes whatever object has the name then. The script counts failures, and exits \
    with code 1 if there are any.";

impl DoctorView<'_> {
    /// A POSIX shell script: the least harmful remedy of each finding is active, the others are commented out. Text
    /// from the cluster is quoted, so it can't end a comment or a word.
    pub fn remedies(&self) -> String {
        let mut body = Script::default();
        for finding in &self.diagnosis.findings {
            self.add(finding, &mut body);
        }
        let mut script = Script::default();
        script.line("#!/bin/sh");
        script.comment(&format!("Remedies for the findings of kubectl gc doctor. {}", self.header));
        match self.counts() {
            none if none.is_empty() => script.comment("There are no findings, so there is nothing to do."),
            counts => script.comment(&format!("{counts}. Read this before you run it: it changes the cluster.")),
        }
        if body.commands > 0 {
            script.line("#");
            script.comment(ABOUT);
            script.comment(FAILURES);
            script.line("set -eu");
            script.reach(self.kubectl);
            script.line("failures=0");
            script.line("failed() { failures=$((failures + 1)); }");
        }
        script.text.push_str(&body.text);
        if body.commands > 0 {
            script.end(body.commands, self.again);
        }
        script.text
    }

    fn add(&self, finding: &Finding, script: &mut Script) {
        script.text.push('\n');
        script.comment(&self.words(finding));
        script.said("", &finding.message);
        script.said("Then: ", &finding.follows());
        if finding.code == Code::DeletionInProgress {
            script.comment("Nothing to do but wait.");
        } else if finding.remedies.is_empty() {
            script.comment("No remedy is known.");
        }
        // What keeps data comes beside what decides.
        let first = finding.remedies.iter().position(|remedy| remedy.step != Step::Keep);
        let decided =
            finding.code != Code::ArmedDeletion && !first.is_some_and(|first| finding.remedies[first].decides);
        let keeps = |remedy: &Remedy| remedy.step == Step::Keep && finding.code != Code::ArmedDeletion;
        if !decided {
            script.comment(match finding.remedies.iter().any(keeps) {
                true => "This needs a decision first: only what keeps data is not commented out.",
                false => "This needs a decision first: all of its remedies are commented out.",
            });
        }
        let remedies = &finding.remedies;
        for (index, remedy) in remedies.iter().enumerate() {
            // What comes first mends nothing alone.
            let is_mending = || !remedy.comes_first() && remedies[..index].iter().all(|before| before.comes_first());
            let is_chosen = decided && !remedy.decides && (Some(index) == first || is_mending());
            let is_active = keeps(remedy) || is_chosen;
            let label = match joint(remedies, index) {
                "" => "Do:",
                "then " => "And:",
                _ => "Or:",
            };
            script.remedy(remedy, label, is_active);
        }
    }
}

#[derive(Default)]
struct Script {
    text: String,
    /// The number of active commands.
    commands: usize,
    /// These commands.
    active: BTreeSet<String>,
}

impl Script {
    /// Adds a comment, wrapped.
    fn comment(&mut self, text: &str) {
        self.said("", text);
    }

    /// Adds a labelled comment; its lines are aligned after the label.
    fn said(&mut self, label: &str, text: &str) {
        for (index, line) in set(text, WIDTH - SIGN.len() - label.len(), 0).iter().enumerate() {
            let label = if index == 0 { label.to_owned() } else { " ".repeat(label.len()) };
            self.line(&format!("{SIGN}{label}{line}"));
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Pins kubectl to the examined cluster: its current context may change before the script runs.
    fn reach(&mut self, kubectl: &Kubectl) {
        let function = kubectl.shell_function();
        if kubectl.is_plain() || !function.is_runnable() {
            self.comment(
                "This script changes the cluster of kubectl's current context: check that it is the right one.",
            );
        } else {
            self.line(&function.to_string());
        }
    }

    fn remedy(&mut self, remedy: &Remedy, label: &str, to_be_run: bool) {
        self.said(&format!("{label:<6}"), &remedy.what);
        for command in &remedy.commands {
            match (command.is_runnable(), to_be_run) {
                // Several findings may have the same cause.
                (true, true) if !self.active.insert(command.to_string()) => {
                    self.line(&format!("{SIGN}as above: {command}"));
                }
                (true, true) => {
                    self.line(&format!("{command} || failed"));
                    self.commands += 1;
                }
                (true, false) => self.line(&format!("{SIGN}{command} || failed")),
                // As a comment.
                (false, _) => self.line(&command.to_string()),
            }
        }
    }

    /// Adds the final command, which checks the result.
    fn end(&mut self, commands: usize, again: &ShellCommand) {
        let commands = count(commands, "command", "commands");
        self.line("");
        self.line(&format!("[ \"$failures\" -eq 0 ] || {{ echo \"$failures of {commands} failed\" >&2; exit 1; }}"));
        self.comment("To check whether problems are left, run");
        self.line(&format!("{SIGN}{again}"));
    }
}
