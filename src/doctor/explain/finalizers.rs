//! Who removes a finalizer, and when.

use crate::{
    model::{
        ObjectId, Symbol,
        effects::{When, known_finalizer},
    },
    simulate::actors::has_living_controller,
};

use super::{Case, Explainer, ReadsNeeded};
use crate::doctor::liveness;

/// A finalizer of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalizerStory {
    pub finalizer: Symbol,
    pub by: Remover,
    /// Who removes it, and when, in a few words.
    pub message: String,
}

/// Who removes a finalizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remover {
    /// The collector: one of its own two.
    Collector,
    /// The API server's clean-up of definitions (R1.26).
    CleanUp,
    /// A controller that is known, and taken to run (§9.5).
    Known(&'static str),
    /// An add-on's controller, which runs where the add-on does.
    AddOn(Option<&'static str>),
    /// Nobody is known to.
    Unknown,
}

impl Remover {
    /// As JSON says it.
    pub fn name(self) -> &'static str {
        match self {
            Remover::Collector => "collector",
            Remover::CleanUp => "clean-up",
            Remover::Known(_) => "known",
            Remover::AddOn(_) => "add-on",
            Remover::Unknown => "unknown",
        }
    }
}

impl Explainer<'_, '_> {
    /// The finalizers of an object, in their order.
    pub(super) fn finalizers(&mut self, object: ObjectId) -> Vec<FinalizerStory> {
        let finalizers = &self.case.snapshot().object(object).finalizers;
        finalizers.iter().map(|finalizer| story(self.case, &mut self.wanted, object, *finalizer)).collect()
    }
}

/// Who removes this finalizer of an object.
pub(super) fn remover(case: &Case<'_>, object: ObjectId, finalizer: Symbol) -> Remover {
    let snapshot = case.snapshot();
    let text = snapshot.text(finalizer);
    let resource = snapshot.resources.get(snapshot.object(object).resource);
    match known_finalizer(text, &resource.group, &resource.kind) {
        _ if matches!(finalizer, Symbol::FOREGROUND | Symbol::ORPHAN) => Remover::Collector,
        _ if finalizer == Symbol::DEFINITION => Remover::CleanUp,
        Some(known) if known.when != When::Elsewhere => Remover::Known(known.by),
        Some(known) => Remover::AddOn(Some(known.by)),
        None if has_living_controller(text, &resource.group, &resource.kind) => Remover::AddOn(None),
        None => Remover::Unknown,
    }
}

/// The same in words, with who set it where nothing better is known. What would have to be read for that is noted as
/// wanted.
pub(super) fn story(case: &Case<'_>, wanted: &mut ReadsNeeded, object: ObjectId, finalizer: Symbol) -> FinalizerStory {
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
        Remover::Known(by) | Remover::AddOn(Some(by)) => format!("{by} removes it"),
        Remover::AddOn(None) => "its add-on removes it if that is running".to_owned(),
        Remover::Unknown => {
            let keeper = liveness::keeper(case, wanted, object, finalizer);
            format!("no controller is known to remove it; {}", keeper.liveness.evidence())
        }
    };
    FinalizerStory { finalizer, by, message }
}
