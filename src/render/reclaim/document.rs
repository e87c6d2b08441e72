//! `kind: Reclaim`, described in `docs/schema/reclaim.json`.

use serde::Serialize;

use crate::{
    document::{Named, rfc3339},
    reclaim::{Assumption, Freed, Removal, Stays},
    render::document::Head,
};

use super::ReclaimView;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReclaimDocument<'a> {
    #[serde(flatten)]
    head: Head,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    within_seconds: Option<i64>,
    removals: Named<'a, Vec<&'a Removal>>,
    without_time: usize,
    frees: Freed,
    #[serde(skip_serializing_if = "Option::is_none")]
    stays: Option<Named<'a, Vec<&'a Stays>>>,
    assumes: &'a [Assumption],
}

impl<'a> ReclaimDocument<'a> {
    pub(super) fn of(view: &ReclaimView<'a>) -> Self {
        let snapshot = view.snapshot;
        let removals = view.removals();
        let frees = Freed {
            objects: removals.iter().map(|removal| removal.freed()).sum(),
            bytes: removals.iter().map(|removal| removal.bytes).sum(),
        };
        ReclaimDocument {
            head: Head::of("Reclaim", view.gaps, snapshot),
            time: rfc3339(view.now),
            within_seconds: view.within,
            removals: Named(snapshot, removals),
            without_time: view.without_time(),
            frees,
            stays: view.never.then(|| Named(snapshot, view.stays())),
            assumes: &view.forecast.assumptions,
        }
    }
}
