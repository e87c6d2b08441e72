//! Who removes a finalizer, and when.

use serde::Serialize;

use crate::{
    model::{
        ObjectId, Symbol,
        effects::{When, add_on, known_finalizer},
    },
    server::OwnDelete,
    simulate::{
        Liveness,
        controllers::{Lack, Question, finalizer_controller},
        has_spoken, left_by_job_controller, managed_by_another, says_why,
    },
};

use super::{Case, Explainer};

/// A finalizer of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FinalizerStory {
    pub finalizer: Symbol,
    #[serde(rename = "removedBy")]
    pub by: Remover,
    /// Who removes it and when, in a few words.
    pub message: String,
}

/// Who removes a finalizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remover {
    /// The collector, which has two finalizers.
    Collector,
    /// The API server's clean-up of CRDs (R1.26).
    CleanUp,
    /// A known controller that is assumed to run (§9.5).
    Known(#[serde(skip)] &'static str),
    /// The controller of an add-on, which runs if the add-on is installed.
    AddOn(#[serde(skip)] &'static str),
    /// Unknown.
    Unknown,
}

impl Explainer<'_, '_> {
    /// The finalizers of an object, in order.
    pub(super) fn finalizers(&mut self, object: ObjectId) -> Vec<FinalizerStory> {
        let finalizers = &self.case.snapshot().object(object).finalizers;
        finalizers.iter().map(|finalizer| story(self.case, object, *finalizer)).collect()
    }
}

/// Who removes this finalizer of an object.
pub(super) fn remover(case: &Case<'_>, object: ObjectId, finalizer: Symbol) -> Remover {
    let snapshot = case.snapshot();
    let text = snapshot.text(finalizer);
    let resource = snapshot.resource(object);
    match known_finalizer(text, &resource.group, &resource.kind) {
        _ if matches!(finalizer, Symbol::FOREGROUND | Symbol::ORPHAN) => Remover::Collector,
        _ if finalizer == Symbol::DEFINITION && case.stage.rules(object).own_delete == OwnDelete::Definition => {
            Remover::CleanUp
        }
        Some(_)
            if left_by_job_controller(snapshot, object, finalizer).is_some()
                || managed_by_another(snapshot, object, finalizer).is_some() =>
        {
            Remover::Unknown
        }
        Some(known) if known.when == When::Asked || case.stage.removed_by_itself(object, finalizer).is_some() => {
            Remover::Known(known.by)
        }
        Some(known) => Remover::AddOn(known.by),
        None => match add_on(text, &resource.group, &resource.kind) {
            Some(add_on) => Remover::AddOn(add_on.name),
            None => Remover::Unknown,
        },
    }
}

/// Who removes a finalizer, in words; if that is unknown, who set it. Facts that are still to be read are added to
/// `wanted`.
pub(super) fn story(case: &Case<'_>, object: ObjectId, finalizer: Symbol) -> FinalizerStory {
    let by = remover(case, object, finalizer);
    let message = match by {
        Remover::Collector if !case.snapshot().object(object).terminating() => {
            "has no effect until the object is deleted".to_owned()
        }
        Remover::Collector if finalizer == Symbol::ORPHAN => {
            "the collector removes it once it has orphaned the dependents".to_owned()
        }
        Remover::Collector => "the collector removes it once no dependent blocks the object any more".to_owned(),
        Remover::CleanUp => "the API server removes it once the CRD has no instance left".to_owned(),
        Remover::Known(by) => format!("{by} removes it"),
        Remover::AddOn(_) | Remover::Unknown => {
            let question = Question { object, finalizer, exact: true };
            let controller = finalizer_controller(case.stage, &question);
            let removes = match by {
                Remover::AddOn(by) if !case.snapshot().object(object).terminating() => {
                    format!("{by} would have to remove it; {}", controller.story())
                }
                Remover::AddOn(by) => format!("{by} must remove it; {}", controller.story()),
                _ if matches!(controller.liveness, Liveness::Alive(_)) => controller.story(),
                _ if has_spoken(case.snapshot(), object, finalizer) => controller.story(),
                _ => format!("no controller is known to remove it; {}", controller.story()),
            };
            let lacks = Lack::in_words(&controller.lacks, case.snapshot()).map(|lacks| format!("; it {lacks}"));
            let awaited = if controller.is_away() { Vec::new() } else { case.awaited(object, finalizer) };
            let awaits = format!("; it waits for {}", case.names(&awaited, Some(object)));
            let awaits = if awaited.is_empty() { "" } else { &awaits };
            removes
                + &lacks.unwrap_or_default()
                + awaits
                + &says_why(case.snapshot(), object, finalizer).unwrap_or_default()
        }
    };
    FinalizerStory { finalizer, by, message }
}
