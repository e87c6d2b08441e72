//! Findings: as text, as a document, as a script of remedies.

mod document;
mod remedies;
mod text;

use std::collections::BTreeSet;

use crate::{
    doctor::Diagnosis,
    model::{ObjectId, Snapshot},
    render::words::full_name,
};

pub use document::{DiagnosisDocument, FindingJson};

/// A diagnosis with what is needed to tell it.
#[derive(Clone, Copy, Debug)]
pub struct DoctorView<'a> {
    pub snapshot: &'a Snapshot,
    pub diagnosis: &'a Diagnosis,
    /// The namespace that is looked at; objects elsewhere are named with theirs.
    pub namespace: Option<&'a str>,
}

impl<'a> DoctorView<'a> {
    /// For JSON and YAML.
    pub fn document(&self) -> DiagnosisDocument<'a> {
        DiagnosisDocument::of(self)
    }

    /// Every object that suffers, as `kind.group/name`, one a line.
    pub fn names(&self) -> String {
        let objects: BTreeSet<ObjectId> =
            self.diagnosis.findings.iter().flat_map(|finding| finding.objects.iter().copied()).collect();
        objects.into_iter().map(|id| format!("{}\n", full_name(self.snapshot, id))).collect()
    }
}
