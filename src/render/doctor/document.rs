//! A diagnosis as JSON and YAML.

use serde::Serialize;

use crate::{
    doctor::{Finding, Probed, Remedy},
    document::{Head, ObjectJson, ReferenceJson},
    model::{ObjectId, Snapshot, effects::Severity},
    render::plan::VerdictJson,
};

use super::DoctorView;

/// `kind: Diagnosis`
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisDocument<'a> {
    #[serde(flatten)]
    head: Head,
    /// Absent without `--probe`: only a probe object shows whether the collector runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    collector_runs: Option<bool>,
    findings: Vec<FindingJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    if_deleted: Option<&'a VerdictJson>,
    summary: SummaryJson,
}

/// One finding.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FindingJson<'a> {
    code: &'static str,
    severity: &'static str,
    /// The first of `objects`; absent if the finding is about the cluster as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<ObjectJson<'a>>,
    objects: Vec<ObjectJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<ReferenceJson<'a>>,
    /// All owner references at fault, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    references: Vec<ReferenceJson<'a>>,
    related: Vec<ObjectJson<'a>>,
    message: &'a str,
    consequence: &'a str,
    /// The commands of the remedy that does the least harm, one per line. Empty if there is no remedy.
    remedy: String,
    remedies: Vec<RemedyJson<'a>>,
}

#[derive(Clone, Debug, Serialize)]
struct RemedyJson<'a> {
    what: &'a str,
    commands: Vec<String>,
    /// It decides between keeping and losing something.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    decides: bool,
    /// It mends nothing by itself: without it, those that follow are refused, or in vain.
    #[serde(rename = "comesFirst", skip_serializing_if = "std::ops::Not::not")]
    comes_first: bool,
}

/// The number of findings of each severity.
#[derive(Clone, Copy, Debug, Serialize)]
struct SummaryJson {
    error: usize,
    warning: usize,
    note: usize,
}

impl<'a> DiagnosisDocument<'a> {
    /// The document of a diagnosis.
    pub fn of(view: &DoctorView<'a>) -> Self {
        let findings = view.diagnosis.findings.iter().map(|finding| FindingJson::of(view.snapshot, finding)).collect();
        let count = |severity| view.diagnosis.count(severity);
        DiagnosisDocument {
            head: Head::of("Diagnosis", &view.snapshot.gaps, view.snapshot),
            collector_runs: view.probed.map(|probed| probed == Probed::Works),
            findings,
            if_deleted: view.if_deleted.map(|if_deleted| &if_deleted.verdict),
            summary: SummaryJson {
                error: count(Severity::Error),
                warning: count(Severity::Warning),
                note: count(Severity::Note),
            },
        }
    }
}

impl<'a> FindingJson<'a> {
    /// A finding about objects of a snapshot.
    pub fn of(snapshot: &'a Snapshot, finding: &'a Finding) -> Self {
        let named =
            |ids: &[ObjectId]| -> Vec<ObjectJson<'a>> { ids.iter().map(|id| ObjectJson::of(snapshot, *id)).collect() };
        let remedies: Vec<RemedyJson<'a>> = finding.remedies.iter().map(RemedyJson::of).collect();
        FindingJson {
            code: finding.code.name(),
            severity: finding.severity.name(),
            object: finding.objects.first().map(|id| ObjectJson::of(snapshot, *id)),
            objects: named(&finding.objects),
            reference: finding.references.first().map(|reference| ReferenceJson::of(snapshot, reference)),
            references: finding.references.iter().map(|reference| ReferenceJson::of(snapshot, reference)).collect(),
            related: named(&finding.related),
            message: &finding.message,
            consequence: &finding.consequence,
            remedy: remedies.first().map(|remedy| remedy.commands.join("\n")).unwrap_or_default(),
            remedies,
        }
    }
}

impl<'a> RemedyJson<'a> {
    fn of(remedy: &'a Remedy) -> Self {
        RemedyJson {
            what: &remedy.what,
            commands: remedy.commands.iter().map(ToString::to_string).collect(),
            decides: remedy.decides,
            comes_first: remedy.comes_first,
        }
    }
}
