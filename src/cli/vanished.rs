//! Tells what is known of targets that don't exist, for `explain` and `doctor`.

use crate::{
    doctor::{Vanished, vanished},
    graph::OwnerGraph,
    operations::{
        OperationError, ReadScope,
        evidence::read_evidence,
        targets::{Missing, TargetError, Why},
    },
    render::escape::visible,
};

use super::{
    args::{GlobalArgs, SourceArgs, TargetArgs},
    report::{Exit, Report, describe_error, heading},
};

/// What is known of the targets that an error calls absent, as a text; the error itself if it says something else.
pub(super) fn tell(
    global: &GlobalArgs,
    source: &SourceArgs,
    evidence: &[String],
    error: OperationError,
) -> Result<Report, OperationError> {
    let missing: Vec<Missing> = match &error {
        OperationError::Target(target) => match &**target {
            TargetError::Missing(missing) => vec![(**missing).clone()],
            TargetError::AllMissing(missing) => missing.clone(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    let absent: Vec<&Missing> = missing.iter().filter(|missing| missing.why == Why::Absent).collect();
    if absent.is_empty() {
        return Err(error);
    }
    let evidence = read_evidence(evidence)?;
    let everything = TargetArgs { all_namespaces: true, ..TargetArgs::default() };
    let Ok(session) = global.open(source, &everything, ReadScope::Everything) else {
        return Err(error);
    };
    let snapshot = &session.snapshot;
    let graph = OwnerGraph::new(snapshot);
    let mut text = heading(snapshot, None, &source.from, "");
    let mut anything_known = false;
    for missing in absent {
        let (plural, group) = missing.resource.split_once('.').unwrap_or((&missing.resource, ""));
        let Some(resource) = snapshot.resources.by_group_plural(group, plural) else { continue };
        let namespace = missing.namespace.as_deref().unwrap_or_default();
        let events = session.is_live().then(|| session.events_about(namespace, &missing.name).ok());
        let what = Vanished { resource, namespace, name: &missing.name };
        let place = if namespace.is_empty() { String::new() } else { format!(" -n {namespace}") };
        let kind = &snapshot.resources.get(resource).kind;
        text.extend(format!("{kind}/{}{place} does not exist.\n", missing.name).into_bytes());
        let lines = vanished(snapshot, &graph, what, events.as_ref().map(Option::as_deref), &evidence, snapshot.time());
        anything_known |= !lines.is_empty();
        for line in lines {
            text.extend(format!("  {}\n", visible(&line)).into_bytes());
        }
    }
    if !anything_known {
        return Err(error);
    }
    let mut report = Report::of(text).with_gaps(&snapshot.gaps);
    report.notes.push(format!("error: {}", describe_error(&error)));
    if session.is_live() {
        report.notes.push("note: --from=FILE looks into an archive or a snapshot from before".to_owned());
    }
    report.exit = Exit::Failed;
    Ok(report)
}
