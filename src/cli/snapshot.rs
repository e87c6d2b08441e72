//! `kubectl gc snapshot`

use std::path::Path;

use crate::operations::{Discovered, OperationError, ReadScope, TargetConfig, approve::Terminal as _};
use gc_cluster::dump;
use gc_core::{
    graph::{OwnerGraph, unconfirmed_owners},
    model::{Object, ObjectId, Snapshot, facts::has_facts},
    simulate::Needs,
};

use super::{
    args::{GlobalArgs, SnapshotArgs},
    report::{Report, StdTerminal, confirm},
};

/// Writes the cluster's metadata into one file.
pub(super) fn run(global: &GlobalArgs, args: &SnapshotArgs) -> Result<Report, OperationError> {
    if let Some(path) = &args.output
        && !check(path, args.force)?
    {
        return Ok(Report::declined(None));
    }
    let targets = TargetConfig::scope(global.connection.namespace().map(str::to_owned));
    let cluster = global.cluster()?;
    let mut session =
        Discovered::expecting(&cluster, &targets, ReadScope::Diagnosis)?.read(&targets, ReadScope::Diagnosis)?;
    session.fetch(&everything(&session.snapshot));
    let setters = held(&session.snapshot).into_iter().collect();
    session.fetch(&Needs { setters, ..Needs::default() });
    let snapshot = &session.snapshot;
    let kinds: std::collections::BTreeSet<_> = snapshot.objects().map(|(_, object)| object.resource).collect();
    let describe = format!("{} objects of {} kinds", snapshot.len(), kinds.len());
    let mut report = match &args.output {
        Some(path) => {
            dump::write_to_path(snapshot, path)?;
            let mut report = Report::of(Vec::new());
            report.notes.push(format!("Wrote {describe} to {}. Read it with --from.", path.display()));
            report
        }
        None => {
            let mut out = Vec::new();
            dump::write(snapshot, &mut out).map_err(super::output::in_memory)?;
            let mut report = Report::of(out);
            report.notes.push(format!("Wrote {describe}."));
            report
        }
    };
    report = report.with_gaps(&snapshot.gaps);
    Ok(report)
}

/// Everything that a snapshot file must contain, because nothing can be fetched later: all facts, and the owners that
/// no list contains.
fn everything(snapshot: &Snapshot) -> Needs {
    let mut needs = Needs::default();
    let graph = OwnerGraph::new(snapshot);
    let nodes = snapshot.resources.by_group_kind("", "Node");
    for (id, object) in snapshot.objects() {
        let resource = snapshot.resources.get(object.resource);
        let finalizers = object.finalizers.iter().map(|finalizer| snapshot.text(*finalizer));
        let is_account = || resource.group.is_empty() && resource.kind == "ServiceAccount";
        if Some(object.resource) == nodes {
            needs.kubelets.insert(id);
        } else if has_facts(&resource.group, &resource.kind, finalizers) || is_account() {
            needs.facts.insert(id);
        }
    }
    needs.look_ups.extend(unconfirmed_owners(snapshot, &graph, snapshot.objects().map(|(id, _)| id)));
    needs
}

/// The terminating objects that have a finalizer which the collector doesn't remove: if they are stuck, findings name
/// who set it.
fn held(snapshot: &Snapshot) -> Vec<ObjectId> {
    let is_held = |object: &Object| {
        object.terminating() && object.finalizers.iter().any(|finalizer| !finalizer.is_collectors_finalizer())
    };
    snapshot.objects().filter(|(_, object)| is_held(object)).map(|(id, _)| id).collect()
}

/// Whether to write the file: asks if it exists. Reports problems before a whole cluster is read.
fn check(path: &Path, force: bool) -> Result<bool, OperationError> {
    let unwritable = |why: String| {
        Err(OperationError::Unwritable { path: path.display().to_string(), source: std::io::Error::other(why) })
    };
    if path.is_dir() {
        return unwritable("it is a folder".to_owned());
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            unwritable(format!("there is no folder {}", folder.display()))
        }
        _ if path.exists() && !force => match StdTerminal.can_ask() {
            true => Ok(confirm(format!("{} exists. Replace it? [y/N]", path.display()))),
            false => {
                let exists = format!("{} exists: use --force to replace it", path.display());
                Err(OperationError::Unusable(exists))
            }
        },
        _ => Ok(true),
    }
}
