//! `kubectl gc tree`

use crate::{
    graph::OwnerGraph,
    operations::{OperationError, ReadScope, Session},
    render::tree_view::TreeView,
    tree::{Direction, Tree},
};

use super::{
    args::{GlobalArgs, TargetArgs, TreeArgs},
    output::Printer,
    report::{Report, heading},
};

/// Shows owners and dependents.
pub(super) fn run(global: &GlobalArgs, args: &TreeArgs) -> Result<Report, OperationError> {
    let has_targets = args.targets.any();
    if args.owners && !has_targets {
        return Err(OperationError::Usage("--owners needs a TARGET, such as pod/web-0".to_owned()));
    }
    // Like kubectl get, it shows what there is of a type, and that may be nothing.
    let by_type = args.targets.selects() || matches!(args.targets.targets.as_slice(), [one] if !one.contains('/'));
    let targets = TargetArgs { type_alone: true, ignore_not_found: by_type, ..args.targets.clone() };
    let mut session = global.open(&args.source, &targets, ReadScope::Namespace)?;
    let nothing = session.targets.as_ref().is_some_and(Vec::is_empty).then(|| nothing_found(&session));
    if let Some(nothing) = &nothing
        && args.output.unwrap_or_default().is_text()
    {
        let report = Report { notes: vec![nothing.clone()], ..Report::of(Vec::new()) };
        return Ok(report.with_gaps(&session.snapshot.gaps));
    }
    let namespace = session.namespace_symbol();
    let snapshot = &session.snapshot;
    let graph = OwnerGraph::new(snapshot);
    let depth = args.depth.map(|depth| u32::try_from(depth).unwrap_or(u32::MAX));
    let direction = if args.owners { Direction::Owners } else { Direction::Dependents };
    let tree = match &session.targets {
        Some(targets) => Tree::of_targets(snapshot, &graph, targets, namespace, direction, depth),
        None => Tree::of_scope(snapshot, &graph, namespace, depth),
    };
    let now = jiff::Timestamp::now().as_second();
    let printer = Printer::new(global, args.output).fold(!args.no_fold).at(Some(now));
    let view = TreeView { snapshot, graph: &graph, tree: &tree };
    let out = printer.print(&view, || heading(snapshot, session.namespace.as_deref(), &args.source.from, ""))?;
    let mut report = Report::of(out).with_gaps(&snapshot.gaps);
    report.notes.splice(0..0, nothing);
    Ok(report)
}

/// In kubectl's words.
fn nothing_found(session: &Session) -> String {
    match &session.namespace {
        Some(namespace) => format!("No resources found in {namespace} namespace."),
        None => "No resources found".to_owned(),
    }
}
