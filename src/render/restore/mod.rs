//! A restore, before and after it: as text and as a document.

mod document;
#[cfg(test)]
mod tests;
mod text;

use std::io::{self, Write};

use serde::Serialize;

use gc_cluster::act::Mode;
use gc_core::{
    command_line::ShellCommand,
    model::{Gap, Mapping, Resource, Resources},
    restore::{Archived, Item, Outcome, RestorePlan, Restored, lost},
    wording::{grouped, thousands},
};

use super::{
    output::{Output, TextOptions},
    words::plural,
};

use document::RestorationDocument;

/// The result of a restore or of its dry run, with what is needed to print it.
#[derive(Clone, Copy, Debug)]
pub struct RestoreView<'a> {
    pub plan: &'a RestorePlan,
    /// The result for each object of the plan.
    pub restored: &'a [Restored],
    pub mode: Mode,
    /// The served resources, for the names of kinds.
    pub resources: &'a Resources,
    pub gaps: &'a [Gap],
    /// The command that repeats the restore: `kubectl gc restore shop.yaml`.
    pub again: &'a ShellCommand,
}

impl Output for RestoreView<'_> {
    fn document(&self) -> impl Serialize {
        RestorationDocument::of(self)
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.write_text(options, out)
    }
}

impl<'a> RestoreView<'a> {
    /// Whether every object that should be back is back, or would be.
    pub fn is_fine(&self) -> bool {
        self.restored.iter().all(Restored::is_fine)
    }

    /// Whether an interrupt came before every object was tried.
    pub fn is_interrupted(&self) -> bool {
        self.restored.iter().any(|restored| restored.outcome == Outcome::NotTried)
    }

    /// The number of objects with such an outcome.
    pub fn count(&self, of: impl Fn(&Outcome) -> bool) -> usize {
        self.restored.iter().filter(|restored| of(&restored.outcome)).count()
    }

    fn objects(&self) -> impl Iterator<Item = (&'a Item, &'a Restored)> + use<'a> {
        self.plan.items.iter().zip(self.restored)
    }

    /// What the restored objects have lost for good.
    fn lost(&self) -> Vec<gc_core::restore::Lost> {
        let created = self
            .objects()
            .filter(|(_, restored)| matches!(restored.outcome, Outcome::Created | Outcome::WouldBeCreated));
        lost(created.map(|(item, _)| &item.archived))
    }

    /// The number of objects of each kind: `1 Namespace, 3 ConfigMaps`, in the order of the archive.
    fn kinds(&self, objects: impl Iterator<Item = &'a Archived>) -> String {
        let of_kinds = grouped(objects.map(|object| ((object.place.group(), &object.place.kind), &object.place)));
        let describe = of_kinds.into_iter().map(|(_, places)| {
            let (place, count) = (places[0], places.len());
            let named = match self.resources.map(&place.api_version, &place.kind) {
                Mapping::Served(id) => plural(self.resources.get(id), count),
                _ => plural(&Resource { kind: place.kind.clone(), ..Resource::default() }, count),
            };
            format!("{} {named}", thousands(count))
        });
        describe.collect::<Vec<_>>().join(", ")
    }
}
