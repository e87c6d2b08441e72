//! `kind: BlastRadius`: what deleting each root would take along, the worst first.

use std::io::{self, Write};

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::{
    document::{Head, ObjectJson},
    foretell::Summary,
    model::{ObjectId, Snapshot},
    render::{style::Tone, tree::Options, words::middle_cut},
    server::Propagation,
};

use super::{document::SummaryJson, text::in_short};

/// What deleting each of several roots would do.
#[derive(Debug)]
pub struct BlastRadius<'a> {
    pub snapshot: &'a Snapshot,
    pub propagation: Propagation,
    /// The worst first.
    pub rows: Vec<Radius>,
    /// How many rows there were before the list was cut.
    pub total: usize,
    pub namespace: Option<&'a str>,
}

/// What deleting one root would do.
#[derive(Clone, Copy, Debug)]
pub struct Radius {
    pub object: ObjectId,
    pub summary: Summary,
    pub certain: bool,
}

/// The document.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlastRadiusDocument<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    propagation: &'static str,
    total: usize,
    rows: Vec<RadiusJson<'a>>,
}

#[derive(Debug, Serialize)]
struct RadiusJson<'a> {
    object: ObjectJson<'a>,
    certain: bool,
    summary: SummaryJson,
}

impl<'a> BlastRadius<'a> {
    /// Sorts the rows, the worst first, and keeps so many.
    pub fn new(
        snapshot: &'a Snapshot,
        propagation: Propagation,
        mut rows: Vec<Radius>,
        namespace: Option<&'a str>,
        most: Option<usize>,
    ) -> Self {
        let total = rows.len();
        rows.sort_by_key(|row| {
            let summary = row.summary;
            std::cmp::Reverse((summary.stuck, summary.deleted + summary.terminating, summary.detached + summary.orphaned))
        });
        rows.truncate(most.unwrap_or(usize::MAX));
        BlastRadius { snapshot, propagation, rows, total, namespace }
    }

    /// The document.
    pub fn document(&self) -> BlastRadiusDocument<'a> {
        let row = |row: &Radius| RadiusJson {
            object: ObjectJson::of(self.snapshot, row.object),
            certain: row.certain,
            summary: SummaryJson::of(row.summary),
        };
        BlastRadiusDocument {
            head: Head::new("BlastRadius", &self.snapshot.gaps),
            propagation: self.propagation.name(),
            total: self.total,
            rows: self.rows.iter().map(row).collect(),
        }
    }

    /// The roots, one a line.
    pub fn names(&self) -> String {
        self.rows.iter().map(|row| format!("{}\n", super::full_name(self.snapshot, row.object))).collect()
    }

    /// One line a root.
    pub fn write(&self, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return writeln!(out, "Nothing is there to delete.");
        }
        let roots = if self.total == 1 { "the one root".to_owned() } else { format!("each of {} roots", self.total) };
        writeln!(out, "What deleting {roots} would do ({}):", self.propagation.name().to_lowercase())?;
        writeln!(out)?;
        let names: Vec<String> = self.rows.iter().map(|row| self.name(row.object)).collect();
        let longest = names.iter().map(|name| name.width()).max().unwrap_or(0);
        let column = options.width.map_or(longest, |width| longest.min(width / 2));
        for (row, name) in self.rows.iter().zip(&names) {
            let name = if options.width.is_some() { middle_cut(name, column) } else { name.clone() };
            let padding = " ".repeat(column.saturating_sub(name.width()));
            let tone = if row.summary.stuck > 0 { Tone::Error } else { Tone::Plain };
            let unsure = if row.certain { "" } else { "; not certain" };
            writeln!(out, "  {name}{padding}  {}{unsure}", options.style.paint(tone, &in_short(row.summary)))?;
        }
        if self.rows.len() < self.total {
            writeln!(out, "  … {} more, with less to lose (--all)", self.total - self.rows.len())?;
        }
        Ok(())
    }

    fn name(&self, object: ObjectId) -> String {
        let found = self.snapshot.object(object);
        let namespace = self.snapshot.text(found.namespace);
        let short = self.snapshot.short_name(object);
        if found.namespace.is_empty() || self.namespace == Some(namespace) { short } else { format!("{short} -n {namespace}") }
    }
}
