//! Findings as text, as a document and as a script of remedies; and the list of codes.

mod codes;
mod picture;
mod remedies;
mod subjects;
mod text;

use std::collections::BTreeSet;

use crate::render::{escape::visible, plan::VerdictJson, states::Fate, words::full_name};
use gc_core::{
    command_line::{Kubectl, ShellCommand},
    doctor::{Code, Diagnosis, Finding, Limit, Probed},
    model::{ObjectId, ResourceId, Snapshot, effects::Severity},
    wording::count,
};

pub use codes::CodesView;

pub(super) use picture::commands;
pub(super) use text::{Told, cures};

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
    /// Every affected object, as `kind.group/name`, one per line.
    fn names(&self) -> String {
        let objects: BTreeSet<ObjectId> =
            self.diagnosis.findings.iter().flat_map(|finding| finding.objects.iter().copied()).collect();
        objects.into_iter().map(|id| format!("{}\n", full_name(self.snapshot, id))).collect()
    }

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
