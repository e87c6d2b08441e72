//! `kind: ApplyPlan` (see `docs/schema`).

use serde::Serialize;

use crate::render::plan::{PlanView, kept_outside, lost, perhaps_lost};
use gc_core::{
    apply::{ApplyCounts, ApplyResult, Fate, FileReference, Mend, Place},
    document::Head,
    model::{ObjectId, Reference, Rule},
    plan::{Because, Outcome, OutcomeKind, because},
    server::Propagation,
    simulate::Uncertainty,
};

use super::{
    ApplyView,
    words::{Why, describe, why},
};

/// A prediction as JSON or YAML, once its ids are [`Named`](gc_core::document::Named) by the scene's snapshot.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApplyDocument<'a> {
    #[serde(flatten)]
    head: Head,
    verdict: VerdictJson,
    objects: Vec<FileObjectJson<'a>>,
    others: Vec<OtherJson>,
    outside: Vec<String>,
    summary: ApplyCounts,
    assumes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct VerdictJson {
    result: ApplyResult,
    sentence: String,
    certain: bool,
}

/// An object of the file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileObjectJson<'a> {
    place: &'a Place,
    object: NamedJson<'a>,
    arrival: &'static str,
    fate: Fate,
    certain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertain_because: Option<Uncertainty>,
    because: Why,
    references: Vec<FileReferenceJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<AfterJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    held_by: Vec<&'a str>,
}

/// An object of the file; only one that exists has a uid.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NamedJson<'a> {
    api_version: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    generate_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
}

/// An object that stays.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AfterJson<'a> {
    owner_references: &'a [Reference],
}

/// A reference of the file, where it leads, and what mends it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileReferenceJson<'a> {
    #[serde(flatten)]
    written: &'a FileReference,
    standing: &'static str,
    message: String,
    rule: Rule,
    #[serde(flatten)]
    mend: &'a Mend,
}

/// An object of the cluster that the file doesn't have.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OtherJson {
    object: ObjectId,
    outcome: OutcomeKind,
    certain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertain_because: Option<Uncertainty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<Because>,
}

impl<'a> ApplyDocument<'a> {
    pub(super) fn of(view: &ApplyView<'a>) -> Self {
        let apply = view.apply;
        let snapshot = &apply.scene.snapshot;
        let plan = PlanView::new(snapshot, view.graph, &apply.plan, &[], Some(view.namespace));
        ApplyDocument {
            head: Head::of("ApplyPlan", &snapshot.gaps, snapshot),
            verdict: VerdictJson { result: apply.result(), sentence: view.verdict(), certain: apply.certain() },
            objects: (0..view.objects.len()).map(|index| FileObjectJson::of(view, index)).collect(),
            others: apply.others().map(|outcome| OtherJson::of(view, outcome)).collect(),
            outside: [lost(&plan, false), perhaps_lost(&plan, false), kept_outside(&plan, false)].concat(),
            summary: apply.counts(),
            assumes: apply.plan.assumptions.iter().map(ToString::to_string).collect(),
        }
    }
}

impl<'a> FileObjectJson<'a> {
    fn of(view: &ApplyView<'a>, index: usize) -> Self {
        let found = view.objects[index];
        let object = &view.apply.objects[index];
        let snapshot = &view.apply.scene.snapshot;
        let existing = object.placed.object.filter(|object| !view.apply.scene.is_new(*object));
        let outcome = object.placed.object.and_then(|object| view.apply.outcome(object));
        let references = found.written().iter().enumerate();
        FileObjectJson {
            place: &found.place,
            object: NamedJson {
                api_version: &found.api_version,
                kind: &found.kind,
                namespace: &object.placed.namespace,
                name: &found.name,
                generate_name: if found.name.is_empty() { &found.generate_name } else { "" },
                uid: existing.map(|existing| snapshot.text(snapshot.object(existing).uid)),
            },
            arrival: object.placed.arrival.name(),
            fate: object.fate,
            certain: object.uncertain.is_none(),
            uncertain_because: object.uncertain,
            because: why(view, index),
            references: references.map(|(place, written)| FileReferenceJson::of(view, index, place, written)).collect(),
            after: after(view, index, outcome),
            held_by: outcome
                .map_or_else(Vec::new, |outcome| outcome.held_by.iter().map(|holder| holder.name(snapshot)).collect()),
        }
    }
}

/// The references of an object that stays, once the collector has removed some.
fn after<'a>(view: &ApplyView<'a>, index: usize, outcome: Option<&'a Outcome>) -> Option<AfterJson<'a>> {
    let object = &view.apply.objects[index];
    let snapshot = &view.apply.scene.snapshot;
    let stays = matches!(object.fate, Fate::Kept | Fate::Stripped | Fate::GoesLater);
    let stored = object.placed.object.filter(|_| stays).map(|object| snapshot.object(object))?;
    let owners = outcome.and_then(|outcome| outcome.after.as_ref()).map_or(&*stored.owners, |after| &after.owners);
    Some(AfterJson { owner_references: owners })
}

impl<'a> FileReferenceJson<'a> {
    fn of(view: &ApplyView<'a>, index: usize, place: usize, written: &'a FileReference) -> Self {
        let standing = &view.apply.objects[index].standings[place];
        FileReferenceJson {
            written,
            standing: standing.name(),
            message: describe(written, standing),
            rule: standing.rule(),
            mend: &view.mendings[index].references[place],
        }
    }
}

impl OtherJson {
    fn of(view: &ApplyView<'_>, outcome: &Outcome) -> Self {
        let because = |cause| because(&view.apply.scene.snapshot, outcome.object, cause, Propagation::Background);
        OtherJson {
            object: outcome.object,
            outcome: outcome.kind,
            certain: outcome.uncertain.is_none(),
            uncertain_because: outcome.uncertain,
            because: outcome.because.as_ref().map(because),
        }
    }
}
