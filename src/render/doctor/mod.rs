//! Findings: as text, as a document, as a script of remedies; and the list of what there is to find.

mod codes;
mod document;
mod remedies;
mod subjects;
mod text;
mod wide;

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use serde::Serialize;

use crate::{
    command_line::{Kubectl, ShellCommand},
    doctor::{Code, Diagnosis, Probed},
    model::{ObjectId, Snapshot, effects::Severity},
    render::{
        output::{Format, Output, TextOptions},
        words::full_name,
    },
    wording::count,
};

pub use codes::CodesView;
pub use document::{DiagnosisDocument, FindingJson};

pub(super) use text::{WIDTH, is_readable, set};

/// A diagnosis with what is needed to tell it.
#[derive(Clone, Copy, Debug)]
pub struct DoctorView<'a> {
    pub snapshot: &'a Snapshot,
    pub diagnosis: &'a Diagnosis,
    /// The namespace that is looked at; objects elsewhere are named with theirs.
    pub namespace: Option<&'a str>,
    /// How many objects were asked about; all if that is not said.
    pub targets: Option<usize>,
    /// What a throw-away object told of the collector, where that was asked for.
    pub probed: Option<Probed>,
    /// Where everything comes from, as the first line of a text has it.
    pub header: &'a str,
    /// The codes that were asked for; all if there is none.
    pub only: &'a [Code],
    /// The command that looks at the same again: `kubectl gc doctor -n shop`.
    pub again: &'a ShellCommand,
    /// kubectl held to the same cluster, whatever its current context is by then.
    pub kubectl: &'a Kubectl,
}

impl Output for DoctorView<'_> {
    fn document(&self) -> impl Serialize {
        DiagnosisDocument::of(self)
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        text::write(self, options, out)
    }

    fn other(&self, format: Format) -> Option<String> {
        match format {
            Format::Name => Some(self.names()),
            Format::Remedies => Some(self.remedies()),
            _ => None,
        }
    }
}

impl DoctorView<'_> {
    /// Every affected object, as `kind.group/name`, one per line.
    fn names(&self) -> String {
        let objects: BTreeSet<ObjectId> =
            self.diagnosis.findings.iter().flat_map(|finding| finding.objects.iter().copied()).collect();
        objects.into_iter().map(|id| format!("{}\n", full_name(self.snapshot, id))).collect()
    }

    /// How many findings there are: `2 errors, 3 warnings, 1 note`. Nothing where there is none.
    fn counts(&self) -> String {
        let of =
            |severity, one, many| Some(self.diagnosis.count(severity)).filter(|n| *n > 0).map(|n| count(n, one, many));
        let counts = [
            of(Severity::Error, "error", "errors"),
            of(Severity::Warning, "warning", "warnings"),
            of(Severity::Info, "note", "notes"),
        ];
        counts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// The command that makes a script of all the remedies for a code.
pub(super) fn all_remedies(doctor: &ShellCommand, code: Code) -> ShellCommand {
    doctor.clone().flags(&[&format!("--only={}", code.name()), "-o", "remedies"])
}

/// How much was looked at: `101,204 objects of 143 kinds`.
pub fn looked_at(snapshot: &Snapshot) -> String {
    let kinds: BTreeSet<_> = snapshot.objects().map(|(_, object)| object.resource).collect();
    format!("{} of {}", count(snapshot.len(), "object", "objects"), count(kinds.len(), "kind", "kinds"))
}

/// How a finding begins.
pub(super) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "ERROR",
        Severity::Warning => "WARNING",
        Severity::Info => "NOTE",
    }
}
