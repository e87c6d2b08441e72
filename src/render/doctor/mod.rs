//! Findings as text, as a document and as a script of remedies; and the list of codes.

mod text;

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr as _;

use gc_core::{
    command_line::{Kubectl, ShellCommand},
    doctor::{Code, Diagnosis, Finding, Limit, Probed, Remedy},
    graph::OwnerGraph,
    model::{ObjectId, ResourceId, Snapshot, effects::Severity},
    wording::{count, thousands},
};

use super::{
    doctor::text::NAMED,
    escape::visible,
    picture::{Fate, Objects, Picture, PictureOptions, Row, Section, Verdict, View, section},
    plan::VerdictJson,
    sections::Heading,
    states::Headline,
};

pub use text::CodesView;
pub(super) use text::{Told, all_of_code, cures, joint};

/// The columns of a narrow terminal: what is worst must not run on.
const NARROW: usize = 80;

/// A diagnosis with what is needed to print it.
#[derive(Clone, Copy, Debug)]
pub struct DoctorView<'a> {
    pub snapshot: &'a Snapshot,
    pub diagnosis: &'a Diagnosis,
    /// The namespace in view; objects elsewhere are printed with theirs.
    pub namespace: Option<&'a str>,
    /// The number of targets; `None` if all objects were examined.
    pub targets: Option<usize>,
    /// What the probe object showed about the collector, if a probe was requested.
    pub probed: Option<Probed>,
    /// What keeps a delete of the targets from finishing, if anything does.
    pub if_deleted: Option<&'a IfDeleted>,
    /// The first line of a text: the origin of the data.
    pub header: &'a str,
    /// The codes to report; all if empty.
    pub only: &'a [Code],
    /// The command that repeats this diagnosis: `kubectl gc doctor -n shop`.
    pub again: &'a ShellCommand,
    /// kubectl with flags that pin the cluster: its current context may change before the commands run.
    pub kubectl: &'a Kubectl,
}

/// A delete that would not finish.
#[derive(Clone, Debug)]
pub struct IfDeleted {
    pub verdict: VerdictJson,
    /// The command that shows the whole plan.
    pub plan: ShellCommand,
}

impl DoctorView<'_> {
    /// A line for each finding, for `grep`.
    fn lines(&self) -> String {
        let line = |finding: &Finding| {
            let subject = self.subject(&finding.objects);
            let examples = self.examples(&finding.objects).map(|examples| format!(" ({examples})"));
            let about =
                if subject.is_empty() { subject } else { format!(" {subject}{}", examples.unwrap_or_default()) };
            let line =
                format!("{} {}{about}: {}", fate_of(finding.severity).text(), finding.code.name(), finding.message);
            format!("{}\n", visible(&line))
        };
        self.diagnosis.findings.iter().map(line).collect()
    }

    /// `stuck-finalizer: Secret/key -n shop`
    fn code_and_subject(&self, finding: &Finding) -> String {
        match self.subject(&finding.objects) {
            nobody if nobody.is_empty() => finding.code.name().to_owned(),
            subject => format!("{}: {subject}", finding.code.name()),
        }
    }

    /// The first words of a finding, with its severity before them.
    fn words(&self, finding: &Finding) -> String {
        format!("{} {}", fate_of(finding.severity).text(), self.code_and_subject(finding))
    }

    /// The number of findings, and the worst of them, unless that makes the line too long.
    fn in_a_line(&self) -> String {
        let (counts, findings) = (self.counts(), &self.diagnosis.findings);
        let Some(worst) = findings.first() else { return counts };
        let joint = if findings.len() == 1 { ": " } else { "; the worst: " };
        let line = |about: &str| format!("{counts}{joint}{about}.");
        let of = |what: String| line(&format!("{}: {what}", worst.code.name()));
        let choices = [line(&self.code_and_subject(worst)), of(self.kinds(&worst.objects))];
        let fits = |line: &String| visible(line).width() <= NARROW;
        choices.into_iter().find(fits).unwrap_or_else(|| of(count(worst.objects.len(), "object", "objects")))
    }

    /// The number of findings: `2 errors, 3 warnings, 1 note`. Empty if there is none.
    fn counts(&self) -> String {
        let of =
            |severity, one, many| Some(self.diagnosis.count(severity)).filter(|n| *n > 0).map(|n| count(n, one, many));
        let counts = [
            of(Severity::Error, "error", "errors"),
            of(Severity::Warning, "warning", "warnings"),
            of(Severity::Note, "note", "notes"),
        ];
        counts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// The command that prints a script with all remedies for a code.
pub(super) fn all_remedies(doctor: &ShellCommand, code: Code) -> ShellCommand {
    doctor.clone().flags(&[&format!("--only={}", code.name()), "-o", "remedies"])
}

/// How much was examined, in one namespace or in all: `101,204 objects of 143 kinds`.
pub fn looked_at(snapshot: &Snapshot, namespace: Option<&str>) -> String {
    let (objects, kinds) = examined(snapshot, namespace);
    format!("{} of {}", count(objects, "object", "objects"), count(kinds.len(), "kind", "kinds"))
}

/// The number of objects in a namespace, itself included, or in all, and their kinds.
fn examined(snapshot: &Snapshot, namespace: Option<&str>) -> (usize, BTreeSet<ResourceId>) {
    let limit = match namespace.map(|name| snapshot.strings.find(name)) {
        None => Limit::Everything,
        Some(Some(name)) => Limit::namespace(name),
        Some(None) => return Default::default(),
    };
    let mut kinds = BTreeSet::new();
    let in_scope = snapshot.objects().filter(|(id, _)| limit.asks_about(snapshot, *id));
    let objects = in_scope.map(|(_, object)| kinds.insert(object.resource)).count();
    (objects, kinds)
}

/// How a severity looks; its word is the first of a finding.
pub(super) fn fate_of(severity: Severity) -> Fate {
    match severity {
        Severity::Error => Fate::Error,
        Severity::Warning => Fate::Warning,
        Severity::Note => Fate::Note,
    }
}

/// The word of an object that a finding affects.
const AFFECTED: &str = "affected";

/// Draws the findings. With `fold`, only the objects that the text names have rows.
fn picture(view: &DoctorView<'_>, options: &PictureOptions<'_>) -> Picture {
    let graph = OwnerGraph::new(view.snapshot);
    let mut objects = Objects::new(view.snapshot, &graph, options.commands);
    let mut rows = Vec::new();
    for finding in &view.diagnosis.findings {
        let at = rows.len();
        rows.push(row_of_finding(view, finding));
        let (most, related) = if options.fold { (NAMED, &[][..]) } else { (usize::MAX, finding.related.as_slice()) };
        let fate = fate_of(finding.severity);
        let mut add = |id: &ObjectId, fate: Fate, word: &str, detail: String, more: usize| {
            let title = match more {
                0 => format!("{}{}", view.snapshot.short_name(*id), view.place(&[*id])),
                more => format!("… {} more", thousands(more)),
            };
            let (object, parent) = (Some(objects.add(*id)), Some(at));
            rows.push(Row { object, parent, word: word.to_owned(), detail, more, ..Row::new(title, fate) });
        };
        let named = if finding.objects.len() > most { &finding.objects[..most] } else { &finding.objects };
        named.iter().for_each(|id| add(id, fate, AFFECTED, String::new(), 0));
        if let Some(first) = finding.objects.get(named.len()) {
            add(
                first,
                fate,
                AFFECTED,
                view.kinds(&finding.objects[named.len()..]),
                finding.objects.len() - named.len(),
            );
        }
        related.iter().for_each(|id| add(id, Fate::Untouched, "related", String::new(), 0));
    }
    let of = match (view.targets, view.namespace) {
        (Some(targets), _) => count(targets, "target", "targets"),
        (None, Some(namespace)) => format!("namespace {namespace}"),
        (None, None) => "all objects".to_owned(),
    };
    let (verdict, sections) = (Some(verdict(view)), view.if_deleted().drawn());
    let view = View { verdict, rows, sections, ..View::default() };
    Picture::of("Diagnosis", format!("Diagnosis: {of}"), objects, view)
}

/// The first line of the text: how many findings there are, or what was examined if there is none.
fn verdict(view: &DoctorView<'_>) -> Verdict {
    let worst = view.diagnosis.findings.iter().map(|finding| finding.severity).min();
    match worst {
        Some(worst) => {
            let fate = fate_of(worst);
            Verdict { fate, word: fate.text().to_owned(), sentence: format!("{}.", view.counts()) }
        }
        None => {
            let said = view.nothing_found();
            match said.strip_prefix("UNSURE: ") {
                Some(rest) => Verdict::of(Headline::Unsure, rest.to_owned()),
                None => Verdict::of(Headline::Ok, said),
            }
        }
    }
}

fn row_of_finding(view: &DoctorView<'_>, finding: &Finding) -> Row {
    let fate = fate_of(finding.severity);
    Row {
        word: fate.text().to_owned(),
        detail: finding.message.clone(),
        story: story(finding),
        ..Row::new(view.code_and_subject(finding), fate)
    }
}

/// What follows from a finding, and what mends it. The commands stand below what they do.
fn story(finding: &Finding) -> Vec<Section> {
    let then = section(Heading::Then, vec![finding.follows()]);
    let remedy = |(index, remedy): (usize, &Remedy)| {
        let what = format!("{}{}", joint(&finding.remedies, index), remedy.what);
        std::iter::once(what).chain(commands(remedy)).collect::<Vec<_>>()
    };
    let next = section(Heading::Next, finding.remedies.iter().enumerate().flat_map(remedy).collect());
    let commands = finding.remedies.iter().flat_map(commands).collect();
    then.into_iter().chain(next.map(|next| Section { commands, ..next })).collect()
}

/// The commands of a remedy, one per line.
fn commands(remedy: &Remedy) -> impl Iterator<Item = String> {
    remedy.commands.iter().map(ToString::to_string)
}
