//! `kubectl gc resources`

use std::collections::BTreeMap;

use crate::{
    operations::{OperationError, ReadScope, TargetConfig},
    render::resources::ResourcesView,
};
use gc_core::model::{ResourceId, Snapshot};

use super::{
    args::{GlobalArgs, ResourcesArgs},
    output::Printer,
    report::{Report, heading},
};

/// Lists the deletable resources, and which of them the collector watches.
pub(super) fn run(global: &GlobalArgs, args: &ResourcesArgs) -> Result<Report, OperationError> {
    let source = global.source()?;
    let targets = TargetConfig::scope(global.connection.namespace().map(str::to_owned));
    let snapshot = match args.count {
        true => {
            global.opening(&source, &targets, ReadScope::Everything)?.read(&targets, ReadScope::Everything)?.snapshot
        }
        false => global.opening(&source, &targets, ReadScope::Nothing)?.into_snapshot(),
    };
    let counts = args.count.then(|| counts(&snapshot));
    let view = ResourcesView { resources: &snapshot.resources, gaps: &snapshot.gaps, counts: counts.as_ref() };
    let out = Printer::new(global).print(&view, || heading(&snapshot, None, &global.source.from, ""))?;
    Ok(Report::of(out).with_gaps(&snapshot.gaps))
}

/// The number of objects of each resource whose list is complete.
fn counts(snapshot: &Snapshot) -> BTreeMap<ResourceId, usize> {
    let mut counts: BTreeMap<ResourceId, usize> =
        snapshot.resources.deletable().filter(|(id, _)| snapshot.covers(*id, None)).map(|(id, _)| (id, 0)).collect();
    for (_, object) in snapshot.objects() {
        *counts.entry(object.resource).or_default() += 1;
    }
    counts
}
