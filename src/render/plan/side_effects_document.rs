//! Effects beyond the graph, as JSON shows them (see `docs/schema/plan.json`).

use serde::Serialize;

use crate::{
    document::ObjectJson,
    model::Snapshot,
    plan::{Afterwards, Note, OutsideEffect},
    server::Propagation,
};

use super::side_effects::describe;

/// An effect outside the graph.
#[derive(Debug, Serialize)]
pub(super) struct EffectJson<'a> {
    object: ObjectJson<'a>,
    kind: &'static str,
    severity: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<ObjectJson<'a>>,
}

/// A part of the request that has no effect.
#[derive(Debug, Serialize)]
pub(super) struct NoteJson<'a> {
    object: ObjectJson<'a>,
    kind: &'static str,
    message: String,
}

/// What a controller does after the delete.
#[derive(Debug, Serialize)]
pub(super) struct AfterwardsJson<'a> {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<ObjectJson<'a>>,
    message: String,
}

impl<'a> EffectJson<'a> {
    /// An effect as JSON shows it.
    pub(super) fn of(snapshot: &'a Snapshot, effect: &'a OutsideEffect) -> Self {
        EffectJson {
            object: ObjectJson::of(snapshot, effect.object),
            kind: effect.kind.name(),
            severity: effect.severity().name(),
            message: &effect.message,
            related: effect.related.iter().map(|object| ObjectJson::of(snapshot, *object)).collect(),
        }
    }
}

impl<'a> NoteJson<'a> {
    /// A note as JSON shows it.
    pub(super) fn of(snapshot: &'a Snapshot, note: &Note, propagation: Propagation) -> Self {
        NoteJson {
            object: ObjectJson::of(snapshot, note.object),
            kind: note.kind.name(),
            message: note.kind.message(propagation),
        }
    }
}

impl<'a> AfterwardsJson<'a> {
    /// A controller's reaction as JSON shows it.
    pub(super) fn of(snapshot: &'a Snapshot, after: Afterwards) -> Self {
        let (what, message) = describe(snapshot, after);
        let by = match after {
            Afterwards::Recreated { by }
            | Afterwards::RecreatedEmpty { by }
            | Afterwards::MayBeRecreated { by }
            | Afterwards::Adopted { by }
            | Afterwards::AdoptedBy { by } => Some(by),
            Afterwards::MirroredAgain { node } => Some(node),
            Afterwards::KeptUp { .. } | Afterwards::MayBeAdopted => None,
        };
        AfterwardsJson { what, by: by.map(|by| ObjectJson::of(snapshot, by)), message }
    }
}
