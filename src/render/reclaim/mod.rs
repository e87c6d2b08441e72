//! What the cluster removes by itself, as text and as a document.

mod text;

pub(super) use text::{when, why};

use std::io::{self, Write};

use serde::Serialize;

use crate::render::{
    output::{Format, Output, TextOptions},
    words::full_name,
};
use gc_core::{
    document::{Head, Named, rfc3339},
    model::{Gap, ObjectId, Snapshot},
    reclaim::{Assumption, Forecast, Freed, Removal, Stays},
};

/// `kind: Reclaim`, described in `docs/schema/reclaim.json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReclaimDocument<'a> {
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

/// A forecast with what is needed to print it.
#[derive(Clone, Copy, Debug)]
pub struct ReclaimView<'a> {
    pub snapshot: &'a Snapshot,
    pub forecast: &'a Forecast,
    /// The namespace in view; `None`: all.
    pub namespace: Option<&'a str>,
    /// The targets; `None` if none were named.
    pub targets: Option<&'a [ObjectId]>,
    /// Of when the forecast is, in Unix seconds.
    pub now: i64,
    /// Only what goes within so many seconds.
    pub within: Option<i64>,
    /// Whether what stays is shown.
    pub never: bool,
    /// What could not be read.
    pub gaps: &'a [Gap],
}

impl Output for ReclaimView<'_> {
    /// Described in `docs/schema/reclaim.json`.
    fn document(&self) -> impl Serialize {
        let removals = self.removals();
        let frees = Freed {
            objects: removals.iter().map(|removal| removal.frees.objects).sum(),
            bytes: removals.iter().map(|removal| removal.frees.bytes).sum(),
        };
        ReclaimDocument {
            head: Head::of("Reclaim", self.gaps, self.snapshot),
            time: rfc3339(self.now),
            within_seconds: self.within,
            removals: Named(self.snapshot, removals),
            without_time: self.without_time(),
            frees,
            stays: self.never.then(|| Named(self.snapshot, self.stays())),
            assumes: &self.forecast.assumptions,
        }
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        text::write(self, options, out)
    }

    /// `kind.group/name` of what goes, without dependents; with `--never`, of what stays.
    fn other(&self, format: Format) -> Option<String> {
        let named = |id: ObjectId| format!("{}\n", full_name(self.snapshot, id));
        (format == Format::Name).then(|| match self.never {
            true => self.stays().iter().map(|stays| named(stays.object)).collect(),
            false => self.removals().iter().map(|removal| named(removal.object)).collect(),
        })
    }
}

impl<'a> ReclaimView<'a> {
    /// What goes and is in view.
    fn removals(&self) -> Vec<&'a Removal> {
        let all = self.forecast.removals.iter().filter(|removal| self.shows(removal.object));
        all.filter(|removal| self.is_within(removal) == Some(true)).collect()
    }

    /// How many go that are in view, but nobody knows when.
    fn without_time(&self) -> usize {
        let all = self.forecast.removals.iter().filter(|removal| self.shows(removal.object));
        all.filter(|removal| self.is_within(removal).is_none()).count()
    }

    /// What stays and is in view.
    fn stays(&self) -> Vec<&'a Stays> {
        self.forecast.stays.iter().filter(|stays| self.shows(stays.object)).collect()
    }

    /// How many cluster-scoped objects go that a namespace doesn't show.
    fn beside_namespace(&self) -> usize {
        if self.targets.is_some() || self.namespace.is_none() {
            return 0;
        }
        let is_beside = |removal: &&Removal| self.snapshot.object(removal.object).namespace.is_empty();
        self.forecast.removals.iter().filter(is_beside).count()
    }

    fn shows(&self, id: ObjectId) -> bool {
        match (self.targets, self.namespace) {
            (Some(targets), _) => targets.contains(&id),
            (None, Some(namespace)) => self.snapshot.text(self.snapshot.object(id).namespace) == namespace,
            (None, None) => true,
        }
    }

    /// Whether it goes soon enough; `None` if only an event tells.
    fn is_within(&self, removal: &Removal) -> Option<bool> {
        let Some(within) = self.within else { return Some(true) };
        let earliest = removal.reason().when.earliest(self.now)?;
        Some(earliest <= self.now.saturating_add(within))
    }
}
